"""One room per method, with its mathematics; a room imports no other room."""

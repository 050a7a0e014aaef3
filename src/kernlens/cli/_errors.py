"""What a subcommand raises when it cannot do what was asked."""

from __future__ import annotations


class CommandError(Exception):
    """One sentence for the user; the program prints it and exits with 1."""

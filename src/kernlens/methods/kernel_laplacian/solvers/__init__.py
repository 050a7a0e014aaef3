"""The ways to solve for the function."""

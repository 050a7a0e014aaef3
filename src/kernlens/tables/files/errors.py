"""What is raised for a file that cannot be read as a table."""

from __future__ import annotations


class TableFileError(ValueError):
    """One sentence that names the file, the line where it matters, and what to do."""

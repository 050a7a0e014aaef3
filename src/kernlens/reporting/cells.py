"""Cells of the CSV files that are written for people."""

from __future__ import annotations

#: A spreadsheet takes a cell that begins with one of these for a formula; the last four are wide
#: forms of the first.
FORMULA_STARTS = (*"=+-@\t\r\n", *"\uff1d\uff0b\uff0d\uff20")


def safe_cell(text: str) -> str:
    """Text from the data that no spreadsheet runs as a formula.

    Parameters
    ----------
    text : str
        Name or category of the user's; numbers are written as numbers, without this.

    Returns
    -------
    str
        The same, after an apostrophe if it begins like a formula.
    """
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text

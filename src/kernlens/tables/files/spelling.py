"""Columns of text that are numbers: with points, with decimal commas, with thousands."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernlens._array import FloatArray
from kernlens._pandas import import_pandas
from kernlens.tables.reading import NULL_TEXTS

#: Ways to write numbers, by what a note calls them: what all cells match, and which ones show it.
DECIMAL_COMMAS = "decimal commas"
THOUSANDS = "commas between thousands"

_FORMS = {
    DECIMAL_COMMAS: re.compile(
        r"[+-]?(?:\d+|\d{1,3}(?:\.\d{3})+|\d{1,3}(?:[ \u00a0\u202f']\d{3})+)(?:,\d+)?"
    ),
    THOUSANDS: re.compile(r"[+-]?(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.\d+)?"),
}
_BETWEEN_THOUSANDS = re.compile(r"[. \u00a0\u202f']")
#: 007 is a code, not a number; 0.07 is a number.
_CODE = re.compile(r"\s*[+-]?0\d")


def numbers_of_texts(texts: NDArray[Any], style: str | None) -> FloatArray | None:
    """Numbers of all cells, NaN for what is missing; None if they are something else.

    Parameters
    ----------
    texts : ndarray of str objects of shape (n_rows,)
    style : str or None
        A key of the forms, or None for numbers as Python has them.
    """
    pandas = import_pandas()
    if style is None:
        found = pandas.to_numeric(pandas.Series(texts, dtype=object), errors="coerce")
        numbers: FloatArray = found.to_numpy(dtype=np.float64, copy=True)
        if not _only_gaps(texts[np.isnan(numbers)]) or any(map(_CODE.match, texts)):
            return None
        return numbers
    numbers = np.full(len(texts), np.nan)
    for row, text in enumerate(texts.tolist()):
        cell = text.strip()
        if cell.lower() in NULL_TEXTS:
            continue
        if not _FORMS[style].fullmatch(cell) or _CODE.match(cell):
            return None
        numbers[row] = float(_with_point(cell, style))
    return numbers


def _with_point(cell: str, style: str) -> str:
    if style == DECIMAL_COMMAS:
        return _BETWEEN_THOUSANDS.sub("", cell).replace(",", ".")
    return cell.replace(",", "")


def _only_gaps(texts: NDArray[Any]) -> bool:
    return all(text.strip().lower() in NULL_TEXTS for text in set(texts.tolist()))


def style_of(texts: NDArray[Any], delimiter: str) -> str | None:
    """The way in which the numbers of a column are written; None if they are no such numbers.

    Where a column can be read in both ways, as 1,234 can, a file between whose cells are commas
    has commas between thousands, and another one has decimal commas.
    """
    cells = [text for text in map(str.strip, set(texts.tolist())) if text.lower() not in NULL_TEXTS]
    if not any("," in cell or _BETWEEN_THOUSANDS.search(cell) for cell in cells):
        return None
    fitting = [style for style, form in _FORMS.items() if all(map(form.fullmatch, cells))]
    if len(fitting) == 2:
        return THOUSANDS if delimiter == "," else DECIMAL_COMMAS
    return fitting[0] if fitting else None

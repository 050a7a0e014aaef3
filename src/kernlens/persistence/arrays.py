"""Arrays in a file: what they say of themselves against the bytes that are there."""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np

from kernlens.persistence.errors import Damaged, Forbidden, Oversized

#: Characters of a header; those of models have less than a hundred.
LONGEST_HEADER = 2000
#: Kinds of entries: truth values, integers, numbers, complex numbers, times, text.
_KINDS = "biufcmMUS"
_READERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def check_array(content: bytes) -> None:
    """Refuse a member whose header announces objects, or other than the bytes that follow.

    Objects would be a pickle, which runs code; a large shape would ask for its memory before
    anything is read.

    Parameters
    ----------
    content : bytes
        The whole member, in the format of :func:`numpy.save`.
    """
    file = io.BytesIO(content)
    shape, dtype = _header(file)
    if dtype.hasobject:
        raise Forbidden("an array of Python objects")
    if dtype.kind not in _KINDS or dtype.itemsize == 0:
        raise Damaged("an array has entries of no kind that kernlens writes")
    if any(type(length) is not int or length < 0 for length in shape):
        raise Damaged("an array has a negative length")
    announced = math.prod(shape) * dtype.itemsize
    present = len(content) - file.tell()
    # An array without entries may still have a long axis, which others are made along.
    if announced > present or any(length > len(content) for length in shape):
        raise Oversized("an array is announced as larger than its data")
    if announced < present:
        raise Damaged("an array has more data than it announces")


def _header(file: io.BytesIO) -> tuple[tuple[Any, ...], np.dtype[Any]]:
    try:
        reader = _READERS[np.lib.format.read_magic(file)]
        shape, _, dtype = reader(file, max_header_size=LONGEST_HEADER)
    except Exception:
        # NumPy's reader of Python literals fails in many ways, a lack of memory among them.
        raise Damaged("an array has no readable header") from None
    return shape, dtype

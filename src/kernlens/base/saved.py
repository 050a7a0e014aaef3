"""What a model says of its arrays when it is saved, so that a damaged one is refused when read."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

#: Where the check sums stand in a saved state; a model in use has none.
CHECK_SUMS = "_check_sums"


class SavedMixin(BaseEstimator):
    """Check sums of all arrays, written with a model and compared when it is read."""

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes, and the check sum of every array among them."""
        state: dict[str, Any] = dict(super().__getstate__())
        state[CHECK_SUMS] = {name: check_sum(value) for name, value in _arrays(state).items()}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Refuse arrays that are not those that were saved: they would be read as they are."""
        state = dict(state)
        # Models that were saved before there were check sums have none.
        check_sums = state.pop(CHECK_SUMS, {})
        arrays = _arrays(state)
        for name, saved in check_sums.items():
            if name not in arrays or check_sum(arrays[name]) != saved:
                raise ValueError(
                    f"The model is damaged: {name} is not what was saved; fit it again."
                )
        super().__setstate__(state)


def _arrays(state: dict[str, Any]) -> dict[str, NDArray[Any]]:
    """Arrays of numbers or text by where they are, also those in lists and dictionaries.

    Arrays of objects are as long as their addresses are, and have no check sum.
    """
    found: dict[str, NDArray[Any]] = {}
    left, seen = list(state.items()), set()
    while left:
        name, value = left.pop()
        if isinstance(value, list | tuple | dict):
            # One that holds itself has no end.
            if id(value) in seen:
                continue
            seen.add(id(value))
        if isinstance(value, np.ndarray) and not value.dtype.hasobject:
            found[name] = value
        elif isinstance(value, list | tuple):
            left += [(f"{name}[{place}]", one) for place, one in enumerate(value)]
        elif isinstance(value, dict):
            left += [(f"{name}[{key!r}]", one) for key, one in value.items()]
    return found


def check_sum(array: NDArray[Any]) -> str:
    """Type, shape and the CRC-32 of the entries, row by row, as a text."""
    if array.dtype.hasobject:
        return "objects"
    entries = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return f"{array.dtype.str} {array.shape} {zlib.crc32(entries.data):08x}"

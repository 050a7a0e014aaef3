"""Objects that say how much memory their arrays take, as Dask asks before it moves them."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np


class Sized:
    """An object whose size is that of its attributes as well; arrays count that are views, too."""

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + sum(_size(value) for value in vars(self).values())


def _size(value: Any) -> int:
    return value.nbytes if isinstance(value, np.ndarray) else sys.getsizeof(value)

"""A hash of 64-bit numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def mix(code: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of the splitmix64 generator, a bijection that spreads every bit."""
    code = code + np.uint64(0x9E3779B97F4A7C15)
    code = (code ^ (code >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    code = (code ^ (code >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return code ^ (code >> np.uint64(31))

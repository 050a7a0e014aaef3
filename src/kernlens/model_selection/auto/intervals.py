"""Intervals of predictions from the errors of rows that were left out."""

from __future__ import annotations

import numpy as np

from kernlens._array import FloatArray


def conformal_margins(errors: FloatArray, coverage: float) -> tuple[float, float]:
    """How far below and above a prediction its target lies, with a probability of `coverage`.

    The bounds are order statistics of the errors e = y - prediction of n rows left out, of ranks
    ``floor((n + 1) (1 - coverage) / 2)`` and ``ceil((n + 1) (1 + coverage) / 2)``. If the rows and
    a new one are exchangeable, and the errors are those of one function, the new target is inside
    with at least that probability (Vovk, Gammerman and Shafer, "Algorithmic learning in a random
    world", 2005). Here they are errors of functions of other folds (Barber et al., "Predictive
    inference with the jackknife+", Annals of Statistics 49, 2021), which see fewer rows than the
    final one: intervals are a little too wide rather than too narrow.

    Parameters
    ----------
    errors : ndarray of shape (n_rows,)
        y - prediction.
    coverage : float
        Between 0 and 1.

    Returns
    -------
    low, high : float
        Infinite where there are too few rows.
    """
    ordered = np.sort(errors)
    n = len(ordered)
    # Rounded: the product of two decimals may lie a last digit beside a whole number.
    below = int(np.floor(np.round((n + 1) * (1.0 - coverage) / 2.0, 9)))
    above = int(np.ceil(np.round((n + 1) * (1.0 + coverage) / 2.0, 9)))
    low = float(ordered[below - 1]) if below >= 1 else -np.inf
    high = float(ordered[above - 1]) if above <= n else np.inf
    return low, high

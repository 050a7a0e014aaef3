"""Lengths and distances of rows."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import pdist

from kernlens._array import FloatArray

#: Rows whose pairs give the median distance.
MEDIAN_ROWS = 500


def unit_rows(X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the rows divided by their lengths, and the lengths; a row of zeros stays.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    """
    norms = np.sqrt(squared_lengths(X))
    return X / np.where(norms > 0.0, norms, 1.0).astype(X.dtype, copy=False)[:, None], norms


def squared_lengths(X: FloatArray) -> FloatArray:
    """Return the sums of squares of the rows, (n,)."""
    return np.einsum("ij,ij->i", X, X)


def with_finite_squares(X: FloatArray) -> FloatArray:
    """The entries, cut off where sums of their squares overflow: so far all is equally far."""
    limit = 1e-3 * float(np.sqrt(np.finfo(X.dtype).max))
    return X.clip(-limit, limit)


def squared_distances(X: FloatArray, Z: FloatArray, most: float = np.inf) -> FloatArray:
    """Return ``|x_i - z_j|^2``, (n, m), by one matrix product; never negative nor above `most`.

    The rounding is about eps |x|^2, so that equal rows may be a little apart.
    """
    # In place: the array is often the largest one there is.
    squares = X @ (-2.0 * Z.T)
    squares += squared_lengths(X)[:, None]
    squares += squared_lengths(Z)
    return np.clip(squares, 0.0, most, out=squares)


def median_distance(images: FloatArray) -> float:
    """Median of ``|B(x_i - x_j)|`` over pairs of different images of the first rows; 1 if none.

    The heuristic of HKRR (Section 5), gamma = 1 / (2 median^2). Rows come in an order unrelated to
    their content, so that the first ones are a sample.
    """
    distances = pdist(images[:MEDIAN_ROWS])
    distances = distances[distances > 0.0]
    return float(np.median(distances)) if len(distances) else 1.0

"""Cholesky factors of matrices that are positive up to rounding."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg import LinAlgError, cholesky

from kernlens._array import FloatArray


def raised_cholesky(
    matrix: FloatArray, first: float, second: float, *, lower: bool = False
) -> tuple[FloatArray, float]:
    """Factor ``matrix + jitter I`` with the first jitter that makes it positive.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        Symmetric.
    first : float
        The first jitter to try, non-negative.
    second : float
        The next one, if it is more than ten times the first; from there each is ten times the one
        before.
    lower : bool
        Whether the lower factor is wanted.

    Returns
    -------
    factor : ndarray of shape (n, n)
    jitter : float

    Raises
    ------
    LinAlgError
        If no jitter helps: some entries are no numbers.
    """
    # LAPACK works in place on columns, and the transpose of a symmetric matrix is the matrix.
    by_columns = matrix.T if matrix.flags.c_contiguous else matrix
    for jitter in _jitters(matrix, first, second):
        raised = by_columns.copy(order="F")
        raised.flat[:: len(matrix) + 1] += jitter
        try:
            factor = cholesky(raised, lower=lower, overwrite_a=True, check_finite=False)
        except LinAlgError:
            continue
        # Not every LAPACK stops at what is no number; it always reaches the diagonal.
        if np.isfinite(np.diagonal(factor)).all():
            return factor, jitter
    raise LinAlgError("The matrix has entries that are not finite.")


def _jitters(matrix: FloatArray, first: float, second: float) -> Iterator[float]:
    """Up to what exceeds every eigenvalue."""
    yield first
    largest = 10.0 * len(matrix) * float(np.abs(matrix).max())
    jitter = max(10.0 * first, second)
    # Nothing helps where some entry is no number, and nothing follows zero.
    while 0.0 < jitter <= largest < np.inf:
        yield jitter
        jitter *= 10.0

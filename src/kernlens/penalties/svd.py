"""Thin singular value decomposition that survives a failure of divide and conquer."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from kernlens.penalties.contract import FloatArray


def thin_svd(W: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return U (m, r), S (r,) decreasing, Vt (r, d) with r = min(m, d), in float64.

    An SVD of W and not an eigendecomposition of W^T W: the latter loses the singular values
    below sqrt(eps) |W|, the very ones a threshold decides on.
    """
    U, S, Vt = _svd(W, compute_uv=True)
    return U, S, Vt


def singular_values(W: FloatArray) -> FloatArray:
    """Return S (r,) alone, decreasing, several times cheaper than the vectors."""
    S: FloatArray = _svd(W, compute_uv=False)
    return S


def _svd(W: FloatArray, *, compute_uv: bool) -> Any:
    options = {"full_matrices": False, "compute_uv": compute_uv, "check_finite": False}
    W = np.asarray(W, dtype=np.float64)
    try:
        return scipy.linalg.svd(W, **options)
    except np.linalg.LinAlgError:
        # gesdd is the fast driver and on rare matrices does not converge; gesvd is QR-based.
        return scipy.linalg.svd(W, lapack_driver="gesvd", **options)

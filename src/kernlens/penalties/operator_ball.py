"""The ball of matrices whose largest singular value is bounded, for projections and smoothly.

HKRR asks for ``|B| <= 1`` in the operator norm. Gradient methods project on the ball; L-BFGS
instead runs over all matrices M through a smooth map onto the inside of the ball,

    B = R (I + M M^T)^{-1/2} M,   each singular value m of M becoming R m / sqrt(1 + m^2).
"""

from __future__ import annotations

import numpy as np

from kernlens._array import FloatArray

#: A matrix on the sphere has no finite M: it is moved inside by this share of the radius.
INSIDE = 1e-3


def project_on_ball(B: FloatArray, radius: float) -> FloatArray:
    """Nearest matrix with singular values at most `radius`: they are clipped, not rescaled."""
    left, values, right = np.linalg.svd(B, full_matrices=False)
    if len(values) == 0 or values[0] <= radius:
        return B
    clipped: FloatArray = (left * np.minimum(values, radius)) @ right
    return clipped


def into_ball(M: FloatArray, radius: float) -> FloatArray:
    """Return ``radius (I + M M^T)^{-1/2} M``."""
    values, Q = np.linalg.eigh(M @ M.T)
    shrunk: FloatArray = radius * (Q * _shrink(values)) @ (Q.T @ M)
    return shrunk


def out_of_ball(B: FloatArray, radius: float) -> FloatArray:
    """Return the M whose image is `B`, moved inside where it touches or leaves the ball."""
    left, values, right = np.linalg.svd(B, full_matrices=False)
    share = np.minimum(values / radius, 1.0 - INSIDE)
    M: FloatArray = (left * (share / np.sqrt((1.0 - share) * (1.0 + share)))) @ right
    return M


def pull_gradient_back(M: FloatArray, gradient: FloatArray, radius: float) -> FloatArray:
    """Gradient in M of a function of B = into_ball(M), from its gradient in B.

    With F(S) = (I + S)^{-1/2}, S = M M^T = Q diag(v) Q^T, the derivative of F has the divided
    differences of (1 + v)^{-1/2} in the basis Q, and the gradient is ``F G + 2 Y M`` with
    ``Y = Q (differences * Q^T sym(G M^T) Q) Q^T``.
    """
    values, Q = np.linalg.eigh(M @ M.T)
    factor = _shrink(values)
    product = gradient @ M.T
    inner = Q.T @ (0.5 * (product + product.T)) @ Q
    # (f(a) - f(b)) / (a - b) for f = (1 + v)^{-1/2}, free of cancellation.
    differences = -np.outer(factor, factor) / (1.0 / factor[:, None] + 1.0 / factor)
    Y = Q @ (differences * inner) @ Q.T
    pulled: FloatArray = radius * ((Q * factor) @ (Q.T @ gradient) + 2.0 * Y @ M)
    return pulled


def _shrink(values: FloatArray) -> FloatArray:
    return 1.0 / np.sqrt(1.0 + np.maximum(values, 0.0))

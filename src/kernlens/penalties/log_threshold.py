"""The logarithmic penalty of one magnitude, and its exact global proximal operator."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kernlens.penalties.contract import FloatArray


def _mean_slope(x: FloatArray) -> FloatArray:
    """Return log(1 + x) / x for x >= 0, continued by its limit 1 at 0."""
    # An overflowed x would give inf/inf; at the largest float the slope is already 4e-306.
    x = np.minimum(x, np.finfo(np.float64).max)
    return np.divide(np.log1p(x), x, out=np.ones_like(x), where=x > 0)


def log_penalty(magnitude: ArrayLike, concavity: ArrayLike) -> FloatArray:
    """Return ``log(1 + c rho) / c``, which is ``rho`` at c = 0.

    Parameters
    ----------
    magnitude : array_like
        rho >= 0.
    concavity : array_like
        c >= 0, minus the second derivative of the penalty at 0. Broadcast against rho.
    """
    rho, c = np.broadcast_arrays(
        np.asarray(magnitude, dtype=np.float64), np.asarray(concavity, dtype=np.float64)
    )
    # rho * slope, because log1p(c rho) / c loses rho altogether when c rho underflows.
    with np.errstate(over="ignore", under="ignore"):
        return rho * _mean_slope(c * rho)


def log_threshold(magnitude: ArrayLike, threshold: ArrayLike, concavity: ArrayLike) -> FloatArray:
    r"""Return the global minimiser over u >= 0 of (rho - u)^2 / 2 + (tau / c) log(1 + c u).

    Parameters
    ----------
    magnitude, threshold, concavity : array_like
        rho >= 0, tau >= 0 and c >= 0, broadcast against each other. At c = 0 this is exactly
        the soft threshold max(rho - tau, 0).

    Returns
    -------
    ndarray
        The minimisers; 0 where 0 and a positive minimiser are equally good.

    Notes
    -----
    Stationary points are the roots of ``c u^2 + (1 - c rho) u + (tau - rho)``; let u+ be the
    larger, ``e = 1/c``, and ``Delta / c^2 = (rho - e)^2 + 4 e (rho - tau)``.

    - rho > tau: the roots have opposite signs, so u+ > 0 is the minimiser.
    - rho <= tau and rho <= e: no positive root, so 0. This contains the convex case c tau <= 1.
    - rho <= tau, rho > e, Delta <= 0: the objective increases, so 0.
    - rho <= tau, rho > e, Delta > 0: 0 and u+ are both local minimisers and are compared.

    Source: BKerNN, Lemma 9 (items 4, 5) and Appendix A.3.3 with tau = lambda gamma / (2 sqrt(m)),
    c = s / sqrt(m). Corrected: the appendix compares the two roots, but 0 is a candidate, the
    smaller root never is, and negative roots do not count. Delta is written with rho - tau
    instead of the printed expansion because it is then a sum of non-negative terms when
    rho > tau, so that nothing cancels near rho = tau = 1/c.

    Examples
    --------
    >>> from kernlens.penalties import log_threshold
    >>> log_threshold([0.5, 2.0, 20.0], 1.0, 0.0)
    array([ 0.,  1., 19.])
    >>> log_threshold([0.5, 2.0, 20.0], 1.0, 1.0).round(2)
    array([ 0.  ,  1.62, 19.95])
    """
    rho, tau, c = np.broadcast_arrays(
        *(np.asarray(a, dtype=np.float64) for a in (magnitude, threshold, concavity))
    )
    with np.errstate(divide="ignore", over="ignore", under="ignore"):
        e = 1.0 / c
        minimizer = np.zeros(rho.shape)
        shallow = (rho > tau) & (rho < e)
        minimizer[shallow] = _root_below_scale(rho[shallow], tau[shallow], c[shallow])
        steep = (rho > tau) & (rho >= e)
        minimizer[steep] = _root_above_scale(rho[steep], tau[steep], e[steep])
        rival = (rho <= tau) & (rho > e)
        minimizer[rival] = _root_or_zero(rho[rival], tau[rival], c[rival], e[rival])
    return minimizer


def _root_below_scale(rho: FloatArray, tau: FloatArray, c: FloatArray) -> FloatArray:
    """Larger root for tau < rho < 1/c: the conjugate form, which does not divide by c."""
    p = 1.0 - c * rho
    excess = rho - tau
    return 2.0 * excess / (p + np.hypot(p, 2.0 * np.sqrt(c * excess)))


def _root_above_scale(rho: FloatArray, tau: FloatArray, e: FloatArray) -> FloatArray:
    """Larger root for rho > tau, rho >= e = 1/c: a sum of non-negative terms."""
    p = rho - e
    return (p + np.hypot(p, 2.0 * np.sqrt(e) * np.sqrt(rho - tau))) / 2.0


def _root_or_zero(rho: FloatArray, tau: FloatArray, c: FloatArray, e: FloatArray) -> FloatArray:
    """Better of 0 and the larger root for e < rho <= tau."""
    p = rho - e
    q = 2.0 * np.sqrt(e) * np.sqrt(tau - rho)
    # Two square roots, not the root of p^2 - q^2, which overflows and cancels.
    root = (p + np.sqrt(np.maximum(p - q, 0.0)) * np.sqrt(p + q)) / 2.0
    # objective(root) < objective(0), divided by root > 0 so that no square overflows.
    better = rho - root / 2.0 > tau * _mean_slope(c * root)
    # Without a real root (p <= q) zero wins by the mathematics, but only just in floating point.
    return np.where((p > q) & better, root, 0.0)

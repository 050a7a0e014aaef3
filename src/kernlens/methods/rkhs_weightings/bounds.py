"""Bounds on the generalisation gap of an RKHS weighting (paper, Section 6), in computable form.

They are for the squared loss and |y| <= Y. `reach` is the largest size of the function that the
norm of its weight function allows: theta B in the RKHS, tau B_2 in L2(p), plus the size of the
intercept.
"""

from __future__ import annotations

import numpy as np


def gap_bound(reach: float, largest: float, n_samples: float, delta: float, form: str) -> float:
    """Theorems 6.2 and 6.5: L_D(f) - L_S(f), with probability at least 1 - delta.

    Parameters
    ----------
    reach : float
        Bound on |f|, from the norm of the fitted weight function.
    largest : float
        Bound Y on the size of targets.
    n_samples : float
        Number m of rows, or the sum of their weights.
    delta : float
        Probability in (0, 1) that the bound fails.
    form : {"corrected", "clipped", "printed"}
        Corrected: ``2 rho reach / sqrt m + M sqrt(log(1/delta) / (2m))`` with rho = 2 (reach + Y)
        and M = (reach + Y)^2, the range of the loss: the printed form takes the Lipschitz constant
        in f for that in (f, y) and can fail. Clipped: for predictions kept within [-Y, Y]. Both
        hold for a norm known after the fit: reach is rounded up to Y 2^k and delta divided by
        (k + 1)(k + 2). Printed: (89) and (95), with the norm as if it had been fixed before.
    """
    if form == "printed":
        rho = 2.0 * (reach + largest)
        return 2.0 * rho * reach / np.sqrt(n_samples) * (1.0 + np.sqrt(-np.log(delta) / 2.0))
    reach, delta = _known_afterwards(reach, largest, delta)
    deviation = float(np.sqrt(-np.log(delta) / (2.0 * n_samples)))
    if form == "clipped":
        bound = 8.0 * largest * reach / np.sqrt(n_samples) + 4.0 * largest**2 * deviation
        # No loss of a clipped prediction is larger.
        return min(bound, 4.0 * largest**2)
    rho = 2.0 * (reach + largest)
    return 2.0 * rho * reach / np.sqrt(n_samples) + (reach + largest) ** 2 * deviation


def descent_bound(
    reach: float,
    norm: float,
    kappa: float,
    penalty: float,
    largest: float,
    n_samples: float,
    n_steps: int,
    half_steps: bool,
    printed_penalty: float | None = None,
) -> float:
    """Theorem 6.7: expected excess risk of the average iterate of stochastic descent.

    ``2 rho reach / sqrt m + lambda B^2 + (rho kappa + 2 lambda B)^2 (1 + log T) / (2 lambda T)``,
    the last term halved for steps 1/(2 lambda t). The printed (98) adds a stability term
    8 rho^2 / (lambda m), in which a constant is missing, and is not needed: the average has at most
    the regularised risk of the best function plus the error of the descent.

    Parameters
    ----------
    reach, largest, n_samples
        As in :func:`gap_bound`.
    norm, kappa, penalty : float
        B, the largest norm of an iterate; kappa; lambda; all in one unit.
    n_steps : int
        Number T of steps.
    half_steps : bool
        Whether steps were 1/(2 lambda t).
    printed_penalty : float or None
        lambda in the paper's unit, for the printed form.
    """
    rho = 2.0 * (reach + largest)
    descent = (rho * kappa + 2.0 * penalty * norm) ** 2 * (1.0 + np.log(n_steps))
    descent /= 2.0 * penalty * n_steps
    bound = 2.0 * rho * reach / np.sqrt(n_samples) + penalty * norm**2
    if printed_penalty is not None:
        return float(bound + descent + 8.0 * rho**2 / (printed_penalty * n_samples))
    return float(bound + (0.5 * descent if half_steps else descent))


def _known_afterwards(reach: float, largest: float, delta: float) -> tuple[float, float]:
    """Round the reach up on a geometric grid, and share delta out among the points of the grid."""
    if not reach > largest:
        return largest, delta / 2.0
    if not np.isfinite(reach):
        return reach, delta
    k = float(np.ceil(np.log2(reach / largest)))
    return largest * 2.0**k, delta / ((k + 1.0) * (k + 2.0))

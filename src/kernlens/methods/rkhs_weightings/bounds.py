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
    if form == "clipped" and largest == 0.0:
        # No loss of a prediction that is zero is another one.
        return 0.0
    reach, delta = _known_afterwards(reach, largest, delta)
    deviation = float(np.sqrt(-np.log(delta) / (2.0 * n_samples)))
    if form == "clipped":
        most = 4.0 * float(np.square(largest))
        # No loss of a clipped prediction is larger.
        return min(8.0 * largest * reach / np.sqrt(n_samples) + most * deviation, most)
    rho = 2.0 * (reach + largest)
    bound = 2.0 * rho * reach / np.sqrt(n_samples) + np.square(reach + largest) * deviation
    return float(bound)


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
    if not penalty > 0.0:
        # So small a penalty is none, and without one the descent has no bound.
        return np.inf
    # The root first: a square may overflow and the quotient be a number.
    root = (rho * kappa + 2.0 * penalty * norm) / np.sqrt(2.0 * penalty * n_steps)
    descent = np.square(root) * (1.0 + np.log(n_steps))
    bound = 2.0 * rho * reach / np.sqrt(n_samples) + penalty * np.square(norm)
    if printed_penalty is not None:
        stability = 8.0 * np.square(rho) / np.multiply(printed_penalty, n_samples)
        return float(bound + descent + stability)
    return float(bound + (0.5 * descent if half_steps else descent))


def _known_afterwards(reach: float, largest: float, delta: float) -> tuple[float, float]:
    """Round the reach up on a geometric grid, and share delta out among the points of the grid."""
    if not reach > largest:
        return largest, delta / 2.0
    if not np.isfinite(reach):
        return reach, delta
    # Targets that are all zero have no size; the grid begins at one of their units.
    unit = largest if largest > 0.0 else 1.0
    k = max(float(np.ceil(np.log2(np.divide(reach, unit)))), 0.0)
    return float(unit * np.exp2(k)), delta / ((k + 1.0) * (k + 2.0))

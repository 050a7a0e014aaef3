"""What is asked of a fit."""

from __future__ import annotations

from dataclasses import dataclass

from kernlens.fits.held_out import Bounds


@dataclass(frozen=True)
class BrownianPlan:
    """What is asked of a fit.

    Attributes
    ----------
    alphas : tuple of float or None
        Values to choose from; None for the automatic ones.
    n_centers : int
        All rows are centres if there are not more.
    bounds : tuple of two ndarray of shape (n_targets,), or None
        Of predictions, in the units of the fit.
    """

    alphas: tuple[float, ...] | None
    n_centers: int
    bounds: Bounds | None = None

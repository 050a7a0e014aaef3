"""What is asked of a fit of a recursive feature machine, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernlens._array import FloatArray
from kernlens.base.learner import Learned
from kernlens.fits.held_out import Bounds
from kernlens.methods.rfm.function import FeatureMachineFunction
from kernlens.methods.rfm.machine import Machine

#: Values that are added to the diagonal of the kernel matrix, which is 1.
ALPHAS = (1e-4, 1e-3, 1e-2, 0.03, 0.1, 0.3, 1.0, 10.0)
#: Widths, in units of the distances of the rows before anything is learned.
WIDTHS = (1.5, 6.0)
#: Updates of the map, at most.
MOST_UPDATES = 7
#: What is taken where there are too few rows to choose: about the middle.
FALLBACK_ALPHA = 0.1
FALLBACK_WIDTH = 3.0
FALLBACK_UPDATES = 1


@dataclass(frozen=True)
class MachinePlan:
    """What is given and what is to be chosen.

    Attributes
    ----------
    machines : tuple of Machine
        What is compared, and mixed.
    alphas, widths : tuple of float
        Values to choose from.
    n_updates : int or None
        Updates of the map; None for the best number of at most seven.
    n_centers : int or None
        Nystrom centres, None for an exact fit.
    bounds : tuple of ndarray of shape (n_targets,), or None
        What predictions are kept within.
    """

    machines: tuple[Machine, ...]
    alphas: tuple[float, ...]
    widths: tuple[float, ...]
    n_updates: int | None
    n_centers: int | None
    bounds: Bounds | None = None

    @property
    def given(self) -> Recipe | None:
        """What to do, if nothing is left to choose."""
        several = max(len(self.machines), len(self.alphas), len(self.widths)) > 1
        if several or self.n_updates is None:
            return None
        return self.single(self.alphas[0], self.widths[0], self.n_updates)

    @property
    def fallback(self) -> Recipe:
        """What is nearest to the middle, where nothing can be compared."""
        updates = FALLBACK_UPDATES if self.n_updates is None else self.n_updates
        alpha = _nearest(self.alphas, FALLBACK_ALPHA)
        return self.single(alpha, _nearest(self.widths, FALLBACK_WIDTH), updates)

    def single(self, alpha: float, width: float, n_updates: int) -> Recipe:
        """One machine, the first, with one alpha all the way."""
        return Recipe((Ingredient(self.machines[0], width, (alpha,) * n_updates),), alpha)


@dataclass(frozen=True)
class Ingredient:
    """One machine of a mixture.

    Attributes
    ----------
    machine : Machine
    width : float
    updates : tuple of float
        alpha of the fit before every update of the map.
    weight : float
        Share of its kernel.
    """

    machine: Machine
    width: float
    updates: tuple[float, ...]
    weight: float = 1.0


@dataclass(frozen=True)
class Recipe:
    """Settings that were chosen: all that is needed to learn from any rows.

    Attributes
    ----------
    ingredients : tuple of Ingredient
        The one of largest weight first.
    alpha : float
        Of the last fit, by squares.
    loss_alpha : float or None
        The same for the loss of classes; None where squares are the loss.
    """

    ingredients: tuple[Ingredient, ...]
    alpha: float
    loss_alpha: float | None = None

    @property
    def last_alpha(self) -> float:
        """Of the last fit."""
        return self.alpha if self.loss_alpha is None else self.loss_alpha


@dataclass(frozen=True, kw_only=True)
class LearnedMachine(Learned):
    """The outcome of a fit.

    Attributes
    ----------
    recipe : Recipe
    """

    function: FeatureMachineFunction
    recipe: Recipe


def _nearest(values: tuple[float, ...], wanted: float) -> float:
    ratios: FloatArray = np.abs(np.log(np.asarray(values) / wanted))
    return values[int(np.argmin(ratios))]

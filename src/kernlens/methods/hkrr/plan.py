"""What an HKRR fit is asked for, and what comes out of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from kernlens._array import FloatArray
from kernlens._result import Status
from kernlens.base.learner import Learned
from kernlens.base.search import SearchRecord
from kernlens.fits.held_out import Bounds, Split
from kernlens.fits.projected_function import ProjectedKernelFunction
from kernlens.fits.tuned_ridge import Tuned
from kernlens.methods.hkrr.options import N_RANDOM, Centers

#: Components that a search starts with.
WIDE = 20
#: Alphas of the automatic search, tried downwards while predictions improve.
ALPHAS = tuple(10.0 ** -np.arange(1.0, 9.0))
#: A given alpha is approached from these multiples of it.
APPROACH = (100.0, 10.0, 1.0)


@dataclass(frozen=True)
class KeptSettings:
    """What an earlier fit has chosen, to go on with.

    Attributes
    ----------
    alpha : float
        Regularisation while the map is learned.
    tuned : Tuned
        Factor of the map and alpha of the last fit.
    search : SearchRecord or None
        How they were chosen.
    """

    alpha: float
    tuned: Tuned
    search: SearchRecord | None = None


@dataclass(frozen=True)
class LearningPlan:
    """What is given and what is to be chosen.

    Attributes
    ----------
    n_components : tuple of int, or None
        Numbers of rows of B to choose from; None for the automatic choice.
    alphas : tuple of float, or None
        Values to choose from; None for the automatic grid.
    centers : Centers
        Number of centres while learning, and how they are drawn.
    refit_centers : int or None
        Centres of the last fit, None for no such fit.
    n_random : int
        Random first maps that are compared.
    subspace : bool
        Whether a first map comes from the gradients of a plain fit.
    screen : bool
        Whether columns are left out if that predicts better.
    given : ndarray of shape (n_components, n_inputs) or None
        The only first map, whose size does not matter.
    max_iter, tol : int, float
        End of the learning on all rows.
    bounds : tuple of ndarray of shape (n_targets,), or None
        Lowest and highest of the predictions that are scored.
    max_norm : float or None
        Bound of the operator norm of B in the units of the user; None for no bound.
    start : ndarray of shape (n_components, n_inputs) or None
        A map learned before, to start from as it is.
    kept : KeptSettings or None
        Settings to go on with from `start`; nothing is then chosen.
    """

    n_components: tuple[int, ...] | None = None
    alphas: tuple[float, ...] | None = None
    centers: Centers = field(default_factory=Centers)
    refit_centers: int | None = None
    n_random: int = N_RANDOM
    subspace: bool = True
    screen: bool = False
    given: FloatArray | None = None
    max_iter: int = 100
    tol: float = 1e-4
    bounds: Bounds | None = None
    max_norm: float | None = None
    start: FloatArray | None = None
    kept: KeptSettings | None = None

    def widths(self, n_inputs: int) -> tuple[int, ...]:
        """Numbers of components, widest first; more than inputs would give the same kernels."""
        wanted = (WIDE,) if self.n_components is None else self.n_components
        return tuple(sorted({min(k, n_inputs) for k in wanted}, reverse=True))

    @property
    def path(self) -> tuple[float, ...]:
        """Values of alpha along a path, largest first."""
        if self.alphas is None:
            return ALPHAS
        if len(self.alphas) == 1 and self.start is None:
            return tuple(factor * self.alphas[0] for factor in APPROACH)
        return tuple(sorted(self.alphas, reverse=True))

    @property
    def given_alpha(self) -> float | None:
        """The value of alpha, if there is no choice."""
        return self.alphas[0] if self.alphas is not None and len(self.alphas) == 1 else None

    @property
    def searches(self) -> bool:
        """Whether anything is chosen on held-out rows."""
        given = self.given_alpha is not None and len(self.n_components or ()) == 1
        return not given or self.refit_centers is not None

    def with_settings(self, alpha: float, n_components: int) -> LearningPlan:
        """The plan of a fit from the beginning in which nothing is chosen."""
        return replace(self, alphas=(alpha,), n_components=(n_components,), start=None, kept=None)


@dataclass(frozen=True)
class Choice:
    """What was chosen on held-out rows.

    Attributes
    ----------
    alpha : float
        Regularisation while the map is learned.
    maps : sequence of ndarray of shape (n_components, n_inputs)
        One of every split.
    splits : list of Split
        With the centres of the last fit.
    record : SearchRecord
    tuned, last : Tuned
        Settings of the last fit by squares, and by the loss that it is for.
    instead : Status or None
        What takes the place of a map that is learned on all rows, if nothing was found.
    """

    alpha: float
    maps: Sequence[FloatArray]
    splits: list[Split]
    record: SearchRecord
    tuned: Tuned
    last: Tuned
    instead: Status | None = None


@dataclass(frozen=True, kw_only=True)
class LearnedKernel(Learned):
    """A map, and the function on it.

    Attributes
    ----------
    W : ndarray of shape (n_components, n_inputs)
        The map as it was learned, divided by the length scale of the start.
    scale : float
        What the last fit multiplies it by.
    unit : float
        What makes a map in the units of the user of W: the bound of its norm there over that here.
    refit_alpha : float
        Regularisation of the last fit.
    squares_alpha : float
        What it would be by squares; another number only if the loss is one of classes.
    plain : bool
        Whether the map treats all columns alike.
    screened : bool
        Whether columns were left out.
    """

    function: ProjectedKernelFunction
    W: FloatArray
    scale: float
    unit: float
    refit_alpha: float
    squares_alpha: float
    plain: bool = False
    screened: bool = False

"""What an HKRR fit is asked for, and what comes out of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernlens._array import FloatArray
from kernlens._result import SolveResult
from kernlens.fits.held_out import Bounds
from kernlens.methods.hkrr.search import Visited

#: Components that a search starts with.
WIDE = 20
#: Alphas of the automatic search, tried downwards while predictions improve.
ALPHAS = tuple(10.0 ** -np.arange(1.0, 9.0))
#: A given alpha is approached from these multiples of it.
APPROACH = (100.0, 10.0, 1.0)


@dataclass(frozen=True)
class LearningPlan:
    """What is given and what is to be chosen.

    Attributes
    ----------
    n_components : tuple of int, or None
        Numbers of rows of B to choose from; None for the automatic choice.
    alphas : tuple of float, or None
        Values to choose from; None for the automatic grid.
    n_centers : int
        Centres while learning.
    centers : {"uniform", "leverage"}
        How they are drawn.
    refit_centers : int or None
        Centres of the last fit, None for no such fit.
    init : {"auto", "random", "subspace"} or ndarray of shape (n_components, n_features)
        First maps.
    n_init : int
        Random first maps that are compared.
    max_iter, tol : int, float
        Of the learning on all rows.
    bounds : tuple of ndarray of shape (n_targets,), or None
        Of the predictions that are scored.
    start : ndarray of shape (n_components, n_features) or None
        A map learned before, to start from as it is.
    """

    n_components: tuple[int, ...] | None
    alphas: tuple[float, ...] | None
    n_centers: int
    centers: str
    refit_centers: int | None
    init: str | FloatArray
    n_init: int
    max_iter: int
    tol: float
    bounds: Bounds | None = None
    start: FloatArray | None = None

    def widths(self, n_features: int) -> tuple[int, ...]:
        """Numbers of components, widest first; more than columns would give the same kernels."""
        wanted = (WIDE,) if self.n_components is None else self.n_components
        return tuple(sorted({min(k, n_features) for k in wanted}, reverse=True))

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


@dataclass(frozen=True)
class LearnedKernel:
    """The outcome: a map, and the function on it.

    Attributes
    ----------
    W : ndarray of shape (n_components, n_features)
        The map as it was learned, divided by the length scale of the start.
    scale : float
        What the last fit multiplies it by.
    Z : ndarray of shape (n_centers, n_features)
        Centres of the last fit.
    coefficients, intercept : ndarray of shape (n_targets, n_centers), (n_targets,)
        The function, on ``scale * W``.
    slopes, directions : ndarray of shape (n_components,), (n_components, n_features)
        How fast the function varies, and along which directions.
    alpha, refit_alpha : float
        Regularisation while learning and in the last fit.
    value : float
        Objective at the end of the learning.
    result : SolveResult
        How the learning ended.
    visited : tuple of Visited
        Settings tried.
    """

    W: FloatArray
    scale: float
    Z: FloatArray
    coefficients: FloatArray
    intercept: FloatArray
    slopes: FloatArray
    directions: FloatArray
    alpha: float
    refit_alpha: float
    value: float
    result: SolveResult
    visited: tuple[Visited, ...]

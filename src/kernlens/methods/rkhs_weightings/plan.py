"""What a fit of random features is asked for, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kernlens._array import FloatArray
from kernlens._result import Status
from kernlens.fits.mixture import AlphaMixture
from kernlens.methods.rkhs_weightings.instantiations import AnyInstantiation
from kernlens.methods.rkhs_weightings.solvers.functional_gradient import FunctionalGradient

#: A smaller alpha must lower the loss by this share to be taken: rounding does not choose.
CLEAR_GAIN = 1e-3


@dataclass(frozen=True)
class WeightingPlan:
    """Settings of a fit.

    Attributes
    ----------
    candidates : tuple of Instantiation
        What may be chosen from.
    alphas : tuple of float or None
        Regularisations to choose from, None for the grid of the solver.
    mixed : bool
        Whether the solutions of several alphas are mixed.
    solver : {"least_squares", "lasso", "sfgd", "exact"}
    penalty : {"rkhs", "l2"}
        Norm of alpha.
    kitchen_sinks : bool
        Whether the features are the base predictors themselves.
    paper_units : bool
        Whether alpha is the paper's lambda and not relative to the spread of the features.
    intercept : bool
        Whether a constant is added to the function.
    n_weights : int
        T.
    descent : FunctionalGradient
        How stochastic descent goes.
    seed : int
        Of the weights and batches.
    """

    candidates: tuple[AnyInstantiation, ...]
    alphas: tuple[float, ...] | None
    mixed: bool
    solver: str
    penalty: str
    kitchen_sinks: bool
    paper_units: bool
    intercept: bool
    n_weights: int
    descent: FunctionalGradient
    seed: int

    @property
    def kernel_penalty(self) -> str:
        """Norm that the limit of infinitely many features has."""
        return "l2" if self.kitchen_sinks else self.penalty


@dataclass(frozen=True)
class Setting:
    """An instantiation and a regularisation, with its loss on rows that were left out."""

    instantiation: AnyInstantiation
    alpha: float
    loss: float = float("nan")


@dataclass(frozen=True)
class Choice:
    """The best setting of an instantiation, what is mixed of it, and all that were compared."""

    best: Setting
    mixture: AlphaMixture
    tried: tuple[Setting, ...] = ()

    @classmethod
    def given(cls, instantiation: AnyInstantiation, alpha: float) -> Choice:
        """Where there is nothing to choose, or nothing to choose by."""
        return cls(Setting(instantiation, alpha), AlphaMixture.of_one(alpha))


@dataclass(frozen=True)
class FeatureFunction:
    """``f(x) = intercept + sum_t c_t F_t(x)``.

    Attributes
    ----------
    weights : ndarray of shape (T, n_coordinates)
    coefficients : ndarray of shape (n_targets, T)
        c, of the features without their factors.
    intercept : ndarray of shape (n_targets,)
    log_norms : ndarray of shape (n_targets,)
        Logarithms of the norm of alpha in units of the kernel; -inf for alpha = 0.
    """

    weights: FloatArray
    coefficients: FloatArray
    intercept: FloatArray
    log_norms: FloatArray


@dataclass(frozen=True)
class DualFunction:
    """``f(x) = intercept + sum_i dual_i k(x_i, x)`` with the implicit kernel.

    Attributes
    ----------
    support : ndarray of shape (n_support, n_inputs)
    dual : ndarray of shape (n_targets, n_support)
    intercept : ndarray of shape (n_targets,)
    log_norms : ndarray of shape (n_targets,)
        As for :class:`FeatureFunction`.
    """

    support: FloatArray
    dual: FloatArray
    intercept: FloatArray
    log_norms: FloatArray


@dataclass(frozen=True)
class Learned:
    """A fitted function, and how it was found.

    Attributes
    ----------
    setting : Setting
    mixture : AlphaMixture
    function : FeatureFunction or DualFunction
    log_unit : float
        Logarithm of the paper's lambda over alpha.
    objective : float
        ``(1/m) sum_i w_i |f(x_i) - y_i|^2 + lambda |alpha|^2``, summed over targets; lambda is
        that of the setting.
    status : Status
    n_iter : int
    history : tuple of float
    tried : tuple of Setting
    largest_norms : ndarray of shape (n_targets,)
        Of the iterates of a descent, in units of the kernel.
    half_steps : bool
        Whether those of a descent were 1/(2 lambda t).
    """

    setting: Setting
    mixture: AlphaMixture
    function: FeatureFunction | DualFunction
    log_unit: float
    objective: float
    status: Status = Status.CONVERGED
    n_iter: int = 1
    history: tuple[float, ...] = field(default=())
    tried: tuple[Setting, ...] = field(default=())
    largest_norms: FloatArray = field(default_factory=lambda: np.empty(0))
    half_steps: bool = True


def best_of(tried: list[Setting]) -> Setting:
    """The setting of lowest loss; of about equal ones the first, at its largest alpha."""
    best = min(tried, key=lambda setting: setting.loss)
    close = [
        setting
        for setting in tried
        if setting.instantiation is best.instantiation
        and setting.loss <= best.loss * (1.0 + CLEAR_GAIN)
    ]
    return max(close, key=lambda setting: setting.alpha)

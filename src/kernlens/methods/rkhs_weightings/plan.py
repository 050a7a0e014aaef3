"""What a fit of random features is asked for, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kernlens._array import FloatArray
from kernlens._result import Status
from kernlens.base.learner import Learned
from kernlens.fits.mixture import AlphaMixture
from kernlens.methods.rkhs_weightings.function import WeightedFunction
from kernlens.methods.rkhs_weightings.instantiations import AnyInstantiation
from kernlens.methods.rkhs_weightings.options import FunctionalGradient

#: A smaller alpha must lower the loss by this share to be taken: rounding does not choose.
CLEAR_GAIN = 1e-3


@dataclass(frozen=True)
class Limits:
    """How many rows are looked at for what.

    Attributes
    ----------
    search : int
        Rows that settings are compared on first.
    leave_one_out : int
        Rows up to which alpha is chosen by leaving one out, and that predictions of rows left out
        are given for.
    """

    search: int = 800
    leave_one_out: int = 2000


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
    solver : str
        Name of the solver.
    penalty : {"rkhs", "l2"}
        The norm of the weight function that is penalised.
    kitchen_sinks : bool
        Whether the features are the base predictors themselves.
    paper_units : bool
        Whether alpha is the paper's lambda and not relative to the spread of the features.
    intercept : bool
        Whether a constant is added to the function.
    n_weights : int
        Number T of random weights.
    descent : FunctionalGradient
        How stochastic descent goes.
    seed : int
        Weights and batches are drawn from it.
    of_classes : bool
        Whether targets are labels +1 and -1, whose rows may have a weight for every class.
    n_columns : int or None
        Inputs that come from columns, before that of the bias; None for all of them.
    batch : bool
        Whether the rows are one batch of a stream.
    sums : dict or None
        What the batches before have summed up, as plain arrays; None without any.
    limits : Limits
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
    of_classes: bool = False
    n_columns: int | None = None
    batch: bool = False
    sums: dict[str, Any] | None = None
    limits: Limits = field(default_factory=Limits)

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
class Solution:
    """What a solver has found for one instantiation.

    Attributes
    ----------
    setting : Setting
    mixture : AlphaMixture
    function : FeatureFunction or KernelFunction
    log_unit : float
        Logarithm of the paper's lambda over alpha.
    objective : float
        ``(1/m) sum_i w_i |f(x_i) - y_i|^2 + lambda |alpha|^2``, summed over targets; lambda is
        that of the setting.
    status : Status
    n_iter : int
    history : tuple of float
    tried : tuple of Setting
        What the solver has compared.
    largest_norms : ndarray of shape (n_targets,)
        Largest norms of the iterates of a descent, in units of the kernel.
    half_steps : bool
        Whether the steps of a descent were 1/(2 lambda t).
    sums : dict or None
        What the batches of a stream have summed up, as plain arrays; None for a fit of all rows.
    """

    setting: Setting
    mixture: AlphaMixture
    function: WeightedFunction
    log_unit: float
    objective: float
    status: Status = Status.CONVERGED
    n_iter: int = 1
    history: tuple[float, ...] = ()
    tried: tuple[Setting, ...] = ()
    largest_norms: FloatArray = field(default_factory=lambda: np.empty(0))
    half_steps: bool = True
    sums: dict[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class LearnedWeighting(Learned):
    """The outcome of a fit.

    Attributes
    ----------
    solution : Solution
        What the solver has found, with the setting that was chosen.
    """

    function: WeightedFunction
    solution: Solution


def best_of(tried: list[Setting]) -> Setting:
    """The setting of lowest loss; of about equal ones the first, at its largest alpha.

    A loss that is no number overflowed on the way, and is as bad as an infinite one.
    """
    tried = [replace(one, loss=np.inf) if np.isnan(one.loss) else one for one in tried]
    best = min(tried, key=lambda setting: setting.loss)
    close = [
        setting
        for setting in tried
        if setting.instantiation is best.instantiation
        and setting.loss <= best.loss * (1.0 + CLEAR_GAIN)
    ]
    return max(close, key=lambda setting: setting.alpha)

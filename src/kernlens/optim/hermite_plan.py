"""What a RegFeaL fit is asked for, and what comes out of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kernlens._result import SolveResult
from kernlens._rows import CanonicalRows
from kernlens.features.hermite_indices import DegreeSequence
from kernlens.kernels.hermite import COARSE, FINE, Precision
from kernlens.losses import Loss
from kernlens.optim.hermite_descent import DescentRule
from kernlens.optim.hermite_directions import Directions
from kernlens.optim.hermite_objective import HermiteFunction, HermiteObjective, IndexRule
from kernlens.optim.hyper_kernel_search import Split

FloatArray = NDArray[np.floating]

#: lambda, in the units of alpha: far below every alpha, for definite systems only (Section 3.2).
LAMBDA = 1e-8


class Refit(Protocol):
    """A regressor on projected rows."""

    def held_out(self, splits: Sequence[Split], maps: Sequence[FloatArray]) -> float:
        """Mean loss on the held-out rows, with one map (n_directions, n_features) a split."""

    def fit(
        self,
        rows: CanonicalRows,
        B: FloatArray,
        splits: Sequence[Split],
        maps: Sequence[FloatArray],
    ) -> Any:
        """Fit on all rows through B; its settings may be tuned on the splits."""


@dataclass(frozen=True)
class Setting:
    """The two tuning parameters.

    Attributes
    ----------
    sequence : DegreeSequence
        c_k, with the paper's rho or M.
    alpha : float
        The paper's mu times ``d^((2 - r) / r)``.
    """

    sequence: DegreeSequence
    alpha: float


@dataclass(frozen=True)
class HermitePlan:
    """What is given and what is to be chosen.

    Attributes
    ----------
    structure : {"features", "variables", "none"}
        Feature learning (2.11), variable selection (2.8), or plain kernel ridge.
    r : float
        In (0, 2).
    settings : tuple of Setting
        To choose from.
    rule : IndexRule or None
        How multi-indices are chosen while learning; None for the kernel of all polynomials.
    last_rule : IndexRule or None
        The same for the last fit on all rows.
    max_directions : int
        Directions followed after the first fit.
    n_folds : int
    descent : DescentRule
        Of the learning at the chosen setting.
    refit : Refit or None
        What may be fitted on the projected rows.
    own : bool
        Whether RegFeaL's own function may be kept beside a refit.
    start : Directions or None
        Learned before, to go on from.
    """

    structure: str
    r: float
    settings: tuple[Setting, ...]
    rule: IndexRule | None
    last_rule: IndexRule | None
    max_directions: int
    n_folds: int
    descent: DescentRule
    refit: Refit | None
    own: bool = True
    start: Directions | None = None


@dataclass(frozen=True)
class HermiteProblem:
    """Objectives of a fit: the parts that do not depend on rows or settings.

    Attributes
    ----------
    loss : Loss
    plan : HermitePlan
    n_jobs : int or None
    """

    loss: Loss
    plan: HermitePlan
    n_jobs: int | None = None

    def objective(
        self, rows: CanonicalRows, setting: Setting, *, last: bool = False
    ) -> HermiteObjective:
        """J on `rows`; the `last` one is the most accurate."""
        # d^((2 - r) / r) is 1 / eta where all directions are equal: alpha is the penalty there.
        unit = float(rows.X.shape[1]) ** ((2.0 - self.plan.r) / self.plan.r)
        penalties = (LAMBDA / unit, setting.alpha / unit)
        if self.plan.structure == "none":
            penalties = (setting.alpha, 0.0)
        precision: Precision = FINE if last else COARSE
        rule = self.plan.last_rule if last else self.plan.rule
        return HermiteObjective(
            rows,
            self.loss,
            setting.sequence,
            *penalties,
            rule=rule,
            precision=precision,
            n_jobs=self.n_jobs,
        )


@dataclass(frozen=True)
class Tried:
    """One setting on the splits it was tried on.

    Attributes
    ----------
    setting : Setting
    own_loss, refit_loss : float
        Mean held-out loss of RegFeaL's function, and of the refit; infinite if not wanted.
    directions : tuple of Directions
        What every split led to.
    """

    setting: Setting
    own_loss: float
    refit_loss: float
    directions: tuple[Directions, ...]

    @property
    def loss(self) -> float:
        """The lower of the two."""
        return min(self.own_loss, self.refit_loss)


@dataclass(frozen=True)
class LearnedHermite:
    """The outcome.

    Attributes
    ----------
    directions : Directions
    setting : Setting
    function : HermiteFunction
        Of ``R^T x``.
    refitted : object or None
        The refit, if it is kept.
    result : SolveResult
        How the learning ended.
    tried : tuple of Tried
    """

    directions: Directions
    setting: Setting
    function: HermiteFunction
    refitted: Any
    result: SolveResult
    tried: tuple[Tried, ...]

"""What a fit of RegFeaL is asked for, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernlens._array import FloatArray
from kernlens._rows import CanonicalRows
from kernlens.base.learner import Learned
from kernlens.features.hermite_indices import DegreeSequence, GeometricSequence
from kernlens.kernels.hermite import COARSE, LARGEST_LOG, MEDIUM, HermiteKernel, Precision
from kernlens.losses import Loss, SquaredLoss
from kernlens.methods.regfeal.descent import DescentRule
from kernlens.methods.regfeal.directions import WeightedDirections
from kernlens.methods.regfeal.objective import HermiteObjective
from kernlens.methods.regfeal.options import IndexRule
from kernlens.methods.regfeal.refits import Refit

#: lambda, in the units of alpha: far below every alpha, for definite systems only (Section 3.2).
LAMBDA = 1e-8
#: Up to so many rows directions are learned in double precision, which then costs little.
MEDIUM_ROWS = 500
#: Penalty of the squared loss on indicators of classes that does what 1 does for a loss of classes.
CURVATURE_RATIO = 4.0


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

    @property
    def rho(self) -> float | None:
        """The paper's rho; None if ``c_k`` is 1 up to a degree."""
        return self.sequence.rho if isinstance(self.sequence, GeometricSequence) else None


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
    descent : DescentRule
        How directions are learned at the chosen setting.
    learn_rows : int or None
        Rows that directions are learned on; None for all.
    refit : Refit or None
        What may be fitted on the projected rows.
    own : bool
        Whether RegFeaL's own function may be kept beside a refit.
    start : WeightedDirections or None
        Given, to start from instead of those of a plain fit.
    previous : WeightedDirections or None
        Learned before: one more start at the chosen setting. They have seen all rows, so that a
        search does not start from them.
    seed : int
        All that is drawn follows from it.
    """

    structure: str
    r: float
    settings: tuple[Setting, ...]
    rule: IndexRule | None
    last_rule: IndexRule | None
    max_directions: int
    descent: DescentRule
    learn_rows: int | None
    refit: Refit | None
    own: bool = True
    start: WeightedDirections | None = None
    previous: WeightedDirections | None = None
    seed: int = 0

    @property
    def learns_directions(self) -> bool:
        """Whether directions are turned; else they are columns."""
        return self.structure == "features"

    def descent_within(self, max_iter: int | None = None, tol: float = 0.0) -> DescentRule:
        """The descent with at most so many iterations, to this decrease; none without learning."""
        most = self.descent.max_iter if max_iter is None else min(max_iter, self.descent.max_iter)
        if self.structure == "none":
            most = 0
        return replace(self.descent, max_iter=most, tol=max(tol, self.descent.tol))

    def within_reach(self, X: FloatArray) -> HermitePlan:
        """Without settings whose kernel of all polynomials overflows on rows X of a fit.

        The diagonal of the kernel grows exponentially with the squares of the rows, the faster the
        larger rho is: many columns, or values far out, need a small one.
        """
        if self.rule is not None:
            return self
        n_features = X.shape[1]
        settings = tuple(
            setting
            for setting in self.settings
            if log_entries(X, setting, *self.penalties(setting.alpha, n_features)) <= LARGEST_LOG
        )
        if not settings:
            raise ValueError(
                "The kernel of all polynomials overflows on these rows at every rho to choose "
                "from; set standardize=True, a smaller clip, or a smaller rho."
            )
        return replace(self, settings=settings)

    def penalties(self, alpha: float, n_features: int) -> tuple[float, float]:
        """The paper's lambda and mu.

        ``1 / eta`` is ``d^((2 - r) / r)`` where all directions are equal: there alpha is what a
        term of degree 1 pays. Without learning it is lambda, and mu is zero.
        """
        if self.structure == "none":
            return alpha, 0.0
        unit = float(n_features) ** ((2.0 - self.r) / self.r)
        return LAMBDA / unit, alpha / unit


def log_entries(X: FloatArray, setting: Setting, lam: float, mu: float) -> float:
    """Bound of the logarithm of the entries of a kernel matrix, whatever the directions are."""
    assert setting.rho is not None
    # eta is at most 1, so that this is more than the sum of the weights of an integral.
    return HermiteKernel.log_bound(X, setting.rho) + float(np.log(100.0 / max(lam, mu)))


@dataclass(frozen=True)
class HermiteProblem:
    """Objectives of a fit: the parts that do not depend on rows or settings.

    Attributes
    ----------
    loss : Loss
    plan : HermitePlan
    n_jobs : int or None
    penalty_ratio : float
        Factor of every alpha, for a loss that stands for another one.
    """

    loss: Loss
    plan: HermitePlan
    n_jobs: int | None = None
    penalty_ratio: float = 1.0

    def for_search(self) -> HermiteProblem:
        """The same problem in the form that settings are chosen with.

        A classifier takes the squared loss on indicators of the classes: one solve then does where
        Newton's method takes many. Near even odds, log-odds are four times the difference of the
        probability from 1/2, and their loss is a quarter as curved: the same penalty then weighs
        four times as much.
        """
        if self.loss.quadratic:
            return self
        refit = None if self.plan.refit is None else self.plan.refit.for_search()
        plan = replace(self.plan, refit=refit)
        return replace(self, loss=SquaredLoss(), plan=plan, penalty_ratio=CURVATURE_RATIO)

    def objective(
        self,
        rows: CanonicalRows,
        setting: Setting,
        *,
        precision: Precision | None = None,
        last: bool = False,
    ) -> HermiteObjective:
        """J on `rows`; the `last` one is that of the function that predicts."""
        if precision is None:
            precision = MEDIUM if last or len(rows.X) <= MEDIUM_ROWS else COARSE
        return HermiteObjective(
            rows,
            self.loss,
            setting.sequence,
            *self.plan.penalties(self.penalty_ratio * setting.alpha, rows.X.shape[1]),
            rule=self.plan.last_rule if last else self.plan.rule,
            precision=precision,
            n_jobs=self.n_jobs,
            seed=self.plan.seed,
        )

    def first_directions(
        self, rows: CanonicalRows, setting: Setting, precision: Precision | None = None
    ) -> WeightedDirections:
        """Directions of a function of all columns alike, the leading ones of feature learning."""
        equal = self.equal_directions(rows)
        if not self.plan.learns_directions:
            return equal
        M, _ = self.objective(rows, setting, precision=precision).at(equal).derivatives
        return equal.reweighted(M, 0.0, rotate=True).leading(self.plan.max_directions)

    def equal_directions(self, rows: CanonicalRows) -> WeightedDirections:
        """All columns alike."""
        return WeightedDirections.equal(rows.X.shape[1], self.plan.r)


@dataclass(frozen=True)
class Tried:
    """One setting on the splits it was tried on; the best ones are tried on all of them.

    Attributes
    ----------
    setting : Setting
    own_loss, refit_loss : float
        Mean held-out loss of RegFeaL's function, and of the refit; infinite if not wanted.
    directions : tuple of WeightedDirections
        What every split led to.
    plain : bool
        Whether it is a function of all columns alike, without learned directions.
    """

    setting: Setting
    own_loss: float
    refit_loss: float
    directions: tuple[WeightedDirections, ...]
    plain: bool = False

    @property
    def loss(self) -> float:
        """The lower of the two losses."""
        return min(self.own_loss, self.refit_loss)

    @property
    def refit_is_better(self) -> bool:
        """Whether a refit predicts held-out rows better than RegFeaL's function."""
        return self.refit_loss < self.own_loss


@dataclass(frozen=True, kw_only=True)
class LearnedHermite(Learned):
    """Directions with their shares, and a function on them.

    Attributes
    ----------
    weighted : WeightedDirections
    setting : Setting
    tried : tuple of Tried
        What the setting was chosen among.
    tuned : object or None
        Settings of the refit.
    refitted : bool
        Whether the function is that of a refit.
    n_short : int or None
        Most iterations of a descent that ended early for the refit; None for one to its end.
    """

    weighted: WeightedDirections
    setting: Setting
    tried: tuple[Tried, ...] = ()
    tuned: Any = None
    refitted: bool = False
    n_short: int | None = None

"""What a RegFeaL fit is asked for, and what comes out of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from kernlens._array import FloatArray
from kernlens._result import SolveResult
from kernlens._rows import CanonicalRows
from kernlens.features.hermite_indices import DegreeSequence
from kernlens.fits.held_out import Split
from kernlens.kernels.hermite import COARSE, MEDIUM, Precision
from kernlens.losses import Loss
from kernlens.methods.regfeal.descent import DescentRule
from kernlens.methods.regfeal.directions import Directions
from kernlens.methods.regfeal.objective import HermiteFunction, HermiteObjective, IndexRule

#: lambda, in the units of alpha: far below every alpha, for definite systems only (Section 3.2).
LAMBDA = 1e-8
#: Up to so many rows directions are learned in double precision, which then costs little.
MEDIUM_ROWS = 500


class Refit(Protocol):
    """A regressor on projected rows."""

    def held_out(self, split: Split, B: FloatArray, *, quick: bool) -> float:
        """Loss on held-out rows through B (n_directions, n_features); `quick` for a first look."""

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
    descent : DescentRule
        Of the learning at the chosen setting.
    learn_rows : int or None
        Rows that directions are learned on; None for all.
    refit : Refit or None
        What may be fitted on the projected rows.
    own : bool
        Whether RegFeaL's own function may be kept beside a refit.
    start : Directions or None
        Given, to start from instead of those of a plain fit.
    previous : Directions or None
        Learned before: one more start at the chosen setting. They have seen all rows, so that a
        search does not start from them.
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
    start: Directions | None = None
    previous: Directions | None = None

    def penalties(self, setting: Setting, n_features: int) -> tuple[float, float]:
        """The paper's lambda and mu.

        ``1 / eta`` is ``d^((2 - r) / r)`` where all directions are equal: there alpha is what a
        term of degree 1 pays. Without learning it is lambda, and mu is zero.
        """
        if self.structure == "none":
            return setting.alpha, 0.0
        unit = float(n_features) ** ((2.0 - self.r) / self.r)
        return LAMBDA / unit, setting.alpha / unit


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
        rule = self.plan.last_rule if last else self.plan.rule
        return HermiteObjective(
            rows,
            self.loss,
            setting.sequence,
            *self.plan.penalties(setting, rows.X.shape[1]),
            rule=rule,
            precision=precision,
            n_jobs=self.n_jobs,
        )


@dataclass(frozen=True)
class Tried:
    """One setting on the splits it was tried on; the best ones are tried on all of them.

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

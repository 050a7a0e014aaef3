"""What every learner offers, and what comes of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from kernlens._array import FloatArray, IntArray
from kernlens._result import Status
from kernlens._rows import CanonicalRows
from kernlens.base.function import FittedFunction
from kernlens.base.search import SearchRecord

if TYPE_CHECKING:
    from kernlens.base.block_data import FitTable


@dataclass(frozen=True)
class Directions:
    """Linear features of a function, among its inputs.

    Attributes
    ----------
    components : ndarray of shape (r, n_inputs)
        Orthonormal rows, most important first.
    importances : ndarray of shape (r,)
        Non-negative, decreasing.
    of_inputs : ndarray of shape (n_inputs,)
        Importance of every input, non-negative.
    n_relevant : int or None
        How many matter; None leaves it to the shares of the importances.
    """

    components: FloatArray
    importances: FloatArray
    of_inputs: FloatArray
    n_relevant: int | None = None


@dataclass(frozen=True, kw_only=True)
class Learned:
    """The outcome of a fit; families add what is their own.

    Attributes
    ----------
    function : FittedFunction
    directions : Directions
    alpha : float
        The regularisation in use.
    objective : float
        The objective at the end.
    history : tuple of float
        The objective along the last stage.
    n_iter : int
        Iterations of the last stage.
    status : Status
        How it ended.
    search : SearchRecord or None
        What was compared, if anything was chosen.
    """

    function: FittedFunction
    directions: Directions
    alpha: float
    objective: float
    history: tuple[float, ...] = ()
    n_iter: int = 1
    status: Status = Status.CONVERGED
    search: SearchRecord | None = None


@dataclass(frozen=True)
class LeftOut:
    """Predictions of rows by fits that have not seen them.

    Attributes
    ----------
    decision : ndarray of shape (n_targets, n_rows)
        In the units of the fit.
    y : ndarray of shape (n_targets, n_rows)
        Their targets, in the same units.
    weights : ndarray of shape (n_rows,)
    """

    decision: FloatArray
    y: FloatArray
    weights: FloatArray

    @classmethod
    def joined(cls, parts: Sequence[LeftOut]) -> LeftOut:
        """The rows of several parts, one after the other."""
        return cls(
            np.concatenate([part.decision for part in parts], axis=1),
            np.concatenate([part.y for part in parts], axis=1),
            np.concatenate([part.weights for part in parts]),
        )


Outcome = TypeVar("Outcome", bound=Learned)


class Learner(ABC, Generic[Outcome]):
    """One fit: from rows and a plan to a function.

    Iterations are reported when there is something that `finish_interrupted` can keep: whoever
    listens may ask to stop.
    """

    @abstractmethod
    def learn(self) -> Outcome:
        """Choose what is to be chosen, and learn."""

    @abstractmethod
    def left_out(self, learned: Outcome) -> LeftOut:
        """Predict rows by fits without them, with the settings that were chosen.

        Stacking and calibration need them. They are computed when they are asked for.
        """

    @abstractmethod
    def directions_on(
        self, rows: CanonicalRows, strata: IntArray | None, learned: Outcome
    ) -> Directions:
        """Learn directions from other rows, with the settings that were chosen."""

    def fit_all(self, table: FitTable, learned: Outcome) -> Outcome:
        """Learn again from all rows of a table what sums over its blocks say.

        `learned` comes of the rows of this learner, a sample of the table.
        """
        raise NotImplementedError(f"{type(self).__name__} has no sums over blocks.")

    def finish_interrupted(self) -> Outcome:
        """Return the best so far after an interruption; without anything, interrupt again."""
        raise KeyboardInterrupt

    def so_far(self) -> Outcome | None:
        """What an interruption would leave now, for a look at it; the learning goes on after it."""
        try:
            # A copy, because finishing may say of the learner that it was interrupted.
            return copy(self).finish_interrupted()
        except KeyboardInterrupt:
            return None

"""What a fit learns from, and what is known of it on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from kernlens._array import FloatArray, IntArray
from kernlens._lazy import lazy
from kernlens._reports import Report
from kernlens._rows import CanonicalRows
from kernlens.base.block_data import FitTable, InUnits, Surveyed
from kernlens.base.columns import Columns
from kernlens.base.learner import Learner
from kernlens.base.linear_part import LinearPart, plain_inputs
from kernlens.base.targets import Targets
from kernlens.losses import Loss

#: Given the name of a stage, returns what its iterations report to.
Stage = Callable[[str], Report]


@dataclass(frozen=True)
class FitData:
    """What a fit learns from.

    Attributes
    ----------
    rows : CanonicalRows
        Inputs and targets in the units of the fit.
    columns : Columns
        How inputs came from the columns of X.
    targets : Targets
        How targets are used.
    loss : Loss
    strata : ndarray of shape (n_rows,) or None
        Number of the class of every row, for a classifier that learns by a loss of classes.
    weight_unit : float
        What the user's weights were divided by: only their ratios matter.
    random_state : int, RandomState or None
        As the user gave it.
    kept_seed : int or None
        The seed of batches before, which later ones go on with.
    plain : ndarray of shape (n_rows, n_varying) or None
        Standardised columns without limits, for a linear part; None if there can be none.
    linear : LinearPart or None
        What predictions have beside the function that is learned; its slopes were taken off the
        targets.
    found : Surveyed or None
        The table in blocks that the rows are a sample of; None where they are all.
    """

    rows: CanonicalRows
    columns: Columns
    targets: Targets
    loss: Loss
    strata: IntArray | None
    weight_unit: float
    random_state: Any
    kept_seed: int | None = None
    plain: FloatArray | None = None
    linear: LinearPart | None = None
    found: Surveyed | None = None

    @property
    def table(self) -> FitTable | None:
        """All rows, of which those here are a sample; None where they are all."""
        if self.found is None:
            return None
        units = InUnits(self.columns, self.targets, self.weight_unit, self.linear)
        return FitTable.of(self.found, units)

    @property
    def n_rows(self) -> int:
        """Number of all rows; of a table the effective one, as if repeated rows were merged."""
        return len(self.rows.X) if self.table is None else round(self.table.total)

    @property
    def plain_range(self) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest standardised columns of all rows, (n_varying,) each."""
        assert self.plain is not None
        if self.found is None:
            return self.plain.min(axis=0), self.plain.max(axis=0)
        ends = self.found.survey.columns.low, self.found.survey.columns.high
        low, high = plain_inputs(self.columns, np.array(ends))
        return low, high

    @lazy
    def seed(self) -> int:
        """One integer that all draws follow from; it is drawn when it is first asked for."""
        return draw_seed(self.random_state) if self.kept_seed is None else self.kept_seed

    @property
    def line(self) -> FloatArray | None:
        """Slopes that were taken off the targets, in their units, (n_targets, n_varying)."""
        if self.linear is None or not self.linear.slopes.any():
            return None
        return self.linear.slopes / self.targets.scale[:, None]


@dataclass(frozen=True)
class Fit:
    """A fit on its way: what it learns from, what is asked, what learns, and what came of it."""

    data: FitData
    plan: Any
    learner: Learner[Any]
    learned: Any


@dataclass(frozen=True)
class Memory:
    """What a fit needs, and what to do if there is less.

    Attributes
    ----------
    n_bytes : float
    advice : str
        The end of a sentence, such as "fit on fewer rows".
    """

    n_bytes: float
    advice: str


def draw_seed(random_state: Any) -> int:
    """One integer from a user's `random_state`, from which everything else is drawn."""
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))

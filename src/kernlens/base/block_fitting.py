"""The way of a fit of a table in blocks: a survey, the way of a sample in memory, sums over all.

Everything is chosen and learned on a sample, by the same code as in memory. Then a family's
`Learner.fit_all` learns from all rows what is a sum over blocks.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from kernlens._array import FloatArray
from kernlens._reports import StopRequested
from kernlens._result import Status
from kernlens._rows import CanonicalRows
from kernlens.base.block_arrays import refuse_blocks, remember_columns
from kernlens.base.block_data import (
    Surveyed,
    TableUnits,
    moments_of_features,
    with_moments_of_all,
)
from kernlens.base.columns import Columns
from kernlens.base.fit_data import Fit, FitData
from kernlens.base.linear_part import Line
from kernlens.base.targets import Targets
from kernlens.blocks import as_blocks
from kernlens.blocks.moments import Moments
from kernlens.blocks.survey import Survey, survey
from kernlens.blocks.table import BlockTable
from kernlens.losses import Loss


class BlockFittingMixin:
    """Fits of tables in blocks, for families whose learners have `fit_all`."""

    #: Whether the family learns from tables in blocks.
    _learns_from_blocks: ClassVar[bool] = False
    #: Whether rows may be without targets.
    _takes_gaps: ClassVar[bool] = False
    #: Rows of a table that everything but the last step is learned from.
    _sample_rows: ClassVar[int] = 10_000

    standardize: bool
    random_state: Any
    feature_range_: FloatArray

    @abstractmethod
    def _check_parameters(self) -> None: ...

    @abstractmethod
    def _measure_columns(self, rows: CanonicalRows) -> Columns: ...

    @abstractmethod
    def _fit_encoded(
        self, X: FloatArray, y: FloatArray, weights: FloatArray, loss: Loss
    ) -> None: ...

    @abstractmethod
    def _fit_data(self, data: FitData) -> None: ...

    @abstractmethod
    def _data_of(
        self, rows: CanonicalRows, columns: Columns, targets: Targets, unit: float, loss: Loss
    ) -> FitData: ...

    @abstractmethod
    def _line(self, data: FitData, learned: Any) -> Line | None: ...

    def _targets_of(self, moments: Moments) -> Targets:
        """How targets of a table are used; as they are unless the estimator says otherwise."""
        return Targets.as_they_are(len(moments.mean))

    def _columns_of(self, columns: Columns, found: Survey) -> Columns:
        """Columns of a sample in the units of all rows."""
        return with_moments_of_all(columns, found, bool(self.standardize))

    def _open_blocks(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> BlockTable:
        """The table that `fit` was given, after its parameters were checked."""
        if not self._learns_from_blocks:
            refuse_blocks(type(self).__name__)
        self._check_parameters()
        table = as_blocks(X, y, sample_weight)
        remember_columns(self, table)
        return table

    def _fit_table(
        self, table: BlockTable, make_loss: Callable[[FloatArray, FloatArray], Loss]
    ) -> None:
        """Fit on a table whose targets are those of a fit, (n_targets, n_rows).

        `make_loss` makes the loss from targets and weights of the sample.
        """
        found = Surveyed(table, survey(table, self._sample_rows, self._takes_gaps))
        rows = found.survey.sample
        loss = make_loss(rows.y, rows.weights)
        if found.survey.complete:
            self._fit_encoded(rows.X, rows.y, rows.weights, loss)
        else:
            self._fit_data(self._prepare_table(found, loss))

    def _prepare_table(self, found: Surveyed, loss: Loss) -> FitData:
        """The sample in the units of all rows."""
        # The sample has merged repeated rows: its unit is that of rows with weights instead.
        rows, unit = found.survey.sample.with_relative_weights()
        columns = self._columns_of(self._measure_columns(rows), found.survey)
        units = TableUnits.of(rows, columns, self._targets_of(found.survey.targets))
        data = self._data_of(units.rows, units.columns, units.targets, unit, loss)
        return replace(data, found=found)

    def _from_all_rows(self, fit: Fit, learned: Any, line: Line | None) -> tuple[Any, Line | None]:
        """What was learned from a sample, and its line, with coefficients from all rows.

        `learned` has the number of directions and the status, and is kept after an interruption.
        """
        table = fit.data.table
        if table is None or learned.status in (Status.INTERRUPTED, Status.STOPPED):
            return learned, line
        try:
            whole = fit.learner.fit_all(table, fit.learned)
        except KeyboardInterrupt as error:
            stopped = isinstance(error, StopRequested)
            status = Status.STOPPED if stopped else Status.INTERRUPTED
            return replace(learned, status=status), line
        line = self._line(fit.data, whole)
        directions = whole.directions if line is None else line.joined(whole.directions)
        counted = replace(directions, n_relevant=learned.directions.n_relevant)
        # What the last step kept after an interruption says so.
        kept = whole.status in (Status.INTERRUPTED, Status.STOPPED)
        status = whole.status if kept else learned.status
        return replace(whole, directions=counted, status=status), line

    def _store_range_of_all(self, data: FitData, loadings: FloatArray) -> None:
        """Keep the range of the learned features, by their directions among the inputs."""
        assert data.found is not None
        moments = data.found.table.fold(moments_of_features, Moments.merged, data.columns, loadings)
        self.feature_range_ = np.array([moments.low, moments.high])

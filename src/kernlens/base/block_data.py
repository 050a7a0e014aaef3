"""Tables in blocks as a fit sees them: targets as numbers, then everything in units of the fit."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kernlens._rows import CanonicalRows
from kernlens._warnings import warn
from kernlens.base.columns import Columns
from kernlens.base.targets import Targets
from kernlens.base.units import order_to_learn_in
from kernlens.blocks.block import Block
from kernlens.blocks.survey import Survey
from kernlens.blocks.table import BlockTable
from kernlens.fits.linear_ridge import LinearRidge


@dataclass(frozen=True)
class Surveyed:
    """A table with targets (n_targets, n_rows), and what is known of it."""

    table: BlockTable
    survey: Survey


@dataclass(frozen=True)
class InUnits:
    """From blocks in the units of the user to those of a fit."""

    columns: Columns
    targets: Targets
    weight_unit: float

    def __call__(self, block: Block) -> Block:
        X, y = self.columns.apply(block.X), self.targets.apply(block.y)
        return replace(block, X=X, y=y, weights=block.weights / self.weight_unit)


@dataclass(frozen=True)
class RestOfLine:
    """From targets to what a line leaves of them, in units of their own."""

    ridge: LinearRidge
    n_columns: int
    targets: Targets

    def __call__(self, block: Block) -> Block:
        rest = block.y - self.ridge(block.X[:, : self.n_columns])
        return replace(block, y=self.targets.apply(rest))


@dataclass(frozen=True)
class FitTable:
    """All rows of a fit that learns from a sample of them first.

    Attributes
    ----------
    table : BlockTable
        In the units of the fit.
    n_rows : int
    total : float
        Sum of the weights, the effective number of rows.
    largest : float
        The largest weight.
    """

    table: BlockTable
    n_rows: int
    total: float
    largest: float

    def rest_of(self, ridge: LinearRidge, columns: Columns, targets: Targets) -> FitTable:
        """The same with what a line leaves of the targets."""
        step = RestOfLine(ridge, columns.n_varying, targets)
        return replace(self, table=self.table.through(step))


@dataclass(frozen=True)
class TableUnits:
    """Units of a fit of a table, and the sample in the order that it is learned in.

    Attributes
    ----------
    rows : CanonicalRows
        The sample in the units of the user, with weights in those of the fit.
    columns : Columns
    targets : Targets
    table : FitTable
    """

    rows: CanonicalRows
    columns: Columns
    targets: Targets
    table: FitTable

    @classmethod
    def of(
        cls, found: Surveyed, columns: Columns, targets: Targets, standardize: bool
    ) -> TableUnits:
        """With columns as those of the sample, which get the means and deviations of all rows."""
        survey = found.survey
        columns = _with_moments_of_all(columns, survey, standardize)
        unit = survey.weight_unit
        rows = replace(survey.sample, weights=survey.sample.weights / unit)
        order = order_to_learn_in(rows, columns, targets)
        columns = columns.in_order(order.columns)
        whole = FitTable(
            found.table.through(InUnits(columns, targets, unit)),
            survey.n_rows,
            survey.n_effective,
            survey.largest / unit,
        )
        return cls(rows.in_order(order.rows), columns, targets, whole)


def _with_moments_of_all(columns: Columns, survey: Survey, standardize: bool) -> Columns:
    """Units of all rows, for the columns that vary among those of the sample."""
    used = np.isin(np.arange(len(columns.mean)), columns.used)
    rare = np.flatnonzero(survey.columns.varies & ~used)
    if len(rare):
        warn(
            f"Column {rare[0]} has one value in nearly all rows, and is not used: the "
            f"{len(survey.sample.X)} rows that are looked at first have no other."
        )
    scale = np.where(used, survey.columns.scale, 1.0) if standardize else columns.scale
    return replace(columns, mean=survey.columns.center, scale=scale)

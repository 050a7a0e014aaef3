"""Tables in blocks as a fit sees them: targets as numbers, then everything in units of the fit."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kernlens._array import FloatArray
from kernlens._rows import CanonicalRows
from kernlens._warnings import warn
from kernlens.base.columns import Columns
from kernlens.base.linear_part import LinearPart, plain_inputs
from kernlens.base.targets import Targets
from kernlens.base.units import order_to_learn_in
from kernlens.blocks.block import Block, labeled_rows, some_rows
from kernlens.blocks.moments import Moments
from kernlens.blocks.survey import Survey, fold_of
from kernlens.blocks.table import BlockTable
from kernlens.fits.linear_ridge import LinearRidge

#: One of so many folds of all rows is held out to choose by.
N_FOLDS = 5


@dataclass(frozen=True)
class Surveyed:
    """A table with targets (n_targets, n_rows), and what is known of it."""

    table: BlockTable
    survey: Survey


@dataclass(frozen=True)
class InUnits:
    """From blocks in the units of the user to those of a fit, beside a line if there is one."""

    columns: Columns
    targets: Targets
    weight_unit: float
    linear: LinearPart | None = None

    def __call__(self, block: Block) -> Block:
        y = block.y
        if self.linear is not None:
            y = y - self.linear.values(plain_inputs(self.columns, block.X))
        X, weights = self.columns.apply(block.X), block.weights / self.weight_unit
        return replace(block, X=X, y=self.targets.apply(y), weights=weights)


@dataclass(frozen=True)
class FoldOf:
    """From blocks to their rows in a fold, or to all others; it goes by content alone."""

    held_out: bool

    def __call__(self, block: Block) -> Block:
        # Of the user's units: the last digits of others depend on the order of sums.
        return some_rows(block, (fold_of(block.X, N_FOLDS) == 0) == self.held_out)


@dataclass(frozen=True)
class FitTable:
    """All rows of a fit that learns from a sample of them first.

    Attributes
    ----------
    encoded : BlockTable
        In the units of the user.
    units : InUnits
    n_rows : int
    total : float
        Sum of the weights, the effective number of rows.
    largest : float
        The largest weight.
    """

    encoded: BlockTable
    units: InUnits
    n_rows: int
    total: float
    largest: float

    @classmethod
    def of(cls, found: Surveyed, units: InUnits) -> FitTable:
        """All rows of a table in units that were measured."""
        survey, unit = found.survey, units.weight_unit
        return cls(
            found.table, units, survey.n_rows, survey.columns.total / unit, survey.largest / unit
        )

    @property
    def table(self) -> BlockTable:
        """The rows in the units of the fit."""
        return self.encoded.through(self.units)

    def part(self, *, held_out: bool) -> BlockTable:
        """The fifth of the rows that is held out to choose by, or the others."""
        return self.encoded.through(FoldOf(held_out)).through(self.units)


@dataclass(frozen=True)
class TableUnits:
    """Units of a fit of a table, and the sample in the order that it is learned in.

    Attributes
    ----------
    rows : CanonicalRows
        The sample in the units of the user, with weights in those of the fit.
    columns : Columns
    targets : Targets
    """

    rows: CanonicalRows
    columns: Columns
    targets: Targets

    @classmethod
    def of(cls, rows: CanonicalRows, columns: Columns, targets: Targets) -> TableUnits:
        """With columns and targets in units of all rows; rows and inputs get an order."""
        order = order_to_learn_in(rows, columns, targets)
        return cls(rows.in_order(order.rows), columns.in_order(order.columns), targets)


def with_moments_of_all(columns: Columns, survey: Survey, standardize: bool) -> Columns:
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


def moments_beside(block: Block, columns: Columns, targets: Targets, ridge: LinearRidge) -> Moments:
    """Moments of what a line leaves of the targets of a block in the units of the user."""
    block = labeled_rows(block)
    rest = targets.apply(block.y) - ridge(plain_inputs(columns, block.X))
    return Moments.of(rest.T, block.weights)


def moments_of_features(block: Block, columns: Columns, loadings: FloatArray) -> Moments:
    """Moments of the learned features of a block in the units of the user.

    `loadings` are directions (n_directions, n_varying) among standardised columns.
    """
    return Moments.of(plain_inputs(columns, block.X) @ loadings.T, block.weights)

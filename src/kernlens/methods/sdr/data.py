"""What a method for sufficient dimension reduction learns from: inputs, targets and weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

from kernlens._array import FloatArray
from kernlens._rows import CanonicalRows, canonical_rows
from kernlens._validation import (
    check_classes,
    check_enough_rows,
    check_no_dates,
    sorted_labels,
)
from kernlens.base.arrays import regression_targets
from kernlens.base.block_data import (
    FitTable,
    InUnits,
    Surveyed,
    TableUnits,
    with_moments_of_all,
)
from kernlens.base.block_targets import NumberedLabels, labels_of, numeric_targets
from kernlens.base.columns import Columns
from kernlens.base.targets import Targets
from kernlens.base.units import order_to_learn_in, rows_to_learn_from
from kernlens.blocks.block import Block
from kernlens.blocks.table import BlockTable


@dataclass(frozen=True)
class EncodedTargets:
    """Targets of a user as rows of numbers.

    Attributes
    ----------
    values : ndarray of shape (n_targets, n_samples)
        Numbers, or the numbers of classes.
    categorical : bool
        Whether these are numbers of classes.
    """

    values: FloatArray
    categorical: bool


def encode_targets(
    y: NDArray[Any], weights: FloatArray, categorical: bool | str, estimator: str
) -> EncodedTargets:
    """Take y as numbers or as labels.

    Parameters
    ----------
    y : ndarray of shape (n_samples,) or (n_samples, n_targets)
    weights : ndarray of shape (n_samples,)
        Only rows of positive weight count towards the two classes that are needed.
    categorical : bool or "auto"
        Whether y has labels; ``"auto"`` says so of text and of truth values.
    estimator : str
        Name of the estimator, for messages.
    """
    check_no_dates(y)
    if categorical == "auto":
        kinds = {_are_labels(target) for target in np.atleast_2d(y.T)}
        if len(kinds) > 1:
            raise ValueError("y has targets of text and of numbers; fit one model for each kind.")
        categorical = kinds.pop()
    if not categorical:
        if _are_labels(y) and y.dtype.kind != "b":
            raise ValueError("categorical=False needs a y of numbers; this y has text.")
        return EncodedTargets(regression_targets(y), False)
    columns = y.reshape(len(y), -1).T
    return EncodedTargets(np.array([_codes(c, weights, estimator) for c in columns]), True)


def encode_table(
    table: BlockTable, categorical: bool | str, estimator: str
) -> tuple[BlockTable, tuple[int, ...] | None]:
    """The same for a table in blocks: numbers, or numbers of classes and how many there are."""
    if categorical == "auto":
        categorical = any(table.map(_has_labels))
    if not categorical:
        return table.through(numeric_targets), None
    classes = labels_of(table, estimator)
    return table.through(NumberedLabels(classes)), tuple(len(one) for one in classes)


def _has_labels(block: Block) -> bool:
    if block.y.dtype.kind in "mM":
        raise ValueError("y has dates or durations; give numbers, such as days, or labels as text.")
    return _are_labels(block.y)


def _are_labels(y: NDArray[Any]) -> bool:
    if y.dtype.kind == "O":
        return any(isinstance(one, str | bytes | bool | np.bool_) for one in y.ravel())
    return y.dtype.kind not in "iuf"


def _codes(labels: NDArray[Any], weights: FloatArray, estimator: str) -> FloatArray:
    """Numbers of classes, in the order of their labels, of one column of y."""
    classes, codes = sorted_labels(labels)
    if labels.dtype.kind not in "biuf":
        # Numbers of any kind are labels where the user says so; among objects may be anything.
        check_classification_targets(labels)
    check_classes(classes[np.unique(codes[weights > 0])], estimator)
    numbers: FloatArray = codes.astype(np.float64)
    return numbers


@dataclass(frozen=True)
class ReductionData:
    """What is learned from, in units that do not depend on those of the user.

    Attributes
    ----------
    rows : CanonicalRows
        Inputs are standardised columns, targets standardised numbers or numbers of classes. The
        weights sum to the effective number of rows.
    columns : Columns
        How the inputs came from the columns of X.
    categorical : bool
        Whether targets are numbers of classes.
    table : FitTable or None
        All rows, of which these are a sample; None where these are all.
    n_classes : tuple of int, or None
        Of every target of a table that has classes.
    """

    rows: CanonicalRows
    columns: Columns
    categorical: bool
    table: FitTable | None = None
    n_classes: tuple[int, ...] | None = None

    @classmethod
    def of(cls, X: FloatArray, y: EncodedTargets, weights: FloatArray, name: str) -> ReductionData:
        """Merge repeated rows, bring them in an order of their content, and standardise.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
        y : EncodedTargets
        weights : ndarray of shape (n_samples,)
        name : str
            Name of the estimator, for messages.
        """
        check_enough_rows(int(np.count_nonzero(weights)), name)
        written = canonical_rows(X, y.values, weights)
        rows, _ = written.with_relative_weights()
        columns, targets = _units(rows, y.categorical)
        order = order_to_learn_in(rows, columns, targets)
        # Measured again: sums in the order in which rows were written have other last digits.
        rows, _ = written.in_order(order.rows).with_relative_weights()
        columns, targets = _units(rows, y.categorical)
        columns = columns.in_order(order.columns)
        return cls(rows_to_learn_from(rows, columns, targets), columns, y.categorical)

    @classmethod
    def of_table(cls, found: Surveyed, n_classes: tuple[int, ...] | None) -> ReductionData:
        """The sample of a table, in the units of all its rows; `n_classes` if it has classes."""
        sample, categorical = found.survey.sample, n_classes is not None
        columns, targets = _units(sample, categorical)
        if not categorical:
            of_all = found.survey.targets
            targets = replace(targets, mean=of_all.center, scale=of_all.scale)
        columns = with_moments_of_all(columns, found.survey, standardize=True)
        unit = found.survey.weight_unit
        weighted = replace(sample, weights=sample.weights / unit)
        units = TableUnits.of(weighted, columns, targets)
        rows = rows_to_learn_from(units.rows, units.columns, targets)
        in_units = InUnits(units.columns, targets, unit)
        return cls(rows, units.columns, categorical, FitTable.of(found, in_units), n_classes)

    @property
    def n_rows(self) -> float:
        """The effective number of all rows."""
        return float(self.rows.weights.sum()) if self.table is None else self.table.total

    def response_table(self) -> BlockTable:
        """All rows of a table with `responses` in the place of targets, in units of their own."""
        assert self.table is not None
        if self.n_classes is None:
            return self.table.table
        return self.table.table.through(ClassIndicators(self.n_classes))

    def first(self, n_rows: int) -> ReductionData:
        """The first rows, which are a random sample: their order is that of a hash."""
        return replace(self, rows=self.rows.take(slice(n_rows)), table=None, n_classes=None)

    def responses(self) -> FloatArray:
        """Targets as centred numbers of variance 1; of classes, whether a row is in them.

        Returns
        -------
        ndarray of shape (n_responses, n_rows)
            Zero for targets that do not vary.
        """
        values = self.rows.y
        if self.categorical:
            values = np.vstack([_one_hot(codes, np.unique(codes)) for codes in values])
        return Targets.standardized(values, self.rows.weights).apply(values)


def _units(rows: CanonicalRows, categorical: bool) -> tuple[Columns, Targets]:
    columns = Columns.of(rows.X, rows.weights, True)
    if categorical:
        return columns, Targets.as_they_are(len(rows.y))
    return columns, Targets.standardized(rows.y, rows.weights)


@dataclass(frozen=True)
class ClassIndicators:
    """From blocks with numbers of classes to blocks that say whether rows are in the classes."""

    n_classes: tuple[int, ...]

    def __call__(self, block: Block) -> Block:
        indicators = [
            _one_hot(codes, np.arange(number, dtype=np.float64))
            for codes, number in zip(block.y, self.n_classes, strict=True)
        ]
        return replace(block, y=np.vstack(indicators))


def _one_hot(codes: FloatArray, classes: FloatArray) -> FloatArray:
    """Whether rows are in the classes, (n_classes, n_rows); of two classes only the second."""
    indicators = np.equal(classes[:, None], codes).astype(np.float64)
    return indicators[1:] if len(indicators) == 2 else indicators

"""The transformer that turns any table into numbers."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import TransformerMixin
from sklearn.impute import SimpleImputer
from sklearn.utils.validation import (
    _check_feature_names,
    _check_feature_names_in,
    _check_n_features,
    check_consistent_length,
    check_is_fitted,
)

from kernlens._array import FloatArray, IntArray
from kernlens._parameters import Parameters, check_parameters, documented
from kernlens.base.arrays import validated
from kernlens.base.contract import all_or_nothing
from kernlens.base.saved import SavedMixin
from kernlens.blocks.lazily import lazy_on_dask
from kernlens.fits.column_screening import strongest_columns
from kernlens.tables.dates import MICROSECONDS_OF_A_DAY, date_parts
from kernlens.tables.parameters import TABLE
from kernlens.tables.plans import ELAPSED, Plan, codes_of, make_plan, numbers_of
from kernlens.tables.reading import Column, as_frame, is_frame, names_of, read_array, read_frame
from kernlens.tables.report import ColumnReport
from kernlens.tables.target_means import cross_encode, differ, encode, encode_target, fit_encoders

#: Why a category of many levels is left out.
NOISE = "levels that say nothing of y"
#: Why a column is left out where there are more than are asked for.
WEAK = "others say more of y"


@lazy_on_dask("transform")
@documented
class TablePreprocessor(TransformerMixin, SavedMixin):
    """Turn any table into the numbers that estimators want.

    Tables of pandas, polars or Arrow and arrays are read. Numbers and truth values stay, dates
    become parts and elapsed days, categories get a column per level or the mean of the target, and
    what is missing is imputed and marked. Columns that say nothing are left out and named. Arrays
    of numbers without missing values pass unchanged.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    columns_ : ColumnReport
        What was done with every column, as a table.
    left_out_ : dict of str to str
        Columns that are not used, and why.
    source_columns_ : ndarray of int of shape (n_outputs,)
        The column of the table that every output comes from.
    identity_ : bool
        Whether rows pass unchanged.
    n_weak_ : int
        Prepared columns beyond `max_columns`, which are left out.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    `fit_transform` encodes a training row by targets of the other folds, so that a following model
    does not see its own target; `transform` uses all rows of the fit. A column is left out if it
    is constant, all missing or nested; if it has more than `max_levels` levels whose means of y
    differ no more than by chance (analysis of variance, 5 percent); if it is text of which nearly
    every value (95 percent, from 20 rows on) is different; or if it has whole numbers that are
    nearly all different and a name such as ``customer_id``, or that count the rows: they rise from
    row to row, fill half of their range, start at no more than the number of rows and are not named
    like a time. Numbers with fractions, and columns of an array of numbers, are never identifiers.
    If nothing else is left, constants and identifiers are used. `max_columns` leaves more out.

    Infinite numbers are missing ones. Text that is all numbers, or all dates, is read as such.
    Dates with a zone are taken apart by the clock of the zone in the fit, text with a zone by that
    of UTC, and others as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlens import TablePreprocessor
    >>> X = np.array([[1.5, "red"], [None, "blue"], [0.5, "red"]], dtype=object)
    >>> table = TablePreprocessor().fit(X)
    >>> table.get_feature_names_out().tolist()
    ['x0', 'x0 is missing', 'x1=red']
    >>> table.transform(X).tolist()
    [[1.5, 0.0, 1.0], [1.0, 1.0, 0.0], [0.5, 0.0, 1.0]]
    """

    _parameters: ClassVar[Parameters] = TABLE

    source_columns_: IntArray
    identity_: bool
    n_features_in_: int

    def __init__(
        self,
        *,
        task: str = "auto",
        max_levels: int = 10,
        imputation: str = "median",
        n_folds: int = 5,
        max_columns: int | None = None,
        keep: Any = None,
        random_state: Any = None,
    ) -> None:
        self.task = task
        self.max_levels = max_levels
        self.imputation = imputation
        self.n_folds = n_folds
        self.max_columns = max_columns
        self.keep = keep
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Learn what is done with every column.

        Parameters
        ----------
        X : data frame, Arrow table or array-like of shape (n_samples, n_features)
            The table.
        y : array-like of shape (n_samples,) or (n_samples, n_targets), or None
            Targets, for categories of many levels.

        Returns
        -------
        self
        """
        self._fit(X, y, crossed=False)
        return self

    def fit_transform(self, X: Any, y: ArrayLike | None = None) -> Any:
        """Learn what is done with every column, and encode the rows by targets of other folds.

        Parameters
        ----------
        X : data frame, Arrow table or array-like of shape (n_samples, n_features)
            The table.
        y : array-like of shape (n_samples,) or (n_samples, n_targets), or None
            Targets, for categories of many levels.

        Returns
        -------
        ndarray of shape (n_samples, n_outputs)
        """
        return self._fit(X, y, crossed=True)

    @all_or_nothing
    def _fit(self, X: Any, y: ArrayLike | None, crossed: bool) -> Any:
        check_parameters(self)
        read = self._read(X, reset=True)
        plain = isinstance(read, np.ndarray)
        if y is not None:
            check_consistent_length(read if plain else read[0].values, y)
        self._plans: list[Plan] = []
        self._strong: IntArray | None = None
        self.n_weak_ = 0
        self.identity_ = plain and not self._too_many(self.n_features_in_, y) and _all_vary(read)
        if self.identity_:
            middle = np.median if self.imputation == "median" else np.mean
            self._middle = _of_any_size(lambda numbers: middle(numbers, axis=0), read)
            self._encoders: list[Any] = []
            self._suffixes = [""] * self.n_features_in_
            self.source_columns_ = np.arange(self.n_features_in_)
            return read
        if plain:
            read = read_array(read)
        self._make_plans(read, y, plain)
        # Columns are also chosen by means of other folds: a level's own targets would flatter it.
        by_folds = crossed or self.max_columns is not None
        numbers, means = self._learn_columns(read, y, by_folds)
        if self._too_many(len(self._suffixes), y):
            numbers, means = self._leave_weak_out(read, y, self._assemble(read, numbers, means))
        return self._assemble(read, numbers, means) if crossed else None

    def _learn_columns(
        self, read: list[Column], y: Any, by_folds: bool
    ) -> tuple[FloatArray, FloatArray | None]:
        """Learn what the plans need; the numbers, and means of the target over other folds."""
        numbers = self._numbers(read)
        self._middle = np.empty(0)
        if numbers.shape[1]:
            imputer = SimpleImputer(strategy=self.imputation, keep_empty_features=True)
            self._middle = _of_any_size(lambda some: imputer.fit(some).statistics_, numbers)
        self._encoders = []
        self._targets: list[str] = []
        if any(plan["how"] == "target" for plan in self._plans):
            T, self._targets = encode_target(y, self.task)
            self._drop_noise(read, T)
        means = None
        if any(plan["how"] == "target" for plan in self._plans):
            codes = self._codes(read)
            self._encoders = fit_encoders(codes, T)
            if by_folds:
                means = cross_encode(codes, T, self.n_folds, self.random_state)
        self._store_names()
        return numbers, means

    def _too_many(self, n_outputs: int, y: Any) -> bool:
        """Whether there are more outputs than asked for, and a target to choose them by."""
        return self.max_columns is not None and y is not None and n_outputs > self.max_columns

    def _leave_weak_out(
        self, read: list[Column], y: Any, outputs: FloatArray
    ) -> tuple[FloatArray, FloatArray | None]:
        """Keep the outputs that say most of the target; columns without any are not used."""
        targets = encode_target(y, self.task)[0]
        strongest = strongest_columns(outputs, targets, self.max_columns)  # type: ignore[arg-type]
        names = [*zip(self.source_columns_.tolist(), self._suffixes, strict=True)]
        wanted = {names[place] for place in strongest}
        before = np.bincount(self.source_columns_, minlength=len(self._plans))
        after = np.bincount(self.source_columns_[strongest], minlength=len(self._plans))
        for plan, had, has in zip(self._plans, before, after, strict=True):
            if had and not has:
                plan["how"], plan["action"] = "drop", f"left out: {WEAK}"
            elif has < had:
                plan["action"] += f", {has} of {had} used"
        learned = self._learn_columns(read, y, by_folds=True)
        pairs = zip(self.source_columns_.tolist(), self._suffixes, strict=True)
        self._strong = np.flatnonzero([pair in wanted for pair in pairs])
        self.n_weak_ = len(names) - len(self._strong)
        self.source_columns_ = self.source_columns_[self._strong]
        self._suffixes = [self._suffixes[place] for place in self._strong]
        return learned

    def _make_plans(self, read: list[Column], y: Any, trusted: bool) -> None:
        """Choose what is done with every column; `trusted` numbers are no identifiers."""
        keep = {str(name) for name in self.keep or ()}
        unknown = sorted(keep - set(self._names))
        if unknown:
            raise ValueError(f"keep names {unknown[0]!r}, which is no column{self._near(unknown)}.")
        for spare in (False, True):
            self._plans = [
                make_plan(name, column, self.max_levels, y is not None, kept, spare)
                for name, column in zip(self._names, read, strict=True)
                for kept in [trusted or name in keep]
            ]
            if any(plan["how"] != "drop" for plan in self._plans):
                return
        first = self._plans[0]["action"]
        raise ValueError(
            f"No column of the table is left: {self._names[0]!r} was {first}, and the others "
            "say nothing either; give at least one column that varies."
        )

    def _drop_noise(self, read: list[Column], T: FloatArray) -> None:
        """Leave out categories of many levels that say nothing of the target."""
        plans = [dict(plan) for plan in self._plans]
        for plan, column in zip(self._plans, read, strict=True):
            if plan["how"] == "target" and not differ(codes_of(column, plan["levels"]), T):
                plan["how"] = "levels" if plan["indicator"] else "drop"
                plan["action"] = "indicator" if plan["indicator"] else f"left out: {NOISE}"
                plan["levels"] = plan["levels"][:0]
        if all(plan["how"] == "drop" for plan in self._plans):
            self._plans = plans  # type: ignore[assignment]

    def transform(self, X: Any) -> Any:
        """Turn the rows of a table into numbers.

        Parameters
        ----------
        X : data frame, Arrow table or array-like of shape (n_samples, n_features)
            The table, with the columns of the fit. New levels get zeros, or the mean of the target.

        Returns
        -------
        ndarray of shape (n_samples, n_outputs)
        """
        check_is_fitted(self)
        read = self._read(X, reset=False)
        if not self.identity_:
            columns = read_array(read) if isinstance(read, np.ndarray) else read
            return self._assemble(columns, self._numbers(columns), None)
        if not isinstance(read, np.ndarray):
            plan = Plan(kind="number", how="number", form="")  # type: ignore[typeddict-item]
            pairs = zip(self._names, read, strict=True)
            read = np.column_stack([numbers_of(name, column, plan) for name, column in pairs])
        gaps = ~np.isfinite(read)
        return np.where(gaps, self._middle.astype(read.dtype), read) if gaps.any() else read

    def _read(self, X: Any, reset: bool) -> Any:
        """Columns, or an array of numbers as it is."""
        if is_frame(X):
            self._check_names(X, reset)
            frame = as_frame(X)
            n_rows, n_columns = frame.shape
            if n_rows == 0 or n_columns == 0:
                what = "sample" if n_rows == 0 else "feature"
                raise ValueError(
                    f"Found array with 0 {what}(s) (shape=({n_rows}, {n_columns})) while a minimum "
                    f"of 1 is required by {type(self).__name__}."
                )
            if reset:
                self._names = [str(name) for name in names_of(X) or []]
            zones = None if reset or self.identity_ else [plan["zone"] for plan in self._plans]
            return read_frame(frame, zones)
        array = validated(self, X, reset=reset, dtype=None, ensure_all_finite=False)
        if reset:
            self._names = [f"x{column}" for column in range(self.n_features_in_)]
        if array.dtype.kind not in "iuf":
            return read_array(array)
        return array.astype(np.float32 if array.dtype == np.float32 else np.float64, copy=False)

    def _check_names(self, X: Any, reset: bool) -> None:
        try:
            _check_feature_names(self, X, reset=reset)
            _check_n_features(self, X, reset=reset)
        except ValueError as error:
            seen = {str(name) for name in names_of(X) or []}
            absent = [] if reset else [name for name in self._names if name not in seen]
            near = self._near(absent, sorted(seen))
            if not near:
                raise
            raise ValueError(f"{error}\nColumn {absent[0]!r} is absent{near}.") from None

    def _near(self, absent: list[str], names: list[str] | None = None) -> str:
        """Names like that of an absent column."""
        found = get_close_matches(absent[0], names or self._names, n=3) if absent else []
        return f"; names like it are {', '.join(map(repr, found))}" if found else ""

    def _numbers(self, read: list[Column]) -> FloatArray:
        """Numbers and parts of dates (n_rows, n_numeric), with NaN for what is missing."""
        found: list[FloatArray] = []
        for name, plan, column in zip(self._names, self._plans, read, strict=True):
            if plan["how"] not in ("number", "date"):
                continue
            values = numbers_of(name, column, plan)
            if plan["how"] == "number":
                found.append(values)
                continue
            parts = date_parts(values)
            parts[ELAPSED] = (values - plan["start"]) / MICROSECONDS_OF_A_DAY
            found += [parts[part] for part in plan["parts"]]
        return np.column_stack(found) if found else np.empty((len(read[0].values), 0))

    def _codes(self, read: list[Column]) -> IntArray:
        """Places of the levels of columns that are encoded by the target."""
        pairs = zip(self._plans, read, strict=True)
        return np.column_stack([codes_of(c, p["levels"]) for p, c in pairs if p["how"] == "target"])

    def _assemble(
        self, read: list[Column], numbers: FloatArray, means: FloatArray | None
    ) -> FloatArray:
        """All outputs, by the columns they come from."""
        filled = np.where(np.isnan(numbers), self._middle, numbers)
        if self._encoders and means is None:
            means = encode(self._encoders, self._codes(read))
        outputs: list[NDArray[Any]] = []
        n_used = n_encoded = 0
        for plan, column in zip(self._plans, read, strict=True):
            if plan["how"] in ("number", "date"):
                width = len(plan["parts"]) or 1
                if plan["how"] == "date" or plan["n_levels"] > 1 or not plan["indicator"]:
                    outputs.append(filled[:, n_used : n_used + width])
                if plan["indicator"]:
                    outputs.append(np.isnan(numbers[:, n_used : n_used + 1]))
                n_used += width
            elif plan["how"] == "levels":
                outputs.append(_one_hot(column, plan))
            elif plan["how"] == "target" and means is not None:
                width = len(self._targets)
                outputs.append(means[:, n_encoded : n_encoded + width])
                if plan["indicator"]:
                    outputs.append(column.missing[:, None])
                n_encoded += width
        found = np.hstack(outputs).astype(np.float64, copy=False)
        return found if self._strong is None else found[:, self._strong]

    def _store_names(self) -> None:
        """What the names of outputs end with, and where outputs come from."""
        suffixes = [_suffixes(plan, self._targets) for plan in self._plans]
        self._suffixes = [suffix for of_column in suffixes for suffix in of_column]
        self.source_columns_ = np.repeat(np.arange(len(suffixes)), list(map(len, suffixes)))

    @property
    def columns_(self) -> ColumnReport:
        """What was done with every column, as a table."""
        check_is_fitted(self)
        n, names = self.n_features_in_, tuple(self._names)
        outputs = np.bincount(self.source_columns_, minlength=n)
        if self.identity_:
            kinds, actions = ("number",) * n, ("kept",) * n
            levels, missing = np.full(n, -1), np.zeros(n)
        else:
            kinds = tuple(plan["kind"] for plan in self._plans)
            actions = tuple(plan["action"] for plan in self._plans)
            levels = np.array([plan["n_levels"] for plan in self._plans])
            missing = np.array([plan["missing"] for plan in self._plans])
        return ColumnReport(names, kinds, actions, outputs == 0, levels, missing, outputs)

    @property
    def left_out_(self) -> dict[str, str]:
        """Columns that are not used, and why."""
        report = self.columns_
        return {
            name: action.removeprefix("left out: ")
            for name, action, out in zip(report.names, report.actions, report.left_out, strict=True)
            if out
        }

    def sum_by_source(self, importances: ArrayLike) -> FloatArray:
        """Sum importances of outputs over the columns of the table that they come from.

        Parameters
        ----------
        importances : array-like of shape (n_outputs,) or (k, n_outputs)
            Non-negative, such as `feature_importances_` of a model, or squares of its loadings.

        Returns
        -------
        ndarray of shape (n_features_in_,) or (k, n_features_in_)
            Zero for columns that were left out.
        """
        check_is_fitted(self)
        values = np.asarray(importances, dtype=np.float64)
        if values.ndim not in (1, 2) or values.shape[-1] != len(self.source_columns_):
            raise ValueError(
                f"importances must have one value for each of the {len(self.source_columns_)} "
                f"outputs, got an array of shape {values.shape}."
            )
        sums = np.zeros((*values.shape[:-1], self.n_features_in_))
        np.add.at(sums.T, self.source_columns_, values.T)
        return sums

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the outputs: those of the columns, and what was done.

        Parameters
        ----------
        input_features : array-like of str or None
            Names of the columns; None for those of the fit.

        Returns
        -------
        ndarray of str objects of shape (n_outputs,)
        """
        check_is_fitted(self)
        given = _check_feature_names_in(self, input_features)
        names = self._names if input_features is None else [str(name) for name in given]
        pairs = zip(self.source_columns_.tolist(), self._suffixes, strict=True)
        return np.array(_distinct([names[source] + suffix for source, suffix in pairs]), object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _all_vary(array: NDArray[Any]) -> bool:
    """Whether all numbers are finite and no column is constant."""
    return bool(np.isfinite(array).all() and (array != array[:1]).any(axis=0).all())


def _of_any_size(middle: Callable[[FloatArray], FloatArray], numbers: FloatArray) -> FloatArray:
    """The middle of every column, whose sums may overflow; a power of two changes no digit."""
    sizes = np.fmax.reduce(np.abs(numbers.astype(np.float64)), axis=0, initial=0.0)
    powers = np.frexp(sizes)[1]
    found: FloatArray = np.ldexp(middle(np.ldexp(numbers.astype(np.float64), -powers)), powers)
    return found


def _shown_levels(plan: Plan) -> list[int]:
    """Levels that have a column: of two without missing values the second says all."""
    n_levels = len(plan["levels"])
    return [1] if n_levels == 2 == plan["n_levels"] else list(range(n_levels))


def _one_hot(column: Column, plan: Plan) -> FloatArray:
    codes, n_levels = codes_of(column, plan["levels"]), len(plan["levels"])
    # Not scikit-learn's encoder: one for every column takes most of the time of wide tables.
    found: FloatArray = (codes[:, None] == np.arange(n_levels + 1)).astype(np.float64)
    shown = [] if n_levels == 1 and plan["indicator"] else _shown_levels(plan)
    return found[:, [*shown, *([n_levels] if plan["indicator"] else [])]]


def _suffixes(plan: Plan, targets: list[str]) -> list[str]:
    """What the names of the outputs of a column end with."""
    missing = [" is missing"] if plan["indicator"] else []
    if plan["how"] == "number":
        return ([""] if plan["n_levels"] > 1 or not missing else []) + missing
    if plan["how"] == "date":
        return [f" {part}" for part in plan["parts"]] + missing
    if plan["how"] == "levels":
        shown = [] if len(plan["levels"]) == 1 and missing else _shown_levels(plan)
        return [f"={plan['levels'][level]}" for level in shown] + missing
    if plan["how"] == "target":
        return [f": mean of y{target}" for target in targets] + missing
    return []


def _distinct(names: list[str]) -> list[str]:
    """Names of which no two are the same."""
    seen: dict[str, int] = {}
    for place, name in enumerate(names):
        number = seen[name] = seen.get(name, 0) + 1
        if number > 1:
            names[place] = f"{name} ({number})"
    return names

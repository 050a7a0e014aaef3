"""Which rows are left out, and the tables of every split, made once for all candidates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

from kernlens._array import FloatArray, IntArray
from kernlens._rows import row_hash
from kernlens.tables.reading import take_rows

#: Folds that `cv=None` makes.
N_FOLDS = 5
#: Beyond so many rows one part of them is left out once, which is enough to compare.
MANY_ROWS = 10_000
#: Decimals of a value, as a share of the range of its column, that tell rows apart.
DIGITS = 9

#: Places of the rows to learn from and of those to predict, of every split.
Rows = list[tuple[IntArray, IntArray]]


@dataclass(frozen=True)
class Split:
    """Rows to learn from and rows to predict, as numbers.

    Attributes
    ----------
    train, test : ndarray of int
        Places of the rows.
    X, X_test : ndarray of shape (n_train, n_columns), (n_test, n_columns)
        Their tables, prepared on the rows to learn from.
    names : tuple of str
        Names of the columns.
    """

    train: IntArray
    test: IntArray
    X: FloatArray
    X_test: FloatArray
    names: tuple[str, ...]


def given_rows(cv: Any, y: Any, groups: Any) -> Rows | None:
    """Rows of every split of a splitter or an iterable of the user; None for a number of folds."""
    if cv is None or isinstance(cv, int | np.integer):
        return None
    try:
        found = list(cv.split(np.zeros((len(y), 1)), y, groups) if hasattr(cv, "split") else cv)
    except ValueError as error:
        raise ValueError(f"cv cannot split these rows: {error}") from error
    rows = [_pair(one, len(y)) for one in found if hasattr(one, "__len__") and len(one) == 2]
    if not rows or len(rows) < len(found):
        raise ValueError("cv must give pairs: rows to learn from and rows to predict.")
    return rows


def _pair(pair: Any, n_rows: int) -> tuple[IntArray, IntArray]:
    """Places of the rows to learn from and of those to predict, which may be given as masks."""
    train, test = (_places(np.asarray(list(one)), n_rows) for one in pair)
    return train, test


def _places(given: Any, n_rows: int) -> IntArray:
    if given.dtype == bool and given.shape == (n_rows,):
        given = np.flatnonzero(given)
    if given.ndim != 1 or given.dtype.kind not in "iu" or not given.size:
        raise ValueError("cv must give rows as lists of places or masks, none of them empty.")
    if given.min() < 0 or given.max() >= n_rows:
        raise ValueError(f"cv must give places of rows from 0 to {n_rows - 1}.")
    return given.astype(np.intp)


def chosen_rows(cv: int | None, Z: FloatArray, y: FloatArray, groups: Any, classes: bool) -> Rows:
    """Rows to learn from and rows to predict of every fold.

    Parameters
    ----------
    cv : None or int
        None is five folds, of which beyond 10,000 rows one is used.
    Z : ndarray of shape (n_rows, n_columns)
        Prepared rows. Folds follow from their content: equal rows are in one fold, unless there
        are no folds then, and the order of the rows does not matter.
    y : ndarray of shape (n_rows,)
        Targets, or numbers of classes.
    groups : array-like of shape (n_rows,) or None
        Rows of a group are never on both sides.
    classes : bool
        Whether y has classes, whose shares every part keeps.
    """
    number = max(2, min(int(cv or N_FOLDS), len(y)))
    folds = _folds(number, Z, y, groups, classes)
    if not folds:
        where = "rows in two groups" if groups is not None else "two rows"
        raise ValueError(f"No rows can be left out: every class needs {where}.")
    return folds[:1] if cv is None and len(y) > MANY_ROWS else folds


def _folds(number: int, Z: FloatArray, y: FloatArray, groups: Any, classes: bool) -> Rows:
    if groups is not None:
        ways = iter([_folds_of_groups(number, y, groups, classes)])
    else:
        # Where all rows of a class are equal, they cannot all be left out together.
        ways = (_folds_by_content(number, Z, y, classes, together) for together in (True, False))
    found: Rows = []
    for fold in ways:
        masks = [fold == k for k in range(number)]
        found = [
            (np.flatnonzero(~out), np.flatnonzero(out))
            for out in masks
            if out.any() and not out.all() and (not classes or _has_all(y[~out], y))
        ]
        if found:
            break
    return found


def _folds_of_groups(number: int, y: FloatArray, groups: Any, classes: bool) -> IntArray:
    """Number of the fold of every row; as many folds as there are groups, at most."""
    n_groups = len(np.unique(groups))
    if n_groups < 2:
        raise ValueError("groups has one group only, and no row can be left out; give two or more.")
    number = min(number, n_groups)
    if classes:
        number = max(2, min(number, int(np.unique(y, return_counts=True)[1].max())))
    splitter = StratifiedGroupKFold(number) if classes else GroupKFold(number)
    fold = np.empty(len(y), dtype=np.intp)
    for k, (_, out) in enumerate(splitter.split(np.zeros((len(y), 1)), y, groups)):
        fold[out] = k
    return fold


def _folds_by_content(
    number: int, Z: FloatArray, y: FloatArray, classes: bool, together: bool
) -> IntArray:
    """Number of the fold of every row, that of equal rows too if they stay `together`."""
    fold = np.empty(len(y), dtype=np.intp)
    for stratum in np.unique(y) if classes else [None]:
        members = np.flatnonzero(y == stratum) if classes else np.arange(len(y))
        numbers = content_numbers(Z[members])
        places = numbers if together else np.argsort(np.argsort(numbers, kind="stable"))
        fold[members] = places % number
    return fold


def _has_all(y: FloatArray, everywhere: FloatArray) -> bool:
    """Whether every class is among the rows; one without a row cannot be learned."""
    return len(np.unique(y)) == len(np.unique(everywhere))


def content_numbers(Z: FloatArray) -> IntArray:
    """Numbers 0, 1, ... of the distinct rows, in an order given by a hash of their content."""
    spread = np.ptp(Z, axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        # Rounded, so that units of a column and last digits decide nothing.
        shares = (Z - Z.min(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    return np.unique(row_hash(np.round(shares, DIGITS)), return_inverse=True)[1]


def prepared(rows: Rows, table: Any, X: Any, y: Any) -> list[Split]:
    """Prepare the tables of every split.

    Parameters
    ----------
    rows : sequence of (train, test)
    table : transformer
        Cloned for every split.
    X : table
        As the user gave it.
    y : ndarray of shape (n_rows,)
        Targets or labels.
    """
    splits = []
    for train, test in rows:
        own = clone(table)
        learned = own.fit_transform(take_rows(X, train), y[train])
        inside = np.asarray(learned, dtype=np.float64)
        outside = np.asarray(own.transform(take_rows(X, test)), dtype=np.float64)
        names = tuple(str(name) for name in own.get_feature_names_out())
        splits.append(Split(train, test, inside, outside, names))
    return splits

"""Which rows are left out, and the tables of every split, made once for all candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
    check_cv,
)
from sklearn.utils import _safe_indexing

from kernlens._array import FloatArray, IntArray

#: Folds that `cv=None` makes.
N_FOLDS = 5
#: Beyond so many rows one part of them is left out once, which is enough to compare.
MANY_ROWS = 10_000
HELD_OUT = 0.2


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


def chosen_rows(
    cv: Any, y: Any, groups: Any, classes: bool, seed: int
) -> list[tuple[IntArray, IntArray]]:
    """Rows to learn from and rows to predict of every split.

    Parameters
    ----------
    cv : None, int, splitter or iterable
        None is five folds, and one part of a fifth beyond 10,000 rows.
    y : ndarray of shape (n_rows,)
        Targets, or numbers of classes.
    groups : array-like of shape (n_rows,) or None
        Rows of a group are never on both sides.
    classes : bool
        Whether y has classes, whose shares every part keeps.
    seed : int
    """
    if cv is None and len(y) > MANY_ROWS:
        splitter = _one_part(groups is not None, classes, seed)
    elif cv is None or isinstance(cv, int | np.integer):
        splitter = _folds(int(cv or N_FOLDS), y, groups is not None, classes, seed)
    else:
        splitter = check_cv(cv, y, classifier=classes)
    nothing = np.zeros((len(y), 1))
    return [(train, test) for train, test in splitter.split(nothing, y, groups)]


def _one_part(grouped: bool, classes: bool, seed: int) -> Any:
    kind: Any = ShuffleSplit
    if grouped:
        kind = GroupShuffleSplit
    elif classes:
        kind = StratifiedShuffleSplit
    return kind(n_splits=1, test_size=HELD_OUT, random_state=seed)


def _folds(number: int, y: Any, grouped: bool, classes: bool, seed: int) -> Any:
    if grouped:
        return StratifiedGroupKFold(number) if classes else GroupKFold(number)
    number = max(2, min(number, len(y)))
    if not classes:
        return KFold(number, shuffle=True, random_state=seed)
    rarest = int(np.bincount(y.astype(np.intp)).min())
    if rarest < 2:
        # A class of one row cannot be on both sides.
        return KFold(number, shuffle=True, random_state=seed)
    return StratifiedKFold(max(2, min(number, rarest)), shuffle=True, random_state=seed)


def prepared(rows: Sequence[tuple[IntArray, IntArray]], table: Any, X: Any, y: Any) -> list[Split]:
    """Prepare the tables of every split.

    Parameters
    ----------
    rows : sequence of (train, test)
    table : TablePreprocessor
        Cloned for every split.
    X : table
        As the user gave it.
    y : ndarray of shape (n_rows,)
        Targets or labels.
    """
    splits = []
    for train, test in rows:
        own = clone(table)
        inside = np.asarray(own.fit_transform(_safe_indexing(X, train), y[train]))
        outside = np.asarray(own.transform(_safe_indexing(X, test)))
        names = tuple(str(name) for name in own.get_feature_names_out())
        splits.append(Split(train, test, inside, outside, names))
    return splits

"""Columns that predict almost perfectly alone: often they know the target already."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import balanced_accuracy_score, r2_score
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from kernlens._array import FloatArray
from kernlens.reporting.data_profile import Read, read_table
from kernlens.reporting.subject import CLASSES, DIRECTIONS, Subject

#: Score of one column alone, on rows left out, from which on it is suspected.
SUSPECT = 0.98
#: Columns that are tried, the most important ones.
MOST_COLUMNS = 20
#: Fewer rows than this, or fewer of a class than folds, say nothing.
FEWEST_ROWS = 30
N_FOLDS = 3


def leaks_of(subject: Subject, columns: list[str]) -> list[dict[str, Any]]:
    """Suspects with the score of a small tree on them alone.

    Parameters
    ----------
    subject : Subject
    columns : list of str
        Columns of X, the most important first.
    """
    y = subject.targets
    if y is None or len(y) < FEWEST_ROWS or subject.kind not in (CLASSES, DIRECTIONS, "regression"):
        return []
    classes = subject.kind == CLASSES or y.dtype.kind not in "fiu"
    if classes and np.unique(y, return_counts=True)[1].min() < N_FOLDS:
        return []
    if not classes and np.ptp(y.astype(np.float64)) == 0.0:
        return []
    read = {one.name: one for one in read_table(subject.rows, subject.names)}
    suspects = []
    for name in columns[:MOST_COLUMNS]:
        if name in read:
            score = _alone(read[name], y, classes)
            if score >= SUSPECT:
                suspects.append({"name": name, "score": score})
    return suspects


def _alone(one: Read, y: Any, classes: bool) -> float:
    """R2, or balanced accuracy above chance over what is left to one, on rows left out."""
    values = _codes(one)[:, None]
    # Files are often in the order of the target, and a tree does not go beyond what it has seen.
    folds = (StratifiedKFold if classes else KFold)(N_FOLDS, shuffle=True, random_state=0)
    if classes:
        labels = y.astype(str)
        tree = DecisionTreeClassifier(max_leaf_nodes=64, random_state=0)
        guess = cross_val_predict(tree, values, labels, cv=folds)
        return float(balanced_accuracy_score(labels, guess, adjusted=True))
    tree = DecisionTreeRegressor(max_leaf_nodes=256, random_state=0)
    guess = cross_val_predict(tree, values, y.astype(np.float64), cv=folds)
    return float(r2_score(y.astype(np.float64), guess))


def _codes(one: Read) -> FloatArray:
    """Numbers of a column; levels are counted in the order of their names."""
    if one.is_numeric:
        return np.where(one.column.missing, np.nan, one.column.values.astype(np.float64))
    texts = ["" if value is None else str(value) for value in one.column.values]
    return np.unique(texts, return_inverse=True)[1].astype(np.float64)

"""Rows that the fit never sees: drawn, of whole groups, or the latest ones."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

from kernlens._array import IntArray
from kernlens.cli._errors import CommandError
from kernlens.cli.fit.problem import CLASSIFICATION, Problem

#: Places of the rows to learn from and of those held out.
Split = tuple[IntArray, IntArray]


def hold_out(problem: Problem, share: float, seed: int) -> Split:
    """Rows to learn from, and about a share of all to check on."""
    n_rows = len(problem.y)
    if share == 0.0:
        return np.arange(n_rows), np.arange(0)
    if problem.moments is not None:
        return _later(problem, share)
    if problem.groups is not None:
        number = max(2, round(1.0 / share))
        return _checked(problem, _group_folds(problem, number, seed)[0])
    test = _drawn(problem, share, np.random.default_rng(seed))
    return _checked(problem, (np.flatnonzero(~test), np.flatnonzero(test)))


def folds_of(problem: Problem, number: int, seed: int) -> list[Split]:
    """Folds such that every row is held out once; later rows only if rows have a time."""
    n_rows = len(problem.y)
    found: list[Split]
    if problem.moments is not None:
        edges = [round(n_rows * k / (number + 1)) for k in range(1, number + 2)]
        found = [(np.arange(low), np.arange(low, high)) for low, high in itertools.pairwise(edges)]
    elif problem.groups is not None:
        found = _group_folds(problem, number, seed)
    else:
        fold = _dealt(problem, number, np.random.default_rng(seed))
        found = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(number)]
    return [_checked(problem, split) for split in found if len(split[1]) and len(split[0])]


def _later(problem: Problem, share: float) -> Split:
    """The latest rows, without a cut through rows of one moment; rows are in the order of time."""
    moments = problem.moments
    assert moments is not None
    n_rows = len(moments)
    cut = min(max(round((1.0 - share) * n_rows), 1), n_rows - 1)
    borders = np.flatnonzero(np.diff(moments)) + 1
    if len(borders) == 0:
        raise CommandError("all rows have the same time; there are no later ones to hold out.")
    cut = int(borders[np.argmin(np.abs(borders - cut))])
    return _checked(problem, (np.arange(cut), np.arange(cut, n_rows)))


def _group_folds(problem: Problem, number: int, seed: int) -> list[Split]:
    assert problem.groups is not None
    n_groups = len(np.unique(problem.groups))
    if n_groups < 2:
        raise CommandError("all rows are in one group; there is no other to check on.")
    number = min(number, n_groups)
    # The names of groups say nothing: they are numbered by chance.
    groups = np.random.default_rng(seed).permutation(problem.groups.max() + 1)[problem.groups]
    classes = problem.task == CLASSIFICATION
    splitter = StratifiedGroupKFold(number) if classes else GroupKFold(number)
    y = problem.y
    return list(splitter.split(np.zeros((len(y), 1)), y, groups))


def _strata(problem: Problem) -> list[IntArray]:
    """Rows of every class, or all rows of numbers."""
    if problem.task != CLASSIFICATION:
        return [np.arange(len(problem.y))]
    return [np.flatnonzero(problem.y == label) for label in np.unique(problem.y)]


def _drawn(problem: Problem, share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    test = np.zeros(len(problem.y), dtype=bool)
    for rows in _strata(problem):
        number = min(round(share * len(rows)), len(rows) - 1)
        test[rng.permutation(rows)[:number]] = True
    if not test.any():
        # Small classes only: one row of the largest is left out.
        test[rng.permutation(max(_strata(problem), key=len))[0]] = True
    return test


def _dealt(problem: Problem, number: int, rng: np.random.Generator) -> IntArray:
    """Folds dealt out to the rows of one class after the other."""
    fold = np.empty(len(problem.y), dtype=np.intp)
    order = np.concatenate([rng.permutation(rows) for rows in _strata(problem)])
    fold[order] = np.arange(len(order)) % number
    return fold


def _checked(problem: Problem, split: Split) -> Split:
    """Refuse a split whose rows to learn from lack what all rows have."""
    train, test = split
    if problem.task != CLASSIFICATION:
        if np.ptp(problem.y[train]) == 0.0:
            raise CommandError(
                f"the target {problem.target!r} is the same in all rows that are not held out; "
                "give another --seed, --test or --cv."
            )
        return split
    learned = set(problem.y[train].tolist())
    if len(learned) < 2:
        raise CommandError(
            "the rows that are not held out have one class only; give another --test or --cv, or "
            "other --groups or --time."
        )
    known = np.array([label in learned for label in problem.y[test]], dtype=bool)
    return train, test[known]

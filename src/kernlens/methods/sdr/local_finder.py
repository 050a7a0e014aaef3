"""Estimators whose directions come from local lines, counted by held-out rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from kernlens._array import FloatArray
from kernlens._rows import CanonicalRows
from kernlens.base.estimates import FitShape
from kernlens.base.fit_data import Memory
from kernlens.fits.direction_count import MOST_DIRECTIONS, LearnedOnPart, count_directions
from kernlens.methods.sdr.data import ReductionData
from kernlens.methods.sdr.estimator import FoundDirections, SubspaceFinder
from kernlens.methods.sdr.gradients import GradientDirections, gradient_directions
from kernlens.methods.sdr.local_linear import BLOCK_ENTRIES, LocalProblem
from kernlens.methods.sdr.swaps import has_few_values
from kernlens.methods.sdr.whitening import principal_axes
from kernlens.subspace import estimate_n_directions

#: Rows that lines are fitted at, and rows that they are fitted to, at most.
MOST_ANCHORS, MOST_ROWS = 500, 50_000
#: Directions are counted on this many rows at most, by this many folds, and not with fewer rows.
ROWS_TO_COUNT, N_FOLDS, FEWEST_ROWS = 2000, 3, 15
#: Rows that directions are learned from, at most, about.
LOCAL_ROWS = 3000


@dataclass(frozen=True)
class RefittedOnPart(LearnedOnPart):
    """Directions that are learned again for every number of them.

    Attributes
    ----------
    refit : callable
        Given a number, returns as many directions and their importances.
    """

    refit: Callable[[int], tuple[FloatArray, FloatArray]]

    def squared_errors(self, k: int) -> FloatArray:
        if k == 0:
            return super().squared_errors(0)
        directions, importances = self.refit(k)
        return LearnedOnPart(self.train, self.test, directions, importances).squared_errors(k)


@dataclass(frozen=True)
class LocalFit:
    """Rows of a fit, in coordinates that leave nothing out, and their gradients.

    Attributes
    ----------
    problem : LocalProblem
    axes : ndarray of shape (rank, n_inputs)
        Orthonormal rows: the span of the rows.
    start : GradientDirections
        Found from the outer product of gradients.
    few_values : bool
        Whether a column has few values.
    """

    problem: LocalProblem
    axes: FloatArray
    start: GradientDirections
    few_values: bool

    @classmethod
    def of(cls, rows: CanonicalRows) -> LocalFit:
        """Find the gradients of rows whose targets are standardised."""
        rows = rows.take(slice(MOST_ROWS))
        centered = rows.X - np.average(rows.X, axis=0, weights=rows.weights)
        axes: FloatArray = np.eye(centered.shape[1])
        if centered.shape[1] >= len(centered):
            axes = principal_axes(centered)
            centered = centered @ axes.T
        problem = LocalProblem(centered, rows.y, rows.weights, min(MOST_ANCHORS, len(centered)))
        return cls(problem, axes, gradient_directions(problem), has_few_values(rows.X))


class LocalFinder(SubspaceFinder):
    """Directions of local lines."""

    _sample_rows = MOST_ROWS
    #: Seconds of an operation of a fit, by measuring a few; see `estimate_seconds`.
    _seconds_per_operation: ClassVar[float] = 2e-9

    def __init__(
        self, *, n_directions: int | str = "auto", categorical: bool | str = "auto"
    ) -> None:
        self.n_directions = n_directions
        self.categorical = categorical

    @abstractmethod
    def _refined(self, fit: LocalFit, k: int) -> GradientDirections:
        """The first k directions of the method, in the coordinates of the fit."""

    def _memory_for(self, shape: FitShape) -> Memory:
        n_rows, n_columns, n_targets = shape.n_rows, shape.n_columns, shape.n_targets
        rank, kept = min(n_rows, n_columns), MOST_DIRECTIONS
        if self.n_directions != "auto":
            kept = min(int(self.n_directions), rank)
        numbers = 8.0 * n_rows * (n_columns + n_targets) + 8.0 * BLOCK_ENTRIES
        numbers += 3.0 * float(kept * rank) ** 2 + 3.0 * float(rank) ** 2
        return Memory(8.0 * numbers, "fit on fewer rows or columns, or lower n_directions")

    def _seconds_for(self, shape: FitShape) -> float:
        rows = float(min(shape.n_rows, LOCAL_ROWS))
        return 0.5 + self._seconds_per_operation * rows**2 * float(shape.n_columns + 1) ** 2

    def _find(self, data: ReductionData) -> FoundDirections:
        rows = replace(data.rows, y=data.responses())
        fit = LocalFit.of(rows)
        kept = self._number(rows, fit, max(1, data.columns.n_varying))
        if kept == 0:
            return FoundDirections(np.zeros((0, rows.X.shape[1])), np.zeros(0))
        found = self._refined(fit, kept)
        kept = found.n_found
        return FoundDirections(found.directions[:kept] @ fit.axes, found.squares[:kept])

    def _number(self, rows: CanonicalRows, fit: LocalFit, n_columns: int) -> int:
        most = fit.start.n_found
        if self.n_directions != "auto":
            return min(int(self.n_directions), most)
        if most == 0 or len(rows.weights) < FEWEST_ROWS:
            return estimate_n_directions(fit.start.squares[:most], n_columns)
        parts = self._parts(rows.take(slice(ROWS_TO_COUNT)))
        return min(most, count_directions(parts).number) if parts else 1

    def _parts(self, rows: CanonicalRows) -> list[RefittedOnPart]:
        """Directions learned on two of three folds, to be scored on the third."""
        parts = []
        for train, test in rows.folds(N_FOLDS):
            learned_from = rows.in_order(np.flatnonzero(train))
            fit = LocalFit.of(learned_from)

            def refit(k: int, fit: LocalFit = fit) -> tuple[FloatArray, FloatArray]:
                found = self._refined(fit, k)
                return found.directions[:k] @ fit.axes, found.squares[:k]

            n_found = fit.start.n_found
            nothing = np.zeros((n_found, rows.X.shape[1]))
            parts.append(
                RefittedOnPart(learned_from, rows.take(test), nothing, np.zeros(n_found), refit)
            )
        return parts

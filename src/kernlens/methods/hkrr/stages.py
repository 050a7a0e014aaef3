"""Rows, centres and first maps of the stages of an HKRR fit, all following from one seed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from kernlens._array import BoolArray, FloatArray
from kernlens._geometry import MEDIAN_ROWS, median_distance
from kernlens._rows import CanonicalRows
from kernlens.features.nystrom_centers import distinct_rows, leverage_centers, uniform_centers
from kernlens.fits.column_screening import relevant_columns, with_columns
from kernlens.fits.held_out import Bounds, Split
from kernlens.methods.hkrr.plan import WIDE, LearningPlan
from kernlens.methods.hkrr.problem import HyperKernelProblem
from kernlens.methods.hkrr.search import score_point
from kernlens.methods.hkrr.starts import random_map, subspace_map

#: Rows that settings are searched on.
SEARCH_ROWS = 5000
#: Pairs of a number of rows and the number of folds up to it; with more rows there is one split.
FOLDS = ((1000, 5), (3000, 3))
#: Centres while searching.
SEARCH_CENTERS = 100
#: Folds and centres of a search among classes.
CLASS_FOLDS = 3
CLASS_CENTERS = 50
#: Centres while tuning the last fit.
TUNE_CENTERS = 300
#: Rows that the map is learned on: within bounds, as many as keep an evaluation, of cost
#: n * centres^2, cheap.
LEARN_ROWS = (4_000, 10_000)
LEARN_WORK = 1e9
#: Alpha at which first maps are compared, and centres of the plain fit behind one of them.
START_ALPHA = 1e-3
SUBSPACE_CENTERS = 300
#: Columns are left out if at most this share of them matters.
SPARSE = 0.5
#: Beyond so many columns square matrices of their number are not formed unless asked for.
MOST_SQUARE = 1000


@dataclass
class Stages:
    """What each stage of a fit works on.

    Attributes
    ----------
    problem : HyperKernelProblem
    rows : CanonicalRows
        All rows, in an order unrelated to their content.
    plan : LearningPlan
    seed : int
        All random choices follow from it.
    strata : ndarray of int of shape (n_rows,) or None
        Classes, spread evenly over the folds.
    unscreened : CanonicalRows or None
        The rows before columns were left out, if any were: every part that is learned from leaves
        out those that do not matter to it, so that rows held out have no say.
    """

    problem: HyperKernelProblem
    rows: CanonicalRows
    plan: LearningPlan
    seed: int
    strata: NDArray[np.integer] | None = None
    unscreened: CanonicalRows | None = None

    def __post_init__(self) -> None:
        if self.plan.max_norm is not None:
            # A first map of zero sees nothing that varies, and any radius will do.
            radius = 2.0 * (float(np.linalg.norm(self.first_map(), ord=2)) or 1.0)
            self.problem = replace(self.problem, radius=radius)

    @property
    def learning(self) -> HyperKernelProblem:
        """What the map is learned by: squares, whatever the loss of the last fit."""
        return self.problem.by_squares

    @property
    def score_bounds(self) -> Bounds | None:
        """Bounds of predictions that are scored while learning; shares of classes have some."""
        if self.problem.loss.quadratic:
            return self.plan.bounds
        return np.zeros(len(self.rows.y)), np.ones(len(self.rows.y))

    @property
    def unit(self) -> float:
        """Size of a map in the units of the user over its size here."""
        if self.plan.max_norm is None or self.problem.radius is None:
            return 1.0
        return self.plan.max_norm / self.problem.radius

    @property
    def widths(self) -> tuple[int, ...]:
        """Numbers of components to choose from, widest first."""
        return self.plan.widths(int(np.count_nonzero(self.used)))

    @property
    def used(self) -> BoolArray:
        """Columns that are not left out, (n_inputs,)."""
        if self.unscreened is None:
            return np.ones(self.rows.X.shape[1], dtype=bool)
        return np.asarray(self.rows.X.any(axis=0))

    @property
    def forms_square_maps(self) -> bool:
        """Whether there are few enough columns for maps with a row for each."""
        return self.rows.X.shape[1] <= MOST_SQUARE

    def search_rows(self) -> tuple[CanonicalRows, NDArray[np.integer] | None]:
        """Rows that settings are searched on, and their classes."""
        first = slice(0, SEARCH_ROWS)
        rows = self.rows if self.unscreened is None else self.unscreened
        return rows.take(first), None if self.strata is None else self.strata[first]

    def folds(self) -> list[tuple[BoolArray, BoolArray]]:
        """Masks of the rows of the search: those to learn from, and those to score on."""
        rows, strata = self.search_rows()
        n_folds = next((folds for most, folds in FOLDS if len(rows.X) <= most), None)
        if n_folds is None:
            return rows.folds(4, strata)[:1]
        return rows.folds(n_folds if self.problem.loss.quadratic else CLASS_FOLDS, strata)

    def splits(self) -> list[Split]:
        """Parts to learn from and to score on, with the centres of the search."""
        most = SEARCH_CENTERS if self.problem.loss.quadratic else CLASS_CENTERS
        n_centers = min(self.plan.centers.number, most)
        rows, _ = self.search_rows()
        splits = []
        for train, test in self.folds():
            part, held = rows.take(train), rows.take(test)
            if self.unscreened is not None:
                kept = _columns_that_matter(part)
                part, held = with_columns(part, kept), with_columns(held, kept)
            splits.append(Split(part, held, self.draw_centers(part, n_centers)))
        return splits or [Split(self.rows, self.rows, self.draw_centers(self.rows, n_centers))]

    def tuning_splits(self, splits: list[Split]) -> list[Split]:
        """The same parts with the centres that the last fit is tuned with."""
        n_centers = min(self.plan.refit_centers or 1, TUNE_CENTERS)
        return [replace(split, Z=self.draw_centers(split.train, n_centers)) for split in splits]

    def learning_rows(self) -> CanonicalRows:
        """As many rows as pay for learning the map."""
        affordable = int(LEARN_WORK / self.plan.centers.number**2)
        return self.rows.take(slice(0, int(np.clip(affordable, *LEARN_ROWS))))

    def draw_centers(
        self,
        rows: CanonicalRows,
        n_centers: int,
        B: FloatArray | None = None,
        alpha: float = START_ALPHA,
    ) -> FloatArray:
        """Draw centres (n_centers, n_inputs) among `rows`; leverage scores are those for B."""
        candidates = distinct_rows(rows.group)
        if not self.plan.centers.by_leverage:
            return rows.X[uniform_centers(candidates, n_centers, self._random(0))]
        images = rows.X / median_distance(self.rows.X) if B is None else rows.X @ B.T
        chosen = leverage_centers(
            images,
            rows.weights,
            candidates,
            n_centers,
            self.problem.kernel.matrix,
            alpha,
            self._random(0),
        )
        return rows.X[chosen]

    def first_maps(self, split: Split) -> list[FloatArray]:
        """First maps, the one that predicts best first.

        They are wide even if few components are wanted: narrow maps get stuck more often.
        """
        if self.plan.start is not None:
            return [self.plan.start]
        if self.plan.given is not None:
            return [self._normalized(self.plan.given)]
        width = min(max(self.widths[0], WIDE), int(np.count_nonzero(self.used)))
        candidates = self._random_maps(width, self.plan.n_random)
        if self.plan.subspace:
            Z = self.draw_centers(split.train, SUBSPACE_CENTERS)
            plain = self.learning.objective(split.train, Z, START_ALPHA)
            candidates.append(subspace_map(plain, width, split.train.weights))
        maps = [self._normalized(B) for B in candidates]
        if len(maps) == 1:
            return maps
        objective = self.learning.objective(split.train, split.Z, START_ALPHA)
        points = objective.compared(maps, tol=1e-4)
        losses = [score_point(self.learning, p, split.test, self.score_bounds) for p in points]
        return [maps[k] for k in np.argsort(losses, kind="stable")]

    def first_map(self) -> FloatArray:
        """A start that needs no work, for an interruption before anything was learned."""
        return self._normalized(self._random_maps(self.widths[0], 1)[0])

    def plain_map(self) -> FloatArray:
        """No feature learning: all directions alike."""
        return np.eye(self.rows.X.shape[1])[self.used] / median_distance(self.rows.X)

    def _random_maps(self, width: int, number: int) -> list[FloatArray]:
        random = self._random(1)
        return [random_map(width, self.rows.X.shape[1], random) for _ in range(number)]

    def _normalized(self, B: FloatArray) -> FloatArray:
        """The map with a median distance of 1: the length scale follows the current B."""
        B = B * self.used
        return B / median_distance(self.rows.X[:MEDIAN_ROWS] @ B.T)

    def screened(self) -> Self:
        """The same stages on the columns that matter, or on all if none does.

        Columns that are left out are zero: maps keep their shape, and nothing pulls at them there.
        """
        return self._with_columns(_columns_that_matter(self.rows))

    def _with_columns(self, kept: BoolArray) -> Self:
        return replace(self, rows=with_columns(self.rows, kept), unscreened=self.rows)

    def _random(self, stream: int) -> np.random.RandomState:
        return np.random.RandomState([self.seed, stream])


def _columns_that_matter(rows: CanonicalRows) -> BoolArray:
    """All of them, if none stands out."""
    kept = relevant_columns(rows)
    return kept if kept.any() else ~kept

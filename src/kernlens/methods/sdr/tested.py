"""Estimators whose directions are eigenvectors, counted by a test or a criterion."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from kernlens._array import FloatArray
from kernlens.base.estimates import FitShape
from kernlens.base.fit_data import Memory, draw_seed
from kernlens.blocks.table import BlockTable
from kernlens.methods.sdr.candidate import Candidate, Spectrum
from kernlens.methods.sdr.criteria import DimensionCriterion, bayes_criterion
from kernlens.methods.sdr.data import ReductionData
from kernlens.methods.sdr.dimension_tests import (
    MOST_ROWS,
    DimensionTest,
    chi_squared_test,
    permutation_test,
    sequential_test,
)
from kernlens.methods.sdr.estimator import FoundDirections, SubspaceFinder
from kernlens.methods.sdr.slices import Slices, automatic_n_slices
from kernlens.methods.sdr.whitening import Whitening, whitening_share
from kernlens.subspace import estimate_n_directions

#: Eigenvalues of a smaller share of what they can be are rounding.
SMALLEST_EIGENVALUE = 1e-12
#: Fewer rows say nothing about the number of directions.
FEWEST_ROWS = 15
#: Seconds of an operation of a fit, by measuring a few; see `estimate_seconds`.
SECONDS_PER_OPERATION = 1e-9


@dataclass(frozen=True)
class Matrix:
    """A candidate matrix of all rows: what it follows from, and its eigenvectors."""

    candidate: Candidate
    moments: Any
    spectrum: Spectrum


class TestedFinder(SubspaceFinder):
    """Eigenvectors of a candidate matrix of whitened inputs."""

    #: Products with all rows that a fit is worth, one for means of slices.
    _passes: ClassVar[float] = 1.0

    #: Whether ``test="auto"`` trusts the chi-squared law with few rows.
    _chi2_by_default: ClassVar[bool] = True

    n_directions: Any
    shrinkage: Any
    test: str
    level: float
    n_permutations: int
    random_state: Any

    eigenvalues_: FloatArray
    shrinkage_: float

    @abstractmethod
    def _candidate(self, data: ReductionData) -> Candidate:
        """The candidate matrix of the method, for these rows."""

    @property
    def dimension_test_(self) -> DimensionTest:
        """The test that counted the directions, after ``n_directions="auto"``; it prints."""
        if "_dimension_test" not in vars(self):
            raise AttributeError(
                f"This {type(self).__name__} has no dimension_test_; fit it with "
                "n_directions='auto' on at least 15 rows, and with another test than 'bic'."
            )
        return DimensionTest.of_dict(self._dimension_test)

    @property
    def dimension_criterion_(self) -> DimensionCriterion:
        """The criterion that counted the directions, after ``test="bic"``; it prints."""
        if "_dimension_criterion" not in vars(self):
            raise AttributeError(
                f"This {type(self).__name__} has no dimension_criterion_; fit it with "
                "n_directions='auto' and test='bic' on at least 15 rows."
            )
        return DimensionCriterion.of_dict(self._dimension_criterion)

    def _memory_for(self, shape: FitShape) -> Memory:
        n_rows, n_columns = shape.n_rows, shape.n_columns
        rank = min(n_rows, n_columns)
        numbers = 8.0 * n_rows * n_columns + 3.0 * n_columns * rank + 40.0 * float(rank) ** 2
        return Memory(8.0 * numbers, "fit on fewer rows or columns")

    def _seconds_for(self, shape: FitShape) -> float:
        n, d = float(shape.n_rows), shape.n_columns
        rank = min(n, d)
        work = n * d * (rank + 20.0) + 20.0 * rank**3
        return 0.02 + SECONDS_PER_OPERATION * self._passes * work

    def _find(self, data: ReductionData) -> FoundDirections:
        for name in ("_dimension_test", "_dimension_criterion"):
            self.__dict__.pop(name, None)
        candidate = self._candidate(data)
        whitening, moments = self._measured(data, candidate)
        spectrum = candidate.spectrum_of(moments)
        most = candidate.most_directions(whitening.rank)
        most = min(most, int(np.sum(spectrum.values > SMALLEST_EIGENVALUE)))
        self.eigenvalues_, self.shrinkage_ = spectrum.values[:most], whitening.shrinkage
        kept = self._number(data, most, Matrix(candidate, moments, spectrum))
        return FoundDirections(
            whitening.directions(spectrum.vectors[:, :kept]), spectrum.values[:kept]
        )

    def _measured(self, data: ReductionData, candidate: Candidate) -> tuple[Whitening, Any]:
        """The whitening of all rows, and what the matrix follows from."""
        inputs, weights = data.rows.X, data.rows.weights
        if data.table is None:
            whitening = Whitening.of(inputs, weights, self.shrinkage)
            return whitening, candidate.moments(whitening.apply(inputs), weights)
        share = whitening_share(inputs, weights, self.shrinkage, data.n_rows)
        return candidate.moments_of_table(
            self._summed_table(data),
            lambda mean, covariance: Whitening.of_covariance(mean, covariance, share),
        )

    def _summed_table(self, data: ReductionData) -> BlockTable:
        """The blocks that the method sums over."""
        assert data.table is not None
        return data.table.table

    def _number(self, data: ReductionData, most: int, found: Matrix) -> int:
        """How many directions are kept, of those that there are."""
        if self.n_directions != "auto":
            return min(int(self.n_directions), most)
        if len(data.rows.weights) < FEWEST_ROWS or most == 0:
            return estimate_n_directions(self.eigenvalues_, max(1, data.columns.n_varying))
        if self.test == "bic":
            values = found.spectrum.values / found.candidate.unit
            criterion = bayes_criterion(values, data.n_rows, most)
            self._dimension_criterion = criterion.as_dict()
            return criterion.n_directions
        test = self._dimension_test_of(data, most, found)
        self._dimension_test = test.as_dict()
        return test.n_directions

    def _dimension_test_of(self, data: ReductionData, most: int, found: Matrix) -> DimensionTest:
        by_law = self.test == "chi2" or (self.test == "auto" and self._chi2_by_default)
        if by_law:
            test = chi_squared_test(found.candidate, found.spectrum, found.moments)
            if test is not None and (self.shrinkage_ == 0.0 or self.test == "chi2"):
                return sequential_test(test, "chi2", self.level, most)
        if self.test == "chi2":
            raise ValueError(
                f"test='chi2' has no theory for {type(self).__name__} with these targets; give "
                "test='permutation'."
            )
        # Rows are in the order of a hash: the first of them are a random sample.
        some = data.first(MOST_ROWS)
        whitening = Whitening.of(some.rows.X, some.rows.weights, self.shrinkage_)
        test = permutation_test(
            self._candidate(some),
            whitening.apply(some.rows.X),
            some.rows.weights,
            int(self.n_permutations),
            draw_seed(self.random_state),
        )
        return sequential_test(test, "permutation", self.level, most)


class SlicedFinder(TestedFinder):
    """What is learned from slices of the targets."""

    #: Slices if there are rows enough.
    _many_slices: ClassVar[int]

    def __init__(
        self,
        *,
        n_directions: int | str = "auto",
        n_slices: int | str = "auto",
        categorical: bool | str = "auto",
        shrinkage: float | str = "auto",
        test: str = "auto",
        level: float = 0.05,
        n_permutations: int = 199,
        random_state: Any = None,
    ) -> None:
        self.n_directions = n_directions
        self.n_slices = n_slices
        self.categorical = categorical
        self.shrinkage = shrinkage
        self.test = test
        self.level = level
        self.n_permutations = n_permutations
        self.random_state = random_state

    def _slices(self, data: ReductionData) -> list[Slices]:
        """The slices of every target."""
        number = None if data.categorical else self._number_of_slices(data.n_rows)
        slices = [Slices.of(target, data.rows.weights, number) for target in data.rows.y]
        if data.n_classes is None:
            return slices
        # A table may have classes of which the sample has no row.
        borders = [np.arange(number - 1) + 0.5 for number in data.n_classes]
        return [replace(one, borders=ends) for one, ends in zip(slices, borders, strict=True)]

    def _number_of_slices(self, n_rows: float) -> int:
        if self.n_slices != "auto":
            return int(self.n_slices)
        return automatic_n_slices(n_rows, self._many_slices)

"""Public options of RegFeaL: which polynomials its functions have, and how directions are learned.

Every class says what it means in a fit, so that a learner asks the object and compares no words.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar
from zlib import crc32

import numpy as np

from kernlens._array import FloatArray, IntArray
from kernlens._validation import check_count, check_flag, check_most
from kernlens.features.hermite_indices import (
    LARGEST_DEGREE,
    DegreeSequence,
    GeometricSequence,
    Smoothness,
    TruncatedSequence,
    best_first_indices,
    count_indices,
    enumerate_indices,
    largest_gap,
    sample_indices,
)
from kernlens.methods.regfeal.directions import WeightedDirections

#: More multi-indices are not listed.
MOST_INDICES = 50_000
#: Directions followed after the first fit; more of them fit noise while they are being learned.
MAX_DIRECTIONS = 10
#: The largest degree, and what a sentence calls it.
MOST_DEGREES = ("the largest degree of a basis", LARGEST_DEGREE)


def _check_indices(n_indices: Any, *, other: str | None = None) -> None:
    check_count("n_indices", n_indices, other=other)
    check_most("n_indices", n_indices, MOST_INDICES)


class Basis(ABC):
    """Which Hermite polynomials a function is made of.

    Attributes
    ----------
    max_degree : int or None
        With a degree M the weights are ``c_k = 1`` up to M and 0 beyond; None has ``c_k = rho^k``.
    """

    max_degree: int | None

    def sequences(self, rhos: Sequence[float]) -> list[DegreeSequence]:
        """The sequences c_k to choose from."""
        if self.max_degree is not None:
            return [TruncatedSequence(int(self.max_degree))]
        return [GeometricSequence(rho) for rho in rhos]

    @property
    @abstractmethod
    def rule(self) -> IndexRule | None:
        """How indices are chosen while directions are learned; None for all polynomials."""

    @abstractmethod
    def last_rule(self, n_rows: int) -> IndexRule | None:
        """How indices of the function that predicts are chosen."""

    @abstractmethod
    def learning_rows(self, n_rows: int) -> int:
        """Rows that directions are learned on."""

    @abstractmethod
    def most_indices(self, n_columns: int, n_rows: int) -> int:
        """Largest number of indices that a fit lists."""

    def matrix_rows(self, n_columns: int, n_rows: int) -> int:
        """Rows of the largest kernel matrix; listed indices have one if rows are fewer."""
        if self.rule is None:
            return self.learning_rows(n_rows)
        return min(n_rows, self.most_indices(n_columns, n_rows))


@dataclass(frozen=True)
class AllPolynomials(Basis):
    """All polynomials, by the integral of Mehler kernels: ``basis="auto"`` and ``"exact"``.

    Attributes
    ----------
    max_rows : int or None
        With more rows than this, directions are learned on the first ones, and the last fit on all
        rows has the best `n_indices` polynomials. None takes the kernel of all rows, which needs
        memory for its square. ``"auto"`` is 2000 and ``"exact"`` is None.
    n_indices : int
        Polynomials of the last fit, at most 50,000.
    """

    max_rows: int | None = 2000
    n_indices: int = 1000

    max_degree = None

    def __post_init__(self) -> None:
        if self.max_rows is not None:
            check_count("max_rows", self.max_rows, other="None")
        _check_indices(self.n_indices)

    @property
    def rule(self) -> None:
        return None

    def last_rule(self, n_rows: int) -> IndexRule | None:
        return BestFirst(self.n_indices) if self._too_many(n_rows) else None

    def learning_rows(self, n_rows: int) -> int:
        return n_rows if self.max_rows is None else min(n_rows, self.max_rows)

    def most_indices(self, n_columns: int, n_rows: int) -> int:
        return self.n_indices if self._too_many(n_rows) else 0

    def _too_many(self, n_rows: int) -> bool:
        return self.max_rows is not None and n_rows > self.max_rows


class IndexRule(Basis):
    """How the multi-indices of a sum of polynomials are chosen.

    Attributes
    ----------
    sampled : bool
        Whether they are drawn, so that the objective is another function at every step.
    """

    sampled: ClassVar[bool] = False

    @abstractmethod
    def choose(
        self, smoothness: Smoothness, directions: WeightedDirections, seed: int
    ) -> tuple[IntArray, FloatArray]:
        """Multi-indices (n_indices, n_directions) and their weights w(alpha)."""

    @property
    def rule(self) -> IndexRule:
        return self

    def last_rule(self, n_rows: int) -> IndexRule:
        return self

    def learning_rows(self, n_rows: int) -> int:
        return n_rows


@dataclass(frozen=True)
class Enumerated(IndexRule):
    """All polynomials up to the largest degree that has at most so many of them.

    Attributes
    ----------
    n_indices : int
        At most a million.
    """

    n_indices: int = 2000

    max_degree = None

    def __post_init__(self) -> None:
        _check_indices(self.n_indices)

    def choose(
        self, smoothness: Smoothness, directions: WeightedDirections, seed: int
    ) -> tuple[IntArray, FloatArray]:
        degree = largest_degree(len(directions.R), self.n_indices)
        indices = enumerate_indices(len(directions.shares), degree)
        return indices, smoothness.weight(indices)

    def most_indices(self, n_columns: int, n_rows: int) -> int:
        return count_indices(n_columns, largest_degree(n_columns, self.n_indices))


@dataclass(frozen=True)
class BestFirst(IndexRule):
    """The polynomials of largest weight.

    Attributes
    ----------
    n_indices : int
        How many, at most 50,000.
    max_degree : int or None
        With a degree M, at most 4000, the weights are ``c_k = 1`` up to M, and `rho` is not used.
    """

    n_indices: int = 2000
    max_degree: int | None = None

    def __post_init__(self) -> None:
        _check_both(self.n_indices, self.max_degree)

    def choose(
        self, smoothness: Smoothness, directions: WeightedDirections, seed: int
    ) -> tuple[IntArray, FloatArray]:
        indices = best_first_indices(smoothness, self.n_indices)
        return indices, smoothness.weight(indices)

    def most_indices(self, n_columns: int, n_rows: int) -> int:
        return self.n_indices


@dataclass(frozen=True)
class GroupSampling(IndexRule):
    """The paper's importance sampling of polynomials, corrected.

    Groups are parted at the largest gap of the shares. Draws follow from the seed and the
    directions, so that fits side by side do not disturb each other.

    Attributes
    ----------
    n_indices : int
        Draws, at most 50,000.
    max_degree : int or None
        With a degree M, at most 4000, the weights are ``c_k = 1`` up to M, and `rho` is not used.
    """

    n_indices: int = 2000
    max_degree: int | None = None

    sampled: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check_both(self.n_indices, self.max_degree)

    def choose(
        self, smoothness: Smoothness, directions: WeightedDirections, seed: int
    ) -> tuple[IntArray, FloatArray]:
        split = largest_gap(directions.shares)
        random = np.random.RandomState([seed, crc32(directions.shares.tobytes())])
        return sample_indices(smoothness, self.n_indices, split, random)

    def most_indices(self, n_columns: int, n_rows: int) -> int:
        return self.n_indices


@dataclass(frozen=True)
class UpToDegree(IndexRule):
    """All polynomials up to a degree M, with the paper's other weights, ``c_k = 1`` up to M.

    Attributes
    ----------
    max_degree : int
        M, at most 4000. `rho` is not used.
    n_indices : int or None
        If there are more polynomials than this, at most 50,000, the best ones are taken. None
        takes all of them.
    """

    max_degree: int
    n_indices: int | None = 2000

    def __post_init__(self) -> None:
        check_count("max_degree", self.max_degree, most=MOST_DEGREES)
        if self.n_indices is not None:
            _check_indices(self.n_indices, other="None")

    def choose(
        self, smoothness: Smoothness, directions: WeightedDirections, seed: int
    ) -> tuple[IntArray, FloatArray]:
        if self.n_indices is not None and self._count(len(directions.R)) > self.n_indices:
            indices = best_first_indices(smoothness, self.n_indices)
        else:
            indices = enumerate_indices(len(directions.shares), self.max_degree)
        return indices, smoothness.weight(indices)

    def most_indices(self, n_columns: int, n_rows: int) -> int:
        count = self._count(n_columns)
        return count if self.n_indices is None else min(count, self.n_indices)

    def _count(self, n_columns: int) -> int:
        return count_indices(n_columns, int(self.max_degree))


@dataclass(frozen=True)
class Reweighting:
    """How directions are learned.

    Attributes
    ----------
    accelerate : bool
        Go beyond reweighted directions while that lowers the objective, and turn the directions
        down its gradient. False is the paper's Algorithm 1.
    max_directions : "auto" or int
        Directions followed after the first fit of feature learning. ``"auto"`` is 10, and all of
        them without acceleration.
    """

    accelerate: bool = True
    max_directions: int | str = "auto"

    def __post_init__(self) -> None:
        check_flag("accelerate", self.accelerate)
        check_count("max_directions", self.max_directions, words=("auto",))

    def followed(self, n_columns: int) -> int:
        """Directions followed among so many columns."""
        if isinstance(self.max_directions, str):
            return MAX_DIRECTIONS if self.accelerate else n_columns
        return int(self.max_directions)


#: What the words for a basis stand for.
NAMED_BASES = {"auto": AllPolynomials(), "exact": AllPolynomials(max_rows=None)}
#: What the word for a descent stands for.
NAMED_DESCENTS = {"auto": Reweighting()}


def largest_degree(n_columns: int, n_indices: int) -> int:
    """Largest degree all of whose indices are few enough, at least 1."""
    fits, exceeds = 1, 2
    while count_indices(n_columns, exceeds) <= n_indices and exceeds <= LARGEST_DEGREE:
        fits, exceeds = exceeds, 2 * exceeds
    while exceeds - fits > 1:
        middle = (fits + exceeds) // 2
        if count_indices(n_columns, middle) <= n_indices:
            fits = middle
        else:
            exceeds = middle
    return min(fits, LARGEST_DEGREE)


def _check_both(n_indices: int, max_degree: int | None) -> None:
    _check_indices(n_indices)
    if max_degree is not None:
        check_count("max_degree", max_degree, other="None", most=MOST_DEGREES)

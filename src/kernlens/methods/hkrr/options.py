"""Choices of a user that have more than one part."""

from __future__ import annotations

from dataclasses import dataclass

from kernlens._validation import (
    MOST_STARTS,
    check_choice,
    check_count,
    check_most,
    check_non_negative,
    check_positive,
    check_size,
)
from kernlens.features.nystrom_centers import CENTER_CHOICES

#: Bounds of norms and of penalties on them: beyond, the map or the function is lost to rounding.
SMALLEST_NORM, LARGEST_NORM = 1e-15, 1e15
#: Random first maps that are compared unless another number is asked for.
N_RANDOM = 10


@dataclass(frozen=True)
class Centers:
    """Nystrom centres of HKRR while its map is learned.

    Parameters
    ----------
    number : int, default=200
        How many are drawn; all rows if there are fewer.
    sampling : {"uniform", "leverage"}, default="uniform"
        Centres are drawn without replacement, uniformly or by approximate leverage scores
        (Remark 6 of the paper).

    Examples
    --------
    >>> from kernlens import Centers, HKRRRegressor
    >>> model = HKRRRegressor(centers=Centers(100, "leverage"))
    """

    number: int = 200
    sampling: str = "uniform"

    def __post_init__(self) -> None:
        check_count("number", self.number)
        check_choice("sampling", self.sampling, CENTER_CHOICES)

    @property
    def by_leverage(self) -> bool:
        """Whether rows that the others explain badly are drawn more often."""
        return self.sampling == "leverage"


@dataclass(frozen=True)
class Constraint:
    """What keeps the map B of HKRR small; both parts may be used together.

    Parameters
    ----------
    max_norm : float or None, default=None
        Bound of the operator norm of B, 1 in the paper, from 1e-15 to 1e15; None lifts it. The
        length scale is then fixed by the median heuristic for a random map of half that norm.
    trace_norm : float, default=0.0
        Strength tau of the penalty ``tau * L0 * |B / l|_*`` (L0 the loss of the best constant, l
        the length scale), which drives B to low rank; 0, or from 1e-15 to 1e15.

    Examples
    --------
    >>> from kernlens import Constraint, HKRRRegressor
    >>> model = HKRRRegressor(constraint=Constraint(max_norm=1.0))
    """

    max_norm: float | None = None
    trace_norm: float = 0.0

    def __post_init__(self) -> None:
        if self.max_norm is not None:
            check_positive("max_norm", self.max_norm, other="None")
            check_size("max_norm", self.max_norm, SMALLEST_NORM, LARGEST_NORM)
        check_non_negative("trace_norm", self.trace_norm)
        if self.trace_norm != 0.0:
            check_size("trace_norm", self.trace_norm, SMALLEST_NORM, LARGEST_NORM)


@dataclass(frozen=True)
class RandomMaps:
    """First maps of HKRR that are all random.

    Parameters
    ----------
    number : int, default=10
        How many are compared, at most 10,000.

    Examples
    --------
    >>> from kernlens import HKRRRegressor, RandomMaps
    >>> model = HKRRRegressor(init=RandomMaps(3))
    """

    number: int = N_RANDOM

    def __post_init__(self) -> None:
        check_count("number", self.number)
        check_most("number", self.number, MOST_STARTS)

"""Constructor arguments of the methods for sufficient dimension reduction, as data."""

from __future__ import annotations

from dataclasses import replace

from kernlens._parameters import (
    N_DIRECTIONS,
    RANDOM_STATE,
    AutoFlag,
    Between,
    Choice,
    Count,
    Kind,
    Parameter,
    Parameters,
)
from kernlens._validation import check_non_negative, check_size

#: Permutations that a fit comes to the end of.
MOST_PERMUTATIONS = 100_000


class Shrinkage(Kind):
    """A number from 0 to 1, or "auto"."""

    def check(self, name: str, value: object) -> None:
        if isinstance(value, str) and value == "auto":
            return
        try:
            check_non_negative(name, value)
            check_size(name, value, 0.0, 1.0)
        except ValueError:
            raise ValueError(
                f"{name} must be 'auto' or a number from 0 to 1, got {value!r}."
            ) from None

    def bad_values(self) -> tuple[object, ...]:
        return (-0.1, 1.1, None, "much", True, float("nan"))


CATEGORICAL = Parameter(
    AutoFlag(),
    "auto",
    '"auto" or bool',
    """Whether y has labels of classes instead of numbers. ``"auto"`` says so of text and of truth
    values.""",
)
SHRINKAGE = Parameter(
    Shrinkage(),
    "auto",
    '"auto" or float',
    """Share of the identity in the covariance of the standardised columns, from 0 to 1. ``"auto"``
    is 0 with at least five rows per column, else the share of Ledoit and Wolf (2004), so that there
    may be more columns than rows.""",
    search=(0.01, 0.1, 0.5),
)
TEST = Parameter(
    Choice(("auto", "chi2", "permutation", "bic")),
    "auto",
    '{"auto", "chi2", "permutation", "bic"}',
    """What counts the directions, a test or a criterion. ``"chi2"`` compares with the chi-squared
    law, which holds for many rows of normal columns, one target and no shrinkage;
    ``"permutation"`` changes the places of rows. ``"auto"`` takes the first where its theory
    applies, else the second.
    ``"bic"`` is the criterion of Zhu, Miao and Peng (2006): with d eigenvalues l_i of the matrix of
    the notes, half of it for directional regression and its mean over targets for PHD, the k with
    the largest
    ``n / 2 sum_(i > k) (log(1 + l_i) - l_i) - log(n) / 8 k (2 d - k + 1)``. It costs nothing, and
    its mistakes become rare as rows become many, while a test goes on to take one direction too
    many as often as its level says. With few rows it misses weak directions, and `SAVE` and
    `DirectionalRegression` see some in noise: give them 500 rows at least.""",
    search=("bic",),
)
COUNTED = replace(
    N_DIRECTIONS,
    text="""Directions kept in `components_` and by `transform`; fewer if the method cannot find as
    many. ``"auto"`` tests whether 0, 1, 2, ... are enough and keeps the first number that is not
    rejected at `level`, or takes the best of them by a criterion (`test`), at most 10. Fewer than
    15 rows keep those with a share of at least ``min(0.1, 1 / n_features)`` of the importance.""",
)

TESTED: Parameters = {
    "n_directions": COUNTED,
    "categorical": CATEGORICAL,
    "shrinkage": SHRINKAGE,
    "test": TEST,
    "level": Parameter(
        Between(0.0, 1.0),
        0.05,
        "float",
        """Level of every test: how often one direction too many is taken, where its theory
        holds.""",
    ),
    "n_permutations": Parameter(
        Count(most=MOST_PERMUTATIONS),
        199,
        "int",
        """Permutations of a test by permutations; at most 100,000.""",
    ),
    "random_state": replace(RANDOM_STATE, text="Seed of the permutations."),
}

SLICED: Parameters = {
    **TESTED,
    "n_slices": Parameter(
        Count(words=("auto",), least=2),
        "auto",
        '"auto" or int',
        """Slices that the rows are cut into by the quantiles of every target. Equal targets stay
        together, and a target with no more values than slices has one slice for each; so have
        labels, however many. ``"auto"`` is 10 for SIR and 5 for the others, which estimate a
        covariance in each, and fewer if a slice would have fewer than five rows. There are at most
        half as many as rows.""",
        search=(3, 5, 20),
    ),
}

HESSIAN: Parameters = {
    **TESTED,
    "variant": Parameter(
        Choice(("residual", "response")),
        "residual",
        '{"residual", "response"}',
        """Whether the second moments are weighted with what linear regression leaves of the target
        (Cook, 1998) or with the target itself (Li, 1992). The test of the second needs a target
        without a linear trend.""",
        search=("response",),
    ),
}

LOCAL: Parameters = {
    "n_directions": replace(
        N_DIRECTIONS,
        text=N_DIRECTIONS.text.replace(" Predictions do not depend on it.", ""),
        search=(1, 2, 3),
    ),
    "categorical": CATEGORICAL,
}

"""The arguments of multivariate adaptive regression splines."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from kernlens._parameters import (
    CALLBACK,
    N_DIRECTIONS,
    N_JOBS,
    RANDOM_STATE,
    STANDARDIZE,
    TRUNCATE,
    VERBOSE,
    Automatic,
    Between,
    Count,
    Kind,
    NonNegative,
    Optional,
    Parameter,
    Parameters,
)
from kernlens._validation import check_flag
from kernlens.methods.mars.columns import is_column, is_list

#: Factors of a term at most: products of more inputs overflow.
LARGEST_DEGREE = 10
LARGEST_PENALTY = 1e6


@dataclass(frozen=True)
class SomeColumns(Kind):
    """True, False, "auto", or a list of columns by name or number."""

    def check(self, name: str, value: Any) -> None:
        if isinstance(value, str) and value == "auto":
            return
        if not is_list(value):
            check_flag(name, value, other="'auto', or a list of columns")
        elif not all(is_column(column) for column in value):
            raise ValueError(f"{name} must list columns by name or number, got {value!r}.")

    def bad_values(self) -> tuple[Any, ...]:
        return (None, 1, "age", [-1], [0.5], [True], [[0]])


@dataclass(frozen=True)
class ColumnGroups(Kind):
    """Lists of columns by name or number."""

    def check(self, name: str, value: Any) -> None:
        groups: list[Any] = list(value) if is_list(value) else [None]
        if not all(is_list(group) and all(map(is_column, group)) for group in groups):
            raise ValueError(
                f"{name} must be None or a list of lists of columns, by name or number, "
                f"got {value!r}."
            )

    def bad_values(self) -> tuple[Any, ...]:
        return (3, "all", [0, 1], [[-1]], [["a", 1.5]], [None])


PARAMETERS: Parameters = {
    "degree": Parameter(
        Count(most=LARGEST_DEGREE),
        1,
        "int",
        """Factors of a term at most, 1 to 10. 1 is a sum of functions of single columns, 2 has
        interactions of two columns.""",
        search=(2, 3),
    ),
    "max_terms": Parameter(
        Count(words=("auto",), least=3),
        "auto",
        '"auto" or int',
        """Terms of the forward pass at most, with the constant; they come in pairs. ``"auto"`` is
        ``min(200, max(20, 2 n_features)) + 1``.""",
    ),
    "penalty": Parameter(
        Automatic(NonNegative(largest=LARGEST_PENALTY)),
        "auto",
        '"auto" or float',
        """Parameters that a knot counts as when terms are pruned, at most 1e6. ``"auto"`` is 3, and
        2 for ``degree=1``.""",
        search=(1.0, 4.0),
    ),
    "threshold": Parameter(
        Between(0.0, 1.0),
        0.001,
        "float",
        """The forward pass ends where the best pair raises R2 by less than this. Between 0 and
        1.""",
    ),
    "minspan": Parameter(
        Count(words=("auto",)),
        "auto",
        '"auto" or int',
        """Rows from one knot to the next, of those where the parent of a term is not zero.
        ``"auto"`` is Friedman's formula (43), about ``log2(20 n d) / 2.5``, which rides out runs of
        noise.""",
    ),
    "endspan": Parameter(
        Count(words=("auto",), least=0),
        "auto",
        '"auto" or int',
        """Rows beyond the first and the last knot. ``"auto"`` is Friedman's formula (45),
        ``3 + log2(20 d)``, and twice that for products.""",
    ),
    "fast_k": Parameter(
        Optional(Count()),
        20,
        "int or None",
        """Parents that a step of the forward pass looks at: those that promised most, and rise with
        every step that left them out (fast MARS [2]_). None looks at all of them.""",
    ),
    "linear": Parameter(
        SomeColumns(),
        "auto",
        '"auto", bool or list of columns',
        """Whether columns enter as lines. ``"auto"`` has a line where a knot raises R2 by less than
        `threshold`; True has nothing but lines and their products; False has hinges only. Columns
        in a list, by name or number, enter as lines, and the others as with ``"auto"``.""",
    ),
    "interactions": Parameter(
        Optional(ColumnGroups()),
        None,
        "list of lists of columns, or None",
        """Groups of columns, by name or number, that may be multiplied: the columns of a term are
        all in one group. A column in no group stays alone. None allows all products of `degree`
        factors.""",
    ),
    "new_column_penalty": Parameter(
        NonNegative(largest=LARGEST_PENALTY),
        0.0,
        "float",
        """What a column that no term has yet lowers the error by is divided by 1 plus this, so that
        fewer columns come in (Friedman 1991, equation 74, with another form); 0.01 to 0.2 are
        usual. At most 1e6.""",
    ),
    "pruning": Parameter(
        Optional(Count(words=("gcv", "cv", "exhaustive"))),
        "gcv",
        '"gcv", "cv", "exhaustive", int or None',
        """How many terms stay. ``"gcv"`` takes the subset of least generalised cross-validation
        error, and an integer the best one of that many terms at most. ``"cv"`` learns all again on
        ten folds and takes the number of terms that predicts held-out rows best. ``"exhaustive"``
        looks for the subset of least generalised cross-validation error among all subsets, with at
        most 25 terms of the forward pass. None keeps all terms.""",
        search=("cv",),
    ),
    "n_directions": replace(
        N_DIRECTIONS,
        kind=Count(words=("importance", "auto")),
        default="importance",
        type='"importance", "auto" or int',
        text="""Directions kept in `components_` and by `transform`. ``"importance"`` keeps those
        with a share of at least ``min(0.1, 1 / n_features)`` of the importance, at no cost.
        ``"auto"`` keeps as many as predict held-out rows, as the other families do, which takes
        far longer than the fit. Predictions do not depend on it.""",
    ),
    "truncate": replace(
        TRUNCATE,
        default=None,
        text="""``"auto"`` keeps predictions within the range of the training targets, and a number
        M within [-M, M]. None leaves them as they are: the formula, whose lines go on beyond the
        rows.""",
    ),
    "standardize": replace(
        STANDARDIZE,
        text="""Measure directions for ``(x - mean) / std`` of every column; False only centres
        them. Predictions do not depend on it.""",
    ),
    "n_jobs": N_JOBS,
    "random_state": replace(
        RANDOM_STATE, text="Nothing is drawn; it is there because other estimators have it."
    ),
    "verbose": VERBOSE,
    "callback": CALLBACK,
}

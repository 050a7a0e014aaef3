"""The arguments of multivariate adaptive regression splines."""

from __future__ import annotations

from dataclasses import replace

from kernlens._parameters import (
    CALLBACK,
    N_DIRECTIONS,
    N_JOBS,
    RANDOM_STATE,
    STANDARDIZE,
    TRUNCATE,
    VERBOSE,
    AutoFlag,
    Automatic,
    Between,
    Count,
    NonNegative,
    Optional,
    Parameter,
    Parameters,
)

#: Factors of a term at most: products of more inputs overflow.
LARGEST_DEGREE = 10
LARGEST_PENALTY = 1e6

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
        AutoFlag(),
        "auto",
        '"auto" or bool',
        """Whether columns enter as lines. ``"auto"`` has a line where a knot raises R2 by less than
        `threshold`; True has nothing but lines and their products; False has hinges only.""",
    ),
    "n_directions": N_DIRECTIONS,
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

"""The arguments of RegFeaL's estimators."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

from kernlens._parameters import (
    CALLBACK,
    CLASS_WEIGHT,
    LINEAR_PART,
    N_DIRECTIONS,
    N_JOBS,
    RANDOM_STATE,
    TRUNCATE,
    VERBOSE,
    Between,
    Choice,
    Count,
    Flag,
    Listed,
    NonNegative,
    Optional,
    Or,
    Parameter,
    Parameters,
    Positive,
    Regularization,
)
from kernlens.methods.regfeal.options import NAMED_BASES, NAMED_DESCENTS, Basis, Reweighting
from kernlens.methods.regfeal.refits import CanBeFitted

#: Nearer to 1 the terms of a Mehler kernel cancel all their digits.
LARGEST_RHO = 0.999999

STRUCTURES = ("features", "variables", "none")


@runtime_checkable
class _Array(Protocol):
    """Arrays, and tables that become arrays."""

    def __array__(self, *args: Any, **options: Any) -> Any: ...


PARAMETERS: Parameters = {
    "alpha": Parameter(
        Listed(Regularization(smallest=1e-20, largest=1e20)),
        "auto",
        '"auto", float or list of float',
        """Strength of the penalty on derivatives: the paper's mu times ``d^((2-r)/r)`` for d
        columns, so that a linear term pays alpha while all directions are equal. ``"auto"`` and
        lists are searched together with `rho`; ``"auto"`` is the paper's grid, 1000, 100, ...,
        0.001. It must be from 1e-20 to 1e20.""",
    ),
    "rho": Parameter(
        Listed(Between(0.0, LARGEST_RHO, "; or 'auto'", words=("auto",))),
        "auto",
        '"auto", float or list of float',
        """Terms of degree k are weighted by ``c_k = rho^k``; large values allow rough functions.
        ``"auto"`` is the paper's grid 0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8. Values at which the
        kernel of all polynomials overflows are left out, as large ones do on many columns. A
        `basis` with a `max_degree` does not use it.""",
    ),
    "r": Parameter(
        Between(0.0, 2.0, "; the paper has 0.33"),
        0.33,
        "float",
        """Power of the penalty, in (0, 2). Small values leave fewer directions.""",
        search=(0.66, 1.0),
    ),
    "structure": Parameter(
        Choice(STRUCTURES),
        "features",
        '{"features", "variables", "none"}',
        """Learn directions (2.11), select columns (2.8), or neither: kernel ridge regression with
        the kernel ``sum_k c_k sum_{|a|=k} H_a(x) H_a(x')``, the paper's baseline, whose lambda is
        `alpha`.""",
        search=("variables",),
    ),
    "basis": Parameter(
        Or((Basis,), Choice(tuple(NAMED_BASES), other="an object like BestFirst(500)")),
        "auto",
        '{"auto", "exact"} or object',
        """Which polynomials the function has. ``"exact"`` takes all of them, by the integral of
        Mehler kernels of the Notes, with memory for the square of the number of rows. ``"auto"``
        does the same on the first 2000 rows if there are more, and then a last fit on all rows with
        the best 1000 polynomials; ``kernlens.AllPolynomials(max_rows, n_indices)`` changes these
        numbers. ``kernlens.Enumerated(500)`` takes all up to the largest degree with at most 500 of
        them, ``kernlens.BestFirst(500)`` the 500 of largest weight, and
        ``kernlens.GroupSampling(500)`` is the paper's importance sampling with 500 draws,
        corrected. ``kernlens.UpToDegree(3)`` takes all up to degree 3, or the best 2000 of them,
        with the other weights of the paper: ``c_k = 1`` up to that degree and 0 beyond.
        ``BestFirst`` and ``GroupSampling`` have these weights if they are given a
        `max_degree`.""",
    ),
    "init": Parameter(
        Or((_Array, list, tuple), Choice(("auto",), other="a matrix of directions")),
        "auto",
        '"auto" or array-like of shape (k, n_features)',
        """First directions of feature learning: those of a plain fit, or given ones, whose number
        is then the largest number of directions.""",
    ),
    "n_directions": N_DIRECTIONS,
    "refit": Parameter(
        Optional(Or((CanBeFitted,), Choice(("auto", "kernel"), other="None or an estimator"))),
        "auto",
        '"auto", "kernel", estimator or None',
        """What predicts: a regressor fitted on the projected rows (the paper refits with splines;
        one that takes no weights gets rows repeated), a Gaussian kernel with length scale and
        regularisation tuned on held-out rows (``"kernel"``), RegFeaL's own function (None), or the
        better of these two on held-out rows (``"auto"``).""",
        search=("kernel", None),
    ),
    "n_folds": Parameter(
        Count(least=2),
        5,
        "int",
        """Folds of the search, taken from the first 1250 rows in the order of their content.""",
    ),
    "clip": Parameter(
        Optional(Positive(other="None", smallest=1e-10, largest=1e10)),
        4.0,
        "float or None",
        """Standardised columns are kept within this many standard deviations, at training and at
        prediction: Hermite polynomials of heavy tails explode. The standard deviation is that of
        the column with its outer percents drawn in. It must be from 1e-10 to 1e10. With None
        columns are used as they are, and rows to predict are kept within what was seen.""",
    ),
    "descent": Parameter(
        Or((Reweighting,), Choice(tuple(NAMED_DESCENTS), other="an object like Reweighting()")),
        "auto",
        '"auto" or Reweighting',
        """How directions are learned. ``"auto"`` is ``kernlens.Reweighting()``: steps beyond the
        paper's, turns down the gradient, and at most 10 directions after the first fit.
        ``Reweighting(accelerate=False)`` is the paper's Algorithm 1 on all directions,
        ``Reweighting(max_directions=3)`` follows at most three.""",
    ),
    "truncate": TRUNCATE,
    "linear_part": LINEAR_PART,
    "standardize": Parameter(
        Flag(),
        True,
        "bool",
        """Use ``(x - mean) / std`` of every column; the Hermite basis is made for unit variance.
        Constant columns are ignored.""",
    ),
    "max_iter": Parameter(
        Count(),
        30,
        "int",
        """Reweightings at the chosen setting; the search has at most 8.""",
    ),
    "tol": Parameter(
        NonNegative(),
        1e-4,
        "float",
        """Relative decrease of the objective at which they stop.""",
    ),
    "warm_start": Parameter(
        Flag(),
        False,
        "bool",
        """At the chosen setting, start from the directions of the previous fit if the objective is
        lower there; ``"auto"`` keeps its `alpha` and `rho`. It has no effect if the structure or
        the number of columns in use has changed.""",
    ),
    "n_jobs": N_JOBS,
    "random_state": replace(
        RANDOM_STATE, text="Seed of sampled polynomials and of the centres of a refit."
    ),
    "verbose": VERBOSE,
    "callback": CALLBACK,
}

CLASSIFIER_PARAMETERS: Parameters = {
    **{
        name: parameter
        for name, parameter in PARAMETERS.items()
        if name not in ("truncate", "linear_part")
    },
    "refit": replace(
        PARAMETERS["refit"],
        text="""What predicts: a classifier with ``predict_proba`` fitted on the projected rows, a
        Gaussian kernel with length scale and regularisation tuned on held-out rows
        (``"kernel"``), RegFeaL's own function (None), or the better of these two on held-out rows
        (``"auto"``).""",
    ),
    "class_weight": CLASS_WEIGHT,
}

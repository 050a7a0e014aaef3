"""The arguments of RKHS weightings and of random kitchen sinks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernlens._parameters import (
    CALLBACK,
    CLASS_WEIGHT,
    LINEAR_PART,
    N_DIRECTIONS,
    N_JOBS,
    RANDOM_STATE,
    TRUNCATE,
    VERBOSE,
    Choice,
    Count,
    Flag,
    Kind,
    Listed,
    NonNegative,
    Or,
    Parameter,
    Parameters,
    Positive,
    Regularization,
)
from kernlens._validation import LARGEST_VALUE, SMALLEST_SPREAD
from kernlens.features.weightings import CustomWeighting
from kernlens.methods.rkhs_weightings.instantiations import BASES, INSTANTIATIONS
from kernlens.methods.rkhs_weightings.options import (
    FunctionalGradient,
    PaperAlpha,
    PaperWidth,
    check_correlation,
)
from kernlens.methods.rkhs_weightings.solvers import SOLVERS

#: A smaller alpha, relative to the features, is rounding, and a larger one leaves the constant.
SMALLEST_ALPHA, LARGEST_ALPHA = 1e-15, 1e15
#: Beside a larger constant the columns have no digits left.
LARGEST_BIAS = 1e8
SINKS_SOLVERS = ("least_squares", "lasso", "exact")


@dataclass(frozen=True)
class Correlation(Kind):
    """A number in (0, 1), a list of them, or "auto"."""

    def check(self, name: str, value: Any) -> None:
        check_correlation(name, value)

    def bad_values(self) -> tuple[Any, ...]:
        return (0.0, 1.0, -0.5, 2.0, 1e-13, "high", None, True, np.nan, [], [0.5, 2.0])


_SHARED: dict[str, Parameter] = {
    "alpha": Parameter(
        Or((PaperAlpha,), Listed(Regularization(smallest=SMALLEST_ALPHA, largest=LARGEST_ALPHA))),
        "auto",
        '"auto", float, list of float, or PaperAlpha',
        """Regularisation. Lambda in the objective is `alpha`, from 1e-15 to 1e15, times the mean
        square of the features in the norm that is penalised (for the Lasso, times the root of that
        of one feature), centred if there is a constant, so that the same values fit all dimensions
        and instantiations. ``"auto"`` and lists are chosen from by errors on rows left out,
        together with `instantiation` and `correlation`; ``"auto"`` has half decades from 1e-8 to 10
        (Lasso: 1e-4 to 1; ``"sfgd"``: 3e-4 to 1). A :class:`~kernlens.PaperAlpha` is lambda itself,
        for standardised targets.""",
    ),
    "mix_alphas": Parameter(
        Flag(),
        True,
        "bool",
        """Where there are several alphas: predict with a mean of the solutions of the best one and
        of those nearest to one and two decades around it, weighted by errors on rows left out. With
        a few hundred rows that is on average better than the best alone. ``"lasso"`` and ``"sfgd"``
        do not mix.""",
        search=(False,),
    ),
    "n_random_features": Parameter(
        Count(),
        1000,
        "int",
        """Number T of random weights. More of them cost O(n T^2) and come nearer to the exact
        kernel.""",
    ),
    "bias": Parameter(
        NonNegative(largest=LARGEST_BIAS),
        3.0,
        "float",
        """Value of a constant column that is added to the standardised ones, so that functions need
        not be homogeneous in x, at most 1e8; 0 is the paper's model.""",
        search=(1.0,),
    ),
    "fit_intercept": Parameter(
        Flag(),
        True,
        "bool",
        """Whether the constant c is fitted; False is the paper's model, c = 0. The mean of y is
        taken off before, and added to predictions, in any case.""",
    ),
    "truncate": TRUNCATE,
    "linear_part": LINEAR_PART,
    "standardize": Parameter(
        Flag(),
        True,
        "bool",
        """Use ``(x - mean) / std`` of every column; False only centres them. Constant columns are
        ignored.""",
    ),
    "n_directions": N_DIRECTIONS,
    "n_jobs": N_JOBS,
    "random_state": replace(
        RANDOM_STATE, text="""Seed of the weights and of the batches of ``solver="sfgd"``."""
    ),
    "verbose": VERBOSE,
    "callback": CALLBACK,
}
_NO_INTERCEPT = replace(
    _SHARED["fit_intercept"],
    text="""Whether the constant c is fitted; False is the paper's model, c = 0, for labels +1 and
    -1.""",
)

WEIGHTING_PARAMETERS: Parameters = {
    "instantiation": Parameter(
        Or(
            (CustomWeighting,),
            Choice(("auto", *INSTANTIATIONS), other="a CustomWeighting"),
            CustomWeighting.check,
        ),
        "auto",
        "str or CustomWeighting",
        """Base predictor phi and kernel K of the weights: ``max(0, <w, x>)``, ``sign(<w, x>)`` or
        ``sign(x_j - b)`` with a Gaussian kernel (``"relu"``, ``"sign"``, ``"stumps"``), or the
        first two with the exponential one (``"exp_relu"``, ``"exp_sign"``). ``"auto"`` compares
        the first three on rows left out. A
        :class:`~kernlens.features.CustomWeighting` is one of your own.""",
    ),
    "solver": Parameter(
        Or((FunctionalGradient,), Choice(("auto", *SOLVERS), other="a FunctionalGradient")),
        "auto",
        "str or FunctionalGradient",
        """``"exact"`` is kernel ridge regression with the implicit kernel, the limit of infinitely
        many features. ``"least_squares"`` is Algorithm 4. ``"lasso"`` is Algorithm 5, sparse; only
        weights in use are kept. ``"sfgd"`` is Algorithm 3, of interest for its theory and far less
        accurate; its options are those of a :class:`~kernlens.FunctionalGradient`. ``"auto"`` is
        exact up to 2000 rows, else least squares.""",
    ),
    "penalty": Parameter(
        Choice(("rkhs", "l2")),
        "rkhs",
        '{"rkhs", "l2"}',
        """Which norm of the weight function is penalised: that of its RKHS, or that of L2(p).""",
        search=("l2",),
    ),
    "correlation": Parameter(
        Or((PaperWidth,), Correlation()),
        "auto",
        '"auto", float, list of float, or PaperWidth',
        """r in (0, 1), how alike two weights are for K: ``sigma^2 / (sigma^2 + gamma^2)`` for the
        Gaussian kernel, ``sigma^2 / (2 gamma^2)`` for the exponential one. Large values allow rough
        functions, small ones are nearly linear, and 1e-12 is the smallest. ``"auto"`` compares
        0.05, 0.2, 0.6 and 0.95; for ``"sfgd"`` values around 1/d, for which its gradients are not
        too noisy. A :class:`~kernlens.PaperWidth` gives it by the paper's gamma, theta or kappa,
        and sigma, which is 1 otherwise.""",
    ),
    **_SHARED,
}
WEIGHTING_CLASSIFIER_PARAMETERS: Parameters = {
    **WEIGHTING_PARAMETERS,
    "fit_intercept": _NO_INTERCEPT,
    "class_weight": CLASS_WEIGHT,
}

KITCHEN_SINKS_PARAMETERS: Parameters = {
    **_SHARED,
    "base": Parameter(
        Choice(("auto", *BASES)),
        "auto",
        '{"auto", "relu", "sign", "stumps"}',
        """Base predictor phi: ``max(0, <w, x>)``, ``sign(<w, x>)`` or ``sign(x_j - b)``. ``"auto"``
        compares them on rows left out.""",
    ),
    "solver": Parameter(
        Choice(SINKS_SOLVERS),
        "least_squares",
        '{"least_squares", "lasso", "exact"}',
        """``"least_squares"`` is Algorithm 1. ``"lasso"`` is Algorithm 2, sparse; only weights in
        use are kept. ``"exact"`` is kernel ridge regression with E_w[phi(w, x) phi(w, x')], the
        limit of infinitely many features.""",
        search=("exact",),
    ),
    "alpha": replace(
        _SHARED["alpha"],
        text="""Regularisation. Lambda in the objective is `alpha`, from 1e-15 to 1e15, times the
        mean square of the features (for the Lasso, times the root of that of one feature), centred
        if there is a constant. ``"auto"`` and lists are chosen from by errors on rows left out;
        ``"auto"`` has half decades from 1e-8 to 10 (Lasso: 1e-4 to 1). A
        :class:`~kernlens.PaperAlpha` is lambda itself, for standardised targets.""",
    ),
    "mix_alphas": replace(
        _SHARED["mix_alphas"],
        text="""Where there are several alphas: predict with a mean of the solutions of the best one
        and of those nearest to one and two decades around it, weighted by errors on rows left out.
        With a few hundred rows that is on average better than the best alone. ``"lasso"`` does not
        mix.""",
    ),
    "sigma": Parameter(
        Positive(smallest=SMALLEST_SPREAD, largest=LARGEST_VALUE),
        1.0,
        "float",
        """Standard deviation of the weights, from 1e-100 to 1e100; it matters for thresholds of
        stumps and for a :class:`~kernlens.PaperAlpha`.""",
    ),
    "random_state": replace(RANDOM_STATE, text="Seed of the weights."),
}
KITCHEN_SINKS_CLASSIFIER_PARAMETERS: Parameters = {
    **KITCHEN_SINKS_PARAMETERS,
    "fit_intercept": _NO_INTERCEPT,
    "class_weight": CLASS_WEIGHT,
}

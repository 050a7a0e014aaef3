"""The arguments of HKRR's estimators."""

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
    STANDARDIZE,
    TRUNCATE,
    VERBOSE,
    WARM_START,
    Choice,
    Count,
    Kind,
    Listed,
    NonNegative,
    Optional,
    Or,
    Parameter,
    Parameters,
    Regularization,
)
from kernlens._validation import MOST_STARTS
from kernlens.kernels.radial import RADIAL_KERNELS, RadialKernel, check_radial_kernel
from kernlens.methods.hkrr.alternating_gradient import AlternatingGradient
from kernlens.methods.hkrr.options import Centers, Constraint, RandomMaps
from kernlens.methods.hkrr.problem import OPTIMIZERS
from kernlens.methods.hkrr.varpro import VarPro

#: Smaller values of alpha leave the linear systems without a correct digit.
SMALLEST_ALPHA = 1e-15
#: Larger ones leave a constant, as this one does.
LARGEST_ALPHA = 1e15


@dataclass(frozen=True)
class FirstMaps(Kind):
    """A word, a number, a RandomMaps or a matrix; the shape of a matrix is checked in a fit."""

    scalar = Count(
        words=("auto", "random", "subspace"), other="a RandomMaps or a matrix", most=MOST_STARTS
    )

    def check(self, name: str, value: Any) -> None:
        if not isinstance(value, RandomMaps) and np.ndim(value) == 0:
            self.scalar.check(name, value)

    def bad_values(self) -> tuple[Any, ...]:
        return (*self.scalar.bad_values(), "zeros", RandomMaps)


@dataclass(frozen=True)
class Limits(Kind):
    """None or a Constraint."""

    def check(self, name: str, value: Any) -> None:
        if value is not None and not isinstance(value, Constraint):
            raise ValueError(f"{name} must be None or a Constraint, got {value!r}.")

    def bad_values(self) -> tuple[Any, ...]:
        return (1.0, "trace", Constraint)


SHARED_PARAMETERS: Parameters = {
    "alpha": Parameter(
        Listed(Regularization(smallest=SMALLEST_ALPHA, largest=LARGEST_ALPHA)),
        "auto",
        '"auto", float or list of float',
        """Regularisation, the paper's lambda, from 1e-15 to 1e15. ``"auto"`` tries 0.1, 0.01, ...
        down to 1e-8 along a warm-started path and stops when held-out rows are predicted worse
        twice in a row; the best is taken. Five folds are held out (up to 1000 rows), three (up to
        3000), or a quarter of the first 5000 rows. A list is searched the same way. Classes have
        three folds; the largest value is taken that is within a standard error of the best, and
        the last fit has an alpha of its own, `refit_alpha_`. `alpha_search_` has what was seen.""",
        search=(1e-2, 1e-4, 1e-6),
    ),
    "n_components": Parameter(
        Listed(Count(words=("auto",))),
        "auto",
        '"auto", int or list of int',
        """Number d of rows of B, at most the number of columns (more would give the same kernels).
        ``"auto"`` starts with 20 and also tries as many as the function of the best wide map varies
        along by at least 2 percent. A list is searched together with `alpha` (Section 4.3), wide
        to narrow, each narrower map started from the directions that mattered to a wider one.""",
        search=(1, 2, 5),
    ),
    "centers": Parameter(
        Or((Centers,), Count(other="a Centers")),
        200,
        "int or Centers",
        """Nystrom centres while B is learned; all rows if there are fewer. They are drawn
        uniformly; ``kernlens.Centers(200, "leverage")`` draws them by approximate leverage scores
        (Remark 6).""",
    ),
    "kernel": Parameter(
        Or(
            (RadialKernel,),
            Choice(tuple(RADIAL_KERNELS), other="an instance of RadialKernel"),
            check_radial_kernel,
        ),
        "gaussian",
        "str or RadialKernel",
        """Mother kernel: ``"gaussian"``, ``"matern32"``, ``"matern52"``, ``"rational_quadratic"``,
        ``"laplace"``; or a subclass of ``kernlens.kernels.RadialKernel`` with its profile
        and derivative.""",
        search=("matern52",),
    ),
    "n_directions": N_DIRECTIONS,
    "optimizer": Parameter(
        Or(
            (VarPro, AlternatingGradient),
            Choice(tuple(OPTIMIZERS), other="a VarPro or AlternatingGradient"),
        ),
        "auto",
        "str, VarPro or AlternatingGradient",
        """``"varpro"`` (also ``"auto"``): L-BFGS on the objective with the coefficients minimised
        out; ``"varpro_gradient"``: Algorithm 3, projected gradient steps on it; ``"agd"``:
        Algorithm 4, steps in B and in the coefficients in turn. ``kernlens.VarPro`` and
        ``kernlens.AlternatingGradient`` set the constants of the line searches, a
        ``kernlens.StepRule``, and the number of inner steps.""",
    ),
    "init": Parameter(
        FirstMaps(),
        "auto",
        '{"auto", "random", "subspace"}, int, RandomMaps or array-like of shape (d, n_features)',
        """First maps: ten random ones (``"random"``, or another number by
        ``kernlens.RandomMaps(3)``); the root of the average gradient outer product of a plain
        kernel ridge fit (``"subspace"``); both (``"auto"``, or an integer for another number of
        random ones, at most 10,000); or a given matrix, in the units the rows are used in, whose
        number of rows is then `n_components`. The one that predicts held-out rows best is taken
        (Section 5). A search that gets nowhere is started again from the next one, twice at
        most. With ``"auto"`` there is a second search if at most half of the columns matter alone
        or in pairs (by statistics of their ranks): it uses only these, and if it predicts held-out
        rows better, by 10 percent, the others have no part in the map.""",
    ),
    "refit": Parameter(
        Optional(Count(words=("auto", "exact"), other="None")),
        "auto",
        '"auto", "exact", int or None',
        """Last fit once B is learned (Appendix D.1), with the length scale and alpha tuned again on
        held-out rows: on so many centres, on all rows (``"exact"``), or none. ``"auto"`` takes
        ``sqrt(2e10 / n)`` centres, between 300 and 1000 and not fewer than while learning. If all
        columns alike (B the identity) predict held-out rows better than any learned map, by 1
        percent, or 10 if `n_components` is given, that is kept; a constant is, if nothing predicts
        better. `status_` says so, and a warning. ``None`` leaves all of this out.""",
    ),
    "constraint": Parameter(
        Limits(),
        None,
        "Constraint or None",
        """What keeps B small. ``kernlens.Constraint(max_norm=1.0)`` bounds its operator norm, as in
        the paper; ``kernlens.Constraint(trace_norm=0.01)`` adds a penalty that drives it to low
        rank. Both may be given together.""",
    ),
    "standardize": replace(
        STANDARDIZE,
        text="""Use ``(x - mean) / std`` of every column; False only centres them. Constant columns
        are ignored.""",
    ),
    "max_iter": Parameter(
        Count(),
        100,
        "int",
        """Iterations of the last stage of the learning; earlier ones have at most 25. The gradient
        methods, ``"varpro_gradient"`` and ``"agd"``, need several hundred.""",
    ),
    "tol": Parameter(
        NonNegative(),
        1e-4,
        "float",
        """Relative decrease of the objective at which the last stage stops. Smaller values fit the
        training rows more closely, which on noisy data predicts worse.""",
    ),
    "warm_start": replace(
        WARM_START,
        text="""Start from the map of the previous fit, with as many components; a given `alpha` is
        used, ``"auto"`` keeps what was chosen before. It is ignored if the number of columns has
        changed.""",
    ),
    "n_jobs": N_JOBS,
    "random_state": RANDOM_STATE,
    "verbose": VERBOSE,
    "callback": CALLBACK,
}

PARAMETERS: Parameters = {
    **SHARED_PARAMETERS,
    "truncate": TRUNCATE,
    "linear_part": LINEAR_PART,
}

CLASSIFIER_PARAMETERS: Parameters = {**SHARED_PARAMETERS, "class_weight": CLASS_WEIGHT}

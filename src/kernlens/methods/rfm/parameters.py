"""The arguments of the estimators of recursive feature machines."""

from __future__ import annotations

from dataclasses import replace

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
    AutoFlag,
    Automatic,
    Choice,
    Count,
    Listed,
    Or,
    Parameter,
    Parameters,
    Positive,
    Regularization,
)
from kernlens.kernels.radial import RADIAL_KERNELS, RadialKernel, check_radial_kernel

#: The product of Laplace kernels along the axes.
PRODUCT = "product_laplace"
#: Smaller values of alpha leave the linear systems without a correct digit.
SMALLEST_ALPHA = 1e-12
#: Larger ones leave a constant, as this one does.
LARGEST_ALPHA = 1e12
#: Distances over other widths overflow, or are all alike.
SMALLEST_WIDTH = 1e-6
LARGEST_WIDTH = 1e6
#: More updates only repeat themselves.
MOST_GIVEN_UPDATES = 1000


SHARED_PARAMETERS: Parameters = {
    "alpha": Parameter(
        Listed(Regularization(smallest=SMALLEST_ALPHA, largest=LARGEST_ALPHA)),
        "auto",
        '"auto", float or list of float',
        """Regularisation, from 1e-12 to 1e12: what is added to the diagonal of the kernel matrix,
        which is 1, for a row of weight 1. ``"auto"`` chooses among 1e-4, 1e-3, 0.01, 0.03, 0.1,
        0.3, 1 and 10, and a list is chosen from the same way: three folds of the first 1000 rows
        are predicted after every update of the map, and one eigendecomposition serves all values.
        `alpha_search_` has what was seen.""",
        search=(1e-3, 1e-2, 0.1),
    ),
    "width": Parameter(
        Listed(Automatic(Positive(other="'auto'", smallest=SMALLEST_WIDTH, largest=LARGEST_WIDTH))),
        "auto",
        '"auto", float or list of float',
        """Width of the kernel, from 1e-6 to 1e6, in units of the spread of the rows before anything
        is learned: the root of the sum of the variances of the columns, or the sum of their
        standard deviations for the product kernel. ``"auto"`` chooses between 1.5 and 6 on the
        folds, and a list is chosen from the same way.""",
        search=(1.0, 3.0, 10.0),
    ),
    "n_updates": Parameter(
        Count(words=("auto",), least=0, most=MOST_GIVEN_UPDATES),
        "auto",
        '"auto" or int',
        """How often the map is learned from the gradients of a fit, at most 1000; 0 is plain kernel
        ridge regression. ``"auto"`` takes the best of at most seven on the folds, and ends after
        two in a row that predict no better.""",
        search=(0, 1, 3),
    ),
    "kernel": Parameter(
        Or(
            (RadialKernel,),
            Choice((*RADIAL_KERNELS, PRODUCT), other="an instance of RadialKernel"),
            check_radial_kernel,
        ),
        "laplace",
        "str or RadialKernel",
        """``"laplace"``, exp(-r); ``"product_laplace"``, the product of Laplace kernels along the
        columns, whose map is a diagonal; ``"gaussian"``, ``"matern32"``, ``"matern52"``,
        ``"rational_quadratic"``; ``kernlens.kernels.GeneralizedLaplaceKernel(q)``, exp(-r^q); or
        another subclass of ``kernlens.kernels.RadialKernel`` with its profile and derivative.""",
        search=("gaussian", PRODUCT),
    ),
    "metric": Parameter(
        Choice(("auto", "full", "diag")),
        "auto",
        '{"auto", "full", "diag"}',
        """The map: a root of the average gradient outer product (``"full"``), or of its diagonal
        (``"diag"``). ``"auto"`` learns machines of both kinds, and one with the product kernel if
        the kernel is ``"laplace"``, and adds their kernels up. The weights are those with which
        their predictions of the folds, added up, have the least squared error; a single machine
        is kept if it predicts the folds better.""",
        search=("full", "diag"),
    ),
    "ranks": Parameter(
        AutoFlag(),
        "auto",
        '"auto" or bool',
        """Whether the kernel sees the columns beside their ranks, piecewise linear functions of
        them with 32 knots. ``"auto"`` learns machines with and without them, weighted as those of
        `metric` are; if that is ``"auto"`` as well, the one with a diagonal map has the ranks.""",
        search=(True, False),
    ),
    "centers": Parameter(
        Count(words=("auto", "all")),
        "auto",
        '"auto", "all" or int',
        """Rows that the function is made of. ``"all"`` is exact; a number of them, drawn at random,
        is the Nystrom approximation. ``"auto"`` takes all up to 3000 rows, and else
        ``sqrt(1e11 / n)``, between 500 and 2000; for classes all up to 1000 rows, and else
        ``sqrt(2e10 / n)``, between 300 and 1000.""",
    ),
    "n_directions": N_DIRECTIONS,
    "standardize": replace(
        STANDARDIZE,
        text="""Use ``(x - mean) / std`` of every column; False only centres them. Constant columns
        are ignored.""",
    ),
    "n_jobs": N_JOBS,
    "random_state": replace(
        RANDOM_STATE,
        text="Nothing is drawn: rows are in a random order that follows from their content.",
    ),
    "verbose": VERBOSE,
    "callback": CALLBACK,
}

PARAMETERS: Parameters = {
    **SHARED_PARAMETERS,
    "truncate": TRUNCATE,
    "linear_part": LINEAR_PART,
}

CLASSIFIER_PARAMETERS: Parameters = {**SHARED_PARAMETERS, "class_weight": CLASS_WEIGHT}

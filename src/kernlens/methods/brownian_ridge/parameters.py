"""The arguments of Brownian kernel ridge regression."""

from __future__ import annotations

from kernlens._parameters import (
    CALLBACK,
    LINEAR_PART,
    N_DIRECTIONS,
    N_JOBS,
    RANDOM_STATE,
    STANDARDIZE,
    TRUNCATE,
    VERBOSE,
    Count,
    Listed,
    Parameter,
    Parameters,
    Regularization,
)

#: Smaller values of alpha leave the linear systems without a correct digit.
SMALLEST_ALPHA = 1e-13
#: Larger ones leave a constant, as this one does.
LARGEST_ALPHA = 1e15

PARAMETERS: Parameters = {
    "alpha": Parameter(
        Listed(Regularization(smallest=SMALLEST_ALPHA, largest=LARGEST_ALPHA)),
        "auto",
        '"auto", float or list of float',
        """Regularisation, from 1e-13 to 1e15, for targets of standard deviation 1. ``"auto"``
        compares 17 values, half a decade apart, by the errors of rows that are left out one at a
        time: exactly up to `n_centers` rows, and beyond on the features of the first 5000 rows. The
        values are 1e-7 to 10 times the mean of the centred kernel's diagonal. A list is compared
        the same way. `alpha_search_` has the losses.""",
        search=(1e-1, 1e-3, 1e-5),
    ),
    "n_centers": Parameter(
        Count(words=("auto",)),
        "auto",
        '"auto" or int',
        """Rows that the function is centred at. With as many as there are rows the fit is exact;
        fewer are drawn at random (Nystrom). ``"auto"`` is all rows up to 2000, and 1000 beyond.""",
    ),
    "n_directions": N_DIRECTIONS,
    "truncate": TRUNCATE,
    "linear_part": LINEAR_PART,
    "standardize": STANDARDIZE,
    "n_jobs": N_JOBS,
    "random_state": RANDOM_STATE,
    "verbose": VERBOSE,
    "callback": CALLBACK,
}

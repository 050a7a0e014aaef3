"""The space of functions that all four estimators work in: kernel, length scale, metric."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import pdist
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from kernlens._array import FloatArray
from kernlens._geometry import squared_lengths
from kernlens._validation import (
    check_choice,
    check_count,
    check_flag,
    check_memory,
    check_n_jobs,
    check_positive,
)
from kernlens.base.standardisation import InputColumns
from kernlens.features.fourier import FOURIER_KERNELS, FourierMap
from kernlens.kernels.derivatives import (
    DIFFERENTIABLE_KERNELS,
    KernelDerivatives,
    RadialDerivatives,
    check_differentiable_kernel,
    make_derivatives,
)
from kernlens.kernels.dot_product import DotProductKernel
from kernlens.kernels.radial import RadialKernel
from kernlens.methods.kernel_laplacian.function import (
    FourierFunction,
    KernelFunction,
    LaplacianFunction,
)

METRICS = ("local", "euclidean")
#: The automatic length scale is this many median distances.
WIDTH = 2.0
#: A given length scale and the reach of the points differ by this factor at most.
WIDEST = 1e7
#: Centres of ``"auto"``, up to so many labelled rows and beyond.
MANY_CENTERS, FEW_CENTERS, MANY_LABELS = 2000, 1000, 1000
#: Points whose distances are looked at.
MEDIAN_POINTS = 1000
#: Numbers that blocks of a fit hold at once, whatever the number of rows.
BLOCK_NUMBERS = 2e7


class KernelSpace(BaseEstimator):
    """Parameters of the space, their checks, and units of length."""

    def _check_space(self) -> None:
        if isinstance(self.kernel, RadialKernel | DotProductKernel):
            check_differentiable_kernel(self.kernel)
        elif isinstance(self.kernel, str) and self.kernel == "laplace":
            raise ValueError(
                "kernel='laplace' is not differentiable enough: its functions have no gradient at "
                "their centres; use 'matern32' or a smoother kernel."
            )
        else:
            check_choice(
                "kernel",
                self.kernel,
                DIFFERENTIABLE_KERNELS,
                other="a RadialKernel or DotProductKernel with second_derivative",
            )
        if not self._automatic_length:
            check_positive("length_scale", self.length_scale, other="'auto'")
        check_choice("metric", self.metric, METRICS)
        check_count("n_neighbors", self.n_neighbors)
        check_count("n_centers", self.n_centers, words=("auto",))
        check_flag("standardize", self.standardize)
        check_n_jobs(self.n_jobs)

    def _check_fourier(self) -> None:
        if self.solver == "random_features" and self.kernel not in FOURIER_KERNELS:
            names = ", ".join(map(repr, FOURIER_KERNELS))
            raise ValueError(
                f"solver='random_features' knows the frequencies of the kernels {names}; for "
                f"kernel={self.kernel!r} use solver='nystrom'."
            )

    def _centers(self, n_labelled: int = 0) -> int:
        """Number of centres: many labels say more than many centres, and cost more with them."""
        if isinstance(self.n_centers, str):
            return MANY_CENTERS if n_labelled <= MANY_LABELS else FEW_CENTERS
        return int(self.n_centers)

    @property
    def _derivatives(self) -> KernelDerivatives:
        return make_derivatives(self.kernel)

    @property
    def _fourier(self) -> str | None:
        """Name of the kernel whose random features are drawn, if they are."""
        return self.kernel if self.solver == "random_features" else None

    @property
    def _neighbors(self) -> int | None:
        return int(self.n_neighbors) if self.metric == "local" else None

    @property
    def _automatic_length(self) -> bool:
        return isinstance(self.length_scale, str) and self.length_scale == "auto"

    def _checked_length(self, points: FloatArray) -> float:
        """The given length scale, if it is in proportion."""
        length = float(self.length_scale)
        reach = float(np.max(np.abs(points)))
        # Products first: the quotient may overflow.
        if reach > 0.0 and not reach / WIDEST <= length <= reach * WIDEST:
            raise ValueError(
                f"length_scale={self.length_scale!r} is out of proportion to the points, which "
                f"reach {reach:.3g} from their mean: the kernel would be the same number "
                "everywhere, to rounding; give a value nearer to that."
            )
        return length

    def _typical_length(self, points: FloatArray) -> float:
        """Median distance of two points; of dot product kernels, the root mean square length."""
        if not isinstance(self._derivatives, RadialDerivatives):
            typical = float(np.sqrt(np.mean(squared_lengths(points))))
        else:
            few = points[:MEDIAN_POINTS]
            typical = float(np.median(pdist(few))) if len(few) > 1 else 0.0
        # Most points may be one and the same but for a column.
        return typical if typical > 0.0 else 1.0

    def _length(self, points: FloatArray) -> float:
        """The length scale in use, in the units of the standardised columns."""
        if not self._automatic_length:
            return self._checked_length(points)
        radial = isinstance(self._derivatives, RadialDerivatives)
        return (WIDTH if radial else 1.0) * self._typical_length(points)

    # The fitted function

    def _store_function(
        self, function: LaplacianFunction, columns: InputColumns, length: float
    ) -> None:
        """As plain arrays, with the units of its argument."""
        for name in ("centers_", "slopes_", "frequencies_", "phases_"):
            self.__dict__.pop(name, None)
        self.mean_, self.scale_, self._varying = columns.mean, columns.scale, columns.varying
        self.length_scale_, self._kernel = length, self.kernel
        self.coef_, self.intercept_ = function.coefficients, function.intercept
        if isinstance(function, KernelFunction):
            self.centers_ = function.centers
            if function.slopes is not None:
                self.slopes_ = function.slopes
        elif isinstance(function, FourierFunction):
            self.frequencies_, self.phases_ = function.map.frequencies, function.map.phases

    @property
    def _function(self) -> LaplacianFunction:
        if hasattr(self, "frequencies_"):
            features = FourierMap(self.frequencies_, self.phases_)
            return FourierFunction(self.coef_, self.intercept_, features)
        kernel, slopes = make_derivatives(self._kernel), getattr(self, "slopes_", None)
        return KernelFunction(self.coef_, self.intercept_, kernel, self.centers_, slopes)

    def _points(self, X: ArrayLike) -> FloatArray:
        """Rows of the user in units of the length scale."""
        check_is_fitted(self)
        return self._points_of(validate_data(self, X, reset=False, dtype=np.float64))

    def _points_of(self, checked: FloatArray) -> FloatArray:
        columns = InputColumns(self.mean_, self.scale_, self._varying, 0.0)
        points: FloatArray = columns.apply(checked) / self.length_scale_
        return points


def check_fit_memory(
    solver: str, n_points: int, n_columns: int, n_directions: int, n_centers: int
) -> None:
    """Refuse a fit that needs more memory than there is, by the formulas of the docstrings."""
    numbers = 6.0 * n_points * n_columns + BLOCK_NUMBERS
    if solver == "exact":
        numbers += 4.0 * (float(n_points) * (n_directions + 1)) ** 2
    elif solver == "cg":
        numbers += 12.0 * float(n_points) * (n_directions + 1)
    numbers += (
        10.0 * float(min(n_centers, n_points) if solver != "random_features" else n_centers) ** 2
    )
    check_memory(8.0 * numbers, "lower n_centers, choose solver='nystrom', or fit on fewer rows")

"""The space of functions that all four estimators work in: kernel, length scale, metric."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist
from sklearn.base import BaseEstimator

from kernlens._geometry import squared_lengths
from kernlens._validation import (
    check_choice,
    check_count,
    check_flag,
    check_memory,
    check_n_jobs,
    check_positive,
)
from kernlens.features.fourier import FOURIER_KERNELS
from kernlens.kernels.derivatives import (
    DIFFERENTIABLE_KERNELS,
    KernelDerivatives,
    RadialDerivatives,
    check_differentiable_kernel,
    make_derivatives,
)
from kernlens.kernels.dot_product import DotProductKernel
from kernlens.kernels.radial import RadialKernel

FloatArray = NDArray[np.floating]

METRICS = ("local", "euclidean")
#: The automatic length scale is this many median distances.
WIDTH = 2.0
#: A given length scale and the reach of the points differ by this factor at most.
WIDEST = 1e7
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
        check_count("n_centers", self.n_centers)
        check_flag("standardize", self.standardize)
        check_n_jobs(self.n_jobs)

    def _check_fourier(self) -> None:
        if self.solver == "random_features" and self.kernel not in FOURIER_KERNELS:
            names = ", ".join(map(repr, FOURIER_KERNELS))
            raise ValueError(
                f"solver='random_features' knows the frequencies of the kernels {names}; for "
                f"kernel={self.kernel!r} use solver='nystrom'."
            )

    @property
    def _derivatives(self) -> KernelDerivatives:
        return make_derivatives(self.kernel)

    @property
    def _fourier(self) -> str | None:
        return self.kernel if isinstance(self.kernel, str) else None

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

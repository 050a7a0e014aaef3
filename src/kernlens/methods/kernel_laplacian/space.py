"""The space of functions that all four estimators work in: kernel, length scale, metric."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import pdist

from kernlens._array import FloatArray
from kernlens._geometry import squared_lengths
from kernlens._parameters import check_parameters
from kernlens._validation import check_magnitude, check_spread, check_weights
from kernlens.base.arrays import validated
from kernlens.base.fit_data import Memory
from kernlens.base.saved import SavedMixin
from kernlens.features.fourier import FOURIER_KERNELS, FourierMap
from kernlens.kernels.derivatives import KernelDerivatives, RadialDerivatives, make_derivatives
from kernlens.methods.kernel_laplacian.derivative_system import BLOCK_ENTRIES
from kernlens.methods.kernel_laplacian.function import (
    AtomFunction,
    FourierFunction,
    KernelFunction,
    LaplacianFunction,
)

#: The automatic length scale is this many median distances.
WIDTH = 2.0
#: A given length scale and the reach of the points differ by this factor at most.
WIDEST = 1e7
#: Number of centres of ``"auto"`` up to MANY_LABELS labelled rows, and beyond.
MANY_CENTERS, FEW_CENTERS, MANY_LABELS = 2000, 1000, 1000
#: Number of points whose distances give the length scale.
MEDIAN_POINTS = 1000
#: Number of blocks that a fit holds at once, whatever the number of rows.
BLOCKS_HELD = 20
#: Fitted attributes that only some kinds of functions have.
PARTS_OF_FUNCTIONS = ("centers_", "slopes_", "frequencies_", "phases_")


class KernelSpace(SavedMixin):
    """Parameters of the space, their checks, units of length, and the fitted function."""

    coef_: FloatArray
    intercept_: FloatArray
    length_scale_: float | FloatArray
    centers_: FloatArray
    slopes_: FloatArray
    frequencies_: FloatArray
    phases_: FloatArray
    _function_kind: str
    _kernel: Any

    def _check_parameters(self) -> None:
        """Refuse arguments that are out of range, or do not go together, before any work."""
        check_parameters(self)
        if self._fourier is not None and self.kernel not in FOURIER_KERNELS:
            names = ", ".join(map(repr, FOURIER_KERNELS))
            raise ValueError(
                f"solver='random_features' knows the frequencies of the kernels {names}; for "
                f"kernel={self.kernel!r} use solver='nystrom'."
            )

    def _check_rows(
        self, X: ArrayLike, sample_weight: ArrayLike | None, ensure_min_samples: int = 2
    ) -> tuple[FloatArray, FloatArray]:
        """Check parameters, rows and weights of a fit whose targets are none, or may be missing."""
        self._check_parameters()
        rows: FloatArray = validated(
            self, X, dtype=np.float64, ensure_min_samples=ensure_min_samples
        )
        check_magnitude(rows, "X")
        check_spread(rows, "X")
        return rows, check_weights(sample_weight, rows)

    # What the parameters ask for

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

    def _centers(self, n_labeled: int = 0) -> int:
        """Number of centres: fewer for many labels, each of which costs more with every centre."""
        if isinstance(self.n_centers, str):
            return MANY_CENTERS if n_labeled <= MANY_LABELS else FEW_CENTERS
        return int(self.n_centers)

    def _rank(self, n_inputs: int) -> int:
        """Number of directions that gradients are measured in."""
        return n_inputs if self._neighbors is None else min(self._neighbors, n_inputs)

    def _memory_of(
        self, n_points: int, n_columns: int, n_centers: int, numbers_of_solver: float = 0.0
    ) -> Memory:
        """What a fit needs, by the formulas of the docstrings."""
        # There are as many functions as points, or as their values and slopes, tell apart.
        told = n_points * (1 if self._fourier is None else self._rank(n_columns) + 1)
        if self._fourier is None:
            n_centers = min(n_centers, n_points)
        numbers = 6.0 * n_points * n_columns + BLOCKS_HELD * BLOCK_ENTRIES + numbers_of_solver
        numbers += 10.0 * float(n_centers) * min(n_centers, told)
        return Memory(
            8.0 * numbers, "lower n_centers, choose solver='nystrom', or fit on fewer rows"
        )

    # Units of length

    def _length(self, points: FloatArray) -> float:
        """The length scale in use, in the units of the standardised columns."""
        if not isinstance(self.length_scale, str):
            return self._checked_length(points)
        radial = isinstance(self._derivatives, RadialDerivatives)
        typical = (WIDTH if radial else 1.0) * self._typical_length(points)
        return max(typical, self._shortest_length(points))

    def _shortest_length(self, points: FloatArray) -> float:
        """The length scale below which the kernel of two points would overflow."""
        farthest = float(np.max(squared_lengths(points)))
        return float(np.sqrt(farthest / self._derivatives.largest_product))

    def _checked_length(self, points: FloatArray) -> float:
        """The given length scale, if it is in proportion."""
        length = float(self.length_scale)
        # Points that are all the same have no length; any will do.
        reach = float(np.max(np.abs(points))) or 1.0
        # Products first: the quotient may overflow.
        if not reach / WIDEST <= length <= reach * WIDEST:
            raise ValueError(
                f"length_scale={self.length_scale!r} is out of proportion to the points, which "
                f"reach {reach:.3g} from their mean: the kernel would be the same number "
                "everywhere, to rounding; give a value nearer to that."
            )
        shortest = self._shortest_length(points)
        if length < shortest:
            raise ValueError(
                f"length_scale={self.length_scale!r} is too short for a kernel that grows with the "
                f"size of points as fast as this one does; give at least {shortest:.3g}."
            )
        return length

    def _typical_length(self, points: FloatArray) -> float:
        """Median distance of two points; of dot product kernels, the root mean square length."""
        if not isinstance(self._derivatives, RadialDerivatives):
            typical = float(np.sqrt(np.mean(squared_lengths(points))))
        else:
            # Not _geometry.median_distance, which looks at half as many points and leaves out
            # distances of zero: on almost all data it gives another number.
            few = points[:MEDIAN_POINTS]
            typical = float(np.median(pdist(few))) if len(few) > 1 else 0.0
        # Most points may be one and the same but for a column.
        return typical if typical > 0.0 else 1.0

    # The fitted function

    @property
    def _function(self) -> LaplacianFunction:
        common: dict[str, Any] = {
            "coefficients": self.coef_,
            "intercept": self.intercept_,
            "length": self.length_scale_,
            "n_jobs": self.n_jobs,
        }
        if self._function_kind == FourierFunction.kind:
            return FourierFunction(**common, map=FourierMap(self.frequencies_, self.phases_))
        common |= {"kernel": make_derivatives(self._kernel), "centers": self.centers_}
        if self._function_kind == AtomFunction.kind:
            return AtomFunction(**common, slopes=self.slopes_)
        return KernelFunction(**common)

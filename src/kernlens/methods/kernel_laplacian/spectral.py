"""What embedding and clustering share: eigenfunctions of the regularised Laplacian."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from kernlens._array import FloatArray, IntArray
from kernlens._invariance import invariant_order, leading_digits
from kernlens._rows import CanonicalRows, canonical_rows
from kernlens._validation import check_enough_rows, check_memory
from kernlens.base.arrays import validated
from kernlens.base.columns import Columns
from kernlens.base.estimates import EstimatesMixin, FitShape
from kernlens.base.fit_data import Memory, draw_seed
from kernlens.methods.kernel_laplacian.energy_basis import EnergyBasis
from kernlens.methods.kernel_laplacian.function import LaplacianFunction
from kernlens.methods.kernel_laplacian.local_frames import LocalFrames
from kernlens.methods.kernel_laplacian.plan import LARGEST_ALPHA, SMALLEST_ALPHA
from kernlens.methods.kernel_laplacian.solvers.features import draw_map
from kernlens.methods.kernel_laplacian.space import PARTS_OF_FUNCTIONS, KernelSpace
from kernlens.methods.kernel_laplacian.spectrum import LaplacianSpectrum

#: Values of ``alpha="auto"``, in units of d over the squared length scale.
ALPHAS = (1e-8, 1e-6, 1e-4, 1e-2)
#: Share of the points that every function must be spread over.
LEAST_SPREAD = 0.05
#: Seconds of an operation of a fit, by measuring a few; see `estimate_seconds`.
SECONDS_PER_OPERATION = 8e-10


class LaplacianEigenfunctions(EstimatesMixin, KernelSpace):
    """Fits the leading eigenfunctions."""

    _thrifty = ({"n_centers": 500}, {"n_centers": 200}, {"n_centers": 100})

    mean_: FloatArray
    scale_: FloatArray
    inputs_: IntArray

    def _fit_eigenfunctions(
        self, X: FloatArray, weights: FloatArray, n_components: int
    ) -> CanonicalRows:
        """Fit `n_components` functions to checked rows, and return the distinct rows."""
        check_enough_rows(int(np.count_nonzero(weights)), type(self).__name__)
        written = canonical_rows(X, np.zeros((1, len(X))), weights)
        rows, _ = written.with_relative_weights()
        order = invariant_order(self._columns_of(rows).apply(rows.X), rows.y, rows.weights)
        rows, _ = written.in_order(order.rows).with_relative_weights()
        columns = self._columns_of(rows)
        if columns.n_varying:
            columns = columns.in_order(order.columns)
        points = leading_digits(columns.apply(rows.X))
        length = self._length(points)
        n, d = points.shape
        shape = FitShape(n, X.shape[1])
        check_memory(self._memory_for(shape).n_bytes, lambda limit: self._advice(shape, limit))
        spectrum = self._spectrum(points / length, rows.weights)
        # Gradients are taken in units of the length scale.
        alphas = [scale * d for scale in ALPHAS]
        if self.alpha != "auto":
            alphas = [self._checked_alpha(length)]
        for alpha in alphas:
            found = spectrum.leading(alpha, n_components)
            if spectrum.spread(found) >= LEAST_SPREAD:
                break
        self._store_function(replace(found.function, length=length), columns)
        self.eigenvalues_, self.alpha_ = found.eigenvalues / length**2, alpha / length**2
        return rows

    def _memory_for(self, shape: FitShape) -> Memory:
        return self._memory_of(shape.n_rows, shape.n_columns, self._centers())

    def _seconds_for(self, shape: FitShape) -> float:
        n, m = float(shape.n_rows), float(self._centers())
        if self._fourier is None:
            m = min(m, n)
        rank = self._rank(shape.n_columns)
        return 0.2 + SECONDS_PER_OPERATION * (n * m**2 * rank + 10.0 * m**3)

    def _columns_of(self, rows: CanonicalRows) -> Columns:
        return Columns.of(rows.X, rows.weights, bool(self.standardize), order="F")

    def _checked_alpha(self, length: float) -> float:
        """The given alpha in units of the length scale, if it is in proportion."""
        least, most = (bound / length**2 for bound in (SMALLEST_ALPHA, LARGEST_ALPHA))
        if not least <= self.alpha <= most:
            raise ValueError(
                f"alpha={self.alpha!r} is out of proportion to gradients, which are measured in "
                f"units of the length scale {length:.3g}: give {least:.0e} to {most:.0e}."
            )
        return float(self.alpha) * length**2

    def _spectrum(self, points: FloatArray, weights: FloatArray) -> LaplacianSpectrum:
        seed, n_centers = draw_seed(self.random_state), self._centers()
        feature_map = draw_map(self._derivatives, self._fourier, points, n_centers, seed)
        frames = LocalFrames.of(points, weights, self._neighbors, self.n_jobs)
        basis = EnergyBasis.of(feature_map, points, weights, frames, self.n_jobs)
        return LaplacianSpectrum(basis, points, weights, self.n_jobs)

    def _store_function(self, function: LaplacianFunction, columns: Columns) -> None:
        """Keep the functions as plain arrays, with the units of their argument."""
        for name in PARTS_OF_FUNCTIONS:
            self.__dict__.pop(name, None)
        self.mean_, self.scale_, self.inputs_ = columns.mean, columns.scale, columns.used
        self._kernel, self._function_kind = self.kernel, function.kind
        for name, value in function.arrays().items():
            setattr(self, name, value)

    def _checked_values(self, X: ArrayLike) -> FloatArray:
        """Values of the eigenfunctions at rows of the user, (n_samples, n_components)."""
        check_is_fitted(self)
        return self._values(validated(self, X, reset=False, dtype=np.float64))

    def _values(self, X: FloatArray) -> FloatArray:
        inputs = Columns(self.mean_, self.scale_, self.inputs_, order="F").apply(X)
        return np.ascontiguousarray(self._function.decision(inputs).T)

"""What embedding and clustering share: eigenfunctions of the regularised Laplacian."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from kernlens._rows import CanonicalRows, canonical_rows
from kernlens._validation import (
    check_alpha,
    check_choice,
    check_enough_rows,
    check_magnitude,
    check_weights,
)
from kernlens.estimators._standardisation import InputColumns
from kernlens.estimators.kernel_laplacian._space import KernelSpace, check_fit_memory
from kernlens.features.fourier import FourierMap
from kernlens.features.local_frames import LocalFrames
from kernlens.kernels.derivatives import make_derivatives
from kernlens.linalg.energy_basis import EnergyBasis, FeatureMap, KernelMap
from kernlens.optim.laplacian_function import FourierFunction, KernelFunction, LaplacianFunction
from kernlens.optim.laplacian_spectrum import LaplacianSpectrum

FloatArray = NDArray[np.floating]

SPECTRAL_SOLVERS = ("nystrom", "random_features")
#: Values of ``alpha="auto"``, in units of d over the squared length scale.
ALPHAS = (1e-8, 1e-6, 1e-4, 1e-2)
#: Share of the points that every function must live on.
LEAST_SPREAD = 0.05


class LaplacianEigenfunctions(KernelSpace):
    """Fits the leading eigenfunctions."""

    def _check_parameters(self) -> None:
        self._check_space()
        check_alpha(self.alpha, ("auto",))
        check_choice("solver", self.solver, SPECTRAL_SOLVERS)
        self._check_fourier()

    def _fit_eigenfunctions(
        self, X: ArrayLike, sample_weight: ArrayLike | None, n_components: int
    ) -> tuple[FloatArray, CanonicalRows]:
        """Fit `n_components` functions; returns the checked X, and its distinct rows."""
        checked: FloatArray = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        check_magnitude(checked, "X")
        weights = check_weights(sample_weight, checked)
        check_enough_rows(int(np.count_nonzero(weights)), type(self).__name__)
        rows = canonical_rows(checked, np.zeros((1, len(checked))), weights)
        columns = InputColumns.of(rows.X, rows.weights, bool(self.standardize), 0.0)
        points = columns.apply(rows.X)
        length = self._length(points)
        n, d = points.shape
        rank = d if self._neighbors is None else min(self._neighbors, d)
        check_fit_memory(self.solver, n, checked.shape[1], rank, int(self.n_centers))
        spectrum = self._spectrum(points / length, rows.weights)
        # Gradients are taken in units of the length scale.
        alphas = [scale * d for scale in ALPHAS]
        if self.alpha != "auto":
            alphas = [float(self.alpha) * length**2]
        for alpha in alphas:
            found = spectrum.leading(alpha, n_components)
            if spectrum.spread(found) >= LEAST_SPREAD:
                break
        self._store(found.function)
        self.eigenvalues_ = found.eigenvalues / length**2
        self.alpha_, self.length_scale_ = alpha / length**2, length
        self.mean_, self.scale_, self._varying = columns.mean, columns.scale, columns.varying
        self._kernel = self.kernel
        return checked, rows

    def _spectrum(self, points: FloatArray, weights: FloatArray) -> LaplacianSpectrum:
        random = np.random.RandomState(
            check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        )
        feature_map: FeatureMap
        if self.solver == "random_features":
            feature_map = FourierMap.draw(self.kernel, points.shape[1], int(self.n_centers), random)
        else:
            drawn = np.sort(random.permutation(len(points))[: int(self.n_centers)])
            feature_map = KernelMap(self._derivatives, points[drawn])
        frames = None
        if self._neighbors is not None:
            frames = LocalFrames.of(points, weights, self._neighbors, self.n_jobs)
        basis = EnergyBasis.of(feature_map, points, weights, frames, self.n_jobs)
        return LaplacianSpectrum(basis, points, weights, self.n_jobs)

    def _store(self, function: LaplacianFunction) -> None:
        for name in ("centers_", "frequencies_", "phases_"):
            self.__dict__.pop(name, None)
        self.coef_, self.intercept_ = function.coefficients, function.intercept
        if isinstance(function, KernelFunction):
            self.centers_ = function.centers
        elif isinstance(function, FourierFunction):
            self.frequencies_, self.phases_ = function.map.frequencies, function.map.phases

    @property
    def _function(self) -> LaplacianFunction:
        if hasattr(self, "frequencies_"):
            features = FourierMap(self.frequencies_, self.phases_)
            return FourierFunction(self.coef_, self.intercept_, features)
        kernel = make_derivatives(self._kernel)
        return KernelFunction(self.coef_, self.intercept_, kernel, self.centers_, None)

    def _embed(self, X: ArrayLike) -> FloatArray:
        """Values of the eigenfunctions, (n_samples, n_components)."""
        check_is_fitted(self)
        return self._embed_checked(validate_data(self, X, reset=False, dtype=np.float64))

    def _embed_checked(self, raw: FloatArray) -> FloatArray:
        columns = InputColumns(self.mean_, self.scale_, self._varying, 0.0)
        points = columns.apply(raw) / self.length_scale_
        return np.ascontiguousarray(self._function.values(points, self.n_jobs).T)

"""What embedding and clustering share: eigenfunctions of the regularised Laplacian."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from kernlens._array import FloatArray
from kernlens._rows import CanonicalRows, canonical_rows
from kernlens._validation import (
    check_alpha,
    check_choice,
    check_enough_rows,
    check_magnitude,
    check_weights,
)
from kernlens.base.standardisation import InputColumns
from kernlens.methods.kernel_laplacian.energy_basis import EnergyBasis
from kernlens.methods.kernel_laplacian.local_frames import LocalFrames
from kernlens.methods.kernel_laplacian.solvers.features import draw_map
from kernlens.methods.kernel_laplacian.space import KernelSpace, check_fit_memory
from kernlens.methods.kernel_laplacian.spectrum import LaplacianSpectrum

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
        check_fit_memory(self.solver, n, checked.shape[1], rank, self._centers())
        spectrum = self._spectrum(points / length, rows.weights)
        # Gradients are taken in units of the length scale.
        alphas = [scale * d for scale in ALPHAS]
        if self.alpha != "auto":
            alphas = [float(self.alpha) * length**2]
        for alpha in alphas:
            found = spectrum.leading(alpha, n_components)
            if spectrum.spread(found) >= LEAST_SPREAD:
                break
        self._store_function(found.function, columns, length)
        self.eigenvalues_, self.alpha_ = found.eigenvalues / length**2, alpha / length**2
        return checked, rows

    def _spectrum(self, points: FloatArray, weights: FloatArray) -> LaplacianSpectrum:
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        n_centers = self._centers()
        feature_map = draw_map(self._derivatives, self._fourier, points, n_centers, seed)
        frames = LocalFrames.of(points, weights, self._neighbors, self.n_jobs)
        basis = EnergyBasis.of(feature_map, points, weights, frames, self.n_jobs)
        return LaplacianSpectrum(basis, points, weights, self.n_jobs)

    def _embed(self, points: FloatArray) -> FloatArray:
        """Values of the eigenfunctions, (n_samples, n_components)."""
        return np.ascontiguousarray(self._function.values(points, self.n_jobs).T)

"""Functions in explicit features, in a basis that makes the norm and the gradient energy diagonal.

For features phi with coefficients theta, |f|_H^2 = theta^T G theta and the energy of gradients
E(f) = sum_i w_i |T_i grad f(x_i)|^2 = theta^T M theta. With theta = R eta, R^T G R = I and
R^T M R = diag(e), so that

    alpha |f|^2 + mu E(f) = alpha sum_k (1 + (mu / alpha) e_k) eta_k^2

for every alpha and mu: one decomposition serves them all. Ratios mu / alpha of 1e9 ask for small
energies to nine digits of the largest, which a Gram matrix M divided by small norms does not have.
The singular values of the slopes themselves do, and are taken unless the ratios are small or the
points so many that it would take minutes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import eigh

from kernlens._array import FloatArray
from kernlens._execution import map_blocks, single_threaded_blas, split_range, sum_blocks
from kernlens.features.fourier import FourierMap
from kernlens.kernels.derivatives import KernelDerivatives
from kernlens.linalg.ridge_system import BlockPart, RidgeSystem, accumulate_ridge
from kernlens.methods.kernel_laplacian.derivative_system import BLOCK_ENTRIES
from kernlens.methods.kernel_laplacian.local_frames import LocalFrames

#: Directions in which the norm is below this share of the largest are left out: rounding is divided
#: by it, or by its root.
SMALLEST_NORM = 1e-12
#: Number of operations up to which energies may be taken from singular values.
ACCURATE_WORK = 3e11
#: Largest error that ratio times energy, which is compared with 1, may have by a worst-case bound
#: if energies are taken from a Gram matrix; errors seen are some hundred times smaller.
GRAM_ERROR = 2.0
#: Number of points that the size of slopes is measured on.
SAMPLE = 100
#: Largest number of parts of the points whose factorisations are made side by side.
N_GROUPS = 8


class DifferentiableMap(Protocol):
    """Features with gradients: :class:`KernelMap` or a Fourier map."""

    @property
    def n_features(self) -> int: ...

    def features(self, X: FloatArray) -> FloatArray: ...

    def norms(self) -> FloatArray: ...

    def energy(
        self, X: FloatArray, weights: FloatArray, frames: FloatArray | None
    ) -> FloatArray: ...

    def slopes(self, X: FloatArray, frames: FloatArray) -> FloatArray: ...

    def gradient(self, X: FloatArray, coefficients: FloatArray) -> FloatArray: ...


@dataclass(frozen=True)
class KernelMap:
    """Features k(x, z_j) of centres z_j (m, d): Nyström's approximation."""

    kernel: KernelDerivatives
    centers: FloatArray

    @property
    def n_features(self) -> int:
        """Number of centres."""
        return len(self.centers)

    def features(self, X: FloatArray) -> FloatArray:
        """Values, (n, m)."""
        return self.kernel.matrix(X, self.centers)

    def norms(self) -> FloatArray:
        """Kernel matrix of the centres."""
        return self.kernel.matrix(self.centers, self.centers)

    def energy(self, X: FloatArray, weights: FloatArray, frames: FloatArray | None) -> FloatArray:
        """``sum_i w_i <T_i grad k(x_i, z_j), T_i grad k(x_i, z_l)>``, (m, m)."""
        if frames is None:
            return self.kernel.energy(X, weights, self.centers)
        weighted = frames * np.sqrt(weights)[:, None, None]
        slopes = self.slopes(X, weighted).reshape(-1, self.n_features)
        product: FloatArray = slopes.T @ slopes
        return product

    def slopes(self, X: FloatArray, frames: FloatArray) -> FloatArray:
        """``T_i grad k(x_i, z_j)``, (n, r, m), for frames (n, r, d)."""
        return self.kernel.slopes(X, frames, self.centers)

    def gradient(self, X: FloatArray, coefficients: FloatArray) -> FloatArray:
        """Gradients (t, n, d) of functions with coefficients (t, m)."""
        return self.kernel.value_and_gradient(X, self.centers, coefficients, None)[1]


@dataclass(frozen=True)
class EnergyBasis:
    """The basis, as a matrix over the features of a map.

    Attributes
    ----------
    map : DifferentiableMap
    rotation : ndarray of shape (n_features, q)
        The matrix R.
    energies : ndarray of shape (q,)
        The numbers e, increasing, not negative.
    """

    map: DifferentiableMap
    rotation: FloatArray
    energies: FloatArray

    @classmethod
    def of(
        cls,
        feature_map: DifferentiableMap,
        points: FloatArray,
        weights: FloatArray,
        frames: LocalFrames | None,
        n_jobs: int | None,
        largest_ratio: float = np.inf,
    ) -> EnergyBasis:
        """Sum the energy over blocks of points, and decompose it.

        It costs O(n m^2 + n m d + m^3), and n m^2 r instead of n m^2 for frames of r rows.

        Parameters
        ----------
        feature_map : DifferentiableMap
        points : ndarray of shape (n, d)
        weights : ndarray of shape (n,)
            Positive; divided by their sum here.
        frames : LocalFrames or None
        n_jobs : int or None
        largest_ratio : float
            mu / alpha that the basis is used with.
        """
        sums = _EnergySums(feature_map, points, weights / weights.sum(), frames, n_jobs)
        root, smallest = sums.orthonormal()
        if not smallest > 0.0:
            # All functions are zero.
            return cls(feature_map, root, np.zeros(1))
        with single_threaded_blas():
            accurate = largest_ratio * sums.rounding / smallest > GRAM_ERROR
            energies, rotation = sums.decomposed(root, accurate)
        return cls(feature_map, root @ rotation, energies)

    def features(self, X: FloatArray) -> FloatArray:
        """Values of the basis functions, (n, q)."""
        values: FloatArray = self.map.features(X) @ self.rotation
        return values

    def ridge_system(
        self,
        points: FloatArray,
        y: FloatArray,
        weights: FloatArray,
        shift: FloatArray,
        n_jobs: int | None,
    ) -> RidgeSystem:
        """Normal equations of the basis functions, with an intercept, summed over blocks of points.

        Parameters are those of :func:`~kernlens.linalg.ridge_system.accumulate_ridge`.
        """

        def sum_over_blocks(function: BlockPart) -> list[FloatArray]:
            def of(rows: slice) -> tuple[FloatArray, ...]:
                return function(rows, self.features(points[rows]))

            blocks = split_range(len(points), max(1, BLOCK_ENTRIES // self.map.n_features))
            with single_threaded_blas():
                work = float(len(points)) * self.map.n_features**2
                return sum_blocks(of, blocks, n_jobs=n_jobs, work=work)

        return accumulate_ridge(sum_over_blocks, y, weights, True, shift)

    def damping(self, ratio: float) -> FloatArray:
        """``(1 + (mu / alpha) e)^(-1/2)``: features times this have the norm of both penalties."""
        damped: FloatArray = 1.0 / np.sqrt(1.0 + ratio * self.energies)
        return damped


@dataclass(frozen=True)
class _EnergySums:
    """The energy of functions over all points, summed over blocks."""

    map: DifferentiableMap
    points: FloatArray
    shares: FloatArray
    frames: LocalFrames | None
    n_jobs: int | None

    @property
    def n_directions(self) -> int:
        d = self.points.shape[1]
        return d if self.frames is None else self.frames.n_directions

    def orthonormal(self) -> tuple[FloatArray, float]:
        """Coefficients (n_features, p) of orthonormal functions, and the smallest norm among those
        that they were made of; one that is zero, and 0, if all functions are."""
        n_told = len(self.points) * (self.n_directions + 1)
        if isinstance(self.map, FourierMap) and n_told < self.map.n_features:
            # Features are orthonormal, and functions that are not told apart from zero by values
            # and slopes at the points have no part in any solution.
            told = np.vstack([self.map.features(self.points), self._slopes(slice(None))])
            return np.linalg.qr(told.T)[0], 1.0
        norms, vectors = eigh(self.map.norms(), check_finite=False)
        if not norms[-1] > 0.0:
            return np.zeros((len(norms), 1)), 0.0
        kept = norms > SMALLEST_NORM * norms[-1]
        return vectors[:, kept] / np.sqrt(norms[kept]), float(norms[kept][0])

    @property
    def rounding(self) -> float:
        """Size of the errors of a Gram matrix of all energies."""
        few = slice(0, SAMPLE)
        mean = np.square(self._slopes(few)).sum() / self.shares[few].sum()
        return float(mean * np.finfo(np.float64).eps)

    def decomposed(self, root: FloatArray, accurate: bool) -> tuple[FloatArray, FloatArray]:
        """Energies, increasing, and their directions, of functions with coefficients root @ eta."""
        rows = len(self.points) * self.n_directions
        if accurate and 4.0 * rows * root.shape[1] ** 2 <= ACCURATE_WORK:
            triangle = self._triangle(root)
            _, singular, directions = np.linalg.svd(triangle, full_matrices=True)
            energies = np.zeros(root.shape[1])
            energies[: len(singular)] = np.square(singular)
            return energies[::-1], directions[::-1].T
        energies, rotation = eigh(root.T @ self._gram() @ root, check_finite=False)
        return np.maximum(energies, 0.0), rotation

    def _gram(self) -> FloatArray:
        def part(rows: slice) -> tuple[FloatArray]:
            local = None if self.frames is None else self.frames.take(rows)
            return (self.map.energy(self.points[rows], self.shares[rows], local),)

        # All directions alike need no slopes one by one.
        height = 1 if self.frames is None else self.n_directions
        size = max(1, BLOCK_ENTRIES // (self.map.n_features * height))
        blocks = split_range(len(self.points), size)
        (gram,) = sum_blocks(part, blocks, n_jobs=self.n_jobs)
        return gram

    def _triangle(self, root: FloatArray) -> FloatArray:
        """R of a QR factorisation of all slopes times `root`, from those of blocks."""
        n = len(self.points)
        # Groups do not depend on the number of threads, so that rounding does not.
        n_groups = min(N_GROUPS, max(1, n * self.n_directions // (6 * root.shape[1])))
        groups = split_range(n, max(1, -(-n // n_groups)))
        height = max(1, 4 * root.shape[1] // self.n_directions)

        def of(group: slice) -> FloatArray:
            triangle: FloatArray = np.empty((0, root.shape[1]))
            for rows in split_range(group.stop - group.start, height):
                block = slice(group.start + rows.start, group.start + rows.stop)
                triangle = _stacked(triangle, self._slopes(block) @ root)
            return triangle

        work = float(n) * self.n_directions * root.shape[1] ** 2
        triangle, *others = map_blocks(of, groups, n_jobs=self.n_jobs, work=work)
        for other in others:
            triangle = _stacked(triangle, other)
        return triangle

    def _slopes(self, rows: slice) -> FloatArray:
        """Weighted slopes of the features at some points, (m r, n_features)."""
        X = self.points[rows]
        if self.frames is None:
            local: FloatArray = np.eye(X.shape[1])[None]
        else:
            local = self.frames.take(rows)
        weighted = local * np.sqrt(self.shares[rows])[:, None, None]
        return self.map.slopes(X, weighted).reshape(-1, self.map.n_features)


def _stacked(upper: FloatArray, lower: FloatArray) -> FloatArray:
    """R of a QR factorisation of two matrices, one upon the other."""
    return np.asarray(np.linalg.qr(np.vstack([upper, lower]), mode="r"))

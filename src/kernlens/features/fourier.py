"""Random Fourier features of radial kernels, with the energy of their gradients in closed form.

``phi_j(x) = sqrt(2 / D) cos(omega_j . x + b_j)`` with omega_j drawn from the spectral law of the
kernel (Rahimi and Recht, 2007): normal for the Gaussian kernel, Student's t with 2 nu degrees of
freedom for the Matern ones, a normal of random variance for the rational quadratic one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernlens._array import FloatArray

#: Degrees of freedom of the spectral law of Matern kernels.
MATERN_FREEDOM = {"matern32": 3.0, "matern52": 5.0}
FOURIER_KERNELS = ("gaussian", *MATERN_FREEDOM, "rational_quadratic")


@dataclass(frozen=True)
class FourierMap:
    """Features cos(omega_j . x + b_j) of points (n, d).

    Attributes
    ----------
    frequencies : ndarray of shape (n_features, d)
    phases : ndarray of shape (n_features,)
    """

    frequencies: FloatArray
    phases: FloatArray

    @classmethod
    def draw(
        cls, kernel: str, n_inputs: int, n_features: int, random: np.random.RandomState
    ) -> FourierMap:
        """Draw the features of a kernel of length scale 1, one of `FOURIER_KERNELS`."""
        normal = random.standard_normal((n_features, n_inputs))
        if kernel in MATERN_FREEDOM:
            freedom = MATERN_FREEDOM[kernel]
            normal *= np.sqrt(freedom / random.chisquare(freedom, n_features))[:, None]
        elif kernel == "rational_quadratic":
            # (1 + s/2)^(-1) is the mean of exp(-v s / 2) over an exponential v.
            normal *= np.sqrt(random.standard_exponential(n_features))[:, None]
        return cls(normal, random.uniform(0.0, 2.0 * np.pi, n_features))

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.phases)

    def features(self, X: FloatArray) -> FloatArray:
        """Values, (n, n_features)."""
        angles = self._angles(X)
        return np.multiply(np.cos(angles, out=angles), self._size, out=angles)

    def norms(self) -> FloatArray:
        """Matrix of the squared norm of functions, (n_features, n_features)."""
        return np.eye(self.n_features)

    def energy(self, X: FloatArray, weights: FloatArray, frames: FloatArray | None) -> FloatArray:
        """``sum_i w_i <T_i grad phi_j(x_i), T_i grad phi_l(x_i)>``, frames None for identities."""
        if frames is None:
            S = self._slopes(X)
            S *= np.sqrt(weights)[:, None]
            total: FloatArray = (S.T @ S) * (self.frequencies @ self.frequencies.T)
            return total
        weighted = frames * np.sqrt(weights)[:, None, None]
        flat = self.slopes(X, weighted).reshape(-1, self.n_features)
        product: FloatArray = flat.T @ flat
        return product

    def slopes(self, X: FloatArray, frames: FloatArray) -> FloatArray:
        """``T_i grad phi_j(x_i)``, (n, r, n_features), for frames (n, r, d)."""
        along: FloatArray = frames @ self.frequencies.T
        along *= self._slopes(X)[:, None, :]
        return along

    def gradient(self, X: FloatArray, coefficients: FloatArray) -> FloatArray:
        """Gradients (t, n, d) of functions with coefficients (t, n_features)."""
        S = self._slopes(X)
        return np.stack([(S * c) @ self.frequencies for c in coefficients])

    @property
    def _size(self) -> float:
        return float(np.sqrt(2.0 / self.n_features))

    def _angles(self, X: FloatArray) -> FloatArray:
        angles: FloatArray = X @ self.frequencies.T
        angles += self.phases
        return angles

    def _slopes(self, X: FloatArray) -> FloatArray:
        angles = self._angles(X)
        return np.multiply(np.sin(angles, out=angles), -self._size, out=angles)

"""What every generator returns: the data and the truth behind them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from kernlens._array import FloatArray
from kernlens._validation import check_count
from kernlens.datasets._sampling import RandomSource, uniform_cube

Link = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class SyntheticData:
    """A synthetic regression problem y = link(projection x) + noise, with its truth.

    The inputs are uniform on the cube [-half_width, half_width]^n_features.

    Attributes
    ----------
    X, y : ndarray of shape (n_samples, n_features) and (n_samples,)
        Training set.
    X_test, y_test : ndarray of shape (n_test, n_features) and (n_test,)
        Test set, drawn as the generator says.
    components : ndarray of shape (k, n_features), or None
        Orthonormal basis, one direction per row, of the smallest subspace that the target depends
        on; None when the target depends on every variable without structure.
    projection : ndarray of shape (n_relevant, n_features)
        The matrix in front of the link: P^T in the BKerNN and RegFeaL papers, B in the HKRR paper.
    link : callable
        Takes X @ projection.T, of shape (n, n_relevant), returns the noiseless target (n,).
    noise : float
        Standard deviation of the noise that was added.
    half_width : float
        Half the side of the cube the inputs are drawn from.
    """

    X: FloatArray
    y: FloatArray
    X_test: FloatArray
    y_test: FloatArray
    components: FloatArray | None
    projection: FloatArray
    link: Link
    noise: float
    half_width: float

    def function(self, X: ArrayLike) -> FloatArray:
        """Noiseless target at new points.

        Parameters
        ----------
        X : array-like of shape (n, n_features)

        Returns
        -------
        ndarray of shape (n,)
        """
        points = np.asarray(X, dtype=np.float64)
        n_features = self.projection.shape[1]
        if points.ndim != 2 or points.shape[1] != n_features:
            raise ValueError(
                f"Expected X of shape (n, {n_features}), got {points.shape}: pass one point per "
                f"row, with the features of the generated data."
            )
        return self.link(points @ self.projection.T)

    def sample(
        self, n_samples: int, *, random_state: RandomSource = None
    ) -> tuple[FloatArray, FloatArray]:
        """Fresh points from the same distribution, with the same noise level.

        Parameters
        ----------
        n_samples : int
        random_state : int, RandomState instance or None

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
        y : ndarray of shape (n_samples,)
        """
        check_count("n_samples", n_samples)
        rng = check_random_state(random_state)
        X = uniform_cube(rng, n_samples, self.projection.shape[1], self.half_width)
        return X, self.function(X) + self.noise * rng.standard_normal(n_samples)

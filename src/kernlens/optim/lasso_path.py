"""The Lasso from normal equations, so that its cost does not depend on the number of rows.

    min_c  (1/Wt) sum_i w_i |F c - y|^2 + penalty |c|_1      (Algorithms 2 and 5)

With the gram matrix V diag(s) V^T of the features, the squares are those of s^{1/2} V^T c against
s^{-1/2} V^T F^T y, up to a constant: T rows instead of n.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lasso_path

from kernlens.linalg.ridge_system import RidgeSystem

FloatArray = NDArray[np.floating]

#: Eigenvalues below this share of the largest are rounding.
CUTOFF = 1e-13
MAX_ITER = 2000
TOL = 1e-5


@dataclass(frozen=True)
class LassoProblem:
    """The Lasso with given normal equations.

    Attributes
    ----------
    design : ndarray of shape (rank, T)
    responses : ndarray of shape (n_targets, rank)
    total : float
        Wt.
    """

    design: FloatArray
    responses: FloatArray
    total: float

    @classmethod
    def of(cls, system: RidgeSystem) -> LassoProblem:
        """From the system of the features themselves. O(T^3)."""
        values, vectors = eigh(system.gram, check_finite=False)
        kept = values > CUTOFF * max(float(values[-1]), np.finfo(np.float64).tiny)
        roots = np.sqrt(values[kept])
        design = np.asfortranarray(roots[:, None] * vectors[:, kept].T)
        return cls(design, (system.moments @ vectors[:, kept]) / roots, system.total)

    def solve(self, penalty: float, start: FloatArray | None = None) -> tuple[FloatArray, bool]:
        """Coefficients (n_targets, T), and whether coordinate descent ended by itself.

        Parameters
        ----------
        penalty : float
        start : ndarray of shape (n_targets, T), optional
            Coefficients for a nearby penalty.
        """
        rank, n_features = self.design.shape
        c = np.zeros((len(self.responses), n_features))
        if rank == 0:
            return c, True
        # scikit-learn's objective has the squares over twice the number of rows.
        alpha = penalty * self.total / (2.0 * rank)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            for target, response in enumerate(self.responses):
                first = None if start is None else start[target].copy()
                _, path, _ = lasso_path(
                    self.design,
                    response,
                    alphas=[alpha],
                    coef_init=first,
                    precompute=True,
                    max_iter=MAX_ITER,
                    tol=TOL,
                )
                c[target] = path[:, 0]
        return c, not any(issubclass(one.category, ConvergenceWarning) for one in caught)

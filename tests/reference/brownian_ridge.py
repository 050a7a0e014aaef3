"""Brownian kernel ridge regression, entry by entry."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize


def kernel(X, Z):
    """``(|x| + |z| - |x - z|) / 2`` with two loops."""
    K = np.empty((len(X), len(Z)))
    for i, x in enumerate(X):
        for j, z in enumerate(Z):
            K[i, j] = 0.5 * (np.linalg.norm(x) + np.linalg.norm(z) - np.linalg.norm(x - z))
    return K


def objective(parameters, K, among, y, weights, alpha):
    """The regularised error at coefficients and a constant, for one target."""
    a, c = parameters[:-1], parameters[-1]
    errors = y - K @ a - c
    return 0.5 * weights @ errors**2 / weights.sum() + 0.5 * alpha * a @ among @ a


def fit(X, Z, y, weights, alpha):
    """Coefficients, constant and objective by general minimisation, for one target."""
    K, among = kernel(X, Z), kernel(Z, Z)

    def slope(parameters):
        a, c = parameters[:-1], parameters[-1]
        errors = weights * (K @ a + c - y) / weights.sum()
        return np.r_[K.T @ errors + alpha * among @ a, errors.sum()]

    start = np.zeros(len(Z) + 1)
    args = (K, among, y, weights, alpha)
    end = minimize(
        objective, start, args, jac=lambda p, *_: slope(p), method="BFGS",
        options={"gtol": 1e-12, "maxiter": 5000},
    )  # fmt: skip
    return end.x[:-1], end.x[-1], end.fun

"""Recursive feature machines, slow and obvious: every sum is a loop, every root is symmetric.

Radhakrishnan, Beaglehole, Pandit and Belkin, Science 383 (2024), Algorithm 1, with an intercept,
sample weights, several targets and a diagonal map.
"""

from __future__ import annotations

import numpy as np


def kernel(name, u, v):
    """Value of a kernel of width 1, and its gradient in u."""
    difference = u - v
    if name == "product_laplace":
        value = np.exp(-np.abs(difference).sum())
        return value, -value * np.sign(difference)
    r = np.sqrt(np.sum(difference**2))
    if name == "gaussian":
        value = np.exp(-(r**2) / 2.0)
        return value, -value * difference
    if name == "cauchy":
        value = 1.0 / (1.0 + r**2)
        return value, -2.0 * value**2 * difference
    q = {"laplace": 1.0, "generalized_laplace": 0.7}[name]
    value = np.exp(-(r**q))
    return value, np.zeros_like(u) if r == 0.0 else -q * r ** (q - 2.0) * value * difference


def kernel_matrix(name, U, V):
    """All values, (n, m)."""
    return np.array([[kernel(name, u, v)[0] for v in V] for u in U])


def ridge(K, y, weights, alpha):
    """Coefficients (n_targets, n) and constants of

    sum_i w_i (y_i - (K a)_i - c)^2 + alpha a^T K a,    from the bordered system
    (K + alpha / w) a + c = y,  sum a = 0.
    """
    n = len(K)
    system = np.zeros((n + 1, n + 1))
    system[:n, :n] = K + np.diag(alpha / weights)
    system[:n, n] = system[n, :n] = 1.0
    solution = np.linalg.solve(system, np.vstack([y.T, np.zeros(len(y))]))
    return solution[:n].T, solution[n]


def gradients(name, X, L, a):
    """Gradients in x of sum_j a_tj k(L x, L x_j) at the rows, (n_targets, n, d)."""
    images = X @ L.T
    total = np.zeros((len(a), *X.shape))
    for t in range(len(a)):
        for i in range(len(X)):
            for j in range(len(X)):
                total[t, i] += a[t, j] * kernel(name, images[i], images[j])[1] @ L
    return total


def outer_product(slopes, weights):
    """Weighted mean over rows of the sum over targets of the outer products, (d, d)."""
    d = slopes.shape[2]
    M = np.zeros((d, d))
    for of_target in slopes:
        for w, g in zip(weights, of_target, strict=True):
            M += w * np.outer(g, g)
    return M / weights.sum()


def root_of(M, metric):
    """The map of the next fit."""
    if metric == "diag":
        return np.diag(np.sqrt(np.diag(M) / np.diag(M).max()))
    values, vectors = np.linalg.eigh(M)
    return vectors @ np.diag(np.sqrt(np.maximum(values, 0.0) / values[-1])) @ vectors.T


def unit_of(name, X, weights):
    """What widths are multiples of."""
    mean = weights @ X / weights.sum()
    variances = weights @ (X - mean) ** 2 / weights.sum()
    return np.sqrt(variances).sum() if name == "product_laplace" else np.sqrt(variances.sum())


def machine(name, metric, X, y, weights, alpha, width, n_updates):
    """The map over the width, coefficients and constants after so many updates."""
    scale = width * unit_of(name, X, weights)
    L = np.eye(X.shape[1])
    for _ in range(n_updates):
        a, _ = ridge(kernel_matrix(name, X @ L.T / scale, X @ L.T / scale), y, weights, alpha)
        L = root_of(outer_product(gradients(name, X, L / scale, a), weights), metric)
    images = X @ L.T / scale
    a, c = ridge(kernel_matrix(name, images, images), y, weights, alpha)
    return L / scale, a, c


def predict(name, L, a, c, X, Z):
    """Values at the rows of Z, (n_targets, m)."""
    return a @ kernel_matrix(name, Z @ L.T, X @ L.T).T + c[:, None]


def beside_ranks(X, weights, Z):
    """The columns of Z beside the ranks that the rows X give them; no more than 32 values each."""
    columns = [Z]
    for j in range(X.shape[1]):
        values = sorted(set(X[:, j]))
        shares = [
            (weights[X[:, j] < value].sum() + 0.5 * weights[X[:, j] == value].sum()) / weights.sum()
            for value in values
        ]
        columns.append(np.sqrt(12.0) * (np.interp(Z[:, j], values, shares) - 0.5)[:, None])
    return np.hstack(columns)

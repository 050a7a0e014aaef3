"""Algorithm 1 of BKerNN written down directly and compiled: O(n^2 m d) a gradient, O(n^3) a solve.

What a careful user would write from the paper. Squared loss, `feature` penalty.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.linalg import cho_factor, cho_solve


@njit(cache=True)
def kernel_matrix(X, W):
    """Mean of the Brownian kernels on the projections, (n, n)."""
    n, m = X.shape[0], W.shape[0]
    P = X @ W.T
    K = np.zeros((n, n))
    for i in range(n):
        for k in range(i, n):
            total = 0.0
            for j in range(m):
                total += abs(P[i, j]) + abs(P[k, j]) - abs(P[i, j] - P[k, j])
            K[i, k] = K[k, i] = total / (2 * m)
    return K


@njit(cache=True)
def gradient(X, W, z, lam):
    """Lemma 8 as printed: a sum over pairs of rows, for every particle."""
    n, d = X.shape
    m = W.shape[0]
    P = X @ W.T
    out = np.zeros((m, d))
    for j in range(m):
        for i in range(n):
            for k in range(n):
                factor = z[i] * z[k] * np.sign(P[i, j] - P[k, j])
                for a in range(d):
                    out[j, a] += factor * (X[i, a] - X[k, a])
    return out * lam / (4 * m)


def solve(K, y, lam):
    """Lemma 7: coefficients and the value of G."""
    n = len(y)
    centered = K - K.mean(axis=0)
    centered -= centered.mean(axis=1, keepdims=True)
    rhs = y - y.mean()
    z = cho_solve(cho_factor(centered + n * lam * np.eye(n)), rhs)
    return z, 0.5 * lam * rhs @ z


def prox(W, threshold):
    """Soft threshold of the singular values."""
    U, S, Vt = np.linalg.svd(W, full_matrices=False)
    return (U * np.maximum(S - threshold, 0.0)) @ Vt


def algorithm_1(X, y, W, lam, n_iter, step=500.0):
    """Run Algorithm 1; returns the particles and the objective."""
    weight = lam / (2 * np.sqrt(len(W)))
    z, value = solve(kernel_matrix(X, W), y, lam)
    for _ in range(n_iter):
        slope = gradient(X, W, z, lam)
        step *= 1.5
        while True:
            trial = prox(W - step * slope, step * weight)
            z_trial, value_trial = solve(kernel_matrix(X, trial), y, lam)
            move = trial - W
            bound = value + np.vdot(slope, move) + np.vdot(move, move) / (2 * step)
            if value_trial <= bound + 1e-15:
                break
            step /= 2
        W, z, value = trial, z_trial, value_trial
    return W, value + weight * np.linalg.svd(W, compute_uv=False).sum()

"""RegFeaL as printed in the paper's Section 3, with its corrections and nothing else.

Sampled indices, dense products over all columns, a dictionary for M_f: what the grid costs if the
paper is followed literally. Only for the comparison of costs.
"""

from __future__ import annotations

import numpy as np

from kernlens.features.hermite_indices import (
    GeometricSequence,
    Smoothness,
    largest_gap,
    sample_indices,
)


def fit_once(X, y, rho, alpha, n_indices, n_iter, random, r=0.33):
    """Algorithm 1 for feature learning at one setting; returns the rotation and the shares."""
    n, d = X.shape
    unit = d ** ((2.0 - r) / r)
    shares, R = np.full(d, 1.0 / d), np.eye(d)
    for _ in range(n_iter):
        smoothness = Smoothness(
            shares ** ((2.0 - r) / r), 1e-8 / unit, alpha / unit, GeometricSequence(rho)
        )
        indices, weight = sample_indices(smoothness, n_indices, largest_gap(shares), random)
        H = _dense_features(X @ R, indices)
        K = (H * weight) @ H.T
        centered = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
        delta = np.linalg.solve(centered + n * np.eye(n), y - y.mean())
        M = _outer_product(indices, weight * (delta @ H), rho)
        D, U = np.linalg.eigh(M)
        shares = np.maximum(D, 1e-12 * D.max()) ** (r / 2.0)
        shares /= shares.sum()
        R = R @ U
    return R, shares


def _dense_features(Z, indices):
    degree = int(indices.max())
    table = np.ones((degree + 1, *Z.shape))
    if degree:
        table[1] = Z
    for k in range(1, degree):
        table[k + 1] = (Z * table[k] - np.sqrt(k) * table[k - 1]) / np.sqrt(k + 1)
    features = np.ones((len(Z), len(indices)))
    for a in range(Z.shape[1]):
        features *= table[:, :, a].T[:, indices[:, a]]
    return features


def _outer_product(indices, coefficients, rho):
    """M_f of (2.10): pairs of indices that differ by one step, found in a dictionary."""
    d = indices.shape[1]
    value = {tuple(row): c for row, c in zip(indices.tolist(), coefficients, strict=True)}
    M = np.zeros((d, d))
    for row, c in value.items():
        degree = sum(row)
        for a in range(d):
            if row[a] == 0:
                continue
            lowered = list(row)
            lowered[a] -= 1
            for b in range(d):
                raised = lowered.copy()
                raised[b] += 1
                other = value.get(tuple(raised))
                if other is not None:
                    M[a, b] += np.sqrt(row[a] * raised[b]) * c * other / rho**degree
    return M

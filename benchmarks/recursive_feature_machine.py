"""A plain recursive feature machine: kernel ridge and average gradient outer product in turn."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve
from scipy.spatial.distance import pdist


def fit_predict(X, y, X_test, alphas=(1e-4, 1e-3, 1e-2), n_iter=5):
    """Gaussian kernel on ``M^{1/2} x``; alpha and the iteration chosen on a fifth held out.

    Returns the predictions of `X_test` by the best iterate, fitted again on all rows.
    """
    mean, scale, center = X.mean(axis=0), X.std(axis=0), y.mean()
    X, X_test = (X - mean) / scale, (X_test - mean) / scale
    part = len(X) - len(X) // 5
    best = (np.inf, None, None)
    for alpha in alphas:
        root = np.eye(X.shape[1])
        for _ in range(n_iter):
            images = X @ root
            images /= np.median(pdist(images[:500]))
            K, a = _ridge(images[:part], y[:part] - center, alpha)
            error = np.mean((_kernel(images[part:], images[:part]) @ a + center - y[part:]) ** 2)
            best = min(best, (error, alpha, root), key=lambda entry: entry[0])
            slopes = (K * a) @ images[:part] - (K @ a)[:, None] * images[:part]
            product = root @ (slopes.T @ slopes) @ root.T
            values, vectors = np.linalg.eigh(product / np.trace(product))
            root = vectors * np.sqrt(np.maximum(values, 0.0))
    _, alpha, root = best
    images, test_images = X @ root, X_test @ root
    scale = np.median(pdist(images[:500]))
    _, a = _ridge(images / scale, y - center, alpha)
    return _kernel(test_images / scale, images / scale) @ a + center


def _kernel(U, V):
    square = np.sum(U**2, axis=1)[:, None] + np.sum(V**2, axis=1) - 2.0 * U @ V.T
    return np.exp(-0.5 * np.maximum(square, 0.0))


def _ridge(U, y, alpha):
    K = _kernel(U, U)
    return K, solve(K + alpha * len(U) * np.eye(len(U)), y, assume_a="pos")

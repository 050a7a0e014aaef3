"""Directions of a function from the average outer product of its gradients."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.floating]


def average_outer_product(gradients: FloatArray, weights: FloatArray) -> FloatArray:
    """``sum_i w_i sum_k g_ki g_ki^T / sum_i w_i``, (d, d).

    Parameters
    ----------
    gradients : ndarray of shape (n_targets, n_samples, d)
    weights : ndarray of shape (n_samples,)
    """
    scaled = gradients * np.sqrt(weights / weights.sum())[:, None]
    flat = scaled.reshape(-1, gradients.shape[2])
    product: FloatArray = flat.T @ flat
    return product


def leading_directions(product: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Eigenvectors as rows and eigenvalues, largest first, of a semi-definite matrix (d, d)."""
    values, vectors = np.linalg.eigh(product)
    return vectors[:, ::-1].T.copy(), np.maximum(values[::-1], 0.0)

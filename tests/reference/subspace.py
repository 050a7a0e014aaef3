"""Slow, obvious code for subspaces: full projectors and angles by definition."""

from __future__ import annotations

import numpy as np


def projector(basis: np.ndarray) -> np.ndarray:
    """Orthogonal projector on the span of the rows, pi = B^T (B B^T)^{-1} B."""
    return basis.T @ np.linalg.inv(basis @ basis.T) @ basis


def projection_distance(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.sqrt(np.sum((projector(a) - projector(b)) ** 2)))


def feature_learning_score(true_components: np.ndarray, components: np.ndarray) -> float:
    """Equation (16) of the BKerNN paper, its two cases written out."""
    k, n_features = true_components.shape
    if k == n_features:
        return 1.0
    squared = projection_distance(true_components, components) ** 2
    if k <= n_features / 2:
        return 1 - squared / (2 * k)
    return 1 - squared / (2 * n_features - 2 * k)


def principal_angles(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Angles from the eigenvalues cos^2 of pi_A pi_B pi_A: right for angles that are not tiny."""
    pi_a, pi_b = projector(a), projector(b)
    eigenvalues = np.sort(np.linalg.eigvalsh(pi_a @ pi_b @ pi_a))[::-1]
    return np.arccos(np.sqrt(np.clip(eigenvalues[: min(len(a), len(b))], 0, 1)))


def planted_pair(
    angles: np.ndarray, n_features: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Two orthonormal bases whose principal angles are exactly the given ones."""
    k = len(angles)
    rotation, _ = np.linalg.qr(rng.standard_normal((n_features, n_features)))
    first, second = rotation[:k], rotation[k : 2 * k]
    return first, np.cos(angles)[:, None] * first + np.sin(angles)[:, None] * second

"""Scores that compare an estimated subspace with the true one.

A subspace is given by any basis of it, one direction per row, shape (k, n_features): the
``components_`` of a fitted learner, or the ``components`` of a synthetic data set. The rows need
not be orthonormal; only their span matters.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kernlens._array import FloatArray
from kernlens._validation import check_count

__all__ = [
    "dimension_score",
    "feature_learning_score",
    "principal_angles",
    "projection_distance",
]


def projection_distance(A: ArrayLike, B: ArrayLike) -> float:
    r"""Frobenius distance between the orthogonal projectors on two subspaces.

    With :math:`\theta_i` the principal angles,

    .. math:: \|\pi_A - \pi_B\|_F^2 = |k_A - k_B| + 2 \sum_i \sin^2\theta_i .

    The projectors, (n_features, n_features), are never formed: the cost is
    O(n_features (k_A + k_B)^2), and a distance near zero keeps its relative accuracy.

    Parameters
    ----------
    A : array-like of shape (k_A, n_features)
        A basis of the first subspace, one direction per row.
    B : array-like of shape (k_B, n_features)
        A basis of the second subspace; k_B may differ from k_A.

    Returns
    -------
    float
        Between 0 (same subspace) and sqrt(k_A + k_B) (orthogonal subspaces).

    Raises
    ------
    ValueError
        If a basis is not a finite real 2-D array of full row rank, or if the numbers of columns
        differ.
    """
    return float(np.sqrt(_squared_distance(*_orthonormal_pair(A, B, names=("A", "B")))))


def principal_angles(A: ArrayLike, B: ArrayLike) -> FloatArray:
    """Principal angles between two subspaces, in radians, ascending.

    Each angle is arctan2(sine, cosine), the cosines being the singular values of Q_A Q_B^T and
    the sines those of what the projection on the larger subspace leaves of the smaller one
    (Björck and Golub, 1973). The absolute error is of the order of the rounding unit at any
    angle. ``scipy.linalg.subspace_angles`` is not used: it returns 0 for an angle of 1e-9 that
    comes together with one above pi/4.

    Parameters
    ----------
    A : array-like of shape (k_A, n_features)
        A basis of the first subspace, one direction per row.
    B : array-like of shape (k_B, n_features)
        A basis of the second subspace.

    Returns
    -------
    ndarray of shape (min(k_A, k_B),)
        Angles between 0 and pi/2.

    Raises
    ------
    ValueError
        As in :func:`projection_distance`.
    """
    basis_a, basis_b = _orthonormal_pair(A, B, names=("A", "B"))
    cosines = np.linalg.svd(basis_a @ basis_b.T, compute_uv=False)
    sines = np.linalg.svd(_residual(basis_a, basis_b), compute_uv=False)
    # Both come in descending order; the largest cosine belongs to the smallest sine.
    return np.arctan2(sines[::-1], cosines)


def feature_learning_score(true_components: ArrayLike, components: ArrayLike) -> float:
    r"""Score of an estimated feature space: 1 is perfect, 0 is orthogonal to the truth.

    Equation (16) of the BKerNN paper, with k the true dimension,

    .. math:: 1 - \frac{\|\pi_P - \pi_{\hat P}\|_F^2}{2 \min(k, n_{features} - k)},

    and 1 if k = n_features. The RegFeaL paper, section 5.1, prints the same quantity without
    "1 minus", although it says that 1 is the best value; this function is the score of both.

    Parameters
    ----------
    true_components : array-like of shape (k, n_features)
        A basis of the true subspace, one direction per row.
    components : array-like of shape (n_directions, n_features)
        The estimated directions, most important first. Only the first k rows are used. With
        fewer than k rows, the formula is applied to the projector of that smaller dimension:
        each missing direction costs 1 / (2 min(k, n_features - k)), and the score may be negative
        when k > n_features / 2.

    Returns
    -------
    float
        The score, at most 1.

    Raises
    ------
    ValueError
        As in :func:`projection_distance`; the rank is that of the rows that are used.
    """
    true_basis = _as_basis(true_components, "true_components")
    n_directions, n_features = true_basis.shape
    estimate = _as_basis(components, "components")[:n_directions]
    pair = _orthonormal_pair(true_basis, estimate, names=("true_components", "components"))
    if n_directions == n_features:
        return 1.0
    return 1.0 - _squared_distance(*pair) / (2 * min(n_directions, n_features - n_directions))


def dimension_score(true_dimension: int, dimension: int, n_features: int) -> float:
    r"""Score of an estimated number of directions: 1 is exact, 0 is as wrong as can be.

    .. math:: 1 - \frac{|\hat s - s|}{\max(s, n_{features} - s)}

    The denominator is the largest possible error. This is the dimension score of the numerical
    study of the RegFeaL paper (section 5, Experiment 1), which the text uses without printing it.

    Parameters
    ----------
    true_dimension : int
        The true number of directions s, between 1 and n_features.
    dimension : int
        The estimated number of directions, between 0 and n_features.
    n_features : int
        Number of features of the data.

    Returns
    -------
    float
        Between 0 and 1.

    Raises
    ------
    ValueError
        If a dimension is not an integer in its range.
    """
    check_count("n_features", n_features)
    most = ("n_features", int(n_features))
    check_count("true_dimension", true_dimension, most=most)
    check_count("dimension", dimension, least=0, most=most)
    # Plain integers, because NumPy's without a sign have no negative differences.
    n_features, true_dimension, dimension = int(n_features), int(true_dimension), int(dimension)
    worst_error = max(true_dimension, n_features - true_dimension)
    return 1.0 - abs(dimension - true_dimension) / worst_error


def _squared_distance(basis_a: FloatArray, basis_b: FloatArray) -> float:
    excess = abs(basis_a.shape[0] - basis_b.shape[0])
    return float(excess + 2.0 * np.sum(_residual(basis_a, basis_b) ** 2))


def _residual(basis_a: FloatArray, basis_b: FloatArray) -> FloatArray:
    """What the projection on the larger subspace leaves of the smaller one, rows = directions."""
    if basis_a.shape[0] < basis_b.shape[0]:
        basis_a, basis_b = basis_b, basis_a
    return basis_b - (basis_b @ basis_a.T) @ basis_a


def _orthonormal_pair(
    A: ArrayLike, B: ArrayLike, names: tuple[str, str]
) -> tuple[FloatArray, FloatArray]:
    basis_a, basis_b = _as_basis(A, names[0]), _as_basis(B, names[1])
    if basis_a.shape[1] != basis_b.shape[1]:
        raise ValueError(
            f"{names[0]} and {names[1]} must have the same number of columns (features), got "
            f"{basis_a.shape[1]} and {basis_b.shape[1]}: pass directions of the same space."
        )
    return _orthonormal_rows(basis_a, names[0]), _orthonormal_rows(basis_b, names[1])


def _as_basis(basis: ArrayLike, name: str) -> FloatArray:
    array = np.asarray(basis)
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(
            f"Expected {name} to have shape (k, n_features) with k >= 1, one direction per row, "
            f"got shape {array.shape}: reshape a single direction with reshape(1, -1)."
        )
    if array.dtype.kind not in "buif":
        raise ValueError(
            f"Expected {name} to hold real numbers, got dtype {array.dtype}: convert it to float."
        )
    array = array.astype(np.float64)
    if not np.isfinite(array).all():
        raise ValueError(
            f"Expected {name} to be finite, but it has NaN or infinite entries: "
            f"check that the estimator that produced it converged."
        )
    return array


def _orthonormal_rows(basis: FloatArray, name: str) -> FloatArray:
    # Each row is scaled on its own, by its largest entry first: the span does not change, huge or
    # tiny rows neither overflow nor underflow, and they do not make the rank test fail.
    largest = np.abs(basis).max(axis=1, keepdims=True)
    scaled = basis / np.where(largest > 0, largest, 1.0)
    norms = np.linalg.norm(scaled, axis=1, keepdims=True)
    scaled = scaled / np.where(norms > 0, norms, 1.0)
    _, singular_values, right = np.linalg.svd(scaled, full_matrices=False)
    threshold = max(basis.shape) * np.finfo(np.float64).eps * max(singular_values[0], 1.0)
    rank = int(np.sum(singular_values > threshold))
    if rank < basis.shape[0]:
        raise ValueError(
            f"Expected the rows of {name} to be linearly independent, but its {basis.shape[0]} "
            f"rows have rank {rank}: remove the zero or redundant rows."
        )
    return right

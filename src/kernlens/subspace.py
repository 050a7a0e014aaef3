"""Directions of a function: found from gradients, counted, signed, and maps cut down to them."""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr
from scipy.linalg.lapack import dpstrf

from kernlens._array import FloatArray

#: A direction with this share of the importance is kept however few columns there are.
LARGEST_SHARE_ASKED = 0.1
#: Columns from which on a matrix of low rank, of few rows, is told from others: all eigenvectors of
#: ten thousand columns take minutes, and those of a root seconds.
WIDE = 500
#: A rank of at most this share of the columns is low.
NARROW = 0.25
#: A correlation of at most this is rounding.
FLAT = 1e-10


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
    if len(product) >= WIDE:
        root = _narrow_root(product)
        if root is not None:
            return _directions_of_root(root)
    values, vectors = np.linalg.eigh(product)
    return vectors[:, ::-1].T.copy(), np.maximum(values[::-1], 0.0)


def _narrow_root(product: FloatArray) -> FloatArray | None:
    """A root (d, r) of a semi-definite matrix of rank r, by Cholesky's method with pivots.

    None if the rank is no small part of d.
    """
    factor, pivots, rank, _ = dpstrf(product, lower=1)
    if rank > len(product) * NARROW:
        return None
    root = np.empty((len(product), rank))
    root[pivots - 1] = np.tril(factor[:, :rank])
    return root


def _directions_of_root(root: FloatArray) -> tuple[FloatArray, FloatArray]:
    """As of ``root @ root.T``; what is orthogonal to the root follows in any order."""
    n_columns, rank = root.shape
    values = np.zeros(n_columns)
    if rank == 0:
        return np.eye(n_columns), values
    vectors, sizes, _ = np.linalg.svd(root, full_matrices=False)
    values[:rank] = np.square(sizes)
    whole = qr(vectors, mode="full", check_finite=False)[0].T.copy()
    whole[:rank] = vectors.T
    return whole, values


def estimate_n_directions(
    importances: FloatArray, n_features: int, largest_share: float = LARGEST_SHARE_ASKED
) -> int:
    """Number of leading directions with at least an even share of the importance, at least 1.

    The share asked for is ``1 / n_features``, the rule that RegFeaL uses for its own importances,
    but never more than `largest_share`: with few columns a true direction may have less than an
    even share.

    Parameters
    ----------
    importances : ndarray of shape (r,)
        Non-negative, decreasing.
    n_features : int
        Number of columns.
    largest_share : float
        What is asked for at most.
    """
    if len(importances) == 0 or importances[0] == 0.0:
        return min(1, len(importances))
    asked = min(largest_share, 1.0 / n_features)
    return max(1, int(np.sum(shares_of(importances) >= asked)))


def rising_signs(directions: FloatArray, inputs: FloatArray, values: FloatArray) -> FloatArray:
    """Signs that make a function rise along directions, on average over rows, (r,).

    A function rises along a direction if its values have a positive covariance with the coordinate.
    Of several functions the one with the largest covariance counts; where there is none, the entry
    of largest size of the direction becomes positive.

    Parameters
    ----------
    directions : ndarray of shape (r, d)
    inputs : ndarray of shape (n_rows, d)
    values : ndarray of shape (n_functions, n_rows)
        The functions at these rows.
    """
    coordinates = inputs @ directions.T
    centered = coordinates - coordinates.mean(axis=0)
    spread = np.sqrt(np.sum(np.square(centered), axis=0))
    deviations = values - values.mean(axis=1, keepdims=True)
    size = np.sqrt(np.sum(np.square(deviations)))
    covariances = (deviations @ centered).T
    largest = np.abs(covariances).argmax(axis=1)
    chosen = covariances[np.arange(len(directions)), largest]
    flat = np.abs(chosen) <= FLAT * spread * size
    return np.where(flat, row_signs(directions), np.sign(chosen))


def row_signs(rows: FloatArray) -> FloatArray:
    """Signs of the entries of largest size of the rows (r, n), 1 for rows of zeros, (r,)."""
    largest = np.argmax(np.abs(rows), axis=1)
    signs = np.sign(rows[np.arange(len(rows)), largest])
    return np.where(signs == 0.0, 1.0, signs)


def shares_of(values: FloatArray) -> FloatArray:
    """Non-negative values divided by their sum; even shares if all are zero."""
    total = values.sum()
    return values / total if total > 0.0 else np.full(len(values), 1.0 / max(1, len(values)))


def truncated(B: FloatArray, n_components: int) -> FloatArray:
    """The nearest map with `n_components` rows up to a rotation of its image, (n_components, d)."""
    _, values, right = np.linalg.svd(B, full_matrices=False)
    kept: FloatArray = values[:n_components, None] * right[:n_components]
    return kept


def reduce_map(B: FloatArray, directions: FloatArray) -> FloatArray:
    """The map restricted to orthonormal `directions` (r, n_features), with r rows, up to rotation.

    ``|reduce_map(B, Q) x| = |B Q^T Q x|``.
    """
    restricted = B @ directions.T
    return np.linalg.qr(restricted, mode="r") @ directions


def directions_of_map(B: FloatArray, product: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Root mean square slopes of a function of ``B x`` along its principal directions.

    Parameters
    ----------
    B : ndarray of shape (n_components, n_features)
    product : ndarray of shape (n_components, n_components)
        Average outer product of gradients in the coordinates of ``B x``.

    Returns
    -------
    slopes : ndarray of shape (n_components,)
        Square roots of the leading eigenvalues of ``B^T product B``, decreasing.
    directions : ndarray of shape (n_components, n_features)
        Its eigenvectors, orthonormal rows.
    """
    # The eigenvectors lie in the row space of B: an orthonormal basis of it makes this a small
    # problem.
    basis, R = np.linalg.qr(B.T)
    # Products of large maps and gradients overflow: both are brought to size 1 by powers of two,
    # and the gradients by an even one, which leaves every digit as it is.
    of_map, of_product = _exponent(R), _exponent(product) // 2
    R, product = np.ldexp(R, -of_map), np.ldexp(product, -2 * of_product)
    values, vectors = np.linalg.eigh(R @ product @ R.T)
    slopes = np.ldexp(np.sqrt(np.maximum(values[::-1], 0.0)), of_map + of_product)
    return slopes, (basis @ vectors[:, ::-1]).T


def _exponent(values: FloatArray) -> int:
    """The power of two next to the largest entry."""
    return int(np.frexp(np.abs(values).max(initial=0.0))[1])

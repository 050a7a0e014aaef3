"""Inputs whose covariance is the identity, up to shrinkage, and directions found among them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernlens._array import FloatArray

#: Directions of a smaller share of the largest variance are rounding: standardised values have
#: eight digits.
SMALLEST_VARIANCE = 1e-10
#: With as many rows per column the sample covariance is taken as it is.
ROWS_PER_COLUMN = 5.0


@dataclass(frozen=True)
class Whitening:
    """A linear map of the inputs that makes their regularised covariance the identity.

    With S the weighted covariance, the regularised one is ``(1 - shrinkage) S + shrinkage I``. The
    map keeps to the span of the rows: what does not vary says nothing about a target.

    Attributes
    ----------
    mean : ndarray of shape (n_inputs,)
    basis : ndarray of shape (n_inputs, rank)
        ``(x - mean) @ basis`` are the whitened inputs.
    shrinkage : float
        From 0 to 1.
    """

    mean: FloatArray
    basis: FloatArray
    shrinkage: float

    @classmethod
    def of(cls, inputs: FloatArray, weights: FloatArray, shrinkage: float | str) -> Whitening:
        """Measure inputs (n_rows, n_inputs) with weights (n_rows,).

        Cost O(n d min(n, d)); memory O(d min(n, d)).

        Parameters
        ----------
        inputs : ndarray of shape (n_rows, n_inputs)
        weights : ndarray of shape (n_rows,)
            Positive; their sum is the effective number of rows.
        shrinkage : float or "auto"
            ``"auto"`` is 0 with at least five rows per input, else :func:`ledoit_wolf_shrinkage`.
        """
        shares = weights / weights.sum()
        mean = shares @ inputs
        scaled = np.sqrt(shares)[:, None] * (inputs - mean)
        share = whitening_share(inputs, weights, shrinkage, float(weights.sum()))
        return cls._along(mean, *_principal_axes(scaled), share)

    @classmethod
    def of_covariance(cls, mean: FloatArray, covariance: FloatArray, share: float) -> Whitening:
        """From a mean (n_inputs,) and a covariance (n_inputs, n_inputs), with this shrinkage."""
        values, vectors = np.linalg.eigh(covariance)
        return cls._along(mean, np.maximum(values[::-1], 0.0), vectors[:, ::-1], share)

    @classmethod
    def _along(
        cls, mean: FloatArray, variances: FloatArray, vectors: FloatArray, share: float
    ) -> Whitening:
        """Along principal axes."""
        kept = variances > SMALLEST_VARIANCE * variances.max(initial=0.0)
        variances, vectors = variances[kept], vectors[:, kept]
        regularized = (1.0 - share) * variances + share
        return cls(mean, vectors / np.sqrt(regularized), share)

    @property
    def rank(self) -> int:
        """Number of whitened inputs."""
        return self.basis.shape[1]

    def apply(self, inputs: FloatArray) -> FloatArray:
        """Whitened inputs (n_rows, rank)."""
        whitened: FloatArray = (inputs - self.mean) @ self.basis
        return whitened

    def directions(self, vectors: FloatArray) -> FloatArray:
        """Orthonormal directions (k, n_inputs) of columns (rank, k) among the whitened inputs.

        The first of them span what the first columns span, whatever their number.
        """
        orthonormal, triangle = np.linalg.qr(self.basis @ vectors)
        signs = np.where(np.diag(triangle) < 0.0, -1.0, 1.0)
        return np.ascontiguousarray((orthonormal * signs).T)


def whitening_share(
    inputs: FloatArray, weights: FloatArray, shrinkage: float | str, n_rows: float
) -> float:
    """The shrinkage that is asked for, or that rows (n_rows, n_inputs), or a sample, ask for.

    `n_rows` is the effective number of all rows.
    """
    if not isinstance(shrinkage, str):
        return float(shrinkage)
    if n_rows >= ROWS_PER_COLUMN * inputs.shape[1]:
        return 0.0
    shares = weights / weights.sum()
    return ledoit_wolf_shrinkage(inputs - shares @ inputs, shares)


def ledoit_wolf_shrinkage(centered: FloatArray, shares: FloatArray) -> float:
    r"""How much of the covariance is replaced by a multiple of the identity.

    .. math:: \rho = \min(1, \beta^2 / \delta^2), \quad
        \beta^2 = \sum_i p_i^2 \|z_i z_i^\top - S\|_F^2, \quad \delta^2 = \|S - \mu I\|_F^2

    with :math:`S = \sum_i p_i z_i z_i^\top` and :math:`\mu = \mathrm{tr}(S) / d`, which is 1 for
    standardised columns (Ledoit and Wolf, 2004, "A well-conditioned estimator for large-dimensional
    covariance matrices", with shares of rows in place of 1 / n).

    Parameters
    ----------
    centered : ndarray of shape (n_rows, n_inputs)
    shares : ndarray of shape (n_rows,)
        Non-negative, sum to 1.
    """
    n, d = centered.shape
    scaled = np.sqrt(shares)[:, None] * centered
    # The smaller of both products has the same sum of squares and the same trace.
    product = scaled.T @ scaled if d <= n else scaled @ scaled.T
    square_of_S, trace = float(np.sum(np.square(product))), float(np.trace(product))
    delta = square_of_S - trace**2 / d
    squared = np.sum(np.square(centered), axis=1)
    # z_i S z_i of every row.
    mixed = (
        np.sum((centered @ product) * centered, axis=1)
        if d <= n
        else np.sum(np.square(centered @ scaled.T), axis=1)
    )
    beta = float(np.square(shares) @ (np.square(squared) - 2.0 * mixed + square_of_S))
    return 1.0 if delta <= beta else max(0.0, beta / delta)


def principal_axes(centered: FloatArray) -> FloatArray:
    """Orthonormal rows (rank, d) that span centred rows (n, d)."""
    variances, vectors = _principal_axes(centered)
    kept = variances > SMALLEST_VARIANCE * variances.max(initial=0.0)
    # Rows that do not vary have one axis all the same, so that there is something to look at.
    kept[0] = True
    return np.ascontiguousarray(vectors[:, kept].T)


def _principal_axes(scaled: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues (k,), largest first, and eigenvectors (d, k) of ``scaled.T @ scaled``."""
    if scaled.shape[0] < scaled.shape[1]:
        _, values, right = np.linalg.svd(scaled, full_matrices=False)
        return np.square(values), right.T
    values, vectors = np.linalg.eigh(scaled.T @ scaled)
    return np.maximum(values[::-1], 0.0), vectors[:, ::-1]

"""Slow, obvious code for sufficient dimension reduction: rows are repeated, pairs are enumerated.

All functions take rows without weights; a test repeats rows where it has weights.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import sqrtm


def standardized(X):
    """Columns with mean 0 and variance 1, divisor n."""
    return (X - X.mean(axis=0)) / X.std(axis=0)


def whitened(X, shrinkage=0.0):
    """Rows times the inverse root of the covariance with a share of the identity, and the root."""
    Z = standardized(X)
    S = (1.0 - shrinkage) * (Z.T @ Z) / len(Z) + shrinkage * np.eye(Z.shape[1])
    root = np.linalg.inv(np.real(sqrtm(S)))
    return Z @ root, root


def slices_of(y, n_slices):
    """Masks of slices of equally many rows, by the ranks of distinct targets."""
    ranks = np.argsort(np.argsort(y, kind="stable"), kind="stable")
    numbers = np.floor((ranks + 0.5) / len(y) * n_slices + 1e-9).astype(int)
    return [numbers == s for s in range(n_slices)]


def sir_matrix(Z, masks):
    """Li (1991): covariance of the means of slices."""
    total = np.zeros((Z.shape[1],) * 2)
    for mask in masks:
        mean = Z[mask].mean(axis=0)
        total += mask.mean() * np.outer(mean, mean)
    return total


def save_matrix(Z, masks):
    """Cook and Weisberg (1991): mean square of I minus the covariances of slices."""
    overall = np.cov(Z.T, bias=True)
    total = np.zeros((Z.shape[1],) * 2)
    for mask in masks:
        difference = overall - np.cov(Z[mask].T, bias=True)
        total += mask.mean() * difference @ difference
    return total


def directional_matrix(Z, masks):
    """Li and Wang (2007), by its definition: over pairs of slices and all pairs of their rows."""
    overall = np.cov(Z.T, bias=True)
    total = np.zeros((Z.shape[1],) * 2)
    for one in masks:
        for other in masks:
            pairs = Z[one][:, None] - Z[other][None]
            moment = np.einsum("ija,ijb->ab", pairs, pairs) / (one.sum() * other.sum())
            difference = 2.0 * overall - moment
            total += one.mean() * other.mean() * difference @ difference
    return total


def hessian(Z, y, residual):
    """Li (1992), Cook (1998): mean of r z z^T, with r the standardised target or its residual."""
    r = (y - y.mean()) / y.std()
    if residual:
        design = np.column_stack([np.ones(len(Z)), Z])
        r = r - design @ np.linalg.lstsq(design, r, rcond=None)[0]
    total = np.zeros((Z.shape[1],) * 2)
    for number, z in zip(r, Z, strict=True):
        total += number * np.outer(z, z) / len(Z)
    return total, r


def bayes_criterion(eigenvalues, n, k):
    """Zhu, Miao and Peng (2006) for k directions, with log(n) / 4 for every parameter.

    The first part is the log-likelihood of a normal sample with covariance eigenvalues 1 + l, under
    the hypothesis that those after the first k are 1, beside that of no hypothesis.
    """
    d = len(eigenvalues)
    free = [1.0 + value for value in eigenvalues]
    tied = [*free[:k], *[1.0] * (d - k)]
    fits = [
        sum(
            -0.5 * n * (np.log(assumed) + seen / assumed)
            for seen, assumed in zip(free, of, strict=True)
        )
        for of in (tied, free)
    ]
    n_parameters = sum(d - place for place in range(k))
    return fits[0] - fits[1] - np.log(n) / 4.0 * n_parameters


def leading_span(matrix, root, k):
    """Basis (k, d) of the directions, for standardised columns, of the largest eigenvalues."""
    values, vectors = np.linalg.eigh(matrix)
    order = np.argsort(-np.abs(values))[:k]
    return (root @ vectors[:, order]).T


def ledoit_wolf(X):
    """Ledoit and Wolf (2004), row by row."""
    Z = standardized(X)
    n, d = Z.shape
    S = Z.T @ Z / n
    delta = np.sum((S - np.trace(S) / d * np.eye(d)) ** 2)
    beta = sum(np.sum((np.outer(z, z) - S) ** 2) for z in Z) / n**2
    return min(beta, delta) / delta


def kernel_weights(coordinates, weights, width, anchor):
    """Normalised weights of all rows at one anchor."""
    p = np.array(
        [np.exp(-np.sum((u - coordinates[anchor]) ** 2) / (2 * width**2)) for u in coordinates]
    )
    return p * weights / np.sum(p * weights)


def local_line(X, y, p, anchor, ridge=0.0):
    """Level and slopes of the line at an anchor; the ridge is a share of the mean variance."""
    differences = X - X[anchor]
    centered = differences - p @ differences
    variances = (centered.T * p) @ centered
    added = ridge * np.trace(variances) / X.shape[1]
    slopes = np.linalg.solve(variances + added * np.eye(X.shape[1]), (centered.T * p) @ (y - p @ y))
    return p @ y - slopes @ (p @ differences), slopes


def mave_basis(X, y, all_p, levels, slopes, importance, basis=None, ridge=0.0):
    """Least squares for all entries of B at once: one equation per pair of a row and an anchor.

    A ridge is one more equation per entry: that it is zero, with the share `ridge` of the mean
    square of the columns, at most that of the equations along the directions of `basis`.
    """
    k, d = slopes.shape[1], X.shape[1]
    design, right = [], []
    for j, (p, a, slope, w) in enumerate(zip(all_p, levels, slopes, importance, strict=True)):
        for i in range(len(X)):
            root = np.sqrt(w * p[i])
            design.append(root * np.outer(slope, X[i] - X[j]).ravel())
            right.append(root * (y[i] - a))
    design = np.array(design)
    if ridge > 0.0:
        alone = [np.where(np.arange(k)[:, None] == one, basis, 0.0).ravel() for one in range(k)]
        along = np.mean([np.sum((design @ vector) ** 2) for vector in alone])
        added = min(ridge * np.mean(np.sum(design**2, axis=0)), along)
        design = np.vstack([design, np.sqrt(added) * np.eye(k * d)])
        right += [0.0] * (k * d)
    return np.linalg.lstsq(design, np.array(right), rcond=None)[0].reshape(k, d)

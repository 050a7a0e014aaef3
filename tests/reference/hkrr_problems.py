"""Small HKRR problems for the tests, with the objects of the package."""

from __future__ import annotations

import dataclasses

import numpy as np

from kernlens._rows import CanonicalRows, canonical_rows
from kernlens.fits.held_out import Split
from kernlens.fits.nystrom_fit import NystromFitter
from kernlens.kernels.radial import make_radial_kernel
from kernlens.methods.hkrr.objective import HyperKernelObjective
from reference.bkernn_problems import LOSSES


def objective_of(case, kernel="gaussian", intercept=True, penalty_strength=0.0):
    """The package's objective of a problem of `reference.hkrr`."""
    fitter = NystromFitter(
        LOSSES[case.loss], case.y, case.weights, case.alpha, intercept, case.jitter
    )
    return HyperKernelObjective(
        case.X, case.Z, make_radial_kernel(kernel), fitter, penalty_strength
    )


def planted_map(k, d, seed=0):
    """Orthonormal rows."""
    rng = np.random.default_rng(seed)
    return np.linalg.qr(rng.standard_normal((d, k)))[0].T


def planted_rows(loss="squared", *, n=120, d=4, k=1, noise=0.0, seed=0) -> CanonicalRows:
    """Rows whose targets depend on ``planted_map(k, d, seed)`` alone."""
    rng = np.random.default_rng(seed + 100)
    X = rng.standard_normal((n, d))
    U = X @ planted_map(k, d, seed).T
    signal = np.sin(2 * U).sum(axis=1) + noise * rng.standard_normal(n)
    if loss == "logistic":
        y = (signal > 0).astype(float)[None]
    elif loss == "multinomial":
        y = np.eye(3)[np.digitize(signal, [-0.5, 0.5])].T
    else:
        y = signal[None]
    return canonical_rows(X, y, np.ones(n))


def planted_problem(loss="squared", *, alpha=0.01, jitter=0.3, n_centers=8, k=1, noise=0.1):
    """An objective on planted rows and a start near the truth.

    The jitter bounds the coefficients, and so the curvature in B at fixed coefficients, which
    decides how long the gradient steps of Algorithms 3 and 4 can be.
    """
    rows = planted_rows(loss, n=60, k=k, noise=noise)
    objective = HyperKernelObjective.of(
        rows, rows.X[:n_centers], make_radial_kernel("gaussian"), LOSSES[loss], alpha
    )
    fitter = dataclasses.replace(objective.fitter, jitter=jitter)
    objective = dataclasses.replace(objective, fitter=fitter)
    return objective, objective.at(near_truth(k))


def near_truth(k, d=4, size=0.15):
    """The map of `planted_rows` with an error in every entry."""
    rng = np.random.default_rng(7)
    return planted_map(k, d) + size * rng.standard_normal((k, d))


def splits_of(rows, n_folds=2, n_centers=12):
    """Folds of rows, the first rows of every training part as centres."""
    splits = []
    for train, test in rows.folds(n_folds):
        part = rows.take(train)
        splits.append(Split(part, rows.take(test), part.X[:n_centers]))
    return splits


def subspace_gap(B, planted):
    """Sine of the largest angle between the planted rows and the leading row space of B."""
    rows = np.linalg.svd(B, full_matrices=False)[2][: len(planted)]
    basis = np.linalg.qr(planted.T)[0]
    return float(np.linalg.norm(basis.T - basis.T @ rows.T @ rows, 2))


def never_increases(history):
    return bool(np.all(np.diff(history) <= 0.0))

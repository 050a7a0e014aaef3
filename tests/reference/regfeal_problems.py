"""Small RegFeaL problems for the tests, with the objects of the package."""

from __future__ import annotations

import numpy as np

from kernlens._rows import CanonicalRows
from kernlens.features.hermite_indices import GeometricSequence
from kernlens.kernels.hermite import FINE
from kernlens.methods.regfeal.directions import WeightedDirections
from kernlens.methods.regfeal.objective import HermiteObjective
from reference.bkernn_problems import LOSSES, targets

RHO = 0.5


def rows_of(X, y, weights=None):
    """Rows as they are, in the order given."""
    y = np.atleast_2d(np.asarray(y, dtype=float))
    weights = np.ones(len(X)) if weights is None else weights
    return CanonicalRows(X, y, weights, np.arange(len(X)))


def random_rows(loss="squared", n=25, d=3, seed=0, *, weighted=False):
    """Normal rows whose targets depend on the first two columns (on one, if there is one)."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = targets(loss, X if d > 1 else np.column_stack([X, 0 * X]), rng)
    return rows_of(X, y, rng.uniform(0.3, 2.0, n) if weighted else None)


def random_directions(d, k, r=0.8, seed=0):
    """k orthonormal directions with random shares."""
    rng = np.random.default_rng(seed)
    R = np.linalg.qr(rng.standard_normal((d, d)))[0][:, :k]
    return WeightedDirections(R, rng.dirichlet(np.ones(k)), r)


def objective_of(rows, loss="squared", **options):
    """J with penalties of ordinary size; the kernel of all polynomials is exact."""
    options = {"sequence": GeometricSequence(RHO), "lam": 0.01, "mu": 0.02} | options
    return HermiteObjective(rows, LOSSES[loss], precision=FINE, **options)

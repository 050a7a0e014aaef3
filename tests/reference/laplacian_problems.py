"""Small kernel Laplacian problems for the tests, with the objects of the package."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens.kernels.derivatives import DIFFERENTIABLE_KERNELS, make_derivatives
from kernlens.kernels.dot_product import PolynomialKernel
from kernlens.kernels.radial import RationalQuadraticKernel
from kernlens.methods.kernel_laplacian.local_frames import LocalFrames
from kernlens.methods.kernel_laplacian.plan import LabeledPoints, LaplacianPlan, Penalties
from kernlens.methods.kernel_laplacian.solvers.conjugate import ConjugateSolver
from kernlens.methods.kernel_laplacian.solvers.exact import ExactSolver
from kernlens.methods.kernel_laplacian.solvers.features import FeatureSolver
from reference import kernel_laplacian as oracle

N, D = 13, 3
KERNELS = {name: (name, oracle.KERNELS[name]) for name in DIFFERENTIABLE_KERNELS} | {
    "rational 0.3": (RationalQuadraticKernel(0.3), oracle.rational_quadratic(0.3)),
    "degree 1": (PolynomialKernel(1, 0.5), oracle.polynomial(1, 0.5)),
    "degree 2": (PolynomialKernel(2, 0.0), oracle.polynomial(2, 0.0)),
}
PENALTIES = Penalties(30.0, 0.01)


def data(n=N, seed=0):
    """Half of the points labeled, one of them three times; no weight like another."""
    rng = np.random.default_rng(seed)
    X = 0.8 * rng.standard_normal((n, D))
    labeled = np.array([0, 1, 2, 3, 3, 3, 4, 5, 6, 7])
    y = np.stack([np.sin(3 * X[labeled, 0]), X[labeled, 1]]) + 3.0
    y += 0.3 * rng.standard_normal(y.shape)
    return LabeledPoints(
        X, rng.uniform(0.5, 2.0, n), labeled, y, rng.uniform(0.5, 2.0, len(labeled))
    )


def make_plan(kernel="gaussian", solver="exact", **options):
    given = {
        "kernel": make_derivatives(kernel),
        "solver": solver,
        "mus": None,
        "alphas": None,
        "ratio_unit": 1.0,
        "n_neighbors": None,
        "n_components": 6,
        "fourier": "gaussian" if solver == "random_features" else None,
        "max_iter": 500,
        "tol": 1e-12,
        "seed": 0,
    }
    return LaplacianPlan(**(given | options))


def make_frames(rows, neighbors):
    return LocalFrames.of(rows.points, rows.weights, neighbors, 1)


def problem_of(rows, penalties=PENALTIES, neighbors=None):
    frames = None
    if neighbors is not None:
        frames = oracle.local_frames(rows.points, rows.weights, neighbors)
    return oracle.Problem(
        rows.points,
        rows.weights,
        rows.labeled,
        rows.y,
        rows.label_weights,
        penalties.mu,
        penalties.alpha,
        frames,
    )


def solver_of(kind, rows, neighbors=None, kernel="gaussian", **options):
    name = {ExactSolver: "exact", ConjugateSolver: "cg", FeatureSolver: "nystrom"}[kind]
    plan = make_plan(kernel, **({"solver": name} | options))
    return kind(plan, rows, make_frames(rows, neighbors), 1)


def assert_same(learned, expected, rows, tol):
    """Values and gradients at the points and beside them, constants and objectives."""
    X = np.vstack([rows.points, rows.points[:5] + 0.4])
    found = learned.function
    for one, other in (
        (found.decision(X), expected.values(X)),
        (found.gradient(X), expected.gradients(X)),
        (found.intercept, expected.intercept),
    ):
        np.testing.assert_allclose(one, other, rtol=0, atol=tol * max(1.0, np.abs(other).max()))
    assert learned.objective == pytest.approx(expected.objective, rel=tol)

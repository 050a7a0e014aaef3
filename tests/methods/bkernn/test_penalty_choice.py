"""``penalty="auto"`` and the additive model: its objective, its minimum, and what is chosen."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import RidgeCV

from families import inputs_of, targets_of
from kernlens import BKerNNClassifier, BKerNNRegressor
from kernlens.datasets import make_absolute_sum_of_sines
from kernlens.kernels.one_dimensional import make_kernel
from kernlens.linalg.projected_kernel_operator import (
    AxisKernelOperator,
    ProjectedKernelOperator,
)
from kernlens.methods.bkernn.learner import MARGIN

FAST = {"n_particles": 20, "n_directions": 2, "random_state": 0, "n_jobs": 1}


def wide(n, d, seed, n_new=1000):
    """Two columns of d matter, by a bend and a slope."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n + n_new, d))
    y = np.abs(X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.standard_normal(n + n_new)
    return X[:n], y[:n], X[n:], y[n:]


def sines(n, d, seed, n_new=1000):
    """The same bend of every column."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n + n_new, d))
    y = np.sin(2 * X).sum(axis=1)
    return X[:n], y[:n], X[n:], y[n:]


# The operator


@pytest.mark.parametrize("kernel", ["brownian", "exponential", "gaussian"])
def test_axis_operator_is_that_of_a_diagonal_of_particles(kernel):
    rng = np.random.default_rng(0)
    X, lengths = rng.standard_normal((30, 5)), np.array([1.0, -0.5, 0.0, 2.0, 0.1])
    z = rng.standard_normal((2, 30))
    z -= z.mean(axis=1, keepdims=True)
    axes = AxisKernelOperator(lengths[:, None], X, make_kernel(kernel))
    whole = ProjectedKernelOperator(np.diag(lengths), X, make_kernel(kernel))
    np.testing.assert_allclose(axes.matvec(z), whole.matvec(z), atol=1e-12)
    np.testing.assert_allclose(axes.matrix, whole.matrix, atol=1e-12)
    slopes = np.diagonal(whole.weighted_slopes(z))[:, None]
    np.testing.assert_allclose(axes.weighted_slopes(z), slopes, atol=1e-12)
    kept = lengths != 0.0
    np.testing.assert_array_equal(axes.particles(kept), whole.particles(kept))


# The minimum


def additive_objective(lengths, X, y, alpha):
    """min_a 1/(2n) |y - K a - c|^2 + (alpha/2) a'Ka + (alpha/2) sum of lengths, K dense."""
    n = len(X)
    K = sum(-0.5 * s * np.abs(x[:, None] - x[None]) for s, x in zip(lengths, X.T, strict=True))
    C = np.eye(n) - 1.0 / n
    z = np.linalg.solve(C @ K @ C + n * alpha * np.eye(n), C @ y)
    return 0.5 * alpha * (C @ y) @ z + 0.5 * alpha * lengths.sum()


def test_additive_fit_is_the_minimum_of_its_convex_objective():
    # K is linear in the lengths of the particles, so that a minimum along every length is global.
    X, y, *_ = wide(60, 4, seed=3)
    alpha = 0.02
    model = BKerNNRegressor(**FAST, penalty="additive", alpha=alpha, tol=1e-12).fit(X, y)
    rows, target = inputs_of(model, X), targets_of(model, y)[0]
    loadings = (model.particles_ * model.scale_)[:, model.inputs_]
    # d particles, of which those at zero are dropped; their mean has the weight 1/d.
    lengths = np.abs(loadings).sum(axis=0) / X.shape[1]
    assert np.all(np.count_nonzero(loadings, axis=1) == 1)
    lowest = additive_objective(lengths, rows, target, alpha)
    assert model.objective_ == pytest.approx(lowest, rel=1e-6)
    for a in range(len(lengths)):
        for change in (-0.05, 0.05):
            other = lengths.copy()
            other[a] = max(other[a] + change, 0.0)
            assert additive_objective(other, rows, target, alpha) >= lowest - 1e-7


def test_additive_fit_drops_columns():
    X, y, *_ = wide(200, 30, seed=0)
    model = BKerNNRegressor(**FAST, penalty="additive", alpha=0.02).fit(X, y)
    assert len(model.particles_) < 30
    assert set(np.argsort(model.feature_importances_)[-2:]) == {0, 1}


# The choice


@pytest.mark.parametrize("d", [60, 300])
def test_two_columns_among_many_are_found(d):
    X, y, X_new, y_new = wide(400, d, seed=7)
    model = BKerNNRegressor(**FAST).fit(X, y)
    assert model.penalty_ in ("additive", "variable")
    assert model.score(X_new, y_new) > 0.9


def test_functions_of_every_column_are_found():
    X, y, X_new, y_new = sines(300, 20, seed=5)
    model = BKerNNRegressor(**FAST).fit(X, y)
    assert model.penalty_ == "additive"
    assert model.score(X_new, y_new) > 0.9
    assert model.score(X_new, y_new) > RidgeCV().fit(X, y).score(X_new, y_new)


def test_mixtures_of_columns_are_learned_by_their_directions():
    data = make_absolute_sum_of_sines(300, 6, random_state=0)
    model = BKerNNRegressor(**FAST).fit(data.X, data.y)
    assert model.penalty_ != "additive"
    assert model.score(data.X_test, data.y_test) > 0.9


def test_classes_of_one_column_among_many_are_found():
    X, _, X_new, _ = wide(300, 100, seed=2)
    model = BKerNNClassifier(**FAST).fit(X, np.abs(X[:, 0]) > 0.7)
    assert model.score(X_new, np.abs(X_new[:, 0]) > 0.7) > 0.95


def test_search_has_every_penalty_that_was_compared():
    X, y, *_ = wide(60, 3, seed=0)
    model = BKerNNRegressor(**FAST).fit(X, y)
    tried = model.alpha_search_
    assert list(dict.fromkeys(tried["penalty"])) == ["feature", "variable", "additive"]
    assert tried["penalty"][tried["chosen"]] == model.penalty_
    # The first penalty is left for a clear gain only.
    lowest = {name: tried["loss"][tried["penalty"] == name].min() for name in tried["penalty"]}
    assert tried["loss"][tried["chosen"]] == lowest[model.penalty_]
    others = min(lowest["variable"], lowest["additive"])
    assert (model.penalty_ == "feature") == (lowest["feature"] * MARGIN <= others)


@pytest.mark.parametrize("given", [{"alpha": 0.1}, {"optimizer": "plain", "max_iter": 3}])
def test_nothing_is_compared_where_settings_are_given(given):
    X, y, *_ = wide(60, 3, seed=0)
    assert BKerNNRegressor(**FAST, **given).fit(X, y).penalty_ == "feature"

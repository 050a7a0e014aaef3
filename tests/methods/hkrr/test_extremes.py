"""HKRR at the edges: bounds that are touched, parts that vanish, columns of extreme size."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from kernlens import Constraint, HKRRClassifier, HKRRRegressor
from kernlens._rows import canonical_rows
from kernlens.kernels.radial import RADIAL_KERNELS
from kernlens.losses import SquaredLoss
from kernlens.methods.hkrr.objective import HyperKernelObjective
from kernlens.methods.hkrr.varpro import varpro_lbfgs
from kernlens.optim.lbfgs import lbfgs
from kernlens.penalties.operator_ball import project_on_ball
from kernlens.subspace import directions_of_map

both = pytest.mark.parametrize("estimator", [HKRRRegressor, HKRRClassifier])
pytestmark = [
    pytest.mark.filterwarnings("error::RuntimeWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


def light(estimator, **parameters):
    """An estimator with little to do, so that many of them can be fitted."""
    given = {"alpha": 1e-2, "n_components": 2, "refit": None, "max_iter": 3, "random_state": 0}
    return estimator(**{**given, **parameters})


def sample(estimator, n=30):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 3))
    y = np.sin(X[:, 0])
    return X, (y > 0.0 if estimator is HKRRClassifier else y)


def test_the_history_never_increases_from_a_start_on_the_ball():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(15, 3)), rng.standard_cauchy(15)
    constraint = Constraint(max_norm=100.0)
    # Without the last fit, which would keep a constant: nothing predicts these targets.
    model = HKRRRegressor(constraint=constraint, alpha=1e-4, refit=None, random_state=0).fit(X, y)
    assert np.all(np.diff(model.objective_history_) <= 0.0)
    assert model.objective_ == model.objective_history_[-1]


@pytest.mark.parametrize("max_iter", [1, 20])
def test_no_map_of_the_ball_is_worse_than_a_start_on_its_edge(max_iter):
    X, y = sample(HKRRRegressor)
    objective, start = on_the_edge(X, y)
    result = varpro_lbfgs(objective, start, radius=0.5, max_iter=max_iter)
    assert result.solution.value <= start.value
    assert np.all(np.diff(result.history) <= 1e-12 * result.history[0])
    assert result.history[-1] == pytest.approx(result.solution.value, rel=1e-9)


def test_the_history_never_increases_where_newton_is_cut_short():
    # Separable labels, a tiny alpha and weights over many decades: evaluations are rough.
    rng = np.random.default_rng(3)
    for _ in range(4):
        X = rng.normal(size=(15, 6))
        weights = 10.0 ** rng.uniform(-8, 8, 15)
        model = light(HKRRClassifier, alpha=1e-15, n_components=3, centers=8, max_iter=5, tol=1e-6)
        model.fit(X, X[:, 0] > 0.0, sample_weight=weights)
        assert np.all(np.diff(model.objective_history_) <= 0.0)


def on_the_edge(X, y):
    """An objective and a point on the edge of the ball of radius 0.5, where it is lowest."""
    rows = canonical_rows(X, y[None], np.ones(len(X)))
    kernel = RADIAL_KERNELS["gaussian"]()
    objective = HyperKernelObjective.of(rows, rows.X[:10], kernel, SquaredLoss(), 1e-4)
    W = 10.0 * np.random.default_rng(1).standard_normal((2, 3))
    for _ in range(50):
        W = project_on_ball(W, 0.5)
        W = W - 0.1 * objective.gradient(objective.at(W))
    return objective, objective.at(project_on_ball(W, 0.5))


def test_a_rare_dummy_with_a_penalty_on_the_map():
    # A fold without the row that differs has constant columns.
    X = np.zeros((15, 2))
    X[13] = 1.0
    y = [1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 0, 0]
    model = HKRRClassifier(constraint=Constraint(trace_norm=0.01), random_state=0).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    assert np.isfinite(model.components_).all()


def test_a_map_that_vanishes_stays_where_it_is():
    # Of two rows one is held out, the loss is zero, and the penalty halves the map for ever.
    X = np.random.default_rng(0).integers(-5, 6, (2, 4)).astype(float)
    constraint = Constraint(trace_norm=13.0)
    for alpha in (0.188, 1e-5):
        model = light(
            HKRRRegressor, constraint=constraint, alpha=alpha, refit=30, n_components=3
        ).fit(X, [0.0, 1.0])
        assert np.isfinite(model.predict(X)).all()


def test_a_gradient_whose_square_vanishes_is_zero():
    result = lbfgs(
        lambda x: (1.5, np.full(3, 1e-123)), np.full(3, 1e-124), 1.5, max_iter=5, tol=1e-6
    )
    assert result.n_iter == 0
    np.testing.assert_array_equal(result.solution, np.full(3, 1e-124))


def test_a_gradient_whose_square_overflows_is_no_error():
    result = lbfgs(lambda x: (1.0, np.full(3, 1e305)), np.full(3, 1e10), 1e-6, max_iter=5, tol=1e-6)
    assert np.isfinite(result.solution).all()


@both
@pytest.mark.parametrize("alpha", [1e300, 2e15, 1e-16])
def test_an_alpha_beyond_all_measure_is_refused(estimator, alpha):
    with pytest.raises(ValueError, match=r"alpha must be at (most|least) 1e"):
        light(estimator, alpha=alpha).fit(*sample(estimator))


@both
def test_the_largest_alpha_leaves_a_constant(estimator):
    X, y = sample(estimator)
    model = light(estimator, alpha=1e15).fit(X, y)
    values = model.predict(X) if estimator is HKRRRegressor else model.decision_function(X)
    assert np.ptp(values) < 1e-9


@pytest.mark.parametrize("name", ["max_norm", "trace_norm"])
@pytest.mark.parametrize("value", [1e-320, 1e-16, 1e16, 1e300])
def test_a_constraint_beyond_all_measure_is_refused(name, value):
    with pytest.raises(ValueError, match=f"{name} must be at least 1e-15 and at most 1e\\+15"):
        Constraint(**{name: value})


@both
@pytest.mark.parametrize("value", [1e-15, 1e15])
@pytest.mark.parametrize("name", ["max_norm", "trace_norm"])
def test_constraints_at_their_bounds(estimator, name, value):
    X, y = sample(estimator)
    model = light(estimator, constraint=Constraint(**{name: value})).fit(X, y)
    assert np.isfinite(model.gradient(X)).all()
    assert np.all(np.diff(model.objective_history_) <= 0.0)


@both
@pytest.mark.parametrize("kernel", sorted(RADIAL_KERNELS))
@pytest.mark.parametrize("outlier", [None, 1e99])
@pytest.mark.parametrize("standardize", [True, False])
def test_far_rows_get_the_limit_of_the_function(estimator, kernel, outlier, standardize):
    X, y = sample(estimator)
    if outlier is not None:
        X[3, 1] = outlier
    model = light(estimator, kernel=kernel, standardize=standardize).fit(X, y)
    sizes = np.array([1e50, 1e100, 1e300, 1.7e308])
    far = (sizes[:, None, None] * np.array([[1.0, 1.0, 1.0], [1.0, -1.0, 1.0]])).reshape(-1, 3)
    values = model.predict(far) if estimator is HKRRRegressor else model.decision_function(far)
    assert np.isfinite(values).all()
    assert np.isfinite(model.gradient(far)).all()
    if outlier is None:
        limit = model.intercept_[0]
        if estimator is HKRRRegressor:
            limit = np.clip(limit, y.min(), y.max())
        np.testing.assert_allclose(values, limit, atol=1e-12)


@pytest.mark.parametrize("seed", range(6))
@both
def test_one_column_out_of_all_proportion(estimator, seed):
    # Without standardising, the map of a fold without the row is far too large for it.
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 3))
    y = np.sin(X[:, 0])
    X[3, 1] = 1e99
    labels = y > 0.0 if estimator is HKRRClassifier else y
    model = light(estimator, standardize=False).fit(X, labels)
    assert np.isfinite(model.predict(X).astype(float)).all()
    assert model.feature_importances_.sum() == pytest.approx(1.0)


def test_directions_of_a_map_of_any_size():
    rng = np.random.default_rng(0)
    B, G = rng.normal(size=(2, 4)), rng.normal(size=(5, 2))
    slopes, directions = directions_of_map(B, G.T @ G)
    for of_map, of_product in ((2.0**400, 2.0**900), (2.0**-400, 2.0**-900)):
        scaled, same = directions_of_map(of_map * B, of_product * (G.T @ G))
        np.testing.assert_allclose(scaled, slopes * of_map * np.sqrt(of_product), rtol=1e-12)
        np.testing.assert_allclose(same, directions, atol=1e-12)


@both
def test_rows_whose_sum_overflows_bring_no_warning(estimator):
    X, y = sample(estimator)
    model = light(estimator).fit(X, y)
    # Sums over every other entry overflow in both directions.
    rows = 1.7e308 * (-1.0) ** np.arange(48).reshape(16, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(rows)
        assert np.isfinite(model.transform(rows)).all()

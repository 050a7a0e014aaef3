"""Numbers of extreme size: a finite fit that is right, or one sentence."""

from __future__ import annotations

import numpy as np
import pytest

from families import light
from kernlens import BKerNNClassifier, BKerNNRegressor
from kernlens._rows import canonical_rows
from kernlens.kernels.one_dimensional import make_kernel
from kernlens.losses import HuberLoss, SquaredLoss
from kernlens.methods.bkernn.objective import target_scale

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")
both = pytest.mark.parametrize("estimator", [BKerNNRegressor, BKerNNClassifier])


def sample(n=40, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.abs(X[:, 0]) + 0.1 * rng.standard_normal(n)


def never_rises(model):
    return np.all(np.diff(model.objective_history_) <= 0.0)


@both
@pytest.mark.parametrize(
    ("alpha", "match"), [(1e-200, "at least 1e-120"), (1e300, r"at most 1e\+120")]
)
def test_alphas_beyond_the_documented_range_are_refused(estimator, alpha, match):
    X, y = sample()
    with pytest.raises(ValueError, match=f"alpha must be {match}, got"):
        light(estimator, alpha=alpha).fit(X, y > 1)


@both
@pytest.mark.parametrize("kernel", ["brownian", "exponential", "gaussian"])
def test_an_alpha_lost_beside_the_kernel_is_refused(estimator, kernel):
    X, y = sample()
    with pytest.raises(ValueError, match="alpha = 1e-30 vanishes beside the kernel matrix"):
        light(estimator, alpha=1e-30, kernel=kernel).fit(X, y > 1)


@pytest.mark.parametrize("size", [1e-90, 1e90])
def test_targets_of_any_size_are_fitted_alike(size):
    X, y = sample()
    ordinary = light(BKerNNRegressor, alpha="auto").fit(X, y)
    model = light(BKerNNRegressor, alpha="auto").fit(X, y * size)
    assert model.score(X, y * size) == pytest.approx(ordinary.score(X, y), abs=1e-8)
    assert never_rises(model)
    given = light(BKerNNRegressor, alpha=float(ordinary.alpha_)).fit(X, y * size)
    assert given.score(X, y * size) == pytest.approx(ordinary.score(X, y), abs=1e-6)


@pytest.mark.parametrize("size", [1e-300, 1e-170, 1.0, 1e99])
def test_the_scale_of_targets_does_not_vanish(size):
    X, y = sample()
    rows = canonical_rows(X, size * y[None], np.ones(len(y)))
    assert target_scale(SquaredLoss(), rows) == pytest.approx(size * y.std(), rel=1e-12)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e-200])
def test_the_scale_of_constant_targets_is_one(value):
    rows = canonical_rows(sample()[0], np.full((2, 40), value), np.ones(40))
    assert target_scale(SquaredLoss(), rows) == 1.0


def test_huge_first_particles_are_refused():
    X, y = sample()
    with pytest.raises(ValueError, match="init has values as large as 1e\\+200"):
        light(BKerNNRegressor, init=np.full((8, 3), 1e200)).fit(X, y)


def test_a_huge_delta_is_the_squared_loss():
    X, y = sample()
    options = {"alpha": 0.1, "max_iter": 100, "tol": 1e-8}
    squared = light(BKerNNRegressor, **options).fit(X, y)
    for delta in (1e10, 1e300):
        model = light(BKerNNRegressor, **options, loss=HuberLoss(delta)).fit(X, y)
        assert model.objective_ == pytest.approx(squared.objective_, rel=1e-5)


@pytest.mark.parametrize("delta", [1e-320, 1e-50, 1e-8])
def test_a_delta_that_bends_nowhere_is_refused(delta):
    X, y = sample()
    with pytest.raises(ValueError, match="delta of HuberLoss must be at least"):
        light(BKerNNRegressor, loss=HuberLoss(delta)).fit(X, y)


def test_a_delta_may_be_far_below_outliers():
    X, y = sample()
    y[0] = 1e12
    model = light(BKerNNRegressor, loss=HuberLoss(0.1)).fit(X, y)
    assert np.isfinite(model.predict(X)).all()


def test_the_gaussian_kernel_of_far_points_is_zero():
    kernel = make_kernel("gaussian")
    far = np.array([0.0, 1.0, 30.0, 38.5, 39.0, 1e10, -1e200])
    expected = [1.0, *np.exp([-0.5, -450.0, -0.5 * 38.5**2]), 0.0, 0.0, 0.0]
    np.testing.assert_array_equal(kernel.profile(far)[[0, 1, 2, 4, 5, 6]], np.delete(expected, 3))
    assert kernel.profile(far)[3] == pytest.approx(expected[3], rel=1e-6)


@both
@pytest.mark.parametrize("kernel", ["brownian", "exponential", "gaussian"])
def test_far_rows_get_the_limit_of_the_function(estimator, kernel):
    X, y = sample()
    model = light(estimator, alpha=0.01, kernel=kernel).fit(X, y > 1)
    evaluate = getattr(model, "decision_function", model.predict)
    rows = np.array([[1e300, -1e300, 1.7e308], [-1.7e308, 1.7e308, 1e300]])
    nearer = np.sign(rows) * 1e20
    np.testing.assert_allclose(evaluate(rows), evaluate(nearer), rtol=1e-9)
    assert np.isfinite(model.gradient(rows)).all()
    assert np.isfinite(model.transform(rows)).all()


@both
@pytest.mark.parametrize("seed", range(3))
def test_weights_over_many_digits_do_not_raise_the_objective(estimator, seed):
    X, y = sample(30, seed=seed)
    weights = 10.0 ** np.random.default_rng(seed).uniform(-10, 10, 30)
    weights[:2] = weights.max()
    labels = y > np.median(y)
    labels[:2] = [False, True]
    target = labels if estimator is BKerNNClassifier else y
    model = light(estimator).fit(X, target, sample_weight=weights)
    assert never_rises(model)
    assert model.objective_ <= model.objective_history_[-1] * (1 + 1e-6)


def test_one_class_of_nearly_no_weight_is_fitted():
    # The gradient of such a fit falls below what L-BFGS can multiply.
    X = sample(10)[0]
    weights = np.full(10, 1e-14)
    weights[0] = 1.0
    model = light(BKerNNClassifier, alpha=4e-4).fit(X, np.arange(10) > 0, sample_weight=weights)
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("outlier", [1e6, 1e12, 1e50, 1e99])
def test_the_objective_of_raw_columns_with_an_outlier_does_not_rise(outlier):
    X, y = sample(30, 1)
    X[3] = outlier
    model = light(BKerNNClassifier, alpha="auto", standardize=False, penalty="concave_feature")
    model.fit(X, y > 1)
    assert never_rises(model)
    assert model.objective_ <= model.objective_history_[-1] * (1 + 1e-6)


@both
def test_cauchy_columns_are_fitted(estimator):
    rng = np.random.default_rng(0)
    X = rng.standard_cauchy((40, 4)) ** 3
    y = rng.standard_normal(40)
    model = light(estimator).fit(X, y > 0)
    assert np.isfinite(model.predict(X)).all()


def test_a_huge_tolerance_stops_at_once():
    X, y = sample()
    model = light(BKerNNRegressor, tol=1e300).fit(X, y)
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize("optimizer", ["auto", "plain"])
@pytest.mark.parametrize("kernel", ["brownian", "exponential", "gaussian"])
def test_long_steps_do_not_overflow(optimizer, kernel):
    X, y = sample(12, 1)
    particles = np.random.default_rng(0).standard_normal((8, 1))
    model = light(BKerNNRegressor, alpha=1e90, kernel=kernel, optimizer=optimizer, init=particles)
    model.fit(X, 1e98 * y)
    assert never_rises(model)
    assert np.isfinite(model.predict(X)).all()

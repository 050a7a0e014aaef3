"""A linear part beside the kernel: where it comes in, what it adds, and what stays the same."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import is_regressor
from sklearn.linear_model import Ridge

from families import having, light
from kernlens import (
    BKerNNRegressor,
    HKRRRegressor,
    KernelLaplacianRegressor,
    RandomKitchenSinksRegressor,
    RegFeaLRegressor,
    RKHSWeightingRegressor,
)
from kernlens.fits.linear_ridge import fit_linear_ridge
from kernlens.losses import HuberLoss

REGRESSORS = [estimator for estimator in having("linear_part") if is_regressor(estimator())]
QUICK = [RKHSWeightingRegressor, RandomKitchenSinksRegressor, KernelLaplacianRegressor]


def skewed(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = np.exp(2.0 * rng.standard_normal((n + 500, 4)))
    y = X[:, 0] + 2.0 * X[:, 1]
    return X[:n], y[:n], X[n:], y[n:]


def trend(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = np.column_stack([np.arange(n + 100.0), rng.standard_normal((n + 100, 2))])
    y = 0.03 * X[:, 0] + np.sin(2 * X[:, 1]) + 0.2 * rng.standard_normal(n + 100)
    return X[:n], y[:n], X[n:], y[n:]


def test_every_regressor_has_the_argument():
    assert len(REGRESSORS) >= 6


@pytest.mark.parametrize("estimator", QUICK)
def test_linear_targets_of_skewed_columns(estimator):
    X, y, X_test, y_test = skewed()
    model = estimator(random_state=0).fit(X, y)
    assert model.score(X_test, y_test) > 0.99
    assert model.n_directions_ == 1
    expected = np.array([1.0, 2.0, 0.0, 0.0])
    np.testing.assert_allclose(model.linear_coef_, expected[None], atol=1e-3)
    direction = model.components_[0] * np.sign(model.components_[0, 0])
    np.testing.assert_allclose(direction / direction[0], expected, atol=1e-2)


@pytest.mark.parametrize("estimator", QUICK)
@pytest.mark.parametrize("seed", [3, 4])
def test_a_line_with_little_noise_is_followed_beyond_the_rows(estimator, seed):
    """Within the rows the kernel may be as good; beyond them only the line is."""
    rng = np.random.default_rng(seed)
    X, X_test = np.exp(1.5 * rng.standard_normal((2, 300, 5)))
    y = X[:, 0] + 2.0 * X[:, 1] + 0.5 * rng.standard_normal(300)
    model = estimator(random_state=0, n_directions=1).fit(X, y)
    assert model.score(X_test, X_test[:, 0] + 2.0 * X_test[:, 1]) > 0.99


@pytest.mark.parametrize("estimator", QUICK)
def test_a_trend_goes_on_beyond_the_rows(estimator):
    X, y, X_test, y_test = trend()
    model = estimator(random_state=0, n_directions=1).fit(X, y)
    # The kernel predicts rows left out better than the line, which is there beyond them only.
    assert not model.linear_coef_.any()
    assert model.score(X_test, y_test) > 0.7
    without = estimator(random_state=0, n_directions=1, linear_part=False).fit(X, y)
    assert without.score(X_test, y_test) < model.score(X_test, y_test)
    np.testing.assert_array_equal(model.predict(X), without.predict(X))


def test_no_line_where_the_kernel_predicts_and_nothing_goes_on():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 3))
    y = np.abs(X[:, 0])
    model = RKHSWeightingRegressor(random_state=0, n_directions=1).fit(X, y)
    assert model._linear is None
    far = 5.0 * rng.standard_normal((50, 3))
    without = RKHSWeightingRegressor(random_state=0, n_directions=1, linear_part=False).fit(X, y)
    np.testing.assert_array_equal(model.predict(far), without.predict(far))


@pytest.mark.parametrize("estimator", REGRESSORS)
def test_with_a_line_the_rest_is_what_the_family_learns(estimator):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 3))
    y = np.stack([np.abs(X[:, 0]) + 3 * X[:, 1], X[:, 2] - 7.0], axis=1)
    y += 0.1 * rng.standard_normal(y.shape)
    model = light(estimator, linear_part=True).fit(X, y)
    mean, scale = X.mean(axis=0), X.std(axis=0)
    units = y.mean(axis=0), y.std(axis=0)
    ridge = fit_linear_ridge((X - mean) / scale, ((y - units[0]) / units[1]).T, np.ones(60))
    slopes = ridge.slopes * units[1][:, None] / scale
    np.testing.assert_allclose(model.linear_coef_, slopes, rtol=1e-6, atol=1e-9)
    line = (X - mean) @ slopes.T
    rest = light(estimator, linear_part=False).fit(X, y - line)
    # Learners see eight digits; HKRR's descent, cut short after ten steps, magnifies the last.
    tolerance = 1e-3 if estimator is HKRRRegressor else 2e-5
    np.testing.assert_allclose(model.predict(X), rest.predict(X) + line, atol=tolerance)


@pytest.mark.parametrize("estimator", REGRESSORS)
@pytest.mark.parametrize("linear_part", [True, "auto"])
def test_gradients_are_those_of_predictions(estimator, linear_part):
    X, y, X_test, _ = trend(60)
    y = y + X[:, 0]
    model = light(estimator, linear_part=linear_part, alpha=1e-2).fit(X, y)
    assert model._linear is not None
    rows = np.vstack([X[:5] + 0.123, X_test[50:53] + 0.321, [[1e4, 0.1, -0.2]]])
    step = 1e-4 * X.std(axis=0)
    slopes = np.stack(
        [
            (model.predict(rows + shift) - model.predict(rows - shift)) / (2.0 * np.max(shift))
            for shift in np.diag(step)
        ],
        axis=1,
    )
    found = model.gradient(rows)
    np.testing.assert_allclose(found * X.std(axis=0), slopes * X.std(axis=0), atol=2e-3)
    # Beyond the reach of the line there is nothing along its column.
    if linear_part == "auto":
        assert found[-1, 0] == 0.0
        assert found[5, 0] == 0.0
        assert model.gradient(X_test[:1])[0, 0] > 0.0


@pytest.mark.parametrize("estimator", QUICK)
def test_units_order_weights_and_repetition_change_nothing(estimator):
    X, y, X_test, _ = skewed(60)
    y = y + np.abs(np.log(X[:, 2]))
    weights = np.arange(60) % 3 + 1.0
    model = estimator(random_state=0, linear_part=True).fit(X, y, sample_weight=weights)
    assert model.linear_coef_.any()
    expected = model.predict(X_test)
    factors, order = np.array([1e-5, 3.0, 1e4, 7.0]), [2, 0, 3, 1]
    other = estimator(random_state=0, linear_part=True)
    other.fit((X * factors + 5.0)[:, order], 100.0 * y - 3.0, sample_weight=7.0 * weights)
    found = (other.predict((X_test * factors + 5.0)[:, order]) + 3.0) / 100.0
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * y.std())
    again = np.repeat(np.arange(60), weights.astype(int))[::-1]
    repeated = estimator(random_state=0, linear_part=True).fit(X[again], y[again])
    np.testing.assert_array_equal(repeated.predict(X_test), expected)


def test_an_interrupted_second_fit_keeps_the_first(monkeypatch):
    X, y, X_test, _ = skewed(60)
    plain = RKHSWeightingRegressor(random_state=0, linear_part=False, n_directions=1).fit(X, y)
    model = RKHSWeightingRegressor(random_state=0, n_directions=1)
    learner = RKHSWeightingRegressor._learner
    calls = []

    def second_is_interrupted(self, data, plan, stage):
        made = learner(self, data, plan, stage)
        calls.append(made)
        if len(calls) == 2:
            monkeypatch.setattr(type(made), "learn", interrupt)
        return made

    def interrupt(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(RKHSWeightingRegressor, "_learner", second_is_interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert len(calls) == 2
    np.testing.assert_array_equal(model.predict(X_test), plain.predict(X_test))


def test_losses_gaps_and_given_bounds_have_none():
    X, y, _, _ = skewed(60)
    huber = BKerNNRegressor(loss=HuberLoss(0.1), n_particles=5, n_directions=1, random_state=0)
    assert huber.fit(X, y)._linear is None
    gaps = y.copy()
    gaps[:5] = np.nan
    assert KernelLaplacianRegressor(n_directions=1).fit(X, gaps)._linear is None
    bounded = RKHSWeightingRegressor(truncate=3.0, n_directions=1).fit(X, y)
    assert bounded._linear is None
    assert np.abs(bounded.predict(X)).max() <= 3.0
    asked = KernelLaplacianRegressor(linear_part=True, n_directions=1).fit(X, gaps)
    assert asked.linear_coef_.any()


@pytest.mark.parametrize("estimator", [HKRRRegressor, RegFeaLRegressor, RKHSWeightingRegressor])
def test_a_line_within_given_bounds_is_refused(estimator):
    X, y, _, _ = skewed(20)
    with pytest.raises(ValueError, match="linear_part=True has no bounds of predictions"):
        light(estimator, linear_part=True, truncate=1.0).fit(X, y)


def test_an_exact_line_leaves_nothing_to_learn():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 3))
    model = RKHSWeightingRegressor(linear_part=True, n_directions=1).fit(X, X @ [1.0, 2.0, -1.0])
    np.testing.assert_allclose(model.predict(3.0 * X), 3.0 * X @ [1.0, 2.0, -1.0], atol=1e-6)


def test_rows_outside_the_training_rows():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (200, 5))
    y = np.sin(2.0 * X[:, 0])
    model = RKHSWeightingRegressor(random_state=0, n_directions=1).fit(X, y)
    assert not model.extrapolating(X).any()
    np.testing.assert_allclose(
        model.feature_range_, [model.transform(X).min(axis=0), model.transform(X).max(axis=0)],
        atol=1e-6,
    )  # fmt: skip
    rows = np.zeros((3, 5))
    rows[1, 0], rows[2, 4] = 2.0, 2.0
    # What the target does not depend on may be anywhere.
    outside = model.extrapolating(rows)
    assert outside.dtype == bool
    np.testing.assert_array_equal(outside[:2], [False, True])


def test_nothing_is_extrapolated_without_a_direction():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 4))
    with pytest.warns(UserWarning, match="no direction predicts"):
        model = RKHSWeightingRegressor(random_state=0).fit(X, rng.standard_normal(100))
    assert model.feature_range_.shape == (2, 0)
    assert not model.extrapolating(100.0 * X).any()


def test_a_refit_without_gradients_has_directions_beside_a_line():
    X, y, _, _ = skewed(60)
    model = light(RegFeaLRegressor, linear_part=True, refit=Ridge(0.3)).fit(X, y)
    assert model.linear_coef_.any()
    assert abs(model.components_[0] @ [1.0, 2.0, 0.0, 0.0]) > 0.9 * np.linalg.norm(
        model.components_[0]
    ) * np.sqrt(5.0)


@pytest.mark.parametrize("estimator", REGRESSORS, ids=lambda estimator: estimator.__name__)
def test_all_directions_beside_a_line_are_of_the_columns(estimator):
    # Random features have a constant input beside the columns; it is in no direction.
    X = np.random.default_rng(0).standard_normal((40, 3))
    model = light(estimator, n_directions=100, linear_part=True)
    loadings = model.fit(X, X[:, 0] + np.sin(2.0 * X[:, 1])).loadings_
    np.testing.assert_allclose(loadings @ loadings.T, np.eye(len(loadings)), atol=1e-12)

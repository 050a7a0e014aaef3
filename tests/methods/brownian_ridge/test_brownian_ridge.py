"""Brownian kernel ridge regression against its oracle, and what must not matter."""

from __future__ import annotations

import numpy as np
import pytest

from families import inputs_of, targets_of
from kernlens import BrownianKernelRidge, regularization_path
from kernlens._invariance import leading_digits
from kernlens.losses import SquaredLoss
from kernlens.methods.brownian_ridge.kernel import brownian_kernel, slopes_of_expansion
from kernlens.methods.brownian_ridge.learner import ALPHAS
from reference import brownian_ridge

#: The kernel's function alone.
PLAIN = {"linear_part": False, "truncate": None, "n_directions": 2}


def sample(n=25, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * 3.0 + 1.0
    return X, np.abs(X[:, 0]) + np.sin(X[:, 1]) + 0.1 * rng.standard_normal(n)


def weighted(n=25, seed=1):
    return np.random.default_rng(seed).uniform(0.5, 2.0, n)


# The kernel


def test_far_from_all_centres_the_kernel_keeps_its_digits():
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((5, 3))
    ahead = rng.standard_normal((4, 3))
    ahead /= np.linalg.norm(ahead, axis=1, keepdims=True)
    # |x| - |x - z| tends to z along x as x goes away, here by 1e12 or 1e100 of its own length.
    limit = 0.5 * (np.linalg.norm(Z, axis=1) + ahead @ Z.T)
    for distance in (1e12, 1e100):
        np.testing.assert_allclose(brownian_kernel(distance * ahead, Z), limit, rtol=1e-10)
    np.testing.assert_allclose(brownian_kernel(np.zeros((2, 3)), Z), 0.0, atol=1e-15)
    np.testing.assert_array_equal(brownian_kernel(np.zeros((1, 3)), np.zeros((1, 3))), [[0.0]])


def test_the_kernel_is_the_formula():
    X, Z = sample()[0], sample(n=7, seed=2)[0]
    Z[0] = 0.0
    np.testing.assert_allclose(brownian_kernel(X, Z), brownian_ridge.kernel(X, Z), atol=1e-13)


def test_in_one_dimension_it_is_the_smaller_of_two_numbers_of_one_sign():
    x = np.array([-2.0, -0.5, 0.0, 1.0, 3.0])[:, None]
    expected = np.where(np.sign(x) == np.sign(x.T), np.minimum(np.abs(x), np.abs(x.T)), 0.0)
    np.testing.assert_allclose(brownian_kernel(x, x), expected, atol=1e-15)


def test_slopes_of_an_expansion_are_differences():
    X, Z = sample(n=6)[0], sample(n=8, seed=3)[0]
    a = np.random.default_rng(0).standard_normal((2, 8))
    found, step = slopes_of_expansion(X, Z, a), 1e-5
    for column in range(X.shape[1]):
        shift = step * np.eye(X.shape[1])[column]
        ends = (a @ brownian_kernel(X + sign * shift, Z).T for sign in (1.0, -1.0))
        above, below = ends
        np.testing.assert_allclose(found[:, :, column], (above - below) / (2 * step), atol=1e-7)


def test_slopes_next_to_a_centre_do_not_say_where_it_was_rounded_to():
    rng = np.random.default_rng(0)
    Z, a = rng.standard_normal((20, 3)), rng.standard_normal((1, 20))
    at = slopes_of_expansion(Z, Z, a)
    rounded = Z * (1.0 + 1e-8 * rng.uniform(-1.0, 1.0, Z.shape))
    np.testing.assert_allclose(slopes_of_expansion(rounded, Z, a), at, atol=1e-6)


def test_slopes_at_a_centre_and_at_zero_are_those_of_the_others():
    Z = np.array([[1.0, 0.0], [0.0, 0.0]])
    found = slopes_of_expansion(Z, Z, np.array([[2.0, 5.0]]))
    # At (1, 0): 0.5 (7 x/|x| - 5 x/|x|) along the first axis. At 0 only the first centre pulls.
    np.testing.assert_allclose(found[0], [[1.0, 0.0], [1.0, 0.0]], atol=1e-15)


# The fit


@pytest.mark.parametrize("n_centers", ["auto", 9])
@pytest.mark.parametrize("weights", [None, weighted()])
def test_fit_and_objective_are_the_oracle_s(n_centers, weights):
    X, y = sample()
    model = BrownianKernelRidge(alpha=0.05, n_centers=n_centers, random_state=0, **PLAIN)
    model.fit(X, y, weights)
    inputs = inputs_of(model, X)
    targets = targets_of(model, y, weights)[0]
    used = np.ones(len(X)) if weights is None else weights
    a, c, value = brownian_ridge.fit(inputs, model.centers_, targets, used, 0.05)
    assert model.objective_ == pytest.approx(value, rel=1e-7)
    new = sample(n=12, seed=5)[0]
    expected = brownian_ridge.kernel(inputs_of(model, new), model.centers_) @ a + c
    found = (model.predict(new) - model._target_mean[0]) / model._target_scale[0]
    np.testing.assert_allclose(found, expected, atol=1e-4)
    assert len(model.centers_) == (25 if n_centers == "auto" else 9)


def test_coefficients_of_an_exact_fit_sum_to_zero():
    X, y = sample()
    model = BrownianKernelRidge(alpha=0.05, **PLAIN).fit(X, np.column_stack([y, -2.0 * y**2]))
    np.testing.assert_allclose(model.dual_coef_.sum(axis=1), 0.0, atol=1e-6)


def test_rows_turned_around_their_mean_have_the_same_function():
    X, y = sample()
    X -= X.mean(axis=0)
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    one, other = (
        BrownianKernelRidge(alpha=0.05, standardize=False, **PLAIN).fit(Z, y)
        for Z in (X, X @ turn.T)
    )
    np.testing.assert_allclose(other.predict(X @ turn.T), one.predict(X), atol=1e-6)
    np.testing.assert_allclose(
        np.abs(np.sum(other.loadings_ @ turn * one.loadings_, axis=1)), 1.0, atol=1e-5
    )


def test_alpha_without_end_leaves_the_mean_and_none_the_targets():
    X, y = sample()
    flat = BrownianKernelRidge(alpha=1e12, **PLAIN).fit(X, y).predict(X)
    np.testing.assert_allclose(flat, y.mean(), atol=1e-8)
    near = BrownianKernelRidge(alpha=1e-10, **PLAIN).fit(X, y).predict(X)
    np.testing.assert_allclose(near, y, atol=1e-5)


# The choice of alpha


@pytest.mark.parametrize("weights", [None, weighted()])
def test_losses_are_those_of_fits_without_each_row(weights):
    X, y = sample(n=12)
    weights = None if weights is None else weights[:12]
    given = [0.3, 0.01]
    model = BrownianKernelRidge(alpha=given, **PLAIN).fit(X, y, weights)
    inputs, targets = inputs_of(model, X), targets_of(model, y, weights)
    used = np.ones(12) if weights is None else weights
    for alpha, loss in zip(given, model.alpha_search_["loss"], strict=True):
        errors = []
        for row in range(12):
            rest = np.arange(12) != row
            # alpha times the sum of the weights is kept.
            kept = alpha * used.sum() / used[rest].sum()
            Z = inputs[rest]
            a, c, _ = brownian_ridge.fit(Z, Z, targets[0, rest], used[rest], kept)
            errors.append(brownian_ridge.kernel(inputs[[row]], Z)[0] @ a + c - targets[0, row])
        expected = 0.5 * np.average(np.square(errors), weights=used)
        assert loss == pytest.approx(expected, rel=1e-5)
    assert model.alpha_ == given[int(np.argmin(model.alpha_search_["loss"]))]


@pytest.mark.parametrize("n_centers", ["auto", 10])
def test_automatic_alphas_are_the_documented_ones(n_centers):
    X, y = sample()
    model = BrownianKernelRidge(n_centers=n_centers, random_state=0, **PLAIN).fit(X, y)
    alphas = model.alpha_search_["alpha"]
    assert len(alphas) == 17
    np.testing.assert_allclose(alphas / alphas[0], np.array(ALPHAS) / ALPHAS[0], rtol=1e-12)
    if n_centers == "auto":
        K = brownian_ridge.kernel(inputs_of(model, X), inputs_of(model, X))
        centered = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
        assert alphas[0] == pytest.approx(10.0 * np.diagonal(centered).mean(), rel=1e-10)
    assert model.alpha_ == alphas[int(np.argmin(model.alpha_search_["loss"]))]


def test_many_centers_come_near_the_exact_fit():
    X, y = sample(n=120)
    exact, some, few = (
        BrownianKernelRidge(alpha=0.02, n_centers=n, random_state=0, **PLAIN).fit(X, y).predict(X)
        for n in (120, 80, 5)
    )
    assert np.std(some - exact) < 0.1 * np.std(y)
    assert np.std(some - exact) < 0.3 * np.std(few - exact)


# What it is for


def test_planted_directions_and_a_good_prediction():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 5))
    y = np.abs(X[:, 0] + X[:, 1]) + 0.5 * X[:, 2]
    model = BrownianKernelRidge(n_directions=2).fit(X[:300], y[:300])
    assert model.score(X[300:], y[300:]) > 0.85
    found = model.loadings_
    for truth in (np.array([1.0, 1.0, 0.0, 0.0, 0.0]) / np.sqrt(2.0), np.eye(5)[2]):
        assert np.linalg.norm(found @ truth) > 0.95


def test_it_has_a_regularisation_path():
    X, y = sample(n=40)
    path = regularization_path(BrownianKernelRidge(**PLAIN), X, y, alphas=[1.0, 0.1, 1e-3], cv=3)
    assert path.scores.shape == (3, 3)
    assert path.best_alpha < 1.0


def test_left_out_predictions_are_those_of_the_search():
    X, y = sample()
    model = BrownianKernelRidge(alpha=[0.3, 0.01], **PLAIN)
    seen = []
    learn = model._learner

    def keep(data, plan, stage):
        seen.append(learn(data, plan, stage))
        return seen[-1]

    model._learner = keep
    model.fit(X, y)
    learner = seen[0]
    learned = learner._solve(None)
    left_out = learner.left_out(learned)
    loss = np.average(SquaredLoss().values(left_out.y, left_out.decision), weights=left_out.weights)
    assert loss == pytest.approx(model.alpha_search_["loss"].min(), rel=1e-12)
    assert leading_digits(left_out.y).shape == (1, 25)

"""Newton's method on explicit features: every loss against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from kernlens.fits import feature_newton
from kernlens.fits.feature_newton import FeatureNewton
from reference import bkernn
from reference.bkernn_problems import LOSSES, sample_weights, targets


def problem(loss, weighting="random", n=40, p=4):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((n, p))
    return A, targets(loss, A, rng), sample_weights(weighting, n, rng)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("weighting", ["equal", "with_zeros"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("alpha", [1.0, 0.01])
def test_minimum_is_that_of_scipy(loss, weighting, intercept, alpha):
    A, y, weights = problem(loss, weighting)
    T, p = len(y), A.shape[1]

    def value_and_gradient(theta):
        b, c = theta[: T * p].reshape(T, p), theta[T * p :]
        f = b @ A.T + intercept * c[:, None]
        mean, slope, _ = bkernn.summed_loss(loss, y, f, weights)
        parts = [(slope @ A + alpha * b).ravel(), intercept * slope.sum(axis=1)]
        return mean + 0.5 * alpha * np.sum(b**2), np.concatenate(parts)

    before = A.copy(), y.copy(), weights.copy()
    method = FeatureNewton(LOSSES[loss], y, weights, alpha, A, intercept)
    b, c, decision = method.minimize(None, 1e-10)
    value, gradient = value_and_gradient(np.concatenate([b.ravel(), c]))
    assert np.linalg.norm(gradient) < 1e-6 * (1 + np.linalg.norm(b))
    best = minimize(value_and_gradient, np.zeros(T * (p + 1)), jac=True, method="BFGS").fun
    assert value == pytest.approx(best, rel=1e-7)
    np.testing.assert_allclose(decision, b @ A.T + c[:, None], rtol=1e-10, atol=1e-12)
    if not intercept:
        np.testing.assert_allclose(c, 0, atol=1e-12)
    for array, old in zip((A, y, weights), before, strict=True):
        np.testing.assert_array_equal(array, old)


@pytest.mark.parametrize("most", [0, 10**6])
def test_a_factored_system_of_all_classes_has_the_same_minimum(most, monkeypatch):
    A, y, weights = problem("multinomial", p=6)
    plain = FeatureNewton(LOSSES["multinomial"], y, weights, 1e-4, A)
    monkeypatch.setattr(feature_newton, "MOST_FACTORED", 0)
    expected = plain.minimize(None, 1e-10)
    coupled = FeatureNewton(LOSSES["multinomial"], y, weights, 1e-4, A)
    monkeypatch.setattr(feature_newton, "MOST_FACTORED", most)
    monkeypatch.setattr(feature_newton, "THIN", np.inf)
    found = coupled.minimize(None, 1e-10)
    assert coupled.couples == (most > 0) and not plain.couples
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-7 * np.abs(other).max())


def test_the_inverse_of_a_coupled_system_is_one():
    A, y, weights = problem("multinomial", p=3)
    method = FeatureNewton(LOSSES["multinomial"], y, weights, 0.1, A)
    rng = np.random.default_rng(1)
    root, _ = method.loss.working_system(y, rng.standard_normal(y.shape), weights)
    ridge = rng.uniform(1.0, 2.0, 4)
    x = rng.standard_normal((len(y), 4))
    # What all targets share meets no curvature, and the right-hand sides have none of it.
    x -= x.mean(axis=0)
    image = root.apply(root.adjoint(x @ method.A.T)) @ method.A + ridge * x
    np.testing.assert_allclose(method.coupled_inverse(root, ridge)(image), x, rtol=1e-10)


@pytest.mark.parametrize("loss", LOSSES)
def test_start_changes_the_way_only(loss):
    A, y, weights = problem(loss)
    method = FeatureNewton(LOSSES[loss], y, weights, 0.1, A)
    b, _, decision = method.minimize(None, 1e-10)
    start = np.random.default_rng(1).standard_normal(b.shape), np.ones(len(y))
    again, _, other = method.minimize(start, 1e-10)
    np.testing.assert_allclose(again, b, rtol=0, atol=1e-6)
    if loss != "multinomial":
        np.testing.assert_allclose(other, decision, rtol=0, atol=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_strong_penalty_leaves_the_best_constant(loss):
    A, y, weights = problem(loss)
    b, c, _ = FeatureNewton(LOSSES[loss], y, weights, 1e9, A).minimize(None, 1e-10)
    assert np.abs(b).max() < 1e-7
    slopes = weights * LOSSES[loss].gradient(y, np.tile(c[:, None], len(A)))
    assert np.abs(slopes.sum(axis=1)).max() < 1e-5


@pytest.mark.parametrize("loss", LOSSES)
def test_the_violation_is_the_size_of_the_gradient_against_that_of_the_penalty(loss):
    A, y, weights = problem(loss)
    alpha = 0.3
    method = FeatureNewton(LOSSES[loss], y, weights, alpha, A)
    rng = np.random.default_rng(2)
    b, c = rng.standard_normal((len(y), A.shape[1])), rng.standard_normal(len(y))
    _, slope, _ = bkernn.summed_loss(loss, y, b @ A.T + c[:, None], weights)
    parts = [(slope @ A + alpha * b).ravel(), slope.sum(axis=1)]
    expected = np.linalg.norm(np.concatenate(parts)) / np.linalg.norm(alpha * b)
    assert method._violation(method._first((b, c))) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("loss", ["logistic", "multinomial"])
def test_separated_classes_without_a_penalty_to_speak_of_end_soon(loss, monkeypatch):
    A, y, weights = problem(loss, "equal")
    share = np.eye(3)[np.digitize(A[:, 0], [-0.5, 0.5])].T
    y = share if loss == "multinomial" else share[:1]
    steps = []
    step = FeatureNewton._newton_step
    monkeypatch.setattr(
        FeatureNewton, "_newton_step", lambda *given: steps.append(1) or step(*given)
    )
    method = FeatureNewton(LOSSES[loss], y, weights, 1e-300, A)
    *_, decision = method.minimize(None, 1e-10)
    assert len(steps) < 60
    assert np.abs(LOSSES[loss].gradient(y, decision)).max() < 1e-6

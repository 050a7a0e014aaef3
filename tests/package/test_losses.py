"""Losses: derivatives by finite differences, the Newton system, limits, the best constant."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from kernlens.losses import (
    CURVATURE_OF_SLOPE,
    HuberLoss,
    LogisticLoss,
    MultinomialLoss,
    SoftmaxRoot,
    SquaredLoss,
)
from reference import bkernn
from reference.bkernn_problems import LOSSES, WEIGHTINGS, sample_weights

NAMES = list(LOSSES)


def sample(name, n=25, scale=2.0, seed=0):
    """Targets, decision values away from the kinks of Huber's curvature, weights with zeros."""
    rng = np.random.default_rng(seed)
    n_targets = {"squared": 2, "huber": 2, "logistic": 1, "multinomial": 4}[name]
    f = scale * rng.standard_normal((n_targets, n))
    if name == "multinomial":
        y = np.eye(n_targets)[rng.integers(0, n_targets, n)].T
    elif name == "logistic":
        y = rng.integers(0, 2, (1, n)).astype(float)
    else:
        y = scale * rng.standard_normal((n_targets, n))
        f[np.abs(np.abs(y - f) - 1.0) < 1e-3] += 0.01
    return y, f, sample_weights("with_zeros", n, rng)


def curvature_blocks(root, n_targets, n):
    """Dense H = L L^T (n, T, T), through L applied to unit vectors."""
    L = np.array([root.apply(np.tile(e[:, None], n)) for e in np.eye(n_targets)])
    return np.einsum("ktn,ksn->nts", L, L)


@pytest.mark.parametrize("name", NAMES)
def test_values_and_gradients_equal_the_reference(name):
    y, f, _ = sample(name)
    rows = [bkernn.LOSS[name](y[:, i], f[:, i]) for i in range(y.shape[1])]
    np.testing.assert_allclose(LOSSES[name].values(y, f), [r[0] for r in rows], rtol=1e-13)
    slopes = np.array([r[1] for r in rows]).T
    np.testing.assert_allclose(LOSSES[name].gradient(y, f), slopes, rtol=1e-12, atol=1e-15)


#: Curvature added at most; for Huber a hundredth of that of the majorising parabola.
FLOORS = dict.fromkeys(NAMES, CURVATURE_OF_SLOPE) | {"huber": 0.01}


@pytest.mark.parametrize("name", NAMES)
def test_gradient_is_the_derivative_of_the_value(name):
    y, f, _ = sample(name)
    loss, h = LOSSES[name], 1e-5
    for t in range(len(f)):
        shift = np.zeros_like(f)
        shift[t] = h
        numerical = (loss.values(y, f + shift) - loss.values(y, f - shift)) / (2 * h)
        np.testing.assert_allclose(loss.gradient(y, f)[t], numerical, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_curvature_is_the_weighted_derivative_of_the_gradient(name):
    y, f, weights = sample(name)
    loss, h = LOSSES[name], 1e-5
    root, _ = loss.working_system(y, f, weights)
    H = curvature_blocks(root, *f.shape)
    for t in range(len(f)):
        shift = np.zeros_like(f)
        shift[t] = h
        numerical = (loss.gradient(y, f + shift) - loss.gradient(y, f - shift)) / (2 * h)
        # What is put under vanishing curvatures is all that may separate the two.
        np.testing.assert_allclose(H[:, t].T, weights * numerical, atol=2.1 * FLOORS[name])


@pytest.mark.parametrize("distance", [0.1, 5.0, 25.0])
@pytest.mark.parametrize("name", ["logistic", "multinomial"])
def test_curvature_on_the_right_side_is_exact_down_to_the_least(name, distance):
    y = np.ones((1, 1)) if name == "logistic" else np.eye(3)[:, :1]
    f = distance * y
    root, _ = LOSSES[name].working_system(y, f, np.ones(1))
    exact = bkernn.LOSS[name](y[:, 0], f[:, 0])[2]
    np.testing.assert_allclose(curvature_blocks(root, *f.shape)[0], exact, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("name", ["squared", "logistic", "multinomial"])
def test_curvature_is_exact_above_the_floor(name):
    y, f, weights = sample(name, scale=1.0)
    root, _ = LOSSES[name].working_system(y, f, weights)
    exact = np.array([bkernn.LOSS[name](y[:, i], f[:, i])[2] for i in range(f.shape[1])])
    expected = weights[:, None, None] * exact
    np.testing.assert_allclose(curvature_blocks(root, *f.shape), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_root_adjoint_sums_and_right_hand_side_agree(name, scale):
    y, f, weights = sample(name, scale=scale)
    loss = LOSSES[name]
    root, rhs = loss.working_system(y, f, weights)
    rng = np.random.default_rng(3)
    b, u = rng.standard_normal((2, *f.shape))
    assert np.vdot(root.apply(b), u) == pytest.approx(np.vdot(b, root.adjoint(u)), rel=1e-12)
    H = curvature_blocks(root, *f.shape)
    np.testing.assert_allclose(root.total(len(f)), H.sum(axis=0), rtol=1e-12, atol=1e-12)
    diagonals = np.einsum("ntt->nt", H)
    # atol: 1 - p has the rounding of p near 1.
    np.testing.assert_allclose(
        root.mean_diagonal(len(f)), diagonals.mean(axis=1), rtol=1e-12, atol=1e-15
    )
    entries = [[root.entries(t, s) for s in range(len(f))] for t in range(len(f))]
    np.testing.assert_allclose(np.moveaxis(entries, 2, 0), H, rtol=1e-12, atol=1e-15)
    # L (L^T z) = H z = H f - w * gradient, also where the curvature had to be raised to the floor:
    # the point where Newton's method stops must be the minimum of the loss itself.
    Hf = root.apply(root.adjoint(f))
    expected = Hf - weights * loss.gradient(y, f)
    np.testing.assert_allclose(root.apply(rhs), expected, rtol=0, atol=1e-12 * (1 + scale))


@pytest.mark.parametrize("name", NAMES)
def test_rows_without_weight_have_no_part(name):
    y, f, weights = sample(name)
    root, rhs = LOSSES[name].working_system(y, f, weights)
    dead = weights == 0
    assert dead.any()
    np.testing.assert_array_equal(root.apply(np.ones_like(f))[:, dead], 0.0)
    np.testing.assert_array_equal(rhs[:, dead], 0.0)
    np.testing.assert_array_equal(root.mean_diagonal(len(f))[dead], 0.0)


def test_softmax_root_squares_to_the_curvature():
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(5), size=7).T
    weights = rng.uniform(0, 2, 7)
    H = curvature_blocks(SoftmaxRoot(p, np.sqrt(weights)), 5, 7)
    expected = [w * (np.diag(q) - np.outer(q, q)) for w, q in zip(weights, p.T, strict=True)]
    np.testing.assert_allclose(H, expected, atol=1e-15)


@pytest.mark.parametrize("size", [1e2, 1e5, 1e8, 1e300])
def test_limits_far_from_the_target(size):
    one, zero = np.ones((1, 1)), np.zeros((1, 1))
    far = np.full((1, 1), size)
    logistic, huber, multinomial = LogisticLoss(), HuberLoss(0.5), MultinomialLoss()
    assert logistic.values(zero, far) == size and logistic.values(one, far) < 1e-40
    assert logistic.values(one, -far) == size and logistic.values(zero, -far) < 1e-40
    assert logistic.gradient(zero, far) == 1.0 and abs(logistic.gradient(one, far)) < 1e-40
    np.testing.assert_allclose(huber.values(zero, far), 0.5 * size - 0.125, rtol=1e-15)
    assert huber.gradient(zero, far) == 0.5 and huber.gradient(far, zero) == -0.5
    classes = np.array([[1.0], [0.0], [0.0]])
    wrong = np.array([[0.0], [size], [0.0]])
    np.testing.assert_allclose(multinomial.values(classes, wrong), size, rtol=1e-15)
    np.testing.assert_allclose(
        multinomial.gradient(classes, wrong), [[-1.0], [1.0], [0.0]], atol=1e-40
    )
    for loss, y, f in ((logistic, zero, far), (huber, zero, far), (multinomial, classes, wrong)):
        root, rhs = loss.working_system(y, f, np.ones(1))
        assert np.all(np.isfinite(rhs)) and np.all(np.isfinite(root.apply(np.ones_like(f))))
        assert np.trace(root.total(len(f))) > 0


def test_huber_joins_the_squared_and_the_absolute_loss():
    y, f, _ = sample("huber")
    wide, narrow = HuberLoss(1e6), HuberLoss(1e-9)
    np.testing.assert_allclose(wide.values(y, f), SquaredLoss().values(y, f), rtol=1e-14)
    np.testing.assert_allclose(narrow.values(y, f) / 1e-9, np.abs(y - f).sum(axis=0), rtol=1e-7)


def test_multinomial_with_two_classes_is_logistic():
    y, f, _ = sample("logistic")
    two, decision = np.vstack([1 - y, y]), np.vstack([np.zeros_like(f), f])
    np.testing.assert_allclose(
        MultinomialLoss().values(two, decision), LogisticLoss().values(y, f), rtol=1e-13
    )


@pytest.mark.parametrize("name", ["squared", "logistic", "multinomial"])
@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_best_constant_minimises_the_weighted_loss(name, weighting):
    y = sample(name, n=60)[0]
    weights = sample_weights(weighting, 60, np.random.default_rng(4))
    constant = LOSSES[name].best_constant(y, weights)
    slope = LOSSES[name].gradient(y, np.tile(constant[:, None], 60)) @ weights
    np.testing.assert_allclose(slope / weights.sum(), 0.0, atol=1e-14)


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_huber_starts_at_a_weighted_median(weighting):
    y, _, _ = sample("huber", n=61)
    weights = sample_weights(weighting, 61, np.random.default_rng(4))
    for row, constant in zip(y, HuberLoss().best_constant(y, weights), strict=True):
        assert weights[row < constant].sum() <= weights.sum() / 2
        assert weights[row > constant].sum() <= weights.sum() / 2
        absolute = minimize_scalar(lambda c, row=row: weights @ np.abs(row - c), (-1.0, 1.0))
        assert weights @ np.abs(row - constant) <= absolute.fun + 1e-12


@pytest.mark.parametrize("name", NAMES)
def test_inputs_are_left_alone(name):
    arrays = sample(name)
    kept = [a.copy() for a in arrays]
    y, f, weights = arrays
    LOSSES[name].values(y, f)
    LOSSES[name].gradient(y, f)
    LOSSES[name].working_system(y, f, weights)
    LOSSES[name].best_constant(y, weights)
    for array, copy in zip(arrays, kept, strict=True):
        np.testing.assert_array_equal(array, copy)

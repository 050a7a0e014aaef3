"""Penalties of factors: above the penalty of the product, equal when balanced, smooth."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens.penalties import PENALTIES, make_penalty
from kernlens.penalties.factored import factorization_of
from reference import penalties as oracle

NAMES = list(PENALTIES)
SHAPES = [(5, 3), (3, 5), (4, 4), (1, 3), (3, 1)]


def particles(shape, seed=0, scale=1.0):
    return scale * np.random.default_rng(seed).standard_normal(shape)


def factored(name, m, s=1.0, strength=1.0):
    return make_penalty(name, s=s, strength=strength).factored(m)


def random_factors(name, shape, seed):
    """Unbalanced factors of the right shapes that belong to no particular W."""
    rng = np.random.default_rng(seed)
    form = factored(name, shape[0])
    A, B = form.factorization.split(particles(shape, seed))
    scales = 10.0 ** rng.uniform(-1, 1, 2)
    return scales[0] * rng.standard_normal(A.shape), scales[1] * rng.standard_normal(B.shape)


def regauged(name, A, B, seed):
    """Other factors of the same product."""
    rng = np.random.default_rng(seed)
    if name.endswith("feature"):
        mixing = rng.standard_normal((A.shape[1], A.shape[1])) + 2 * np.eye(A.shape[1])
        return A @ mixing, np.linalg.solve(mixing, B)
    t = np.exp(rng.standard_normal(A.shape))
    return A * t, B / t


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", SHAPES)
def test_splitting_and_joining_gives_w_back_with_balanced_factors(name, shape):
    form = factored(name, shape[0])
    for W in (particles(shape), particles(shape, scale=1e-8), np.zeros(shape)):
        A, B = form.factorization.split(W)
        np.testing.assert_allclose(form.factorization.join(A, B), W, rtol=1e-12, atol=1e-22)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("s", [0.1, 1.0, 30.0])
def test_value_at_balanced_factors_is_the_penalty(name, shape, s):
    for scale in (1e-3, 1.0, 50.0):
        W = particles(shape, scale=scale)
        form = factored(name, shape[0], s=s, strength=1.7)
        expected = 1.7 * oracle.OMEGA[name](W, s)
        assert form.value(*form.factorization.split(W)) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("name", NAMES)
def test_value_at_balanced_factors_when_groups_are_dead(name):
    W = particles((6, 4))
    W[:, 1] = 0.0
    W[2] = 0.0
    W[:, 3] = W[:, 0]
    penalty = make_penalty(name)
    form = penalty.factored(6)
    A, B = form.factorization.split(W)
    assert form.value(A, B) == pytest.approx(penalty.value(W), rel=1e-12)
    np.testing.assert_allclose(form.factorization.join(A, B), W, atol=1e-14)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("s", [0.1, 1.0, 30.0])
def test_no_factors_are_below_the_penalty_of_their_product(name, shape, s):
    penalty = make_penalty(name, s=s)
    form = penalty.factored(shape[0])
    for seed in range(60):
        A, B = random_factors(name, shape, seed)
        W = form.factorization.join(A, B)
        assert form.value(A, B) >= penalty.value(W) * (1 - 1e-12)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", [(5, 3), (3, 5)])
def test_other_factors_of_the_same_product_cost_more(name, shape):
    penalty = make_penalty(name, s=2.0)
    form = penalty.factored(shape[0])
    W = particles(shape, seed=3)
    balanced = form.factorization.split(W)
    for seed in range(30):
        A, B = regauged(name, *balanced, seed)
        np.testing.assert_allclose(form.factorization.join(A, B), W, atol=1e-11)
        assert form.value(A, B) > penalty.value(W) * (1 + 1e-6)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", SHAPES)
def test_gradients_equal_finite_differences(name, shape):
    form = factored(name, shape[0], s=2.0, strength=0.7)
    A, B = random_factors(name, shape, seed=4)
    C = particles(shape, seed=5)

    def value(A, B):
        """The penalty plus <C, W> + |W|^2 / 2, whose gradient in W is C + W."""
        W = form.factorization.join(A, B)
        return form.value(A, B) + np.vdot(C, W) + np.vdot(W, W) / 2

    slopes = form.gradients(A, B, C + form.factorization.join(A, B))
    h = 1e-5
    for k, (factor, slope) in enumerate(zip((A, B), slopes, strict=True)):
        assert slope.shape == factor.shape
        numerical = np.empty(factor.shape)
        for index in np.ndindex(*factor.shape):
            move = np.zeros(factor.shape)
            move[index] = h
            up = value(A + move, B) if k == 0 else value(A, B + move)
            down = value(A - move, B) if k == 0 else value(A, B - move)
            numerical[index] = (up - down) / (2 * h)
        np.testing.assert_allclose(slope, numerical, atol=1e-7 * (1 + np.abs(numerical).max()))


@pytest.mark.parametrize("name", NAMES)
def test_zero_is_stationary_for_the_factors(name):
    form = factored(name, 4)
    A, B = form.factorization.split(np.zeros((4, 3)))
    for slope in form.gradients(A, B, particles((4, 3))):
        np.testing.assert_array_equal(slope, 0.0)


def test_an_unknown_grouping_is_refused():
    with pytest.raises(TypeError, match="No factorisation"):
        factorization_of(object())


@pytest.mark.parametrize("name", NAMES)
def test_inputs_are_left_alone(name):
    W, gradient = particles((5, 3)), particles((5, 3), seed=1)
    form = factored(name, 5)
    A, B = form.factorization.split(W)
    kept = [a.copy() for a in (A, B, gradient)]
    form.factorization.join(A, B)
    form.value(A, B)
    form.gradients(A, B, gradient)
    np.testing.assert_array_equal(W, particles((5, 3)))
    for array, copy in zip((A, B, gradient), kept, strict=True):
        np.testing.assert_array_equal(array, copy)

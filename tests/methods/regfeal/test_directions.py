"""WeightedDirections and their weights: the corrected Lemma 3.1, and steps between directions."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens.methods.regfeal.directions import SMALLEST_SHARE, WeightedDirections
from reference import regfeal
from reference.regfeal_problems import random_directions

POWERS = [0.2, 0.33, 0.8, 1.0, 1.5, 1.9]


def random_matrix(d, seed=0):
    """A positive definite M_f."""
    A = np.random.default_rng(seed).standard_normal((d, d))
    return A @ A.T


def logarithm(directions):
    """log of Lambda^(r/(2-r)), and of a multiple of the identity only beyond the directions."""
    return (directions.R * np.log(directions.shares)) @ directions.R.T


def without_trace(A):
    return A - np.trace(A) / len(A) * np.eye(len(A))


def assert_same(one, other, rtol=1e-10):
    """Equal up to the order and the signs of the directions, for distinct shares."""
    one, other = one.leading(len(one.shares)), other.leading(len(other.shares))
    np.testing.assert_allclose(one.shares, other.shares, rtol=rtol)
    np.testing.assert_allclose(
        np.abs(one.R.T @ other.R), np.eye(len(one.shares)), rtol=0, atol=1e3 * rtol
    )


def test_directions_start_all_alike():
    start = WeightedDirections.equal(4, 0.5)
    np.testing.assert_array_equal(start.R, np.eye(4))
    np.testing.assert_allclose(start.shares, 0.25)
    np.testing.assert_allclose(start.eta, 4.0 ** -((2 - 0.5) / 0.5))


@pytest.mark.parametrize("r", POWERS)
@pytest.mark.parametrize("rotate", [True, False])
def test_weights_satisfy_the_constraint(r, rotate):
    found = random_directions(4, 4, r).reweighted(random_matrix(4), 1e-6, rotate=rotate)
    assert np.sum(found.eta ** (r / (2 - r))) == pytest.approx(1.0, rel=1e-12)
    np.testing.assert_allclose(found.R.T @ found.R, np.eye(4), rtol=0, atol=1e-13)


@pytest.mark.parametrize("r", POWERS)
def test_weights_are_the_formulas(r):
    # (3.1): eta_a = D_a^((2-r)/2) / (sum_b D_b^(r/2))^((2-r)/r), and (3.3) with eigenvalues.
    M = random_matrix(3)
    here = random_directions(3, 3, r)
    D = np.diag(M)
    expected = D ** ((2 - r) / 2) / np.sum(D ** (r / 2)) ** ((2 - r) / r)
    found = here.reweighted(M, 0.0, rotate=False)
    np.testing.assert_allclose(found.eta, expected, rtol=1e-10)
    np.testing.assert_array_equal(found.R, here.R)
    D, U = np.linalg.eigh(M)
    expected = D ** ((2 - r) / 2) / np.sum(D ** (r / 2)) ** ((2 - r) / r)
    Lambda = (here.R @ U * expected) @ (here.R @ U).T
    found = here.reweighted(M, 0.0, rotate=True)
    np.testing.assert_allclose((found.R * found.eta) @ found.R.T, Lambda, rtol=0, atol=1e-12)


@pytest.mark.parametrize("r", POWERS)
def test_minimum_is_the_square_of_omega(r):
    u = np.random.default_rng(3).uniform(0.1, 2.0, 4)
    found = WeightedDirections.equal(4, r).reweighted(np.diag(u), 0.0, rotate=False)
    value = np.sum(u / found.eta)
    assert value == pytest.approx(np.sum(u ** (r / 2)) ** (2 / r), rel=1e-11)
    by_search, eta = regfeal.best_eta(u, r)
    assert value == pytest.approx(by_search, rel=1e-9)
    np.testing.assert_allclose(found.eta, eta, rtol=1e-4)
    # What the paper prints is another number.
    assert abs(np.sum(u ** (r / 2)) / value - 1) > 0.05


@pytest.mark.parametrize("r", POWERS)
def test_no_feasible_weights_are_better(r):
    rng = np.random.default_rng(4)
    u, smoothing = rng.uniform(0.0, 2.0, 4) ** 3, 1e-3
    best = WeightedDirections.equal(4, r).reweighted(np.diag(u), smoothing, rotate=False)
    value = np.sum((u + smoothing) / best.eta)
    for concentration in [0.3, 1.0, 10.0]:
        for shares in rng.dirichlet(np.full(4, concentration), 200):
            eta = np.maximum(shares, 1e-30) ** ((2 - r) / r)
            assert np.sum((u + smoothing) / eta) >= value * (1 - 1e-10)
    for _ in range(100):
        shares = best.shares * np.exp(1e-3 * rng.standard_normal(4))
        eta = (shares / shares.sum()) ** ((2 - r) / r)
        assert np.sum((u + smoothing) / eta) >= value * (1 - 1e-12)


@pytest.mark.parametrize("r", [0.33, 1.0, 1.5])
def test_no_rotation_with_weights_is_better(r):
    rng = np.random.default_rng(5)
    M = random_matrix(3)
    here = random_directions(3, 3, r)
    best = here.reweighted(M, 0.0, rotate=True)
    M_x = here.R @ M @ here.R.T

    def value(directions):
        return np.sum(np.diag(directions.R.T @ M_x @ directions.R) / directions.eta)

    assert value(best) == pytest.approx(np.sum(np.linalg.eigvalsh(M) ** (r / 2)) ** (2 / r))
    for seed in range(200):
        other = random_directions(3, 3, r, seed)
        assert value(other) >= value(best) * (1 - 1e-10)
        near = best.turned(1e-2 * rng.standard_normal((3, 3)))
        assert value(near) >= value(best) * (1 - 1e-10)


def test_smoothing_is_added_to_the_diagonal():
    M = random_matrix(3)
    here = random_directions(3, 3)
    for rotate in (True, False):
        smoothed = here.reweighted(M, 0.3, rotate=rotate)
        assert_same(smoothed, here.reweighted(M + 0.3 * np.eye(3), 0.0, rotate=rotate))
    flat = here.reweighted(np.diag([1.0, 0.0, 0.0]), 0.5, rotate=False)
    np.testing.assert_allclose(flat.shares, np.array([3, 1, 1]) ** 0.4 / (3**0.4 + 2), rtol=1e-12)


def test_weights_never_vanish():
    here = WeightedDirections.equal(3, 0.5)
    found = here.reweighted(np.diag([1.0, 0.0, -1e-17]), 0.0, rotate=False)
    assert found.shares.min() >= 0.9 * SMALLEST_SHARE
    assert np.all(found.eta > 0)
    assert found.shares.sum() == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize("rotate", [True, False])
def test_function_that_does_not_vary_changes_nothing(rotate):
    here = random_directions(3, 3)
    assert here.reweighted(np.zeros((3, 3)), 0.0, rotate=rotate) is here


def test_scale_of_the_function_does_not_matter():
    here = random_directions(3, 3)
    one = here.reweighted(random_matrix(3), 0.0, rotate=True)
    assert_same(one, here.reweighted(1e-200 * random_matrix(3), 0.0, rotate=True))


@pytest.mark.parametrize("k", [1, 2, 4])
def test_step_of_one_reaches_the_target(k):
    here = random_directions(4, k)
    target = here.reweighted(random_matrix(k), 0.0, rotate=True)
    assert_same(here.beyond(target, 1.0), target)
    assert_same(here.beyond(target, 0.0), here)
    same_frame = here.reweighted(random_matrix(k), 0.0, rotate=False)
    reached = here.beyond(same_frame, 1.0)
    np.testing.assert_allclose(reached.shares, same_frame.shares, rtol=1e-12)
    np.testing.assert_array_equal(reached.R, here.R)


@pytest.mark.parametrize("factor", [0.5, 2.0, 3.7])
@pytest.mark.parametrize("rotate", [True, False])
def test_steps_are_straight_in_the_logarithm(factor, rotate):
    here = random_directions(3, 3)
    target = here.reweighted(random_matrix(3), 0.0, rotate=rotate)
    reached = here.beyond(target, factor)
    expected = (1 - factor) * logarithm(here) + factor * logarithm(target)
    np.testing.assert_allclose(
        without_trace(logarithm(reached)), without_trace(expected), rtol=0, atol=1e-10
    )
    assert reached.shares.sum() == pytest.approx(1.0, abs=1e-14)
    np.testing.assert_allclose(reached.R.T @ reached.R, np.eye(3), rtol=0, atol=1e-13)
    assert reached.r == here.r


@pytest.mark.parametrize("rotate", [True, False])
def test_steps_compose(rotate):
    here = random_directions(3, 3)
    target = here.reweighted(random_matrix(3), 0.0, rotate=rotate)
    half = here.beyond(target, 0.5)
    assert_same(half.beyond(target, 0.5), here.beyond(target, 0.75))
    assert_same(half.beyond(target, 1.0), target)
    assert_same(here.beyond(half, 4.0), here.beyond(target, 2.0))


def test_turned_directions_are_orthonormal_and_follow_the_tangent():
    here = random_directions(5, 3)
    rng = np.random.default_rng(0)
    A = rng.standard_normal((5, 3))
    inner = here.R.T @ A
    tangent = A - here.R @ (0.5 * (inner + inner.T))
    far = here.turned(tangent)
    np.testing.assert_allclose(far.R.T @ far.R, np.eye(3), rtol=0, atol=1e-13)
    np.testing.assert_array_equal(far.shares, here.shares)
    step = 1e-6
    near = here.turned(step * tangent)
    # To first order the orthonormal factor moves by the tangent: no flips, no reordering.
    np.testing.assert_allclose((near.R - here.R) / step, tangent, rtol=0, atol=1e-4)
    np.testing.assert_allclose(here.turned(0 * tangent).R, here.R, rtol=0, atol=1e-14)


def test_leading_directions():
    here = WeightedDirections(np.eye(4), np.array([0.1, 0.4, 0.3, 0.2]), 0.5)
    top = here.leading(2)
    np.testing.assert_array_equal(top.R, np.eye(4)[:, [1, 2]])
    np.testing.assert_allclose(top.shares, [4 / 7, 3 / 7])
    np.testing.assert_array_equal(here.leading(10).R, np.eye(4)[:, [1, 2, 3, 0]])


@pytest.mark.parametrize(
    ("smallest", "kept"), [(0.0, [1, 2, 3, 0]), (0.15, [1, 2, 3]), (0.3, [1, 2]), (0.9, [1])]
)
def test_small_shares_are_left_out_but_for_the_largest(smallest, kept):
    here = WeightedDirections(np.eye(4), np.array([0.1, 0.4, 0.3, 0.2]), 0.5)
    left = here.without_small(smallest)
    np.testing.assert_array_equal(left.R, np.eye(4)[:, kept])
    np.testing.assert_allclose(left.shares, here.shares[kept] / here.shares[kept].sum())


@pytest.mark.parametrize(
    ("shares", "n_features", "expected"),
    [
        ([0.5, 0.4, 0.1], 3, 2),
        ([1 / 3, 1 / 3, 1 / 3], 3, 3),
        ([0.9, 0.1], 10, 2),
        ([0.9, 0.1], 9, 1),
        ([1.0], 1, 1),
    ],
)
def test_relevant_directions_have_at_least_an_even_share(shares, n_features, expected):
    k = len(shares)
    here = WeightedDirections(np.eye(n_features)[:, :k], np.array(shares), 0.5)
    assert here.relevant(n_features) == expected


@pytest.mark.parametrize("d", [1, 3, 7, 10, 49])
def test_equal_directions_are_all_relevant(d):
    assert WeightedDirections.equal(d, 0.5).relevant(d) == d
    again = WeightedDirections.equal(d, 0.5).reweighted(0.1 * np.eye(d), 1e-12, rotate=True)
    assert again.relevant(d) == d


def test_inputs_stay_as_they_are():
    here, M, tangent = random_directions(4, 3), random_matrix(3), np.ones((4, 3))
    before = [array.copy() for array in (here.R, here.shares, M, tangent)]
    here.beyond(here.reweighted(M, 0.1, rotate=True), 2.0)
    here.turned(tangent)
    here.without_small(0.2)
    for array, old in zip((here.R, here.shares, M, tangent), before, strict=True):
        np.testing.assert_array_equal(array, old)

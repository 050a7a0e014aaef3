"""Centres: leverage scores against their definition, uniform and weighted draws."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens.features import nystrom_centers
from kernlens.features.nystrom_centers import (
    distinct_rows,
    leverage_centers,
    leverage_scores,
    uniform_centers,
)
from kernlens.kernels.radial import RADIAL_KERNELS, make_radial_kernel

GAUSSIAN = make_radial_kernel("gaussian").matrix


def cloud(n=60, k=2, seed=0):
    return np.random.default_rng(seed).standard_normal((n, k))


def exact_scores(K, alpha):
    """diag(K (K + alpha n I)^-1)."""
    n = len(K)
    return np.diag(K @ np.linalg.inv(K + alpha * n * np.eye(n)))


@pytest.mark.parametrize("kernel", list(RADIAL_KERNELS))
@pytest.mark.parametrize("alpha", [1e-4, 1e-2, 1.0])
def test_scores_are_exact_if_every_row_is_in_the_pilot(kernel, alpha):
    images = cloud()
    matrix = make_radial_kernel(kernel).matrix
    order = np.random.default_rng(1).permutation(60)
    scores = leverage_scores(images, np.ones(60), images[order], matrix, alpha)
    np.testing.assert_allclose(scores, exact_scores(matrix(images, images), alpha), rtol=1e-5)


@pytest.mark.parametrize("n_pilot", [1, 5, 30, 200])
@pytest.mark.parametrize("alpha", [1e-5, 1e-3, 0.1])
def test_scores_are_shares(n_pilot, alpha):
    images = cloud(200)
    scores = leverage_scores(images, np.ones(200), images[:n_pilot], GAUSSIAN, alpha)
    assert scores.shape == (200,)
    assert np.all((scores >= 0.0) & (scores <= 1.0))
    # Rows that the pilot does not see at all have the score of a row on its own.
    alone = np.vstack([images, [[1e3, 1e3]]])
    last = leverage_scores(alone, np.ones(201), images[:n_pilot], GAUSSIAN, alpha)[-1]
    assert last == pytest.approx(min(1.0 / (201 * alpha), 1.0), rel=1e-12)


@pytest.mark.parametrize("alpha", [1e-3, 1e-2, 0.1])
def test_their_sum_approximates_the_effective_dimension(alpha):
    images = cloud(400)
    values = np.linalg.eigvalsh(GAUSSIAN(images, images))
    dimension = np.sum(values / (values + alpha * 400))
    errors = []
    for n_pilot in (20, 60, 150):
        scores = leverage_scores(images, np.ones(400), images[:n_pilot], GAUSSIAN, alpha)
        errors.append(abs(scores.sum() / dimension - 1.0))
    assert errors[-1] < 0.05
    assert errors[2] <= errors[1] <= errors[0]


@pytest.mark.parametrize("n_pilot", [10, 40])
def test_weights_are_repetitions(n_pilot):
    images = cloud(40)
    counts = np.array([1, 2, 3, 4] * 10)
    pilot = images[:n_pilot]
    weighted = leverage_scores(images, counts.astype(float), pilot, GAUSSIAN, 1e-3)
    repeat = np.repeat(np.arange(40), counts)
    repeated = leverage_scores(images[repeat], np.ones(len(repeat)), pilot, GAUSSIAN, 1e-3)
    np.testing.assert_allclose(repeated, weighted[repeat], rtol=1e-9)


def test_scores_do_not_depend_on_the_blocks_of_rows(monkeypatch):
    images = cloud(150)
    whole = leverage_scores(images, np.ones(150), images[:30], GAUSSIAN, 1e-3)
    split = nystrom_centers.split_range
    monkeypatch.setattr(nystrom_centers, "split_range", lambda n, size: split(n, 7))
    parts = leverage_scores(images, np.ones(150), images[:30], GAUSSIAN, 1e-3)
    np.testing.assert_allclose(parts, whole, rtol=1e-9)


def test_images_that_coincide_are_no_obstacle():
    images = np.repeat(cloud(10), 20, axis=0)
    scores = leverage_scores(images, np.ones(200), images, GAUSSIAN, 1e-3)
    np.testing.assert_allclose(scores, exact_scores(GAUSSIAN(images, images), 1e-3), rtol=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_a_uniform_draw_has_no_row_twice_and_longer_draws_begin_with_shorter_ones(seed):
    candidates = np.arange(0, 200, 3)
    longest = uniform_centers(candidates, 40, np.random.RandomState(seed))
    assert len(set(longest)) == 40 and set(longest) <= set(candidates)
    for n_centers in (1, 7, 39):
        shorter = uniform_centers(candidates, n_centers, np.random.RandomState(seed))
        np.testing.assert_array_equal(shorter, longest[:n_centers])


@pytest.mark.parametrize("n_centers", [67, 68, 10**6])
def test_asking_for_more_than_there_are_gives_all(n_centers):
    candidates = np.arange(0, 200, 3)
    random = np.random.RandomState(0)
    assert sorted(uniform_centers(candidates, n_centers, random)) == list(candidates)
    images = cloud(200)
    drawn = leverage_centers(images, np.ones(200), candidates, n_centers, GAUSSIAN, 1e-3, random)
    assert sorted(drawn) == list(candidates)


def test_uniform_draws_are_uniform():
    counts = np.zeros(20)
    random = np.random.RandomState(0)
    for _ in range(4000):
        counts[uniform_centers(np.arange(20), 5, random)] += 1
    # 1000 expected; the standard deviation is 27.
    assert np.all(np.abs(counts - 1000) < 135)


def crowd_with_outliers(n=300, n_far=10):
    """A tight cluster, and points far from it and from one another, first."""
    rng = np.random.default_rng(0)
    far = 50.0 * np.arange(1, n_far + 1)[:, None] * np.array([[1.0, 1.0]])
    return np.vstack([far, 0.2 * rng.standard_normal((n - n_far, 2))])


def test_leverage_draws_prefer_isolated_points():
    images = crowd_with_outliers()
    weights, candidates = np.ones(300), np.arange(300)
    far = {"leverage": 0, "uniform": 0}
    for seed in range(40):
        random = np.random.RandomState(seed)
        drawn = leverage_centers(images, weights, candidates, 20, GAUSSIAN, 1e-3, random)
        assert len(set(drawn)) == 20
        far["leverage"] += np.sum(drawn < 10)
        far["uniform"] += np.sum(uniform_centers(candidates, 20, random) < 10)
    # Of 400, uniformly 27 in the mean with standard deviation 5.
    assert far["uniform"] < 52
    assert far["leverage"] > 320


def test_first_draws_follow_the_scores():
    """One centre: its probability is its score over the sum of the scores."""
    images = np.array([[0.0], [0.01], [0.02], [5.0], [9.0]])
    scores = leverage_scores(images, np.ones(5), images, GAUSSIAN, 0.05)
    counts = np.zeros(5)
    random = np.random.RandomState(0)
    n = 2000
    for _ in range(n):
        (drawn,) = leverage_centers(images, np.ones(5), np.arange(5), 1, GAUSSIAN, 0.05, random)
        counts[drawn] += 1
    share = scores / scores.sum()
    deviation = np.sqrt(share * (1 - share) / n)
    assert np.all(np.abs(counts / n - share) < 5 * deviation)
    assert share[3] > 2 * share[0]


def test_leverage_draws_stay_among_the_candidates_and_follow_the_generator():
    images = cloud(100)
    candidates = np.arange(1, 100, 2)
    draws = [
        leverage_centers(
            images, np.ones(100), candidates, 15, GAUSSIAN, 1e-3, np.random.RandomState(4)
        )
        for _ in range(2)
    ]
    np.testing.assert_array_equal(*draws)
    assert set(draws[0]) <= set(candidates) and len(set(draws[0])) == 15


def test_distinct_rows_are_the_first_of_every_group():
    group = np.array([0, 0, 1, 2, 2, 2, 5])
    np.testing.assert_array_equal(distinct_rows(group), [0, 2, 3, 6])
    np.testing.assert_array_equal(distinct_rows(np.arange(4)), np.arange(4))


def test_inputs_are_left_alone():
    images, weights, candidates = cloud(50), np.ones(50), np.arange(50)
    kept = images.copy()
    leverage_centers(images, weights, candidates, 10, GAUSSIAN, 1e-3, np.random.RandomState(0))
    uniform_centers(candidates, 10, np.random.RandomState(0))
    np.testing.assert_array_equal(images, kept)
    np.testing.assert_array_equal(weights, 1.0)
    np.testing.assert_array_equal(candidates, np.arange(50))

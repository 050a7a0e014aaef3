"""Alignment, angles, average projections, ladle and intervals against slow, obvious code."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from kernlens.metrics import principal_angles
from kernlens.model_selection.resamples import bootstrap_counts, fold_counts, partition_sizes
from kernlens.model_selection.subspace_variation import (
    aligned_with,
    angles_to,
    average_projection,
    jackknife_interval,
    ladle,
    orthonormal_rows,
    reflected_interval,
)


def rows(k, d=5, seed=0):
    """Orthonormal rows."""
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((d, k)))[0].T


def turned(k, seed):
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((k, k)))[0]


# Orthonormal rows


def test_leading_spans_and_signs_stay():
    given = np.random.default_rng(0).standard_normal((3, 6))
    found = orthonormal_rows(given)
    np.testing.assert_allclose(found @ found.T, np.eye(3), atol=1e-14)
    for k in (1, 2, 3):
        assert principal_angles(found[:k], given[:k]).max() < 1e-14
    assert (np.sum(found * given, axis=1) > 0).all()


def test_rows_that_depend_on_others_are_left_out():
    a, b = rows(2)
    found = orthonormal_rows(np.array([a, -3.0 * a, 0.0 * a, a + b]))
    np.testing.assert_allclose(found, [a, b], atol=1e-14)
    assert orthonormal_rows(np.empty((0, 4))).shape == (0, 4)


# Alignment


@pytest.mark.parametrize("seed", range(3))
def test_no_other_rotation_comes_closer(seed):
    reference, directions = rows(2, seed=seed), rows(2, seed=seed + 10)
    distance = np.linalg.norm(aligned_with(reference, directions) - reference)
    angles = np.linspace(0.0, 2.0 * np.pi, 20_001)
    best = np.inf
    for sign in (1.0, -1.0):
        cos, sin = np.cos(angles), np.sin(angles)
        turns = np.stack([np.stack([cos, sin], -1), sign * np.stack([-sin, cos], -1)], -2)
        best = min(best, np.linalg.norm(turns @ directions - reference, axis=(1, 2)).min())
    assert distance == pytest.approx(best, rel=1e-6)


def test_a_turned_basis_is_turned_back():
    reference = rows(3)
    np.testing.assert_allclose(
        aligned_with(reference, turned(3, 1) @ reference), reference, atol=1e-14
    )


def test_alignment_of_fewer_directions_stays_in_their_span():
    reference, fewer = rows(3), rows(2, seed=4)
    found = aligned_with(reference, fewer)
    assert found.shape == reference.shape
    np.testing.assert_allclose(found - found @ fewer.T @ fewer, 0.0, atol=1e-14)


# Angles and projections


def test_an_angle_is_that_of_the_nearest_vector_of_the_subspace():
    reference, directions = rows(2), rows(2, seed=3)
    grid = np.linspace(0.0, np.pi, 20_001)
    vectors = np.column_stack([np.cos(grid), np.sin(grid)]) @ directions
    nearest = np.arccos(np.abs(reference @ vectors.T).max(axis=1))
    np.testing.assert_allclose(angles_to(reference, directions), nearest, atol=1e-6)


def test_angles_do_not_depend_on_the_basis_of_the_resample():
    reference, directions = rows(2), rows(3, seed=3)
    np.testing.assert_allclose(
        angles_to(reference, directions),
        angles_to(reference, turned(3, 0) @ directions),
        atol=1e-14,
    )
    np.testing.assert_allclose(angles_to(reference, reference), 0.0, atol=1e-14)
    np.testing.assert_allclose(angles_to(reference, reference[:1]), [0.0, np.pi / 2], atol=1e-14)


def test_the_average_projection_has_eigenvalue_one_for_what_all_share():
    shared, others = np.eye(5)[0], np.eye(5)[1:5]
    mean = average_projection([np.array([shared, other]) for other in others])
    np.testing.assert_allclose(mean, np.diag([1.0, 0.25, 0.25, 0.25, 0.25]), atol=1e-15)


# Ladle


def ladle_term_by_term(importances, reference, samples, most):
    """The formula of Luo and Li with loops."""
    values = [
        importances[k] / importances[0] if k < len(importances) else 0.0 for k in range(most + 1)
    ]
    variation = [0.0]
    for k in range(1, most + 1):
        total = 0.0
        for sample in samples:
            total += 1.0 - np.prod(np.cos(principal_angles(reference[:k], sample[:k])))
        variation.append(total / len(samples))
    return [
        variation[k] / (1.0 + sum(variation)) + values[k] / (1.0 + sum(values))
        for k in range(most + 1)
    ]


def test_ladle_is_the_formula():
    reference, samples = rows(4), [rows(4, seed=seed) for seed in range(1, 6)]
    importances = np.array([0.5, 0.3, 0.15, 0.05])
    np.testing.assert_allclose(
        ladle(importances, reference, samples, 4),
        ladle_term_by_term(importances, reference, samples, 4),
        rtol=1e-12,
    )


@pytest.mark.parametrize("n_true", [0, 1, 2, 3])
def test_ladle_counts_directions_that_stay(n_true):
    # The first directions are the same in every resample, the others are random.
    rng, d = np.random.default_rng(n_true), 6
    fixed = rows(d, d)[:n_true]
    free = np.linalg.svd(fixed, full_matrices=True)[2][n_true:] if n_true else np.eye(d)

    def draw():
        rest = np.linalg.qr(rng.standard_normal((len(free), len(free))))[0] @ free
        return np.vstack([fixed, rest])

    importances = np.r_[np.full(n_true, 1.0), np.full(d - n_true, 0.02)]
    if n_true == 0:
        importances[0] = 1e-3  # Divided by the largest, nothing would stand out of noise.
        importances = np.full(d, 1.0)
    found = ladle(importances, draw(), [draw() for _ in range(50)], d - 1)
    # Equal importances say nothing: then only the variation speaks, and it is least at 0.
    assert int(np.argmin(found)) == n_true


def test_missing_directions_count_as_orthogonal():
    reference = rows(3)
    found = ladle(np.array([1.0, 0.5, 0.1]), reference, [reference, reference[:1]], 3)
    variation = np.array([0.0, 0.0, 0.5, 0.5])
    values = np.array([1.0, 0.5, 0.1, 0.0])
    np.testing.assert_allclose(found, variation / 2.0 + values / 2.6, rtol=1e-12)


# Intervals


def test_the_interval_reflects_quantiles():
    samples = np.arange(101.0)[:, None] / 100.0
    np.testing.assert_allclose(
        reflected_interval(np.array([0.4]), samples, 0.9).ravel(), [0.8 - 0.95, 0.8 - 0.05]
    )


def test_intervals_of_means_cover_as_often_as_they_say():
    # Means of 40 normal numbers, resampled: a case in which theory knows the answer.
    rng, covered = np.random.default_rng(0), 0
    for _ in range(300):
        values = rng.standard_normal(40)
        counts = bootstrap_counts(40, 200, np.random.RandomState(0))
        low, high = reflected_interval(np.array(values.mean()), counts @ values / 40, 0.9)
        covered += low <= 0.0 <= high
    # The standard error of the share is 0.017; the bootstrap of 40 rows is a little narrow.
    assert 0.82 <= covered / 300 <= 0.95


@pytest.mark.parametrize("n_folds", [3, 40])
def test_intervals_of_means_by_single_rows_are_those_of_students_test(n_folds):
    values = np.random.default_rng(0).exponential(size=n_folds)
    means = (1.0 - np.eye(n_folds)) @ values / (n_folds - 1.0)
    found = jackknife_interval(np.array(values.mean()), means, 0.9, [n_folds])
    np.testing.assert_allclose(
        found, stats.t.interval(0.9, n_folds - 1, values.mean(), stats.sem(values)), rtol=1e-12
    )


def test_partitions_share_their_variance():
    rng = np.random.default_rng(0)
    first, second = rng.standard_normal((4, 2)), 3.0 * rng.standard_normal((5, 2))
    found = jackknife_interval(np.zeros(2), np.concatenate([first, second]), 0.8, [4, 5])
    squares = 0.5 * (3.0 * first.var(axis=0) + 4.0 * second.var(axis=0))
    np.testing.assert_allclose(found[1], stats.t(7).ppf(0.9) * np.sqrt(squares), rtol=1e-12)
    np.testing.assert_allclose(found[0], -found[1], rtol=1e-12)


@pytest.mark.parametrize("power", [1, 5])
def test_intervals_of_means_by_folds_cover_as_often_as_they_say(power):
    # Fifth powers have long tails, and quantiles of single folds cover 0.61 of their means.
    rng, covered = np.random.default_rng(0), 0
    for seed in range(300):
        values = rng.standard_normal(400) ** power
        counts = fold_counts(400, 50, np.random.RandomState(seed))
        means = counts @ values / counts.sum(axis=1)
        low, high = jackknife_interval(np.array(values.mean()), means, 0.9, [10] * 5)
        covered += low <= 0.0 <= high
    # The standard error of the share is 0.017.
    assert 0.85 <= covered / 300 <= 0.95


# Resamples


@pytest.mark.parametrize("strata", [None, np.array([0, 0, 0, 0, 1, 1, 2])])
def test_bootstrap_draws_as_many_rows_of_every_stratum(strata):
    counts = bootstrap_counts(7, 400, np.random.RandomState(0), strata)
    groups = np.zeros(7, dtype=int) if strata is None else strata
    for group in np.unique(groups):
        of_group = counts[:, groups == group]
        assert (of_group.sum(axis=1) == np.sum(groups == group)).all()
        np.testing.assert_allclose(of_group.mean(axis=0), 1.0, atol=0.25)


@pytest.mark.parametrize(
    ("n_resamples", "sizes"), [(2, [2]), (10, [10]), (11, [6, 5]), (50, [10] * 5)]
)
def test_many_folds_are_several_partitions(n_resamples, sizes):
    assert partition_sizes(n_resamples) == sizes
    counts = fold_counts(60, n_resamples, np.random.RandomState(0))
    assert counts.shape == (n_resamples, 60)
    for part in np.split(counts, np.cumsum(sizes)[:-1]):
        np.testing.assert_array_equal((1.0 - part).sum(axis=0), 1.0)


@pytest.mark.parametrize(("n", "k"), [*itertools.product([7, 20], [2, 7])])
def test_every_row_is_left_out_by_one_fold(n, k):
    strata = np.arange(n) % 2
    counts = fold_counts(n, k, np.random.RandomState(0), strata)
    assert set(np.unique(counts)) == {0.0, 1.0}
    assert (counts.sum(axis=0) == k - 1).all()
    left_out = n - counts.sum(axis=1)
    assert left_out.max() - left_out.min() <= 1

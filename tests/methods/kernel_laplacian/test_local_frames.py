"""Frames of differences to neighbours, against brute force."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens.methods.kernel_laplacian import local_frames
from kernlens.methods.kernel_laplacian.local_frames import LocalFrames
from reference import kernel_laplacian as oracle


def points(n=20, d=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) * np.geomspace(1.0, 0.1, d), rng.uniform(0.5, 2.0, n)


@pytest.mark.parametrize("d", [1, 3, 20])
@pytest.mark.parametrize("k", [1, 2, 7])
def test_neighbours_are_those_of_brute_force(d, k):
    X, weights = points(d=d)
    found = LocalFrames.of(X, weights, k, 1).neighbors
    for i, x in enumerate(X):
        apart = np.linalg.norm(X - x, axis=1)
        apart[i] = np.inf
        assert i not in found[i]
        assert set(found[i]) == set(np.argsort(apart)[:k])


@pytest.mark.parametrize("k", [1, 3])
def test_frames_are_differences(k):
    X, weights = points()
    found = LocalFrames.of(X, weights, k, 1).take(slice(None))
    expected = oracle.local_frames(X, weights, k)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3, 4, 9])
@pytest.mark.parametrize("d", [1, 3])
def test_the_mean_squared_size_is_the_dimension(k, d):
    X, weights = points(d=d)
    frames = LocalFrames.of(X, weights, k, 1).take(slice(None))
    sizes = np.square(frames).sum(axis=(1, 2))
    assert np.average(sizes, weights=weights) == pytest.approx(d, rel=1e-12)
    assert np.average(sizes) != pytest.approx(d, rel=1e-3)


@pytest.mark.parametrize("k", [4, 9])
def test_more_neighbours_than_dimensions_are_compressed_without_loss(k):
    X, weights = points()
    found = LocalFrames.of(X, weights, k, 1).take(slice(None))
    assert found.shape == (len(X), 3, 3)
    for T, expected in zip(found, oracle.local_frames(X, weights, k), strict=True):
        np.testing.assert_allclose(T.T @ T, expected.T @ expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("k", [2, 9])
def test_some_frames_are_those_of_all(k):
    X, weights = points()
    frames = LocalFrames.of(X, weights, k, 1)
    every = frames.take(slice(None))
    np.testing.assert_allclose(frames.take(slice(4, 11)), every[4:11], rtol=1e-14)
    chosen = np.array([7, 0, 13])
    np.testing.assert_allclose(frames.take(chosen), every[chosen], rtol=1e-14)


def test_more_neighbours_than_points_are_all_others():
    X, weights = points(n=5)
    frames = LocalFrames.of(X, weights, 40, 1)
    assert frames.neighbors.shape == (5, 4)
    for i in range(5):
        assert set(frames.neighbors[i]) == set(range(5)) - {i}


def test_a_single_point_has_no_neighbours():
    assert LocalFrames.of(np.ones((1, 3)), np.ones(1), 4, 1) is None


@pytest.mark.parametrize("k", [3, 50])
def test_of_many_points_the_first_are_searched(monkeypatch, k):
    monkeypatch.setattr(local_frames, "MOST_REFERENCES", 8)
    X, weights = points()
    frames = LocalFrames.of(X, weights, k, 1)
    kept = min(k, 7)
    assert frames.neighbors.shape == (len(X), kept)
    for i, x in enumerate(X):
        apart = np.linalg.norm(X[:8] - x, axis=1)
        if i < 8:
            apart[i] = np.inf
        assert set(frames.neighbors[i]) == set(np.argsort(apart)[:kept])
    sizes = np.square(frames.take(slice(None))).sum(axis=(1, 2))
    assert np.average(sizes, weights=weights) == pytest.approx(3.0, rel=1e-12)


def test_frames_do_not_depend_on_shifts_and_turn_with_the_points():
    X, weights = points()
    Q = np.linalg.qr(np.random.default_rng(5).standard_normal((3, 3)))[0]
    plain = LocalFrames.of(X, weights, 6, 1).take(slice(None))
    for scale in (1.0, 30.0):
        turned = LocalFrames.of(scale * X @ Q + 2.0, weights, 6, 1).take(slice(None))
        for T, S in zip(plain, turned, strict=True):
            np.testing.assert_allclose(S.T @ S, Q.T @ (T.T @ T) @ Q, atol=1e-10)


def test_across_a_line_gradients_do_not_count():
    rng = np.random.default_rng(0)
    direction = np.array([0.6, 0.8])
    X = rng.uniform(0.0, 1.0, 30)[:, None] * direction
    frames = LocalFrames.of(X, np.ones(30), 5, 1).take(slice(None))
    across = np.array([0.8, -0.6])
    np.testing.assert_allclose(frames @ across, 0.0, atol=1e-12)
    assert np.mean(np.square(frames @ direction).sum(axis=1)) == pytest.approx(2.0)


def test_inputs_are_left_alone():
    X, weights = points()
    kept, kept_weights = X.copy(), weights.copy()
    frames = LocalFrames.of(X, weights, 5, 1)
    frames.take(slice(None))
    frames.take(slice(0, 3))[:] = 0.0
    np.testing.assert_array_equal(X, kept)
    np.testing.assert_array_equal(weights, kept_weights)

"""Whether points lie on clusters or curves: coherence by its definition, and clear cases."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from kernlens.kernels.derivatives import make_derivatives
from kernlens.methods.kernel_laplacian import structure as laplacian_structure
from kernlens.methods.kernel_laplacian.plan import RATIOS
from kernlens.methods.kernel_laplacian.structure import coherence, has_structure
from reference import kernel_laplacian as oracle


def scaled(X):
    """Centred, with a median distance of 1."""
    return (X - X.mean(axis=0)) / np.median(pdist(X))


def largest(d, width):
    """Ratio, of a kernel of that many median distances."""
    return RATIOS[-1] / width**2 / d


def clusters(rng):
    return np.vstack([rng.standard_normal((60, 2)), 8.0 + rng.standard_normal((60, 2))])


def circles(rng):
    angles, radii = rng.uniform(0.0, 2 * np.pi, 150), np.repeat([0.4, 1.0], 75)
    X = radii[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
    return X + 0.03 * rng.standard_normal(X.shape)


def clusters_far_apart(rng):
    return np.vstack([rng.standard_normal((60, 2)), 50.0 + rng.standard_normal((60, 2))])


def clusters_in_20_dimensions(rng):
    X = rng.standard_normal((120, 20))
    X[:60, 0] += 20.0
    return X


@pytest.mark.parametrize("neighbors", [None, 4])
@pytest.mark.parametrize("kernel", ["matern32", "gaussian"])
def test_coherence_is_the_mean_squared_correlation(kernel, neighbors):
    X = np.random.default_rng(0).standard_normal((12, 3))
    weights = np.ones(12)
    pair = oracle.KERNELS[kernel]
    K = oracle.values(pair, X, X)
    frames = None if neighbors is None else oracle.local_frames(X, weights, neighbors)
    M = oracle.energy(oracle.slopes(pair, X, X), weights / 12, frames)
    for ratio in (0.1, 20.0):
        found = coherence(make_derivatives(kernel), X, neighbors, ratio)
        deformed = K @ np.linalg.solve(K + ratio * M, K)
        H = np.eye(12) - 1 / 12
        covariance = H @ deformed @ H
        total = 0.0
        for i in range(12):
            for j in set(range(12)) - {i}:
                total += covariance[i, j] ** 2 / (covariance[i, i] * covariance[j, j])
        assert found == pytest.approx(total / (12 * 11), rel=1e-8)


def test_functions_of_one_dimension_are_fully_coherent():
    # The linear kernel in one dimension: all values are one number times x.
    X = np.random.default_rng(0).standard_normal((20, 1))
    for ratio in (0.0, 5.0):
        assert coherence(make_derivatives("linear"), X, None, ratio) == pytest.approx(1.0)


@pytest.mark.parametrize("neighbors", [None, 10])
@pytest.mark.parametrize("kernel", ["matern52", "matern32"])
@pytest.mark.parametrize(
    "points", [clusters, clusters_far_apart, circles, clusters_in_20_dimensions]
)
@pytest.mark.parametrize("seed", [0, 1])
def test_clusters_and_curves_have_structure(points, kernel, neighbors, seed):
    X = scaled(points(np.random.default_rng(seed)))
    derivatives = make_derivatives(kernel)
    assert has_structure(derivatives, X / 2, neighbors, largest(X.shape[1], 2.0), 0)


@pytest.mark.parametrize("neighbors", [None, 10])
@pytest.mark.parametrize("kernel", ["gaussian", "matern52"])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_cloud_has_none(kernel, neighbors, seed):
    X = scaled(np.random.default_rng(seed).standard_normal((150, 20)))
    derivatives = make_derivatives(kernel)
    assert not has_structure(derivatives, X / 2, neighbors, largest(20, 2.0), 0)


def test_no_more_than_a_sample_is_looked_at(monkeypatch):
    monkeypatch.setattr(laplacian_structure, "SAMPLE", 120)
    rng = np.random.default_rng(0)
    seen = scaled(circles(rng))[rng.permutation(150)]
    cloud = 3.0 * rng.standard_normal((200, 2))
    derivatives, given = make_derivatives("matern52"), largest(2, 2.0)
    assert has_structure(derivatives, np.vstack([seen[:120], cloud]) / 2, None, given, 0)


@pytest.mark.parametrize("n", [1, 2])
def test_one_or_two_points_have_none(n):
    X = np.arange(2.0 * n).reshape(n, 2)
    assert not has_structure(make_derivatives("gaussian"), X, 4, 10.0, 0)


@pytest.mark.parametrize(("seen", "expected", "found"), [(0.5, 0.3, False), (0.5, 0.2, True)])
def test_odds_must_be_three_times_those_of_a_normal_law(monkeypatch, seen, expected, found):
    # 0.5 has odds of 1; 0.3 has 0.43, less than a third of that is 0.2 with 0.25.
    values = iter([seen, expected])
    monkeypatch.setattr(laplacian_structure, "coherence", lambda *arguments: next(values))
    points = np.random.default_rng(0).standard_normal((20, 2))
    assert has_structure(make_derivatives("gaussian"), points, None, 10.0, 0) == found

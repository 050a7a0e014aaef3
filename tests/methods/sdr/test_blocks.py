"""Directions from sums over blocks: the definitions on all rows, whatever the blocks."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens import OPG, PHD, SAVE, SIR, DirectionalRegression, RowBlocks
from kernlens.metrics import principal_angles
from reference import sdr as reference

SLICED = [
    (SIR, reference.sir_matrix),
    (SAVE, reference.save_matrix),
    (DirectionalRegression, reference.directional_matrix),
]
ALL = [SIR, SAVE, DirectionalRegression, PHD]


def problem(n=600, seed=0):
    """Columns in odd units, and targets of four values."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, 4)) @ (np.eye(4) + 0.2 * rng.standard_normal((4, 4)))
    y = Z[:, 0] + Z[:, 1] ** 2 + 0.3 * rng.standard_normal(n)
    return Z * np.logspace(-2, 2, 4) + 7.0, np.digitize(y, [-0.5, 0.5, 1.5]).astype(float)


def blocks(X, y, weights=None, block_rows=77):
    return RowBlocks.from_arrays(X, y, weights, block_rows=block_rows, n_jobs=1)


@pytest.fixture
def small_sample(monkeypatch):
    """Samples so small that sums over blocks are needed."""
    for estimator in ALL:
        monkeypatch.setattr(estimator, "_sample_rows", 150)


@pytest.mark.parametrize("shrinkage", [0.0, 0.3])
@pytest.mark.parametrize(("estimator", "matrix"), SLICED)
def test_sliced_methods_against_their_definitions(small_sample, estimator, matrix, shrinkage):
    X, y = problem()
    model = estimator(n_directions=2, n_slices=4, shrinkage=shrinkage).fit(blocks(X, y))
    Z, root = reference.whitened(X, shrinkage)
    expected = matrix(Z, [y == value for value in range(4)])
    values = np.sort(np.linalg.eigvalsh(expected))[::-1][: len(model.eigenvalues_)]
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-9)
    assert principal_angles(model.loadings_, reference.leading_span(expected, root, 2)).max() < 1e-6
    np.testing.assert_allclose(model.mean_, X.mean(axis=0), rtol=1e-12)


@pytest.mark.parametrize("variant", ["residual", "response"])
def test_hessian_directions_against_their_definition(small_sample, variant):
    X, y = problem()
    model = PHD(n_directions=2, variant=variant).fit(blocks(X, y))
    Z, root = reference.whitened(X)
    expected, _ = reference.hessian(Z, y, variant == "residual")
    values = np.sort(np.linalg.eigvalsh(expected) ** 2)[::-1]
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-9)
    assert principal_angles(model.loadings_, reference.leading_span(expected, root, 2)).max() < 1e-6


@pytest.mark.parametrize("estimator", ALL)
@pytest.mark.parametrize("categorical", [False, True])
def test_the_partition_says_nothing(small_sample, estimator, categorical):
    X, y = problem()
    weights = np.random.default_rng(1).integers(0, 4, len(X)).astype(float)
    targets = np.array(["a", "b", "c", "d"])[y.astype(int)] if categorical else y
    order = np.random.default_rng(2).permutation(len(X))
    model, other = estimator(random_state=0), estimator(random_state=0)
    model.fit(blocks(X, targets, weights))
    other.fit(blocks(X[order], targets[order], weights[order], block_rows=19))
    assert model.n_directions_ == other.n_directions_
    np.testing.assert_allclose(model.components_, other.components_, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(model.eigenvalues_, other.eigenvalues_, rtol=1e-9)


@pytest.mark.parametrize("estimator", ALL)
@pytest.mark.parametrize("categorical", [False, True])
def test_sums_find_what_a_fit_of_all_rows_does(small_sample, estimator, categorical):
    X, y = problem()
    whole = estimator(n_directions=2, n_slices=4) if estimator is not PHD else PHD(n_directions=2)
    whole.set_params(categorical=categorical)
    model = type(whole)(**whole.get_params()).fit(blocks(X, y))
    whole.fit(X, y)
    # A fit of all rows looks at eight digits of the columns.
    np.testing.assert_allclose(model.eigenvalues_, whole.eigenvalues_, rtol=1e-5)
    assert principal_angles(model.loadings_, whole.loadings_).max() < 1e-5


@pytest.mark.parametrize("estimator", [*ALL, OPG])
def test_few_rows_in_blocks_are_the_fit_of_these_rows(estimator):
    X, y = problem(200)
    one, other = estimator(), estimator()
    if "random_state" in one.get_params():
        one.set_params(random_state=0)
        other.set_params(random_state=0)
    one.fit(X, y)
    other.fit(blocks(X, y))
    np.testing.assert_array_equal(one.components_, other.components_)
    np.testing.assert_array_equal(one.mean_, other.mean_)


def test_a_class_that_the_sample_misses_has_a_slice_of_its_own(small_sample):
    X, y = problem()
    y[np.argsort(X[:, 0])[-4:]] = 9.0
    model = SIR(n_directions=2, categorical=True).fit(blocks(X, y))
    Z, _ = reference.whitened(X)
    expected = reference.sir_matrix(Z, [y == value for value in np.unique(y)])
    values = np.sort(np.linalg.eigvalsh(expected))[::-1]
    np.testing.assert_allclose(model.eigenvalues_, values[: len(model.eigenvalues_)], rtol=1e-9)

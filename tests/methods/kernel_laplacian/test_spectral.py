"""Embedding and clusters of the kernel Laplacian: eigenvalues, coordinates, new rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.stats import norm
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score

from kernlens import KernelLaplacianClustering, KernelLaplacianEmbedding
from kernlens._invariance import leading_digits
from kernlens.base.columns import Columns
from kernlens.kernels.derivatives import DIFFERENTIABLE_KERNELS
from reference import kernel_laplacian as oracle

SOLVERS = ("nystrom", "random_features")


def embedding(**options):
    given = {"n_centers": 60, "n_jobs": 1, "random_state": 0}
    return KernelLaplacianEmbedding(**(given | options))


def clustering(n_clusters, **options):
    given = {"n_jobs": 1, "random_state": 0}
    return KernelLaplacianClustering(n_clusters=n_clusters, **(given | options))


def data(n=40, d=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d)) * np.arange(1, d + 1)


# Eigenvalues -------------------------------------------------------------------------------------

PAPER = {"metric": "euclidean", "standardize": False, "kernel": "gaussian", "n_centers": 2000}


@pytest.mark.parametrize("n", [200, 1000])
@pytest.mark.parametrize(
    "options", [{}, {"length_scale": 0.2}, {"length_scale": 0.2, "alpha": 1e-6}]
)
def test_eigenvalues_of_the_uniform_law(n, options):
    X = (np.arange(n)[:, None] + 0.5) / n
    model = embedding(n_components=3, **PAPER, **options).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, np.pi**2 * np.array([1, 4, 9]), rtol=0.02)
    # Eigenfunctions are cosines.
    cosines = np.sqrt(2) * np.cos(np.pi * X * [1, 2, 3])
    overlap = np.abs(np.mean(model.transform(X) * cosines, axis=0))
    np.testing.assert_allclose(overlap, 1.0, atol=0.01)


@pytest.mark.parametrize(
    "options", [{}, {"length_scale": 1.0}, {"length_scale": 2.0, "alpha": 1e-4}]
)
def test_eigenvalues_of_the_normal_law(options):
    X = norm.ppf((np.arange(1000) + 0.5) / 1000)[:, None]
    model = embedding(n_components=2, **PAPER, **options).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, [1.0, 2.0], rtol=0.05)
    # Hermite polynomials, of which the second is steep in the tails.
    hermite = np.column_stack([X, (X**2 - 1) / np.sqrt(2)])
    overlap = np.abs(np.mean(model.transform(X) * hermite, axis=0))
    np.testing.assert_allclose(overlap, 1.0, atol=0.02)


def test_eigenvalues_of_a_normal_sample():
    X = np.random.default_rng(1).standard_normal((2000, 1))
    model = embedding(n_components=2, alpha=1e-4, length_scale=2.0, **PAPER).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, [1.0, 2.0], rtol=0.05)


@pytest.mark.parametrize("n_neighbors", [None, 5])
@pytest.mark.parametrize("kernel", DIFFERENTIABLE_KERNELS)
def test_eigenvalues_are_those_of_the_matrices(kernel, n_neighbors):
    X = data(n=15, d=2)
    weights = np.random.default_rng(1).uniform(0.5, 2.0, 15)
    shares = weights / weights.sum()
    length, alpha = 2.5, 1e-2
    options = {"metric": "euclidean"} if n_neighbors is None else {"n_neighbors": n_neighbors}
    model = embedding(
        kernel=kernel, length_scale=length, alpha=alpha, standardize=False, **options
    ).fit(X, sample_weight=weights)
    points = (X - shares @ X) / length
    frames = None if n_neighbors is None else oracle.local_frames(points, weights, n_neighbors)
    evaluate = oracle.span_of_centers(oracle.KERNELS[kernel], points)
    values, gradients = evaluate(points)
    penalty = oracle.energy(gradients, shares, frames) / length**2
    penalty += alpha * np.eye(len(penalty))
    centered = values - shares @ values
    ratios, vectors = eigh(centered.T @ (shares[:, None] * centered), penalty)
    np.testing.assert_allclose(model.eigenvalues_, 1 / ratios[::-1][:2], rtol=1e-6)
    expected = centered @ vectors[:, ::-1][:, :2] / np.sqrt(ratios[::-1][:2])
    found = model.transform(X)
    signs = np.sign(np.sum(found * expected, axis=0))
    np.testing.assert_allclose(found, signs * expected, atol=1e-5)


def test_eigenvalues_are_energies_in_units_of_the_rows():
    X = data()
    for scale in (1e-90, 1e-3, 1e90):
        for standardize, tolerance in ((True, 1e-8), (False, 1e-6)):
            # Rows that are not standardised are rounded in their own unit, to 2^-27 of a value.
            model = embedding(standardize=standardize)
            plain, other = clone(model).fit(X), clone(model).fit(scale * X)
            np.testing.assert_allclose(
                other.transform(scale * X), plain.transform(X), rtol=tolerance, atol=tolerance
            )
            units = 1.0 if standardize else scale
            np.testing.assert_allclose(
                other.eigenvalues_ * units**2, plain.eigenvalues_, rtol=tolerance
            )


# Coordinates -------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("metric", ["local", "euclidean"])
def test_coordinates_are_standard_and_uncorrelated(solver, metric):
    X = data()
    weights = np.random.default_rng(2).integers(0, 4, 40)
    model = embedding(n_components=4, solver=solver, metric=metric)
    model.fit(X, sample_weight=weights)
    # At the rows that the fit saw, which are rounded.
    columns = Columns(model.mean_, model.scale_, model.inputs_, order="F")
    values = model._function.decision(leading_digits(columns.apply(X))).T
    np.testing.assert_allclose(model.transform(X), values, atol=1e-6)
    np.testing.assert_allclose(np.average(values, axis=0, weights=weights), 0.0, atol=1e-9)
    covariance = np.cov(values.T, fweights=weights, ddof=0)
    np.testing.assert_allclose(covariance, np.eye(4), atol=1e-8)
    assert np.all(np.diff(model.eigenvalues_) > 0)


@pytest.mark.parametrize("solver", SOLVERS)
def test_weights_are_repetitions_in_any_order(solver):
    X = data()
    rng = np.random.default_rng(3)
    weights = rng.integers(0, 4, 40)
    rows = rng.permutation(np.repeat(np.arange(40), weights))
    model = embedding(solver=solver, n_centers=20)
    expected = clone(model).fit(X, sample_weight=weights).transform(X)
    np.testing.assert_array_equal(clone(model).fit(X[rows]).transform(X), expected)
    more = clone(model).set_params(n_jobs=2).fit(X[rows])
    np.testing.assert_array_equal(more.transform(X), expected)
    groups = clustering(3, solver=solver, n_centers=20)
    weighted = clone(groups).fit(X, sample_weight=weights)
    repeated = clone(groups).fit(X[rows])
    np.testing.assert_array_equal(repeated.labels_, weighted.labels_[rows])
    np.testing.assert_array_equal(repeated.predict(X), weighted.predict(X))
    assert repeated.inertia_ == weighted.inertia_


def test_rotations_do_not_matter_without_standardisation():
    X = data()
    Q = np.linalg.qr(np.random.default_rng(4).standard_normal((3, 3)))[0]
    model = embedding(standardize=False)
    plain, turned = clone(model).fit(X), clone(model).fit(X @ Q)
    # Rows are rounded to 2^-27 of a value, turned ones to other numbers.
    np.testing.assert_allclose(turned.eigenvalues_, plain.eigenvalues_, rtol=1e-7)
    overlap = np.mean(turned.transform(X @ Q) * plain.transform(X), axis=0)
    np.testing.assert_allclose(np.abs(overlap), 1.0, rtol=1e-7)


def test_new_rows_lie_between_their_neighbours():
    angle = np.linspace(0.0, 6.0, 400)
    X = np.column_stack([np.cos(angle), np.sin(angle)]) * angle[:, None]
    model = embedding(n_components=1, n_centers=300).fit(X[::2])
    seen, new = model.transform(X[::2])[:, 0], model.transform(X[1:-1:2])[:, 0]
    middle = (seen[1:] + seen[:-1]) / 2
    np.testing.assert_allclose(new, middle, atol=0.02)
    np.testing.assert_array_equal(model.fit_transform(X[::2])[:, 0], seen)
    assert abs(np.corrcoef(seen, angle[::2])[0, 1]) > 0.95


def test_more_coordinates_than_functions_are_refused():
    X = data()
    with pytest.raises(ValueError, match="only 3 of this kernel vary over the 40 distinct rows"):
        embedding(n_components=5, kernel="linear").fit(X)
    with pytest.raises(ValueError, match="only 0 of this kernel vary over the 1 distinct rows"):
        embedding().fit(np.ones((5, 2)))
    with pytest.raises(ValueError, match="lower n_components"):
        embedding(n_components=10**9).fit(X)
    model = embedding(n_components=3, kernel="linear").fit(X)
    np.testing.assert_allclose(model.transform(X).var(axis=0), 1.0)
    # For linear functions they are principal components, with the inverse of their variances.
    plain = embedding(n_components=3, kernel="linear", metric="euclidean", standardize=False)
    variances = np.linalg.eigvalsh(np.cov(X.T, ddof=0))[::-1]
    np.testing.assert_allclose(plain.fit(X).eigenvalues_, 1 / variances, rtol=1e-6)


@pytest.mark.parametrize("make", [embedding, lambda **options: clustering(3, **options)])
def test_parameters_wait_for_the_next_fit_which_leaves_nothing_behind(make):
    X = data()
    model = make(n_centers=30).fit(X)
    method = model.transform if hasattr(model, "transform") else model.predict
    before = method(X)
    model.set_params(kernel="gaussian", solver="random_features", standardize=False)
    np.testing.assert_array_equal(method(X), before)
    model.fit(X)
    assert set(vars(model)) == set(vars(clone(model).fit(X)))
    model.set_params(solver="nystrom").fit(X)
    assert not hasattr(model, "frequencies_") and not hasattr(model, "phases_")


# Clusters ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "truth"),
    [
        make_moons(300, noise=0.05, random_state=0),
        make_circles(300, noise=0.05, factor=0.5, random_state=0),
        make_blobs(300, centers=3, random_state=3),
        make_blobs(200, centers=2, n_features=10, random_state=0),
    ],
    ids=["moons", "circles", "blobs", "ten columns"],
)
def test_clusters_are_found_and_continued(X, truth):
    n_clusters = len(np.unique(truth))
    model = clustering(n_clusters).fit(X)
    assert adjusted_rand_score(truth, model.labels_) > 0.99
    half = clustering(n_clusters).fit(X[::2])
    assert adjusted_rand_score(truth[1::2], half.predict(X[1::2])) > 0.95


def test_clusters_of_training_rows_are_their_predictions():
    X = data(n=60)
    for n_components in ("auto", 1, 4):
        model = clustering(4, n_components=n_components)
        labels = model.fit_predict(X)
        np.testing.assert_array_equal(labels, model.labels_)
        np.testing.assert_array_equal(model.predict(X), labels)
        assert set(labels) == set(range(4))
        assert model.cluster_centers_.shape == (4, 3 if n_components == "auto" else n_components)


def test_fewer_rows_than_clusters():
    X = np.repeat(data(n=3), 4, axis=0)
    for method in ("fit", "fit_predict"):
        model = clustering(5)
        with pytest.warns(UserWarning, match="3 distinct rows only.*n_clusters=5") as caught:
            getattr(model, method)(X)
        assert [warning.filename for warning in caught] == [__file__]
        assert len(set(model.labels_)) == 3
        np.testing.assert_array_equal(model.labels_, np.repeat(model.labels_[::4], 4))

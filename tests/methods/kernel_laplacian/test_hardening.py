"""Far rows, extreme penalties, few points: finite and right, or refused in a sentence."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from families import inputs_of, targets_of
from kernlens import (
    KernelLaplacianClassifier,
    KernelLaplacianClustering,
    KernelLaplacianEmbedding,
    KernelLaplacianRegressor,
)
from kernlens.features.fourier import FourierMap
from kernlens.kernels import PolynomialKernel
from kernlens.kernels.derivatives import LARGEST_KERNEL, make_derivatives
from kernlens.methods.kernel_laplacian.energy_basis import EnergyBasis
from kernlens.methods.kernel_laplacian.local_frames import LocalFrames
from reference import kernel_laplacian as oracle

SUPERVISED = [KernelLaplacianRegressor, KernelLaplacianClassifier]
SPECTRAL = [KernelLaplacianEmbedding, KernelLaplacianClustering]
GROWING = ["exponential_dot", "polynomial", PolynomialKernel(5), PolynomialKernel(40), "linear"]


@pytest.fixture(autouse=True)
def no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


def data(n=40, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, X[:, 0] + np.sin(X[:, 1])


def values_of(model, rows):
    if isinstance(model, KernelLaplacianClassifier):
        return model.decision_function(rows)
    if isinstance(model, KernelLaplacianEmbedding):
        return model.transform(rows)
    return model.predict(rows)


def fitted(estimator, X, y, **options):
    options = {"random_state": 0, "n_jobs": 1} | options
    if estimator is KernelLaplacianClassifier:
        y = (y > np.median(y)).astype(int)
    if estimator is KernelLaplacianClustering:
        options |= {"n_clusters": 3}
    return estimator(**options).fit(X, y)


# Errors of rows left out


@pytest.mark.parametrize("kernel", ["gaussian", "matern52"])
def test_errors_of_rows_left_out_are_kept_by_new_rows(kernel):
    # With rows that kept their gradients, R2 of 0.8 was promised where it was below -100.
    promised, kept = [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        n, d = 30, (3, 5, 12)[seed % 3]
        X = 0.1 * rng.standard_normal((n + 500, d)) + rng.standard_normal((n + 500, 1))
        y = X @ rng.standard_normal(d) / np.sqrt(d) + np.sin(2 * X[:, 0])
        y += 0.2 * rng.standard_normal(n + 500)
        model = KernelLaplacianRegressor(kernel=kernel, random_state=0).fit(X[:n], y[:n])
        search = model.alpha_search_
        promised.append(1.0 - search["loss"][search["chosen"]])
        # Rows farther out than all that were learned from are beyond what these can promise.
        sizes = np.linalg.norm((X - model.mean_) / model.scale_, axis=1)
        inside = np.flatnonzero(sizes <= sizes[:n].max())[n:]
        errors = np.square(model.predict(X[inside]) - y[inside])
        kept.append(1.0 - errors.mean() / np.var(y[:n]))
    assert np.median(kept) > 0.7
    assert np.mean(promised) - np.mean(kept) < 0.4


def test_probabilities_are_learned_from_rows_without_their_gradients():
    # Noise labels: what is certain of rows left out must not be made so by their own gradients.
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 12)), rng.integers(0, 2, 40)
    model = KernelLaplacianClassifier(kernel="gaussian", random_state=0).fit(X, y)
    new = model.predict_proba(rng.standard_normal((500, 12)))[:, 1]
    truth = rng.integers(0, 2, 500)
    loss = -np.mean(np.log(np.where(truth == 1, new, 1.0 - new)))
    assert loss < 1.5 * np.log(2.0)


# Rows far outside


@pytest.mark.parametrize("kernel", GROWING, ids=str)
@pytest.mark.parametrize("estimator", SUPERVISED + SPECTRAL)
@pytest.mark.parametrize("solver", ["exact", "nystrom"])
def test_far_rows_have_finite_values(estimator, kernel, solver):
    if solver == "exact" and estimator in SPECTRAL:
        solver = "nystrom"
    options = {"n_components": 1} if estimator is KernelLaplacianEmbedding else {}
    model = fitted(estimator, *data(), kernel=kernel, solver=solver, **options)
    directions = np.array([[1.0, 1.0, 1.0], [1.0, -1.0, 0.5], [-1.0, 0.0, 0.0]])
    rows = np.vstack([size * directions for size in (10.0, 1e3, 1e50, 1e60, 1e150, 1e307)])
    assert np.isfinite(values_of(model, rows)).all()
    if estimator in SUPERVISED:
        assert np.isfinite(model.gradient(rows)).all()
        assert np.isfinite(model.sensitivity(rows)).all()
    if estimator is KernelLaplacianClassifier:
        assert np.isfinite(model.predict_proba(rows)).all()


@pytest.mark.parametrize("kernel", ["exponential_dot", PolynomialKernel(40)], ids=str)
@pytest.mark.parametrize("solver", ["exact", "nystrom"])
def test_values_stay_what_they_are_beyond_what_can_be_computed(kernel, solver):
    X, y = data()
    model = KernelLaplacianRegressor(
        kernel=kernel, solver=solver, standardize=False, linear_part=False, random_state=0
    ).fit(X, y)
    direction = np.array([0.3, -0.9, 0.4])
    far = model.mean_ + np.outer([1e4, 1e6, 1e9], direction)
    values, slopes = model.predict(far), model.gradient(far)
    np.testing.assert_allclose(values, values[0], rtol=1e-3)
    # Nothing changes outwards; across, by differences.
    sizes = np.abs(slopes).max(axis=1) * np.linalg.norm(direction)
    assert np.all(np.abs(slopes @ direction) <= 1e-3 * sizes)
    for axis in range(3):
        step = np.zeros(3)
        step[axis] = 1.0
        measured = (model.predict(far[:1] + step) - model.predict(far[:1] - step)) / 2.0
        assert measured[0] == pytest.approx(slopes[0, axis], rel=1e-3, abs=1e-4 * sizes[0])


@pytest.mark.parametrize("kernel", GROWING, ids=str)
def test_the_largest_product_is_where_a_kernel_may_be_used(kernel):
    derivatives = make_derivatives(kernel)
    largest = derivatives.largest_product
    for t in (largest, -largest):
        assert abs(derivatives.kernel.profile(np.array([[t]]))[0, 0]) <= LARGEST_KERNEL
        assert abs(derivatives.kernel.derivative(np.array([[t]]))[0, 0]) <= LARGEST_KERNEL
    assert largest == 1e60 or derivatives.kernel.profile(np.array([[4 * largest]])) > 1e30


def test_a_point_far_from_the_others_lengthens_the_automatic_scale():
    X, y = data(n=2000, d=2)
    X[0] = 1e6
    model = KernelLaplacianRegressor(kernel="exponential_dot", random_state=0).fit(X, y)
    assert np.isfinite(model.predict(X)).all()
    # Of 2000 points with root mean square length sqrt(2), one has the square 2000 * 2.
    assert model.length_scale_ == pytest.approx(np.sqrt(4000 / 100), rel=0.01)


@pytest.mark.parametrize("estimator", SUPERVISED + SPECTRAL)
def test_a_length_scale_too_short_for_a_kernel_that_grows_is_refused(estimator):
    X, y = data()
    with pytest.raises(ValueError, match=r"length_scale=0.01 is too short for a kernel that grows"):
        fitted(estimator, X, y, kernel="exponential_dot", length_scale=0.01)


@pytest.mark.parametrize("kernel", [PolynomialKernel(5, 1e200), PolynomialKernel(9, 1e7)], ids=str)
def test_a_kernel_that_is_too_large_everywhere_is_refused(kernel):
    with pytest.raises(ValueError, match="PolynomialKernel is beyond 1e"):
        fitted(KernelLaplacianRegressor, *data(), kernel=kernel)


def test_a_large_constant_is_not_taken_for_a_wrong_derivative():
    X, y = data()
    model = fitted(KernelLaplacianRegressor, X, y, kernel=PolynomialKernel(2, 1e7), alpha=1e-6)
    assert np.isfinite(model.predict(X)).all()


# Extreme parameters


@pytest.mark.parametrize("solver", ["exact", "cg", "nystrom", "random_features"])
@pytest.mark.parametrize("estimator", SUPERVISED)
def test_a_huge_mu_is_the_limit_of_large_ones(estimator, solver):
    X, y = data()
    X = np.vstack([X, X + 8.0])
    y = np.concatenate([y, y + 5.0])
    options = {"solver": solver, "alpha": 1e-3, "n_centers": 100, "max_iter": 2000}
    for mu in (1e308, [1e308, 1e300]):
        model = fitted(estimator, X, y, mu=mu, **options)
        assert np.isfinite(values_of(model, X)).all()


@pytest.mark.parametrize("mu", [1e-308, 5e-324])
@pytest.mark.parametrize("solver", ["exact", "cg", "nystrom"])
def test_a_vanishing_mu_is_none(solver, mu):
    X, y = data()
    none = fitted(KernelLaplacianRegressor, X, y, solver=solver, mu=0.0, alpha=1e-2)
    model = fitted(KernelLaplacianRegressor, X, y, solver=solver, mu=mu, alpha=1e-2)
    np.testing.assert_allclose(model.predict(X), none.predict(X), atol=1e-6)


@pytest.mark.parametrize("alpha", [1e-300, 1e307, 1e21, 9e-21])
def test_alphas_out_of_bounds_are_refused(alpha):
    X, y = data()
    for estimator in SUPERVISED:
        with pytest.raises(ValueError, match=r"alpha must be at (least 1e-20|most 1e\+20)"):
            fitted(estimator, X, y, alpha=alpha)


@pytest.mark.parametrize("estimator", SPECTRAL)
@pytest.mark.parametrize("alpha", [1e-300, 1e307, 1e30, 1e-30])
def test_alphas_out_of_proportion_are_refused(estimator, alpha):
    # Bounds are in units of the squared length scale here.
    X, y = data()
    with pytest.raises(ValueError, match=r"alpha=.* is out of proportion to gradients"):
        fitted(estimator, X, y, alpha=alpha)


@pytest.mark.parametrize("estimator", SPECTRAL)
def test_alphas_go_with_the_unit_of_the_points(estimator):
    X, y = data()
    one = fitted(estimator, X, y, standardize=False, alpha=1e-3)
    other = fitted(estimator, X * 2.0**200, y, standardize=False, alpha=1e-3 * 2.0**-400)
    if estimator is KernelLaplacianClustering:
        # Rows come in another order, and clusters with them.
        assert adjusted_rand_score(one.labels_, other.labels_) == 1.0
    else:
        found = values_of(other, X * 2.0**200)
        np.testing.assert_allclose(np.abs(found), np.abs(values_of(one, X)), atol=1e-6)


@pytest.mark.parametrize("estimator", SUPERVISED + SPECTRAL)
@pytest.mark.parametrize("length", [4.7e-171, 1.3e207])
def test_a_length_scale_for_points_that_are_all_the_same(estimator, length):
    X = np.zeros((3, 2))
    with pytest.raises(ValueError, match=r"length_scale=.* is out of proportion"):
        fitted(estimator, X, np.array([0.0, 1.0, 2.0]), length_scale=length)


# Columns and slopes of extreme size


@pytest.mark.parametrize("estimator", SUPERVISED + SPECTRAL)
def test_columns_that_vary_by_almost_nothing_are_refused(estimator):
    X, y = data()
    with pytest.raises(ValueError, match="must vary by more than 1e-100 or not at all"):
        fitted(estimator, X * 1e-300, y)


def test_columns_may_not_vary_by_almost_nothing_among_unlabeled_rows():
    X, y = data()
    X[:, 0] = 0.0
    more = X.copy()
    more[:, 0] = 1e-200
    with pytest.raises(ValueError, match="X with X_unlabeled must vary by more than 1e-100"):
        KernelLaplacianRegressor().fit(X, y, X_unlabeled=more)


def test_sensitivities_of_steep_functions_are_finite():
    X, y = data()
    model = fitted(KernelLaplacianRegressor, X * 1e-95, y * 1e95)
    assert np.isfinite(model.gradient(X * 1e-95)).all()
    assert np.isfinite(model.sensitivity(X * 1e-95)).all()


@pytest.mark.parametrize("estimator", SUPERVISED + SPECTRAL)
def test_rows_whose_sum_is_no_number(estimator):
    X, y = data()
    model = fitted(estimator, X, y)
    rows = np.array([[1e308, 1e308, -1e308], [-1e308, 1e308, 0.0]])
    assert np.isfinite(values_of(model, rows)).all()


def test_targets_that_vary_by_almost_nothing_are_refused():
    X, y = data()
    y[5:] = np.nan
    with pytest.raises(ValueError, match="y must vary by more than 1e-100 or not at all"):
        fitted(KernelLaplacianRegressor, X, y * 1e-200)


def test_auto_may_come_as_an_array():
    X, y = data()
    expected = fitted(KernelLaplacianRegressor, X, y).predict(X)
    word = np.array("auto")
    model = fitted(KernelLaplacianRegressor, X, y, mu=word, alpha=word)
    np.testing.assert_array_equal(model.predict(X), expected)


@pytest.mark.parametrize("estimator", SUPERVISED + SPECTRAL)
def test_any_number_of_threads_gives_the_same(estimator):
    X, y = data()
    one = fitted(estimator, X, y)
    many = fitted(estimator, X, y, n_jobs=10**30)
    np.testing.assert_array_equal(values_of(many, X), values_of(one, X))


# Random features on few rows


def test_random_features_on_few_rows_are_those_that_the_rows_tell_apart():
    rng = np.random.default_rng(0)
    points, weights = rng.standard_normal((4, 2)), np.ones(4)
    map = FourierMap.draw("gaussian", 2, 60, np.random.RandomState(0))
    for frames in (None, LocalFrames.of(points, weights, 1, 1)):
        basis = EnergyBasis.of(map, points, weights, frames, 1)
        n_told = 4 * (3 if frames is None else 2)
        assert basis.rotation.shape == (60, n_told)
        np.testing.assert_allclose(basis.rotation.T @ basis.rotation, np.eye(n_told), atol=1e-12)
        energy = map.energy(
            points, weights / 4, None if frames is None else frames.take(slice(None))
        )
        np.testing.assert_allclose(
            basis.rotation.T @ energy @ basis.rotation, np.diag(basis.energies), atol=1e-10
        )


@pytest.mark.parametrize("metric", ["euclidean", "local"])
def test_random_features_on_few_rows_give_the_same_function(metric):
    X, y = data(n=5, d=2)
    options = {"metric": metric, "n_neighbors": 2, "mu": 0.3, "alpha": 0.01, "standardize": False}
    model = KernelLaplacianRegressor(
        solver="random_features", kernel="gaussian", n_centers=80, length_scale=1.5,
        random_state=0, **options,
    ).fit(X, y)  # fmt: skip
    points = inputs_of(model, X) / 1.5
    np.testing.assert_allclose(points, (X - X.mean(axis=0))[:, model.inputs_] / 1.5, atol=1e-7)
    frames = None if metric == "euclidean" else oracle.local_frames(points, np.ones(5), 2)
    targets = targets_of(model, y)
    np.testing.assert_allclose(targets[0], (y - y.mean()) / y.std(), atol=1e-7)
    problem = oracle.Problem(
        points, np.ones(5), np.arange(5), targets, np.ones(5), 0.3 / 1.5**2, 0.01, frames
    )
    found = oracle.minimize_over_waves(problem, model.frequencies_, model.phases_)
    # Rows that are predicted are not rounded.
    expected = found.values(model._columns.apply(X) / 1.5)[0] * y.std() + y.mean()
    np.testing.assert_allclose(model.predict(X), expected, atol=1e-8)


@pytest.mark.parametrize("estimator", SUPERVISED + SPECTRAL)
def test_no_large_matrix_is_decomposed_for_two_rows(estimator, monkeypatch):
    def refuse(self):
        raise AssertionError("All features are looked at.")

    monkeypatch.setattr(FourierMap, "norms", refuse)
    X, y = np.array([[0.0, 1.0], [1.0, 3.0]]), np.array([0.0, 1.0])
    options = {"n_components": 1} if estimator in SPECTRAL else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = fitted(estimator, X, y, solver="random_features", n_centers=5000, **options)
    assert np.isfinite(values_of(model, X)).all()


# The order of rows


@pytest.mark.parametrize("seed", range(6))
def test_the_order_of_rows_of_a_lattice_does_not_matter(seed):
    # Neighbours on a lattice are equally near, and weights of merged rows are sums.
    rng = np.random.default_rng(seed)
    n, d = (80, 4) if seed % 2 else (60, 2)
    lattice = rng.integers(1, 6, (n, d)).astype(float)
    y = np.round(lattice[:, 0] + np.sin(lattice[:, 1]), 1)
    repeated = np.tile(np.arange(n), 3)
    weights = rng.random(3 * n)
    order = rng.permutation(3 * n)
    for estimator in SUPERVISED + SPECTRAL:
        options = {"n_components": 2} if estimator is KernelLaplacianEmbedding else {}
        found = []
        for rows, w in ((repeated, weights), (repeated[order], weights[order])):
            targets = (
                (y[rows] > np.median(y)).astype(int) if estimator in SUPERVISED[1:] else y[rows]
            )
            extra = {"n_clusters": 3} if estimator is KernelLaplacianClustering else {}
            model = estimator(random_state=0, **options, **extra)
            model.fit(lattice[rows], targets, sample_weight=w)
            found.append(values_of(model, lattice))
        np.testing.assert_array_equal(found[0], found[1])


@pytest.mark.parametrize("solver", ["exact", "nystrom"])
def test_more_centres_than_points_are_all_points(solver):
    X = np.random.default_rng(0).standard_normal((20, 2))
    options = {"solver": solver, "mu": 0.1, "alpha": 1e-3, "random_state": 0, "n_jobs": 1}
    huge = KernelLaplacianRegressor(n_centers=10**30, **options).fit(X, X[:, 0])
    plain = KernelLaplacianRegressor(n_centers=20, **options).fit(X, X[:, 0])
    np.testing.assert_array_equal(huge.predict(X), plain.predict(X))

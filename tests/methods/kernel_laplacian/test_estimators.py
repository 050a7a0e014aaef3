"""Kernel Laplacian regressors and classifiers: what they minimise, invariances, gradients."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from families import fit_interrupted, inputs_of, targets_of
from kernlens import KernelLaplacianClassifier, KernelLaplacianRegressor
from kernlens._result import Status
from kernlens.base.calibration import UNCALIBRATED
from kernlens.base.search import SearchRecord
from kernlens.kernels.derivatives import DIFFERENTIABLE_KERNELS
from kernlens.methods.kernel_laplacian.solvers.exact import ExactSolver
from kernlens.methods.kernel_laplacian.solvers.preconditioner import ShiftedSystem
from kernlens.methods.kernel_laplacian.solvers.solver import LaplacianSolver
from reference import kernel_laplacian as oracle

SOLVERS = ("exact", "cg", "nystrom", "random_features")
METRICS = ("local", "euclidean")
LENGTH = 1.7


def data(n=40, d=3, n_labeled=12, seed=0):
    """Rows, targets of the first ones and NaN for the others."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(n) + 3.0
    y[n_labeled:] = np.nan
    return X, y


def labels_of(y, n_classes=2):
    """Classes of the labelled rows by quantiles of their targets, -1 for the others."""
    known = ~np.isnan(y)
    edges = np.quantile(y[known], np.arange(1, n_classes) / n_classes)
    return np.where(known, np.digitize(y, edges), -1)


def regressor(**options):
    given = {"mu": 0.1, "alpha": 1e-3, "n_centers": 60, "tol": 1e-12, "random_state": 0}
    return KernelLaplacianRegressor(n_jobs=1, **(given | options))


# What is minimised -------------------------------------------------------------------------------


def problem_of(model, X, y, weights, n_neighbors=None):
    """The documented objective of rows and targets that `model` saw, which are not standardised.

    Rows are in units of the length scale, with columns in the order of the inputs.
    """
    length, known = model.length_scale, ~np.isnan(y)
    points, targets = inputs_of(model, X), targets_of(model, y, weights)[:, known]
    # What is rounded are centred rows, and targets in their own standard deviation.
    centered = (X - np.average(X, axis=0, weights=weights))[:, model.inputs_]
    mean, scale = units_of(y, weights)
    np.testing.assert_allclose(points, centered, atol=1e-7)
    np.testing.assert_allclose(targets[0], (y[known] - mean) / scale, atol=1e-7)
    points = points / length
    frames = None if n_neighbors is None else oracle.local_frames(points, weights, n_neighbors)
    return oracle.Problem(
        points,
        weights,
        np.flatnonzero(known),
        targets,
        weights[known],
        model.mu / length**2,
        model.alpha,
        frames,
    )


def units_of(y, weights):
    """Mean and standard deviation of the targets that are known."""
    known = ~np.isnan(y)
    mean = np.average(y[known], weights=weights[known])
    return mean, np.sqrt(np.average((y[known] - mean) ** 2, weights=weights[known]))


@pytest.mark.parametrize("n_neighbors", [None, 4])
@pytest.mark.parametrize("kernel", DIFFERENTIABLE_KERNELS)
def test_the_objective_is_the_least_of_all_functions(kernel, n_neighbors):
    X, y = data(n=11, d=2, n_labeled=6)
    # Ratios of powers of two are seen as they are; others are rounded to ten digits.
    weights = 2.0 ** np.random.default_rng(1).integers(-1, 2, len(X))
    options = {"metric": "euclidean"} if n_neighbors is None else {"n_neighbors": n_neighbors}
    options |= {"kernel": kernel, "length_scale": LENGTH, "standardize": False, "mu": 0.3}
    models = [
        regressor(solver=solver, **options).fit(X, y, sample_weight=weights)
        for solver in ("exact", "cg")
    ]
    problem = problem_of(models[0], X, y, weights, n_neighbors)
    least = oracle.minimize_over_span(oracle.KERNELS[kernel], problem)
    mean, scale = units_of(y, weights)
    for model in models:
        assert model.objective_ == pytest.approx(least.objective, rel=1e-8)
        # Rows that are predicted are not rounded.
        new = model._columns.apply(X) / LENGTH
        np.testing.assert_allclose(model.predict(X), least.values(new)[0] * scale + mean, atol=1e-7)
        np.testing.assert_allclose(
            model.gradient(X)[:, model.inputs_],
            least.gradients(new)[0] * scale / LENGTH,
            atol=1e-6,
        )


def test_every_other_function_has_a_larger_objective():
    X, y = data(n=11, d=2, n_labeled=6)
    weights = np.ones(len(X))
    options = {"metric": "euclidean", "length_scale": LENGTH, "standardize": False}
    model = regressor(solver="exact", kernel="gaussian", **options).fit(X, y)
    problem = problem_of(model, X, y, weights)
    least = oracle.minimize_over_span(oracle.KERNELS["gaussian"], problem)
    at_X, gradients = least.evaluate(problem.X)
    rng = np.random.default_rng(2)
    for size in (1e-3, 1e-1, 10.0):
        for _ in range(5):
            moved = least.coordinates + size * rng.standard_normal(least.coordinates.shape)
            shift = least.intercept + size * rng.standard_normal(1)
            fitted = moved @ at_X[problem.labeled].T + shift[:, None]
            slopes = np.einsum("ndq,tq->tnd", gradients, moved)
            assert problem.terms(fitted, slopes, np.sum(moved**2, axis=1)) > model.objective_


@pytest.mark.parametrize("metric", METRICS)
def test_without_the_gradient_penalty_it_is_kernel_ridge(metric):
    X, y = data(n=25, n_labeled=10)
    known = ~np.isnan(y)
    options = {"length_scale": LENGTH, "standardize": False, "metric": metric, "mu": 0.0}
    models = [regressor(solver=solver, **options).fit(X, y) for solver in ("exact", "cg")]
    expected = problem_of(models[0], X, y, np.ones(len(X)))
    matern, new = oracle.KERNELS["matern52"], models[0]._columns.apply(X) / LENGTH
    K = oracle.values(matern, expected.X[known], expected.X[known])
    dual, intercept = oracle.kernel_ridge(K, expected.y, np.ones(10), 1e-3)
    predicted = oracle.values(matern, new, expected.X[known]) @ dual[0] + intercept[0]
    ridge = predicted * y[known].std() + y[known].mean()
    for model in models:
        np.testing.assert_allclose(model.predict(X), ridge, atol=1e-9)
    # Centres at all points have all labelled ones among them.
    model = regressor(solver="nystrom", **options).fit(X, y)
    np.testing.assert_allclose(model.predict(X), ridge, atol=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_tiny_penalty_on_gradients_is_nearly_none(solver):
    X, y = data(n=60, n_labeled=60)
    options = {"solver": solver, "alpha": "auto"}
    ridge = regressor(mu=0.0, **options).fit(X, y)
    for mu in (1e-25, 1e-9):
        model = regressor(mu=mu, **options).fit(X, y)
        assert model.mu_ == pytest.approx(mu)
        np.testing.assert_allclose(model.predict(X), ridge.predict(X), atol=1e-3)


@pytest.mark.parametrize("metric", METRICS)
def test_a_stronger_penalty_on_gradients_makes_them_smaller(metric):
    X, y = data(n=30, n_labeled=30)
    sizes = []
    for mu in (0.0, 1e-3, 1e-1, 10.0, 1e3):
        model = regressor(mu=mu, metric=metric, solver="exact").fit(X, y)
        sizes.append(np.sum(model.sensitivity(X) * X.var(axis=0)))
    assert np.all(np.diff(sizes) < 0)
    assert sizes[-1] < 1e-4 * sizes[0]


# Semi-supervised ---------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
def test_more_rows_are_rows_without_a_target(solver):
    X, y = data()
    for options in ({}, {"mu": "auto", "alpha": "auto"}):
        model = regressor(solver=solver, **options)
        together = clone(model).fit(X, y)
        apart = clone(model).fit(X[:12], y[:12], X_unlabeled=X[12:])
        np.testing.assert_array_equal(apart.predict(X), together.predict(X))
        assert apart.n_labeled_ == together.n_labeled_ == 12
        alone = clone(model).fit(X[:12], y[:12])
        none = clone(model).fit(X[:12], y[:12], X_unlabeled=X[:0])
        np.testing.assert_array_equal(none.predict(X), alone.predict(X))


def test_unlabeled_points_change_the_fit_through_gradients_only():
    X, y = data()
    options = {"standardize": False, "length_scale": 2.0, "solver": "exact"}
    for mu, same in ((0.0, True), (0.1, False)):
        model = regressor(mu=mu, **options)
        apart = clone(model).fit(X[:12], y[:12]).predict(X)
        together = clone(model).fit(X, y).predict(X)
        # The mean of the rows is another one, which radial kernels do not see.
        assert np.allclose(apart, together, atol=1e-9) == same


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("metric", METRICS)
def test_weights_are_repetitions_in_any_order(solver, metric):
    X, y = data()
    rng = np.random.default_rng(3)
    weights = rng.integers(0, 4, len(X))
    weights[:2] = 2, 3
    model = regressor(solver=solver, metric=metric, n_centers=20, mu="auto", alpha="auto")
    expected = clone(model).fit(X, y, sample_weight=weights).predict(X)
    rows = rng.permutation(np.repeat(np.arange(len(X)), weights))
    np.testing.assert_array_equal(clone(model).fit(X[rows], y[rows]).predict(X), expected)
    more = clone(model).set_params(n_jobs=2).fit(X[rows], y[rows])
    np.testing.assert_array_equal(more.predict(X), expected)
    scaled = clone(model).fit(X, y, sample_weight=5.3 * weights)
    np.testing.assert_allclose(scaled.predict(X), expected, atol=1e-7)


def test_a_row_with_and_without_a_target_is_one_point():
    X, y = data(n=20, n_labeled=8)
    twice = np.vstack([X, X[:3]])
    gaps = np.concatenate([y, np.full(3, np.nan)])
    weights = np.where(np.arange(20) < 3, 2.0, 1.0)
    model = regressor(solver="exact", standardize=False, length_scale=2.0).fit(twice, gaps)
    assert model.centers_.shape == (20, 3)
    # The gradient at the first rows counts twice, their targets once.
    moved, known = inputs_of(model, twice)[:20] / 2.0, ~np.isnan(y)
    centered = (X - np.average(X, axis=0, weights=weights))[:, model.inputs_]
    np.testing.assert_allclose(moved, centered / 2.0, atol=1e-7)
    problem = oracle.Problem(
        moved,
        weights,
        np.flatnonzero(known),
        targets_of(model, gaps)[:, :20][:, known],
        np.ones(8),
        0.1 / 4,
        1e-3,
        oracle.local_frames(moved, weights, 7),
    )
    least = oracle.minimize_over_span(oracle.KERNELS["matern52"], problem)
    assert model.objective_ == pytest.approx(least.objective, rel=1e-8)


# Invariances -------------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["exact", "cg", "nystrom"])
@pytest.mark.parametrize("metric", METRICS)
def test_rotations_do_not_matter_without_standardisation(solver, metric):
    X, y = data()
    Q = np.linalg.qr(np.random.default_rng(4).standard_normal((3, 3)))[0]
    # Points are put in an order by their content; with as many centres it does not matter.
    model = regressor(solver=solver, metric=metric, standardize=False)
    plain, turned = clone(model).fit(X, y), clone(model).fit(X @ Q, y)
    np.testing.assert_allclose(turned.predict(X @ Q), plain.predict(X), atol=1e-9)
    np.testing.assert_allclose(turned.gradient(X @ Q) @ Q.T, plain.gradient(X), atol=1e-8)


@pytest.mark.parametrize("solver", ["exact", "cg", "nystrom"])
def test_units_of_columns_and_targets_do_not_matter(solver):
    X, y = data()
    scale, shift = np.array([1e-3, 1.0, 1e5]), np.array([5.0, -1.0, 1e6])
    model = regressor(solver=solver, mu="auto", alpha="auto")
    plain = clone(model).fit(X, y)
    other = clone(model).fit(X * scale + shift, 1e4 * y - 7.0)
    np.testing.assert_allclose(
        other.predict(X * scale + shift), 1e4 * plain.predict(X) - 7.0, rtol=1e-6
    )
    np.testing.assert_allclose(
        other.gradient(X * scale + shift) * scale / 1e4, plain.gradient(X), atol=1e-5
    )
    np.testing.assert_allclose(other.feature_importances_, plain.feature_importances_, atol=1e-6)


def test_several_targets_share_their_penalties_only():
    X, y = data()
    targets = np.column_stack([y, 100.0 * X[:, 2] * y, -y])
    both = regressor(solver="exact").fit(X, targets)
    for k, column in enumerate(targets.T):
        alone = regressor(solver="exact").fit(X, column)
        np.testing.assert_allclose(both.predict(X)[:, k], alone.predict(X), rtol=1e-9)
        np.testing.assert_allclose(both.gradient(X)[:, k], alone.gradient(X), rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(both.sensitivity(X)[k], alone.sensitivity(X), rtol=1e-6)


# Gradients ---------------------------------------------------------------------------------------


def differences(function, X, units):
    """Central differences of a function of rows, (n, ..., d)."""
    found = []
    for j, size in enumerate(units):
        step = np.zeros(X.shape[1])
        step[j] = 1e-5 * size
        found.append((function(X + step) - function(X - step)) / (2e-5 * size))
    return np.stack(found, axis=-1)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("n_targets", [1, 2])
def test_gradients_are_those_of_predictions(solver, standardize, n_targets):
    X, y = data()
    if standardize:
        X = X * [1.0, 100.0, 0.01] + [5.0, -300.0, 2.0]
    X[:, 1] = X[0, 1]
    y = y if n_targets == 1 else np.column_stack([y, 50.0 * y * X[:, 0]])
    units = np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    # Beside the centres, where second derivatives of some atoms jump.
    beside = X + 0.1 * units
    kernels = ("gaussian", "matern32") if solver == "random_features" else DIFFERENTIABLE_KERNELS
    for kernel in kernels:
        model = regressor(solver=solver, kernel=kernel, standardize=standardize).fit(X, y)
        gradient = model.gradient(beside)
        assert gradient.shape == ((40, 3) if n_targets == 1 else (40, 2, 3))
        np.testing.assert_array_equal(gradient[..., 1], 0.0)
        expected = differences(model.predict, beside, units)
        atol = 1e-6 * np.abs(expected * units).max()
        np.testing.assert_allclose(gradient * units, expected * units, atol=atol)
        squares = np.mean(gradient**2, axis=0)
        np.testing.assert_allclose(model.sensitivity(beside), squares, rtol=1e-12)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_labeled", [6, 40])
def test_gradients_of_classes_are_those_of_log_odds(n_classes, solver, n_labeled):
    X, y = data(n_labeled=n_labeled)
    options = {"mu": 0.01, "alpha": 1e-3, "solver": solver, "random_state": 0, "n_jobs": 1}
    model = KernelLaplacianClassifier(**options).fit(X, labels_of(y, n_classes))
    # Calibrated or not.
    assert (model.stretch_ > 1.0 or model.trusted_score_ != UNCALIBRATED.trusted) == (
        n_labeled == 40
    )
    beside = X + 0.1
    gradient = model.gradient(beside)
    assert gradient.shape == ((40, 3) if n_classes == 2 else (40, 3, 3))
    expected = differences(model.decision_function, beside, np.ones(3))
    np.testing.assert_allclose(gradient, expected, atol=1e-6 * np.abs(expected).max())
    np.testing.assert_allclose(model.sensitivity(beside), np.mean(gradient**2, axis=0), rtol=1e-12)


def test_gradients_of_single_precision_and_of_rows_far_away():
    X, y = data()
    model = regressor(solver="exact").fit(X, y)
    single = model.gradient(X.astype(np.float32))
    assert single.dtype == np.float64
    np.testing.assert_allclose(single, model.gradient(X.astype(np.float32).astype(float)))
    # Inputs beyond a limit count as the limit, where nothing varies with them.
    far = X[:2] + np.array([0.0, 1e120, 0.0])
    np.testing.assert_array_equal(model.gradient(far)[:, 1], 0.0)
    assert np.isfinite(model.predict(far)).all()


def test_columns_without_influence_are_found():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((200, 5))
    y = np.sin(X @ [1.0, 1.0, 0.0, 0.0, 0.0])
    model = KernelLaplacianRegressor(n_jobs=1, random_state=0).fit(X, y)
    assert model.feature_importances_[:2].min() > 5 * model.feature_importances_[2:].max()
    assert abs(model.loadings_[0] @ [1, 1, 0, 0, 0]) / np.sqrt(2) > 0.99


# Fits --------------------------------------------------------------------------------------------


def test_a_small_penalty_from_a_list_is_the_given_one():
    X, y = data(n_labeled=30)
    model = regressor(mu=[0.01, 1.0], alpha=(1e-4, 1e-2), solver="exact").fit(X, y)
    search = model.alpha_search_
    np.testing.assert_allclose(search["mu"], [0.01, 0.01, 1.0, 1.0])
    np.testing.assert_allclose(search["alpha"], [1e-4, 1e-2, 1e-4, 1e-2])
    best = np.argmin(search["loss"])
    assert (model.mu_, model.alpha_) == (search["mu"][best], search["alpha"][best])
    given = regressor(mu=model.mu_, alpha=model.alpha_, solver="exact").fit(X, y)
    np.testing.assert_allclose(model.predict(X), given.predict(X), rtol=1e-7)
    assert not hasattr(given, "alpha_search_")


@pytest.mark.parametrize(
    ("options", "axis", "n_curve"),
    [
        ({}, "ratio", 6),
        ({"solver": "nystrom"}, "ratio", 6),
        ({"alpha": [1e-4, 1e-3, 1e-2]}, "ratio", 3),
        ({"mu": [0.01, 1.0]}, "mu", 11),
        ({"mu": [0.01, 1.0], "alpha": [1e-4, 1e-3, 1e-2]}, "mu", 3),
        ({"mu": 0.1}, "mu", 11),
    ],
)
def test_what_was_compared_has_one_curve_in_alpha(options, axis, n_curve):
    X, y = data(n_labeled=30)
    given = {"n_centers": 60, "random_state": 0, "n_jobs": 1} | options
    model = KernelLaplacianRegressor(**given).fit(X, y)
    record = SearchRecord.of_dict(model.alpha_search_)
    assert list(record.settings) == ["alpha", axis]
    assert set(model.alpha_search_) == {"alpha", "ratio", "mu", "loss", "chosen", "searched"}
    found = {**record.settings, **record.notes}
    np.testing.assert_allclose(found["mu"], found["ratio"] * found["alpha"], rtol=1e-12)
    assert found["alpha"][record.chosen] == model.alpha_
    assert found["mu"][record.chosen] == model.mu_
    alphas, losses = record.curve("alpha")
    assert len(alphas) == n_curve and np.all(np.diff(alphas) > 0)
    # No zigzag: losses fall, then rise.
    turns = np.count_nonzero(np.diff(np.sign(np.diff(losses))))
    assert turns <= 1 and record.losses[record.chosen] in losses


@pytest.mark.parametrize("k", [1, 3])
def test_an_interrupted_search_goes_on_with_the_best_so_far(monkeypatch, k):
    X, y = data()
    whole = LaplacianSolver.losses
    calls = []

    def losses(self, ratio, alphas):
        calls.append(ratio)
        if len(calls) == k + 1:
            raise KeyboardInterrupt
        return whole(self, ratio, alphas)

    monkeypatch.setattr(LaplacianSolver, "losses", losses)
    model = KernelLaplacianRegressor(n_jobs=1, random_state=0, solver="exact")
    fit_interrupted(model, X, y)
    assert model.status_ == Status.INTERRUPTED.value
    assert len(model.alpha_search_["loss"]) == 6 * k
    assert np.isfinite(model.predict(X)).all()


def test_an_interrupted_solve_after_a_search_is_made_again(monkeypatch):
    X, y = data()
    whole = ExactSolver.fit
    calls = []

    def fit(self, penalties, **options):
        calls.append(penalties)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return whole(self, penalties, **options)

    model = KernelLaplacianRegressor(n_jobs=1, random_state=0, solver="exact")
    expected = clone(model).fit(X, y).predict(X)
    monkeypatch.setattr(ExactSolver, "fit", fit)
    fit_interrupted(model, X, y)
    assert calls[0] == calls[1]
    np.testing.assert_array_equal(model.predict(X), expected)
    calls.clear()
    with pytest.raises(KeyboardInterrupt):
        model.set_params(mu=0.1, alpha=1e-3).fit(X, y)


def test_an_interruption_before_anything_leaves_the_old_model(monkeypatch):
    X, y = data()
    model = KernelLaplacianRegressor(n_jobs=1, random_state=0).fit(X, y)
    before = model.predict(X)

    def losses(self, ratio, alphas):
        raise KeyboardInterrupt

    monkeypatch.setattr(LaplacianSolver, "losses", losses)
    with pytest.raises(KeyboardInterrupt):
        model.fit(2 * X + 1, -y)
    np.testing.assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize("k", [0, 2])
def test_interrupted_conjugate_gradients_leave_a_function(monkeypatch, k):
    X, y = data()
    whole = ShiftedSystem.apply
    calls = []

    def apply(self, unknowns):
        calls.append(0)
        if len(calls) == k + 1:
            raise KeyboardInterrupt
        return whole(self, unknowns)

    monkeypatch.setattr(ShiftedSystem, "apply", apply)
    model = regressor(solver="cg", mu=1.0, alpha=1e-8)
    fit_interrupted(model, X, y)
    assert model.n_iter_ == k and model.status_ == Status.INTERRUPTED.value
    assert np.isfinite(model.predict(X)).all()
    if k == 0:
        np.testing.assert_allclose(model.predict(X), np.nanmean(y), rtol=1e-9)


def test_conjugate_gradients_without_a_solution_say_so():
    X, y = data()
    with pytest.warns(ConvergenceWarning, match="residual of .* raise alpha or max_iter") as caught:
        model = regressor(solver="cg", mu=1e12, alpha=1e-12, max_iter=20).fit(X, y)
    # The other one is that of every fit that stops at max_iter.
    assert [warning.filename for warning in caught] == [__file__] * 2
    assert model.status_ != Status.CONVERGED.value
    assert model.objective_history_[-2] > 1e-3


@pytest.mark.filterwarnings("error")
def test_conjugate_gradients_and_dense_matrices_agree():
    X, y = data(n=60)
    for metric in METRICS:
        cg, exact = (regressor(solver=s, metric=metric).fit(X, y) for s in ("cg", "exact"))
        np.testing.assert_allclose(cg.predict(X), exact.predict(X), atol=1e-9)
        np.testing.assert_allclose(cg.coef_, exact.coef_, atol=1e-6)
        assert cg.objective_ == pytest.approx(exact.objective_, rel=1e-10)


def test_in_a_search_and_in_a_pipeline():
    X, y = data(n=80, n_labeled=80)
    labels = labels_of(y)
    steps = make_pipeline(StandardScaler(), KernelLaplacianClassifier(n_jobs=1, random_state=0))
    grid = {"kernellaplacianclassifier__mu": [0.0, 0.1, 1e6]}
    search = GridSearchCV(steps, grid, cv=3).fit(X, labels)
    assert search.best_params_["kernellaplacianclassifier__mu"] < 1e6
    assert search.best_score_ > 0.8
    more = {"kernellaplacianclassifier__X_unlabeled": X[:20]}
    assert steps.fit(X[20:], labels[20:], **more).score(X, labels) > 0.8

"""The estimators against slow and obvious code."""

from __future__ import annotations

import numpy as np
import pytest

from families import inputs_of, targets_of
from kernlens import RFMClassifier, RFMRegressor
from kernlens.kernels import GeneralizedLaplaceKernel, RadialKernel
from reference import rfm as reference

MACHINES = [
    ("laplace", "full"),
    ("laplace", "diag"),
    ("gaussian", "full"),
    ("gaussian", "diag"),
    ("product_laplace", "diag"),
    ("generalized_laplace", "full"),
    ("cauchy", "full"),
    ("cauchy", "diag"),
]


class CauchyKernel(RadialKernel):
    """A kernel of a user: ``1 / (1 + r^2)``."""

    def profile(self, s):
        return 1.0 / (1.0 + s)

    def derivative(self, s):
        return -1.0 / (1.0 + s) ** 2


#: Kernels that have no name.
OBJECTS = {"generalized_laplace": GeneralizedLaplaceKernel(0.7), "cauchy": CauchyKernel()}
PLAIN = {"truncate": None, "linear_part": False, "n_directions": 2, "n_jobs": 1}


def problem(n=22, n_targets=1, seed=0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, 3)) * [1.0, 2.0, 0.5] + [0.0, 3.0, -1.0]
    Y = np.column_stack([np.sin(X[:, 0]) + 0.3 * X[:, 1], X[:, 1] * X[:, 2]])[:, :n_targets]
    Y = Y + 0.1 * random.standard_normal(Y.shape)
    weights = random.integers(1, 4, n).astype(float)
    return X, (Y[:, 0] if n_targets == 1 else Y), weights


def assert_close(found, expected):
    """Equal up to the ten digits that weights have, and what updates make of the rest."""
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-7 * np.abs(expected).max())


def relative(weights):
    """Weights as a fit counts them: they sum to the effective number of rows."""
    return weights * weights.sum() / np.sum(weights**2)


@pytest.mark.parametrize(("kernel", "metric"), MACHINES)
@pytest.mark.parametrize("n_updates", [0, 1, 3])
@pytest.mark.parametrize("n_targets", [1, 2])
def test_predictions_are_those_of_the_algorithm(kernel, metric, n_updates, n_targets):
    X, y, weights = problem(n_targets=n_targets)
    model = RFMRegressor(
        kernel=OBJECTS.get(kernel, kernel),
        metric=metric,
        ranks=False,
        alpha=0.1,
        width=2.0,
        n_updates=n_updates,
        **PLAIN,
    ).fit(X, y, weights)
    inputs, targets = inputs_of(model, X), targets_of(model, y, weights)
    w = relative(weights)
    L, a, c = reference.machine(kernel, metric, inputs, targets, w, 0.1, 2.0, n_updates)
    new = np.random.default_rng(1).standard_normal((5, 3)) * 1.5
    images = model._columns.apply(new)
    expected = model._targets.restore(reference.predict(kernel, L, a, c, inputs, images))
    np.testing.assert_allclose(
        np.atleast_2d(model.predict(new).T), expected, rtol=0.0, atol=1e-7 * np.abs(expected).max()
    )


@pytest.mark.parametrize(("kernel", "metric"), MACHINES)
def test_ranks_stand_beside_the_columns(kernel, metric):
    X, y, weights = problem()
    X[:, 2] = np.round(X[:, 2])
    settings = {"kernel": OBJECTS.get(kernel, kernel), "metric": metric, "ranks": True}
    model = RFMRegressor(alpha=0.1, width=2.0, n_updates=2, **settings, **PLAIN).fit(X, y, weights)
    inputs, targets = inputs_of(model, X), targets_of(model, y, weights)
    w = relative(weights)
    wide = reference.beside_ranks(inputs, w, inputs)
    L, a, c = reference.machine(kernel, metric, wide, targets, w, 0.1, 2.0, 2)
    new = np.random.default_rng(1).standard_normal((5, 3)) * 1.5
    wide_new = reference.beside_ranks(inputs, w, model._columns.apply(new))
    expected = model._targets.restore(reference.predict(kernel, L, a, c, wide, wide_new))[0]
    np.testing.assert_allclose(
        model.predict(new), expected, rtol=0.0, atol=1e-7 * np.abs(expected).max()
    )


def held_out_losses(kernel, metric, inputs, targets, alphas, width, n_updates):
    """Half the mean squared error of three folds, for every alpha all the way; weights are 1."""
    fold = np.arange(len(inputs)) % 3
    errors = np.zeros((len(alphas), len(inputs)))
    for k in range(3):
        train, test = inputs[fold != k], inputs[fold == k]
        ones = np.ones(len(train))
        for place, alpha in enumerate(alphas):
            known = targets[:, fold != k]
            L, a, c = reference.machine(kernel, metric, train, known, ones, alpha, width, n_updates)
            predicted = reference.predict(kernel, L, a, c, train, test)
            errors[place, fold == k] = (predicted - targets[:, fold == k])[0] ** 2
    return 0.5 * errors.mean(axis=1)


def test_the_search_has_the_losses_of_held_out_rows():
    X, y, _ = problem(n=24)
    alphas = [0.01, 0.3]
    model = RFMRegressor(
        metric="full", ranks=False, alpha=alphas, width=[1.0, 4.0], n_updates=0, **PLAIN
    ).fit(X, y)
    # Centres are the rows in the order of the folds.
    inputs = model.centers_
    order = [int(np.argmin(np.abs(inputs_of(model, X) - row).sum(axis=1))) for row in inputs]
    targets = targets_of(model, y)[:, order]
    search = model.alpha_search_
    for width in (1.0, 4.0):
        expected = held_out_losses("laplace", "full", inputs, targets, alphas, width, 0)
        np.testing.assert_allclose(search["loss"][search["width"] == width], expected, rtol=1e-7)
    assert search["loss"][search["chosen"]] == search["loss"].min()
    assert model.alpha_ == search["alpha"][search["chosen"]]
    assert model.widths_[0] == search["width"][search["chosen"]]


def test_one_alpha_is_updated_with_in_every_fold():
    X, y, _ = problem(n=24)
    model = RFMRegressor(
        metric="diag", ranks=False, alpha=0.1, width=[1.0, 4.0], n_updates=2, **PLAIN
    ).fit(X, y)
    inputs = model.centers_
    order = [int(np.argmin(np.abs(inputs_of(model, X) - row).sum(axis=1))) for row in inputs]
    targets = targets_of(model, y)[:, order]
    for width in (1.0, 4.0):
        expected = held_out_losses("laplace", "diag", inputs, targets, [0.1], width, 2)
        found = model.alpha_search_["loss"][model.alpha_search_["width"] == width]
        np.testing.assert_allclose(found, expected, rtol=1e-7)


def test_a_mixture_is_ridge_regression_with_the_sum_of_the_kernels():
    random = np.random.default_rng(3)
    X = random.standard_normal((60, 3))
    y = np.sin(2.0 * X[:, 0]) + np.abs(X[:, 1] + X[:, 2]) + 0.1 * random.standard_normal(60)
    model = RFMRegressor(alpha=0.05, width=2.0, n_updates=1, **PLAIN).fit(X, y)
    assert len(model.machines_) > 1, "this problem is to have a mixture"
    inputs, targets = inputs_of(model, X), targets_of(model, y)
    new = random.standard_normal((4, 3))
    K, across = 0.0, 0.0
    for name, weight in zip(model.machines_, model.machine_weights_, strict=True):
        kind, *ranked = name.split()
        kernel, metric = ("laplace", kind) if kind in ("full", "diag") else (kind, "diag")
        rows, others = inputs, model._columns.apply(new)
        if ranked:
            ranks = model._function.kernel.ranks
            rows, others = ranks.beside(rows), ranks.beside(others)
        L, _, _ = reference.machine(kernel, metric, rows, targets, np.ones(60), 0.05, 2.0, 1)
        K = K + weight * reference.kernel_matrix(kernel, rows @ L.T, rows @ L.T)
        across = across + weight * reference.kernel_matrix(kernel, others @ L.T, rows @ L.T)
    assert model.machine_weights_.sum() == pytest.approx(1.0)
    a, c = reference.ridge(K, targets, np.ones(60), 0.05)
    expected = model._targets.restore(a @ across.T + c[:, None])[0]
    np.testing.assert_allclose(
        model.predict(new), expected, rtol=0.0, atol=1e-7 * np.abs(expected).max()
    )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_classifier_minimizes_the_loss_of_classes_with_the_map_of_squares(n_classes):
    random = np.random.default_rng(4)
    X = random.standard_normal((40, 3))
    labels = np.digitize(X[:, 0] + 0.3 * random.standard_normal(40), [-0.5, 0.5][: n_classes - 1])
    settings = {"metric": "full", "ranks": False, "alpha": 0.1, "width": 2.0, "n_updates": 1}
    model = RFMClassifier(n_directions=2, n_jobs=1, **settings).fit(X, labels)
    inputs = inputs_of(model, X)
    onehot = np.array([labels == k for k in range(n_classes)], dtype=float)
    onehot = onehot[1:] if n_classes == 2 else onehot
    L, _, _ = reference.machine("laplace", "full", inputs, onehot, np.ones(40), 0.1, 2.0, 1)
    # Distances are those of the oracle's map.
    np.testing.assert_allclose(model.maps_[0].T @ model.maps_[0], L.T @ L, atol=1e-8)
    K = reference.kernel_matrix("laplace", inputs @ L.T, model.centers_ @ L.T)
    among = reference.kernel_matrix("laplace", model.centers_ @ L.T, model.centers_ @ L.T)
    probabilities = model.predict_proba(X).T
    errors = (probabilities[1:] if n_classes == 2 else probabilities) - onehot
    slope = errors @ K + 0.1 * model.dual_coef_ @ among
    assert np.abs(slope).max() < 1e-5 * np.abs(errors @ K).max()
    assert np.abs(errors.sum(axis=1)).max() < 1e-5

"""RFMRegressor and RFMClassifier: planted directions, invariances, limits, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

from kernlens import RFMClassifier, RFMRegressor
from kernlens.kernels import GeneralizedLaplaceKernel
from kernlens.methods.rfm import estimator, learner
from kernlens.metrics import principal_angles

LIGHT = {"alpha": 0.05, "width": 3.0, "ranks": False, "n_directions": 2, "n_jobs": 1}
PLAIN = {"truncate": None, "linear_part": False}


def sample(n=150, d=5, seed=0):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d))
    P = np.linalg.qr(random.standard_normal((d, 2)))[0].T
    a, b = P @ X.T
    return X, np.sin(2.0 * a) + b**2 + 0.05 * random.standard_normal(n), P


def test_updates_find_planted_directions():
    X, y, P = sample(300)
    angles = []
    for n_updates in (0, 3):
        model = RFMRegressor(metric="full", n_updates=n_updates, **LIGHT).fit(X, y)
        angles.append(principal_angles(model.components_, P).max())
    assert angles[1] < 0.25
    assert angles[1] < angles[0]


def test_out_of_the_box_the_number_of_directions_is_found():
    X, y, P = sample(300)
    model = RFMRegressor(n_jobs=1).fit(X, y)
    assert model.n_directions_ == 2
    assert principal_angles(model.components_, P).max() < 0.3


def test_without_updates_it_is_kernel_ridge_regression():
    X, y, _ = sample(60)
    model = RFMRegressor(metric="diag", n_updates=0, kernel="gaussian", **LIGHT, **PLAIN).fit(X, y)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    # Without an intercept: a constant is added to the kernel instead, as large as can be.
    gamma = 1.0 / (2.0 * 9.0 * X.shape[1])
    other = KernelRidge(alpha=0.05 / 1e6, kernel=lambda u, v: 1.0 + 1e-6 * _gauss(u, v, gamma))
    np.testing.assert_allclose(model.predict(X), other.fit(Z, y).predict(Z), atol=1e-4)


def _gauss(u, v, gamma):
    return np.exp(-gamma * np.sum((u - v) ** 2))


def test_a_full_map_does_not_see_a_rotation():
    X, y, _ = sample(60)
    turn = np.linalg.qr(np.random.default_rng(1).standard_normal((5, 5)))[0]
    settings = {**LIGHT, **PLAIN, "metric": "full", "n_updates": 2, "standardize": False}
    plain, turned = (RFMRegressor(**settings).fit(Z, y) for Z in (X, X @ turn))
    size = np.ptp(y)
    np.testing.assert_allclose(turned.predict(X @ turn), plain.predict(X), atol=1e-5 * size)


def test_many_rows_are_fitted_on_centres(monkeypatch):
    X, y, P = sample(400)
    exact = RFMRegressor(metric="full", n_updates=2, **LIGHT, **PLAIN).fit(X, y)
    monkeypatch.setattr(estimator, "EXACT_ROWS", 100)
    monkeypatch.setattr(estimator, "CENTER_BOUNDS", (200, 200))
    monkeypatch.setattr(learner, "MAP_ROWS", 300)
    monkeypatch.setattr(learner, "MAP_CENTERS", 150)
    near = RFMRegressor(metric="full", n_updates=2, **LIGHT, **PLAIN).fit(X, y)
    assert near.centers_.shape == (200, 5)
    assert principal_angles(near.components_, P).max() < 0.35
    assert np.mean((near.predict(X) - exact.predict(X)) ** 2) < 0.05 * np.var(y)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_are_predicted(n_classes):
    X, score, _ = sample(200)
    labels = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
    model = RFMClassifier(n_jobs=1).fit(X[:150], labels[:150])
    assert model.score(X[150:], labels[150:]) > 0.7


def test_the_best_machine_or_mixture_is_chosen():
    X, y, _ = sample(90)
    model = RFMRegressor(n_jobs=1, linear_part=False).fit(X, y)
    search = model.alpha_search_
    chosen = search["chosen"]
    assert search["loss"][chosen] == search["loss"].min()
    assert search["alpha"][chosen] == model.alpha_
    name = "mixture" if len(model.machines_) > 1 else model.machines_[0]
    assert search["machine"][chosen] == name
    assert set(search["machine"]) <= {"full", "diag ranks", "product_laplace", "mixture"}


def test_a_handful_of_rows_is_fitted():
    model = RFMRegressor(n_jobs=1).fit([[0.0], [1.0]], [0.0, 1.0])
    assert np.isfinite(model.predict([[0.5]])).all()


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"kernel": "product_laplace", "metric": "full"}, "give metric='diag' or 'auto'"),
        ({"width": [1.0, 0.0]}, "width must be"),
        ({"width": "wide"}, "width must be"),
        ({"n_updates": 1001}, "n_updates"),
        ({"centers": "some"}, "centers must be"),
        ({"ranks": "yes"}, "ranks must be"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(settings, sentence):
    X, y, _ = sample(20)
    with pytest.raises(ValueError, match=sentence):
        RFMRegressor(**settings).fit(X, y)


@pytest.mark.parametrize("q", [0.0, 2.1, np.nan])
def test_a_power_that_is_no_kernel_is_refused(q):
    with pytest.raises(ValueError, match="q must be a number"):
        GeneralizedLaplaceKernel(q)


@pytest.mark.parametrize("ranks", [False, True])
def test_a_column_with_one_frequent_value_is_no_more_important_than_what_it_does(ranks):
    """Ranks are steep beside that value, where nearly all rows are."""
    random = np.random.default_rng(0)
    X = random.standard_normal((300, 3))
    frequent = random.random(300) < 0.9
    X[:, 2] = np.where(frequent, 1e-4 * random.integers(0, 2, 300), np.exp(X[:, 2]))
    y = X[:, 0] + 0.5 * X[:, 1] + 0.3 * ~frequent
    settings = {**LIGHT, "ranks": ranks, "metric": "diag", "n_updates": 1}
    model = RFMRegressor(**settings, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9
    assert np.argsort(-model.feature_importances_).tolist() == [0, 1, 2]

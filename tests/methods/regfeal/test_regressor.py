"""RegFeaLRegressor: planted directions, refits, what must not matter, and heavy tails."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor

from families import fit_interrupted, inputs_of, targets_of
from kernlens import AllPolynomials, RegFeaLRegressor, UpToDegree
from kernlens._result import Status
from kernlens.base.direction_counting import FEWEST_ROWS
from kernlens.datasets import make_quartic, make_two_sines
from kernlens.methods.regfeal.objective import HermiteObjective
from kernlens.methods.regfeal.plan import LAMBDA
from kernlens.metrics import feature_learning_score
from reference import regfeal

FAST = {
    "alpha": 0.1,
    "rho": 0.3,
    "refit": None,
    "max_iter": 4,
    "n_folds": 2,
    "n_directions": 2,
    "n_jobs": 1,
    "random_state": 0,
}


def sample(n=50, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * np.geomspace(0.5, 3.0, d) + 2.0
    z = (X - 2.0) @ (1.0 / np.geomspace(0.5, 3.0, d)) / np.sqrt(d)
    return X, 5.0 + 3.0 * np.sin(1.5 * z) + 0.3 * rng.standard_normal(n)


def fit(X, y, sample_weight=None, **options):
    return RegFeaLRegressor(**{**FAST, **options}).fit(X, y, sample_weight=sample_weight)


# Planted solutions


@pytest.mark.parametrize(
    ("make", "noise", "alpha", "rho", "asked"),
    [(make_two_sines, 0.2, 1.0, 0.6, 0.75), (make_quartic, 2.5, 0.1, 0.4, 0.6)],
)
def test_planted_directions_are_found(make, noise, alpha, rho, asked):
    data = make(200, 5, noise=noise, n_test=300, random_state=1)
    model = fit(data.X, data.y, alpha=alpha, rho=rho, max_iter=15, tol=1e-3)
    assert model.n_directions_ == 2
    assert feature_learning_score(data.components, model.components_) > 0.97
    assert model.score(data.X_test, data.y_test) > asked
    refitted = fit(data.X, data.y, alpha=alpha, rho=rho, max_iter=15, tol=1e-3, refit="auto")
    assert refitted.score(data.X_test, data.y_test) > asked


def test_two_columns_are_selected():
    data = make_two_sines(200, 5, structure="variables", noise=0.2, random_state=0)
    model = fit(data.X, data.y, alpha=1.0, rho=0.6, structure="variables", max_iter=20)
    assert model.n_directions_ == 2
    assert model.feature_importances_[:2].min() > 0.4
    assert model.feature_importances_[2:].sum() < 0.01
    np.testing.assert_array_equal(np.abs(model.rotation_).sum(axis=0), 1.0)


def test_several_targets_share_their_directions():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 4))
    y = np.column_stack([np.sin(X @ [1, 1, 0, 0]), 1e4 * (X @ [0, 0, 1, -1]) ** 2])
    model = fit(X, y, max_iter=20)
    assert model.n_directions_ == 2
    truth = [[1, 1, 0, 0], [0, 0, 1, -1]]
    assert feature_learning_score(truth, model.components_) > 0.98
    assert model.score(X, y) > 0.9
    alone = fit(X, y[:, 0], max_iter=20)
    assert feature_learning_score(truth[:1], alone.components_) > 0.98
    assert alone.shares_[0] > 0.9


# What predicts


@pytest.mark.parametrize("refit", [Ridge(0.3), KNeighborsRegressor(3)], ids=str)
@pytest.mark.parametrize("n_targets", [1, 2])
def test_a_given_estimator_predicts_from_projected_rows(refit, n_targets):
    X, y = sample()
    y = y if n_targets == 1 else np.column_stack([y, X[:, 0]])
    # Ridge takes weights, neighbours do not; powers of two are not rounded.
    weights = 2.0 ** np.random.default_rng(1).integers(0, 3, 50)
    weights = weights if isinstance(refit, Ridge) else None
    model = fit(X, y, weights, refit=refit, truncate=None, linear_part=False, clip=None)
    assert not hasattr(refit, "n_features_in_")
    w = np.ones(50) if weights is None else weights
    mean, low = (w @ values / w.sum() for values in (X, y))
    std = np.sqrt(w @ (X - mean) ** 2 / w.sum())
    high = np.sqrt(w @ (y - low) ** 2 / w.sum())
    # The estimator learns from rounded rows and predicts those that are given.
    rows, new = inputs_of(model, X), ((X - mean) / std)[:, model.inputs_]
    np.testing.assert_allclose(rows, new, atol=1e-7)
    targets = targets_of(model, y, w)
    given = {} if weights is None else {"sample_weight": weights}
    expected = refit.__class__(**refit.get_params()).fit(
        rows @ model.projection_.T, targets[0] if n_targets == 1 else targets.T, **given
    )
    predicted = low + high * expected.predict(new @ model.projection_.T)
    np.testing.assert_allclose(model.predict(X), predicted, rtol=1e-9)
    assert isinstance(model.refit_, type(refit))
    assert np.isinf(model.alpha_search_["own_loss"]).all()


def test_the_projection_of_a_refit_is_that_of_the_relevant_directions():
    X = np.random.default_rng(0).standard_normal((80, 4))
    y = np.sin(X @ [1, 1, 0, 0]) + 0.2 * (X @ [0, 0, 1, -1]) ** 2
    model = fit(X, y, refit=Ridge(), max_iter=10)
    kept = model.n_directions_
    assert kept == 2
    assert model.shares_[1] < 0.99 * model.shares_[0]
    expected = (model.rotation_ * model.shares_ / model.shares_[0]).T[:kept]
    np.testing.assert_allclose(model.projection_, expected, rtol=1e-9, atol=1e-12)


def test_auto_keeps_what_predicts_held_out_rows_better():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3))
    bowl, wave = X[:, 0] ** 2 + X[:, 1], np.sin(2.0 * X[:, 0])
    refitted = {}
    for name, y, rho in (("bowl", bowl, 0.1), ("wave", wave, 0.4)):
        y = y + 0.1 * rng.standard_normal(80)
        model = fit(X, y, refit="auto", alpha=[1e-3, 0.1], rho=rho)
        search = model.alpha_search_
        np.testing.assert_array_equal(
            search["loss"], np.minimum(search["own_loss"], search["refit_loss"])
        )
        chosen = np.flatnonzero(search["alpha"] == model.alpha_)[0]
        assert search["n_folds"][chosen] == 2
        assert search["loss"][chosen] == search["loss"][search["n_folds"] == 2].min()
        refitted[name] = hasattr(model, "projection_")
        assert refitted[name] == (search["refit_loss"][chosen] < search["own_loss"][chosen])
        assert model.score(X, y) > 0.9
    assert refitted == {"bowl": False, "wave": True}


def test_predictions_stay_within_the_targets_unless_told_otherwise():
    X, y = sample()
    far = 2.0 + 20.0 * (X - 2.0)
    for refit in (None, "kernel"):
        kept = fit(X, y, refit=refit, basis=UpToDegree(3)).predict(far)
        assert kept.min() == pytest.approx(y.min(), rel=1e-12) or kept.min() > y.min()
        assert kept.max() == pytest.approx(y.max(), rel=1e-12) or kept.max() < y.max()
    free = fit(X, y, basis=UpToDegree(3), truncate=None).predict(far)
    assert free.max() > y.max() or free.min() < y.min()
    np.testing.assert_allclose(
        fit(X, y, basis=UpToDegree(3)).predict(far), np.clip(free, y.min(), y.max())
    )


# Learning


def test_directions_are_counted_by_what_predicts():
    # One direction, along which all four columns count alike.
    X, y = sample(60, 4)
    for options, number in (
        ({}, 1),
        ({"structure": "variables"}, 4),
        ({"structure": "none"}, 4),
        ({"r": 1.5, "n_directions": 3}, 3),
    ):
        model = fit(X, y, **{"n_directions": "auto", **options})
        assert model.n_directions_ == number
        np.testing.assert_allclose(model.eta_, model.shares_ ** ((2 - model.r) / model.r))
        assert model.shares_.sum() == pytest.approx(1.0)


def test_directions_of_few_rows_are_counted_by_their_shares():
    X, y = sample(FEWEST_ROWS - 1, 4)
    numbers = set()
    for options in ({}, {"structure": "variables"}, {"structure": "none"}, {"r": 1.5}):
        model = fit(X, y, n_directions="auto", **options)
        assert model.n_directions_ == np.sum(model.shares_ >= 0.1)
        numbers.add(model.n_directions_)
    assert len(numbers) > 1


def test_more_rows_than_the_exact_kernel_takes():
    X, y = sample(150)
    model = fit(X, y, basis=AllPolynomials(max_rows=60, n_indices=25), truncate=None)
    assert model.indices_.shape == (25, len(model.eta_))
    unit = 3 ** ((2 - 0.33) / 0.33)
    indices = [tuple(int(k) for k in alpha) for alpha in model.indices_]
    parts = (model.eta_, LAMBDA / unit, 0.1 / unit, lambda k: 0.3**k)
    w = np.array([regfeal.weight(alpha, *parts) for alpha in indices])
    np.testing.assert_allclose(np.sort(w)[::-1], regfeal.best_indices(*parts, 25, 25), rtol=1e-9)
    H = regfeal.design(indices, inputs_of(model, X) @ model.rotation_)
    # All 150 rows, on directions of the first 60.
    b, c, _ = regfeal.ridge(H, w, targets_of(model, y)[0], np.ones(150))
    new = ((X - X.mean(axis=0)) / X.std(axis=0))[:, model.inputs_]
    H = regfeal.design(indices, new @ model.rotation_)
    np.testing.assert_allclose(model.predict(X), y.mean() + y.std() * (H @ b + c), rtol=1e-7)
    refitted = fit(X, y, refit="kernel", basis=AllPolynomials(max_rows=60))
    assert refitted.score(X, y) > 0.8


def test_given_first_directions_and_one_column():
    X, y = sample(80)
    model = fit(X, y, init=[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], max_iter=1)
    assert model.rotation_.shape[1] <= 2
    line = np.linspace(-2, 2, 60)[:, None]
    single = fit(line, np.cos(2 * line[:, 0]), rho=0.6, alpha=1e-3)
    assert single.score(line, np.cos(2 * line[:, 0])) > 0.95
    np.testing.assert_array_equal(np.abs(single.loadings_), [[1.0]])
    np.testing.assert_allclose(np.abs(single.components_), [[1.0 / line.std()]], rtol=1e-12)
    np.testing.assert_array_equal(single.shares_, [1.0])


def test_a_warm_start_goes_on_and_keeps_the_setting():
    X, y = sample(60)
    model = fit(X, y, warm_start=True, max_iter=1, tol=0.0, alpha=[0.01, 0.1])
    before, alpha = model.objective_, model.alpha_
    model.set_params(alpha="auto", rho="auto").fit(X, y)
    assert (model.alpha_, model.rho_) == (alpha, 0.3)
    # It has gone some way before it is compared with a cold start.
    assert model.objective_history_[0] <= before * (1.0 + 1e-6)
    assert model.objective_ < before
    cold = fit(X, y, structure="variables", alpha=alpha, max_iter=1)
    model.set_params(structure="variables", alpha=alpha, rho=0.3).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), cold.predict(X))
    assert model.fit(X[:, :2], y).components_.shape[1] == 2


@pytest.mark.parametrize("k", [0, 7, 25])
def test_an_interrupted_search_keeps_something_usable(k, monkeypatch):
    X, y = sample(60)
    evaluate, calls = HermiteObjective.at, []

    def interrupted(self, directions, **options):
        calls.append(1)
        if len(calls) == k + 1:
            raise KeyboardInterrupt
        return evaluate(self, directions, **options)

    monkeypatch.setattr(HermiteObjective, "at", interrupted)
    settings = {**FAST, "alpha": [0.01, 0.1], "rho": [0.2, 0.4], "refit": "auto"}
    model = fit_interrupted(RegFeaLRegressor(**settings), X, y)
    assert model.status_ == Status.INTERRUPTED.value
    assert model.alpha_ in (0.01, 0.1)
    assert model.rho_ in (0.2, 0.4)
    assert model.score(X, y) > 0.5


# Heavy tails


@pytest.mark.parametrize(("seed", "refit"), [(0, None), (1, "auto")])
def test_heavy_tails(seed, refit):
    rng = np.random.default_rng(seed)
    X = rng.standard_t(1.5, (400, 5))
    y = np.tanh(X[:, 0] - X[:, 1]) + 0.2 * rng.standard_normal(400)
    model = fit(X[:200], y[:200], alpha=[0.1, 1.0], rho=0.2, refit=refit)
    assert np.isfinite(model.predict(X)).all()
    assert model.score(X[200:], y[200:]) > 0.1
    free = fit(X[:200], y[:200], clip=None, truncate=None)
    assert np.isfinite(free.predict(X)).all()

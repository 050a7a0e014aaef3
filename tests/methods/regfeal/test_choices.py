"""RegFeaL where there is little to find, goes on, or hands weights to a refit."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.preprocessing import StandardScaler

from families import fit_interrupted
from kernlens import RegFeaLRegressor, regularization_path
from kernlens._result import Status
from kernlens.datasets import make_two_sines
from kernlens.methods.regfeal.objective import HermiteObjective
from kernlens.metrics import feature_learning_score

GRID = {"alpha": [0.1, 10.0], "rho": [0.1, 0.5], "n_folds": 3, "random_state": 0, "n_jobs": 1}


@pytest.fixture(scope="module")
def data():
    return make_two_sines(150, 5, noise=0.2, n_test=500, random_state=0)


def test_noise_leaves_the_plain_fit():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((80, 6)), rng.standard_normal(80)
    model = RegFeaLRegressor(**GRID, n_directions=2).fit(X, y)
    assert model.status_ == Status.PLAIN.value
    assert model.n_iter_ == 1 and np.isfinite(model.predict(X)).all()
    # The plain fit is listed first, and no setting is better by 5 percent on all folds.
    losses, folds = model.alpha_search_["loss"], model.alpha_search_["n_folds"]
    assert losses[0] * 0.95 < losses[1:][folds[1:] == folds.max()].min()
    # Counted, there is no direction: the same fit says so instead.
    with pytest.warns(UserWarning, match="no direction predicts held-out rows clearly better"):
        counted = RegFeaLRegressor(**GRID).fit(X, y)
    assert counted.status_ == Status.NOTHING.value
    assert counted.n_directions_ == 0 and counted.components_.shape == (0, 6)
    assert counted.n_iter_ == 1
    np.testing.assert_array_equal(counted.predict(X), model.predict(X))


def test_a_plain_fit_without_refit_is_the_function_of_all_columns_alike():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 4)), rng.standard_normal(60)
    model = RegFeaLRegressor(**GRID, refit=None, n_directions=2).fit(X, y)
    assert model.status_ == Status.PLAIN.value
    np.testing.assert_allclose(model.shares_, 0.25)
    np.testing.assert_array_equal(model.rotation_, np.eye(4))


def test_directions_that_predict_are_learned(data):
    model = RegFeaLRegressor(**GRID).fit(data.X, data.y)
    assert model.status_ != Status.PLAIN.value
    # The rotation is of columns in the order of the inputs.
    planted = data.components[:, model.inputs_]
    assert feature_learning_score(planted, model.rotation_.T[:2]) > 0.95


def test_a_path_is_not_caught_by_the_few_directions_of_its_first_alpha(data):
    model = RegFeaLRegressor(rho=0.5, refit=None, max_iter=8, random_state=0, n_jobs=1)
    alphas = [100.0, 1.0, 0.1]
    path = regularization_path(model, data.X, data.y, alphas=alphas, cv=2)
    for alpha, fitted in zip(path.alphas, path.estimators, strict=True):
        alone = RegFeaLRegressor(
            alpha=alpha, rho=0.5, refit=None, max_iter=8, random_state=0, n_jobs=1
        ).fit(data.X, data.y)
        assert fitted.objective_ <= 1.05 * alone.objective_


def test_a_search_does_not_start_from_directions_that_have_seen_all_rows(data):
    model = RegFeaLRegressor(**GRID, warm_start=True).fit(data.X, data.y)
    first = model.alpha_search_
    again = model.fit(data.X, data.y).alpha_search_
    for name, values in first.items():
        np.testing.assert_array_equal(again[name], values)


def test_rows_are_repeated_for_a_refit_that_takes_no_weights(data):
    X, y = data.X[:60], data.y[:60]
    weights = np.random.default_rng(0).integers(1, 4, 60)
    options = {"alpha": 1.0, "rho": 0.5, "n_folds": 2, "max_iter": 2, "random_state": 0}
    refit = KNeighborsRegressor(3)
    weighted = RegFeaLRegressor(**options, refit=refit).fit(X, y, sample_weight=weights)
    assert weighted.refit_.n_samples_fit_ == weights.sum()
    repeated = RegFeaLRegressor(**options, refit=refit).fit(
        np.repeat(X, weights, axis=0), np.repeat(y, weights)
    )
    np.testing.assert_array_equal(weighted.predict(data.X_test), repeated.predict(data.X_test))


@pytest.fixture
def no_work(monkeypatch):
    def evaluated(self, directions, **options):
        raise AssertionError("work began before the input was refused")

    monkeypatch.setattr(HermiteObjective, "at", evaluated)


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"refit": KNeighborsRegressor()}, "does not take sample_weight; use weights that are int"),
        ({"structure": "none", "refit": Ridge()}, "learns no directions to refit on"),
        ({"structure": "none", "refit": "kernel"}, "learns no directions to refit on"),
        ({"refit": StandardScaler()}, "refit must be an estimator with predict"),
        ({"r": 1e-3}, "r is too small for 5 columns, got 0.001; raise it"),
    ],
)
def test_what_cannot_work_is_refused_at_once(data, options, match):
    weights = np.linspace(0.1, 1.0, len(data.X))
    with pytest.raises(ValueError, match=match):
        RegFeaLRegressor(alpha=1.0, rho=0.5, **options).fit(data.X, data.y, weights)


def test_an_interrupted_fit_keeps_the_refit_asked_for(data, monkeypatch):
    evaluate = HermiteObjective.at
    seen = []

    def interrupted(self, directions, **options):
        seen.append(1)
        if len(seen) == 12:
            raise KeyboardInterrupt
        return evaluate(self, directions, **options)

    monkeypatch.setattr(HermiteObjective, "at", interrupted)
    model = fit_interrupted(RegFeaLRegressor(**GRID, refit=Ridge()), data.X, data.y)
    assert isinstance(model.refit_, Ridge) and model.projection_.shape[1] == 5

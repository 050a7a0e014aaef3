"""The automatic estimators: predictions, answers, refusals, interruptions, files."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.metrics import mean_pinball_loss
from sklearn.model_selection import GroupKFold, TimeSeriesSplit, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernlens import AutoLensClassifier, AutoLensRegressor
from kernlens.model_selection.auto import estimator as estimator_module
from kernlens.model_selection.auto.stacking import Stacker

pytestmark = pytest.mark.usefixtures("short_portfolios")


def numbers(n_rows=120):
    X = np.random.default_rng(0).standard_normal((n_rows + 500, 4))
    y = np.sin(X[:, 0] + X[:, 1]) + 0.5 * X[:, 2] ** 2
    return X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:]


def labels(n_rows=120, n_classes=2):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, 4))
    edges = np.quantile(X @ [1, 1, 0, 0], np.linspace(0, 1, n_classes + 1)[1:-1])
    names = np.array(["low", "middle", "high"])[:n_classes]
    return X, names[np.searchsorted(edges, X @ [1, 1, 0, 0])]


def fitted(**settings):
    X, y, *_ = numbers()
    return AutoLensRegressor(random_state=0, n_jobs=1, **settings).fit(X, y)


@parametrize_with_checks(
    [
        AutoLensRegressor(time_budget=0.01, n_directions=1, n_jobs=1, cv=2),
        AutoLensClassifier(time_budget=0.01, n_directions=1, n_jobs=1, cv=2),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_it_predicts_and_tells():
    X, y, X_test, y_test = numbers()
    model = AutoLensRegressor(random_state=0, n_jobs=1).fit(X, y)
    assert model.score(X_test, y_test) > 0.6
    board = model.leaderboard_
    assert set(board["candidate"]) >= {"ridge regression", "one", "two"}
    assert board["weight"].sum() == pytest.approx(1.0)
    assert board["score"].is_monotonic_decreasing
    assert model.best_score_ == pytest.approx(board["score"].max(), abs=0.2)
    for word in (*model.member_names_, "straight line", "R2"):
        assert word in model.explanation_
    np.testing.assert_allclose(
        model.loadings_ @ model.loadings_.T, np.eye(model.n_directions_), atol=1e-8
    )
    assert model.transform(X_test).shape == (len(X_test), model.n_directions_)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert "importance" in model.directions_frame().columns
    frame = model.stability_.to_frame()
    assert (frame["low"] <= frame["high"]).all()


def test_predictions_are_the_weighted_mean_of_the_members():
    X, y, X_test, _ = numbers()
    model = AutoLensRegressor(random_state=0, n_jobs=1).fit(X, y)
    parts = [m.predict(model.table_.transform(X_test)) for m in model.members_]
    low, high = model.bounds_
    mean = sum(w * p.clip(low, high) for w, p in zip(model.member_weights_, parts, strict=True))
    np.testing.assert_allclose(model.predict(X_test), mean)


def test_the_same_seed_gives_the_same_model_for_any_n_jobs():
    X, y, X_test, _ = numbers()
    one, two = (
        AutoLensRegressor(random_state=0, n_jobs=n_jobs).fit(X, y).predict(X_test)
        for n_jobs in (1, 2)
    )
    np.testing.assert_allclose(one, two, rtol=1e-10)


def test_intervals_contain_their_share_of_new_rows():
    X, y, X_test, y_test = numbers()
    rng = np.random.default_rng(1)
    noisy = y + 0.5 * rng.standard_normal(len(y))
    model = AutoLensRegressor(random_state=0, n_jobs=1).fit(X, noisy)
    low, high = model.predict_interval(X_test, coverage=0.8).T
    target = y_test + 0.5 * rng.standard_normal(len(y_test))
    assert 0.7 < np.mean((low <= target) & (target <= high)) < 0.93
    assert (low < model.predict(X_test)).all() and (model.predict(X_test) < high).all()


@pytest.mark.parametrize("coverage", [0.0, 1.0, -1, "much"])
def test_a_coverage_that_is_none_is_refused(coverage):
    with pytest.raises(ValueError, match="coverage"):
        fitted().predict_interval(numbers()[2], coverage)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("scoring", ["auto", "accuracy", "roc_auc"])
def test_classes(n_classes, scoring):
    X, y = labels(n_classes=n_classes)
    model = AutoLensClassifier(random_state=0, n_jobs=1, scoring=scoring).fit(X, y)
    assert model.score(X, y) > 0.8
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(X), model.classes_[proba.argmax(axis=1)])
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), proba)


def test_class_weights_move_probabilities():
    X, y = labels()
    plain = AutoLensClassifier(random_state=0, n_jobs=1).fit(X, y)
    heavy = AutoLensClassifier(random_state=0, n_jobs=1, class_weight={"middle": 10.0}).fit(X, y)
    assert plain.classes_[1] == "middle"
    assert heavy.predict_proba(X)[:, 1].mean() > plain.predict_proba(X)[:, 1].mean()


def test_one_candidate_alone():
    model = fitted(ensemble=False)
    assert len(model.members_) == 1 and model.member_weights_.tolist() == [1.0]


def test_a_line_may_be_a_member():
    X = np.random.default_rng(0).standard_normal((80, 3))
    y = X @ [1.0, 2.0, 0.0]
    model = AutoLensRegressor(random_state=0, n_jobs=1, include_trees=True).fit(X, y)
    assert "ridge regression" in model.member_names_
    without = AutoLensRegressor(random_state=0, n_jobs=1).fit(X, y)
    assert "ridge regression" not in without.member_names_


def test_time_order_is_respected():
    """The first rows are never left out, so that there are fewer errors than rows."""
    model = fitted(cv=TimeSeriesSplit(3))
    assert len(model.errors_) == 90


@pytest.mark.parametrize(
    "cv",
    [[3], [()], [([0], [])], [([0, 1], [120])], [([0], [-1])], [([0.5], [1])], [([True], [0])]],
)
def test_pairs_of_rows_that_are_none_are_refused(cv):
    with pytest.raises(ValueError, match=r"^cv must give [^\n]*\.$"):
        fitted(cv=cv)


def test_a_splitter_that_wants_more_rows_is_refused():
    with pytest.raises(ValueError, match=r"^cv cannot split these rows: .*\.$"):
        AutoLensRegressor(cv=TimeSeriesSplit(9)).fit(np.ones((5, 1)), np.arange(5.0))


def test_rows_may_be_given_as_places_or_masks():
    mask = np.arange(120) < 80
    one = fitted(cv=[(mask, ~mask)])
    two = fitted(cv=[(np.flatnonzero(mask), list(range(80, 120)))])
    assert len(one.errors_) == 40
    np.testing.assert_array_equal(one.errors_, two.errors_)


def test_pairs_without_a_row_of_weight_are_left_out():
    X, y, *_ = numbers()
    weights = np.r_[np.ones(100), np.zeros(20)]
    last, first = np.arange(100, 120), np.arange(30)
    model = AutoLensRegressor(
        cv=[(first + 30, last), (first + 30, first)], random_state=0, n_jobs=1
    )
    assert len(model.fit(X, y, sample_weight=weights).errors_) == 30
    model.set_params(cv=[(first, last)])
    with pytest.raises(ValueError, match="positive weight"):
        model.fit(X, y, sample_weight=weights)


def test_groups():
    X, y, *_ = numbers()
    groups = np.repeat(np.arange(12), 10)
    model = AutoLensRegressor(random_state=0, n_jobs=1).fit(X, y, groups=groups)
    assert len(model.errors_) == len(y)


def test_groups_are_routed_as_scikit_learn_means_it():
    """Cross-validation hands groups on to its own splitter and to fits that ask for them."""
    X, y, *_ = numbers()
    groups = np.repeat(np.arange(12), 10)
    seen = []

    class Recording(AutoLensRegressor):
        def fit(self, X, y, sample_weight=None, groups=None):
            seen.append(groups)
            return super().fit(X, y, sample_weight, groups)

    with config_context(enable_metadata_routing=True):
        model = Recording(random_state=0, n_jobs=1).set_fit_request(groups=True)
        pipeline = make_pipeline(StandardScaler(), model)
        cross_validate(pipeline, X, y, cv=GroupKFold(2), params={"groups": groups})
    assert [len(np.unique(one)) for one in seen] == [6, 6]
    assert not set(seen[0]) & set(seen[1])


def test_rows_of_no_weight_do_not_count():
    X, y, X_test, _ = numbers()
    weights = np.r_[np.ones(100), np.zeros(20)]
    bad = np.r_[y[:100], 1e3 * np.ones(20)]
    one = AutoLensRegressor(random_state=0, n_jobs=1).fit(X, bad, sample_weight=weights)
    two = AutoLensRegressor(random_state=0, n_jobs=1).fit(X[:100], y[:100], np.ones(100))
    np.testing.assert_allclose(one.predict(X_test), two.predict(X_test))


def test_a_callback_ends_the_fit_with_what_there_is():
    seen = []

    def stop(progress):
        seen.append(progress)
        return progress.stage == "one"

    model = fitted(callback=stop)
    assert model.status_.startswith("stopped")
    assert model.member_names_ == ["one"] or model.member_names_ == ["two"]
    assert all(np.isfinite(one.objective) for one in seen)


def test_an_interruption_keeps_what_is_finished():
    X, y, X_test, _ = numbers()
    model = AutoLensRegressor(random_state=0, n_jobs=1)

    def interrupt(progress):
        if progress.stage not in ("first looks", "one"):
            raise KeyboardInterrupt

    model.callback = interrupt
    with pytest.raises(KeyboardInterrupt, match="best state"):
        model.fit(X, y)
    assert np.isfinite(model.predict(X_test)).all()


def test_an_interruption_of_the_last_fits_leaves_what_there_was(monkeypatch):
    """The sentence of the member that was interrupted would be one of another model."""
    X, y, *_ = numbers()
    model = AutoLensRegressor(random_state=0, n_jobs=1, cv=2)
    monkeypatch.setattr(estimator_module, "fitted", interrupted_member)
    with pytest.raises(KeyboardInterrupt) as caught:
        model.fit(X, y)
    assert not str(caught.value)
    assert not hasattr(model, "n_features_in_") and not hasattr(model, "table_")


def interrupted_member(*_):
    raise KeyboardInterrupt("The fit of another model was interrupted; it has the best state.")


def test_an_interruption_of_the_last_fits_keeps_the_members_that_are_there(monkeypatch):
    X, y, X_test, _ = numbers()
    monkeypatch.setattr(Stacker, "best", lambda self: self.of(range(len(self.predictions))))
    whole = AutoLensRegressor(random_state=0, n_jobs=1).fit(X, y)
    assert len(whole.members_) == 2
    calls = []

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return fitted_member(*arguments)

    fitted_member = estimator_module.fitted
    monkeypatch.setattr(estimator_module, "fitted", interrupted)
    model = AutoLensRegressor(random_state=0, n_jobs=1)
    with pytest.raises(KeyboardInterrupt, match="best state"):
        model.fit(X, y)
    assert model.member_names_ == whole.member_names_[:1]
    assert model.member_weights_.tolist() == [1.0]
    expected = whole.members_[0].predict(whole.table_.transform(X_test))
    np.testing.assert_allclose(model.predict(X_test), expected.clip(*model.bounds_))


@pytest.mark.parametrize("level", [0.1, 0.9])
def test_quantiles_are_above_their_share_of_new_rows(level):
    X, y, X_test, y_test = numbers(200)
    rng = np.random.default_rng(1)
    noisy = y + rng.exponential(size=len(y))
    model = AutoLensRegressor(
        scoring="neg_mean_pinball_loss", quantile=level, random_state=0, n_jobs=1
    ).fit(X, noisy)
    target = y_test + rng.exponential(size=len(y_test))
    assert np.mean(target <= model.predict(X_test)) == pytest.approx(level, abs=0.08)
    middle = AutoLensRegressor(random_state=0, n_jobs=1).fit(X, noisy).predict(X_test)
    loss = mean_pinball_loss(target, model.predict(X_test), alpha=level)
    assert loss < 0.8 * mean_pinball_loss(target, middle, alpha=level)
    assert model.best_score_ == pytest.approx(-loss, abs=0.1)


def test_clone_and_pickle():
    _X, _, X_test, _ = numbers()
    model = fitted()
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X_test), model.predict(X_test))
    assert not hasattr(clone(model), "table_")


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"time_budget": 0}, "time_budget"),
        ({"scoring": "best"}, "scoring"),
        ({"quantile": 1.0}, "quantile"),
        ({"ensemble": "yes"}, "ensemble"),
        ({"n_directions": -1}, "n_directions"),
    ],
)
def test_bad_arguments_are_refused(settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        fitted(**settings)


def test_too_few_rows_are_refused():
    with pytest.raises(ValueError, match="minimum of 4"):
        AutoLensRegressor().fit(np.eye(3), np.arange(3.0))

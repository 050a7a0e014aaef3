"""What people pass: refusals in one sentence, groups of any number, targets that say nothing."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import LeaveOneGroupOut, TimeSeriesSplit

from kernlens import AutoLensClassifier, AutoLensRegressor

pytestmark = pytest.mark.usefixtures("short_portfolios")
N_ROWS = 90


def rows(n_rows=N_ROWS):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, 3))
    return X, np.sin(X[:, 0] + X[:, 1]) + 0.1 * rng.standard_normal(n_rows)


def names(y):
    return np.where(y > np.median(y), "high", "low")


def regressor(**settings):
    return AutoLensRegressor(random_state=0, n_jobs=1, **settings)


def classifier(**settings):
    return AutoLensClassifier(random_state=0, n_jobs=1, **settings)


def test_text_is_no_target_of_a_regression():
    X, y = rows()
    with pytest.raises(ValueError, match=r"^y has text, [^\n]*classifiers take text as labels\.$"):
        regressor().fit(X, names(y))


@pytest.mark.parametrize(
    ("other", "said"), [(None, "has missing labels"), (1, "mixes labels of several types")]
)
def test_labels_without_an_order_are_refused(other, said):
    X, y = rows()
    labels = names(y).astype(object)
    labels[3] = other
    with pytest.raises(ValueError, match=rf"^y {said}[^\n]*\.$"):
        classifier().fit(X, labels)


@pytest.mark.parametrize("make", [regressor, classifier])
def test_no_rows_are_refused(make):
    with pytest.raises(ValueError, match=r"0 sample\(s\) while a minimum of 4"):
        make().fit(np.empty((0, 2)), [])


@pytest.mark.parametrize("make", [regressor, classifier])
def test_one_group_cannot_be_left_out(make):
    X, y = rows()
    with pytest.raises(ValueError, match=r"^groups has one group only[^\n]*\.$"):
        make().fit(X, names(y) if make is classifier else y, groups=np.repeat("a", N_ROWS))


@pytest.mark.parametrize("classes", [False, True])
def test_there_are_as_many_folds_as_groups_at_most(classes):
    """With a group per fold, the errors are those of leaving out one group after the other."""
    X, y = rows()
    groups = np.repeat([0, 1, 2], N_ROWS // 3)
    make, targets = (classifier, names(y)) if classes else (regressor, y)
    own = make().fit(X, targets, groups=groups)
    given = make(cv=LeaveOneGroupOut()).fit(X, targets, groups=groups)
    assert own.best_score_ == pytest.approx(given.best_score_)


def test_groups_that_are_the_classes_are_refused():
    X, y = rows()
    with pytest.raises(ValueError, match="every class needs rows in two groups"):
        classifier().fit(X, names(y), groups=names(y))


@pytest.mark.parametrize("dtype", [str, object])
def test_rows_to_learn_from_need_two_classes(dtype):
    X, _ = rows()
    y = np.repeat(["a", "b", "c"], N_ROWS // 3).astype(dtype)
    with pytest.raises(ValueError, match=r"^cv gives [^\n]* one class only, 'a'; [^\n]*\.$"):
        classifier(cv=TimeSeriesSplit(3)).fit(X, y)


def test_what_is_no_better_than_a_constant_has_no_directions():
    X, y = rows()
    for model in (
        regressor().fit(X, np.ones(N_ROWS)),
        regressor().fit(np.ones((N_ROWS, 1)), y),
        classifier().fit(np.ones((N_ROWS, 1)), names(y)),
    ):
        assert model.n_directions_ == 0
        assert model.transform(X[:, : model.n_features_in_]).shape == (N_ROWS, 0)
        assert "No direction predicts" in model.explanation_
    assert regressor().fit(X, y).n_directions_ > 0


def test_the_explanation_counts_what_was_tried():
    X, y = rows()
    assert regressor().fit(X, y).explanation_.startswith("3 candidates were tried on 90 rows.")
    short = regressor(time_budget=1e-3).fit(X, y)
    assert short.explanation_.startswith("1 of 3 candidates were tried")


def test_a_stack_for_absolute_errors_is_scored_by_them():
    X, y = rows(N_ROWS + 300)
    far = y[:N_ROWS].copy()
    far[::15] += 20.0
    model = regressor(scoring="neg_mean_absolute_error").fit(X[:N_ROWS], far)
    assert model.best_score_ == pytest.approx(
        -mean_absolute_error(far, far - model.errors_), rel=0.2
    )
    assert "-MAE" in model.explanation_


@pytest.mark.parametrize("scoring", ["r2", "neg_mean_absolute_error"])
@pytest.mark.parametrize("factor", [1e-300, 7.0])
def test_weights_are_relative(factor, scoring):
    X, y = rows()
    weights = np.random.default_rng(1).uniform(0.5, 2.0, N_ROWS)
    one = regressor(scoring=scoring).fit(X, y, sample_weight=weights)
    two = regressor(scoring=scoring).fit(X, y, sample_weight=factor * weights)
    np.testing.assert_array_equal(one.predict(X), two.predict(X))
    assert one.best_score_ == two.best_score_


def test_the_smallest_weights_there_are_count_alike():
    X, y = rows()
    same = regressor(scoring="neg_mean_absolute_error").fit(X, y, sample_weight=np.ones(N_ROWS))
    tiny = clone(same).fit(X, y, sample_weight=np.full(N_ROWS, 5e-324))
    np.testing.assert_array_equal(same.predict(X), tiny.predict(X))


def test_verbose_tells_of_every_candidate_and_changes_nothing(caplog):
    X, y = rows()
    with caplog.at_level("INFO", logger="kernlens"):
        loud = regressor(verbose=True).fit(X, y)
    told = "\n".join(record.getMessage() for record in caplog.records)
    for name in ("first looks", "one", "two"):
        assert name in told
    np.testing.assert_array_equal(loud.predict(X), regressor().fit(X, y).predict(X))

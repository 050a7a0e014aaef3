"""What stands on the families works for all of them: profiles, summaries, searches, derivatives."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.base import is_classifier

from families import ESTIMATORS, having, light
from kernlens.base.search import SearchRecord
from kernlens.inspection import (
    alpha_search,
    average_derivatives,
    column_profile,
    direction_profile,
    summarize_directions,
)
from kernlens.plotting import DirectionsDisplay

every = pytest.mark.parametrize("learner", ESTIMATORS)
searching = pytest.mark.parametrize("learner", having("alpha"))
NAMES = ["age", "height", "weight"]


def sample(learner, n=60):
    rng = np.random.default_rng(2)
    X = pd.DataFrame(rng.standard_normal((n, 3)), columns=NAMES)
    y = np.sin(X["age"]) + 0.3 * X["weight"]
    return X, pd.Series(np.where(y > 0, "yes", "no")) if is_classifier(learner()) else y


def searched(learner):
    """Settings that compare three values of alpha."""
    return light(learner, alpha=[1e-3, 1e-2, 1e-1])


def takes_lists(learner):
    return not learner.__name__.startswith("BKerNN")


@every
def test_pictures_show_the_profiles_of_the_model(learner):
    X, y = sample(learner)
    model = light(learner, n_directions=2).fit(X, y)
    display = DirectionsDisplay.from_estimator(model, X, y, figure=Figure())
    for direction in range(2):
        profile = direction_profile(model, X, y, direction=direction)
        line = display.axes_[f"direction_{direction}"].lines[0]
        np.testing.assert_allclose(line.get_ydata(), profile.mean)
        assert np.isfinite(profile.mean).all()
    summary = summarize_directions(model)
    assert summary.feature_names == tuple(NAMES)
    np.testing.assert_allclose(summary.component_importances, model.component_importances_)
    most = NAMES[int(np.argmax(model.feature_importances_))]
    assert column_profile(model, X, y).name == most
    assert "alpha_search" not in display.axes_


@searching
def test_a_given_alpha_leaves_no_search(learner):
    X, y = sample(learner)
    model = light(learner)
    if takes_lists(learner):
        searched(learner).fit(X, y)
    assert alpha_search(model.fit(X, y)) is None


@searching
def test_the_curve_of_an_automatic_choice_is_one_curve(learner):
    X, y = sample(learner)
    model = light(learner, alpha="auto").fit(X, y)
    search = alpha_search(model)
    assert search is not None
    assert np.all(np.diff(search.alphas) > 0), "two values of alpha on one curve are the same"
    record = SearchRecord.of_dict(model.alpha_search_)
    assert "alpha" in record.settings
    # All that was tried is there, each with settings of its own.
    tries = list(zip(*record.settings.values(), strict=True))
    assert len(set(tries)) == len(tries) == len(record.losses)
    low, high = search.alphas[0], search.alphas[-1]
    assert low * (1 - 1e-12) <= search.chosen <= high * (1 + 1e-12)


@pytest.mark.parametrize("learner", [e for e in having("alpha") if takes_lists(e)])
def test_a_list_of_alphas_is_a_search_too(learner):
    X, y = sample(learner)
    model = searched(learner).fit(X, y)
    search = alpha_search(model)
    assert search is not None
    assert set(np.round(np.log10(search.alphas), 9)) <= {-3.0, -2.0, -1.0}
    assert len(search.alphas) >= 2
    assert search.chosen == model.alpha_
    figure = DirectionsDisplay.from_estimator(model, X, y, figure=Figure())
    np.testing.assert_allclose(figure.axes_["alpha_search"].lines[0].get_ydata(), search.losses)


@every
def test_average_derivatives_have_the_names_of_the_columns(learner):
    X, y = sample(learner)
    model = light(learner).fit(X, y)
    derivatives = average_derivatives(model, X)
    assert derivatives.feature_names == tuple(NAMES)
    gradient = model.gradient(X)
    np.testing.assert_allclose(derivatives.mean, gradient.mean(axis=0))
    np.testing.assert_allclose(derivatives.root_mean_square**2, model.sensitivity(X), rtol=1e-9)
    assert list(derivatives.by_name()) == NAMES
    assert derivatives.by_name()["weight"] == pytest.approx(derivatives.mean[2])

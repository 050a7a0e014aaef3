"""The picture of how sure directions are."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError

from kernlens import RKHSWeightingRegressor
from kernlens.model_selection import SubspaceStability
from kernlens.plotting import SubspaceStabilityDisplay


@pytest.fixture(scope="module")
def stability():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 12))
    y = X[:, 0] + np.abs(X[:, 1])
    model = RKHSWeightingRegressor(n_directions=2, alpha=0.1, random_state=0)
    return SubspaceStability(model, n_resamples=4, random_state=0).fit(X, y)


def test_every_panel_shows_the_numbers(stability):
    names = [f"column {number}" for number in range(12)]
    display = SubspaceStabilityDisplay.from_stability(
        stability, feature_names=names, figure=Figure()
    )
    assert sorted(display.axes_) == ["angles", "direction_0", "direction_1", "eigenvalues", "ladle"]
    ax = display.axes_["direction_0"]
    largest = int(np.argmax(np.abs(stability.loadings_[0])))
    assert ax.get_yticklabels()[0].get_text() == names[largest]
    # After the line at zero, an interval and a point for each column.
    np.testing.assert_allclose(
        ax.lines[1].get_xdata(), stability.intervals_[:, 0, largest], rtol=1e-12
    )
    assert ax.get_title(loc="left") == "Direction 1 (10 of 12)"
    heights = [bar.get_height() for bar in display.axes_["eigenvalues"].patches]
    np.testing.assert_allclose(heights, stability.eigenvalues_, rtol=1e-12)
    np.testing.assert_allclose(display.axes_["ladle"].lines[0].get_ydata(), stability.ladle_)
    display.figure_.canvas.draw()


def test_a_learner_without_importances_has_no_ladle():
    X = np.random.default_rng(0).standard_normal((30, 4))
    display = SubspaceStabilityDisplay.from_estimator(
        PCA(1), X, n_resamples=3, random_state=0, figure=Figure()
    )
    assert sorted(display.axes_) == ["angles", "direction_0", "eigenvalues"]


def test_no_direction_is_said(stability):
    model = RKHSWeightingRegressor(alpha=0.1, random_state=0)
    X = np.random.default_rng(0).standard_normal((60, 3))
    y = np.random.default_rng(1).standard_normal(60)
    with pytest.warns(UserWarning, match="no direction"):
        found = SubspaceStability(model, n_resamples=2, random_state=0).fit(X, y)
    display = SubspaceStabilityDisplay(found).plot(figure=Figure())
    assert display.figure_.get_suptitle() == "The learner found no direction."
    assert "angles" not in display.axes_


def test_what_is_not_fitted_is_refused(stability):
    with pytest.raises(NotFittedError):
        SubspaceStabilityDisplay(SubspaceStability(PCA(1)))
    with pytest.raises(ValueError, match="feature_names has 2 names"):
        SubspaceStabilityDisplay(stability, ["a", "b"])

"""A constant column changes nothing: not the rows' order, not what is drawn, not the function."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import is_classifier

from families import ESTIMATORS, decision, family_of, light

VARIANTS = [
    pytest.param(learner, settings, id=f"{learner.__name__}-{k}")
    for learner in ESTIMATORS
    for k, settings in enumerate(family_of(learner).settings(learner))
]


def sample(learner, n=50):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((n, 3))
    y = np.abs(X[:, 0]) + 0.5 * X[:, 1] + 0.05 * rng.standard_normal(n)
    return X, (y > np.median(y)).astype(int) if is_classifier(learner()) else y


@pytest.mark.parametrize(("learner", "settings"), VARIANTS)
def test_a_fit_with_a_constant_column_is_the_fit_without_it(learner, settings):
    X, y = sample(learner)
    with_constant = np.insert(X, 1, 3.25, axis=1)
    plain, more = light(learner, **settings).fit(X, y), light(learner, **settings)
    more.fit(with_constant, y)
    np.testing.assert_allclose(
        decision(more, with_constant), decision(plain, X), rtol=1e-9, atol=1e-12
    )
    np.testing.assert_allclose(more.components_[:, [0, 2, 3]], plain.components_, atol=1e-9)
    np.testing.assert_array_equal(more.components_[:, 1], 0.0)
    assert more.feature_importances_[1] == 0.0
    assert np.all(more.gradient(with_constant)[:, 1] == 0.0)
    # Whatever it is at a prediction, it is not looked at.
    moved = with_constant + np.array([0.0, 5.0, 0.0, 0.0])
    np.testing.assert_array_equal(decision(more, moved), decision(more, with_constant))

"""Predictions of rows left out: what stacking and calibration rely on."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import is_classifier

from families import ESTIMATORS, light
from kernlens.base.arrays import encode_labels, plus_minus_one
from kernlens.losses import SquaredLoss

every = pytest.mark.parametrize("learner", ESTIMATORS)


def prepared(learner, n=40, noise=0.1):
    """An estimator with the data and the plan of its fit."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n, 4))
    y = np.sin(2.0 * X[:, 0]) + X[:, 1] + noise * rng.standard_normal(n)
    model = light(learner)
    model.n_features_in_ = 4
    weights = np.ones(n)
    targets, loss = y[None], SquaredLoss()
    if is_classifier(model):
        labels = encode_labels((y > 0).astype(int), weights, "")
        targets, loss = labels.targets, labels.loss
        if not learner.__name__.startswith(("BKerNN", "HKRR", "RegFeaL")):
            targets, loss = plus_minus_one(targets), SquaredLoss()
    data = model._prepare(X, targets, weights, loss)
    return model, data, model._plan(data)


@every
def test_a_row_left_out_is_not_seen(learner):
    """Another target of one row changes predictions of others, and not its own."""
    model, data, plan = prepared(learner)
    fit = model._learner(data, plan, None)
    before = fit.left_out(fit.learn())
    assert before.decision.shape == before.y.shape
    y = data.rows.y.copy()
    y[:, 7] = np.unique(y).sum() - y[:, 7] if is_classifier(model) else y[:, 7] + 5.0
    other = replace(data, rows=replace(data.rows, y=y))
    fit = model._learner(other, plan, None)
    after = fit.left_out(fit.learn())
    (moved,) = np.flatnonzero(np.any(after.y != before.y, axis=0))
    np.testing.assert_allclose(
        after.decision[:, moved], before.decision[:, moved], rtol=1e-9, atol=1e-12
    )
    assert np.max(np.abs(after.decision - before.decision)) > 1e-6


@every
def test_rows_left_out_are_predicted_better_than_by_a_constant(learner):
    model, data, plan = prepared(learner, n=90)
    fit = model._learner(data, plan, None)
    found = fit.left_out(fit.learn())
    assert found.decision.shape[1] == len(found.weights) >= 60
    if is_classifier(model):
        positive = found.y[0] > 0.5
        assert np.mean((found.decision[0] > 0) == positive) > 0.75
    else:
        assert np.corrcoef(found.decision[0], found.y[0])[0, 1] > 0.7

"""Classes of which there are few rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from kernlens import RandomKitchenSinksClassifier, RKHSWeightingClassifier

QUICK = {"random_state": 0, "n_jobs": 1, "n_directions": 1}


def one_percent(n, seed, d=5, share=0.01):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    score = X @ np.arange(1.0, d + 1.0) / np.sqrt(np.sum(np.arange(1.0, d + 1.0) ** 2))
    score += 0.1 * rng.logistic(size=n)
    return X, (score > np.quantile(score, 1.0 - share)).astype(int)


@pytest.mark.parametrize("seed", [0, 1])
def test_one_percent_of_positives_are_ranked_first(seed):
    X, y = one_percent(1000, seed)
    X_new, y_new = one_percent(4000, seed + 10)
    found = RKHSWeightingClassifier(**QUICK).fit(X, y).predict_proba(X_new)[:, 1]
    assert roc_auc_score(y_new, found) > 0.97
    # Probabilities are those of the rows as they are.
    assert 0.005 < found.mean() < 0.02


@pytest.mark.parametrize("solver", ["exact", "least_squares"])
def test_rows_of_a_class_that_counts_more_are_left_out_as_a_whole(solver):
    X, y = one_percent(150, 3, share=0.2)
    options = {"instantiation": "relu", "correlation": 0.5, "alpha": 1e-3, "solver": solver}
    model = RKHSWeightingClassifier(**options, n_random_features=60, **QUICK)
    heavier = np.where(y == 1, 5.0, 1.0)
    # A part of a rare row in the fit would make it too sure of such rows.
    weighted = model.fit(X, y, sample_weight=heavier).stretch_
    plain = model.fit(X, y).stretch_
    assert weighted < 1.5 * plain


def test_kitchen_sinks_have_the_shift_and_batches_do_not():
    X, y = one_percent(400, 0)
    model = RandomKitchenSinksClassifier(base="relu", n_random_features=50, alpha=1e-3, **QUICK)
    assert model.fit(X, y).shift_ == pytest.approx(np.log(0.01 / 0.1))
    model = RandomKitchenSinksClassifier(base="relu", n_random_features=50, alpha=1e-3, **QUICK)
    assert model.partial_fit(X, y, classes=[0, 1]).shift_ == 0.0

"""What must not matter to RegFeaLRegressor, on every way from rows to predictions."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from kernlens import BestFirst, GroupSampling, RegFeaLRegressor, Reweighting, UpToDegree

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
#: Every way from rows to predictions.
WAYS = [
    {},
    {"structure": "variables"},
    {"alpha": [0.01, 0.1], "rho": [0.1, 0.4], "max_iter": 2},
    {"refit": "kernel"},
    {"refit": "auto", "alpha": [0.01, 1.0]},
    {"refit": Ridge()},
    {"basis": GroupSampling(30), "alpha": [0.01, 0.1]},
    {"basis": BestFirst(15)},
    {"basis": UpToDegree(3), "descent": Reweighting(accelerate=False)},
]
every_way = pytest.mark.parametrize("options", WAYS, ids=str)


def sample(n=40, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * np.geomspace(0.5, 3.0, d) + 2.0
    z = (X - 2.0) @ (1.0 / np.geomspace(0.5, 3.0, d)) / np.sqrt(d)
    return X, 5.0 + 3.0 * np.sin(1.5 * z) + 0.3 * rng.standard_normal(n)


def fit(X, y, sample_weight=None, **options):
    return RegFeaLRegressor(**{**FAST, **options}).fit(X, y, sample_weight=sample_weight)


@every_way
def test_weights_are_repetitions_and_order_is_irrelevant(options):
    X, y = sample(40)
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 4, 40)
    expected = fit(np.repeat(X, counts, axis=0), np.repeat(y, counts), **options).predict(X)
    np.testing.assert_array_equal(fit(X, y, counts, **options).predict(X), expected)
    order = rng.permutation(40)
    shuffled = fit(X[order], y[order], counts[order], **options)
    np.testing.assert_array_equal(shuffled.predict(X), expected)
    present = counts > 0
    absent = fit(X[present], y[present], counts[present], **options)
    np.testing.assert_array_equal(absent.predict(X), expected)


@every_way
def test_threads_do_not_matter(options):
    X, y = sample()
    one, two = (fit(X, y, n_jobs=n_jobs, **options) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.predict(X), two.predict(X))
    np.testing.assert_array_equal(one.components_, two.components_)
    np.testing.assert_array_equal(one.objective_history_, two.objective_history_)


def test_sampled_indices_follow_the_random_state():
    X, y = sample()
    options = {"basis": GroupSampling(10)}
    first, again, other = (fit(X, y, random_state=s, **options) for s in (0, 0, 1))
    np.testing.assert_array_equal(first.predict(X), again.predict(X))
    assert np.abs(first.predict(X) - other.predict(X)).max() > 1e-6


@every_way
def test_one_target_as_a_column_is_the_same_fit(options):
    X, y = sample()
    column = fit(X, y[:, None], **options).predict(X)
    assert column.shape == (40, 1)
    np.testing.assert_array_equal(column[:, 0], fit(X, y, **options).predict(X))


@pytest.mark.parametrize("options", [w for w in WAYS if "GroupSampling" not in str(w)], ids=str)
@pytest.mark.parametrize("r", [0.33, 1.5])
def test_the_objective_never_increases(options, r):
    X, y = sample()
    model = fit(X, y, r=r, **{**options, "max_iter": 15, "tol": 0.0})
    assert np.all(np.diff(model.objective_history_) <= 0)
    assert model.objective_ == model.objective_history_[-1]
    if not hasattr(model, "alpha_search_"):
        # A search hands over directions that may already be the best.
        assert model.objective_ < model.objective_history_[0]


@every_way
def test_rows_far_from_all_others_are_predicted_as_those_at_the_limit(options):
    X, y = sample()
    model = fit(X, y, truncate=None, **options)
    signs = np.array([[1.0, 1.0, 1.0], [-1.0, 1.0, 0.0]])
    at_limit = model.predict(model.mean_ + 4.0 * signs * model.scale_)
    assert np.isfinite(at_limit).all()
    for size in (1e3, 1e150):
        far = model.predict(model.mean_ + size * signs * model.scale_)
        np.testing.assert_allclose(far, at_limit, rtol=1e-6)

"""A saved model has rows and coefficients, not tables, and computes the same to the last bit."""

from __future__ import annotations

import copy
import itertools
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import skops.io
from sklearn.base import clone, is_classifier

from families import fit_interrupted
from kernlens import BKerNNClassifier, BKerNNRegressor
from kernlens.methods.bkernn.function import RidgeFunctions
from kernlens.methods.bkernn.objective import ReducedObjective

FAST = {
    "alpha": 0.02,
    "n_particles": 12,
    "max_iter": 5,
    "random_state": 0,
    "n_directions": 2,
    "n_jobs": 1,
}
#: Bytes of a file that do not grow with the rows: its text, and small arrays.
FIXED_BYTES = 60_000


def sample(n=60, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * np.linspace(0.5, 300.0, d) + np.linspace(-2.0, 10.0, d)
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    return X, np.abs(standard[:, 0]) + standard[:, 1] + 0.1 * rng.standard_normal(n)


def regressor(**options):
    return BKerNNRegressor(**{**FAST, **options})


def two_targets(model, X, y):
    return model.fit(X, np.column_stack([y, y**2]))


def weighted(model, X, y):
    return model.fit(X, y, sample_weight=np.random.default_rng(2).integers(0, 4, len(y)))


def by_skops(model):
    content = skops.io.dumps(model)
    return skops.io.loads(content, trusted=skops.io.get_untrusted_types(data=content))


def by_pickle(model):
    return pickle.loads(pickle.dumps(model))


def all_of(model, X):
    functions = model.partial_functions()
    decisions = model.decision_function(X) if is_classifier(model) else model.predict(X)
    return decisions, model.gradient(X), functions.grid, functions.values, functions.constant


def check_equal(first, second):
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)


FITS = {
    "plain": lambda X, y: regressor().fit(X, y),
    "exponential": lambda X, y: regressor(kernel="exponential").fit(X, y),
    "gaussian": lambda X, y: regressor(kernel="gaussian").fit(X, y),
    "variable": lambda X, y: regressor(penalty="variable", alpha=0.2).fit(X, y),
    "additive": lambda X, y: regressor(penalty="additive").fit(X, y),
    "fewer particles than columns": lambda X, y: regressor(n_particles=3).fit(X, y),
    "nothing found": lambda X, y: regressor(alpha=1e3).fit(X, y),
    "not standardized": lambda X, y: regressor(standardize=False).fit(X, y),
    "weights": lambda X, y: weighted(regressor(), X, y),
    "two targets": lambda X, y: two_targets(regressor(), X, y),
}


@pytest.mark.parametrize("again", [by_skops, by_pickle, copy.deepcopy])
@pytest.mark.parametrize("name", FITS)
@pytest.mark.filterwarnings("ignore:The fit")
def test_a_loaded_model_computes_the_same_to_the_last_bit(name, again):
    X, y = sample()
    model, rows = FITS[name](X, y), sample(40, seed=1)[0]
    unused = again(model)
    expected = all_of(model, rows)
    check_equal(all_of(unused, rows), expected)
    # The tables are there now, and not part of what is saved.
    check_equal(all_of(again(model), rows), expected)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.filterwarnings("ignore:The fit")
def test_a_loaded_classifier_computes_the_same_to_the_last_bit(n_classes):
    X, y = sample()
    labels = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    model = BKerNNClassifier(**FAST).fit(X, labels)
    loaded = by_skops(model)
    check_equal(all_of(loaded, X), all_of(model, X))
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


@pytest.mark.filterwarnings("ignore:The fit")
def test_an_interrupted_model_is_loaded_as_it_was(monkeypatch):
    X, y = sample()
    evaluate, evaluations = ReducedObjective.at, itertools.count()

    def interrupted(self, W, **options):
        if next(evaluations) == 4:
            raise KeyboardInterrupt
        return evaluate(self, W, **options)

    with monkeypatch.context() as patch:
        patch.setattr(ReducedObjective, "at", interrupted)
        model = fit_interrupted(regressor(), X, y)
    loaded = by_skops(model)
    assert "interrupted" in loaded.status_
    check_equal(all_of(loaded, X), all_of(model, X))


@pytest.mark.filterwarnings("ignore:The fit")
def test_a_loaded_model_is_continued_like_the_one_before():
    X, y = sample()
    model = regressor(warm_start=True).fit(X, y)
    loaded = by_skops(model)
    before = all_of(loaded, X)
    check_equal(all_of(loaded.fit(X, y), X), all_of(model.fit(X, y), X))
    # Tables of the fit before are not those of the fit now.
    assert np.abs(loaded.predict(X) - before[0]).max() > 1e-6


@pytest.mark.parametrize("dump", [skops.io.dumps, pickle.dumps])
@pytest.mark.parametrize(
    ("d", "n_seen", "options"),
    [
        (5, 5, {"n_particles": 100}),
        (40, 10, {"n_particles": 10}),
        (40, 2, {"n_particles": 100, "penalty": "variable", "alpha": 0.3}),
    ],
)
@pytest.mark.filterwarnings("ignore:The fit")
def test_a_file_has_no_more_than_rows_and_coefficients(d, n_seen, options, dump):
    n = 3000
    X, y = sample(n, d)
    model = regressor(max_iter=3, **{"n_jobs": 1, **options}).fit(X, y)
    model.predict(X[:5])
    assert model.support_.shape[1] <= n_seen
    fixed = FIXED_BYTES + model.particles_.nbytes
    assert len(dump(model)) < 8 * n * (model.support_.shape[1] + 1) + fixed


@pytest.mark.filterwarnings("ignore:The fit")
def test_tables_are_made_once(monkeypatch):
    X, y = sample()
    model = by_pickle(regressor().fit(X, y))
    made = []
    project = RidgeFunctions._projections
    monkeypatch.setattr(
        RidgeFunctions, "_projections", lambda self, part: made.append(part) or project(self, part)
    )
    attributes = dict(vars(model))
    model.predict(X)
    n_parts = len(made)
    assert n_parts > 0
    model.predict(X[:3])
    model.gradient(X)
    model.partial_functions()
    assert len(made) == n_parts
    assert vars(model) == attributes
    assert not hasattr(clone(model), "_tabulated")


@pytest.mark.filterwarnings("ignore:The fit")
def test_threads_may_ask_a_loaded_model_at_once():
    X, y = sample()
    model = regressor().fit(X, y)
    expected = model.predict(X)
    for _ in range(5):
        loaded = by_pickle(model)
        with ThreadPoolExecutor(8) as pool:
            for found in pool.map(lambda _, one=loaded: one.predict(X), range(8)):
                np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", ["support_", "support_inputs_", "dual_coef_", "intercept_"])
@pytest.mark.filterwarnings("ignore:The fit")
def test_other_arrays_are_seen_after_a_prediction(name):
    X, y = sample()
    model = regressor().fit(X, y)
    model.predict(X)
    setattr(model, name, getattr(model, name)[:-1])
    with pytest.raises(ValueError, match="The model is damaged"):
        model.predict(X)


@pytest.mark.parametrize("inputs", [[0, 1, 2, 3, 5], [-1, 1, 2, 3, 4]])
@pytest.mark.filterwarnings("ignore:The fit")
def test_inputs_that_are_none_are_refused(inputs):
    X, y = sample()
    model = regressor().fit(X, y)
    model.support_inputs_ = np.array(inputs)
    with pytest.raises(ValueError, match="The model is damaged"):
        model.predict(X)

"""BKerNN on tables in blocks: particles of a sample, functions of all rows, an ordinary model."""

from __future__ import annotations

import pickle

import numpy as np
import onnxruntime
import pytest
import skops.io

from kernlens import BKerNNClassifier, BKerNNRegressor
from kernlens.methods.bkernn import block_fit
from kernlens.methods.bkernn.knot_function import KnotFunctions
from kernlens.onnx_export.export import to_onnx
from reference.block_problems import SAMPLE_ROWS, blocks, classes, problem, small_samples

FAST = {
    "alpha": 0.002,
    "n_particles": 8,
    "penalty": "feature",
    "max_iter": 10,
    "n_directions": 2,
    "random_state": 0,
    "n_jobs": 1,
}
KERNELS = ("brownian", "exponential", "gaussian")
pytestmark = pytest.mark.filterwarnings("ignore:The fit stopped at max_iter")


@pytest.fixture(autouse=True)
def few_rows(monkeypatch):
    small_samples(monkeypatch, [BKerNNRegressor, BKerNNClassifier])


def regressor(**options):
    return BKerNNRegressor(**{**FAST, "linear_part": False, **options})


def classifier(**options):
    return BKerNNClassifier(**{**FAST, **options})


def data_for(model, n=900):
    X, y = problem(n)
    return (X, y) if isinstance(model, BKerNNRegressor) else (X, classes(y))


def decision(model, X):
    return model.decision_function(X) if hasattr(model, "classes_") else model.predict(X)


@pytest.mark.parametrize("make", [regressor, classifier])
def test_the_partition_and_threads_say_nothing(make):
    X, y = data_for(make())
    weights = np.random.default_rng(1).integers(0, 4, len(X)).astype(float)
    order = np.random.default_rng(2).permutation(len(X))
    one = make().fit(blocks(X, y, weights))
    cut = make().fit(blocks(X[order], y[order], weights[order], block_rows=19))
    repeated = np.repeat(np.arange(len(X)), weights.astype(int))
    repeats = make().fit(blocks(X[repeated], y[repeated], block_rows=100))
    threads = make().fit(blocks(X, y, weights, n_jobs=3))
    for other in (cut, repeats):
        np.testing.assert_allclose(decision(other, X), decision(one, X), rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(other.components_, one.components_, rtol=1e-7, atol=1e-8)
    np.testing.assert_array_equal(decision(threads, X), decision(one, X))


@pytest.mark.parametrize("make", [regressor, classifier])
def test_few_rows_in_blocks_are_the_fit_of_these_rows(make):
    X, y = data_for(make(), SAMPLE_ROWS - 20)
    one, other = make().fit(X, y), make().fit(blocks(X, y))
    np.testing.assert_array_equal(decision(one, X), decision(other, X))
    assert set(vars(one)) == set(vars(other))


@pytest.mark.parametrize("kernel", KERNELS)
def test_particles_are_the_sample_s_and_functions_those_of_all_rows(kernel):
    X, y = problem(2000)
    model = regressor(kernel=kernel).fit(blocks(X[:1500], y[:1500]))
    sample = regressor(kernel=kernel).fit(X[:SAMPLE_ROWS], y[:SAMPLE_ROWS])
    assert isinstance(model._function, KnotFunctions)
    assert model.knots_.shape == (len(model.particles_), 64)
    assert not hasattr(model, "support_") and not hasattr(sample, "knots_")
    assert model.objective_history_[0] >= model.objective_history_[-1]
    assert model.score(X[1500:], y[1500:]) > sample.score(X[1500:], y[1500:])
    # Nothing of a fit of blocks is left by one of arrays.
    again = model.fit(X[:SAMPLE_ROWS], y[:SAMPLE_ROWS])
    assert set(vars(again)) == set(vars(sample))


def test_alpha_is_for_all_rows():
    X, y = problem(900)
    given = regressor(alpha=0.003).fit(blocks(X, y))
    np.testing.assert_allclose(given.alpha_, 0.003, rtol=1e-12)
    chosen = regressor(alpha="auto").fit(blocks(X, y))
    assert chosen.alpha_search_["alpha"].min() < chosen.alpha_ < chosen.alpha_search_["alpha"].max()
    again = regressor(alpha="auto", warm_start=True).fit(blocks(X, y)).fit(blocks(X, y))
    np.testing.assert_allclose(again.alpha_, chosen.alpha_, rtol=1e-12)


@pytest.mark.parametrize("kernel", ["brownian", "exponential"])
def test_more_rows_need_no_more_passes(kernel):
    X, y = problem(4800)
    n_iter = [regressor(kernel=kernel).fit(blocks(X[:n], y[:n])).n_iter_ for n in (1200, 4800)]
    assert n_iter[1] <= n_iter[0] + 5


def test_additive_models_and_several_targets():
    X, y = problem(900)
    both = np.column_stack([y, -2.0 * y + 1.0])
    model = regressor(penalty="additive").fit(blocks(X, both))
    assert (np.count_nonzero(model.particles_, axis=1) == 1).all()
    found = model.predict(X)
    np.testing.assert_allclose(found[:, 1], 1.0 - 2.0 * found[:, 0], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_model_of_knots_does_what_others_do(kernel):
    X, y = problem(900)
    model = regressor(kernel=kernel).fit(blocks(X, y))
    values = model.predict(X[:50])
    for copied in (pickle.loads(pickle.dumps(model)), by_skops(model)):
        np.testing.assert_array_equal(copied.predict(X[:50]), values)
    # Half of the rows, because slopes are those of both sides at a bend.
    step = 1e-7 * X.std(axis=0)
    numeric = [
        (model.predict(X[:50] + h) - model.predict(X[:50] - h)) / (2.0 * h.sum())
        for h in np.diag(step)
    ]
    apart = np.abs(model.gradient(X[:50]) - np.transpose(numeric)) * X.std(axis=0)
    assert np.mean(apart.max(axis=1) < 1e-4 * y.std()) > 0.95
    functions = model.partial_functions(400)
    total = np.full(50, functions.constant[0])
    for direction, grid, g in zip(
        functions.directions, functions.grid, functions.values[:, :, 0], strict=True
    ):
        total += np.interp((X[:50] - functions.offset) @ direction, grid, g)
    np.testing.assert_allclose(total, values, atol=0.05 * y.std())
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    written = session.run(None, {"X": X[:50]})[0]
    np.testing.assert_allclose(np.ravel(written), values, rtol=1e-9, atol=1e-9 * y.std())


def by_skops(model):
    content = skops.io.dumps(model)
    return skops.io.loads(content, trusted=skops.io.get_untrusted_types(data=content))


@pytest.mark.parametrize("name", ["knots_", "knot_coef_", "intercept_"])
def test_a_damaged_model_says_so(name):
    X, y = problem(900)
    model = regressor().fit(blocks(X, y))
    setattr(model, name, getattr(model, name)[..., :-1])
    with pytest.raises(ValueError, match="The model is damaged"):
        model.predict(X)


def test_an_interruption_of_the_last_step_keeps_its_best_state(monkeypatch):
    X, y = problem(900)
    whole = regressor().fit(blocks(X, y))
    model, curved, passes = regressor(), block_fit.curved, []

    def interrupted(block, *args):
        passes.append(block.number)
        if len(passes) > 40:
            raise KeyboardInterrupt
        return curved(block, *args)

    monkeypatch.setattr(block_fit, "curved", interrupted)
    with pytest.raises(KeyboardInterrupt, match="has the best state"):
        model.fit(blocks(X, y))
    assert "interrupted" in model.status_ and hasattr(model, "knots_")
    assert model.objective_history_[0] > model.objective_ > whole.objective_


def test_a_callback_sees_the_last_step_and_stops_it():
    X, y = problem(900)
    stages = []

    def stop(progress):
        stages.append(progress.stage)
        return progress.stage == "functions of all rows" and progress.iteration == 2

    model = regressor(callback=stop).fit(blocks(X, y))
    assert "stopped by the callback" in model.status_ and "functions of all rows" in stages
    assert np.isfinite(model.predict(X)).all()

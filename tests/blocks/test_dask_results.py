"""Predictions for collections of Dask: those for the rows themselves, computed when wanted."""

from __future__ import annotations

import warnings

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from families import ESTIMATORS, FAMILIES
from kernlens import (
    SIR,
    BrownianKernelRidge,
    KernelLaplacianClustering,
    KernelLaplacianEmbedding,
    RandomKitchenSinksClassifier,
    TablePreprocessor,
)

METHODS = (
    "predict",
    "predict_proba",
    "predict_log_proba",
    "decision_function",
    "transform",
    "gradient",
    "extrapolating",
)


def rows(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    return X, X[:, 0] ** 2 + X[:, 1]


def labels(y, n_classes=3):
    return np.array(["a", "b", "c"])[np.digitize(y, [0.5, 2.0][: n_classes - 1])]


def frame(X):
    return pd.DataFrame(X, columns=["p", "q", "r"], index=2 * np.arange(len(X)) + 5)


def light(estimator):
    """A quick fit of any public estimator."""
    family = next(one for one in FAMILIES if estimator in one.estimators)
    return estimator(**family.light)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_every_answer_is_that_for_the_rows(estimator):
    X, y = rows()
    model = light(estimator).fit(X, labels(y, 2) if "Classifier" in estimator.__name__ else y)
    collection = da.from_array(X, chunks=(50, 2))
    for name in METHODS:
        if not hasattr(model, name):
            continue
        answer, expected = getattr(model, name)(collection), getattr(model, name)(X)
        assert isinstance(answer, da.Array) and answer.chunks[0] == (50, 50, 20)
        assert (answer.shape, answer.dtype) == (expected.shape, expected.dtype)
        found = answer.compute(scheduler="synchronous")
        assert found.dtype == expected.dtype
        if expected.dtype.kind == "f":
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)
        else:
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("estimator", [KernelLaplacianEmbedding, KernelLaplacianClustering])
def test_eigenfunctions_answer_as_well(estimator):
    X, _ = rows()
    model = estimator(random_state=0).fit(X)
    name = "transform" if hasattr(model, "transform") else "predict"
    answer = getattr(model, name)(da.from_array(X, chunks=(50, 3)))
    expected = getattr(model, name)(X)
    np.testing.assert_allclose(answer.compute(), expected, rtol=1e-9, atol=1e-11)


def kitchen_sinks(X, y):
    return RandomKitchenSinksClassifier(n_directions=2, n_jobs=1, random_state=0).fit(X, y)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_answers_to_data_frames_have_names_and_the_index(n_classes):
    X, y = rows()
    table = frame(X)
    model = kitchen_sinks(table, labels(y, n_classes))
    collection = dd.from_pandas(table, npartitions=3)
    names = {
        "predict_proba": list(model.classes_),
        "transform": list(model.get_feature_names_out()),
    }
    if n_classes == 2:
        names["gradient"] = ["p", "q", "r"]
    else:
        names["decision_function"] = list(model.classes_)
    for name, columns in names.items():
        answer = getattr(model, name)(collection)
        assert list(answer.columns) == columns and answer.divisions == collection.divisions
        found = answer.compute()
        pd.testing.assert_index_equal(found.index, table.index)
        np.testing.assert_allclose(found, getattr(model, name)(table), rtol=1e-9)
    predicted = model.predict(collection).compute()
    assert predicted.name == "predict" and predicted.index.equals(table.index)
    np.testing.assert_array_equal(predicted, model.predict(table))


def test_gradients_of_several_functions_have_three_axes():
    X, y = rows()
    model = kitchen_sinks(frame(X), labels(y))
    answer = model.gradient(dd.from_pandas(frame(X), npartitions=3))
    assert answer.ndim == 3
    np.testing.assert_allclose(answer.compute(), model.gradient(frame(X)), rtol=1e-9)
    answer = kitchen_sinks(X, labels(y)).gradient(da.from_array(X, chunks=(50, 3)))
    assert answer.chunks == ((50, 50, 20), (3,), (3,))


def test_nothing_is_computed_before_it_is_wanted():
    X, y = rows()
    model = BrownianKernelRidge(n_directions=2, n_jobs=1).fit(X, y)
    expected, computed = model.predict(X), []

    def load(block):
        computed.append(len(block))
        return block

    answer = model.predict(da.from_array(X, chunks=(50, 3)).map_blocks(load, meta=np.empty((0, 0))))
    assert not computed
    # A later fit is another model.
    model.fit(X, -y)
    np.testing.assert_allclose(answer.compute(scheduler="synchronous"), expected, rtol=1e-9)
    assert sorted(computed) == [20, 50, 50]


def test_the_model_is_one_task():
    X, y = rows()
    model = BrownianKernelRidge(n_directions=2, n_jobs=1).fit(X, y)
    answer = model.predict(da.from_array(X, chunks=(10, 3)))
    keys = [str(key) for key in answer.__dask_graph__() if "BrownianKernelRidge" in str(key)]
    assert len(keys) == 1


def test_a_pipeline_with_text_answers_block_by_block():
    X, y = rows()
    table = frame(X).assign(color=np.where(X[:, 2] > 0, "red", "blue"))
    pipeline = make_pipeline(
        TablePreprocessor(), SIR(), BrownianKernelRidge(n_directions=1, n_jobs=1)
    )
    pipeline.fit(table, y + X[:, 2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answer = pipeline.predict(dd.from_pandas(table, npartitions=3)).compute()
    assert answer.index.equals(table.index)
    np.testing.assert_allclose(answer, pipeline.predict(table), rtol=1e-9)


def test_empty_partitions_and_unknown_lengths_are_no_matter():
    X, y = rows()
    X = X[np.argsort(X[:, 0])]
    table = frame(X)
    model = BrownianKernelRidge(n_directions=2, n_jobs=1).fit(table, y)
    collection = dd.from_pandas(table, npartitions=3)
    some = collection[collection.p < X[30, 0]]
    expected = model.predict(table[:30])
    np.testing.assert_allclose(model.predict(some).compute(), expected, rtol=1e-9)
    assert model.transform(some).compute().shape == (len(expected), 2)
    by_place = BrownianKernelRidge(n_directions=2, n_jobs=1).fit(X, y)
    np.testing.assert_allclose(by_place.predict(some.values).compute(), expected, rtol=1e-9)


def test_containers_that_are_asked_for_are_for_rows_in_memory():
    X, y = rows()
    model = SIR().fit(X, y).set_output(transform="pandas")
    answer = model.transform(da.from_array(X, chunks=(50, 3)))
    assert isinstance(answer, da.Array)
    np.testing.assert_allclose(answer.compute(), model.transform(X).to_numpy())


def test_complaints_come_at_once():
    X, y = rows()
    collection = da.from_array(X, chunks=(50, 3))
    with pytest.raises(NotFittedError):
        BrownianKernelRidge().predict(collection)
    with pytest.raises(ValueError, match="2 features"):
        BrownianKernelRidge(n_directions=2, n_jobs=1).fit(X, y).predict(collection[:, :2])
    model = BrownianKernelRidge(n_directions=2, n_jobs=1).fit(frame(X), y)
    other = frame(X).rename(columns={"p": "s"})
    with pytest.raises(ValueError, match="feature names"), dask.config.set(scheduler="sync"):
        model.predict(dd.from_pandas(other, npartitions=2))

"""What a runtime computes from an exported model is what the model predicts."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest
from sklearn.base import is_classifier

import kernlens
from families import ESTIMATORS, family_of, light

#: Relative to the largest value of an output.
CLOSE = 1e-5


def run(model, X):
    """The outputs of an exported model, by their names."""
    session = onnxruntime.InferenceSession(
        kernlens.to_onnx(model).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {"X": X}), strict=True))


def new_rows(X, seed=1):
    """Rows among those of a fit, beside them, far from all of them, and at zero."""
    random = np.random.default_rng(seed)
    beside = X[:20] + 0.1 * random.standard_normal(X[:20].shape)
    far = 10.0 ** random.uniform(0.0, 6.0, (20, 1)) * random.standard_normal((20, X.shape[1]))
    farthest = 1e120 * random.standard_normal((2, X.shape[1]))
    return np.vstack([X[:10], beside, far, farthest, np.zeros((1, X.shape[1])), X.mean(axis=0)])


def assert_close(found, expected):
    expected = expected.reshape(found.shape)
    scale = np.maximum(np.abs(expected), 1e-3 * np.abs(expected[:30]).max())
    worst = np.max(np.abs(found - expected) / np.where(scale > 0.0, scale, 1.0))
    assert worst < CLOSE, worst


def assert_same(model, X):
    found = run(model, X)
    if not is_classifier(model):
        assert_close(found["variable"], model.predict(X))
        return
    assert_close(found["scores"], model.decision_function(X))
    assert_close(found["probabilities"], model.predict_proba(X))
    assert np.array_equal(found["label"], model.predict(X))


def rows(n_rows=60, n_columns=4):
    random = np.random.default_rng(0)
    X = random.standard_normal((n_rows, n_columns)) * [1.0, 5.0, 0.2, 1.0][:n_columns] + 1.0
    return X, np.abs(X[:, 0]) + 0.2 * X[:, 1] + 0.1 * random.standard_normal(n_rows)


def variants():
    """Every estimator with every branch of its code that users can choose."""
    for estimator in ESTIMATORS:
        family = family_of(estimator)
        for settings in ({}, *family.variants):
            if not is_classifier(estimator()) or settings not in family.regressor_only:
                yield pytest.param(estimator, settings, id=f"{estimator.__name__}-{settings}")
        if not is_classifier(estimator()):
            for settings in family.regressor_only:
                yield pytest.param(estimator, settings, id=f"{estimator.__name__}-{settings}")


@pytest.mark.parametrize("estimator, settings", variants())
def test_a_runtime_predicts_the_same(estimator, settings):
    X, y = rows()
    target = y
    if is_classifier(estimator()):
        target = np.array(["low", "high"])[(y > np.median(y)).astype(int)]
    model = light(estimator, **settings).fit(X, target)
    queries = new_rows(X)
    if settings.get("solver") == "random_features" and "KernelLaplacian" in estimator.__name__:
        # Cosines of large angles lose digits, in any way of computing them.
        queries = queries[np.abs(queries).max(axis=1) < 1e4]
    assert_same(model, queries)

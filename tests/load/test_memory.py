"""What does not fit into memory is refused with a sentence, before it is allocated.

``python -m benchmarks memory`` compares the formulas with the peaks of real fits.
"""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from sklearn.base import is_classifier

from families import PUBLIC, UNSUPERVISED, light
from kernlens import (
    BKerNNRegressor,
    KernelLaplacianEmbedding,
    KernelLaplacianRegressor,
    RandomKitchenSinksRegressor,
    RKHSWeightingRegressor,
    _validation,
)

SENTENCE = r"This fit needs about .* GiB and this process may use .* GiB; .*\.$"


def sample(model, n=40):
    X = np.random.default_rng(0).standard_normal((n, 4))
    y = X[:, 0] + np.abs(X[:, 1])
    return X, ((y > 0.5).astype(int) if is_classifier(model) else y)


def check_refused(model, most_bytes):
    X, y = sample(model)
    tracemalloc.start()
    try:
        with pytest.raises(MemoryError, match=SENTENCE):
            model.fit(X, y)
        assert tracemalloc.get_traced_memory()[1] < most_bytes
    finally:
        tracemalloc.stop()
    assert not hasattr(model, "n_features_in_")


@pytest.mark.parametrize("estimator", PUBLIC)
def test_every_estimator_asks_first(estimator, monkeypatch):
    monkeypatch.setattr(_validation, "memory_limit", lambda: 1000.0)
    check_refused(estimator() if estimator in UNSUPERVISED else light(estimator), 2_000_000)


@pytest.mark.parametrize(
    "model",
    [
        BKerNNRegressor(n_particles=10**12),
        RKHSWeightingRegressor(solver="least_squares", n_random_features=10**7),
        RandomKitchenSinksRegressor(n_random_features=10**7),
        KernelLaplacianRegressor(solver="random_features", kernel="gaussian", n_centers=10**7),
        KernelLaplacianEmbedding(solver="random_features", kernel="gaussian", n_centers=10**7),
    ],
)
def test_huge_settings_are_refused_at_once(model):
    check_refused(model, 2_000_000)

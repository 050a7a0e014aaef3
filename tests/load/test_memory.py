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
from kernlens._invariance import leading_digits
from kernlens._rows import canonical_rows
from kernlens.kernels.radial import make_radial_kernel
from kernlens.losses import SquaredLoss
from kernlens.methods.hkrr.objective import HyperKernelObjective
from kernlens.methods.hkrr.varpro import varpro_lbfgs
from kernlens.methods.rfm.forms import RadialForm
from kernlens.methods.rfm.machine import Course, Machine, learned_map
from kernlens.methods.rfm.ranks import Ranks

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


def traced_peak(work):
    """Most bytes that `work` allocates at a time."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_digits_are_rounded_a_few_rows_at_a_time():
    values = np.random.default_rng(0).standard_normal((100_000, 20))
    assert traced_peak(lambda: leading_digits(values)) < 2.0 * values.nbytes


def test_one_kernel_is_held_at_a_time():
    X = np.random.default_rng(0).standard_normal((20_000, 4))
    rows = canonical_rows(X, np.abs(X[:, :1].T), np.ones(len(X)))
    objective = HyperKernelObjective.of(
        rows, rows.X[:100], make_radial_kernel("gaussian"), SquaredLoss(), 1e-3
    )
    one = 2 * 8 * 20_000 * 100

    def learn():
        points = objective.compared([np.eye(4), 0.5 * np.eye(4), 0.2 * np.eye(4)])
        varpro_lbfgs(objective, points[0], max_iter=5)

    assert traced_peak(learn) < 1.6 * one


def test_a_map_is_learned_a_few_rows_at_a_time():
    rng = np.random.default_rng(0)
    rows = canonical_rows(rng.standard_normal((4000, 3)), np.zeros((1, 4000)), np.ones(4000))
    form, centers, a = RadialForm(make_radial_kernel("laplace")), rows.X[:500], np.ones((1, 500))
    course = Course.start(Machine("full", form, True, False), rows, None, 1.0)
    term = course.term
    whole = term.gradient(term.images(rows.X), term.images(centers), a)
    assert traced_peak(lambda: course.update(centers, a)) < 0.5 * 8 * 4000 * 500
    expected = learned_map(whole, rows.weights, True)
    np.testing.assert_allclose(course.map.T @ course.map, expected.T @ expected, rtol=1e-12)


def test_ranks_take_no_table_of_rows_and_knots():
    X = np.random.default_rng(0).standard_normal((50_000, 1))
    assert traced_peak(lambda: Ranks.of(X, np.ones(len(X)))) < 15 * X.nbytes

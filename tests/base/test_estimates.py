"""What a fit will need: the memory that the fit itself asks for, and time that grows as it does."""

from __future__ import annotations

import re
from importlib import import_module

import numpy as np
import pytest
from sklearn.base import clone, is_classifier

import kernlens
from families import ESTIMATORS, FAMILIES, FINDERS, PUBLIC, UNSUPERVISED, family_of
from kernlens import (
    SIR,
    AutoLensClassifier,
    AutoLensRegressor,
    BKerNNRegressor,
    HKRRRegressor,
    KernelLaplacianEmbedding,
    RFMRegressor,
    RKHSWeightingRegressor,
)
from kernlens.base import estimates

ASKING = ["base.fitting", "methods.sdr.estimator", "methods.kernel_laplacian.spectral"]


class Asked(Exception):
    """A fit has said how much memory it needs."""


def memory_asked(monkeypatch, model, X, y):
    """Bytes that a fit asks for, which then ends."""

    def asked(n_bytes, advice):
        raise Asked(n_bytes)

    for name in ASKING:
        monkeypatch.setattr(import_module(f"kernlens.{name}"), "check_memory", asked)
    with pytest.raises(Asked) as found:
        model.fit(X, y)
    return found.value.args[0]


def rows(n, d, n_targets, classes):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    if classes:
        return X, np.arange(n) % n_targets
    y = rng.standard_normal((n, n_targets))
    return X, y if n_targets > 1 else y[:, 0]


@pytest.mark.parametrize("estimator", [*ESTIMATORS, *FINDERS, *UNSUPERVISED])
@pytest.mark.parametrize(("n", "d"), [(60, 4), (4000, 7)])
@pytest.mark.parametrize("n_targets", [None, 3])
def test_memory_is_what_a_fit_asks_for(monkeypatch, estimator, n, d, n_targets):
    model = estimator()
    classes = is_classifier(model)
    X, y = rows(n, d, n_targets or (2 if classes else 1), classes)
    expected = memory_asked(monkeypatch, model, X, y)
    assert model.estimate_memory(n, d, n_targets) == expected > 0


VARIANTS = [
    pytest.param(estimator, settings, id=f"{estimator.__name__}-{number}")
    for family in FAMILIES
    for estimator in family.estimators
    for number, settings in enumerate(family.settings(estimator))
]


@pytest.mark.parametrize(("estimator", "settings"), VARIANTS)
def test_memory_of_every_branch(monkeypatch, estimator, settings):
    model = estimator(**settings)
    X, y = rows(60, 4, 2 if is_classifier(model) else 1, is_classifier(model))
    expected = memory_asked(monkeypatch, clone(model), X, y)
    assert model.estimate_memory(60, 4) == expected


@pytest.mark.parametrize("estimator", PUBLIC)
def test_time_and_memory_grow_with_rows_and_columns(estimator):
    model = estimator()
    # Pairs whose fits go the same way: other sizes may have a thriftier one.
    sizes = [(50, 5), (50, 10), (50_000, 10), (50_000, 20), (10**7, 20), (10**8, 20)]
    for what in (model.estimate_memory, model.estimate_seconds):
        small = [what(*size) for size in sizes]
        assert small[0] > 0 and np.isfinite(small).all()
        assert small[0] <= small[1] and small[2] <= small[3] and small[4] <= small[5]


def test_time_is_measured_in_that_of_this_machine(monkeypatch):
    once = HKRRRegressor().estimate_seconds(1000, 10)
    slowness = estimates.slowness()
    monkeypatch.setattr(estimates, "slowness", lambda: 3.0 * slowness)
    assert HKRRRegressor().estimate_seconds(1000, 10) == pytest.approx(3.0 * once)


@pytest.mark.parametrize("estimator", [AutoLensRegressor, AutoLensClassifier])
def test_automatic_estimators_take_their_budget_and_what_the_largest_candidate_needs(estimator):
    model = estimator(time_budget=123.0, n_jobs=2)
    assert model.estimate_seconds(10**6, 30) == pytest.approx(123.0)
    largest = RFMRegressor if estimator is AutoLensRegressor else kernlens.RFMClassifier
    assert model.estimate_memory(3000, 5) >= 2 * largest().estimate_memory(3000, 5)


@pytest.mark.parametrize(
    ("model", "n_gib", "n", "d"),
    [
        (BKerNNRegressor(), 0.1, 100_000, 5),
        (RFMRegressor(), 0.3, 3000, 5),
        (HKRRRegressor(centers=5000, refit=None), 1.0, 20_000, 5),
        (RKHSWeightingRegressor(solver="exact"), 0.5, 20_000, 5),
        (KernelLaplacianEmbedding(), 0.4, 20_000, 5),
    ],
)
def test_a_refusal_names_what_would_fit(monkeypatch, model, n_gib, n, d):
    limit = n_gib * 2**30
    monkeypatch.setattr("kernlens._validation.memory_limit", lambda: limit)
    assert model.estimate_memory(n, d) > limit
    X, y = rows(n, d, 1, False)
    with pytest.raises(MemoryError) as refused:
        clone(model).fit(X, y)
    named = re.search(r": (\w.*) needs about", str(refused.value)).group(1)
    change = eval(f"dict({named})")
    assert clone(model).set_params(**change).estimate_memory(n, d) <= limit


def test_a_refusal_names_rows_where_no_parameter_helps(monkeypatch):
    limit = 2e7
    monkeypatch.setattr("kernlens._validation.memory_limit", lambda: limit)
    X, y = rows(100_000, 5, 1, False)
    with pytest.raises(MemoryError, match="RowBlocks and Dask collections") as refused:
        SIR().fit(X, y)
    n_fit = int(re.search(r": (\d+) rows fit", str(refused.value)).group(1))
    assert SIR().estimate_memory(n_fit, 5) <= limit < SIR().estimate_memory(int(1.2 * n_fit), 5)


@pytest.mark.parametrize("size", [(0, 5), (10, -1), (10, 5, 0), (2.5, 5)])
def test_sizes_that_are_none_are_refused(size):
    with pytest.raises(ValueError, match="must be"):
        HKRRRegressor().estimate_memory(*size)


def test_families_have_a_formula_each():
    assert all(family_of(estimator) for estimator in ESTIMATORS)
    assert all(hasattr(public, "estimate_memory") for public in PUBLIC)

"""Bad input that only the HKRR estimators can get: one clear sentence before any work."""

from __future__ import annotations

import os

import numpy as np
import pytest
from sklearn.base import is_classifier

from families import light
from kernlens import (
    AlternatingGradient,
    Centers,
    Constraint,
    HKRRClassifier,
    HKRRRegressor,
    RandomMaps,
    VarPro,
)
from kernlens.kernels.radial import GaussianKernel, RadialKernel, RationalQuadraticKernel
from kernlens.methods.hkrr.objective import HyperKernelObjective

both = pytest.mark.parametrize("estimator", [HKRRRegressor, HKRRClassifier])


def sample(estimator=HKRRRegressor, n=40, d=3):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = np.abs(X[:, 0]) + 0.1 * rng.standard_normal(n)
    return X, ((y > 0.7).astype(int) if is_classifier(estimator()) else y)


@pytest.fixture
def no_work(monkeypatch):
    """Fail if the objective is evaluated at all: complaints come before any work."""

    def evaluated(self, W, **options):
        raise AssertionError("work began before the input was refused")

    monkeypatch.setattr(HyperKernelObjective, "at", evaluated)


@pytest.fixture
def small_machine(monkeypatch):
    """A machine with 64 MiB of memory."""
    pages = {"SC_PAGE_SIZE": 2**12, "SC_PHYS_PAGES": 2**14}
    monkeypatch.setattr(os, "sysconf", pages.__getitem__)


class Cone(RadialKernel):
    """max(0, 1 - r), whose derivative in s is infinite at zero, and given so."""

    def profile(self, s):
        return np.maximum(0.0, 1.0 - np.sqrt(s))

    def derivative(self, s):
        with np.errstate(divide="ignore"):
            return np.where(s < 1.0, -0.5 / np.sqrt(s), 0.0)


class Doubled(GaussianKernel):
    """2 exp(-s / 2), which is not 1 at zero."""

    def profile(self, s):
        return 2.0 * np.exp(-s / 2)


class WrongSlope(GaussianKernel):
    """The derivative with respect to the distance instead of its square."""

    def derivative(self, s):
        return -np.sqrt(s) * np.exp(-s / 2)


class WrongShape(GaussianKernel):
    """A number instead of an array."""

    def derivative(self, s):
        return -0.5


COUNT_OR_AUTO = "must be 'auto' or an integer of at least 1"
NOT_EMPTY = "must be one value or a non-empty list of numbers"
POSITIVE_OR_AUTO = "must be 'auto' or a positive finite number"
CENTERS = "must be a Centers or an integer of at least 1"
STARTS = (
    "must be 'auto' or 'random' or 'subspace' or a RandomMaps or a matrix or an integer of at "
    "least 1"
)


@both
@pytest.mark.parametrize(
    ("name", "value", "match"),
    [
        ("alpha", [], f"alpha {NOT_EMPTY}, got \\[\\]."),
        ("alpha", [0.1, 0.0], f"alpha {POSITIVE_OR_AUTO}, got 0.0."),
        ("alpha", [0.1, None], f"alpha {POSITIVE_OR_AUTO}, got None."),
        ("alpha", ["auto", 0.1], f"alpha {NOT_EMPTY}, got "),
        ("alpha", ("small", "large"), f"alpha {NOT_EMPTY}, got "),
        ("alpha", np.array([0.1, np.inf]), f"alpha {POSITIVE_OR_AUTO}, got "),
        (
            "alpha",
            "heuristic",
            "alpha must be 'auto' or a positive finite number, got 'heuristic'.",
        ),
        ("alpha", 1e-16, "alpha must be at least 1e-15, got 1e-16."),
        ("n_components", 0, f"n_components {COUNT_OR_AUTO}, got 0."),
        ("n_components", 1.5, f"n_components {COUNT_OR_AUTO}, got 1.5."),
        ("n_components", "many", f"n_components {COUNT_OR_AUTO}, got 'many'."),
        ("n_components", [], f"n_components {NOT_EMPTY}, got \\[\\]."),
        ("n_components", [2, 0], f"n_components {COUNT_OR_AUTO}, got 0."),
        ("n_components", [2, "auto"], f"n_components {NOT_EMPTY}, got "),
        ("centers", 0, f"centers {CENTERS}, got 0."),
        ("centers", 10.0, f"centers {CENTERS}, got 10.0."),
        ("centers", "leverage", f"centers {CENTERS}, got 'leverage'."),
        ("centers", None, f"centers {CENTERS}, got None."),
        ("centers", Centers, f"centers {CENTERS}, got <class"),
        ("kernel", GaussianKernel, "kernel must be one of 'gaussian', .*, got <class "),
        ("kernel", lambda s: np.exp(-s), "kernel must be one of 'gaussian', .*, got <function"),
        ("kernel", Cone(), "Cone has no finite derivative at zero; return 0 there and set smooth"),
        ("kernel", Doubled(), "Doubled: the profile must be 1 at zero, got 2; divide it by that."),
        ("kernel", WrongSlope(), "WrongSlope: derivative is not that of profile with respect to"),
        ("kernel", WrongShape(), "WrongShape: profile and derivative must return arrays of the sh"),
        ("optimizer", VarPro, "optimizer must be one of 'auto', .*, got <class "),
        ("optimizer", None, "optimizer must be one of 'auto', .*, got None."),
        ("init", "zeros", f"init {STARTS}, got 'zeros'."),
        ("init", None, f"init {STARTS}, got None."),
        ("init", 0, f"init {STARTS}, got 0."),
        ("init", 2.5, f"init {STARTS}, got 2.5."),
        ("init", RandomMaps, f"init {STARTS}, got <class"),
        ("init", np.ones((2, 3)), "init has 2 rows and n_components is 4; give both the same num"),
        ("init", np.ones((2, 4)), r"init must have shape .* n_features = 3, got \(2, 4\)."),
        ("init", np.ones(3), r"init must have shape .* n_features = 3, got \(3,\)."),
        ("init", np.ones((0, 3)), r"init must have shape .* n_features = 3, got \(0, 3\)."),
        ("init", [[1.0, np.nan, 0.0]], "init must have finite entries, not all of them zero."),
        ("init", np.zeros((2, 3)), "init must have finite entries, not all of them zero."),
        ("refit", 0, "refit must be 'auto' or 'exact' or None or an integer of at least 1, got 0."),
        ("refit", "some", "refit must be 'auto' or 'exact' or None or an integer .*, got 'some'."),
        ("refit", True, "refit must be 'auto' or 'exact' or None or an integer .*, got True."),
        ("constraint", 1.0, "constraint must be None or a Constraint, got 1.0."),
        ("constraint", "trace", "constraint must be None or a Constraint, got 'trace'."),
        ("constraint", Constraint, "constraint must be None or a Constraint, got <class"),
    ],
)
@pytest.mark.usefixtures("no_work")
def test_bad_parameters(estimator, name, value, match):
    X, y = sample(estimator)
    with pytest.raises(ValueError, match=match):
        light(estimator, **{name: value}).fit(X, y)


@pytest.mark.parametrize("truncate", [0, -1.0, "yes", True, np.inf, np.nan])
@pytest.mark.usefixtures("no_work")
def test_bad_truncation(truncate):
    with pytest.raises(
        ValueError, match="truncate must be 'auto' or None or a positive finite number"
    ):
        light(HKRRRegressor, truncate=truncate).fit(*sample())


@pytest.mark.parametrize(
    ("option", "values", "match"),
    [
        (Centers, {"number": 0}, "number must be an integer of at least 1, got 0."),
        (Centers, {"number": 10.0}, "number must be an integer of at least 1, got 10.0."),
        (Centers, {"number": "all"}, "number must be an integer of at least 1, got 'all'."),
        (Centers, {"sampling": "kmeans"}, "one of 'uniform', 'leverage', got 'kmeans'."),
        (Centers, {"sampling": None}, "sampling must be one of 'uniform', 'leverage', got None."),
        (RandomMaps, {"number": 0}, "number must be an integer of at least 1, got 0."),
        (Constraint, {"max_norm": 0}, "max_norm must be None or a positive finite number, got 0."),
        (Constraint, {"max_norm": -1.0}, "max_norm must be None or a positive .*, got -1.0."),
        (Constraint, {"max_norm": np.inf}, "max_norm must be None or a positive .*, got inf."),
        (Constraint, {"max_norm": "auto"}, "max_norm must be None or a positive .*, got 'auto'."),
        (Constraint, {"trace_norm": -0.1}, "trace_norm must be a finite .* least 0, got -0.1."),
        (Constraint, {"trace_norm": np.nan}, "trace_norm must be a finite .* least 0, got nan."),
        (Constraint, {"trace_norm": None}, "trace_norm must be a finite .* least 0, got None."),
    ],
)
def test_bad_parts_of_an_option(option, values, match):
    with pytest.raises(ValueError, match=match):
        option(**values)


@both
def test_every_bad_value_of_the_list_is_refused(estimator):
    X, y = sample(estimator)
    for name, parameter in estimator._parameters.items():
        for value in parameter.kind.bad_values():
            with pytest.raises(ValueError, match=f"^{name} must "):
                light(estimator, **{name: value}).fit(X, y)


def test_bad_constants_of_optimizers_and_kernels():
    with pytest.raises(ValueError, match="steps must be 'lbfgs' or 'gradient', got 'newton'"):
        VarPro("newton")
    for steps in (0, 2.5, "many"):
        match = f"n_coefficient_steps must be an integer of at least 1, got {steps!r}"
        with pytest.raises(ValueError, match=match):
            AlternatingGradient(steps)
    with pytest.raises(ValueError, match="reduced must be True or False, got 1"):
        VarPro(reduced=1)
    for optimizer in (VarPro, AlternatingGradient):
        with pytest.raises(ValueError, match="rule must be a StepRule, got 'long'"):
            optimizer(rule="long")
    for a in (0.0, -1.0, np.inf):
        with pytest.raises(ValueError, match="a must be a positive finite number"):
            RationalQuadraticKernel(a)


@both
@pytest.mark.usefixtures("no_work", "small_machine")
@pytest.mark.parametrize("options", [{"refit": "exact"}, {"refit": 2000}, {"centers": 2000}])
def test_more_centres_than_memory(estimator, options):
    match = "needs about .* GiB and this process may use 0.1 GiB; lower refit or centers, or fit on"
    with pytest.raises(MemoryError, match=match):
        light(estimator, **options).fit(*sample(estimator, n=2000))


@both
@pytest.mark.usefixtures("small_machine")
def test_centres_that_do_not_exist_need_no_memory(estimator):
    X, y = sample(estimator)
    expected = light(estimator, centers=40).fit(X, y)
    for options in ({"centers": 10**9}, {"centers": 40, "refit": 10**9, "alpha": 0.01}):
        model = light(estimator, **options).fit(X, y)
        assert model.centers_.shape == (40, 3)
    model = light(estimator, centers=10**9).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), expected.predict(X))

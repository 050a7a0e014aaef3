"""Bad input that only the HKRR estimators can get: one clear sentence before any work."""

from __future__ import annotations

import os

import numpy as np
import pytest
from sklearn.base import is_classifier

from families import light
from kernlens import HKRRClassifier, HKRRRegressor
from kernlens.kernels.radial import GaussianKernel, RadialKernel, RationalQuadraticKernel
from kernlens.methods.hkrr.objective import HyperKernelObjective
from kernlens.methods.hkrr.problem import AlternatingGradient, VarPro

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


COUNT = "must be an integer of at least 1"
COUNT_OR_AUTO = "must be 'auto' or an integer of at least 1"
NOT_EMPTY = "must be one value or a non-empty list of numbers"
POSITIVE_OR_AUTO = "must be 'auto' or a positive finite number"
POSITIVE = "must be a positive finite number"


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
        ("n_centers", 0, f"n_centers {COUNT}, got 0."),
        ("n_centers", 10.0, f"n_centers {COUNT}, got 10.0."),
        ("n_centers", "all", f"n_centers {COUNT}, got 'all'."),
        ("n_init", 0, f"n_init {COUNT}, got 0."),
        ("kernel", GaussianKernel, "kernel must be one of 'gaussian', .*, got <class "),
        ("kernel", lambda s: np.exp(-s), "kernel must be one of 'gaussian', .*, got <function"),
        ("kernel", Cone(), "Cone has no finite derivative at zero; return 0 there and set smooth"),
        ("kernel", Doubled(), "Doubled: the profile must be 1 at zero, got 2; divide it by that."),
        ("kernel", WrongSlope(), "WrongSlope: derivative is not that of profile with respect to"),
        ("kernel", WrongShape(), "WrongShape: profile and derivative must return arrays of the sh"),
        ("optimizer", VarPro, "optimizer must be one of 'auto', .*, got <class "),
        ("optimizer", None, "optimizer must be one of 'auto', .*, got None."),
        (
            "init",
            "zeros",
            "init must be one of 'auto', 'random', 'subspace', or a matrix, got 'zeros'.",
        ),
        ("init", None, "init must be one of 'auto', 'random', 'subspace', or a matrix, got None."),
        ("init", np.ones((2, 3)), "init has 2 rows and n_components is 4; give both the same num"),
        ("init", np.ones((2, 4)), r"init must have shape .* n_features = 3, got \(2, 4\)."),
        ("init", np.ones(3), r"init must have shape .* n_features = 3, got \(3,\)."),
        ("init", np.ones((0, 3)), r"init must have shape .* n_features = 3, got \(0, 3\)."),
        ("init", [[1.0, np.nan, 0.0]], "init must have finite entries, not all of them zero."),
        ("init", np.zeros((2, 3)), "init must have finite entries, not all of them zero."),
        ("centers", "kmeans", "centers must be one of 'uniform', 'leverage', got 'kmeans'."),
        ("centers", None, "centers must be one of 'uniform', 'leverage', got None."),
        ("refit", 0, "refit must be 'auto' or 'exact' or None or an integer of at least 1, got 0."),
        ("refit", "some", "refit must be 'auto' or 'exact' or None or an integer .*, got 'some'."),
        ("refit", True, "refit must be 'auto' or 'exact' or None or an integer .*, got True."),
        ("max_norm", 0, f"max_norm {POSITIVE}, got 0."),
        ("max_norm", -1.0, f"max_norm {POSITIVE}, got -1.0."),
        ("max_norm", np.inf, f"max_norm {POSITIVE}, got inf."),
        ("max_norm", "auto", f"max_norm {POSITIVE}, got 'auto'."),
        ("trace_norm", -0.1, "trace_norm must be a finite number of at least 0, got -0.1."),
        ("trace_norm", np.nan, "trace_norm must be a finite number of at least 0, got nan."),
        ("trace_norm", None, "trace_norm must be a finite number of at least 0, got None."),
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


def test_bad_constants_of_optimizers_and_kernels():
    with pytest.raises(ValueError, match="steps must be 'lbfgs' or 'gradient', got 'newton'"):
        VarPro("newton")
    with pytest.raises(ValueError, match="n_coefficient_steps must be at least 1, got 0"):
        AlternatingGradient(0)
    for a in (0.0, -1.0, np.inf):
        with pytest.raises(ValueError, match="a must be a positive finite number"):
            RationalQuadraticKernel(a)


@both
@pytest.mark.usefixtures("no_work", "small_machine")
@pytest.mark.parametrize("options", [{"refit": "exact"}, {"refit": 2000}, {"n_centers": 2000}])
def test_more_centres_than_memory(estimator, options):
    match = (
        "needs about .* GiB and this process may use 0.1 GiB; lower refit or n_centers, or fit on"
    )
    with pytest.raises(MemoryError, match=match):
        light(estimator, **options).fit(*sample(estimator, n=2000))


@both
@pytest.mark.usefixtures("small_machine")
def test_centres_that_do_not_exist_need_no_memory(estimator):
    X, y = sample(estimator)
    expected = light(estimator, n_centers=40).fit(X, y)
    for options in ({"n_centers": 10**9}, {"n_centers": 40, "refit": 10**9, "alpha": 0.01}):
        model = light(estimator, **options).fit(X, y)
        assert model.centers_.shape == (40, 3)
    model = light(estimator, n_centers=10**9).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), expected.predict(X))

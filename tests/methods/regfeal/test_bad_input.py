"""Bad input that only the RegFeaL estimators can get: one clear sentence before any work."""

from __future__ import annotations

import os

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import LinearSVC

from families import light
from kernlens import RegFeaLClassifier, RegFeaLRegressor
from kernlens.methods.regfeal.objective import HermiteObjective

both = pytest.mark.parametrize("estimator", [RegFeaLRegressor, RegFeaLClassifier])


def sample(estimator=RegFeaLRegressor, n=40, d=3):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = np.abs(X[:, 0]) + 0.1 * rng.standard_normal(n)
    return X, ((y > 0.7).astype(int) if is_classifier(estimator()) else y)


@pytest.fixture
def no_work(monkeypatch):
    """Fail if the objective is evaluated at all: complaints come before any work."""

    def evaluated(self, directions, **options):
        raise AssertionError("work began before the input was refused")

    monkeypatch.setattr(HermiteObjective, "at", evaluated)


@pytest.fixture
def small_machine(monkeypatch):
    """A machine with 64 MiB of memory."""
    pages = {"SC_PAGE_SIZE": 2**12, "SC_PHYS_PAGES": 2**14}
    monkeypatch.setattr(os, "sysconf", pages.__getitem__)


COUNT = "must be an integer of at least 1"
COUNT_OR_AUTO = "must be 'auto' or an integer of at least 1"
COUNT_OR_NONE = "must be None or an integer of at least 1"
NOT_EMPTY = "must be one value or a non-empty list of numbers"
POSITIVE_OR_AUTO = "must be 'auto' or a positive finite number"
RHO = "rho must be a number above 0 and below 1; or 'auto', got"
POWER = "r must be a number above 0 and below 2; the paper has 0.33, got"
CLIP = "clip must be None or a positive finite number, got"
STRUCTURE = "structure must be one of 'features', 'variables', 'none', got"
INDICES = "indices must be one of 'auto', 'exact', 'enumerate', 'best_first', 'group_sampling', got"
REFIT = "refit must be one of 'auto', 'kernel', or None or an estimator, got"
INIT = "init must be one of 'auto', or a matrix of directions, got"
INIT_SHAPE = r"init must have shape .* n_features = 3, got"
INIT_ENTRIES = "init must have finite entries, not all of them zero."


@both
@pytest.mark.parametrize(
    ("name", "value", "match"),
    [
        ("alpha", [], f"alpha {NOT_EMPTY}, got \\[\\]."),
        ("alpha", 0.0, f"alpha {POSITIVE_OR_AUTO}, got 0.0."),
        ("alpha", [0.1, -1.0], f"alpha {POSITIVE_OR_AUTO}, got -1.0."),
        ("alpha", ["auto", 0.1], f"alpha {NOT_EMPTY}, got "),
        ("alpha", "small", f"alpha {POSITIVE_OR_AUTO}, got 'small'."),
        ("rho", [], f"rho {NOT_EMPTY}, got \\[\\]."),
        ("rho", 0.0, f"{RHO} 0.0."),
        ("rho", 1, f"{RHO} 1."),
        ("rho", -0.2, f"{RHO} -0.2."),
        ("rho", np.nan, f"{RHO} nan."),
        ("rho", None, f"{RHO} None."),
        ("rho", "large", f"{RHO} 'large'."),
        ("rho", [0.2, 1.0], f"{RHO} 1.0."),
        ("rho", ["auto", 0.2], f"rho {NOT_EMPTY}, got "),
        ("r", 0.0, f"{POWER} 0.0."),
        ("r", 2, f"{POWER} 2."),
        ("r", -1.0, f"{POWER} -1.0."),
        ("r", np.nan, f"{POWER} nan."),
        ("r", "auto", f"{POWER} 'auto'."),
        ("r", True, f"{POWER} True."),
        ("max_degree", 0, f"max_degree {COUNT_OR_NONE}, got 0."),
        ("max_degree", -2, f"max_degree {COUNT_OR_NONE}, got -2."),
        ("max_degree", 2.0, f"max_degree {COUNT_OR_NONE}, got 2.0."),
        ("max_degree", "auto", f"max_degree {COUNT_OR_NONE}, got 'auto'."),
        ("n_folds", 1, "n_folds must be at least 2, got 1."),
        ("n_folds", 0, f"n_folds {COUNT}, got 0."),
        ("n_folds", None, f"n_folds {COUNT}, got None."),
        ("n_indices", 0, f"n_indices {COUNT}, got 0."),
        ("n_indices", 10.0, f"n_indices {COUNT}, got 10.0."),
        ("max_directions", 0, f"max_directions {COUNT_OR_AUTO}, got 0."),
        ("max_directions", "all", f"max_directions {COUNT_OR_AUTO}, got 'all'."),
        ("structure", "feature", f"{STRUCTURE} 'feature'."),
        ("structure", None, f"{STRUCTURE} None."),
        ("indices", "all", f"{INDICES} 'all'."),
        ("indices", None, f"{INDICES} None."),
        ("indices", [[1, 0, 0]], f"{INDICES} \\[\\[1, 0, 0\\]\\]."),
        ("refit", "spline", f"{REFIT} 'spline'."),
        ("refit", 3, f"{REFIT} 3."),
        ("refit", False, f"{REFIT} False."),
        ("refit", Ridge, f"{REFIT} <class "),
        ("clip", 0, f"{CLIP} 0."),
        ("clip", -4.0, f"{CLIP} -4.0."),
        ("clip", np.inf, f"{CLIP} inf."),
        ("clip", "auto", f"{CLIP} 'auto'."),
        ("clip", True, f"{CLIP} True."),
        ("accelerate", 1, "accelerate must be True or False, got 1."),
        ("accelerate", None, "accelerate must be True or False, got None."),
        ("accelerate", "yes", "accelerate must be True or False, got 'yes'."),
        ("init", "random", f"{INIT} 'random'."),
        ("init", None, f"{INIT} None."),
        ("init", np.ones((2, 4)), f"{INIT_SHAPE} \\(2, 4\\)."),
        ("init", np.ones(3), f"{INIT_SHAPE} \\(3,\\)."),
        ("init", np.ones((0, 3)), f"{INIT_SHAPE} \\(0, 3\\)."),
        ("init", [[1.0, np.nan, 0.0]], INIT_ENTRIES),
        ("init", np.zeros((2, 3)), INIT_ENTRIES),
    ],
)
@pytest.mark.usefixtures("no_work")
def test_bad_parameters(estimator, name, value, match):
    X, y = sample(estimator)
    with pytest.raises(ValueError, match=match):
        light(estimator, **{name: value}).fit(X, y)


@both
@pytest.mark.parametrize("structure", ["variables", "none"])
@pytest.mark.usefixtures("no_work")
def test_bad_first_directions_are_refused_even_where_none_are_needed(estimator, structure):
    with pytest.raises(ValueError, match=INIT_SHAPE):
        light(estimator, init=np.ones((1, 2)), structure=structure).fit(*sample(estimator))


@both
@pytest.mark.usefixtures("no_work")
def test_the_exact_kernel_has_no_largest_degree(estimator):
    match = "indices='exact' needs the weights rho\\^k; set max_degree=None, or choose indices='enu"
    with pytest.raises(ValueError, match=match):
        light(estimator, indices="exact", max_degree=3).fit(*sample(estimator))


@pytest.mark.parametrize("truncate", [1, None, "yes"])
@pytest.mark.usefixtures("no_work")
def test_bad_truncation(truncate):
    with pytest.raises(ValueError, match="truncate must be True or False, got"):
        light(RegFeaLRegressor, truncate=truncate).fit(*sample())


@pytest.mark.parametrize(
    ("estimator", "refit", "match"),
    [
        (RegFeaLRegressor, LogisticRegression(), "refit must be a regressor, got LogisticRegres"),
        (RegFeaLClassifier, Ridge(), "refit must be a classifier with predict_proba, got Ridge"),
        (RegFeaLClassifier, LinearSVC(), "refit must be a classifier with predict_proba, got Lin"),
    ],
)
@pytest.mark.usefixtures("no_work")
def test_refit_must_suit_the_target(estimator, refit, match):
    with pytest.raises(ValueError, match=match):
        light(estimator, refit=refit).fit(*sample(estimator))


@both
@pytest.mark.usefixtures("no_work", "small_machine")
@pytest.mark.parametrize("options", [{"n_indices": 2000}, {"indices": "exact", "n_indices": 10}])
def test_more_rows_or_indices_than_memory(estimator, options):
    match = (
        "needs about .* GiB and this process may use 0.1 GiB; lower n_indices, choose indices='best"
    )
    with pytest.raises(MemoryError, match=match):
        light(estimator, **options).fit(*sample(estimator, n=1500))


@both
@pytest.mark.usefixtures("small_machine")
@pytest.mark.parametrize("indices", ["best_first", "enumerate", "group_sampling"])
def test_explicit_indices_need_no_matrix_of_all_rows(estimator, indices):
    X, y = sample(estimator, n=1500)
    model = light(estimator, indices=indices, n_indices=20, max_iter=1).fit(X, y)
    assert model.indices_.shape[0] <= 20

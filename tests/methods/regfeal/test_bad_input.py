"""Bad input that only the RegFeaL estimators can get: one clear sentence before any work."""

from __future__ import annotations

import os

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.svm import LinearSVC

from families import light
from kernlens import (
    AllPolynomials,
    BestFirst,
    Enumerated,
    GroupSampling,
    RegFeaLClassifier,
    RegFeaLRegressor,
    Reweighting,
    UpToDegree,
)
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
MOST = " and at most the largest degree of a basis = 4000"
COUNT_OR_AUTO = "must be 'auto' or an integer of at least 1"
COUNT_OR_NONE = "must be None or an integer of at least 1"
NOT_EMPTY = "must be one value or a non-empty list of numbers"
POSITIVE_OR_AUTO = "must be 'auto' or a positive finite number"
RHO = "rho must be a number above 0 and below 0.999999; or 'auto', got"
POWER = "r must be a number above 0 and below 2; the paper has 0.33, got"
CLIP = "clip must be None or a positive finite number, got"
STRUCTURE = "structure must be one of 'features', 'variables', 'none', got"
BASIS = "basis must be one of 'auto', 'exact', or an object like BestFirst\\(500\\), got"
DESCENT = "descent must be one of 'auto', or an object like Reweighting\\(\\), got"
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
        ("n_folds", 1, "n_folds must be an integer of at least 2, got 1."),
        ("n_folds", 0, "n_folds must be an integer of at least 2, got 0."),
        ("n_folds", None, "n_folds must be an integer of at least 2, got None."),
        ("structure", "feature", f"{STRUCTURE} 'feature'."),
        ("structure", None, f"{STRUCTURE} None."),
        ("basis", "all", f"{BASIS} 'all'."),
        ("basis", None, f"{BASIS} None."),
        ("basis", 500, f"{BASIS} 500."),
        ("basis", [[1, 0, 0]], f"{BASIS} \\[\\[1, 0, 0\\]\\]."),
        ("basis", BestFirst, f"{BASIS} <class "),
        ("basis", Reweighting(), f"{BASIS} Reweighting"),
        ("descent", "plain", f"{DESCENT} 'plain'."),
        ("descent", None, f"{DESCENT} None."),
        ("descent", True, f"{DESCENT} True."),
        ("descent", Reweighting, f"{DESCENT} <class "),
        ("refit", "spline", f"{REFIT} 'spline'."),
        ("refit", 3, f"{REFIT} 3."),
        ("refit", False, f"{REFIT} False."),
        ("refit", Ridge, f"{REFIT} <class "),
        ("clip", 0, f"{CLIP} 0."),
        ("clip", -4.0, f"{CLIP} -4.0."),
        ("clip", np.inf, f"{CLIP} inf."),
        ("clip", "auto", f"{CLIP} 'auto'."),
        ("clip", True, f"{CLIP} True."),
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
def test_every_argument_refuses_its_bad_values_by_name(estimator):
    X, y = sample(estimator)
    for name, parameter in estimator._parameters.items():
        for value in parameter.kind.bad_values():
            with pytest.raises(ValueError, match=f"^{name} must be "):
                light(estimator, **{name: value}).fit(X, y)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: BestFirst(0), f"n_indices {COUNT}, got 0."),
        (lambda: Enumerated(10.0), f"n_indices {COUNT}, got 10.0."),
        (lambda: GroupSampling(None), f"n_indices {COUNT}, got None."),
        (lambda: AllPolynomials(n_indices=-1), f"n_indices {COUNT}, got -1."),
        (lambda: AllPolynomials("auto"), f"max_rows {COUNT_OR_NONE}, got 'auto'."),
        (lambda: UpToDegree(3, 0), f"n_indices {COUNT_OR_NONE}, got 0."),
        (lambda: UpToDegree(0), f"max_degree {COUNT}{MOST}, got 0."),
        (lambda: UpToDegree(2.0), f"max_degree {COUNT}{MOST}, got 2.0."),
        (lambda: BestFirst(5, -2), f"max_degree {COUNT_OR_NONE}{MOST}, got -2."),
        (lambda: GroupSampling(5, "auto"), f"max_degree {COUNT_OR_NONE}{MOST}, got 'auto'."),
        (lambda: Reweighting(max_directions=0), f"max_directions {COUNT_OR_AUTO}, got 0."),
        (lambda: Reweighting(max_directions="all"), f"max_directions {COUNT_OR_AUTO}, got 'all'."),
        (lambda: Reweighting(1), "accelerate must be True or False, got 1."),
        (lambda: Reweighting(None), "accelerate must be True or False, got None."),
        (lambda: Reweighting("yes"), "accelerate must be True or False, got 'yes'."),
    ],
)
def test_bad_options_are_refused_where_they_are_made(make, match):
    with pytest.raises(ValueError, match=match):
        make()


@pytest.mark.parametrize("truncate", [0, -1.0, "yes", True, False])
@pytest.mark.usefixtures("no_work")
def test_bad_truncation(truncate):
    with pytest.raises(ValueError, match="truncate must be 'auto' or None or a positive finite"):
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
@pytest.mark.parametrize("basis", ["auto", "exact", BestFirst(1500), UpToDegree(20, None)])
def test_more_rows_or_indices_than_memory(estimator, basis):
    match = (
        r"needs about .* GiB and this process may use 0.1 GiB; choose basis=BestFirst\(n_indices\)"
    )
    with pytest.raises(MemoryError, match=match):
        light(estimator, basis=basis).fit(*sample(estimator, n=1500))


@both
@pytest.mark.usefixtures("small_machine")
@pytest.mark.parametrize("basis", [BestFirst(20), Enumerated(20), GroupSampling(20)])
def test_explicit_indices_need_no_matrix_of_all_rows(estimator, basis):
    X, y = sample(estimator, n=1500)
    model = light(estimator, basis=basis, max_iter=1).fit(X, y)
    assert model.indices_.shape[0] <= 20


def test_an_error_of_the_refit_says_whose_it_is():
    X = np.random.default_rng(0).standard_normal((6, 2))
    model = RegFeaLRegressor(refit=KNeighborsRegressor(n_neighbors=50), alpha=0.1, rho=0.3)
    with pytest.raises(ValueError, match=r"^refit=KNeighborsRegressor\(n_neighbors=50\) failed on"):
        model.fit(X, X[:, 0])
    assert not hasattr(model, "components_")

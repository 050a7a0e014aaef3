"""What the shared tests must know of every family: settings that make a fit quick, and its parts.

A new family adds one entry here; the tests of the contract then cover it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, is_classifier

import kernlens
from kernlens import (
    AllPolynomials,
    BestFirst,
    Enumerated,
    GroupSampling,
    Reweighting,
    UpToDegree,
)
from kernlens._invariance import centered_digits, leading_digits
from kernlens.kernels.radial import GeneralizedLaplaceKernel, RationalQuadraticKernel
from kernlens.methods.bkernn.objective import ReducedObjective
from kernlens.methods.brownian_ridge.learner import BrownianLearner
from kernlens.methods.hkrr.objective import HyperKernelObjective
from kernlens.methods.kernel_laplacian.learner import LaplacianLearner
from kernlens.methods.mars.learner import SplineLearner
from kernlens.methods.regfeal.objective import HermiteObjective
from kernlens.methods.rfm.learner import MachineLearner
from kernlens.methods.rkhs_weightings.learner import WeightingLearner
from kernlens.methods.sdr.estimator import SubspaceFinder
from kernlens.penalties import PENALTIES, ConcaveFeaturePenalty

#: What makes any fit quick: one thread, and no counting of directions, which takes three more fits.
QUICK = {"n_directions": 2, "n_jobs": 1}

Settings = dict[str, Any]


@dataclass(frozen=True)
class Family:
    """One family of estimators.

    Attributes
    ----------
    name : str
        What the names of its estimators begin with.
    light : dict
        Settings of a fit that takes milliseconds and can find up to four directions.
    narrow : dict or None
        On top of `light`: at most two directions. None if there are always as many as columns.
    variants : tuple of dict
        On top of `light`: every branch of the code that users can choose.
    regressor_only : tuple of dict
        Variants that the classifier does not have.
    checked : tuple of dict
        On top of `light`: variants that scikit-learn's checks run on, some hundred fits each.
    objects : dict
        Objects and arrays as parameters, for four columns.
    objective : type
        Its method `at`, or `method`, is where the work is done.
    model_bytes : int
        Arrays of a light model of 40 rows, 4 columns and one target, by the documented formula.
    undrawn : dict
        On top of `light`: no rows are drawn and the end is a minimum, which is a continuous
        function of the data.
    optional : frozenset of str
        Fitted attributes that only some settings leave.
    method : str
        See `objective`.
    iterative : bool
        Whether the method is called again and again, on the way to a minimum.
    classifier_only : frozenset of str
        Parameters that the regressor does not have.
    semi_supervised : bool
        Whether targets may be missing.
    """

    name: str
    light: Settings
    narrow: Settings | None
    variants: tuple[Settings, ...]
    regressor_only: tuple[Settings, ...]
    checked: tuple[Settings, ...]
    objects: Settings
    objective: type
    model_bytes: int
    undrawn: Settings
    optional: frozenset[str] = frozenset()
    method: str = "at"
    iterative: bool = True
    classifier_only: frozenset[str] = frozenset({"class_weight"})
    semi_supervised: bool = False

    @property
    def estimators(self) -> list[type[BaseEstimator]]:
        """Its public estimators."""
        return [e for e in ESTIMATORS if e.__name__.startswith(self.name)]

    def settings(self, estimator: type[BaseEstimator]) -> Iterator[Settings]:
        """Light settings of every variant that `estimator` has."""
        own = () if is_classifier(estimator()) else self.regressor_only
        yield from ({**self.light, **variant} for variant in (*self.variants, *own))

    def checked_settings(self, estimator: type[BaseEstimator]) -> Iterator[Settings]:
        """Light settings of the variants that scikit-learn's checks run on."""
        own = () if is_classifier(estimator()) else self.regressor_only
        yield from ({**self.light, **variant} for variant in (*self.checked, *own))


def _matrix(n_rows: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((n_rows, 4))


PUBLIC: list[type[BaseEstimator]] = [
    public
    for public in (getattr(kernlens, name) for name in kernlens.__all__)
    if isinstance(public, type)
    and issubclass(public, BaseEstimator)
    # It prepares tables and learns no features; tests/tables/ has its tests.
    and public is not kernlens.TablePreprocessor
    # Made of the others, with tests of their own.
    and not public.__name__.startswith("AutoLens")
]
#: Regressors and classifiers.
ESTIMATORS = [public for public in PUBLIC if hasattr(public, "score")]
#: Find directions with a target, and predict nothing.
FINDERS = [public for public in PUBLIC if issubclass(public, SubspaceFinder)]
#: Learn without a target.
UNSUPERVISED = [public for public in PUBLIC if public not in ESTIMATORS and public not in FINDERS]

FAMILIES = (
    Family(
        name="BKerNN",
        light={"alpha": 0.02, "n_particles": 8, "max_iter": 5, **QUICK},
        narrow={"n_particles": 2},
        variants=(
            *({"penalty": penalty} for penalty in (*PENALTIES, "additive")),
            {"kernel": "exponential"},
            {"kernel": "gaussian", "standardize": False, "optimizer": "plain"},
        ),
        regressor_only=({"loss": "huber"}, {"linear_part": True}),
        checked=(
            {"penalty": "concave_variable", "kernel": "exponential"},
            {"penalty": ConcaveFeaturePenalty(s=2.0), "optimizer": "plain", "standardize": False},
        ),
        objects={"penalty": ConcaveFeaturePenalty(s=2.0), "init": _matrix(8)},
        objective=ReducedObjective,
        model_bytes=8 * 40 * (4 + 1),
        optional=frozenset({"knots_", "knot_coef_"}),
        undrawn={},
    ),
    Family(
        name="HKRR",
        light={
            "alpha": 1e-3,
            "n_components": 4,
            "centers": 20,
            "refit": None,
            "init": 2,
            "max_iter": 10,
            **QUICK,
        },
        narrow={"n_components": 2},
        variants=(
            {"kernel": "matern32", "standardize": False},
            {"kernel": "laplace", "optimizer": "varpro_gradient"},
            {"optimizer": "agd"},
            {"constraint": kernlens.Constraint(max_norm=1.0)},
            {"constraint": kernlens.Constraint(trace_norm=0.01)},
            {"refit": 30, "n_components": 2},
            {"centers": kernlens.Centers(20, "leverage")},
        ),
        regressor_only=({"truncate": None, "linear_part": True},),
        checked=(
            {"kernel": "matern32", "standardize": False},
            {"optimizer": "agd", "n_components": 2, "max_iter": 5},
            {
                "constraint": kernlens.Constraint(max_norm=1.0),
                "centers": kernlens.Centers(20, "leverage"),
            },
            {"constraint": kernlens.Constraint(trace_norm=0.01), "n_components": 2},
        ),
        objects={
            "kernel": RationalQuadraticKernel(2.0),
            "optimizer": kernlens.AlternatingGradient(3),
            "init": _matrix(3),
            "n_components": "auto",
            "centers": kernlens.Centers(15),
            "constraint": kernlens.Constraint(2.0, 0.01),
        },
        objective=HyperKernelObjective,
        model_bytes=8 * (20 * (4 + 1) + 4 * 4),
        undrawn={
            "centers": 1000,
            "init": kernlens.RandomMaps(1),
            "max_iter": 500,
            "tol": 1e-12,
        },
    ),
    Family(
        name="RegFeaL",
        light={"alpha": 0.01, "rho": 0.3, "refit": None, "max_iter": 4, **QUICK},
        narrow={"descent": Reweighting(max_directions=2)},
        variants=(
            {"structure": "variables"},
            {"basis": Enumerated(40)},
            {"basis": BestFirst(30), "standardize": False},
            {"basis": GroupSampling(100), "max_iter": 2},
            {"basis": UpToDegree(2), "descent": Reweighting(accelerate=False), "clip": None},
            {"refit": "kernel", "n_folds": 2, "max_iter": 2},
        ),
        regressor_only=({"truncate": None, "linear_part": True},),
        checked=(
            {"structure": "variables"},
            {"structure": "none"},
            {"basis": UpToDegree(2), "descent": Reweighting(accelerate=False), "clip": None},
            {"basis": BestFirst(30), "standardize": False},
        ),
        objects={
            "init": _matrix(3),
            "rho": [0.2, 0.3],
            "n_folds": 2,
            "basis": AllPolynomials(max_rows=1000),
            "descent": Reweighting(max_directions=4),
        },
        objective=HermiteObjective,
        model_bytes=8 * (40 * (4 + 1) + 4 * 4),
        undrawn={"alpha": 0.1, "max_iter": 500, "tol": 1e-12},
        optional=frozenset({"projection_", "refit_", "indices_", "coef_"}),
    ),
    Family(
        name="RFM",
        light={
            "alpha": 0.01,
            "width": 3.0,
            "n_updates": 1,
            "metric": "full",
            "ranks": False,
            **QUICK,
        },
        narrow=None,
        variants=(
            {"kernel": "gaussian", "metric": "diag", "standardize": False},
            {"kernel": "product_laplace", "metric": "auto", "ranks": True},
            {"kernel": GeneralizedLaplaceKernel(0.7), "ranks": True},
            {"centers": 20, "n_updates": 2},
            {"metric": "auto", "ranks": "auto"},
            {"alpha": [1e-3, 0.1], "width": [1.0, 3.0], "n_updates": "auto"},
        ),
        regressor_only=({"truncate": None, "linear_part": True},),
        checked=(
            {"kernel": "product_laplace", "metric": "diag", "standardize": False},
            {"kernel": "matern52", "ranks": True, "centers": 20},
            {"metric": "auto", "ranks": "auto"},
        ),
        objects={"kernel": RationalQuadraticKernel(2.0), "width": np.array([1.0, 3.0])},
        objective=MachineLearner,
        model_bytes=8 * (40 * (4 + 1) + 4 * 4),
        undrawn={},
        optional=frozenset({"alpha_search_"}),
        method="learn",
        iterative=False,
    ),
    Family(
        name="RKHSWeighting",
        light={
            "instantiation": "relu",
            "correlation": 0.5,
            "alpha": 1e-3,
            "solver": "least_squares",
            "n_random_features": 40,
            **QUICK,
        },
        narrow=None,
        variants=(
            {"solver": "exact"},
            {"instantiation": "sign", "solver": "exact", "penalty": "l2", "fit_intercept": False},
            {"instantiation": "sign", "standardize": False},
            {"instantiation": "sign", "alpha": [1e-4, 1e-3, 1e-2]},
            {"solver": "exact", "alpha": [1e-4, 1e-3, 1e-2], "mix_alphas": False},
            {"solver": "exact", "alpha": [1e-4, 1e-3, 1e-2]},
            {"instantiation": "stumps"},
            {"instantiation": "exp_relu", "bias": 0.0, "fit_intercept": False},
            {"instantiation": "exp_sign", "penalty": "l2"},
            {"solver": "lasso", "alpha": 0.01},
            {"solver": "sfgd", "correlation": 0.1, "alpha": 0.1, "n_random_features": 200},
        ),
        regressor_only=({"truncate": None, "linear_part": True},),
        checked=(
            {"solver": "exact"},
            {"instantiation": "stumps", "solver": "exact"},
            {"instantiation": "exp_sign", "standardize": False},
            {"solver": "lasso", "alpha": 0.01},
        ),
        objects={
            "solver": kernlens.FunctionalGradient(batch_size=20),
            "correlation": kernlens.PaperWidth(correlation=[0.05, 0.1], sigma=2.0),
        },
        objective=WeightingLearner,
        model_bytes=8 * 40 * (5 + 1),
        undrawn={"solver": "exact"},
        optional=frozenset({"support_", "dual_coef_", "weights_", "coef_", "alpha_search_"}),
        method="learn",
        iterative=False,
    ),
    Family(
        name="RandomKitchenSinks",
        light={"base": "relu", "alpha": 1e-3, "n_random_features": 40, **QUICK},
        narrow=None,
        variants=(
            {"base": "sign"},
            {"base": "sign", "alpha": [1e-4, 1e-3, 1e-2]},
            {"base": "stumps", "standardize": False},
            {"solver": "exact", "bias": 0.0, "fit_intercept": False},
            {"solver": "lasso", "alpha": 0.01},
        ),
        regressor_only=({"truncate": None, "linear_part": True},),
        checked=({"base": "sign"}, {"base": "stumps"}, {"solver": "exact", "standardize": False}),
        objects={"base": "sign"},
        objective=WeightingLearner,
        model_bytes=8 * 40 * (5 + 1),
        undrawn={"solver": "exact"},
        optional=frozenset({"support_", "dual_coef_", "weights_", "coef_", "alpha_search_"}),
        method="learn",
        iterative=False,
    ),
    Family(
        name="KernelLaplacian",
        light={"mu": 0.1, "alpha": 1e-3, "solver": "exact", "n_neighbors": 3, **QUICK},
        narrow=None,
        variants=(
            {"solver": "nystrom", "n_centers": 20},
            {"solver": "random_features", "n_centers": 50, "kernel": "gaussian"},
            {"solver": "cg", "metric": "euclidean"},
            {"kernel": "polynomial", "metric": "euclidean", "length_scale": 2.0},
            {"mu": 0.0, "standardize": False},
            {"mu": [0.01, 0.1], "kernel": "matern32"},
        ),
        regressor_only=({"linear_part": True},),
        checked=(
            {"solver": "nystrom", "n_centers": 20, "standardize": False},
            {
                "solver": "random_features",
                "n_centers": 200,
                "kernel": "rational_quadratic",
                "mu": 1e-3,
            },
            {"solver": "cg"},
            {"kernel": "exponential_dot", "metric": "euclidean"},
        ),
        objects={"kernel": RationalQuadraticKernel(2.0), "mu": np.array([0.01, 0.1])},
        objective=LaplacianLearner,
        model_bytes=8 * 40 * (4 + 1 + 4),
        undrawn={"metric": "euclidean", "length_scale": 2.0},
        optional=frozenset({"slopes_", "centers_", "frequencies_", "phases_", "alpha_search_"}),
        method="learn",
        iterative=False,
        classifier_only=frozenset({"class_weight", "unlabeled"}),
        semi_supervised=True,
    ),
    Family(
        name="BrownianKernelRidge",
        light={"alpha": 1e-2, **QUICK},
        narrow=None,
        variants=(
            {"n_centers": 15},
            {"alpha": [1e-3, 1e-1]},
            {"alpha": [1e-3, 1e-1], "n_centers": 15, "standardize": False},
        ),
        regressor_only=({"truncate": None, "linear_part": True},),
        checked=({"n_centers": 15}, {"alpha": [1e-3, 1e-1]}),
        objects={"n_centers": 20},
        objective=BrownianLearner,
        model_bytes=8 * 40 * (4 + 1),
        undrawn={},
        optional=frozenset({"alpha_search_"}),
        method="learn",
        iterative=False,
    ),
    Family(
        name="MARS",
        # Without a penalty there is more to see than a constant on few noisy rows.
        light={"minspan": 2, "endspan": 3, "penalty": 0.0, **QUICK},
        narrow=None,
        variants=(
            {"degree": 3, "max_terms": 11, "fast_k": 2},
            {"degree": 2, "minspan": "auto", "endspan": "auto", "standardize": False},
            {"linear": False, "truncate": "auto", "penalty": "auto", "threshold": 1e-6},
        ),
        regressor_only=(
            {"linear": True, "degree": 2},
            {"pruning": "cv", "penalty": 3.0},
            {"pruning": "exhaustive", "max_terms": 9},
        ),
        checked=({"degree": 2, "fast_k": 2}, {"linear": False, "standardize": False}),
        objects={"degree": 2},
        objective=SplineLearner,
        model_bytes=8 * 21 * (3 + 1),
        # Where knots are is a choice among rows, which a row changes however small its weight.
        undrawn={"linear": True},
        optional=frozenset({"cv_path_"}),
        method="learn",
        iterative=False,
    ),
)


def _finder(name: str, light: Settings, *variants: Settings, **own: Any) -> Family:
    """A transformer that finds directions: a family of one."""
    return Family(
        name=name,
        light={"n_directions": 2, **light},
        narrow=None,
        variants=variants,
        regressor_only=(),
        checked=variants,
        objects={},
        objective=SubspaceFinder,
        model_bytes=8 * 40,
        undrawn={},
        method="_store_found",
        iterative=False,
        classifier_only=frozenset(),
        **own,
    )


#: What counts directions in a moment, with a seed.
_COUNTED = {"n_directions": "auto", "test": "permutation", "n_permutations": 19, "random_state": 0}

_BIC = {"n_directions": "auto", "test": "bic"}

#: Transformers that find directions, which are no families of regressor and classifier.
FINDER_FAMILIES = (
    _finder("SIR", {}, {"n_slices": 4, "shrinkage": 0.2}, {**_COUNTED}),
    _finder(
        "SAVE", {}, {"n_slices": 3, "test": "chi2", "n_directions": "auto"}, {**_COUNTED}, _BIC
    ),
    _finder("DirectionalRegression", {}, {"n_slices": 3, "shrinkage": 0.2}, {**_COUNTED}),
    _finder("OPG", {}, {"n_directions": "auto"}),
    _finder("MAVE", {}, {"n_directions": "auto"}),
    _finder("PHD", {}, {"variant": "response"}, {"n_directions": "auto"}, {**_COUNTED}),
)


def family_of(estimator: type[BaseEstimator]) -> Family:
    """The family of a public estimator."""
    return next(f for f in (*FAMILIES, *FINDER_FAMILIES) if estimator.__name__.startswith(f.name))


def seeded(estimator: type[BaseEstimator]) -> Settings:
    """A seed, for those that draw anything."""
    return {"random_state": 0} if "random_state" in estimator().get_params() else {}


def having(*names: str) -> list[type[BaseEstimator]]:
    """The estimators that have these parameters."""
    return [e for e in ESTIMATORS if set(names) <= set(e().get_params())]


def known(estimator: type[BaseEstimator], **options: Any) -> Settings:
    """Those of some options that the estimator has."""
    names = estimator().get_params()
    return {name: value for name, value in options.items() if name in names}


def light(estimator: type[BaseEstimator], **options: Any) -> BaseEstimator:
    """An estimator that fits quickly and reproducibly."""
    return estimator(**{**family_of(estimator).light, **seeded(estimator), **options})


def fit_interrupted(model: BaseEstimator, X: Any, y: Any) -> BaseEstimator:
    """Fit a model whose fit is interrupted after something was found, and return it."""
    with pytest.raises(KeyboardInterrupt, match="interrupted; the model has the best state"):
        model.fit(X, y)
    return model


def decision(model: BaseEstimator, X: Any) -> np.ndarray:
    """What a fitted model computes: predictions, or scores of the classes."""
    return model.decision_function(X) if is_classifier(model) else model.predict(X)


def inputs_of(model: BaseEstimator, X: Any) -> np.ndarray:
    """Rows of a fit as its learner saw them, (n_samples, n_inputs), in the order of `inputs_`."""
    return leading_digits(model._columns.apply(np.asarray(X, dtype=float)))


def targets_of(model: BaseEstimator, y: Any, weights: Any = None) -> np.ndarray:
    """Targets of a fit as its learner saw them, (n_targets, n_samples)."""
    rows = np.atleast_2d(np.asarray(y, dtype=float).T)
    weights = np.ones(rows.shape[1]) if weights is None else np.asarray(weights)
    return centered_digits(model._targets.apply(rows).T, weights).T

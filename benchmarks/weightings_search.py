"""Five-fold cross-validation of many settings of random features from a few matrices.

The features of a width serve all lambdas, with a constant and without: one eigendecomposition for
every fold, where a search over estimators would fit all of them anew.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from kernlens.linalg.ridge_system import RidgeSystem, accumulate_ridge
from kernlens.methods.rkhs_weightings.feature_space import FeatureSpace
from kernlens.methods.rkhs_weightings.instantiations import Instantiation
from kernlens.methods.rkhs_weightings.solvers.solver import feature_unit

FloatArray = NDArray[np.floating]
#: Of predictions (n_samples, n_lambdas) and targets: one error for every lambda.
Measure = Callable[[FloatArray, FloatArray], FloatArray]

N_FOLDS = 5
#: Settings of larger sets are compared on so many rows.
SEARCH_ROWS = 40_000


@dataclass(frozen=True)
class Width:
    """Features whose lambda and constant are open.

    Attributes
    ----------
    instantiation : Instantiation
        For rows without a bias.
    kind : {"sinks", "rkhs", "l2"}
        Kitchen sinks, or a weighting and the norm that is penalised.
    alphas : tuple of float
        lambda of the paper for "rkhs", else relative to the features.
    """

    instantiation: Instantiation
    kind: str
    alphas: tuple[float, ...]

    @property
    def paper_units(self) -> bool:
        """Whether the alphas are not relative."""
        return self.kind == "rkhs"


@dataclass(frozen=True)
class Choice:
    """A setting, and its error on rows left out."""

    error: float
    width: Width
    alpha: float
    intercept: bool


def choose(
    widths: list[Width], X: FloatArray, y: FloatArray, n_weights: int, n_runs: int, measure: Measure
) -> Choice:
    """The setting of least error on five folds, mean over runs with weights and folds of their own.

    Parameters
    ----------
    widths : list of Width
    X : ndarray of shape (n_samples, n_columns)
        Standardised.
    y : ndarray of shape (n_samples,)
        Standardised, or +1 and -1.
    n_weights : int
    n_runs : int
        With the weights of estimators of ``random_state`` 0 to n_runs - 1.
    measure : callable
    """
    choices: list[Choice] = []
    for width in widths:
        # Without a constant and with one.
        errors = np.zeros((2, len(width.alphas)))
        for seed in range(n_runs):
            # What an estimator makes of its random_state.
            drawn = int(np.random.RandomState(seed).randint(np.iinfo(np.int32).max))
            space = _space(width, n_weights, np.random.default_rng(drawn))
            rows = np.random.default_rng([1, seed]).permutation(len(X))[:SEARCH_ROWS]
            folds = [rows[part::N_FOLDS] for part in range(N_FOLDS)]
            parts = [(space.matrix(X[fold]), y[fold]) for fold in folds]
            for intercept in (False, True):
                errors[int(intercept)] += _errors(width, space, parts, intercept, measure) / n_runs
        choices += [
            Choice(float(errors[intercept, place]), width, alpha, bool(intercept))
            for intercept in (0, 1)
            for place, alpha in enumerate(width.alphas)
        ]
    return min(choices, key=lambda choice: choice.error)


def _space(width: Width, n_weights: int, rng: np.random.Generator) -> FeatureSpace:
    weighting = width.instantiation.weighting()
    W = weighting.sample(n_weights, rng)
    if width.kind == "sinks":
        return FeatureSpace.of_kitchen_sinks(weighting, W)
    return FeatureSpace.of_weighting(weighting, W, width.kind)


def _errors(
    width: Width,
    space: FeatureSpace,
    parts: list[tuple[FloatArray, FloatArray]],
    intercept: bool,
    measure: Measure,
) -> FloatArray:
    """Error of every lambda on rows left out."""
    systems = [_system(P, y, intercept) for P, y in parts]
    alphas = np.array(width.alphas)
    if width.paper_units:
        log_factor = 2.0 * space.log_scale + width.instantiation.log_unit()
        shifts = np.exp(np.log(alphas) - log_factor)
    else:
        shifts = alphas * feature_unit(reduce(RidgeSystem.merged, systems))
    predictions = []
    for left_out, (P, _) in enumerate(parts):
        others = systems[:left_out] + systems[left_out + 1 :]
        solutions = reduce(RidgeSystem.merged, others).solve_along(list(shifts))
        b = np.concatenate([b for b, _ in solutions])
        predictions.append(P @ b.T + np.concatenate([constant for _, constant in solutions]))
    return measure(np.concatenate(predictions), np.concatenate([y for _, y in parts]))


def _system(P: FloatArray, y: FloatArray, intercept: bool) -> RidgeSystem:
    shift = P.mean(axis=0) if intercept else np.zeros(P.shape[1])
    return accumulate_ridge(
        lambda part: list(part(slice(None), P.copy())), y[None], np.ones(len(y)), intercept, shift
    )

"""Algorithms 2, 3 and 5: the Lasso on random features, and stochastic functional gradient descent.

Lambda and the radius of the ball are those of the paper; features of this library are divided by
constants, which are undone here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernlens._array import FloatArray
from kernlens.experiments.rkhs_weightings import fits
from kernlens.methods.rkhs_weightings.feature_space import FeatureSpace, decision_in_blocks
from kernlens.methods.rkhs_weightings.options import FunctionalGradient
from kernlens.methods.rkhs_weightings.solvers.functional_gradient import Descent
from kernlens.methods.rkhs_weightings.solvers.lasso_path import LassoProblem


def lasso_space(setting: fits.Setting, W: FloatArray) -> tuple[FeatureSpace, float]:
    """Features of Algorithm 2 or 5, and what a penalty of 1 of the paper is on them.

    The penalties are lambda sum_t |a_t| for f = sum_t a_t F_t, and (lambda / T) sum_t |a_t| for
    f = (1/T) sum_t a_t phi_t.
    """
    weighting = setting.instantiation.weighting()
    if setting.method == fits.RKS:
        return FeatureSpace.of_kitchen_sinks(weighting, W), len(W) ** -0.5
    space = FeatureSpace.of_scaled(weighting, W)
    return space, float(np.exp(-space.log_scale - 0.5 * setting.instantiation.log_unit()))


def lasso_path(
    setting: fits.Setting, X: FloatArray, y: FloatArray, W: FloatArray, lambdas: list[float]
) -> list[fits.Fitted]:
    """Fits by the Lasso for several lambdas, from one path."""
    space, unit = lasso_space(setting, W)
    system = space.system(X, y[None], np.ones(len(X)), False, 1, smallest=0.0)
    path = LassoProblem.of(system).path([lam * unit for lam in lambdas])
    return [fits.Fitted(setting, W, space, c[0]) for c, _ in path]


@dataclass
class Running:
    """A stochastic descent on some rows, which can be asked for its average at any time.

    Attributes
    ----------
    setting : Setting
    X, y : ndarray
        Training rows.
    descent : Descent
    """

    setting: fits.Setting
    X: FloatArray
    y: FloatArray
    descent: Descent

    @classmethod
    def begin(
        cls,
        setting: fits.Setting,
        X: FloatArray,
        y: FloatArray,
        *,
        batch_size: int,
        features_per_step: int,
        radius: float,
        seed: int,
    ) -> Running:
        """At the function zero; `radius` is B of the paper, and steps are 1 / (lambda t)."""
        own = radius * float(np.exp(0.5 * setting.instantiation.log_unit()))
        rule = FunctionalGradient(batch_size, features_per_step, own, "full")
        weighting = setting.instantiation.weighting()
        descent = Descent(weighting, rule, setting.shift(None), 1, seed, np.inf)
        return cls(setting, X, y, descent)

    def go_on(self, n_steps: int) -> None:
        """Take steps."""
        self.descent.run(self.X, self.y[None], np.ones(len(self.y)), n_steps, None)

    def decision(self, X: FloatArray) -> FloatArray:
        """Values of the average of the iterates at rows."""
        descent = self.descent
        features, log_factors = descent.weighting.expectation(descent.W)
        return decision_in_blocks(features, X, descent.average * np.exp(log_factors), 1)[0]

"""From parameters to a plan, and fitted attributes."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernlens._reports import Listener
from kernlens._validation import check_sequence
from kernlens.base.fit_data import FitData, Memory, Stage
from kernlens.base.fitting import FittingMixin
from kernlens.linalg.kernel_blocks import BLOCK_ENTRIES, HELD_ENTRIES
from kernlens.methods.brownian_ridge.function import BrownianFunction
from kernlens.methods.brownian_ridge.learner import SEARCH_ROWS, BrownianLearner
from kernlens.methods.brownian_ridge.plan import BrownianPlan

#: Rows up to which all of them are centres by default, and centres of more rows.
EXACT_ROWS = 2000
FEW_CENTERS = 1000


class BaseBrownianRidge(FittingMixin):
    """Arguments of the estimator, and how they become a fit."""

    def __init__(
        self,
        *,
        alpha: Any = "auto",
        n_centers: int | str = "auto",
        n_directions: int | str = "auto",
        truncate: float | str | None = "auto",
        linear_part: bool | str = "auto",
        standardize: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int | bool = False,
        callback: Listener | None = None,
    ) -> None:
        self.alpha = alpha
        self.n_centers = n_centers
        self.n_directions = n_directions
        self.truncate = truncate
        self.linear_part = linear_part
        self.standardize = standardize
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def _plan(self, data: FitData) -> BrownianPlan:
        values = check_sequence("alpha", self.alpha)
        alphas = None if "auto" in values else tuple(dict.fromkeys(map(float, values)))
        n_rows = len(data.rows.X)
        if self.n_centers == "auto":
            n_centers = EXACT_ROWS if n_rows <= EXACT_ROWS else FEW_CENTERS
        else:
            n_centers = int(self.n_centers)
        return BrownianPlan(alphas, n_centers, data.targets.inner_bounds)

    def _memory(self, data: FitData, plan: BrownianPlan) -> Memory:
        n_rows, n_inputs = data.rows.X.shape
        return Memory(
            fit_bytes(n_rows, n_inputs, min(plan.n_centers, n_rows)),
            "lower n_centers, or fit on fewer rows",
        )

    def _learner(self, data: FitData, plan: BrownianPlan, stage: Stage | None) -> BrownianLearner:
        return BrownianLearner(plan, data.rows, data.loss, data.seed, self.n_jobs, stage)

    @property
    def _function(self) -> BrownianFunction:
        return BrownianFunction(self.centers_, self.dual_coef_, self.intercept_, self.n_jobs)

    centers_: np.ndarray
    dual_coef_: np.ndarray
    intercept_: np.ndarray


def fit_bytes(n_samples: int, n_features: int, n_centers: int) -> float:
    """Memory of a fit, the formula of the docstring."""
    entries = 3.0 * n_samples * n_features + 14.0 * n_centers**2
    entries += 3.0 * min(n_samples, SEARCH_ROWS) * n_centers
    entries += min(2.0 * n_samples * n_centers, 2.0 * HELD_ENTRIES) + 20.0 * BLOCK_ENTRIES
    return 8.0 * entries

"""From parameters to a plan, and fitted attributes."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernlens._reports import Listener
from kernlens._validation import check_sequence
from kernlens.base.estimates import FitShape
from kernlens.base.fit_data import FitData, Memory, Stage
from kernlens.base.fitting import FittingMixin
from kernlens.linalg.kernel_blocks import BLOCK_ENTRIES, HELD_ENTRIES
from kernlens.methods.brownian_ridge.function import BrownianFunction
from kernlens.methods.brownian_ridge.learner import SEARCH_ROWS, BrownianLearner
from kernlens.methods.brownian_ridge.plan import BrownianPlan

#: Rows up to which all of them are centres by default, and centres of more rows.
EXACT_ROWS = 2000
FEW_CENTERS = 1000
#: Seconds of an operation of a fit, by measuring a few; see `estimate_seconds`.
SECONDS_PER_OPERATION = 3e-10


class BaseBrownianRidge(FittingMixin):
    """Arguments of the estimator, and how they become a fit."""

    _thrifty = ({"n_centers": 500}, {"n_centers": 200}, {"n_centers": 100})

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
        return BrownianPlan(alphas, self._centers(len(data.rows.X)), data.targets.inner_bounds)

    def _centers(self, n_rows: int) -> int:
        if self.n_centers == "auto":
            return EXACT_ROWS if n_rows <= EXACT_ROWS else FEW_CENTERS
        return int(self.n_centers)

    def _memory_for(self, shape: FitShape) -> Memory:
        n_centers = min(self._centers(shape.n_rows), shape.n_rows)
        return Memory(
            fit_bytes(shape.n_rows, shape.n_columns, n_centers),
            "lower n_centers, or fit on fewer rows",
        )

    def _seconds_for(self, shape: FitShape) -> float:
        n, d = shape.n_rows, shape.n_columns
        p = min(self._centers(n), n)
        return 0.2 + SECONDS_PER_OPERATION * (n * p * (p + d) + float(p) ** 3)

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

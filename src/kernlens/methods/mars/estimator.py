"""From parameters to a plan, fitted attributes, and the model as text."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernlens._array import FloatArray, IntArray
from kernlens._execution import effective_n_jobs
from kernlens._reports import Listener
from kernlens.base.fit_data import FitData, Memory, Stage
from kernlens.base.fitting import FittingMixin
from kernlens.base.names import resolve_feature_names
from kernlens.methods.mars.function import SplineFunction
from kernlens.methods.mars.learner import SplineLearner
from kernlens.methods.mars.plan import LearnedSplines, SplinePlan
from kernlens.methods.mars.pruning import effective_parameters
from kernlens.methods.mars.summary import SplineSummary, summarize
from kernlens.methods.mars.terms import Terms
from kernlens.subspace import shares_of


class BaseSplines(FittingMixin):
    """Arguments of the estimator, and how they become a fit."""

    term_inputs_: IntArray
    knots_: FloatArray
    signs_: IntArray
    coef_: FloatArray
    gcv_: float
    rsq_: float

    def __init__(
        self,
        *,
        degree: int = 1,
        max_terms: int | str = "auto",
        penalty: float | str = "auto",
        threshold: float = 0.001,
        minspan: int | str = "auto",
        endspan: int | str = "auto",
        fast_k: int | None = 20,
        linear: bool | str = "auto",
        n_directions: int | str = "auto",
        truncate: float | str | None = None,
        standardize: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int | bool = False,
        callback: Listener | None = None,
    ) -> None:
        self.degree = degree
        self.max_terms = max_terms
        self.penalty = penalty
        self.threshold = threshold
        self.minspan = minspan
        self.endspan = endspan
        self.fast_k = fast_k
        self.linear = linear
        self.n_directions = n_directions
        self.truncate = truncate
        self.standardize = standardize
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def _plan(self, data: FitData) -> SplinePlan:
        n_inputs = data.columns.n_inputs
        degree = min(int(self.degree), n_inputs)
        if self.max_terms == "auto":
            max_terms = min(200, max(20, 2 * n_inputs)) + 1
        else:
            max_terms = int(self.max_terms)
        # Every term takes a parameter, of which there are fewer than rows.
        max_terms = max(1, min(max_terms, len(data.rows.X)))
        penalty = (2.0 if self.degree == 1 else 3.0) if self.penalty == "auto" else self.penalty
        return SplinePlan(
            max_terms=max_terms,
            degree=degree,
            penalty=float(penalty),
            threshold=float(self.threshold),
            minspan=None if self.minspan == "auto" else int(self.minspan),
            endspan=None if self.endspan == "auto" else int(self.endspan),
            fast_k=None if self.fast_k is None else int(self.fast_k),
            linear=self.linear if isinstance(self.linear, str) else bool(self.linear),
        )

    def _memory(self, data: FitData, plan: SplinePlan) -> Memory:
        n_rows, n_inputs = data.rows.X.shape
        threads = effective_n_jobs(self.n_jobs)
        return Memory(
            fit_bytes(n_rows, n_inputs, plan.max_terms, len(data.rows.y), threads),
            "lower max_terms, or fit on fewer rows",
        )

    def _learner(self, data: FitData, plan: SplinePlan, stage: Stage | None) -> SplineLearner:
        return SplineLearner(plan, data.rows, self.n_jobs, stage)

    @property
    def _function(self) -> SplineFunction:
        terms = Terms(self.term_inputs_, self.knots_, self.signs_)
        return SplineFunction(terms, self.coef_, self.n_jobs)

    def _store(self, data: FitData, plan: SplinePlan, learned: LearnedSplines) -> None:
        n_terms = len(self.knots_)
        self.gcv_, self.gcv_path_ = learned.objective, learned.gcv_path
        self.rsq_ = 1.0 - float(learned.rss_path[n_terms - 1])
        null = float(learned.gcv_path[0])
        self.grsq_ = 1.0 - self.gcv_ / null if null > 0.0 else 0.0
        self.n_effective_parameters_ = effective_parameters(n_terms, plan.penalty)
        self.n_subsets_ = data.columns.embed(1.0 * learned.n_subsets[None])[0].astype(np.int64)
        self.gcv_importances_ = shares_of(data.columns.embed(learned.gcv_drops[None])[0])

    # The model as text

    def summary(self) -> SplineSummary:
        """The terms and their coefficients, in the units of X and y, as text and as a table.

        Returns
        -------
        SplineSummary
            Prints as a formula; `to_frame` gives a data frame with a row per term.
        """
        check_is_fitted(self)
        return summarize(self, resolve_feature_names(self))

    def to_frame(self) -> Any:
        """Return the terms and their coefficients as a data frame.

        Returns
        -------
        pandas.DataFrame
            A row per term, in the units of X and y. Needs pandas to be installed.
        """
        return self.summary().to_frame()


def fit_bytes(
    n_samples: int, n_features: int, max_terms: int, n_targets: int, n_threads: int
) -> float:
    """Memory of a fit, the formula of the docstring."""
    entries = n_samples * (5.5 * n_features + 6.0 * max_terms + 8.0 * n_targets + 2.0 * n_threads)
    return 8.0 * entries + 1e7

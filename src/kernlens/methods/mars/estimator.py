"""From parameters to a plan, fitted attributes, and the model as text."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from kernlens._array import FloatArray, IntArray
from kernlens._execution import effective_n_jobs
from kernlens._reports import Listener
from kernlens._validation import check_count, check_most
from kernlens.base.estimates import FitShape
from kernlens.base.fit_data import FitData, Memory, Stage
from kernlens.base.fitting import FittingMixin
from kernlens.base.names import resolve_feature_names
from kernlens.methods.mars.columns import inputs_of_columns, is_list
from kernlens.methods.mars.exhaustive import MOST_TERMS
from kernlens.methods.mars.function import SplineFunction
from kernlens.methods.mars.learner import SplineLearner
from kernlens.methods.mars.plan import LearnedSplines, SplinePlan
from kernlens.methods.mars.pruning import effective_parameters
from kernlens.methods.mars.summary import (
    ALL_DIGITS,
    DIGITS,
    SplineSummary,
    summarize,
    units_of_terms,
)
from kernlens.methods.mars.terms import Terms
from kernlens.subspace import shares_of

#: Seconds of an operation of a fit, by measuring a few; see `estimate_seconds`.
SECONDS_PER_OPERATION = 5e-10


class BaseSplines(FittingMixin):
    """Arguments of the estimator, and how they become a fit."""

    _thrifty = ({"max_terms": 21}, {"max_terms": 11})

    _optional: ClassVar[tuple[str, ...]] = ("cv_path_",)

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
        linear: Any = "auto",
        interactions: Any = None,
        new_column_penalty: float = 0.0,
        pruning: int | str | None = "gcv",
        n_directions: int | str = "importance",
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
        self.interactions = interactions
        self.new_column_penalty = new_column_penalty
        self.pruning = pruning
        self.n_directions = n_directions
        self.truncate = truncate
        self.standardize = standardize
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def _plan(self, data: FitData) -> SplinePlan:
        # Nothing is drawn, but a wrong seed is a mistake here as well.
        check_random_state(self.random_state)
        n_inputs, n_rows = data.columns.n_inputs, len(data.rows.X)
        degree = min(int(self.degree), n_inputs)
        # Every term takes a parameter, of which there are fewer than rows.
        max_terms = max(1, min(self._most_terms(n_inputs), n_rows))
        penalty = (2.0 if self.degree == 1 else 3.0) if self.penalty == "auto" else self.penalty
        return SplinePlan(
            max_terms=max_terms,
            degree=degree,
            penalty=float(penalty),
            threshold=float(self.threshold),
            # Spans beyond all rows mean the same, whatever their length.
            minspan=None if self.minspan == "auto" else min(int(self.minspan), n_rows),
            endspan=None if self.endspan == "auto" else min(int(self.endspan), n_rows),
            fast_k=None if self.fast_k is None else int(self.fast_k),
            linear=self._lines(data),
            groups=self._groups(data),
            new_input_penalty=float(self.new_column_penalty),
            pruning=int(self.pruning)
            if isinstance(self.pruning, int | np.integer)
            else self.pruning,
        )

    def _most_terms(self, n_inputs: int) -> int:
        most = min(200, max(20, 2 * n_inputs)) + 1
        if self.max_terms != "auto":
            most = int(self.max_terms)
        if self.pruning != "exhaustive":
            return most
        if self.max_terms != "auto" and most > MOST_TERMS:
            raise ValueError(
                f"pruning='exhaustive' looks at all subsets of at most {MOST_TERMS} terms; lower "
                f"max_terms, {most}, or take pruning='gcv'."
            )
        return min(most, MOST_TERMS)

    def _lines(self, data: FitData) -> tuple[bool | str, ...]:
        """For every input whether it enters as a line."""
        n_inputs, given = data.columns.n_inputs, self.linear
        if is_list(given):
            lines = self._inputs_of("linear", given, data)
            return tuple(True if one in lines else "auto" for one in range(n_inputs))
        return (given if isinstance(given, str) else bool(given),) * n_inputs

    def _groups(self, data: FitData) -> tuple[frozenset[int], ...] | None:
        """Inputs that may be multiplied."""
        if self.interactions is None:
            return None
        groups = (self._inputs_of("interactions", group, data) for group in self.interactions)
        return tuple(groups)

    def _inputs_of(self, argument: str, given: Any, data: FitData) -> frozenset[int]:
        names, columns = getattr(self, "feature_names_in_", None), data.columns
        return inputs_of_columns(argument, given, len(columns.mean), names, columns.used)

    def _memory_for(self, shape: FitShape) -> Memory:
        n_rows, n_inputs = shape.n_rows, shape.n_columns
        max_terms = max(1, min(self._most_terms(n_inputs), n_rows))
        threads = effective_n_jobs(self.n_jobs)
        n_bytes = fit_bytes(n_rows, n_inputs, max_terms, shape.n_targets, threads)
        # The terms of all rows stay while those of a fold are looked for.
        return Memory(
            2.0 * n_bytes if self.pruning == "cv" else n_bytes,
            "lower max_terms, or fit on fewer rows",
        )

    def _seconds_for(self, shape: FitShape) -> float:
        n, d = shape.n_rows, shape.n_columns
        terms = max(1, min(self._most_terms(d), n))
        folds = 6 if self.pruning == "cv" else 1
        return 0.05 + SECONDS_PER_OPERATION * folds * n * d * float(terms) ** 2

    def _learner(self, data: FitData, plan: SplinePlan, stage: Stage | None) -> SplineLearner:
        return SplineLearner(plan, data.rows, self.n_jobs, stage)

    @property
    def _function(self) -> SplineFunction:
        terms = Terms(self.term_inputs_, self.knots_, self.signs_)
        return SplineFunction(terms, self.coef_, self.n_jobs)

    def _store(self, data: FitData, plan: SplinePlan, learned: LearnedSplines) -> None:
        n_terms = len(self.knots_)
        self.gcv_, self.gcv_path_ = learned.objective, learned.gcv_path
        self.rsq_ = max(0.0, 1.0 - float(learned.rss_path[n_terms - 1]))
        null = float(learned.gcv_path[0])
        self.grsq_ = 1.0 - self.gcv_ / null if null > 0.0 else self.rsq_
        self.n_effective_parameters_ = effective_parameters(n_terms, plan.penalty)
        self.n_subsets_ = data.columns.embed(1.0 * learned.n_subsets[None])[0].astype(np.int64)
        self.gcv_importances_ = shares_of(data.columns.embed(learned.gcv_drops[None])[0])
        self.rss_importances_ = shares_of(data.columns.embed(learned.rss_drops[None])[0])
        if learned.cv_path is not None:
            self.cv_path_ = learned.cv_path

    # The model as text

    def summary(self, digits: int = DIGITS) -> SplineSummary:
        """The terms and their coefficients, in the units of X and y, as text and as a table.

        Parameters
        ----------
        digits : int, default=4
            Of coefficients, and of knots beside the deviation of their column; 17 are all.

        Returns
        -------
        SplineSummary
            Prints as a formula; `to_frame` gives a data frame with a row per term.
        """
        check_is_fitted(self)
        check_count("digits", digits)
        check_most("digits", digits, ALL_DIGITS)
        return summarize(self, resolve_feature_names(self), digits)

    def term_values(self, X: ArrayLike) -> FloatArray:
        """Values of the terms, in the units of X: what another model may be fitted to.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_terms)
            In the order of `summary`, the constant first; their sum with the coefficients of
            `summary` is the prediction, unless `truncate` cuts it off.
        """
        inputs = self._columns.apply(self._checked_rows(X))
        return self._function.terms.values(inputs) * units_of_terms(self)

    def to_frame(self) -> Any:
        """Return the terms and their coefficients as a data frame.

        Returns
        -------
        pandas.DataFrame
            A row per term, in the units of X and y.
        """
        return self.summary().to_frame()


def fit_bytes(
    n_samples: int, n_features: int, max_terms: int, n_targets: int, n_threads: int
) -> float:
    """Memory of a fit, the formula of the docstring."""
    entries = n_samples * (5.5 * n_features + 6.0 * max_terms + 8.0 * n_targets + 2.0 * n_threads)
    return 8.0 * entries + 1e7

"""The automatic regressor."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from kernlens._array import FloatArray
from kernlens._parameters import documented
from kernlens._reports import Listener
from kernlens._validation import check_between
from kernlens.base.contract import all_or_nothing
from kernlens.blocks.lazily import lazy_on_dask
from kernlens.model_selection.auto.candidates import REGRESSORS, Candidate, portfolio
from kernlens.model_selection.auto.estimator import BaseAutoLens
from kernlens.model_selection.auto.inputs import checked_numbers, checked_rows
from kernlens.model_selection.auto.intervals import conformal_margins
from kernlens.model_selection.auto.parameters import PARAMETERS
from kernlens.model_selection.auto.scores import (
    PINBALL,
    REGRESSION_SCORES,
    Score,
    best_shift,
    quantile_score,
)
from kernlens.model_selection.auto.splits import given_rows
from kernlens.model_selection.auto.stacking import (
    Stack,
    Stacker,
    Weigh,
    absolute_shares,
    quantile_shares,
    squared_shares,
)
from kernlens.model_selection.auto.trials import prediction_bounds


@lazy_on_dask("predict", "predict_interval")
@documented
class AutoLensRegressor(RegressorMixin, BaseAutoLens):
    """Regression for people who do not want to choose: a table, a target, a time budget.

    Candidates of all families compete on rows that are left out, and the best are averaged with the
    weights that these rows want. The table may have text, dates and missing values: a
    :class:`TablePreprocessor` that is fitted to the rows of every fold prepares it.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    leaderboard_ : pandas.DataFrame
        Candidates with score and standard error on rows left out, seconds, and weight in the stack.
    explanation_ : str
        How it was chosen, in words.
    member_names_ : list of str
        What is averaged, the heaviest first.
    member_weights_ : ndarray of shape (n_members,)
        Positive, sum 1.
    members_ : list of estimators
        Fitted to all prepared rows.
    table_ : TablePreprocessor
        Turns rows into the prepared columns of the members; ``table_.columns_`` says how.
    best_score_ : float
        Score of the stack on rows left out; more time never makes it worse.
    components_ : ndarray of shape (n_directions_, n_outputs)
        Directions that the members agree on, for prepared columns in their units (an array of
        numbers is its own prepared table, but for constant columns): eigenvectors of the mean
        of their directions, weighted by weight and importance. The rows of
        ``loadings_ = components_ * scale_`` are orthonormal.
    component_importances_ : ndarray of shape (n_directions_,)
        Sum 1.
    output_importances_ : ndarray of shape (n_outputs,)
        Importances of the prepared columns, sum 1.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Their sums by the columns of the user; 0 for what was left out.
    n_directions_ : int
        Number of directions kept.
    stability_ : FoldStability or None
        How much the directions vary between folds, with intervals of their loadings.
    mean_, scale_ : ndarray of shape (n_outputs,)
        Means and standard deviations of the prepared columns.
    shift_ : float
        What is added to the mean of the members: 0 unless a quantile is predicted.
    errors_ : ndarray of shape (n_left_out,)
        y minus the prediction of rows left out, with weights that the other folds have chosen.
    bounds_ : tuple of float
        What predictions are kept within: the range of y, widened by half of it on both sides.
    seconds_ : float
        Seconds of the fit.
    status_ : str
        How it ended.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Cost and memory are those of the candidates, see their pages; a fit takes about `time_budget`
    seconds, less if everything has been tried. All prepared splits are kept during a fit: six
    copies of the prepared table, two beyond 10,000 rows.

    An interrupted fit (Ctrl-C) keeps the best of the candidates that are finished, which are then
    fitted to all rows. While that is done, Ctrl-C leaves the model as it was before.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernlens import AutoLensRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = AutoLensRegressor(time_budget=2, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.4)
    True
    """

    _parameters = PARAMETERS
    _scores = REGRESSION_SCORES

    def __init__(
        self,
        *,
        scoring: str = "auto",
        quantile: float = 0.5,
        time_budget: float = 60.0,
        cv: Any = None,
        ensemble: bool = True,
        include_trees: bool = False,
        n_directions: int | str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int | bool = False,
        callback: Listener | None = None,
    ) -> None:
        self.scoring = scoring
        self.quantile = quantile
        self.time_budget = time_budget
        self.cv = cv
        self.ensemble = ensemble
        self.include_trees = include_trees
        self.n_directions = n_directions
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Try, compare, stack.

        Parameters
        ----------
        X : data frame, Arrow table or array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,) or None
            Non-negative weights.
        groups : array-like of shape (n_samples,) or None
            Rows of a group are never both learned from and predicted.

        Returns
        -------
        self
        """
        self._check_parameters()
        y = checked_numbers(y)
        splits = given_rows(self.cv, y, groups)
        X, y, weights, groups, splits = checked_rows(X, y, sample_weight, groups, splits)
        self.bounds_ = prediction_bounds(y)
        self._fit_table(X, y, y, weights, groups, splits, None)
        return self

    def predict(self, X: Any) -> FloatArray:
        """Predict targets.

        Parameters
        ----------
        X : data frame, Arrow table or array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return (self._values(self._prepared(X)) + self.shift_).clip(*self.bounds_)

    def predict_interval(self, X: Any, coverage: float = 0.9) -> FloatArray:
        """Intervals that contain the target of a new row with a given probability.

        Conformal, from the errors of rows left out: all intervals are equally wide.

        Parameters
        ----------
        X : data frame, Arrow table or array-like of shape (n_samples, n_features)
            Rows.
        coverage : float, default=0.9
            Between 0 and 1.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Lower and upper bounds; infinite where there are too few rows for the coverage.
        """
        check_is_fitted(self)
        check_between("coverage", coverage, 0.0, 1.0)
        low, high = conformal_margins(self.errors_, coverage)
        values = self.predict(X)
        return np.column_stack([values + low, values + high])

    def _portfolio(self, y: FloatArray) -> list[Candidate]:
        return portfolio(REGRESSORS, y, len(y))

    @property
    def _score(self) -> Score:
        score = super()._score
        return quantile_score(float(self.quantile)) if score.name == PINBALL else score

    def _weigh(self, score: Score) -> Weigh:
        if score.name == PINBALL:
            return quantile_shares(float(self.quantile))
        return squared_shares if score.name == "r2" else absolute_shares

    def _keep_errors(self, stack: Stack, stacker: Stacker) -> Stack:
        self.shift_ = 0.0
        if stacker.score.name == PINBALL:
            level = float(self.quantile)
            self.shift_ = best_shift(stacker.y, stack.crossed, stacker.weights, level)
        crossed = stack.crossed + self.shift_
        self.errors_ = stacker.y - crossed
        return replace(stack, crossed=crossed)

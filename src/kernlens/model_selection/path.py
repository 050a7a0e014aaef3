"""The regularisation path of a feature learner, with cross-validated scores, for the user."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing, indexable

from kernlens._array import FloatArray
from kernlens._validation import check_count


@dataclass(frozen=True)
class RegularizationPath:
    """Fits along decreasing values of alpha.

    Attributes
    ----------
    alphas : ndarray of shape (n_alphas,)
        Decreasing.
    estimators : tuple of estimators
        Fitted on all rows, one per alpha, each started from the one before.
    scores : ndarray of shape (n_alphas, n_splits)
        Scores on the held-out parts.
    n_directions : ndarray of shape (n_alphas,)
        Directions found at every alpha.
    """

    alphas: FloatArray
    estimators: tuple[Any, ...]
    scores: FloatArray
    n_directions: NDArray[np.integer]

    @property
    def mean_scores(self) -> FloatArray:
        """Mean over the splits, (n_alphas,)."""
        return self.scores.mean(axis=1)

    @property
    def best_index(self) -> int:
        """Position of the best mean score, the larger alpha on a tie."""
        return int(np.argmax(self.mean_scores))

    @property
    def best_alpha(self) -> float:
        """Alpha with the best mean score."""
        return float(self.alphas[self.best_index])

    @property
    def best_estimator(self) -> Any:
        """The estimator fitted on all rows with that alpha."""
        return self.estimators[self.best_index]


def regularization_path(
    estimator: BaseEstimator,
    X: ArrayLike,
    y: ArrayLike,
    *,
    alphas: ArrayLike | int = 8,
    cv: Any = 5,
    scoring: Any = None,
) -> RegularizationPath:
    """Fit a feature learner along a path in alpha and cross-validate every value.

    Parameters
    ----------
    estimator : feature learner
        With the parameters `alpha` and `warm_start`; it is cloned, not changed.
    X : array-like of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        Targets.
    alphas : array-like or int, default=8
        Values to fit, or how many to place around the automatic choice, a factor sqrt(10) apart.
    cv : int, splitter or iterable, default=5
        As in scikit-learn.
    scoring : str, callable or None
        As in scikit-learn; None is the estimator's own score.

    Returns
    -------
    RegularizationPath
        Alphas, fits, scores and numbers of directions.

    Examples
    --------
    >>> from kernlens import BKerNNRegressor, regularization_path
    >>> from kernlens.datasets import make_absolute_sum
    >>> data = make_absolute_sum(120, 5, n_relevant=2, random_state=0)
    >>> model = BKerNNRegressor(n_particles=20, random_state=0)
    >>> path = regularization_path(model, data.X, data.y, alphas=[0.1, 0.01], cv=3)
    >>> path.scores.shape
    (2, 3)
    """
    X, y = indexable(X, y)
    values = _alpha_values(estimator, X, y, alphas)
    scorer = check_scoring(estimator, scoring=scoring)
    splits = check_cv(cv, y, classifier=is_classifier(estimator)).split(X, y)
    columns = []
    for train, test in splits:
        fits = _walk(estimator, _safe_indexing(X, train), _safe_indexing(y, train), values)
        X_test, y_test = _safe_indexing(X, test), _safe_indexing(y, test)
        columns.append([scorer(fitted, X_test, y_test) for fitted in fits])
    fits = _walk(estimator, X, y, values)
    return RegularizationPath(
        alphas=values,
        estimators=tuple(fits),
        scores=np.array(columns).T,
        n_directions=np.array([fitted.n_directions_ for fitted in fits]),
    )


def _alpha_values(
    estimator: BaseEstimator, X: ArrayLike, y: ArrayLike, alphas: ArrayLike | int
) -> FloatArray:
    if isinstance(alphas, int | np.integer):
        check_count("alphas", alphas)
        centre = clone(estimator).set_params(alpha="auto").fit(X, y).alpha_
        steps = np.arange(alphas) - (alphas - 1) / 2
        return np.asarray(centre * 10.0 ** (-0.5 * steps))
    values = np.sort(np.atleast_1d(np.asarray(alphas, dtype=np.float64)))[::-1]
    if values.size == 0 or not np.all(values > 0) or not np.isfinite(values).all():
        raise ValueError(f"alphas must be positive finite numbers, got {alphas!r}.")
    return values


def _walk(estimator: BaseEstimator, X: Any, y: Any, alphas: FloatArray) -> list[Any]:
    """Fit at every alpha; each fit starts from the one before, then stands on its own."""
    fits: list[Any] = []
    walker = clone(estimator).set_params(warm_start=True)
    for alpha in alphas:
        walker.set_params(alpha=float(alpha)).fit(X, y)
        fits.append(_frozen_copy(walker, estimator))
    return fits


def _frozen_copy(walker: Any, estimator: BaseEstimator) -> Any:
    """A clone that shares the fitted arrays (which a later fit replaces and never changes)."""
    copy = clone(walker).set_params(warm_start=estimator.get_params()["warm_start"])
    copy.__dict__.update({k: v for k, v in vars(walker).items() if k not in copy.get_params()})
    return copy

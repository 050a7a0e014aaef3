"""The regularisation path of a feature learner, with cross-validated scores, for the user."""

from __future__ import annotations

from dataclasses import dataclass, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.validation import _num_samples

from kernlens._array import FloatArray
from kernlens._table import Table, significant
from kernlens._validation import check_count
from kernlens.base.tabular import Tabular


@dataclass(frozen=True, repr=False)
class RegularizationPath(Tabular):
    """Fits along decreasing values of alpha: prints as a table, see also `to_frame`.

    Attributes
    ----------
    alphas : ndarray of shape (n_alphas,)
        Decreasing.
    estimators : tuple of estimators
        Fitted on all rows, one per alpha, each started from the one before if the learner can.
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

    def _table(self) -> Table:
        n_splits = self.scores.shape[1]
        deviations = self.scores.std(axis=1, ddof=1) if n_splits > 1 else np.zeros(len(self.alphas))
        return Table(
            [
                *("alpha", "n_directions", "mean_score", "std_score"),
                *(f"split {split + 1}" for split in range(n_splits)),
            ],
            [self.alphas, self.n_directions, self.mean_scores, deviations, *self.scores.T],
            caption=f"Best alpha: {significant(self.best_alpha)}",
        )


def regularization_path(
    estimator: BaseEstimator,
    X: ArrayLike,
    y: ArrayLike,
    *,
    alphas: ArrayLike | int = 8,
    cv: Any = 5,
    scoring: Any = None,
    sample_weight: ArrayLike | None = None,
) -> RegularizationPath:
    """Fit a feature learner along a path in alpha and cross-validate every value.

    Parameters
    ----------
    estimator : feature learner
        With the parameter `alpha`; it is cloned, not changed. If it has `warm_start`, too, every
        fit starts from the one before, and else afresh.
    X : array-like of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        Targets. Rows without one, which the kernel Laplacian takes, are not scored.
    alphas : array-like or int, default=8
        Values to fit, or how many to place around the automatic choice, a factor sqrt(10) apart.
    cv : int, splitter or iterable, default=5
        As in scikit-learn.
    scoring : str, callable or None
        As in scikit-learn; None is the estimator's own score.
    sample_weight : array-like of shape (n_samples,) or None
        Non-negative weights of the rows, in the fits and in the scores.

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
    X, y, sample_weight = indexable(X, y, sample_weight)
    rows = _Rows(X, y, sample_weight)
    values = _alpha_values(estimator, rows, alphas)
    scorer = check_scoring(estimator, scoring=scoring)
    splits = check_cv(cv, y, classifier=is_classifier(estimator)).split(X, y)
    labeled = _labeled_rows(estimator, y)
    columns = []
    for train, test in splits:
        held_out = rows.take(test[labeled[test]])
        fits = _walk(estimator, rows.take(train), values)
        columns.append([scorer(fit, held_out.X, held_out.y, **held_out.weights) for fit in fits])
    fits = _walk(estimator, rows, values)
    return RegularizationPath(
        alphas=values,
        estimators=tuple(fits),
        scores=np.array(columns).T,
        n_directions=np.array([fitted.n_directions_ for fitted in fits]),
    )


@dataclass(frozen=True)
class _Rows:
    """Rows as the user gave them, arrays or data frames."""

    X: Any
    y: Any
    sample_weight: Any

    @property
    def weights(self) -> dict[str, Any]:
        """The argument that weights are passed in, if there are any."""
        return {} if self.sample_weight is None else {"sample_weight": self.sample_weight}

    def take(self, rows: NDArray[np.integer]) -> _Rows:
        """Some of the rows."""
        weights = self.sample_weight
        return _Rows(
            _safe_indexing(self.X, rows),
            _safe_indexing(self.y, rows),
            None if weights is None else _safe_indexing(weights, rows),
        )


def _labeled_rows(estimator: Any, y: Any) -> NDArray[np.bool_]:
    """Rows that can be scored: all of them, unless the learner takes rows without a target."""
    if not hasattr(estimator, "labeled_rows"):
        return np.ones(_num_samples(y), dtype=bool)
    found: NDArray[np.bool_] = estimator.labeled_rows(y)
    return found


def _alpha_values(estimator: BaseEstimator, rows: _Rows, alphas: ArrayLike | int) -> FloatArray:
    if "alpha" not in estimator.get_params():
        raise ValueError(f"{type(estimator).__name__} has no parameter alpha to follow.")
    if isinstance(alphas, int | np.integer):
        check_count("alphas", alphas)
        if is_dataclass(estimator.get_params()["alpha"]):
            raise ValueError(
                "alphas must be a list of values if the estimator has alpha in a unit of its own: "
                "the automatic choice, which a number of alphas is placed around, has another."
            )
        automatic = clone(estimator).set_params(alpha="auto")
        center = automatic.fit(rows.X, rows.y, **rows.weights).alpha_
        steps = np.arange(alphas) - (alphas - 1) / 2
        return np.asarray(center * 10.0 ** (-0.5 * steps))
    try:
        values = np.sort(np.atleast_1d(np.asarray(alphas, dtype=np.float64)))[::-1]
    except (TypeError, ValueError):
        values = np.empty(0)
    if (
        values.ndim != 1
        or values.size == 0
        or not np.all(values > 0)
        or not np.isfinite(values).all()
    ):
        raise ValueError(f"alphas must be positive finite numbers, got {alphas!r}.")
    return values


def _walk(estimator: BaseEstimator, rows: _Rows, alphas: FloatArray) -> list[Any]:
    """Fit at every alpha, each time from the fit before if the learner can go on from one."""
    values = [_in_unit_of(estimator, float(alpha)) for alpha in alphas]
    if "warm_start" not in estimator.get_params():
        return [
            clone(estimator).set_params(alpha=one).fit(rows.X, rows.y, **rows.weights)
            for one in values
        ]
    fits: list[Any] = []
    walker = clone(estimator).set_params(warm_start=True)
    for one in values:
        walker.set_params(alpha=one).fit(rows.X, rows.y, **rows.weights)
        fits.append(_frozen_copy(walker, estimator))
    return fits


def _in_unit_of(estimator: BaseEstimator, value: float) -> Any:
    """A value of alpha in the unit that the estimator has it in: a number, or such an object."""
    kind: Any = type(estimator.get_params()["alpha"])
    has_unit = is_dataclass(kind)
    return kind(value) if has_unit else value


def _frozen_copy(walker: Any, estimator: BaseEstimator) -> Any:
    """A clone that shares the fitted arrays (which a later fit replaces and never changes)."""
    copy = clone(walker).set_params(warm_start=estimator.get_params()["warm_start"])
    copy.__dict__.update({k: v for k, v in vars(walker).items() if k not in copy.get_params()})
    return copy

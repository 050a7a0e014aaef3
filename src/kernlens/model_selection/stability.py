"""How sure the directions of a feature learner are: fits to resamples of the rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, cast

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.utils import _safe_indexing, check_random_state, indexable
from sklearn.utils.validation import (
    _num_samples,
    check_is_fitted,
    has_fit_parameter,
)

from kernlens._array import BoolArray, FloatArray, IntArray
from kernlens._table import Table
from kernlens._validation import (
    check_between,
    check_choice,
    check_count,
    check_n_jobs,
    check_weights,
)
from kernlens._warnings import warn
from kernlens.base.names import resolve_feature_names
from kernlens.base.tabular import as_frame
from kernlens.model_selection.resamples import bootstrap_counts, fold_counts, partition_sizes
from kernlens.model_selection.subspace_variation import (
    aligned_with,
    angles_to,
    average_projection,
    jackknife_interval,
    ladle,
    orthonormal_rows,
    reflected_interval,
    reproducibility,
)

#: More directions are not compared by the ladle criterion.
MOST_DIRECTIONS = 10
METHODS = ("bootstrap", "folds")
#: Reproducibility from which on the entries of a direction are looked at.
#: Least squares on noise in six columns is above it in one of ten samples, SIR hardly ever.
REPRODUCIBLE = 0.6


class SubspaceStability(MetaEstimatorMixin, BaseEstimator):
    """How much the directions of a feature learner vary between resamples of the rows.

    The learner is fitted to all rows and to `n_resamples` resamples of them. Every direction of the
    fit to all rows gets its angle to the subspace of each resample, and every entry an interval
    after the bases of the resamples were turned towards it. All entries are loadings, weights per
    standard deviation of a column, so that nothing depends on units.

    The cost is `n_resamples` fits and one or two more, and twice that for :class:`~kernlens.MAVE`,
    which learns directions again for every number of them; the memory is that of ``n_jobs`` fits
    and ``8 n_resamples n_directions_ n_features`` bytes.

    Parameters
    ----------
    estimator : estimator
        A feature learner of kernlens, or any estimator whose fits have ``components_`` of shape
        (n_directions, n_features). It is cloned, not changed.
    method : {"bootstrap", "folds"}, default="bootstrap"
        Draw as many rows as there are with replacement, or leave out one of ten or fewer parts of
        the rows at a time, with other parts after every row was left out once. Classifiers keep the
        shares of the classes in both.
    n_resamples : int, default=50
        Resamples, or folds of all partitions.
    n_directions : "auto" or int, default="auto"
        Directions to look at; "auto" is the number that the learner itself finds on all rows.
    coverage : float, default=0.9
        Share of data sets whose interval should contain the true entry.
    n_jobs : int or None, default=None
        Fits side by side, as in joblib.
    random_state : int, RandomState instance or None, default=None
        Seed of the resamples. The learner has its own.

    Attributes
    ----------
    estimator_ : estimator
        Fitted to all rows.
    n_directions_ : int
        Directions looked at.
    loadings_ : ndarray of shape (n_directions_, n_features)
        Orthonormal directions of all rows, for standardised columns.
    samples_ : ndarray of shape (n_resamples, n_directions_, n_features)
        Those of the resamples, turned towards `loadings_`.
    angles_ : ndarray of shape (n_resamples, n_directions_)
        Angle in degrees between every direction and the subspace of every resample.
    reproducibility_ : ndarray of shape (n_directions_,)
        Share of the squared length of every direction that is not noise, about 0 for noise alone:
        1 - S / (1 - S) with the mean squared sine S of bootstrap angles, 1 - (K - 1) S for K
        folds. Below 0.6 its intervals mean nothing: resamples are turned towards `loadings_`, and
        both have the noise of the same rows, so that even directions of noise agree a little.
    intervals_ : ndarray of shape (2, n_directions_, n_features)
        Lower and upper bounds of the entries of `loadings_`. They are those of the subspace: that
        directions may turn within it is not counted.
    projection_ : ndarray of shape (n_features, n_features)
        Average projection on the subspaces of the resamples.
    eigenvalues_ : ndarray of shape (n_features,)
        Its eigenvalues, largest first: 1 for a direction that is in all of them.
    ladle_ : ndarray of shape (n_compared,)
        The ladle criterion of 0, 1, 2, ... directions (Luo and Li, 2016); missing if the learner
        finds no direction, has no importances of its directions or cannot be asked for more of
        them. Importances are relative, so that it cannot say that there is none.
    ladle_n_directions_ : int
        Where it is smallest.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if X has names.
    n_features_in_ : int

    Examples
    --------
    >>> from kernlens import RKHSWeightingRegressor
    >>> from kernlens.datasets import make_absolute_sum_of_sines
    >>> from kernlens.model_selection import SubspaceStability
    >>> data = make_absolute_sum_of_sines(100, 4, n_relevant=1, random_state=0)
    >>> model = RKHSWeightingRegressor(n_directions=1, random_state=0)
    >>> stability = SubspaceStability(model, n_resamples=10, random_state=0)
    >>> stability.fit(data.X, data.y).intervals_.shape
    (2, 1, 4)
    """

    feature_names_in_: Any

    def __init__(
        self,
        estimator: Any,
        *,
        method: str = "bootstrap",
        n_resamples: int = 50,
        n_directions: int | str = "auto",
        coverage: float = 0.9,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.n_resamples = n_resamples
        self.n_directions = n_directions
        self.coverage = coverage
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the learner to all rows and to the resamples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,) or (n_samples, n_targets) or None
            Targets; None for learners without one.
        sample_weight : array-like of shape (n_samples,) or None
            Weights of the rows, in every fit. A row that is drawn twice counts twice its weight.

        Returns
        -------
        self
        """
        self._check_parameters()
        X, y = indexable(X, y)
        weights = None if sample_weight is None else check_weights(sample_weight, cast(Any, X))
        counts = self._counts_of_weighted(y, _num_samples(X), weights)
        whole = _fitted(self.estimator, X, y, weights)
        _check_components(whole)
        scale = _scale(whole, X, weights)
        auto = isinstance(self.n_directions, str)
        kept = len(whole.components_) if auto else int(self.n_directions)
        # Counted once: the resamples, and the ladle, take as many directions as are compared.
        widest = self._widest(whole, kept)
        asked = self.estimator if widest is None else self._asking(widest)
        wide = whole if widest is None else _fitted(asked, X, y, weights)
        found = of_ladle = self._resampled(asked, X, y, weights, counts, scale)
        source = whole if auto else wide
        if widest is not None and not getattr(self.estimator, "_nested_directions", True):
            # The first of many are other directions than the few that are looked at.
            narrow = self._asking(max(1, kept))
            found = self._resampled(narrow, X, y, weights, counts, scale)
            source = whole if auto else _fitted(narrow, X, y, weights)
        self.estimator_ = whole
        self._store_names(whole)
        self._store(orthonormal_rows(source.components_ * scale)[:kept], found)
        self._store_ladle(wide, of_ladle, widest, scale)
        if self.n_directions_ == 0:
            warn(
                "The learner found no direction, so that there are no angles and no intervals; "
                "give n_directions to look at some all the same.",
                UserWarning,
            )
        return self

    def to_frame(self) -> Any:
        """Return directions with their intervals as a data frame.

        Returns
        -------
        pandas.DataFrame
            One row per direction and column of X: ``loading``, ``low``, ``high``, and ``clear``:
            whether the interval leaves out zero and the direction is reproducible. Needs pandas to
            be installed.
        """
        check_is_fitted(self)
        names = resolve_feature_names(self)
        directions = np.repeat(np.arange(self.n_directions_) + 1, len(names))
        low, high = (bound.ravel() for bound in self.intervals_)
        return as_frame(
            Table(
                ["direction", "column", "loading", "low", "high", "clear"],
                [
                    directions,
                    [*names] * self.n_directions_,
                    self.loadings_.ravel(),
                    low,
                    high,
                    self.clear_.ravel(),
                ],
            )
        )

    @property
    def clear_(self) -> BoolArray:
        """Entries of `loadings_` whose sign is sure, (n_directions_, n_features).

        Their interval leaves out zero, and their direction is reproducible.
        """
        check_is_fitted(self)
        low, high = self.intervals_
        again = self.reproducibility_ >= REPRODUCIBLE
        clear: BoolArray = ((low > 0.0) | (high < 0.0)) & again[:, None]
        return clear

    def _check_parameters(self) -> None:
        check_choice("method", self.method, METHODS)
        check_count("n_resamples", self.n_resamples, least=2)
        check_count("n_directions", self.n_directions, words=("auto",))
        check_between("coverage", self.coverage, 0.0, 1.0)
        check_n_jobs(self.n_jobs)
        if not hasattr(self.estimator, "fit"):
            raise TypeError(
                f"estimator must have a method fit, got {type(self.estimator).__name__}."
            )

    def _counts_of_weighted(self, y: Any, n_rows: int, weights: FloatArray | None) -> FloatArray:
        """How often every row is in every resample; rows without weight are as if they were not."""
        if weights is None or (weights > 0.0).all():
            return self._counts(y, n_rows)
        rows = np.flatnonzero(weights > 0.0)
        of_rows = self._counts(None if y is None else _safe_indexing(y, rows), len(rows))
        counts = np.ones((len(of_rows), n_rows))
        counts[:, rows] = of_rows
        return counts

    def _counts(self, y: Any, n_rows: int) -> FloatArray:
        rng = check_random_state(self.random_state)
        strata = None
        if y is not None and (is_classifier(self.estimator) or _are_labels(y)):
            strata = _classes(y)
        if self.method == "bootstrap":
            return bootstrap_counts(n_rows, self.n_resamples, rng, strata)
        if self.n_resamples > n_rows:
            raise ValueError(
                f"n_resamples must be at most the number of rows, {n_rows}, with method='folds', "
                f"got {self.n_resamples}."
            )
        return fold_counts(n_rows, self.n_resamples, rng, strata)

    def _resampled(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        weights: FloatArray | None,
        counts: FloatArray,
        scale: FloatArray,
    ) -> list[FloatArray]:
        """Directions of a fit to every resample."""
        found: list[FloatArray] = Parallel(n_jobs=self.n_jobs)(
            delayed(_directions_of_resample)(estimator, X, y, weights, count, scale)
            for count in counts
        )
        return found

    def _asking(self, n_directions: int) -> Any:
        return clone(self.estimator).set_params(n_directions=n_directions)

    def _widest(self, whole: Any, kept: int) -> int | None:
        """Directions to ask for, so that the ladle can compare; None if one cannot ask."""
        if "n_directions" not in self.estimator.get_params():
            return None
        n_features = whole.components_.shape[1]
        return max(1, kept, min(MOST_DIRECTIONS, n_features - 1) + 1)

    def _store_names(self, whole: Any) -> None:
        self.n_features_in_ = whole.components_.shape[1]
        self.__dict__.pop("feature_names_in_", None)
        if hasattr(whole, "feature_names_in_"):
            self.feature_names_in_ = whole.feature_names_in_

    def _store(self, reference: FloatArray, found: list[FloatArray]) -> None:
        self.n_directions_ = k = len(reference)
        self.loadings_ = reference
        spans = [rows[:k] for rows in found]
        self.samples_ = np.array([aligned_with(reference, rows) for rows in spans])
        self.angles_ = np.degrees([angles_to(reference, rows) for rows in spans])
        sizes = None if self.method == "bootstrap" else partition_sizes(self.n_resamples)
        self.reproducibility_ = reproducibility(self.angles_, sizes)
        if sizes is None:
            bounds = reflected_interval(reference, self.samples_, self.coverage)
        else:
            bounds = jackknife_interval(reference, self.samples_, self.coverage, sizes)
        self.intervals_ = bounds.clip(-1.0, 1.0)
        self.projection_ = average_projection(spans)
        self.eigenvalues_ = np.linalg.eigvalsh(self.projection_)[::-1].clip(0.0, 1.0)

    def _store_ladle(
        self, wide: Any, found: list[FloatArray], widest: int | None, scale: FloatArray
    ) -> None:
        for name in ("ladle_", "ladle_n_directions_"):
            self.__dict__.pop(name, None)
        importances = getattr(wide, "component_importances_", None)
        if importances is None or widest is None or self.n_directions_ == 0:
            return
        reference = orthonormal_rows(wide.components_ * scale)
        most = max(1, min(widest - 1, len(reference)))
        self.ladle_ = ladle(np.asarray(importances), reference, found, most)
        self.ladle_n_directions_ = int(np.argmin(self.ladle_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = getattr(self.estimator, "__sklearn_tags__", None)
        if inner is not None:
            theirs = inner()
            tags.target_tags, tags.input_tags = theirs.target_tags, theirs.input_tags
            tags.non_deterministic = theirs.non_deterministic
        return tags


def _fitted(estimator: Any, X: Any, y: Any, weights: FloatArray | None) -> Any:
    options: Mapping[str, Any] = {} if weights is None else {"sample_weight": weights}
    return clone(estimator).fit(X, y, **options)


def _directions_of_resample(
    estimator: Any, X: Any, y: Any, weights: FloatArray | None, count: FloatArray, scale: FloatArray
) -> FloatArray:
    """Orthonormal directions of a fit in which row i counts ``count[i]`` times, (r, n_features)."""
    if has_fit_parameter(estimator, "sample_weight"):
        rows = np.flatnonzero(count)
        together = count if weights is None else count * weights
        kept: FloatArray | None = together[rows]
    else:
        rows = np.repeat(np.arange(len(count)), count.astype(np.intp))
        kept = None if weights is None else weights[rows]
    some = None if y is None else _safe_indexing(y, rows)
    model = _fitted(estimator, _safe_indexing(X, rows), some, kept)
    return orthonormal_rows(np.asarray(model.components_, dtype=np.float64) * scale)


def _check_components(model: Any) -> None:
    components = getattr(model, "components_", None)
    if components is None or np.ndim(components) != 2:
        raise ValueError(
            f"A fit of {type(model).__name__} has no components_ of shape (n_directions, "
            "n_features); give a feature learner."
        )


def _scale(model: Any, X: Any, weights: FloatArray | None) -> FloatArray:
    """What columns are divided by: the learner's own scale, or their standard deviations."""
    if hasattr(model, "scale_"):
        return np.broadcast_to(np.asarray(model.scale_), model.components_.shape[1:])
    rows = np.asarray(X, dtype=np.float64)
    mean = np.average(rows, axis=0, weights=weights)
    deviation = np.sqrt(np.average(np.square(rows - mean), axis=0, weights=weights))
    return np.where(deviation > 0.0, deviation, 1.0)


def _are_labels(y: Any) -> bool:
    """Whether one target is made of labels, which a transformer takes as well."""
    values = np.asarray(y)
    return values.ndim == 1 and values.dtype.kind in "OSUb"


def _classes(y: Any) -> IntArray:
    numbers: IntArray = np.unique(np.asarray(y), return_inverse=True)[1].ravel()
    return numbers

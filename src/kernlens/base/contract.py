"""The contract of a feature learner: what every fitted estimator offers beside its predictions.

No numerics live here; an estimator computes its directions and calls :meth:`_store_directions`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

FloatArray = NDArray[np.floating]

Method = TypeVar("Method", bound=Callable[..., Any])

#: A direction with this share of the importance is kept however few columns there are.
LARGEST_SHARE_ASKED = 0.1


def all_or_nothing(fit: Method) -> Method:
    """Make a method that learns leave the model as it was if it raises.

    Else a second fit that fails would leave the first model with the number of columns, or the
    classes, of the second.
    """

    @wraps(fit)
    def fit_or_restore(self: Any, *args: Any, **options: Any) -> Any:
        before = dict(vars(self))
        try:
            return fit(self, *args, **options)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return cast(Method, fit_or_restore)


class FeatureLearnerMixin(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """Directions, importances and the transform of an estimator that learns linear features.

    Attributes
    ----------
    components_ : ndarray of shape (n_directions_, n_features)
        Orthonormal rows, most important first, in the units of the X passed to `fit`; the entry of
        largest size in every row is positive.
    component_importances_ : ndarray of shape (n_directions_,)
        Non-negative, decreasing, sums to 1.
    feature_importances_ : ndarray of shape (n_features,)
        Non-negative, sums to 1.
    n_directions_ : int
        Number of directions kept.
    """

    components_: FloatArray
    component_importances_: FloatArray
    feature_importances_: FloatArray
    n_directions_: int

    def transform(self, X: ArrayLike) -> Any:
        """Project on the learned directions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_directions_)
            ``X @ components_.T``.
        """
        check_is_fitted(self)
        rows: FloatArray = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        return rows @ self.components_.astype(rows.dtype, copy=False).T

    @property
    def _n_features_out(self) -> int:
        return self.n_directions_

    def _store_directions(
        self,
        components: FloatArray,
        importances: FloatArray,
        feature_importances: FloatArray,
        n_directions: int | str,
        scale: FloatArray,
    ) -> None:
        """Keep the first directions and write them in the units of the user's X.

        Parameters
        ----------
        components : ndarray of shape (r, n_features)
            Orthonormal rows for columns divided by `scale`, most important first.
        importances : ndarray of shape (r,)
            Non-negative, decreasing.
        feature_importances : ndarray of shape (n_features,)
            Non-negative.
        n_directions : int or "auto"
            How many to keep.
        scale : ndarray of shape (n_features,)
            What the columns were divided by.
        """
        if isinstance(n_directions, str):
            n_directions = estimate_n_directions(importances, components.shape[1])
        n_directions = min(n_directions, len(components))
        kept = components[:n_directions] / scale
        # Orthonormal again in the new units, in the order of importance, spans unchanged.
        kept = np.linalg.qr(kept.T)[0].T
        self.components_ = fix_signs(kept)
        self.component_importances_ = _shares(importances[:n_directions])
        self.feature_importances_ = _shares(feature_importances)
        self.n_directions_ = n_directions


def estimate_n_directions(
    importances: FloatArray, n_features: int, largest_share: float = LARGEST_SHARE_ASKED
) -> int:
    """Number of leading directions with at least an even share of the importance, at least 1.

    The share asked for is ``1 / n_features``, the rule that RegFeaL uses for its own importances,
    but never more than `largest_share`: with few columns a true direction may have less than an
    even share.

    Parameters
    ----------
    importances : ndarray of shape (r,)
        Non-negative, decreasing.
    n_features : int
        Number of columns.
    largest_share : float
        What is asked for at most.
    """
    if len(importances) == 0 or importances[0] == 0.0:
        return min(1, len(importances))
    asked = min(largest_share, 1.0 / n_features)
    return max(1, int(np.sum(_shares(importances) >= asked)))


def fix_signs(components: FloatArray) -> FloatArray:
    """Return the rows with their entry of largest size made positive."""
    largest = np.argmax(np.abs(components), axis=1)
    signs = np.sign(components[np.arange(len(components)), largest])
    return components * np.where(signs == 0.0, 1.0, signs)[:, None]


def _shares(values: FloatArray) -> FloatArray:
    total = values.sum()
    return values / total if total > 0.0 else np.full(len(values), 1.0 / max(1, len(values)))

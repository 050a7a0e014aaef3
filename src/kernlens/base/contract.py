"""The contract of a feature learner: what every fitted estimator offers beside its predictions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, ClassVar, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import LinAlgError
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from kernlens._array import FloatArray
from kernlens._result import Status
from kernlens.base.arrays import validated
from kernlens.base.directions_table import directions_table
from kernlens.base.names import resolve_feature_names
from kernlens.base.tabular import as_frame
from kernlens.blocks.checkpoints import fit_of
from kernlens.blocks.lazily import lazy_on_dask
from kernlens.subspace import estimate_n_directions, shares_of

Method = TypeVar("Method", bound=Callable[..., Any])


def all_or_nothing(fit: Method) -> Method:
    """Make a method that learns leave a whole model, or the model as it was if it raises.

    Else a second fit that fails would leave the first model with the number of columns, or the
    classes, of the second. A fit whose numbers overflow on the way is one that fails.

    After an interruption the model is whole, with the best state that was found. Only then the
    interruption goes on to the caller: a search around the fit must end, too.
    """

    @wraps(fit)
    def fit_or_restore(self: Any, *args: Any, **options: Any) -> Any:
        before = dict(vars(self))
        try:
            with fit_of(self):
                outcome = fit(self, *args, **options)
            _check_finite(self)
        except BaseException as error:
            vars(self).clear()
            vars(self).update(before)
            if isinstance(error, LinAlgError | FloatingPointError):
                raise ValueError(
                    f"The numbers of this fit of {type(self).__name__} overflow or vanish; rescale "
                    "X, y or sample_weight, or choose a larger alpha."
                ) from error
            raise
        if getattr(self, "status_", None) == Status.INTERRUPTED.value:
            raise KeyboardInterrupt(
                f"The fit of {type(self).__name__} was interrupted; the model has the best state "
                "found so far."
            )
        return outcome

    return cast(Method, fit_or_restore)


def _check_finite(model: Any) -> None:
    """Refuse to leave a model with fitted numbers that are none."""
    for name, value in vars(model).items():
        if name.endswith("_") and isinstance(value, np.ndarray | float):
            fitted = np.asarray(value)
            if fitted.dtype.kind == "f" and not np.isfinite(fitted).all():
                raise FloatingPointError(f"{name} is not finite")


@lazy_on_dask("transform")
class FeatureLearnerMixin(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """Directions, importances and the transform of an estimator that learns linear features.

    Attributes
    ----------
    components_ : ndarray of shape (n_directions_, n_features)
        Directions, most important first, for columns in the units of the X passed to `fit`. The
        rows of ``components_ * scale_`` are orthonormal, so that directions and features do not
        depend on these units. The prediction rises along every direction, on average over rows.
    component_importances_ : ndarray of shape (n_directions_,)
        Non-negative, decreasing, sums to 1.
    feature_importances_ : ndarray of shape (n_features,)
        Non-negative, sums to 1.
    n_directions_ : int
        Number of directions kept.
    mean_, scale_ : ndarray of shape (n_features,)
        What is taken from the columns, and what they are divided by: 1 for all of them without
        `standardize`.
    """

    #: Whether the first directions of many are those of a fit that is asked for fewer.
    _nested_directions: ClassVar[bool] = True

    components_: FloatArray
    component_importances_: FloatArray
    feature_importances_: FloatArray
    n_directions_: int
    mean_: FloatArray
    scale_: FloatArray

    @property
    def loadings_(self) -> FloatArray:
        """Weights of the columns per standard deviation, ``components_ * scale_``, unit rows."""
        check_is_fitted(self)
        loadings: FloatArray = self.components_ * self.scale_
        return loadings

    def transform(self, X: ArrayLike) -> Any:
        """Project on the learned directions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_directions_)
            ``(X - mean_) @ components_.T``, with entries of X too large to be added up cut off.
        """
        check_is_fitted(self)
        return self._projected(validated(self, X, reset=False, dtype=[np.float64, np.float32]))

    def _projected(self, rows: FloatArray) -> FloatArray:
        """Checked rows (n_samples, n_columns) on the directions."""
        # In double precision: a shift that is large beside the spread has taken digits already.
        with np.errstate(over="ignore"):
            scaled = (rows.astype(np.float64, copy=False) - self.mean_) / self.scale_
        # Sums of larger entries overflow, and differences of what overflows are no numbers.
        limit = float(np.finfo(rows.dtype).max) / (2 * rows.shape[1])
        found: FloatArray = scaled.clip(-limit, limit) @ self.loadings_.T
        return found.astype(rows.dtype, copy=False)

    def directions_frame(self) -> Any:
        """Return the learned directions as a data frame, to be printed or sorted.

        Returns
        -------
        pandas.DataFrame
            One column per direction, named as the columns of `transform` are
            (`get_feature_names_out`), with the entries of `loadings_`: weights of the columns of X
            per standard deviation. The last column, ``importance``, is `feature_importances_`. The
            first row, ``(importance)``, is `component_importances_`, if there is a direction; then
            one row per column of X, the most important first.
        """
        check_is_fitted(self)
        names = resolve_feature_names(self)
        return self._frame_of(names, self.loadings_, self.feature_importances_)

    def _frame_of(self, names: Sequence[str], weights: FloatArray, importances: FloatArray) -> Any:
        """The directions as a data frame: weights (n_directions_, n_columns) of named columns."""
        directions = [str(name) for name in self.get_feature_names_out()]
        return as_frame(
            directions_table(names, directions, weights, self.component_importances_, importances)
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return self.n_directions_

    def _store_directions(
        self,
        loadings: FloatArray,
        importances: FloatArray,
        feature_importances: FloatArray,
        n_directions: int | str,
        scale: FloatArray,
        n_columns: int | None = None,
    ) -> None:
        """Keep the first directions and write them in the units of the user's X.

        Parameters
        ----------
        loadings : ndarray of shape (r, n_features)
            Orthonormal rows for columns divided by `scale`, most important first.
        importances : ndarray of shape (r,)
            Non-negative, decreasing.
        feature_importances : ndarray of shape (n_features,)
            Non-negative.
        n_directions : int or "auto"
            How many to keep.
        scale : ndarray of shape (n_features,)
            What the columns were divided by.
        n_columns : int or None
            Columns in use; None for all of them.
        """
        if isinstance(n_directions, str):
            n_columns = loadings.shape[1] if n_columns is None else n_columns
            n_directions = estimate_n_directions(importances, n_columns)
        n_directions = min(n_directions, len(loadings))
        self.components_ = loadings[:n_directions] / scale
        self.component_importances_ = shares_of(importances[:n_directions])
        self.feature_importances_ = shares_of(feature_importances)
        self.n_directions_ = n_directions

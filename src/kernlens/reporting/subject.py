"""What is reported on: a fitted model with its rows, and a few of them for pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_clusterer, is_regressor
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import _num_samples

from kernlens._array import FloatArray, IntArray
from kernlens._validation import check_weights
from kernlens.inspection._target_names import target_names
from kernlens.inspection._unwrapped import unwrap
from kernlens.tables.reading import names_of, take_rows

#: Rows of pictures, and of what is averaged over rows.
SAMPLE_ROWS = 1000
REGRESSION, CLASSES, DIRECTIONS, CLUSTERS, COORDINATES = (
    *("regression", "classification", "directions"),
    *("clustering", "embedding"),
)


@dataclass(frozen=True, eq=False)
class Subject:
    """A fitted model and the rows it is looked at with.

    Attributes
    ----------
    model : fitted estimator
        As the user has it.
    X, X_test : table, or None for no test rows
    y, y_test : ndarray of shape (n_rows,) or None
    weights : ndarray of shape (n_rows,) or None
        Of X.
    names : tuple of str
        Columns of X.
    target : str
        Name of y.
    sample : ndarray of int
        Rows of X for pictures, in increasing order.
    seed : int
    left_out : ndarray of shape (n_rows,) or (n_rows, n_classes), or None
        Predictions of X by fits that had not seen its rows, with NaN where there is none.
    """

    model: Any
    X: Any
    y: NDArray[Any] | None
    X_test: Any
    y_test: NDArray[Any] | None
    weights: FloatArray | None
    names: tuple[str, ...]
    target: str
    sample: IntArray
    seed: int
    left_out: FloatArray | None = None

    @property
    def kind(self) -> str:
        """What the model is for."""
        return kind_of(self.model)

    @property
    def rows(self) -> Any:
        """The sampled rows of X."""
        return take_rows(self.X, self.sample)

    @property
    def targets(self) -> Any:
        """The sampled rows of y."""
        return None if self.y is None else self.y[self.sample]

    @property
    def n_rows(self) -> int:
        """Rows of X."""
        return int(_num_samples(self.X))


def kind_of(model: Any) -> str:
    """What a model, or the last step of a pipeline, is for."""
    if is_classifier(model):
        return CLASSES
    if is_regressor(model):
        return REGRESSION
    if is_clusterer(model):
        return CLUSTERS
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    return DIRECTIONS if hasattr(last, "components_") else COORDINATES


def make_subject(
    model: Any,
    X: Any,
    y: Any,
    X_test: Any,
    y_test: Any,
    sample_weight: Any,
    feature_names: Sequence[str] | None,
    target_name: str | None,
    seed: int,
    left_out: Any = None,
) -> Subject:
    """Check what the user gave and choose the rows of pictures."""
    kind = kind_of(model)
    if y is None and kind in (REGRESSION, CLASSES, DIRECTIONS):
        raise ValueError("The page of a model that learns from targets needs them: pass y.")
    if (X_test is None) != (y_test is None):
        raise ValueError("X_test and y_test belong together: pass both or none.")
    X, X_test = _as_table(X), _as_table(X_test)
    target = target_name or _own_name(y)
    weights = None
    if y is not None:
        check_consistent_length(X, y)
        y = _one_target(y)
    if sample_weight is not None:
        weights = check_weights(sample_weight, np.empty((_num_samples(X), 1)))
    if X_test is not None:
        check_consistent_length(X_test, y_test)
        y_test = _one_target(y_test)
    sample = _sampled(_known_rows(y, int(_num_samples(X))), seed)
    names = _column_names(X, feature_names)
    if left_out is not None:
        left_out = _left_out_of(model, X, X_test, left_out)
    return Subject(model, X, y, X_test, y_test, weights, names, target, sample, seed, left_out)


def _left_out_of(model: Any, X: Any, X_test: Any, given: Any) -> FloatArray:
    if X_test is not None:
        raise ValueError("Scores are of X_test or of left_out: pass one of them.")
    values = np.asarray(given, dtype=np.float64)
    n_rows = int(_num_samples(X))
    wanted = (n_rows, len(model.classes_)) if kind_of(model) == CLASSES else (n_rows,)
    if values.shape != wanted:
        raise ValueError(
            f"left_out must have the shape {wanted}, one prediction for each row of X"
            f"{' and probability for each class' if len(wanted) == 2 else ''}, and has "
            f"{values.shape}."
        )
    return values


def unwrapped(subject: Subject, rows: Any) -> Any:
    """The feature learner inside, with rows as they reach it."""
    given = None if names_of(subject.X) is not None else subject.names
    return unwrap(subject.model, rows, feature_names=given)


def _as_table(X: Any) -> Any:
    return np.asarray(X) if isinstance(X, list | tuple) else X


def _own_name(y: Any) -> str:
    names = None if y is None else target_names(y)
    return names[0] if names else "y"


def _one_target(y: Any) -> NDArray[Any]:
    values = np.asarray(y)
    if values.ndim == 2 and values.shape[1] > 1:
        raise ValueError(
            f"A page has one target, and y has {values.shape[1]}: fit a model for each of them."
        )
    return values.ravel()


def _known_rows(y: NDArray[Any] | None, n_rows: int) -> IntArray:
    """Rows whose target is known; semi-supervised regressors have others as well."""
    if y is None or y.dtype.kind != "f":
        return np.arange(n_rows)
    return np.flatnonzero(np.isfinite(y))


def _sampled(rows: IntArray, seed: int) -> IntArray:
    if len(rows) <= SAMPLE_ROWS:
        return rows
    chosen = np.random.default_rng(seed).choice(len(rows), SAMPLE_ROWS, replace=False)
    return rows[np.sort(chosen)]


def _column_names(X: Any, given: Sequence[str] | None) -> tuple[str, ...]:
    own = names_of(X)
    if own is not None:
        return tuple(str(name) for name in own)
    n_columns = np.shape(X)[1]
    if given is None:
        return tuple(f"x{column}" for column in range(n_columns))
    if len(given) != n_columns:
        raise ValueError(
            f"feature_names has {len(given)} names, but X has {n_columns} columns: pass one name "
            "per column."
        )
    return tuple(str(name) for name in given)

"""From what the user passes to `fit` to checked arrays, targets and a loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import validate_data

from kernlens._array import FloatArray
from kernlens._validation import (
    check_classes,
    check_magnitude,
    check_no_dates,
    check_spread,
    check_weights,
    class_labels,
    plain_complaints,
    sorted_labels,
)
from kernlens.base.block_arrays import refuse_blocks
from kernlens.blocks import is_blocks
from kernlens.losses import LogisticLoss, Loss, MultinomialLoss

#: Precisions of estimators that compute in that of X.
PRECISIONS = [np.float64, np.float32]


def validated(estimator: Any, X: ArrayLike, *y: ArrayLike, **options: Any) -> Any:
    """What :func:`sklearn.utils.validation.validate_data` returns, without warnings of its sums.

    It adds all entries up to see at once whether they are finite. Sums of huge ones overflow, and
    what overflows in both directions is no number; then it looks at every entry.
    """
    if is_blocks(X):
        refuse_blocks(type(estimator).__name__)
    with np.errstate(over="ignore", invalid="ignore"), plain_complaints():
        return validate_data(estimator, X, *y, **options)


class ChecksParameters(Protocol):
    """An estimator that can check its own parameters."""

    def _check_parameters(self) -> None: ...


@dataclass(frozen=True)
class EncodedLabels:
    """Labels as targets of a loss.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        Labels, sorted.
    targets : ndarray of shape (n_targets, n_samples)
        One-hot rows, one per class; for two classes the row of the second one only.
    loss : Loss
        Logistic for two classes, multinomial for more.
    """

    classes: NDArray[Any]
    targets: FloatArray
    loss: Loss


def check_fit_arrays(
    estimator: ChecksParameters,
    X: ArrayLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    *,
    dtype: Any = np.float64,
    ensure_min_samples: int = 2,
    **options: Any,
) -> tuple[FloatArray, NDArray[Any], FloatArray]:
    """Validate the parameters, X, y and the weights, before any work.

    Parameters
    ----------
    estimator : estimator with a method `_check_parameters`
        Gets `n_features_in_`, and `feature_names_in_` if X has names.
    X : array-like of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        Targets or labels.
    sample_weight : array-like of shape (n_samples,) or None
        Non-negative weights.
    dtype : type or list of types
        Precisions that X is kept in; any other becomes the first of them.
    ensure_min_samples : int
        Rows that are needed at least.
    **options : dict
        For :func:`sklearn.utils.validation.validate_data`.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,) or (n_samples, n_targets)
    weights : ndarray of shape (n_samples,)
        As float64.
    """
    estimator._check_parameters()
    checked_X, checked_y = validated(
        estimator, X, y, dtype=dtype, ensure_min_samples=ensure_min_samples, **options
    )
    check_magnitude(checked_X, "X")
    check_spread(checked_X, "X")
    return checked_X, checked_y, check_weights(sample_weight, checked_X)


def check_batch_arrays(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    **options: Any,
) -> tuple[FloatArray, NDArray[Any], FloatArray]:
    """Like :func:`check_fit_arrays` for a batch of `partial_fit`, which may be a single row.

    Columns must be those of the batches before, if `estimator` goes on from some.
    """
    going_on = bool(estimator._going_on)
    smallest = 1 if going_on else 2
    return check_fit_arrays(
        estimator, X, y, sample_weight, reset=not going_on, ensure_min_samples=smallest, **options
    )


def regression_targets(y: NDArray[Any]) -> FloatArray:
    """Return targets as contiguous float64 rows, their magnitude checked.

    Parameters
    ----------
    y : ndarray of shape (n_samples,) or (n_samples, n_targets)
        Numbers.

    Returns
    -------
    ndarray of shape (n_targets, n_samples)
    """
    check_no_dates(y)
    try:
        with plain_complaints("y"):
            targets: FloatArray = np.ascontiguousarray(np.atleast_2d(y.T), dtype=np.float64)
    except TypeError as error:
        raise ValueError(f"y must be numbers, but {error}.") from None
    # Objects such as None become NaN only here, after scikit-learn has looked for it.
    if np.isnan(targets).any():
        raise ValueError("Input y contains NaN; leave these rows out, or fill in their targets.")
    check_magnitude(targets, "y")
    check_spread(targets.T, "y")
    return targets


def encode_labels(y: NDArray[Any], weights: FloatArray, estimator: str) -> EncodedLabels:
    """Encode labels, after checking that they are labels and of two classes at least.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Labels.
    weights : ndarray of shape (n_samples,)
        Non-negative; only rows of positive weight count towards the two classes.
    estimator : str
        Name of the estimator, for the message of the error.

    Returns
    -------
    EncodedLabels
    """
    classes, codes = class_labels(y)
    check_classes(classes[np.unique(codes[weights > 0])], estimator)
    one_hot = np.eye(len(classes))[:, codes]
    if len(classes) == 2:
        return EncodedLabels(classes, one_hot[1:], LogisticLoss())
    return EncodedLabels(classes, one_hot, MultinomialLoss())


def batch_classes(
    classes: ArrayLike | None, known: NDArray[Any] | None, going_on: bool, estimator: str
) -> NDArray[Any]:
    """All labels of a stream of batches, sorted.

    Parameters
    ----------
    classes : array-like of shape (n_classes,) or None
        As given; needed in the first call.
    known : ndarray of shape (n_classes,) or None
        Those of the calls before, or of an earlier fit.
    going_on : bool
        Whether there were calls before.
    estimator : str
        Name of the estimator, for the message of the error.
    """
    if classes is None:
        if known is None:
            raise ValueError("classes must be given in the first call of partial_fit.")
        return known
    given, _ = sorted_labels(np.asarray(classes), "classes")
    check_classes(given, estimator)
    if going_on and known is not None and not np.array_equal(given, known):
        raise ValueError(f"classes is {given.tolist()} and was {known.tolist()} before.")
    return given


def one_hot(y: NDArray[Any], classes: NDArray[Any], estimator: str) -> FloatArray:
    """Labels as one-hot rows, one per class; for two classes the row of the second one only."""
    unknown = np.setdiff1d(class_labels(y)[0], classes)
    if len(unknown):
        raise ValueError(
            f"y has labels that are not among the classes of {estimator}: {unknown.tolist()[:5]}; "
            "give all classes in the first call of partial_fit."
        )
    rows = np.eye(len(classes))[:, np.searchsorted(classes, y)]
    return rows[1:] if len(classes) == 2 else rows


def plus_minus_one(targets: FloatArray) -> FloatArray:
    """One-hot targets as labels +1 and -1."""
    return 2.0 * targets - 1.0


def class_numbers(y: FloatArray) -> NDArray[np.integer]:
    """Class numbers of one-hot targets, of which two classes have one row only.

    Parameters
    ----------
    y : ndarray of shape (n_targets, n_samples)
        The `targets` of :class:`EncodedLabels`.

    Returns
    -------
    ndarray of shape (n_samples,)
        Positions in the sorted classes if there are two, else those plus 1.
    """
    return np.vstack([np.full(y.shape[1], 0.5), y]).argmax(axis=0)

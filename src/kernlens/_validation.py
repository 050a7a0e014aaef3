"""The border: every complaint about the user's input is raised here, in one sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.exceptions import DTypePromotionError
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight

from kernlens._array import FloatArray
from kernlens._machine import memory_limit

#: Squares of larger values overflow somewhere between the data and the objective.
LARGEST_VALUE = 1e100
#: Squares of what varies by less vanish there.
SMALLEST_SPREAD = 1e-100
#: Starts that a fit comes to the end of.
MOST_STARTS = 10_000
#: How Python begins to complain about text.
NO_NUMBER = "could not convert string to float: "
#: What to do about text among numbers.
USE_NUMBERS = "TablePreprocessor makes numbers of columns of X, and classifiers take text as labels"


@contextmanager
def plain_complaints(name: str = "X or y", advice: str = USE_NUMBERS) -> Iterator[None]:
    """Say in a sentence what Python and NumPy say of values that they make no numbers of."""
    try:
        yield
    except OverflowError as error:
        raise ValueError(
            f"{name} has integers that are too large for floating-point numbers; rescale them."
        ) from error
    except DTypePromotionError as error:
        # Of a table, whose columns of numbers and of dates have no common type.
        raise ValueError(
            f"{name} has dates or durations beside numbers; give them as numbers, such as days, or "
            "put a TablePreprocessor before the model."
        ) from error
    except ValueError as error:
        word = str(error).partition(NO_NUMBER)[2].removeprefix("np.str_(").removesuffix(")")
        if not word:
            raise
        raise ValueError(
            f"{name} has text, such as {word}, where numbers are needed; {advice}."
        ) from error


def check_no_dates(y: Any) -> None:
    """Refuse dates and durations, which NumPy would make numbers of in whatever unit they have."""
    if getattr(getattr(y, "dtype", None), "kind", None) in ("m", "M"):
        raise ValueError("y has dates or durations; give numbers, such as days, or labels as text.")


def check_magnitude(values: FloatArray, name: str) -> None:
    """Refuse values whose squares overflow."""
    largest = float(np.max(np.abs(values), initial=0.0))
    if largest > LARGEST_VALUE:
        raise ValueError(
            f"{name} has values as large as {largest:.3g}, whose squares overflow; divide {name} "
            f"by a constant so that it stays below {LARGEST_VALUE:.0e}."
        )


def check_spread(values: FloatArray, name: str) -> None:
    """Refuse columns (n_samples, n_columns) that are not constant, but whose squares vanish."""
    spread = np.ptp(values, axis=0)
    small = (spread > 0.0) & (spread < SMALLEST_SPREAD)
    if small.any():
        which = f"column {int(np.argmax(small))} of {name}" if values.shape[1] > 1 else name
        raise ValueError(
            f"{name} must vary by more than {SMALLEST_SPREAD:.0e} or not at all, but {which} "
            f"varies by {float(spread[small][0]):.3g}; multiply it by a constant."
        )


def check_weights(sample_weight: ArrayLike | None, X: FloatArray) -> FloatArray:
    """Return weights (n_samples,) as float64: finite, non-negative, not all zero.

    What is lost when it is added to the largest weight counts as zero.
    """
    with plain_complaints("sample_weight", "give a weight for every row"):
        weights: FloatArray = _check_sample_weight(
            sample_weight, X, dtype=np.float64, ensure_non_negative=True
        )
    check_magnitude(weights, "sample_weight")
    if not weights.any():
        raise ValueError(
            "sample_weight is zero for every row; give at least one a positive weight."
        )
    return significant(weights)


def significant(weights: FloatArray) -> FloatArray:
    """Weights (n_samples,) with zero for those that are lost when added to the largest."""
    return np.where(weights > np.finfo(np.float64).eps * weights.max(), weights, 0.0)


def check_class_weight(name: str, value: Any) -> None:
    """Refuse what is neither None, "balanced" nor a dictionary of numbers of at least 0."""
    if value is None or (isinstance(value, str) and value == "balanced"):
        return
    if not isinstance(value, dict):
        raise ValueError(f"{name} must be None, 'balanced' or a dictionary, got {value!r}.")
    for label, weight in value.items():
        if not _is_number(weight, Real) or not 0 <= float(weight) <= LARGEST_VALUE:
            raise ValueError(
                f"{name} must be a dictionary of numbers from 0 to {LARGEST_VALUE:.0e}, got "
                f"{weight!r} for {label!r}."
            )


def check_enough_rows(n_rows: int, estimator: str) -> None:
    """Refuse a fit on fewer than two rows of positive weight."""
    if n_rows < 2:
        raise ValueError(
            f"{estimator} needs at least 2 samples with a positive weight, got "
            f"n_samples = {n_rows}."
        )


def sorted_labels(y: NDArray[Any], name: str = "y") -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Labels in their order, and the place of that of every row; none is missing."""
    if y.dtype == object and any(label is None for label in y.flat):
        raise ValueError(f"{name} has missing labels (None); leave these rows out.")
    try:
        labels, places = np.unique(y, return_inverse=True)
    except TypeError:
        raise ValueError(f"{name} mixes labels of several types; give all of one type.") from None
    return labels, places


def class_labels(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Like :func:`sorted_labels`, and refuse numbers that are no classes."""
    labels, places = sorted_labels(y)
    # Numbers beyond all integers are compared with integers there, too.
    with np.errstate(invalid="ignore"):
        check_classification_targets(y)
    return labels, places


def check_classes(classes: NDArray[Any], estimator: str) -> None:
    """Refuse labels of a single class."""
    if len(classes) < 2:
        raise ValueError(
            f"{estimator} needs samples of at least 2 classes with a positive weight, but the data "
            f"has only one class: {np.asarray(classes).tolist()[0]!r}."
        )


def _is_number(value: Any, kind: type) -> bool:
    """Whether `value` is a number of the given kind; True and False are not meant as numbers."""
    return isinstance(value, kind) and not isinstance(value, bool | np.bool_)


def check_alpha(
    alpha: Any, named: tuple[str, ...], *, smallest: float = 0.0, largest: float = np.inf
) -> None:
    """Refuse an alpha that is neither a known word nor a positive finite number."""
    if isinstance(alpha, str) and alpha in named:
        return
    if not _is_number(alpha, Real) or not 0 < float(alpha) < np.inf:
        words = ", ".join(map(repr, named))
        raise ValueError(f"alpha must be {words} or a positive finite number, got {alpha!r}.")
    if float(alpha) < smallest:
        raise ValueError(f"alpha must be at least {smallest:.0e}, got {alpha!r}.")
    if float(alpha) > largest:
        raise ValueError(f"alpha must be at most {largest:.0e}, got {alpha!r}.")


def check_count(
    name: str,
    value: Any,
    *,
    words: tuple[str, ...] = (),
    other: str | None = None,
    least: int = 1,
    most: tuple[str, int] | None = None,
) -> None:
    """Refuse a value that is neither one of `words` nor an integer of at least `least`.

    `other` names what else is allowed, for the message; `most` is the name and the value of what
    the integer may not exceed.
    """
    if isinstance(value, str) and value in words:
        return
    integer = _is_number(value, Integral)
    if not integer or int(value) < least or (most is not None and int(value) > most[1]):
        allowed = "".join(f"{word!r} or " for word in words)
        allowed += "" if other is None else f"{other} or "
        bounds = f"{least}" if most is None else f"{least} and at most {most[0]} = {most[1]}"
        raise ValueError(f"{name} must be {allowed}an integer of at least {bounds}, got {value!r}.")


def check_most(name: str, value: Any, most: int) -> None:
    """Refuse an integer of which a fit would not come to the end; words have no size."""
    if not isinstance(value, str) and int(value) > most:
        raise ValueError(f"{name} must be at most {most}, got {value!r}.")


def check_choice(
    name: str, value: Any, choices: tuple[str, ...], *, other: str | None = None
) -> None:
    """Refuse a value that is not one of `choices`; `other` names what else is allowed."""
    if not isinstance(value, str) or value not in choices:
        allowed = ", ".join(map(repr, choices)) + ("" if other is None else f", or {other}")
        raise ValueError(f"{name} must be one of {allowed}, got {value!r}.")


def check_flag(name: str, value: Any, other: str | None = None) -> None:
    """Refuse a value that is neither True nor False; `other` names what else is allowed."""
    if not isinstance(value, bool | np.bool_):
        allowed = "True or False" if other is None else f"True, False or {other}"
        raise ValueError(f"{name} must be {allowed}, got {value!r}.")


def check_n_jobs(n_jobs: Any) -> None:
    """Refuse a number of threads that is neither None nor an integer other than 0."""
    if n_jobs is not None and (not _is_number(n_jobs, Integral) or int(n_jobs) == 0):
        raise ValueError(f"n_jobs must be None or a non-zero integer, got {n_jobs!r}.")


def check_non_negative(name: str, value: Any) -> None:
    """Refuse a value that is not a finite number of at least 0."""
    if not _is_number(value, Real) or not 0 <= float(value) < np.inf:
        raise ValueError(f"{name} must be a finite number of at least 0, got {value!r}.")


def _matrix_of_numbers(init: ArrayLike) -> FloatArray:
    try:
        return np.array(init, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"init must be a word or a matrix of numbers, got {init!r}.") from None


def check_particles(init: ArrayLike, n_particles: int, n_features: int) -> FloatArray:
    """Return user's particles as float64 of shape (n_particles, n_features)."""
    W = _matrix_of_numbers(init)
    if W.shape != (n_particles, n_features):
        raise ValueError(
            f"init must have shape (n_particles, n_features) = ({n_particles}, {n_features}), "
            f"got {W.shape}."
        )
    if not np.isfinite(W).all():
        raise ValueError("init has NaN or infinite entries; give finite particles.")
    check_magnitude(W, "init")
    return W


def check_memory(n_bytes: float, advice: str | Callable[[float], str]) -> None:
    """Refuse, before any long work, a fit that needs more memory than this process may use.

    `advice` ends the sentence; a function gets the limit, in bytes.
    """
    limit = memory_limit()
    if n_bytes > limit:
        advice = advice if isinstance(advice, str) else advice(limit)
        raise MemoryError(
            f"This fit needs about {n_bytes / 2**30:.1f} GiB and this process may use "
            f"{limit / 2**30:.1f} GiB; {advice}."
        )


def check_positive(name: str, value: Any, *, other: str | None = None) -> None:
    """Refuse a value that is not a positive finite number; `other` names what else is allowed."""
    if not _is_number(value, Real) or not 0 < float(value) < np.inf:
        allowed = "" if other is None else f"{other} or "
        raise ValueError(f"{name} must be {allowed}a positive finite number, got {value!r}.")


def check_between(name: str, value: Any, low: float, high: float, advice: str = "") -> None:
    """Refuse a value that is not a number strictly between two others; `advice` ends the line."""
    if not _is_number(value, Real) or not low < float(value) < high:
        bounds = f"a number above {low:g} and below {high:g}{advice}"
        raise ValueError(f"{name} must be {bounds}, got {value!r}.")


def check_size(name: str, value: Any, smallest: float, largest: float) -> None:
    """Refuse a number of such a size that its square, or that of its inverse, overflows."""
    if not smallest <= abs(float(value)) <= largest:
        least = f"at least {smallest:.0e} and " if smallest > 0.0 else ""
        raise ValueError(f"{name} must be {least}at most {largest:.0e}, got {value!r}.")


def check_sequence(name: str, value: Any) -> list[Any]:
    """Return the values to choose from: those of a list, tuple or array, or the one given."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return [value.item()]
    if not isinstance(value, list | tuple | np.ndarray | range):
        return [value]
    values = list(value)
    if not values or any(isinstance(item, str) for item in values):
        raise ValueError(f"{name} must be one value or a non-empty list of numbers, got {value!r}.")
    return values


def check_map(init: ArrayLike, n_features: int) -> FloatArray:
    """Return a user's first map as float64 of shape (n_components, n_features)."""
    B = _matrix_of_numbers(init)
    if B.ndim != 2 or B.shape[1] != n_features or len(B) == 0:
        raise ValueError(
            f"init must have shape (n_components, n_features) with n_features = {n_features}, "
            f"got {B.shape}."
        )
    if not np.isfinite(B).all() or not B.any():
        raise ValueError("init must have finite entries, not all of them zero.")
    return B

"""One candidate in one split: its predictions, its directions, its seconds."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from kernlens._array import FloatArray, IntArray
from kernlens._execution import single_threaded_openmp
from kernlens.base.contract import FeatureLearnerMixin
from kernlens.model_selection.auto.candidates import Candidate
from kernlens.model_selection.auto.splits import Split

#: Predictions may lie so far beyond the targets of the rows, in ranges of these: most members stay
#: within them by themselves, and a straight line may not be cut off.
MARGIN = 0.5


@contextmanager
def speechless() -> Iterator[None]:
    """Take the sentence from an interruption: that of a candidate says what only it has kept."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt from None


@dataclass(frozen=True)
class Found:
    """Directions of a fit.

    Attributes
    ----------
    names : tuple of str
        Columns.
    loadings : ndarray of shape (k, n_columns)
        Orthonormal, most important first.
    importances : ndarray of shape (k,)
    """

    names: tuple[str, ...]
    loadings: FloatArray
    importances: FloatArray


@dataclass(frozen=True)
class Outcome:
    """What came of a fit in a split.

    Attributes
    ----------
    prediction : ndarray of shape (n_test,) or (n_test, n_classes)
    seconds : float
    whole : bool
        Whether the fit was not stopped because of the time.
    found : Found or None
    """

    prediction: FloatArray
    seconds: float
    whole: bool
    found: Found | None


@dataclass
class Trial:
    """A candidate on its way through the splits.

    Attributes
    ----------
    candidate : Candidate
    outcomes : dict of int to Outcome
        By the number of the split.
    look : tuple of float or None
        Score and seconds of the first look, and the rows it saw.
    score : float
        Of all rows left out; NaN unless it has predicted them.
    error : str
        Why it was given up.
    """

    candidate: Candidate
    outcomes: dict[int, Outcome] = field(default_factory=dict)
    look: tuple[float, float, int] | None = None
    score: float = float("nan")
    error: str = ""

    def complete(self, n_splits: int) -> bool:
        """Whether it has predicted all rows."""
        return len(self.outcomes) == n_splits

    def seen(self, splits: Sequence[Split]) -> list[tuple[float, int]]:
        """Seconds and rows of its fits so far."""
        fits = [(one.seconds, len(splits[k].train)) for k, one in self.outcomes.items()]
        return fits or ([] if self.look is None else [self.look[1:]])

    @property
    def first_score(self) -> float:
        """Score of the first look; NaN if there was none."""
        return float("nan") if self.look is None else self.look[0]

    @property
    def seconds(self) -> float:
        """Seconds of all its fits."""
        return sum(one.seconds for one in self.outcomes.values())

    @property
    def longest(self) -> float:
        """Seconds of the longest fit."""
        return max((one.seconds for one in self.outcomes.values()), default=0.0)


def last_step(model: Any) -> Any:
    """The estimator at the end of a pipeline, or the model itself."""
    return model.steps[-1][1] if hasattr(model, "steps") else model


def learner_of(model: Any) -> Any:
    """What learns in a candidate that was not fitted yet."""
    return last_step(getattr(model, "regressor", model))


def feature_learner(model: Any) -> FeatureLearnerMixin | None:
    """The feature learner that a fitted candidate is, or has inside."""
    inner = last_step(getattr(model, "regressor_", model))
    return inner if isinstance(inner, FeatureLearnerMixin) else None


def fitted(
    model: Any, X: FloatArray, y: Any, weights: FloatArray | None, stop: Callable[..., bool] | None
) -> Any:
    """Fit a candidate on one thread; `stop` may ask it to end early with what it has."""
    inner = learner_of(model)
    known = inner.get_params(deep=False)
    if "callback" in known:
        inner.set_params(callback=stop)
    if "n_jobs" in known:
        inner.set_params(n_jobs=1)
    options: dict[str, Any] = {}
    if weights is not None:
        options = _weights_of(model, weights)
    try:
        # Trees have threads of their own, which would wait for each other beside ours.
        with warnings.catch_warnings(), single_threaded_openmp():
            # The leaderboard has what matters of a hundred fits.
            warnings.simplefilter("ignore")
            model.fit(X, y, **options)
    finally:
        if "callback" in known:
            # What is kept must not hold on to the clock.
            for one in (inner, last_step(getattr(model, "regressor_", model))):
                one.set_params(callback=None)
    return model


def prediction_bounds(y: FloatArray) -> tuple[float, float]:
    """What predictions of numbers are kept within."""
    margin = MARGIN * float(np.ptp(y))
    return float(y.min()) - margin, float(y.max()) + margin


def is_fitted(model: Any) -> bool:
    """Whether a candidate can predict; an interrupted one has its best state, or none."""
    if model is None:
        return False
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def _weights_of(model: Any, weights: FloatArray) -> dict[str, Any]:
    if hasattr(model, "steps"):
        return {f"{model.steps[-1][0]}__sample_weight": weights}
    inner = getattr(model, "regressor", model)
    return {"sample_weight": weights} if has_fit_parameter(inner, "sample_weight") else {}


def predicted(model: Any, X: FloatArray, n_classes: int | None) -> FloatArray:
    """Predictions (n_rows,), or probabilities of all classes (n_rows, n_classes)."""
    if n_classes is None:
        values: FloatArray = np.asarray(model.predict(X), dtype=np.float64)
        return values
    probabilities = np.zeros((len(X), n_classes))
    probabilities[:, model.classes_.astype(np.intp)] = model.predict_proba(X)
    return probabilities


def tried(
    candidate: Candidate,
    split: Split,
    y: FloatArray,
    weights: FloatArray | None,
    *,
    n_classes: int | None,
    n_directions: int,
    seed: int,
    stop: Callable[..., bool] | None,
    rows: IntArray | slice = slice(None),
    clock: Callable[[], float] = time.perf_counter,
) -> Outcome:
    """Fit a candidate to the rows of a split, or some of them, and predict those left out."""
    begin = clock()
    places = split.train[rows]
    stopped = False

    def ask(progress: object) -> bool:
        nonlocal stopped
        stopped = stopped or (stop is not None and stop(progress))
        return stopped

    own = None if weights is None else weights[places]
    width = min(n_directions, split.X.shape[1])
    model = fitted(candidate.make(width, seed), split.X[rows], y[places], own, ask)
    prediction = predicted(model, split.X_test, n_classes)
    if n_classes is None:
        # A fit may run away beyond the rows; what it says there must not decide.
        low, high = prediction_bounds(y[places])
        prediction = prediction.clip(low, high)
    learner = feature_learner(model)
    found = None
    if learner is not None:
        found = Found(split.names, learner.loadings_, learner.component_importances_)
    return Outcome(prediction, clock() - begin, not stopped, found)


def seconds_over(seconds: float | None) -> Callable[..., bool] | None:
    """A callback of fits that asks to stop after so many seconds from now, by the clock here."""
    if seconds is None:
        return None
    begin = time.monotonic()

    def too_late(progress: object) -> bool:
        return time.monotonic() - begin > seconds

    return too_late


def tried_there(
    candidate: Candidate,
    split: Split,
    y: FloatArray,
    weights: FloatArray | None,
    *,
    seconds: float | None,
    **asked: Any,
) -> Outcome:
    """The same on another machine, whose clock is its own."""
    return tried(candidate, split, y, weights, stop=seconds_over(seconds), **asked)


def fitted_there(
    model: Any, X: FloatArray, y: Any, weights: FloatArray | None, *, seconds: float | None
) -> Any:
    """A candidate fitted on another machine, whose clock is its own."""
    return fitted(model, X, y, weights, seconds_over(seconds))

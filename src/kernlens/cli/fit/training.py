"""A model of the rows to learn from: made, fitted within the time, and kept after Ctrl-C."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import TimeSeriesSplit
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from kernlens._parameters import argument_names
from kernlens.cli._errors import explained
from kernlens.cli._methods import AUTO, Method
from kernlens.cli._talk import Progress, Talk
from kernlens.cli.fit.problem import Problem
from kernlens.tables import TablePreprocessor

#: Folds inside a fit of rows in the order of time.
TIME_FOLDS = 5


@dataclass(frozen=True)
class Recipe:
    """How models are made.

    Attributes
    ----------
    method : Method
    settings : dict
        Of its constructor.
    seconds : float
        What one fit may take, about.
    seed : int
    n_jobs : int or None
    quiet : bool
    """

    method: Method
    settings: dict[str, Any]
    seconds: float
    seed: int
    n_jobs: int | None
    quiet: bool


@dataclass(frozen=True)
class Trained:
    """What came of a fit.

    Attributes
    ----------
    model : fitted estimator
        An automatic one, or a pipeline that prepares tables first.
    seconds : float
    interrupted : bool
        Whether Ctrl-C ended it early, with the best so far.
    """

    model: Any
    seconds: float
    interrupted: bool


def train(recipe: Recipe, part: Problem, talk: Talk) -> Trained:
    """Fit a model to all rows of a part.

    After Ctrl-C the best so far is kept if there is anything; else the interruption goes on.
    """
    progress = Progress(recipe.seconds, recipe.quiet, ends=recipe.method.name != AUTO)
    model, last = _made(recipe, part, progress)
    begin = time.monotonic()
    interrupted = False
    try:
        with explained(), talk.saying_warnings():
            model.fit(part.X, part.y, **_options(recipe, model, last, part))
    except KeyboardInterrupt:
        if not _is_fitted(model):
            talk.aside("Ctrl-C came before any model was finished; there is nothing to write.")
            raise
        interrupted = True
        talk("Ctrl-C ended the fit early: the model is the best so far.")
        talk.aside("Ctrl-C once more ends without files.")
    finally:
        progress.close()
    if progress.stopped:
        talk("The time was over before the fit had ended: the model is the best so far.")
    # What is kept must not hold on to the clock, nor to the rows of its folds.
    last.set_params(**{n: None for n in ("callback", "cv") if n in last.get_params(deep=False)})
    return Trained(model, time.monotonic() - begin, interrupted)


def _made(recipe: Recipe, part: Problem, progress: Progress) -> tuple[Any, Any]:
    """The model, and the estimator in it."""
    estimator = recipe.method.estimator(part.task)
    given: dict[str, Any] = {
        "random_state": recipe.seed,
        "n_jobs": recipe.n_jobs,
        "callback": progress,
        "time_budget": recipe.seconds,
        "cv": _inner_folds(part),
    }
    known = argument_names(estimator)
    own = {name: value for name, value in given.items() if name in known}
    last = estimator(**own, **recipe.settings)
    if recipe.method.name == AUTO:
        return last, last
    table = TablePreprocessor(task=part.task, random_state=recipe.seed)
    return Pipeline([("table", table), ("model", last)]), last


def _inner_folds(part: Problem) -> Any:
    if part.moments is None:
        return None
    number = min(TIME_FOLDS, len(part.y) - 1)
    return list(TimeSeriesSplit(number).split(np.zeros((len(part.y), 1))))


def _options(recipe: Recipe, model: Any, last: Any, part: Problem) -> dict[str, Any]:
    """Weights and groups, as far as the estimator takes them."""
    prefix = "" if recipe.method.name == AUTO else "model__"
    given = {"sample_weight": part.weights, "groups": part.groups}
    return {
        prefix + name: value
        for name, value in given.items()
        if value is not None and has_fit_parameter(last, name)
    }


def _is_fitted(model: Any) -> bool:
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True

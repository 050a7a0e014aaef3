"""A case: parameters, data, weights and new rows, all of which follow from three things.

These are the name of an estimator, a number and a seed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

import numpy as np

from fuzz.arrays import Array
from fuzz.draws import Generator, chance, pick, pick_by
from fuzz.economy import SECONDS, bounded, quick_value
from fuzz.estimators import estimator_of, family_of, parameters_of, task_of
from fuzz.forms import FORMS, INPUT_FORMS, TARGET_FORMS
from fuzz.inputs import draw_inputs, draw_rows, draw_shape
from fuzz.objects import COSINES, Setting, draw_matrix
from fuzz.targets import draw_labels, draw_numbers, draw_weights
from fuzz.values import draw_bad_value, draw_value
from kernlens._parameters import argument_names

#: Share of cases with all the real defaults, and with one bad value.
ALL_DEFAULTS, ONE_BAD = 0.03, 0.1
#: Share of parameters that are drawn by their kind, and of those from all of their range.
DRAWN, WILD = 0.3, 0.15


@dataclass(frozen=True)
class Case:
    """One trial of an estimator.

    Attributes
    ----------
    estimator : str
        Its name.
    number, seed : int
        What the rest was drawn from.
    parameters : dict
        Arguments of the constructor.
    X : ndarray of shape (n_samples, n_features)
    y : ndarray or None
        Targets or labels.
    weights : ndarray of shape (n_samples,) or None
    rows : ndarray of shape (n_rows, n_features)
        Rows to predict, all finite.
    form, target_form : str
        Forms that X, and y and weights, are given in.
    words : dict
        The kinds of X, y and weights, for a reader.
    """

    estimator: str
    number: int
    seed: int
    parameters: dict[str, Any]
    X: Array
    y: Array | None
    weights: Array | None
    rows: Array
    form: str = "array"
    target_form: str = "array"
    words: dict[str, str] = field(default_factory=dict)

    def formed(self) -> tuple[Any, Any, Any]:
        """X, y and weights as they are given to a fit."""
        make = FORMS[self.target_form].make
        y = None if self.y is None else make(self.y)
        weights = None if self.weights is None else make(self.weights)
        return FORMS[self.form].make(self.X), y, weights

    def formed_rows(self) -> Any:
        """New rows as they are given to a prediction: with names if X has them."""
        return FORMS["frame" if self.form == "frame" else "array"].make(self.rows)


def draw_case(estimator: str, number: int, seed: int = 0) -> Case:
    """The case of a number."""
    rng = np.random.default_rng([seed, number, crc32(estimator.encode())])
    n_rows, n_columns = draw_shape(rng)
    X, kind = draw_inputs(rng, n_rows, n_columns)
    words = {"X": kind}
    form = pick_by(rng, INPUT_FORMS)
    X = _as_it_will_be(X, form)
    y = _draw_targets(rng, estimator, X, words)
    weights, words["weights"] = draw_weights(rng, y, n_rows)
    return Case(
        estimator=estimator,
        number=number,
        seed=seed,
        parameters=_draw_parameters(rng, estimator, n_columns),
        X=X,
        y=y,
        weights=weights,
        rows=draw_rows(rng, X),
        form=form,
        target_form=pick_by(rng, TARGET_FORMS),
        words=words,
    )


def _as_it_will_be(X: Array, form: str) -> Array:
    """The numbers that a form leaves, so that training rows among the new rows are those."""
    if form not in ("float32", "int", "bool"):
        return X
    return np.asarray(FORMS[form].make(X), dtype=np.float64)


def _draw_targets(rng: Generator, estimator: str, X: Array, words: dict[str, str]) -> Any:
    task = task_of(estimator)
    if task not in ("classes", "numbers", "directions"):
        return None
    labels = task == "classes" or (task == "directions" and chance(rng, 0.3))
    draw = draw_labels if labels else draw_numbers
    y, words["y"] = draw(rng, X, family_of(estimator) == "KernelLaplacian")
    return y


def _draw_parameters(rng: Generator, estimator: str, n_columns: int) -> dict[str, Any]:
    listed, family = parameters_of(estimator), family_of(estimator)
    drawn: dict[str, Any] = {"n_jobs": 1, "random_state": int(rng.integers(4))}
    if task_of(estimator) == "directions":
        # Not all of them have threads or draw anything.
        drawn = {name: value for name, value in drawn.items() if name in listed}
    if chance(rng, ALL_DEFAULTS) or not listed:
        return {**drawn, "time_budget": SECONDS} if "time_budget" in listed else drawn
    classes = task_of(estimator) == "classes"
    for name in _arguments(estimator):
        quick = quick_value(family, name, listed[name].kind, rng)
        if quick is not None or name == "refit":
            drawn[name] = quick
        if chance(rng, DRAWN):
            setting = Setting(n_columns, classes, chance(rng, WILD))
            drawn[name] = bounded(name, draw_value(listed[name].kind, rng, setting))
    if drawn.get("instantiation") is COSINES and chance(rng, 0.9):
        # It has a kernel of its own, and is refused otherwise.
        drawn["correlation"] = "auto"
    if family == "BKerNN":
        _draw_particles(rng, drawn, n_columns)
    if chance(rng, ONE_BAD):
        name = pick(rng, _arguments(estimator))
        drawn[name] = draw_bad_value(listed[name].kind, rng)
    return drawn


def _draw_particles(rng: Generator, drawn: dict[str, Any], n_columns: int) -> None:
    """First particles of BKerNN, of which there must be as many as particles."""
    drawn["init"] = "random"
    if chance(rng, 0.15) and drawn["n_particles"] < 100:
        drawn["init"] = draw_matrix(rng, drawn["n_particles"], n_columns, chance(rng, 0.3))


def _arguments(estimator: str) -> list[str]:
    listed = parameters_of(estimator)
    return [name for name in argument_names(estimator_of(estimator)) if name in listed]

"""The arguments of the automatic estimators."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernlens._parameters import (
    CALLBACK,
    CLASS_WEIGHT,
    N_DIRECTIONS,
    N_JOBS,
    RANDOM_STATE,
    VERBOSE,
    Choice,
    Flag,
    Kind,
    Parameter,
    Parameters,
    Positive,
)
from kernlens.model_selection.auto.scores import CLASSIFICATION_SCORES, REGRESSION_SCORES, Score

#: A budget of more seconds than a year is a mistake.
LARGEST_BUDGET = 3.2e7


@dataclass(frozen=True)
class Folds(Kind):
    """None, a number of folds, a splitter, or pairs of rows to learn from and to predict."""

    def check(self, name: str, value: Any) -> None:
        if isinstance(value, int | np.integer):
            good = value >= 2 and not isinstance(value, bool)
        else:
            good = value is None or _has_splits(value)
        if not good:
            raise ValueError(
                f"{name} must be None, an integer of at least 2, a splitter, or pairs of rows to "
                f"learn from and rows to predict, got {value!r}."
            )

    def bad_values(self) -> tuple[Any, ...]:
        return (0, 1, -3, 0.5, np.nan, True, "five", b"five", {}, object, np.array("auto"))


def _has_splits(value: Any) -> bool:
    """Whether a value is a splitter or may list pairs; words have a method `split`, too."""
    if isinstance(value, str | bytes | type | dict) or not getattr(value, "shape", True):
        return False
    return hasattr(value, "split") or isinstance(value, Iterable)


def _scoring(scores: dict[str, Score], text: str) -> Parameter:
    words = ("auto", *scores)
    return Parameter(
        Choice(words), "auto", "{" + ", ".join(f'"{word}"' for word in words) + "}", text
    )


SHARED_PARAMETERS: Parameters = {
    "time_budget": Parameter(
        Positive(smallest=1e-3, largest=LARGEST_BUDGET),
        60.0,
        "float",
        """Seconds for the whole fit. One candidate is always finished, however short the time; else
        a candidate is begun only if there is time for it and for fits of the members to all rows.
        """,
    ),
    "cv": Parameter(
        Folds(),
        None,
        "None, int, splitter or iterable",
        """Rows that are left out, as in scikit-learn. None is five folds, stratified for classes
        and by groups if `groups` are given, and beyond 10,000 rows one part of a fifth. For rows
        in the order of time give ``TimeSeriesSplit()``.""",
    ),
    "ensemble": Parameter(
        Flag(), True, "bool", "Whether to stack the best candidates; False keeps the best one."
    ),
    "include_trees": Parameter(
        Flag(),
        False,
        "bool",
        """Whether gradient boosting and the straight line may be members. They are rows of the
        leaderboard in any case.""",
    ),
    "n_directions": replace(
        N_DIRECTIONS,
        text="""Directions to keep; ``"auto"`` leaves the number to the heaviest member, which
        counts those that predict rows left out, if there is time.""",
    ),
    "n_jobs": replace(N_JOBS, text="Fits side by side, on threads; None and -1 use all cores."),
    "random_state": replace(RANDOM_STATE, text="Seed of folds, of samples and of the members."),
    "verbose": VERBOSE,
    "callback": replace(
        CALLBACK,
        text="""Called after every fit of a candidate with a :class:`~kernlens.FitProgress`, whose
        objective is the best score so far. If it returns True the fit ends with what it has.""",
    ),
}

PARAMETERS: Parameters = {
    "scoring": _scoring(
        REGRESSION_SCORES, 'What candidates are compared by; ``"auto"`` is ``"r2"``.'
    ),
    **SHARED_PARAMETERS,
}

CLASSIFIER_PARAMETERS: Parameters = {
    "scoring": _scoring(
        CLASSIFICATION_SCORES,
        """What candidates are compared by; ``"auto"`` is ``"neg_log_loss"``. Weights of a stack are
        those of least log loss in any case.""",
    ),
    **SHARED_PARAMETERS,
    "class_weight": CLASS_WEIGHT,
}

"""From a problem to a model, predictions of rows it has not seen, and their summary."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kernlens._array import FloatArray, IntArray
from kernlens.cli._errors import explained
from kernlens.cli._methods import AUTO
from kernlens.cli._talk import Talk
from kernlens.cli.fit.held_out import by_row, joined, predictions_of
from kernlens.cli.fit.problem import REGRESSION, Problem
from kernlens.cli.fit.splits import Split
from kernlens.cli.fit.training import Recipe, Trained, train
from kernlens.reporting import summarize
from kernlens.reporting.plain import plain
from kernlens.reporting.scores import Evaluated, class_scores, regression_scores


@dataclass
class Study:
    """What was learned and checked.

    Attributes
    ----------
    trained : Trained
    learned, held_out : Problem
        Rows of the model, and rows it has not seen; the latter may be none.
    predictions : dict or None
        Columns of the predictions of held-out rows.
    folds : list of dict
        Scores of every fold, where there are folds.
    left_out : ndarray or None
        What the folds predict of every row, with NaN for those that no finished one has left out.
    interrupted : bool
    """

    trained: Trained
    learned: Problem
    held_out: Problem | None
    predictions: dict[str, Any] | None = None
    folds: list[dict[str, Any]] = field(default_factory=list)
    left_out: FloatArray | None = None
    interrupted: bool = False


def study_split(recipe: Recipe, problem: Problem, split: Split, talk: Talk) -> Study:
    """Learn from some rows and predict the others."""
    train_rows, test_rows = split
    learned = problem.part(train_rows)
    held_out = problem.part(test_rows) if len(test_rows) else None
    trained = train(recipe, learned, talk)
    predictions = None
    if held_out is not None:
        with explained():
            predictions = predictions_of(trained.model, held_out)
    return Study(trained, learned, held_out, predictions, interrupted=trained.interrupted)


def study_folds(recipe: Recipe, problem: Problem, splits: Sequence[Split], talk: Talk) -> Study:
    """Learn from all rows, and then from all but one part after the other.

    Ctrl-C in between keeps the model, and the parts that are done.
    """
    own = dataclasses.replace(recipe, seconds=recipe.seconds / (len(splits) + 1))
    study = Study(train(own, problem, talk), problem, None)
    study.interrupted = study.trained.interrupted
    parts: list[dict[str, Any]] = []
    for number, (train_rows, test_rows) in enumerate(splits, start=1):
        if study.interrupted:
            break
        talk.aside(f"Part {number} of {len(splits)} is held out.")
        try:
            fold = train(own, problem.part(train_rows), talk)
        except KeyboardInterrupt:
            study.interrupted = True
            break
        study.interrupted = fold.interrupted
        if not fold.interrupted:
            held_out = problem.part(test_rows)
            with explained():
                parts.append(predictions_of(fold.model, held_out))
            study.folds.append(_scores(fold.model, held_out))
    if parts:
        study.predictions = joined(parts)
        study.left_out = by_row(study.predictions, problem, study.trained.model)
    return study


def _scores(model: Any, part: Problem) -> dict[str, Any]:
    """Scores of rows held out."""
    prediction = model.predict(part.X)
    if part.task == REGRESSION:
        found = regression_scores(Evaluated("test", part.y, prediction), 0)
    else:
        shares = model.predict_proba(part.X)
        found = class_scores(Evaluated("test", part.y, prediction, shares, model.classes_), 0)
    return {"n_rows": len(part.y), **{one["key"]: one["value"] for one in found}}


def summary_of(study: Study, recipe: Recipe, context: dict[str, Any]) -> dict[str, Any]:
    """The summary of the model, with the scores of the folds if there are folds."""
    learned, held_out = study.learned, study.held_out
    warnings = list(context.pop("warnings"))
    if study.folds:
        warnings.append(_folds_sentence(study.folds))
    with explained():
        summary = summarize(
            study.trained.model,
            learned.X,
            learned.y,
            X_test=None if held_out is None else held_out.X,
            y_test=None if held_out is None else held_out.y,
            left_out=study.left_out,
            sample_weight=learned.weights,
            target_name=learned.target,
            context={**context, "warnings": warnings},
            random_state=recipe.seed,
        )
    summary["cross_validation"] = plain(study.folds) if study.folds else None
    return summary


def _folds_sentence(folds: list[dict[str, Any]]) -> str:
    key, name = ("r2", "R2") if "r2" in folds[0] else ("accuracy", "accuracy")
    values = np.array([fold[key] for fold in folds if fold[key] is not None], dtype=np.float64)
    if len(values) == 0:
        return f"{len(folds)} parts were held out in turn."
    spread = f", from {values.min():.3f} to {values.max():.3f}" if len(values) > 1 else ""
    return (
        f"Fits that left out one of {len(folds)} parts in turn predicted it with a mean {name} of "
        f"{values.mean():.3f}{spread}; the model of this page has learned from all rows."
    )


def board_of(study: Study, recipe: Recipe, summary: dict[str, Any]) -> dict[str, Any]:
    """Columns of the leaderboard: all candidates, or the one method beside a constant."""
    if recipe.method.name == AUTO:
        frame = study.trained.model.leaderboard_
        return {str(name): frame[name] for name in frame.columns}
    names = [recipe.method.name]
    rows = [{one["key"]: one["value"] for one in (summary["scores"] or {}).get("scores", [])}]
    constant = (summary["scores"] or {}).get("constant")
    if constant is not None:
        names.append(constant["name"])
        rows.append(constant["scores"])
    found: dict[str, Any] = {"candidate": names}
    for key in rows[0]:
        found[key] = [row.get(key) for row in rows]
    found["seconds"] = [study.trained.seconds, *([None] * (len(rows) - 1))]
    return found


def places(problem: Problem) -> IntArray:
    """Rows in the order of time."""
    assert problem.moments is not None
    return np.argsort(problem.moments, kind="stable")

"""A fitted model as a plain summary: numbers and text that JSON can say, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kernlens._execution import single_threaded_blas
from kernlens.inspection.direction_summary import summarize_directions
from kernlens.reporting import directions, responses
from kernlens.reporting.answer import answer_of
from kernlens.reporting.board import leaderboard_of
from kernlens.reporting.data_profile import data_of
from kernlens.reporting.leaks import leaks_of
from kernlens.reporting.plain import plain
from kernlens.reporting.provenance import made_of, model_of
from kernlens.reporting.quality import (
    class_quality,
    evaluated,
    regression_quality,
    scores_of,
)
from kernlens.reporting.subject import (
    CLASSES,
    CLUSTERS,
    COORDINATES,
    REGRESSION,
    Subject,
    kind_of,
    make_subject,
)
from kernlens.reporting.warnings_of_data import warnings_of
from kernlens.reporting.what_if import what_if_of

#: Version of the form of a summary; a page is made from this one only.
FORMAT = 1


def summarize(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    X_test: Any = None,
    y_test: Any = None,
    left_out: Any = None,
    sample_weight: Any = None,
    feature_names: Sequence[str] | None = None,
    target_name: str | None = None,
    context: Mapping[str, Any] | None = None,
    stability: int | None = None,
    random_state: int = 0,
) -> dict[str, Any]:
    """Summarise a fitted model as plain data, ready for JSON and for :func:`render`.

    Parameters
    ----------
    model : fitted estimator of kernlens, or fitted Pipeline that ends with one
        Regressor, classifier, finder of directions, embedding or clustering.
    X : table or array-like of shape (n_samples, n_features)
        Rows it was fitted to.
    y : array-like of shape (n_samples,) or None
        Their targets, if it learned from some.
    X_test, y_test : the same, or None
        Rows it has not seen, which tell how well it predicts. Without them an automatic estimator
        is judged by the rows that its fit left out, as long as it has not been saved and loaded,
        and all others by the rows they learned from, and the page says so.
    left_out : array-like of shape (n_samples,) or (n_samples, n_classes), or None
        Instead of test rows: predictions of the rows of `X` by fits that had not seen them, as
        ``cross_val_predict`` gives them, and probabilities in the order of `classes_` for classes.
        Rows with NaN are not scored.
    sample_weight : array-like of shape (n_samples,) or None
        Weights of the rows of `X`, which scores on them have.
    feature_names : sequence of str or None
        Names of the columns of an array; those of a data frame are known.
    target_name : str or None
        Name of the target; by default that of a Series, or y.
    context : dict or None
        What only the caller knows: ``command``, ``data_file``, ``seed``, ``warnings`` (a list of
        sentences), ``left_out`` (a dict of columns that were not passed on, and why), ``title``
        and ``rows_read``.
    stability : int or None
        Number of resamples that the learner is fitted again to, for intervals of its directions
        (:class:`~kernlens.model_selection.SubspaceStability`). None for no more fits: automatic
        estimators then show how much directions vary between their folds, and others no intervals.
    random_state : int
        Seed of the rows that pictures show and of intervals of scores.

    Returns
    -------
    dict
        With dictionaries, lists, text, finite numbers, truth values and None. ``format`` is the
        version of its form.
    """
    subject = make_subject(
        model,
        X,
        y,
        X_test,
        y_test,
        sample_weight,
        feature_names,
        target_name,
        int(random_state),
        left_out,
    )
    # Hundreds of small products and eigenvalues, for which threads only wait for each other.
    with single_threaded_blas():
        return _summary(subject, context or {}, stability)


def _summary(subject: Subject, context: Mapping[str, Any], stability: int | None) -> dict[str, Any]:
    found = _head(subject, context)
    found |= _columns_and_directions(subject, stability)
    importances = {
        one["name"]: one["importance"] for one in (found["columns"] or {"columns": []})["columns"]
    }
    columns = list(importances) or list(subject.names)
    found["data"] = data_of(subject, importances)
    found["data"]["left_out"] += [
        {"name": name, "why": why} for name, why in dict(context.get("left_out", {})).items()
    ]
    found["leaks"] = leaks_of(subject, columns)
    found |= _predictions(subject, columns)
    found["warnings"] = warnings_of(subject, found) + list(context.get("warnings", []))
    found["answer"] = answer_of(plain(found))
    summary: dict[str, Any] = plain(found)
    return summary


def summarize_head(model: Any) -> dict[str, Any]:
    """The part of a summary that a fitted automatic estimator knows by itself, at once."""
    names = model.table_.columns_.names
    found: dict[str, Any] = {
        "format": FORMAT,
        "title": type(model).__name__,
        "model": model_of(model, kind_of(model)),
        "leaderboard": leaderboard_of(model),
        "scores": None,
        "directions": directions.directions_table(summarize_directions(model), model.stability_),
        "columns": directions.importances_table(names, model.feature_importances_),
        "data": {"target": None},
        "leaks": [],
        "warnings": [],
    }
    found["answer"] = answer_of(plain(found))
    head: dict[str, Any] = plain(found)
    return head


def _head(subject: Subject, context: Mapping[str, Any] | None) -> dict[str, Any]:
    made = made_of(subject.model, context, subject.seed)
    model = model_of(subject.model, subject.kind)
    title = (context or {}).get("title") or (
        f"{model['name']} of {subject.target}" if subject.y is not None else model["name"]
    )
    return {
        "format": FORMAT,
        "title": str(title),
        "model": model,
        "made": made,
        "leaderboard": leaderboard_of(subject.model),
    }


def _columns_and_directions(subject: Subject, stability: int | None) -> dict[str, Any]:
    if subject.kind in (CLUSTERS, COORDINATES):
        return {
            "directions": None,
            "columns": None,
            "agreement": None,
            "coordinates": responses.coordinates_of(subject),
        }
    return {
        "directions": directions.directions_of(subject, stability),
        "columns": directions.columns_table(subject),
        "agreement": directions.agreement_of(subject.model),
        "coordinates": None,
    }


def _predictions(subject: Subject, columns: list[str]) -> dict[str, Any]:
    """Everything that needs predictions."""
    found: dict[str, Any] = dict.fromkeys(
        ("scores", "regression", "classes", "derivatives", "what_if", "surfaces")
    )
    found["profiles"] = None
    if subject.kind in (CLUSTERS, COORDINATES):
        return found
    found["profiles"] = responses.profiles_of(subject)
    rows = evaluated(subject)
    if rows is None:
        return found
    found["scores"] = scores_of(subject, rows)
    if subject.kind == REGRESSION:
        found["regression"] = regression_quality(subject, rows)
    elif subject.kind == CLASSES:
        found["classes"] = class_quality(subject, rows)
    found["surfaces"] = responses.surfaces_of(subject)
    found["derivatives"] = responses.derivatives_of(subject)
    found["what_if"] = what_if_of(subject, columns)
    return found

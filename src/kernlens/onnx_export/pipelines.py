"""Learners, pipelines and automatic estimators, each as what comes before it and what it adds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import PowerTransformer, StandardScaler

from kernlens.base.contract import FeatureLearnerMixin
from kernlens.base.fitting import FittingMixin
from kernlens.model_selection.auto.estimator import BaseAutoLens
from kernlens.model_selection.auto.scores import SMALLEST_PROBABILITY
from kernlens.model_selection.auto.transforms import BEND, ClippedColumns, LogTarget
from kernlens.onnx_export.graph import Graph, Tensor
from kernlens.onnx_export.learners import decision_values
from kernlens.onnx_export.probabilities import most_probable, probabilities_of
from kernlens.onnx_export.tables import prepared_columns

#: Columns are not bent any more beyond this many interquartile ranges.
FARTHEST = 1e150


@dataclass(frozen=True)
class Written:
    """The values of a model in a graph.

    Attributes
    ----------
    values : Tensor
        Predictions (n, n_targets), or scores of classes (n, n_values).
    n_values : int
    classes : ndarray of shape (n_classes,) or None
    label, probabilities : Tensor or None
        Of a classifier.
    """

    values: Tensor
    n_values: int
    classes: Any = None
    label: Tensor | None = None
    probabilities: Tensor | None = None


def written(graph: Graph, model: Any, rows: Tensor) -> Written:
    """The prediction of a model at rows in the units of the user."""
    if isinstance(model, Pipeline):
        for _, step in model.steps[:-1]:
            rows = _transformed(graph, step, rows)
        return written(graph, model.steps[-1][1], rows)
    if isinstance(model, BaseAutoLens):
        return _automatic(graph, model, rows)
    if isinstance(model, TransformedTargetRegressor):
        inner = written(graph, model.regressor_, rows)
        return Written(_undone(model.transformer_, inner.values), inner.n_values)
    if not (isinstance(model, FittingMixin) and hasattr(model, "predict")):
        raise ValueError(
            "to_onnx writes regressors and classifiers of kernlens, and pipelines that end with "
            f"one; {type(model).__name__} is none."
        )
    scores = decision_values(graph, model, rows)
    n_values = len(model._target_mean)
    if not is_classifier(model):
        return Written(scores, n_values)
    return _classes_of(graph, scores, n_values, model.classes_)


def _classes_of(graph: Graph, scores: Tensor, n_values: int, classes: Any) -> Written:
    return Written(
        scores,
        n_values,
        classes,
        most_probable(graph, scores, classes),
        probabilities_of(graph, scores, len(classes)),
    )


def _transformed(graph: Graph, step: Any, rows: Tensor) -> Tensor:
    """Rows after a step of a pipeline."""
    if step is None or isinstance(step, str):
        return rows
    if isinstance(step, Pipeline):
        for _, one in step.steps:
            rows = _transformed(graph, one, rows)
        return rows
    if type(step) is StandardScaler:
        rows = rows - step.mean_ if step.with_mean else rows
        return rows / step.scale_ if step.with_std else rows
    if type(step) is ClippedColumns:
        # Squares of larger numbers overflow; so far out the bent value is the same.
        z = ((rows - step.middle_) / step.spread_).clip(-FARTHEST, FARTHEST)
        return z / ((z / BEND).square() + 1.0).sqrt()
    if isinstance(step, FeatureLearnerMixin) and not isinstance(step, BaseAutoLens):
        if not step.n_directions_:
            raise ValueError(f"{type(step).__name__} found no direction: nothing comes after it.")
        limit = float(np.finfo(np.float64).max) / (2 * len(step.mean_))
        return ((rows - step.mean_) / step.scale_).clip(-limit, limit) @ step.loadings_.T
    raise ValueError(
        "to_onnx writes pipelines of StandardScaler and of directions of kernlens; "
        f"{type(step).__name__} is neither: apply it before, and export the steps after it."
    )


def _automatic(graph: Graph, model: Any, rows: Tensor) -> Written:
    """The mean of the members of a stack, within its bounds or sharpened."""
    rows = prepared_columns(graph, model.table_, rows)
    shares = [float(share) for share in model.member_weights_]
    if not is_classifier(model):
        parts = [
            share * written(graph, one, rows).values
            for share, one in zip(shares, model.members_, strict=True)
        ]
        return Written((graph.total(parts) + model.shift_).clip(*model.bounds_), 1)
    n_classes = len(model.classes_)
    parts = [
        share * _of_all_classes(graph, written(graph, one, rows), n_classes)
        for share, one in zip(shares, model.members_, strict=True)
    ]
    raised = graph.total(parts).at_least(SMALLEST_PROBABILITY) ** model.sharpness_
    probabilities = raised / raised.sum()
    scores = probabilities.at_least(float(np.finfo(np.float64).tiny)).log()
    label = most_probable(graph, probabilities, model.classes_) if n_classes > 2 else None
    if label is None:
        scores = scores.column(1) - scores.column(0)
        label = most_probable(graph, scores, model.classes_)
    return Written(scores, 1 if n_classes == 2 else n_classes, model.classes_, label, probabilities)


def _of_all_classes(graph: Graph, member: Written, n_classes: int) -> Tensor:
    """Probabilities of all classes from a member that may not have seen some."""
    assert member.probabilities is not None
    if len(member.classes) == n_classes:
        return member.probabilities
    places = np.zeros((len(member.classes), n_classes))
    places[np.arange(len(member.classes)), np.asarray(member.classes).astype(np.intp)] = 1.0
    return member.probabilities @ places


def _undone(transformer: Any, values: Tensor) -> Tensor:
    """Targets before a transformer that the automatic regressor may use."""
    if isinstance(transformer, LogTarget):
        return values.exp()
    if type(transformer) is PowerTransformer and transformer.method == "yeo-johnson":
        if transformer.standardize:
            scaler = transformer._scaler
            values = values * scaler.scale_ + scaler.mean_
        return _yeo_johnson_undone(values, float(transformer.lambdas_[0]))
    raise ValueError(f"to_onnx cannot write down targets of {type(transformer).__name__}.")


def _yeo_johnson_undone(values: Tensor, power: float) -> Tensor:
    """The inverse of the Yeo-Johnson transformation."""
    up, down = values.at_least(0.0), values.at_most(0.0)
    # The two sides are one function, of the powers p and 2 - p.
    return (values > 0.0).where(_power_undone(up, power), -_power_undone(-down, 2.0 - power))


def _power_undone(size: Tensor, power: float) -> Tensor:
    grown = size.exp() if power == 0.0 else (size * power + 1.0) ** (1.0 / power)
    return grown - 1.0

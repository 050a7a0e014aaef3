"""The feature learner at the end of a pipeline, and what the steps before it pass on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from kernlens.base.contract import FeatureLearnerMixin
from kernlens.base.names import resolve_feature_names


@dataclass(frozen=True, eq=False)
class Unwrapped:
    """A fitted model with what reaches it.

    Attributes
    ----------
    model : fitted feature learner
        The last step, or the model itself where there is no pipeline; an automatic estimator for
        rows that are prepared.
    rows : array-like of shape (n_samples, n_inputs) or None
        X after the steps before; None if none was given.
    feature_names : tuple of str, n_inputs of them
        Names after the steps before.
    """

    model: Any
    rows: Any
    feature_names: tuple[str, ...]


def unwrap(model: Any, X: Any = None, *, feature_names: Sequence[str] | None = None) -> Unwrapped:
    """Take a fitted model out of its pipeline, if it is in one.

    Parameters
    ----------
    model : fitted feature learner, or fitted Pipeline that ends with one
    X : array-like of shape (n_samples, n_features) or None
        Rows as they are passed to `model`.
    feature_names : sequence of str or None
        Names of these columns; by default those seen in `fit`, or x0, x1, ...
    """
    while isinstance(model, Pipeline):
        before, last = model[:-1], model.steps[-1][1]
        if not isinstance(last, FeatureLearnerMixin | Pipeline):
            raise ValueError(
                "A pipeline must end with a feature learner of kernlens, but this one ends with "
                f"{last if isinstance(last, str) else type(last).__name__}."
            )
        # A pipeline of one step has nothing before it, and an empty one transforms nothing.
        if len(before.steps) > 0:
            X = None if X is None else before.transform(X)
            feature_names = _names_after(before, feature_names)
        model = last
    check_is_fitted(model)
    if hasattr(model, "_for_prepared_rows"):
        # An automatic estimator has its pipeline inside.
        X = None if X is None else model.table_.transform(X)
        feature_names = model.table_.get_feature_names_out(feature_names).tolist()
        model = model._for_prepared_rows()
    return Unwrapped(model, X, resolve_feature_names(model, feature_names))


def _names_after(before: Pipeline, feature_names: Sequence[str] | None) -> Sequence[str] | None:
    """Names that come out of steps; where the steps know none, those that were given."""
    try:
        named: Sequence[str] = before.get_feature_names_out(feature_names)
    except (AttributeError, TypeError, ValueError):
        # A step without `get_feature_names_out`, or names that are no names of its columns.
        return feature_names
    return named

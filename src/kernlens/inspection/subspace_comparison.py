"""How far the subspaces that several models found agree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from kernlens._array import FloatArray, IntArray
from kernlens._table import Table
from kernlens.base.tabular import Tabular
from kernlens.inspection._unwrapped import unwrap
from kernlens.metrics import principal_angles


@dataclass(frozen=True, repr=False)
class SubspaceComparison(Tabular):
    """Angles between the subspaces of several models: prints as a table, see also `to_frame`.

    Attributes
    ----------
    names : tuple of str
        Of the models.
    n_directions : ndarray of shape (n_models,)
        Directions of every model.
    largest_angles : ndarray of shape (n_models, n_models)
        Largest principal angle between two subspaces, in degrees: 0 if one contains the other, 90
        if a direction of the smaller one is orthogonal to the larger; NaN without a direction.
    agreement : ndarray of shape (n_models, n_models)
        Mean squared cosine of the principal angles, between 0 and 1; NaN without a direction.
    """

    names: tuple[str, ...]
    n_directions: IntArray
    largest_angles: FloatArray
    agreement: FloatArray

    def _table(self) -> Table:
        return Table(
            ["n_directions", *(f"to {name}" for name in self.names)],
            [self.n_directions, *self.largest_angles],
            self.names,
            caption="Largest angle between subspaces, in degrees",
        )


def compare_subspaces(
    models: Sequence[Any] | Mapping[str, Any], names: Sequence[str] | None = None
) -> SubspaceComparison:
    """Compare what several models found on the same columns.

    Directions are compared as loadings, for columns divided by the scale of the first model. All
    models must have seen the same columns in the same units, whichever these are.

    Parameters
    ----------
    models : sequence of fitted models, or dict of str to fitted model
        Feature learners, pipelines that end with one, or any objects with ``components_`` of shape
        (n_directions, n_features).
    names : sequence of str or None
        One for every model; by default the keys, or the names of the classes.

    Returns
    -------
    SubspaceComparison

    Raises
    ------
    ValueError
        If there are fewer than two models, a model is not fitted, or their columns or the names of
        these differ.
    """
    if isinstance(models, Mapping):
        names = list(models) if names is None else names
        models = list(models.values())
    if not isinstance(models, Iterable):
        raise ValueError("compare_subspaces needs a list or a dict of models, got one model.")
    models = list(models)
    if len(models) < 2:
        raise ValueError(f"compare_subspaces needs at least two models, got {len(models)}.")
    known = _names(models, names)
    models = [unwrap(one).model if isinstance(one, Pipeline) else one for one in models]
    bases = _bases(models, known)
    angles = np.zeros((len(models), len(models)))
    agreement = np.ones_like(angles)
    for i, j in zip(*np.triu_indices(len(bases), 1), strict=True):
        if len(bases[i]) and len(bases[j]):
            between = principal_angles(bases[i], bases[j])
            angles[i, j] = angles[j, i] = np.degrees(between[-1])
            agreement[i, j] = agreement[j, i] = np.mean(np.cos(between) ** 2)
    nothing = np.array([len(rows) == 0 for rows in bases])
    for matrix in (angles, agreement):
        matrix[nothing] = matrix[:, nothing] = np.nan
    return SubspaceComparison(known, np.array([len(rows) for rows in bases]), angles, agreement)


def _names(models: Sequence[Any], names: Sequence[str] | None) -> tuple[str, ...]:
    if names is None:
        classes = [type(model).__name__ for model in models]
        return tuple(
            name if classes.count(name) == 1 else f"{name} {classes[: place + 1].count(name)}"
            for place, name in enumerate(classes)
        )
    if isinstance(names, str) or len(names) != len(models):
        raise ValueError(
            f"names must have one name for each of the {len(models)} models, got {names!r}."
        )
    return tuple(str(name) for name in names)


def _bases(models: Sequence[Any], names: Sequence[str]) -> list[FloatArray]:
    bases = []
    for model, name in zip(models, names, strict=True):
        components = np.asarray(getattr(model, "components_", None), dtype=object)
        if components.ndim != 2:
            raise ValueError(f"{name} has no components_; fit it first, or give a feature learner.")
        bases.append(components.astype(np.float64))
    n_features = {rows.shape[1] for rows in bases}
    if len(n_features) > 1:
        raise ValueError(
            f"All models must have the same columns, got models of {sorted(n_features)} columns."
        )
    columns = {tuple(one.feature_names_in_) for one in models if hasattr(one, "feature_names_in_")}
    if len(columns) > 1:
        raise ValueError(
            "All models must have the same columns in the same order, got models of differently "
            "named columns; fit them to the same table."
        )
    scale = np.asarray(getattr(models[0], "scale_", 1.0))
    return [rows * scale for rows in bases]

"""A fitted model as a graph of ONNX, which runs without Python."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from kernlens._atomic import replacing
from kernlens.onnx_export.graph import Graph, Tensor
from kernlens.onnx_export.pipelines import Written, written


def to_onnx(model: BaseEstimator, path: str | os.PathLike[str] | None = None) -> Any:
    """Write the prediction of a fitted model as a graph of ONNX, for runtimes without Python.

    Parameters
    ----------
    model : fitted estimator
        A regressor or classifier of kernlens, `AutoLensRegressor` or `AutoLensClassifier` on a
        table of numbers, or a pipeline of scalers and directions of kernlens that ends with one.
    path : str, path-like or None
        A file to write, ``.onnx`` by custom; it is whole or not there. None writes none.

    Returns
    -------
    onnx.ModelProto
        It takes rows ``X`` (n, n_features) of float64. A regressor gives ``variable``
        (n, n_targets); a classifier gives ``label`` (n,), ``probabilities`` (n, n_classes) and
        ``scores``, the values of `decision_function`, (n, 1) for two classes.

    Raises
    ------
    ImportError
        Without the package onnx: ``python -m pip install onnx``.
    ValueError
        If the model has parts of your own, text or dates among its columns, or steps of other
        packages.

    Notes
    -----
    Predictions equal those of the model to seven digits at least, also far from all rows. Rows of
    float32 must be converted first. Rows are not looked at: NaN gives NaN where the model refuses.

    Examples
    --------
    >>> import numpy as np
    >>> import kernlens
    >>> X = np.random.default_rng(0).standard_normal((50, 3))
    >>> model = kernlens.RKHSWeightingRegressor(random_state=0).fit(X, X[:, 0])
    >>> [output.name for output in kernlens.to_onnx(model).graph.output]
    ['variable']
    """
    if not isinstance(model, BaseEstimator):
        raise ValueError(f"kernlens.to_onnx takes an estimator, and got {type(model).__name__}.")
    check_is_fitted(model)
    graph = Graph()
    found = written(graph, model, graph.input())
    made = graph.model(_outputs(graph, found, is_classifier(model)), _n_columns(model))
    if path is not None:
        with replacing(Path(path)) as part:
            part.write_bytes(made.SerializeToString())
    return made


def _n_columns(model: Any) -> int:
    """Columns that a model takes; the first steps of a pipeline may know nothing of them."""
    if not isinstance(model, Pipeline):
        return int(model.n_features_in_)
    return next(_n_columns(step) for _, step in model.steps if hasattr(step, "n_features_in_"))


def _outputs(graph: Graph, found: Written, classifier: bool) -> list[tuple[str, Tensor, Any, Any]]:
    """Names, values, types and shapes of what the graph gives."""
    kinds = graph.onnx.TensorProto
    if not classifier:
        return [("variable", found.values, kinds.DOUBLE, [None, found.n_values])]
    assert found.label is not None and found.probabilities is not None
    dtype = np.asarray(found.classes).dtype
    kind = {"i": kinds.INT64, "u": kinds.INT64, "f": kinds.DOUBLE, "b": kinds.BOOL}
    return [
        ("label", found.label, kind.get(dtype.kind, kinds.STRING), [None]),
        ("probabilities", found.probabilities, kinds.DOUBLE, [None, len(found.classes)]),
        ("scores", found.values, kinds.DOUBLE, [None, found.n_values]),
    ]

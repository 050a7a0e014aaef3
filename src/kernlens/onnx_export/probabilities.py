"""From scores to probabilities, and to labels of any kind."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernlens.onnx_export.graph import Graph, Tensor


def probabilities_of(graph: Graph, scores: Tensor, n_classes: int) -> Tensor:
    """Softmax of scores (n, n_classes), or of log-odds (n, 1) of the second of two classes."""
    if n_classes == 2:
        scores = graph.concatenated([0.0 * scores, scores])
    return graph.apply("Softmax", scores, axis=1)


def most_probable(graph: Graph, scores: Tensor, classes: Any) -> Tensor:
    """Labels (n,) of the largest score, or of positive log-odds."""
    if len(classes) == 2:
        scores = graph.concatenated([0.0 * scores, scores])
    winners = graph.apply("ArgMax", scores, axis=1, keepdims=0)
    return graph.apply("Gather", label_constant(graph, classes), winners, axis=0)


def label_constant(graph: Graph, classes: Any) -> Tensor:
    """The labels, as whole numbers, numbers, truth values or text."""
    labels = np.asarray(classes)
    if labels.dtype.kind in "iu":
        return graph.constant(labels.astype(np.int64))
    if labels.dtype.kind in "fbU":
        return graph.constant(labels)
    if labels.dtype.kind == "O" and all(isinstance(one, str) for one in labels.tolist()):
        return graph.constant(labels.astype(str))
    raise ValueError(
        f"to_onnx writes labels that are numbers, truth values or text, not {labels.dtype}."
    )

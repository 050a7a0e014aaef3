"""The columns of a table of numbers as the automatic estimators prepare them."""

from __future__ import annotations

import numpy as np

from kernlens.onnx_export.graph import Graph, Tensor
from kernlens.tables.preprocessor import TablePreprocessor

#: What is larger is infinite, and counts as missing.
LARGEST = float(np.finfo(np.float64).max)


def prepared_columns(graph: Graph, table: TablePreprocessor, rows: Tensor) -> Tensor:
    """Numbers with gaps filled in, and the columns that say where gaps were."""
    present = graph.apply("LessOrEqual", rows.abs(), LARGEST)
    if table.identity_:
        return present.where(rows, table._middle)
    parts, n_used = [], 0
    for place, (name, plan) in enumerate(zip(table._names, table._plans, strict=True)):
        if plan["how"] == "drop":
            continue
        if plan["how"] != "number":
            raise ValueError(
                f"to_onnx writes tables of numbers only, and column {name!r} is {plan['kind']}; "
                "prepare the table with TablePreprocessor, and fit the model to its numbers."
            )
        here = graph.apply("Gather", present, np.array([place]), axis=1)
        if plan["n_levels"] > 1 or not plan["indicator"]:
            parts.append(here.where(rows.column(place), float(table._middle[n_used])))
        if plan["indicator"]:
            parts.append(here.where(0.0 * here.where(rows.column(place), 0.0), 1.0))
        n_used += 1
    columns = graph.concatenated(parts)
    if table._strong is None:
        return columns
    return graph.apply("Gather", columns, table._strong, axis=1)

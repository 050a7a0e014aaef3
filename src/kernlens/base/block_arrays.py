"""What `fit` does first with a table in blocks, and what says that it takes none."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from kernlens.blocks.table import BlockTable


def remember_columns(estimator: Any, table: BlockTable) -> None:
    """Set `n_features_in_`, and `feature_names_in_` if the table has names."""
    estimator.n_features_in_ = table.n_features
    estimator.__dict__.pop("feature_names_in_", None)
    if table.names is not None:
        estimator.feature_names_in_ = np.array(table.names, dtype=object)


def refuse_blocks(
    name: str, advice: str = "pass arrays of as many rows as fit in memory"
) -> NoReturn:
    """Refuse a table in blocks where nobody learns from one."""
    raise ValueError(f"{name} does not learn from blocks of rows or Dask collections; {advice}.")

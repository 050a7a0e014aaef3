"""Names that targets bring along."""

from __future__ import annotations

from typing import Any


def target_names(y: Any) -> tuple[str, ...] | None:
    """Names of the targets of a pandas or polars Series or DataFrame, or None if they have none."""
    columns = getattr(y, "columns", None)
    names: list[Any] = [getattr(y, "name", None)] if columns is None else list(columns)
    # Numbers count columns and say nothing; polars calls a series without a name "".
    if all(isinstance(name, str) and name for name in names):
        return tuple(names)
    return None

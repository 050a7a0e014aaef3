"""The one place that imports pandas, and only when something asks for it: it takes its time."""

from __future__ import annotations

from typing import Any


def import_pandas() -> Any:
    """Return the module, or say what to install."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            "A data frame needs pandas, which is not installed: python -m pip install pandas."
        ) from error
    return pandas

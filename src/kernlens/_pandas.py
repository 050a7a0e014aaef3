"""The one place that imports pandas, which is no dependency of the package."""

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

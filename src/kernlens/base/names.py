"""Names of the columns of X."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def resolve_feature_names(
    model: Any, feature_names: Sequence[str] | None = None
) -> tuple[str, ...]:
    """Names given by the caller, else those seen in `fit`, else x0, x1, ..."""
    n_features = int(model.n_features_in_)
    if feature_names is None:
        feature_names = getattr(model, "feature_names_in_", None)
    if feature_names is None:
        return tuple(f"x{column}" for column in range(n_features))
    if len(feature_names) != n_features:
        raise ValueError(
            f"feature_names has {len(feature_names)} names, but the model was fitted on "
            f"{n_features} columns: pass one name per column."
        )
    return tuple(str(name) for name in feature_names)

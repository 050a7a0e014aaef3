"""How a page was made: the model with its settings, versions, and what only the caller knows."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from typing import Any

import numpy
import scipy
import sklearn

from kernlens._version import __version__

#: Letters of a setting that the page shows.
LONGEST = 200
#: What a caller may say of a page.
KNOWN = ("command", "data_file", "seed", "warnings", "left_out", "title", "rows_read")


def model_of(model: Any, kind: str) -> dict[str, Any]:
    """Name, steps, settings and end of the fit."""
    steps = [type(step).__name__ for _, step in getattr(model, "steps", [])]
    last = model.steps[-1][1] if steps else model
    settings = last.get_params(deep=False)
    return {
        "name": type(last).__name__,
        "steps": steps,
        "kind": kind,
        "status": getattr(last, "status_", None),
        "seconds": getattr(last, "seconds_", None),
        "explanation": getattr(last, "explanation_", None),
        "settings": [
            {"name": name, "value": _shown(value)} for name, value in sorted(settings.items())
        ],
    }


def made_of(model: Any, context: Mapping[str, Any] | None, seed: int) -> dict[str, Any]:
    """Versions, the seeds and what the caller has said."""
    said = dict(context or {})
    unknown = sorted(set(said) - set(KNOWN))
    if unknown:
        raise ValueError(
            f"context has {', '.join(map(repr, unknown))}, which a page has no place for; it knows "
            f"{', '.join(KNOWN)}."
        )
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    own = last.get_params(deep=False).get("random_state")
    if "seed" not in said and isinstance(own, int | numpy.integer):
        said["seed"] = int(own)
    return {
        "command": said.get("command"),
        "data_file": said.get("data_file"),
        "seed": said.get("seed"),
        "page_seed": seed,
        "rows_read": said.get("rows_read"),
        "versions": {
            "kernlens": __version__,
            "python": platform.python_version(),
            "numpy": numpy.__version__,
            "scipy": scipy.__version__,
            "scikit-learn": sklearn.__version__,
        },
    }


def _shown(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"

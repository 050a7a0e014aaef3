"""What a choice of alpha saw."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from kernlens._array import FloatArray
from kernlens.base.search import SearchRecord


@dataclass(frozen=True)
class AlphaSearch:
    """Held-out loss of every alpha that was tried.

    Attributes
    ----------
    alphas, losses : ndarray of shape (n_tried,)
        In increasing order of alpha.
    chosen : float
        The alpha of the fit.
    """

    alphas: FloatArray
    losses: FloatArray
    chosen: float


def alpha_search(model: Any) -> AlphaSearch | None:
    """Return the curve of an alpha that was chosen, or None if it was given.

    Parameters
    ----------
    model : fitted feature learner
        With `alpha_`, and with `alpha_search_` if alpha was chosen automatically or from a list.

    Returns
    -------
    AlphaSearch or None
    """
    tried = getattr(model, "alpha_search_", None)
    if tried is not None and "alpha" in tried.get("searched", ()):
        return _curve_of_record(model, SearchRecord.of_dict(tried))
    # alpha_search_ of an earlier fit stays on a model that is fitted again with a given alpha.
    if tried is None or not isinstance(model.alpha, str) or len(tried["alpha"]) == 0:
        return None
    # Other parameters may have been searched with alpha: the curve is that of the chosen ones.
    for name in {"n_components", "rho", "instantiation", "correlation"} & set(tried):
        same = np.asarray(tried[name]) == getattr(model, f"{name}_")
        tried = {key: np.asarray(values)[same] for key, values in tried.items()}
    alphas, losses = np.asarray(tried["alpha"]), np.asarray(tried["loss"])
    if len(alphas) == 0:
        return None
    order = np.argsort(alphas)
    return AlphaSearch(
        alphas=alphas[order],
        losses=losses[order],
        chosen=float(model.alpha_),
    )


def _curve_of_record(model: Any, record: SearchRecord) -> AlphaSearch | None:
    """The other settings of the curve are the chosen ones; a given alpha was only approached."""
    if isinstance(model.alpha, Real) or len(record.losses) == 0:
        return None
    return AlphaSearch(*record.curve("alpha"), chosen=float(model.alpha_))

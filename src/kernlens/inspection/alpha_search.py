"""What a choice of alpha saw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernlens._array import FloatArray
from kernlens.base.search import SearchRecord


@dataclass(frozen=True)
class AlphaSearch:
    """Held-out loss of every alpha that was tried.

    Attributes
    ----------
    alphas, losses : ndarray of shape (n_tried,)
        In increasing order of alpha. Other settings that were searched with alpha are those that
        were chosen.
    chosen : float
        The alpha of the fit. It may lie between two values that were tried.
    """

    alphas: FloatArray
    losses: FloatArray
    chosen: float


def alpha_search(model: Any) -> AlphaSearch | None:
    """Return the curve that alpha was chosen from, or None if there was nothing to choose.

    Parameters
    ----------
    model : fitted feature learner
        With `alpha_`, and with `alpha_search_` if several values were compared.

    Returns
    -------
    AlphaSearch or None
    """
    check_is_fitted(model)
    tried = getattr(model, "alpha_search_", None)
    if tried is None or len(tried["loss"]) == 0:
        return None
    alphas, losses = SearchRecord.of_dict(tried).curve("alpha")
    # A setting that could not be scored has no place on the curve.
    scored = np.isfinite(losses)
    if np.count_nonzero(scored) < 2:
        return None
    return AlphaSearch(alphas[scored], losses[scored], float(model.alpha_))

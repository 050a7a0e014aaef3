"""What a choice of alpha saw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernlens._array import FloatArray
from kernlens._table import Table, significant
from kernlens.base.search import SearchRecord
from kernlens.base.tabular import Tabular
from kernlens.inspection._unwrapped import unwrap


@dataclass(frozen=True, repr=False)
class AlphaSearch(Tabular):
    """Held-out loss of every alpha that was tried: prints as a table, see also `to_frame`.

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

    def _table(self) -> Table:
        return Table(
            ["alpha", "loss"],
            [self.alphas, self.losses],
            caption=f"Held-out loss; chosen alpha: {significant(self.chosen)}",
            spread=True,
        )


def alpha_search(model: Any) -> AlphaSearch | None:
    """Return the curve that alpha was chosen from, or None if there was nothing to choose.

    Parameters
    ----------
    model : fitted feature learner, or fitted Pipeline that ends with one
        With `alpha_`, and with `alpha_search_` if several values were compared.

    Returns
    -------
    AlphaSearch or None
    """
    model = unwrap(model).model
    tried = getattr(model, "alpha_search_", None)
    if tried is None or len(tried["loss"]) == 0:
        return None
    alphas, losses = SearchRecord.of_dict(tried).curve("alpha")
    # A setting that could not be scored has no place on the curve.
    scored = np.isfinite(losses)
    if np.count_nonzero(scored) < 2:
        return None
    return AlphaSearch(alphas[scored], losses[scored], float(model.alpha_))

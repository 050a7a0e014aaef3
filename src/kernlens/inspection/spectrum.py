"""How much every direction counts, and where they end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernlens._array import FloatArray
from kernlens._table import Table
from kernlens.base.tabular import Tabular
from kernlens.inspection._unwrapped import unwrap


@dataclass(frozen=True, repr=False)
class Spectrum(Tabular):
    """Eigenvalues, or importances of directions: prints as a table, see also `to_frame`.

    Attributes
    ----------
    values : ndarray of shape (n_values,)
        In the order of the directions.
    n_directions : int
        How many of them the model keeps.
    name : str
        What they are: ``"eigenvalue"`` or ``"importance"``.
    """

    values: FloatArray
    n_directions: int
    name: str

    def _table(self) -> Table:
        numbers = np.arange(1, len(self.values) + 1)
        kept = ["yes" if number <= self.n_directions else "no" for number in numbers]
        return Table(["number", self.name, "kept"], [numbers, self.values, kept])


def spectrum(model: Any) -> Spectrum:
    """Values that say how much the directions of a fitted model count.

    Parameters
    ----------
    model : fitted feature learner, or fitted Pipeline that ends with one
        Its `eigenvalues_`, if it has some: those of the directions that it does not keep as well,
        and of the functions of :class:`~kernlens.KernelLaplacianEmbedding`. Else its
        `component_importances_`.

    Returns
    -------
    Spectrum

    Examples
    --------
    >>> import numpy as np
    >>> from kernlens import SIR
    >>> from kernlens.inspection import spectrum
    >>> X = np.random.default_rng(0).normal(size=(200, 4))
    >>> found = spectrum(SIR(n_directions=1).fit(X, X[:, 0] ** 3))
    >>> found.name, len(found.values), found.n_directions
    ('eigenvalue', 4, 1)
    """
    inner = unwrap(model).model
    eigenvalues = getattr(inner, "eigenvalues_", None)
    if eigenvalues is None:
        importances = np.asarray(inner.component_importances_, dtype=np.float64)
        return Spectrum(importances, len(importances), "importance")
    values = np.asarray(eigenvalues, dtype=np.float64)
    return Spectrum(values, int(getattr(inner, "n_directions_", len(values))), "eigenvalue")

"""How the objective fell during a fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernlens._array import FloatArray
from kernlens._table import Table
from kernlens.base.tabular import Tabular
from kernlens.inspection._unwrapped import unwrap


@dataclass(frozen=True, repr=False)
class Convergence(Tabular):
    """The objective of every iteration: prints as a table, see also `to_frame`.

    Attributes
    ----------
    objective : ndarray of shape (n_values,)
        Along the last stage of the fit.
    status : str
        How the fit ended.
    """

    objective: FloatArray
    status: str

    def _table(self) -> Table:
        return Table(
            ["iteration", "objective"],
            [np.arange(len(self.objective)), self.objective],
            caption=f"The fit {self.status}",
            spread=True,
        )


def convergence(model: Any) -> Convergence:
    """Return the objective of a fitted model along the iterations of its fit.

    Parameters
    ----------
    model : fitted feature learner, or fitted Pipeline that ends with one
        With `objective_history_` of two values at least. Direct solves have none, and automatic
        estimators are made of `members_` that have.

    Returns
    -------
    Convergence

    Examples
    --------
    >>> import numpy as np
    >>> from kernlens import BKerNNRegressor
    >>> from kernlens.inspection import convergence
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> model = BKerNNRegressor(alpha=0.1, n_particles=5, random_state=0).fit(X, X[:, 0])
    >>> bool(np.all(np.diff(convergence(model).objective) <= 0))
    True
    """
    inner = unwrap(model).model
    name = type(inner).__name__
    if hasattr(inner, "members_"):
        raise ValueError(f"{name} has no objective of its own; look at one of its members_.")
    history = np.asarray(getattr(inner, "objective_history_", ()), dtype=np.float64)
    if len(history) < 2:
        raise ValueError(
            f"This {name} was solved directly, without iterations: there is no objective to follow."
        )
    return Convergence(history, str(inner.status_))

"""What a fit will need, before it begins: memory by the formulas of the documentation, and time.

A family says both for a :class:`FitShape`. A fit that does not fit into memory is refused with a
change that would.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from copy import copy
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar

import numpy as np
from sklearn.base import is_classifier

from kernlens._execution import single_threaded_blas
from kernlens._validation import check_count
from kernlens.base.fit_data import FitData, Memory

#: Processor seconds of `_short_work` on the machine whose seconds the families' formulas have.
REFERENCE_SECONDS = 0.024
#: Rows and columns of the matrices of that work, and how many there are.
WORK_SIZE, WORK_TIMES = 400, 10
#: Rows are named as a multiple of a power of ten.
DIGITS = 2


@dataclass(frozen=True)
class FitShape:
    """How large a fit is.

    Attributes
    ----------
    n_rows : int
    n_columns : int
        Inputs of the learner.
    n_targets : int
        Functions that are fitted together: one for two classes.
    quadratic : bool
        Whether the loss is the squared one.
    n_table : int or None
        Rows of the table in blocks that the rows are a sample of; None where they are all.
    """

    n_rows: int
    n_columns: int
    n_targets: int = 1
    quadratic: bool = True
    n_table: int | None = None

    @classmethod
    def of(cls, data: FitData) -> FitShape:
        """That of a fit which is about to begin."""
        n_rows, n_columns = data.rows.X.shape
        n_table = None if data.found is None else data.n_rows
        return cls(n_rows, n_columns, len(data.rows.y), data.loss.quadratic, n_table)

    @property
    def n_all(self) -> int:
        """Number of all rows, of which the fit holds `n_rows` at once."""
        return self.n_rows if self.n_table is None else self.n_table


class EstimatesMixin:
    """Memory and time of a fit, from its shape and the parameters."""

    #: Parameters that take less memory, the ones that cost least accuracy first.
    _thrifty: ClassVar[tuple[dict[str, Any], ...]] = ()

    @abstractmethod
    def _memory_for(self, shape: FitShape) -> Memory:
        """What a fit needs, by the formula of the documentation."""

    @abstractmethod
    def _seconds_for(self, shape: FitShape) -> float:
        """What a fit takes of one core of the reference machine, about."""

    def _n_inputs(self, n_features: int) -> int:
        """Inputs of the learner for so many columns that vary."""
        return n_features

    def _shape_for(self, n_samples: int, n_features: int, n_targets: int | None) -> FitShape:
        for name, value in (("n_samples", n_samples), ("n_features", n_features)):
            check_count(name, value)
        classes = is_classifier(self)
        if n_targets is None:
            n_targets = 2 if classes else 1
        check_count("n_targets", n_targets)
        functions = 1 if classes and n_targets <= 2 else int(n_targets)
        return FitShape(int(n_samples), self._n_inputs(int(n_features)), functions, not classes)

    def estimate_memory(
        self, n_samples: int, n_features: int, n_targets: int | None = None
    ) -> float:
        """Memory that `fit` needs for rows in memory, beside these rows.

        By the formula of the documentation of the class, with the parameters as they are. `fit`
        refuses what needs more than the process may use, by the same formula.

        Parameters
        ----------
        n_samples : int
            Rows.
        n_features : int
            Columns, all of which vary.
        n_targets : int or None, default=None
            Targets, or classes of a classifier; None for one target, or two classes.

        Returns
        -------
        float
            Bytes.
        """
        return float(self._memory_for(self._shape_for(n_samples, n_features, n_targets)).n_bytes)

    def estimate_seconds(
        self, n_samples: int, n_features: int, n_targets: int | None = None
    ) -> float:
        """Time that `fit` takes on one core, roughly: searches end sooner or later than that.

        A number of operations times constants that were measured once, for noisy targets of three
        columns, scaled by a short timing of this machine. Nine in ten of those fits were within a
        factor of three; those whose searches are longer or shorter are not. Several cores are
        faster.

        Parameters
        ----------
        n_samples : int
            Rows.
        n_features : int
            Columns.
        n_targets : int or None, default=None
            Targets, or classes of a classifier; None for one target, or two classes.

        Returns
        -------
        float
            Seconds.
        """
        shape = self._shape_for(n_samples, n_features, n_targets)
        return float(self._seconds_for(shape)) * slowness()

    def _advice(self, shape: FitShape, limit: float) -> str:
        """What to do about a fit that needs more than `limit` bytes: what would fit, by name."""
        general = self._memory_for(shape).advice
        found = self._smaller_parameters(shape, limit) or self._fewer_rows(shape, limit)
        blocks = getattr(self, "_learns_from_blocks", False)
        apart = "; RowBlocks and Dask collections are read block by block" if blocks else ""
        return f"{general}{found}{apart}"

    def _smaller_parameters(self, shape: FitShape, limit: float) -> str:
        for change in self._thrifty:
            model = copy(self)
            vars(model).update(change)
            n_bytes = model._memory_for(shape).n_bytes
            if n_bytes <= limit:
                named = ", ".join(f"{name}={value!r}" for name, value in change.items())
                return f": {named} needs about {n_bytes / 2**30:.1f} GiB"
        return ""

    def _fewer_rows(self, shape: FitShape, limit: float) -> str:
        """The largest number of rows that fit, which memory grows with."""
        fits, too_many = 0, shape.n_rows
        while too_many - fits > 1:
            middle = (fits + too_many) // 2
            if self._memory_for(replace(shape, n_rows=middle)).n_bytes <= limit:
                fits = middle
            else:
                too_many = middle
        unit = 10 ** max(0, len(str(fits)) - DIGITS)
        return f": {fits // unit * unit} rows fit" if fits > 1 else ""


@cache
def slowness() -> float:
    """How much longer this machine takes than the reference, by a few products of matrices."""
    _short_work()
    return max(0.05, min(_short_work() for _ in range(3)) / REFERENCE_SECONDS)


def _short_work() -> float:
    """Processor seconds of products and exponentials."""
    numbers = np.linspace(-1.0, 1.0, WORK_SIZE**2).reshape(WORK_SIZE, WORK_SIZE)
    with single_threaded_blas():
        begin = time.thread_time()
        for _ in range(WORK_TIMES):
            np.exp(-np.abs(numbers @ numbers.T))
        return time.thread_time() - begin

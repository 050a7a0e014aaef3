"""A linear part beside what a family learns, if held-out rows want one."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import asdict, fields, replace
from typing import Any, ClassVar

import numpy as np

from kernlens._array import FloatArray
from kernlens._invariance import centered_digits
from kernlens._reports import Reporter
from kernlens._result import Status
from kernlens._rows import CanonicalRows
from kernlens.base.block_data import moments_beside
from kernlens.base.fit_data import Fit, FitData
from kernlens.base.linear_part import FEWEST_ROWS, Line, LinearPart, held_out_error, wants_line
from kernlens.base.targets import Targets
from kernlens.blocks.moments import Moments
from kernlens.fits.linear_ridge import LinearRidge, fit_linear_ridge

#: Squared error of a line, for targets of standard deviation 1, that is made of lost digits.
ROUNDING = 1e-13
#: What a linear part is made of.
PARTS = tuple(field.name for field in fields(LinearPart))


class LinearPartMixin:
    """Ridge regression beside the function of a kernel; `linear_part` says whether.

    With ``"auto"`` a line is taken off the targets where ridge regression predicts rows left out
    better than the kernel does. Elsewhere its slopes go on beyond the rows along the columns whose
    outer rows show that they do.

    Attributes
    ----------
    linear_coef_ : ndarray of shape (n_targets, n_features)
        Slopes of the linear part, in the units of y and X; zeros where there is none.
    """

    #: What the search of settings counts a squared error of 1 as.
    _search_unit: ClassVar[float] = 0.5

    mean_: FloatArray
    scale_: FloatArray
    linear_coef_: FloatArray

    @abstractmethod
    def _measure_targets(self, rows: CanonicalRows) -> Targets: ...

    @abstractmethod
    def _targets_of(self, moments: Moments) -> Targets: ...

    @abstractmethod
    def _checked_plan(self, data: FitData) -> Any: ...

    @abstractmethod
    def _learn_as_planned(self, data: FitData, plan: Any, reporter: Reporter | None) -> Fit: ...

    def _ridge_beside(self, data: FitData) -> LinearRidge | None:
        """Ridge regression on the rows, if a linear part is wanted or may be."""
        if not getattr(self, "linear_part", False) or data.plain is None:
            return None
        rows = data.rows
        known = ~np.isnan(rows.y).any(axis=0)
        # Other losses do not mean squares, and rows without a target have a shape of their own.
        suits = data.loss.quadratic and known.all() and known.size >= FEWEST_ROWS
        if not self._line_always and not (suits and self._line_allowed):
            return None
        return fit_linear_ridge(data.plain[known], rows.y[:, known], rows.weights[known])

    def _measure_rest(self, data: FitData, ridge: LinearRidge, rest: CanonicalRows) -> Targets:
        """Units of what the line of `ridge` leaves of the targets, over all rows."""
        if data.found is None:
            return self._measure_targets(rest)
        moments = data.found.table.fold(
            moments_beside, Moments.merged, data.columns, data.targets, ridge
        )
        if ridge.error < ROUNDING:
            moments = replace(moments, low=moments.mean, high=moments.mean)
        return self._targets_of(moments)

    def _line(self, data: FitData, learned: Any) -> Line | None:
        """The linear part of a fit as its directions see it."""
        if data.line is None or data.plain is None:
            return None
        return Line.beside(data.line, data.plain, learned, data.rows.X)

    @property
    def _line_always(self) -> bool:
        """Whether a linear part is asked for, whatever held-out rows want."""
        wanted = getattr(self, "linear_part", False)
        return not isinstance(wanted, str) and bool(wanted)

    @property
    def _line_allowed(self) -> bool:
        """Whether a linear part goes with what the other parameters ask for."""
        truncate = getattr(self, "truncate", None)
        return truncate is None or isinstance(truncate, str)

    def _without_line(self, data: FitData, ridge: LinearRidge) -> FitData:
        """The same rows, with what the line of `ridge` leaves of the targets."""
        assert data.plain is not None
        rest = replace(data.rows, y=data.rows.y - ridge(data.plain))
        if ridge.error < ROUNDING:
            # Missing targets stay missing.
            rest = replace(rest, y=0.0 * rest.y)
        targets = self._measure_rest(data, ridge, rest)
        return replace(
            data,
            rows=replace(rest, y=centered_digits(targets.apply(rest.y).T, rest.weights).T),
            targets=targets.of_rest(data.targets, ridge.offset),
            loss=data.loss.in_units_of(float(np.mean(targets.scale))),
            linear=LinearPart.everywhere(ridge, data.targets.scale, data.plain_range),
        )

    def _beside_ridge(self, fit: Fit, ridge: LinearRidge, reporter: Reporter | None) -> Fit:
        """The fit, or one of what a line leaves of the targets if held-out rows want that.

        Where no line is wanted, slopes may still go on beyond the rows.
        """
        if fit.learned.status in (Status.INTERRUPTED, Status.STOPPED):
            return fit
        if wants_line(ridge, fit.learned, self._search_unit):
            data = self._without_line(replace(fit.data, kept_seed=fit.data.seed), ridge)
            try:
                other = self._learn_as_planned(data, self._checked_plan(data), reporter)
            except KeyboardInterrupt:
                return _ended_early(fit, reporter)
            if other.learned.status in (Status.INTERRUPTED, Status.STOPPED):
                return _ended_early(fit, reporter)
            if self._predicts_better(other, fit, ridge):
                return _beside_what_predicts(other)
        if ridge.beyond.any() and fit.data.plain is not None:
            part = LinearPart.going_on(ridge, fit.data.targets.scale, fit.data.plain_range)
            return replace(fit, data=replace(fit.data, linear=part))
        return fit

    def _predicts_better(self, other: Fit, fit: Fit, ridge: LinearRidge) -> bool:
        """Whether held-out rows are predicted better beside the line than without it."""
        without = held_out_error(fit.learned, self._search_unit)
        beside = held_out_error(other.learned, self._search_unit)
        if without is None or beside is None:
            return True
        units = np.square(other.data.targets.scale / fit.data.targets.scale)
        # The line has seen all rows: errors grow as those of its own do where it has not.
        unseen = ridge.left_out_error / max(ridge.error, np.finfo(np.float64).tiny)
        return beside * float(np.mean(units)) * unseen < without

    def _store_linear(self, data: FitData) -> None:
        """Keep a linear part, as arrays of the model; none for what cannot have one."""
        part = data.linear
        for name in PARTS:
            self.__dict__.pop(f"_line_{name}", None)
        for name, value in {} if part is None else asdict(part).items():
            setattr(self, f"_line_{name}", value)
        if hasattr(self, "linear_part"):
            self.linear_coef_ = np.zeros((len(data.targets.scale), len(self.mean_)))
            if part is not None:
                used = data.columns.used
                self.linear_coef_[:, used] = part.slopes / self.scale_[used]

    @property
    def _linear(self) -> LinearPart | None:
        if not hasattr(self, "_line_slopes"):
            return None
        return LinearPart(*(getattr(self, f"_line_{name}") for name in PARTS))


def _ended_early(fit: Fit, reporter: Reporter | None) -> Fit:
    """The fit before an interruption, which is whole."""
    stopped = reporter is not None and reporter.stopped
    status = Status.STOPPED if stopped else Status.INTERRUPTED
    return replace(fit, learned=replace(fit.learned, status=status))


def _beside_what_predicts(fit: Fit) -> Fit:
    """The fit beside a line: that it found nothing more is no reason to warn."""
    if fit.learned.status in (Status.CONSTANT, Status.PLAIN):
        return replace(fit, learned=replace(fit.learned, status=Status.CONVERGED))
    return fit

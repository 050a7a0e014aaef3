"""Functions with knots fitted to all rows of a table, by sums over its blocks.

    min_{u, c} (1/W) sum_i w_i loss(y_i, f_u(x_i) + c) + (alpha/2) |u|^2

for the coordinates u of functions with knots (see :mod:`kernlens.kernels.knots`) and constants c:
the problem of the exact fit, among functions with few knots. It is Newton's method, each step by
conjugate gradients, each of which is one pass over the blocks. A sample of the rows says how to
precondition, and the number of passes hardly depends on the number of rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from kernlens._array import FloatArray
from kernlens._reports import StopRequested
from kernlens._result import Status
from kernlens._rows import CanonicalRows
from kernlens.blocks.block import Block
from kernlens.blocks.local import LocalTable
from kernlens.blocks.table import BlockTable
from kernlens.linalg.conjugate_gradient import conjugate_gradient
from kernlens.methods.bkernn.block_sums import KnotModel, curved, losses_and_slopes
from kernlens.methods.bkernn.sample_preconditioner import SamplePreconditioner

#: Slopes of the objective at the end, relative to those of constants: of squares, which take one
#: solve, and of other losses, which take several.
TOL, NEWTON_TOL = 1e-8, 1e-6
#: Share of the slopes that conjugate gradients leave of a step of Newton's method.
FORCING = 1e-2
MAX_NEWTON_STEPS = 50
MAX_HALVINGS = 30
#: Passes of one solve.
MAX_PASSES = 300
#: Rise of the objective that is rounding.
ROUNDING = 1e-14


@dataclass(frozen=True)
class KnotPoint:
    """Functions with constants, and the objective there.

    Attributes
    ----------
    u : ndarray of shape (t, m, q)
        Coordinates of the functions.
    constant : ndarray of shape (t,)
    value : float
        The objective.
    slopes : ndarray of shape (t, m, q)
        Its derivatives along u.
    totals : ndarray of shape (t,)
        Its derivatives along the constants.
    """

    u: FloatArray
    constant: FloatArray
    value: float
    slopes: FloatArray
    totals: FloatArray

    @property
    def slope(self) -> float:
        """Length of all derivatives."""
        return float(np.hypot(np.linalg.norm(self.slopes), np.linalg.norm(self.totals)))


@dataclass(frozen=True)
class KnotFit:
    """The end of a fit.

    Attributes
    ----------
    point : KnotPoint
    status : Status
    first : float
        The objective at the beginning.
    residuals : tuple of float
        Relative residuals after every step of conjugate gradients.
    """

    point: KnotPoint
    status: Status
    first: float
    residuals: tuple[float, ...]

    @property
    def n_iter(self) -> int:
        """Steps of conjugate gradients."""
        return len(self.residuals)


@dataclass
class KnotFitter:
    """The fit of given rows.

    Attributes
    ----------
    table : BlockTable
        Rows in the units of the fit.
    total : float
        Sum of their weights.
    model : KnotModel
    alpha : float
    report : callable or None
        Called with the number and the relative residual of every pass of conjugate gradients.
    """

    table: BlockTable
    total: float
    model: KnotModel
    alpha: float
    report: Callable[[int, float], None] | None = None
    _best: KnotPoint | None = field(default=None, init=False)
    _history: list[float] = field(default_factory=list, init=False)
    _asked_to_stop: bool = field(default=False, init=False)

    def at(self, u: FloatArray, constant: FloatArray) -> KnotPoint:
        """The objective at some functions: one pass."""
        space = self.model.space
        value, sums, totals = self.table.sum(
            losses_and_slopes, self.model, space.tables(u), constant
        )
        slopes = space.coordinates(sums) / self.total + self.alpha * u
        objective = float(value[0]) / self.total + 0.5 * self.alpha * float(np.vdot(u, u))
        point = KnotPoint(u, constant, objective, slopes, totals / self.total)
        if self._best is None or point.value < self._best.value:
            self._best = point
        return point

    def fit(
        self,
        start: KnotPoint,
        precondition: Callable[[KnotPoint], SamplePreconditioner],
        scale: float,
        tol: float,
    ) -> KnotFit:
        """Minimise; an interruption keeps the best functions that were seen.

        Parameters
        ----------
        start : KnotPoint
            Evaluated on these rows.
        precondition : callable
            From a point to what its system is preconditioned with.
        scale : float
            Slopes are small if they are below `tol` times this.
        tol : float
        """
        self._best, self._history = start, []
        try:
            if self.model.loss.quadratic:
                end, status = self._step(start, precondition(start), tol * scale)
                point = end if end.value <= start.value else start
            else:
                point, status = self._newton(start, precondition, tol * scale)
        except KeyboardInterrupt:
            assert self._best is not None
            point, status = self._best, Status.INTERRUPTED
        if status is Status.INTERRUPTED and self._asked_to_stop:
            status = Status.STOPPED
        return KnotFit(point, status, start.value, tuple(self._history))

    def _newton(
        self,
        point: KnotPoint,
        precondition: Callable[[KnotPoint], SamplePreconditioner],
        small: float,
    ) -> tuple[KnotPoint, Status]:
        for _ in range(MAX_NEWTON_STEPS):
            if point.slope <= small:
                return point, Status.CONVERGED
            bound = max(FORCING * point.slope, 0.5 * small)
            target, status = self._step(point, precondition(point), bound)
            before, point = point, self._line_search(point, target)
            if status is Status.INTERRUPTED:
                return point, status
            if point.value >= before.value - ROUNDING * abs(before.value):
                # As good as rounding lets it be.
                return point, Status.CONVERGED
        return point, Status.MAX_ITER

    def _line_search(self, point: KnotPoint, target: KnotPoint) -> KnotPoint:
        """From a point towards a target, half as far until the objective is not higher."""
        bound = point.value + ROUNDING * abs(point.value)
        step, trial = 1.0, target
        for _ in range(MAX_HALVINGS):
            if trial.value <= bound:
                return trial
            step *= 0.5
            trial = self.at(
                point.u + step * (target.u - point.u),
                point.constant + step * (target.constant - point.constant),
            )
        return point

    def _step(
        self, point: KnotPoint, preconditioner: SamplePreconditioner, small: float
    ) -> tuple[KnotPoint, Status]:
        """Where the quadratic model around a point has slopes below `small`."""
        model, shape = self.model, point.u.shape
        around = model.space.tables(point.u), point.constant

        def apply(x: FloatArray) -> FloatArray:
            move, constant = _taken_apart(x, shape)
            sums, totals = self.table.sum(
                curved, model, *around, model.space.tables(move), constant
            )
            bent = model.space.coordinates(sums) / self.total + self.alpha * move
            return _together(bent, totals / self.total)

        def preconditioned(x: FloatArray) -> FloatArray:
            return _together(*preconditioner(*_taken_apart(x, shape)))

        result = conjugate_gradient(
            apply,
            -_together(point.slopes, point.totals),
            precondition=preconditioned,
            tol=small / (point.slope or 1.0),
            max_iter=MAX_PASSES,
            report=self._told,
            keep_when_interrupted=True,
        )
        move, constant = _taken_apart(result.solution, shape)
        return self.at(point.u + move, point.constant + constant), result.status

    def _told(self, iteration: int, residual: float) -> None:
        self._history.append(residual)
        if self.report is None:
            return
        try:
            self.report(len(self._history), residual)
        except StopRequested:
            self._asked_to_stop = True
            raise


def fit_knots(
    table: BlockTable,
    total: float,
    model: KnotModel,
    alpha: float,
    sample: CanonicalRows,
    start: tuple[FloatArray, FloatArray],
    *,
    report: Callable[[int, float], None] | None = None,
    n_jobs: int | None = 1,
    tol: float | None = None,
) -> KnotFit:
    """Fit functions with knots to all rows of a table.

    Parameters
    ----------
    table : BlockTable
        In the units of the fit.
    total : float
        Sum of the weights.
    model : KnotModel
    alpha : float
        For all rows.
    sample : CanonicalRows
        Some of them, in the same units.
    start : tuple of ndarray of shape (t, m, q), (t,)
        Coordinates of functions and constants to begin with.
    report : callable or None
        Called with the number and the relative residual of every pass of conjugate gradients.
    n_jobs : int or None
        Threads of what is done with the sample.
    tol : float or None
        Slopes of the objective at the end, relative to those of constants; None for a value that
        changes predictions by nothing that can be seen.
    """
    if tol is None:
        tol = TOL if model.loss.quadratic else NEWTON_TOL
    seen = model.project(sample.X)
    share = float(sample.weights.sum())

    def precondition(point: KnotPoint) -> SamplePreconditioner:
        loss, y = model.loss, sample.y
        f = model.space.seen_by(seen).values(model.space.tables(point.u))
        f += point.constant[:, None]
        root, _ = loss.working_system(y, f, sample.weights)
        curvature = root.mean_diagonal(len(y)) / share
        return SamplePreconditioner.of(model.space, seen, curvature, alpha, n_jobs)

    constant = model.loss.best_constant(sample.y, sample.weights)
    nothing = KnotFitter(_table_of(sample), share, model, alpha).at(0.0 * start[0], constant)
    fitter = KnotFitter(table, total, model, alpha, report)
    return fitter.fit(fitter.at(*start), precondition, nothing.slope or 1.0, tol)


def _table_of(rows: CanonicalRows) -> LocalTable:
    """Rows in memory as a table of one block."""
    block = Block(rows.X, rows.y, rows.weights, 0)
    return LocalTable(rows.X.shape[1], None, 2, blocks=lambda: iter([lambda: block]))


def _together(u: FloatArray, constant: FloatArray) -> FloatArray:
    return np.concatenate([u.reshape(len(u), -1), constant[:, None]], axis=1)


def _taken_apart(x: FloatArray, shape: tuple[int, ...]) -> tuple[FloatArray, FloatArray]:
    return x[:, :-1].reshape(shape), x[:, -1]

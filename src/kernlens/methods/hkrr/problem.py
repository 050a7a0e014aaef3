"""What HKRR minimises, independent of the rows, and how."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from kernlens._array import FloatArray
from kernlens._result import SolveResult
from kernlens._rows import CanonicalRows
from kernlens.fits.held_out import Split, held_out_loss
from kernlens.fits.projected_ridge import ProjectedRidge
from kernlens.kernels.radial import RadialKernel
from kernlens.losses import Loss, SquaredLoss
from kernlens.methods.hkrr.alternating_gradient import AlternatingGradient
from kernlens.methods.hkrr.limits import MapLimits
from kernlens.methods.hkrr.objective import HyperKernelObjective, HyperKernelPoint
from kernlens.methods.hkrr.varpro import VarPro, Watch
from kernlens.optim.lbfgs import Progress

MapOptimizer = VarPro | AlternatingGradient
OPTIMIZERS: dict[str, MapOptimizer] = {
    "auto": VarPro(),
    "varpro": VarPro(),
    "varpro_gradient": VarPro("gradient"),
    "agd": AlternatingGradient(),
}


@dataclass(frozen=True)
class HyperKernelProblem:
    """Kernel, loss and constraint of HKRR, and the optimiser.

    Attributes
    ----------
    kernel : RadialKernel
        Mother kernel, of length scale 1: maps B here are divided by the length scale.
    loss : Loss
    radius : float or None
        Bound of the operator norm of B.
    trace_norm : float
        Strength tau of the penalty ``tau * L0 * |B|_*`` with L0 the loss of the best constant. With
        a bound, too, L-BFGS gives way to gradient steps, which can do both.
    optimizer : VarPro or AlternatingGradient
    n_jobs : int or None
        Threads.
    """

    kernel: RadialKernel
    loss: Loss
    radius: float | None = None
    trace_norm: float = 0.0
    optimizer: MapOptimizer = field(default_factory=VarPro)
    n_jobs: int | None = None

    @property
    def ridge(self) -> ProjectedRidge:
        """The problem that is left when the map is fixed."""
        return ProjectedRidge(self.kernel, self.loss, self.n_jobs)

    @property
    def by_squares(self) -> HyperKernelProblem:
        """The same problem with the squared loss, of one-hot targets if there are classes.

        Every evaluation is then one linear solve that all classes share.
        """
        return self if self.loss.quadratic else replace(self, loss=SquaredLoss())

    def objective(self, rows: CanonicalRows, Z: FloatArray, alpha: float) -> HyperKernelObjective:
        """Return the objective on `rows` with centres `Z`."""
        strength = self.trace_norm * constant_loss(self.loss, rows) if self.trace_norm else 0.0
        return HyperKernelObjective.of(
            rows, Z, self.kernel, self.loss, alpha, penalty_strength=strength, n_jobs=self.n_jobs
        )

    def limits(self, objective: HyperKernelObjective) -> MapLimits:
        """Return what keeps the map small on the rows of an objective."""
        return MapLimits(objective.penalty_strength, self.radius)

    def minimize(
        self,
        objective: HyperKernelObjective,
        start: HyperKernelPoint,
        *,
        max_iter: int,
        tol: float,
        progress: Progress | None = None,
        watch: Watch | None = None,
    ) -> SolveResult:
        """Minimise over the map from an evaluated point, first moved into the ball if need be."""
        limits = self.limits(objective)
        # A lower point outside would be kept: no step from it to the ball need be a descent.
        W = limits.inside(start.W)
        if W is not start.W:
            start = objective.at(W, start=start)
        return self.optimizer.minimize(
            objective, start, limits, max_iter=max_iter, tol=tol, progress=progress, watch=watch
        )

    def value(self, objective: HyperKernelObjective, point: HyperKernelPoint) -> float:
        """Objective with the penalty on the map."""
        return point.value + self.limits(objective).value(point.W)


def constant_loss(loss: Loss, rows: CanonicalRows) -> float:
    """Weighted mean loss of the best constant; 1 if that is zero."""
    constant = loss.best_constant(rows.y, rows.weights)
    decision = np.broadcast_to(constant[:, None], rows.y.shape)
    return float(np.average(loss.values(rows.y, decision), weights=rows.weights)) or 1.0


def held_out_constant(loss: Loss, split: Split) -> float:
    """Held-out loss of the best constant of the other rows."""
    constant = loss.best_constant(split.train.y, split.train.weights)
    decision = np.broadcast_to(constant[:, None], split.test.y.shape)
    return held_out_loss(loss, split.test, decision, None)

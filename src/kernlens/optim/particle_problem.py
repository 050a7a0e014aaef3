"""What is minimised over the particles, independent of the rows and of alpha."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernlens._rows import CanonicalRows
from kernlens.kernels.one_dimensional import OneDimensionalKernel
from kernlens.losses import Loss
from kernlens.optim.composite_objective import CompositeObjective
from kernlens.optim.kernel_fit import KernelFitter
from kernlens.optim.reduced_objective import ReducedObjective, ReducedPoint
from kernlens.penalties.contract import Penalty

FloatArray = NDArray[np.floating]


@dataclass
class ParticleObjective(CompositeObjective[ReducedPoint]):
    """Objective (10) of BKerNN on given rows."""

    smooth: ReducedObjective

    def refine(self, point: ReducedPoint) -> ReducedPoint:
        """Solve again for the coefficients of `point`, to this objective's tolerance."""
        return self.smooth.refit(point, tol=self.tol)


@dataclass(frozen=True)
class ParticleProblem:
    """Kernel, loss and penalty of BKerNN; objective (10) once rows and alpha are given."""

    kernel: OneDimensionalKernel
    loss: Loss
    penalty: Penalty
    n_jobs: int | None = None

    def objective(
        self, rows: CanonicalRows, alpha: float, *, tol: float = 1e-7
    ) -> ParticleObjective:
        """Return the objective on `rows`, its linear solves carried to a residual of `tol`."""
        fitter = KernelFitter(self.loss, rows.y, rows.weights, alpha)
        smooth = ReducedObjective(rows.X, self.kernel, fitter, self.n_jobs)
        return ParticleObjective(smooth, self.penalty, tol)

    def reference_alpha(self, rows: CanonicalRows) -> float:
        """Scale of alpha: target scale times the root mean square norm of a row, over n."""
        square_norm = np.average(np.sum(rows.X**2, axis=1), weights=rows.weights)
        norm = float(np.sqrt(square_norm)) or 1.0
        return target_scale(self.loss, rows) * norm / float(rows.weights.sum())


def target_scale(loss: Loss, rows: CanonicalRows) -> float:
    """Root mean square of the loss's gradient at the best constant; 1 if that is zero.

    The standard deviation of y for the squared loss. Particles, alpha and the concavity of a
    penalty are measured in it, so that a fit of ``10 y`` is ten times the fit of y.
    """
    constant = loss.best_constant(rows.y, rows.weights)
    slopes = loss.gradient(rows.y, np.broadcast_to(constant[:, None], rows.y.shape))
    square = np.average(np.sum(slopes**2, axis=0), weights=rows.weights)
    return float(np.sqrt(square)) or 1.0

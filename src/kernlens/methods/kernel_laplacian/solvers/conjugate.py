"""Solve exactly, matrix-free: preconditioned conjugate gradients on values and derivatives.

The system has n_labeled + n r unknowns and costs O(n^2 d) a product.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kernlens._array import FloatArray
from kernlens._lazy import lazy
from kernlens._result import SolveResult, Status
from kernlens.linalg.conjugate_gradient import conjugate_gradient
from kernlens.linalg.ridge_spectrum import RidgeSpectrum
from kernlens.methods.kernel_laplacian.plan import Penalties, Solution
from kernlens.methods.kernel_laplacian.rows_left_out import RowsLeftOut
from kernlens.methods.kernel_laplacian.solvers.exact import atoms_of, derivative_system
from kernlens.methods.kernel_laplacian.solvers.features import FeatureSolver
from kernlens.methods.kernel_laplacian.solvers.preconditioner import (
    AtomPreconditioner,
    ShiftedSystem,
)
from kernlens.methods.kernel_laplacian.solvers.solver import LaplacianSolver


class ConjugateSolver(LaplacianSolver):
    """Conjugate gradients; penalties are chosen with Nyström centres."""

    @lazy
    def _proxy(self) -> FeatureSolver:
        return FeatureSolver(self.plan, self.rows, self.frames, self.n_jobs)

    def sample_kernel(self, ratio: float) -> FloatArray:
        return self._proxy.sample_kernel(ratio)

    def spectrum(self, ratio: float) -> RidgeSpectrum:
        return self._proxy.spectrum(ratio)

    def rows_left_out(self, ratio: float, spectrum: RidgeSpectrum) -> RowsLeftOut:
        return self._proxy.rows_left_out(ratio, spectrum)

    def losses(self, ratio: float, alphas: list[float]) -> list[float]:
        return self._proxy.losses(ratio, alphas)

    @staticmethod
    def numbers_held(n_atoms: float) -> float:
        """Vectors of the length of the unknowns."""
        return 12.0 * n_atoms

    def fit(self, penalties: Penalties, *, searched: bool = False) -> Solution:
        """Solve for all targets and the intercept at once; an interruption keeps the iterate."""
        rows = self.rows
        system = derivative_system(self)
        shifted = ShiftedSystem.of(rows, system, penalties)
        n_labeled = len(rows.labeled)
        mean = rows.y @ rows.label_weights / rows.label_weights.sum()
        centered = rows.y - mean[:, None]
        sizes = np.linalg.norm(centered, axis=1)[:, None]
        # The last right-hand side is a constant, from which the intercept follows. All are of unit
        # length, so that the tolerance means the same to each of them.
        rhs = np.zeros((len(rows.y) + 1, len(shifted.shifts)))
        np.divide(centered, sizes, out=rhs[:-1, :n_labeled], where=sizes > 0.0)
        rhs[-1, :n_labeled] = 1.0 / np.sqrt(n_labeled)
        result = self._solve(shifted, rhs)
        of_targets, of_one = sizes * result.solution[:-1], np.sqrt(n_labeled) * result.solution[-1]
        sums, sum_of_one = of_targets[:, :n_labeled].sum(axis=1), of_one[:n_labeled].sum()
        # Interrupted before the first step, all of it is zero.
        change = sums / sum_of_one if sum_of_one > 0.0 else 0.0 * sums
        found = _Coefficients(shifted, *shifted.split(of_targets - change[:, None] * of_one))
        intercept = mean + change
        if result.status is not Status.CONVERGED:
            found, intercept = found.best_multiples(penalties)
        return Solution(
            function=atoms_of(rows, system, found.a, found.b, intercept),
            objective=found.objective(penalties, intercept),
            status=result.status,
            n_iter=result.n_iter,
            residuals=result.history,
        )

    def _solve(self, shifted: ShiftedSystem, rhs: FloatArray) -> SolveResult:
        return conjugate_gradient(
            shifted.apply,
            rhs,
            precondition=AtomPreconditioner.build(shifted, self.plan.seed),
            tol=self.plan.tol,
            max_iter=self.plan.max_iter,
            report=self.report,
            keep_when_interrupted=True,
        )


@dataclass(frozen=True)
class _Coefficients:
    """Coefficients a (t, n_labeled) and b (t, n, r), and values of the functions at the points."""

    shifted: ShiftedSystem
    a: FloatArray
    b: FloatArray

    @lazy
    def _at_points(self) -> tuple[FloatArray, FloatArray]:
        rows = self.shifted.rows
        values, slopes = self.shifted.system.products(rows.on_points(self.a), self.b)
        return values[:, rows.labeled], slopes

    def _penalty(self, penalties: Penalties) -> FloatArray:
        """``alpha |f|^2 + mu E(f)`` of every target, (t,), at the solution or anywhere else."""
        fitted, slopes = self._at_points
        norms = np.sum(self.a * fitted, axis=1) + np.sum(self.b * slopes, axis=(1, 2))
        total: FloatArray = penalties.alpha * norms + penalties.mu * np.sum(slopes**2, axis=(1, 2))
        return total

    def objective(self, penalties: Penalties, intercept: FloatArray) -> float:
        """The whole objective."""
        rows = self.shifted.rows
        errors = np.square(self._at_points[0] + intercept[:, None] - rows.y).sum(axis=0)
        mean = float(np.average(errors, weights=rows.label_weights))
        return mean + float(self._penalty(penalties).sum())

    def best_multiples(self, penalties: Penalties) -> tuple[_Coefficients, FloatArray]:
        """The best multiple of every function, with its intercept: zero is one of them.

        Iterations that were cut short may be worse than that.
        """
        rows, fitted = self.shifted.rows, self._at_points[0]
        shares = rows.label_weights / rows.label_weights.sum()
        means, targets = fitted @ shares, rows.y @ shares
        centered = fitted - means[:, None]
        gains = (centered * (rows.y - targets[:, None])) @ shares
        costs = np.square(centered) @ shares + self._penalty(penalties)
        multiples = np.divide(gains, costs, out=np.zeros_like(gains), where=costs > 0.0)
        scaled = replace(self, a=self.a * multiples[:, None], b=self.b * multiples[:, None, None])
        return scaled, targets - multiples * means

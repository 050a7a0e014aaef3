"""Solve in explicit features: Nyström centres or random Fourier features."""

from __future__ import annotations

import numpy as np

from kernlens._array import FloatArray
from kernlens._lazy import lazy
from kernlens.features.fourier import FourierMap
from kernlens.kernels.derivatives import KernelDerivatives
from kernlens.linalg.ridge_spectrum import RidgeSpectrum
from kernlens.linalg.ridge_system import RidgeSystem
from kernlens.methods.kernel_laplacian.energy_basis import (
    DifferentiableMap,
    EnergyBasis,
    KernelMap,
)
from kernlens.methods.kernel_laplacian.function import function_in_basis
from kernlens.methods.kernel_laplacian.local_frames import LocalFrames
from kernlens.methods.kernel_laplacian.plan import (
    LabeledPoints,
    LaplacianPlan,
    Penalties,
    Solution,
)
from kernlens.methods.kernel_laplacian.rows_left_out import RowsLeftOut
from kernlens.methods.kernel_laplacian.solvers.solver import (
    LEAVE_ONE_OUT_ROWS,
    SAMPLE,
    LaplacianSolver,
)

#: Share of the labelled rows that penalties are compared on, if there are too many to leave out
#: one by one.
HELD_OUT_SHARE = 0.2
#: Rows are left out one by one up to these numbers of operations and of slopes held, and this
#: many in any case.
LEFT_OUT_WORK, LEFT_OUT_NUMBERS, FEWEST_LEFT_OUT = 1e10, 1e7, 100


def draw_map(
    kernel: KernelDerivatives, fourier: str | None, points: FloatArray, n_components: int, seed: int
) -> DifferentiableMap:
    """Draw random features of a named kernel, or centres among distinct points, at most all."""
    random = np.random.RandomState(seed)
    if fourier is not None:
        return FourierMap.draw(fourier, points.shape[1], n_components, random)
    drawn = random.permutation(len(points))[:n_components]
    return KernelMap(kernel, points[np.sort(drawn)])


class FeatureSolver(LaplacianSolver):
    """One decomposition of the energy for all penalties, then ridge regression on features."""

    def __init__(
        self,
        plan: LaplacianPlan,
        rows: LabeledPoints,
        frames: LocalFrames | None,
        n_jobs: int | None,
    ) -> None:
        super().__init__(plan, rows, frames, n_jobs)
        feature_map = draw_map(plan.kernel, plan.fourier, rows.points, plan.n_components, plan.seed)
        largest = plan.ratios[-1] if plan.given is None else plan.given.ratio
        self.basis = EnergyBasis.of(feature_map, rows.points, rows.weights, frames, n_jobs, largest)

    @lazy
    def _sample(self) -> FloatArray:
        return self.basis.features(self.rows.points[:SAMPLE])

    @lazy
    def _labeled(self) -> FloatArray:
        return self.basis.features(self.rows.labeled_points[:LEAVE_ONE_OUT_ROWS])

    def sample_kernel(self, ratio: float) -> FloatArray:
        damped = self._sample * self.basis.damping(ratio)
        kernel: FloatArray = damped @ damped.T
        return kernel

    def spectrum(self, ratio: float) -> RidgeSpectrum:
        part = self.rows.with_labels(slice(0, LEAVE_ONE_OUT_ROWS))
        damped = self._labeled * self.basis.damping(ratio)
        return RidgeSpectrum.of_features(damped, part.y, part.label_weights)

    def rows_left_out(self, ratio: float, spectrum: RidgeSpectrum) -> RowsLeftOut:
        damping = self.basis.damping(ratio)
        damped = self._labeled * damping
        r = self._labeled_slopes.shape[1]

        def derivatives(rows: slice) -> tuple[FloatArray, FloatArray]:
            own = self._labeled_slopes[rows] * damping
            cross = damped @ own.reshape(-1, own.shape[2]).T
            gram = own @ own.transpose(0, 2, 1)
            return cross.reshape(len(damped), -1, r), np.eye(r) - ratio * gram

        n_rows = len(self._labeled_slopes)
        return RowsLeftOut(spectrum, derivatives, self._shares, ratio, n_rows, r)

    @lazy
    def _labeled_slopes(self) -> FloatArray:
        """Slopes of the basis functions at the rows that are left out, (m, r, q), weighted."""
        points, weights = self.rows.points, self.rows.weights
        r = points.shape[1] if self.frames is None else self.frames.n_directions
        n, q = self._labeled.shape
        most = min(LEFT_OUT_WORK / n, LEFT_OUT_NUMBERS) / (q * r)
        few = self.rows.labeled[: min(n, max(FEWEST_LEFT_OUT, int(most)))]
        frames = np.eye(r)[None] if self.frames is None else self.frames.take(few)
        weighted = frames * np.sqrt(weights[few] / weights.sum())[:, None, None]
        slopes: FloatArray = self.basis.map.slopes(points[few], weighted) @ self.basis.rotation
        return slopes

    def losses(self, ratio: float, alphas: list[float]) -> list[float]:
        """Leave out single rows, or a fifth of many rows; one decomposition per ratio."""
        if not self._holds_rows_out:
            return super().losses(ratio, alphas)
        damping = self.basis.damping(ratio)
        learned, held_out = (system.scaled(damping) for system in self._systems)
        solutions = learned.solve_along(alphas)
        return [float(held_out.mean_losses(*solution).sum()) for solution in solutions]

    def fit(self, penalties: Penalties, *, searched: bool = False) -> Solution:
        """Solve (Phi^T W Phi / Wl + mu diag(e) + alpha) eta = Phi^T W y / Wl."""
        damping = self.basis.damping(penalties.ratio)
        system = self._all_rows(searched).scaled(damping)
        b, intercept = system.solve(penalties.alpha)
        objective = float(np.sum(system.mean_losses(b, intercept)))
        objective += penalties.alpha * float(np.vdot(b, b))
        return Solution(function_in_basis(self.basis, b * damping, intercept), objective)

    @property
    def _holds_rows_out(self) -> bool:
        """Whether penalties are compared on rows held out, and not by leaving out one by one."""
        return len(self.rows.labeled) > LEAVE_ONE_OUT_ROWS

    def _all_rows(self, searched: bool) -> RidgeSystem:
        """Normal equations of all labelled rows, in the basis."""
        if searched and self._holds_rows_out:
            learned, held_out = self._systems
            return learned.merged(held_out)
        return self._accumulate(slice(0, len(self.rows.labeled)))

    @lazy
    def _systems(self) -> tuple[RidgeSystem, RidgeSystem]:
        """Normal equations of the rows to learn from, and of the rows held out."""
        n = len(self.rows.labeled)
        first = n - int(HELD_OUT_SHARE * n)
        return self._accumulate(slice(0, first)), self._accumulate(slice(first, n))

    def _accumulate(self, labels: slice) -> RidgeSystem:
        part = self.rows.with_labels(labels)
        # Features that are near their mean already lose no digits when it is taken off.
        shift = self._sample.mean(axis=0)
        return self.basis.ridge_system(
            part.labeled_points, part.y, part.label_weights, shift, self.n_jobs
        )

"""From the parameters of RegFeaL to what its learning is asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from kernlens._rows import CanonicalRows
from kernlens._validation import check_map, check_sequence
from kernlens.features.hermite_indices import (
    DegreeSequence,
    GeometricSequence,
    TruncatedSequence,
    count_indices,
)
from kernlens.fits.held_out import Bounds, Split
from kernlens.fits.projected_ridge import ProjectedRidge
from kernlens.kernels.radial import make_radial_kernel
from kernlens.losses import Loss, SquaredLoss
from kernlens.methods.regfeal.columns import HermiteColumns
from kernlens.methods.regfeal.descent import DescentRule
from kernlens.methods.regfeal.directions import Directions
from kernlens.methods.regfeal.estimator_refit import EstimatorRefit
from kernlens.methods.regfeal.kernel_refit import ProjectedKernelRefit, draw_centers
from kernlens.methods.regfeal.objective import BestFirst, Enumerated, GroupSampling, IndexRule
from kernlens.methods.regfeal.plan import HermitePlan, HermiteProblem, Refit, Setting

#: The grid of the paper's Appendix B.
ALPHAS = (1000.0, 100.0, 10.0, 1.0, 0.1, 0.01, 0.001)
RHOS = (0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8)
#: Directions followed after the first fit; more of them fit noise while they are being learned.
MAX_DIRECTIONS = 10
#: Rows that settings are chosen on, and that directions are learned on with the exact kernel.
SEARCH_ROWS = 1250
LEARN_ROWS = 2000
#: Kernel of the refit on projected rows.
REFIT_KERNEL = "gaussian"
#: Centres of the refit while it is tuned, and at most in the end.
TUNE_CENTERS = 300
REFIT_CENTERS = 1000
#: Multi-indices of the last fit where there are more rows than the exact kernel takes.
LAST_INDICES = 1000
#: Of the logistic loss's penalty to that of the squared loss on indicators of classes.
CURVATURE_RATIO = 4.0


class PlansRegFeaL(BaseEstimator):
    """The part of RegFeaL's estimators that reads their parameters."""

    def _plan(
        self, rows: CanonicalRows, refit: Refit | None, seed: int, columns: HermiteColumns
    ) -> HermitePlan:
        n_rows, n_features = rows.X.shape
        goes_on = self._goes_on(n_features)
        alphas = _choices(self.alpha, ALPHAS, self.alpha_ if goes_on else None)
        rhos = _choices(self.rho, RHOS, self.rho_ if goes_on else None)
        sequences: list[DegreeSequence] = [GeometricSequence(rho) for rho in rhos]
        if self.max_degree is not None:
            sequences = [TruncatedSequence(int(self.max_degree))]
        settings = [Setting(sequence, alpha) for sequence in sequences for alpha in alphas]
        automatic = self.indices == "auto" and self.max_degree is None
        rule = self._index_rule(n_features, seed)
        many = automatic and n_rows > LEARN_ROWS
        widest = MAX_DIRECTIONS if self.max_directions == "auto" else int(self.max_directions)
        rotates = self.structure == "features"
        sampled = isinstance(rule, GroupSampling)
        descent = DescentRule(
            rotate=rotates,
            lengthen=self.accelerate and not sampled,
            turns=2 if self.accelerate and not sampled else 0,
            max_iter=int(self.max_iter),
            tol=float(self.tol),
            monotone=not sampled,
        )
        return HermitePlan(
            structure=self.structure,
            r=float(self.r),
            settings=tuple(settings),
            rule=rule,
            last_rule=BestFirst(min(LAST_INDICES, int(self.n_indices))) if many else rule,
            max_directions=widest if self.accelerate else n_features,
            descent=descent,
            learn_rows=LEARN_ROWS if many else None,
            refit=refit,
            own=self.refit is None or self.refit == "auto",
            start=self._given_directions(columns),
            previous=Directions(self.rotation_, self.shares_, float(self.r)) if goes_on else None,
        )

    def _matrix_rows(self, n_rows: int, plan: HermitePlan) -> int:
        """Rows of the largest kernel matrix; explicit indices have one if rows are fewer."""
        return min(n_rows, int(self.n_indices) if plan.rule else plan.learn_rows or n_rows)

    def _index_rule(self, n_features: int, seed: int) -> IndexRule | None:
        n_indices = int(self.n_indices)
        if self.indices == "best_first":
            return BestFirst(n_indices)
        if self.indices == "group_sampling":
            return GroupSampling(n_indices, seed)
        if self.max_degree is None:
            if self.indices in ("auto", "exact"):
                return None
            return Enumerated(_largest_degree(n_features, n_indices))
        if self.indices == "auto" and count_indices(n_features, self.max_degree) > n_indices:
            return BestFirst(n_indices)
        return Enumerated(int(self.max_degree))

    def _refit(self, loss: Loss, seed: int, bounds: Bounds | None, n_rows: int) -> Refit | None:
        if self.refit is None or self.structure == "none":
            return None
        if isinstance(self.refit, str):
            problem = _refit_ridge(loss, self.n_jobs)
            return ProjectedKernelRefit(problem, min(n_rows, REFIT_CENTERS), seed, bounds)
        return EstimatorRefit(self.refit, loss)

    def _search_problem(self, problem: HermiteProblem) -> HermiteProblem:
        """Settings of a classifier are chosen with the squared loss on indicators of the classes.

        One solve then does where Newton's method takes many. Near even odds, log-odds are four
        times the difference of the probability from 1/2, and their loss is a quarter as curved:
        the same penalty then weighs four times as much.
        """
        if problem.loss.quadratic:
            return problem
        plan = problem.plan
        settings = tuple(
            replace(setting, alpha=CURVATURE_RATIO * setting.alpha) for setting in plan.settings
        )
        refit = plan.refit
        if isinstance(refit, ProjectedKernelRefit):
            refit = replace(refit, ridge=_refit_ridge(SquaredLoss(), self.n_jobs))
        return replace(
            problem, loss=SquaredLoss(), plan=replace(plan, settings=settings, refit=refit)
        )

    def _splits(
        self, rows: CanonicalRows, seed: int, strata: NDArray[np.integer] | None
    ) -> list[Split]:
        """Folds of the first rows, with the centres that a refit is tuned with."""
        part = rows.take(slice(0, SEARCH_ROWS))
        strata = None if strata is None else strata[:SEARCH_ROWS]
        masks = part.folds(int(self.n_folds), strata)
        if strata is not None:
            # A class of one row is in no training part of its fold.
            present = len(np.unique(strata))
            masks = [mask for mask in masks if len(np.unique(strata[mask[0]])) == present]
        everything = np.ones(len(part.X), dtype=bool)
        splits = []
        for train, test in masks or [(everything, everything)]:
            kept = part.take(train)
            splits.append(Split(kept, part.take(test), draw_centers(kept, TUNE_CENTERS, seed)))
        return splits

    def _given_directions(self, columns: HermiteColumns) -> Directions | None:
        """First directions that the user gives."""
        if isinstance(self.init, str):
            return None
        given = check_map(self.init, self.n_features_in_) * columns.scale
        if self.structure != "features":
            # Selected columns are unit vectors.
            return None
        R = np.linalg.qr(given[:, columns.varying].T)[0]
        return Directions(R, np.full(R.shape[1], 1.0 / R.shape[1]), float(self.r))

    def _goes_on(self, n_columns: int) -> bool:
        before = getattr(self, "_structure", None)
        return bool(
            self.warm_start and before == self.structure and len(self.rotation_) == n_columns
        )


def _refit_ridge(loss: Loss, n_jobs: int | None) -> ProjectedRidge:
    return ProjectedRidge(make_radial_kernel(REFIT_KERNEL), loss, n_jobs=n_jobs)


def _choices(given: Any, grid: tuple[float, ...], before: float | None) -> list[float]:
    """Values to choose from: the ones given, that of the fit before, or the grid."""
    values = check_sequence("alpha or rho", given)
    if "auto" not in values:
        return list(dict.fromkeys(float(value) for value in values))
    return list(grid) if before is None else [before]


def _largest_degree(n_features: int, n_indices: int) -> int:
    """Largest degree all of whose indices are few enough, at least 1."""
    degree = 1
    while count_indices(n_features, degree + 1) <= n_indices and degree < n_indices:
        degree += 1
    return degree

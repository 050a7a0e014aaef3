"""What the regressor and the classifier share: from parameters to a plan, and fitted attributes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kernlens._array import FloatArray
from kernlens._reports import Listener
from kernlens._validation import check_map, check_sequence
from kernlens.base.columns import Columns
from kernlens.base.fit_data import FitData, Memory, Stage
from kernlens.base.fitting import FittingMixin
from kernlens.base.search import SearchRecord
from kernlens.fits.projected_function import ProjectedKernelFunction
from kernlens.fits.tuned_ridge import Tuned
from kernlens.kernels.radial import make_radial_kernel
from kernlens.linalg.kernel_blocks import BLOCK_ENTRIES, HELD_ENTRIES
from kernlens.losses import Loss
from kernlens.methods.hkrr.function import attributes_of, function_of
from kernlens.methods.hkrr.learner import HyperKernelLearner
from kernlens.methods.hkrr.options import N_RANDOM, Centers, Constraint, RandomMaps
from kernlens.methods.hkrr.plan import KeptSettings, LearnedKernel, LearningPlan
from kernlens.methods.hkrr.problem import OPTIMIZERS, HyperKernelProblem
from kernlens.methods.hkrr.stages import MOST_SQUARE

#: Centres of the last fit by default: as many as keep its cost n * centres^2 near this, within
#: bounds. More than the upper bound hardly predict better, fewer than the lower one save nothing.
REFIT_WORK = 2.0e10
REFIT_BOUNDS = (300, 1000)


class BaseHKRR(FittingMixin):
    """Everything of HKRR that does not depend on the kind of target."""

    _learns_from_blocks = True

    def __init__(
        self,
        *,
        alpha: Any = "auto",
        n_components: Any = "auto",
        centers: int | Centers = 200,
        kernel: Any = "gaussian",
        n_directions: int | str = "auto",
        optimizer: Any = "auto",
        init: Any = "auto",
        refit: int | str | None = "auto",
        constraint: Constraint | None = None,
        standardize: bool = True,
        max_iter: int = 100,
        tol: float = 1e-4,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int | bool = False,
        callback: Listener | None = None,
    ) -> None:
        self.alpha = alpha
        self.n_components = n_components
        self.centers = centers
        self.kernel = kernel
        self.n_directions = n_directions
        self.optimizer = optimizer
        self.init = init
        self.refit = refit
        self.constraint = constraint
        self.standardize = standardize
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    # From parameters to a learner

    def _plan(self, data: FitData) -> LearningPlan:
        n_inputs = data.rows.X.shape[1]
        given = self._given_map(data.columns)
        n_random, subspace = self._first_maps(n_inputs) if given is None else (0, False)
        centers = self._centers()
        plan = LearningPlan(
            n_components=self._widths(given),
            alphas=_choices("alpha", self.alpha, float),
            centers=centers,
            refit_centers=self._refit_centers(data, centers.number),
            n_random=n_random,
            subspace=subspace,
            screen=isinstance(self.init, str) and self.init == "auto",
            given=given,
            max_iter=int(self.max_iter),
            tol=float(self.tol),
            bounds=data.targets.inner_bounds,
            max_norm=self._constraint().max_norm,
        )
        return self._continued(plan, data.columns)

    def _given_map(self, columns: Columns) -> FloatArray | None:
        """The matrix of the user as the first map of the inputs, if there is one."""
        if isinstance(self.init, RandomMaps) or np.ndim(self.init) == 0:
            return None
        return columns.select(check_map(self.init, self.n_features_in_))

    def _first_maps(self, n_inputs: int) -> tuple[int, bool]:
        """Number of random first maps, and whether one comes from the gradients of a plain fit."""
        if isinstance(self.init, RandomMaps):
            return self.init.number, False
        if self.init == "random":
            return N_RANDOM, False
        if self.init == "subspace":
            return 0, True
        return N_RANDOM if self.init == "auto" else int(self.init), n_inputs <= MOST_SQUARE

    def _widths(self, given: FloatArray | None) -> tuple[int, ...] | None:
        widths = _choices("n_components", self.n_components, int)
        if given is None:
            return widths
        if widths not in (None, (len(given),)):
            raise ValueError(
                f"init has {len(given)} rows and n_components is {self.n_components!r}; give "
                'both the same number, or leave n_components="auto".'
            )
        return (len(given),)

    def _centers(self) -> Centers:
        return self.centers if isinstance(self.centers, Centers) else Centers(int(self.centers))

    def _constraint(self) -> Constraint:
        return Constraint() if self.constraint is None else self.constraint

    def _refit_centers(self, data: FitData, n_centers: int) -> int | None:
        if self.refit is None:
            return None
        if self.refit == "exact":
            return len(data.rows.X)
        if self.refit == "auto":
            affordable = int(np.sqrt(REFIT_WORK / data.n_rows))
            return max(n_centers, int(np.clip(affordable, *REFIT_BOUNDS)))
        return int(self.refit)

    def _continued(self, plan: LearningPlan, columns: Columns) -> LearningPlan:
        """The plan from the map of the fit before, if that is wanted and had the same columns."""
        if not self.warm_start or not hasattr(self, "projection_"):
            return plan
        if self.projection_.shape[1] != self.n_features_in_:
            return plan
        learned_scale = self.length_scale_ * self._refit_scale
        start = columns.select(self.projection_ * columns.scale / learned_scale)
        if plan.alphas is not None:
            return replace(plan, n_components=(len(start),), start=start)
        tried = getattr(self, "alpha_search_", None)
        kept = KeptSettings(
            self.alpha_,
            Tuned(self._refit_scale, self.refit_alpha_, np.nan),
            None if tried is None else SearchRecord.of_dict(tried),
        )
        return replace(plan, start=start, kept=kept)

    def _memory(self, data: FitData, plan: LearningPlan) -> Memory:
        n_rows, n_inputs = data.rows.X.shape
        most_centers = min(max(plan.centers.number, plan.refit_centers or 0), n_rows)
        return Memory(
            fit_bytes(n_rows, n_inputs, most_centers, held=not data.loss.quadratic),
            "lower refit or centers, or fit on fewer rows",
        )

    def _problem(self, loss: Loss) -> HyperKernelProblem:
        by_name = isinstance(self.optimizer, str)
        return HyperKernelProblem(
            make_radial_kernel(self.kernel),
            loss,
            trace_norm=float(self._constraint().trace_norm),
            optimizer=OPTIMIZERS[self.optimizer] if by_name else self.optimizer,
            n_jobs=self.n_jobs,
        )

    def _learner(
        self, data: FitData, plan: LearningPlan, stage: Stage | None
    ) -> HyperKernelLearner:
        problem = self._problem(data.loss)
        return HyperKernelLearner(problem, data.rows, plan, data.seed, data.strata, stage=stage)

    # The fitted model

    def _store(self, data: FitData, plan: LearningPlan, learned: LearnedKernel) -> None:
        for name, value in attributes_of(learned, data.columns, data.targets).items():
            setattr(self, name, value)
        self.kernel_ = self.kernel
        self._refit_scale = learned.scale
        self.bounds_ = data.targets.bounds
        self.refit_alpha_ = learned.refit_alpha
        self.n_components_ = len(learned.W)

    @property
    def _function(self) -> ProjectedKernelFunction:
        return function_of(self, self._columns, self._targets)


def fit_bytes(n_samples: int, n_features: int, n_centers: int, *, held: bool) -> float:
    """Memory of a fit, the formula of the docstrings; `held` if the features are kept whole."""
    entries = 3.0 * n_samples * n_features + 14.0 * n_centers**2
    entries += min(2.0 * n_samples * n_centers, 2.0 * HELD_ENTRIES) + 20.0 * BLOCK_ENTRIES
    if held:
        entries += 3.0 * n_samples * n_centers
    return 8.0 * entries


def _choices(name: str, value: Any, kind: type) -> tuple[Any, ...] | None:
    """The values to choose from, each once; None for ``"auto"``."""
    values = check_sequence(name, value)
    return None if "auto" in values else tuple(dict.fromkeys(kind(one) for one in values))

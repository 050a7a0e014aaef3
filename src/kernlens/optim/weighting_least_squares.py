"""Least squares on random features: Algorithms 1 and 4."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernlens._rows import CanonicalRows
from kernlens.linalg.ridge_system import RidgeSystem
from kernlens.optim.feature_space import FeatureSpace
from kernlens.optim.instantiations import AnyInstantiation
from kernlens.optim.weighting_plan import FeatureFunction, Learned, Setting, best_of
from kernlens.optim.weighting_solver import (
    LEAVE_ONE_OUT_ROWS,
    WeightingSolver,
    feature_unit,
    log_norms,
    small_weight,
)

FloatArray = NDArray[np.floating]

#: Sums of products in single precision have errors of about 1e-7 of the largest: they are good
#: enough for alphas from here on, and penalties of up to this condition number.
SINGLE_ALPHA = 1e-5
SINGLE_CONDITION = 1e4
SAMPLE_ROWS = 200


class LeastSquares(WeightingSolver):
    """Ridge regression in coordinates where the penalty is the Euclidean norm."""

    @cached_property
    def _solved(self) -> dict[int, tuple[FeatureSpace, RidgeSystem, float]]:
        """Features, system and penalty of every instantiation that was fitted."""
        return {}

    def fit(self, candidate: AnyInstantiation, alphas: tuple[float, ...]) -> Learned:
        """Fit with an instantiation, at the best of some alphas."""
        space = self._space(candidate)
        if len(alphas) == 1:
            systems = {"train": self._summed(candidate, space, slice(None), alphas)}
            return self._solve(candidate, space, alphas, systems)
        if len(self.rows.X) <= LEAVE_ONE_OUT_ROWS:
            log_factor = self._log_factor(candidate, space)
            spectrum, _ = self._spectrum_of(candidate, self.rows)
            tried = self._along(candidate, alphas, spectrum, log_factor)
            systems = {"train": self._summed(candidate, space, slice(None), alphas)}
            learned = self._solve(candidate, space, (best_of(tried).alpha,), systems)
            return replace(learned, setting=best_of(tried), tried=tuple(tried))
        cut = self._cut(len(self.rows.X))
        parts = {"test": slice(0, cut), "train": slice(cut, None)}
        systems = {
            name: self._summed(candidate, space, part, alphas) for name, part in parts.items()
        }
        return self._solve(candidate, space, alphas, systems)

    def learn_batch(
        self,
        candidate: AnyInstantiation,
        alphas: tuple[float, ...],
        state: dict[str, Any] | None,
    ) -> tuple[Learned, dict[str, Any]]:
        """Add the rows to the normal equations; with several alphas a share of them chooses."""
        space = self._space(candidate)
        parts = {"train": slice(None)}
        if len(alphas) > 1:
            cut = self._cut(len(self.rows.X))
            parts = {"test": slice(0, cut), "train": slice(cut, None)}
        systems: dict[str, RidgeSystem] = {}
        for name, part in parts.items():
            if len(self.rows.X[part]):
                systems[name] = self._summed(candidate, space, part, alphas)
            if state is not None and name in state:
                before = RidgeSystem(**state[name])
                systems[name] = systems[name].merged(before) if name in systems else before
        learned = self._solve(candidate, space, alphas, systems)
        return learned, {name: system.arrays() for name, system in systems.items()}

    def left_out(self, learned: Learned) -> tuple[FloatArray, CanonicalRows]:
        """Predictions of some rows by fits without them, and the rows.

        Of repeated rows one is left out, or as much as rows of small weight have.
        """
        part = self.rows.take(slice(0, LEAVE_ONE_OUT_ROWS))
        space, system, shift = self._solved[id(learned.setting.instantiation)]
        P = space.matrix(part.X).astype(np.float64, copy=False)
        left = np.minimum(part.weights, small_weight(self.rows.weights))
        return system.left_out(P, part.y, left, shift), part

    def _summed(
        self,
        candidate: AnyInstantiation,
        space: FeatureSpace,
        part: slice,
        alphas: tuple[float, ...],
    ) -> RidgeSystem:
        """Normal equations of some rows, with the digits that the alphas need."""
        smallest = min(alphas)
        if self.plan.paper_units:
            # In units of the features, which a few rows tell.
            P = space.matrix(self.rows.X[:SAMPLE_ROWS].astype(np.float64, copy=False))
            unit = float(np.square(P).sum(axis=1).mean()) or 1.0
            smallest = self._shift(smallest, 1.0, self._log_factor(candidate, space)) / unit
        return self._sum(space, part, self._precision(space, alphas), smallest)

    def _precision(self, space: FeatureSpace, alphas: tuple[float, ...]) -> type[np.floating]:
        """Single if the rows are, and if neither alpha nor the penalty asks for more digits."""
        enough = min(alphas) >= SINGLE_ALPHA and space.condition <= SINGLE_CONDITION
        if self.rows.X.dtype == np.float32 and enough and not self.plan.paper_units:
            return np.float32
        return np.float64

    def _solve(
        self,
        candidate: AnyInstantiation,
        space: FeatureSpace,
        alphas: tuple[float, ...],
        systems: dict[str, RidgeSystem],
    ) -> Learned:
        """Choose alpha on the rows of "test", if there are any, and solve with all rows."""
        log_factor = self._log_factor(candidate, space)
        train, test = systems.get("train"), systems.get("test")
        tried: list[Setting] = []
        if train is not None and test is not None and len(alphas) > 1:
            shifts = [self._shift(alpha, feature_unit(train), log_factor) for alpha in alphas]
            tried = [
                Setting(candidate, alpha, float(test.mean_losses(b, constant).sum()))
                for alpha, (b, constant) in zip(alphas, train.solve_along(shifts), strict=True)
            ]
        together = [system for system in (train, test) if system is not None]
        system = together[0] if len(together) == 1 else together[0].merged(together[1])
        best = best_of(tried) if tried else Setting(candidate, alphas[0])
        unit = feature_unit(system)
        shift = self._shift(best.alpha, unit, log_factor)
        b, intercept = system.solve(shift)
        self._solved[id(candidate)] = (space, system, shift)
        squares = np.sum(np.square(b), axis=1)
        function = FeatureFunction(
            self._weights(candidate)[space.kept],
            space.coefficients(b),
            intercept,
            log_norms(squares, space.log_scale),
        )
        objective = float(system.mean_losses(b, intercept).sum() + shift * squares.sum())
        return self._learned(best, function, unit, log_factor, objective, tried)

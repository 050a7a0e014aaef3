"""Fit of an RKHS weighting or of random kitchen sinks: choice of the setting, then the function."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kernlens._array import FloatArray
from kernlens._result import Status
from kernlens._rows import CanonicalRows
from kernlens.methods.rkhs_weightings.instantiations import AnyInstantiation
from kernlens.methods.rkhs_weightings.plan import Learned, Setting, WeightingPlan, best_of
from kernlens.methods.rkhs_weightings.solvers.descent import StochasticDescent
from kernlens.methods.rkhs_weightings.solvers.exact import Exact
from kernlens.methods.rkhs_weightings.solvers.lasso import SparseLeastSquares
from kernlens.methods.rkhs_weightings.solvers.least_squares import LeastSquares
from kernlens.methods.rkhs_weightings.solvers.solver import (
    LEAVE_ONE_OUT_ROWS,
    Stage,
    WeightingSolver,
)

SOLVERS: dict[str, type[WeightingSolver]] = {
    "exact": Exact,
    "least_squares": LeastSquares,
    "lasso": SparseLeastSquares,
    "sfgd": StochasticDescent,
}
#: Rows that instantiations are compared on, and how many rougher ones go on to all rows.
SEARCH_ROWS = 800
N_ROUGHER = 2


class WeightingLearner:
    """One fit.

    Parameters
    ----------
    plan : WeightingPlan
    rows : CanonicalRows
        Standardised, X with the column of the bias.
    n_jobs : int or None
    stage : callable, optional
        Returns the callback that the iterations of a stage report to.
    """

    def __init__(
        self,
        plan: WeightingPlan,
        rows: CanonicalRows,
        n_jobs: int | None,
        stage: Stage | None = None,
    ) -> None:
        self.plan = plan
        self.rows = rows
        self.stage = stage
        self.solver = SOLVERS[plan.solver](plan, rows, n_jobs, stage)
        self.interrupted = False

    def learn(self) -> Learned:
        """Choose the setting if there is a choice, and fit."""
        tried = self._search()
        alphas = self._remaining(tried)
        fits = [self.solver.fit(one, alphas) for one in self._finalists(tried)]
        learned = fits[0]
        if len(fits) > 1:
            learned = min(fits, key=lambda fit: fit.setting.loss)
            learned = replace(learned, tried=tuple(one for fit in fits for one in fit.tried))
        if self.stage is not None:
            self.stage("fitted")(1, learned.objective)
        return self._with_search(learned, tried)

    def learn_batch(self, state: dict[str, Any] | None) -> tuple[Learned, dict[str, Any]]:
        """Learn from rows on top of those that `state`, of plain arrays, has summed up.

        A setting is searched for in the first batch only.
        """
        tried = [] if state is not None else self._search()
        candidate = best_of(tried).instantiation if tried else self.plan.candidates[0]
        alphas = self._alphas
        if tried and self.plan.solver == "sfgd":
            alphas = (best_of(tried).alpha,)
        learned, state = self.solver.learn_batch(candidate, alphas, state)
        # Where the sums have chosen alpha once more, the search has chosen the instantiation only.
        return self._with_search(learned, [] if learned.tried else tried), state

    def _finalists(self, tried: list[Setting]) -> list[AnyInstantiation]:
        """The instantiations that are fitted on all rows.

        Few rows cannot tell how rough a function many of them allow. Where all are summed up and
        some held out of the sums, these decide among the best of every kind, and rougher ones of
        the best kind, which have a larger correlation.
        """
        if not tried:
            return [self.plan.candidates[0]]
        best = best_of(tried).instantiation
        many = self.plan.solver == "least_squares" and len(self.rows.X) > LEAVE_ONE_OUT_ROWS
        if not many or self.interrupted or len(self._alphas) == 1:
            return [best]
        ordered = [one.instantiation for one in sorted(tried, key=lambda one: one.loss)]
        kinds = {one.name: one for one in reversed(ordered)} | {best.name: best}
        rougher = {
            one.correlation: one
            for one in ordered
            if one.name == best.name and one.correlation > best.correlation
        }
        return [*kinds.values(), *(rougher[r] for r in sorted(rougher)[:N_ROUGHER])]

    def left_out(self, learned: Learned) -> tuple[FloatArray, CanonicalRows]:
        """Predictions of some rows by fits without them, and the rows."""
        return self.solver.left_out(learned)

    @property
    def _alphas(self) -> tuple[float, ...]:
        return self.solver.alphas if self.plan.alphas is None else self.plan.alphas

    def _search(self) -> list[Setting]:
        """Loss of every setting on rows left out of the first ones, if there is a choice."""
        candidates, alphas = self.plan.candidates, self._alphas
        chosen_by_fit = self._mixes or not self._searches_alpha
        if len(candidates) == 1 and (len(alphas) == 1 or chosen_by_fit):
            return []
        part = self.rows.take(slice(0, SEARCH_ROWS))
        report = self.stage("choosing") if self.stage is not None else None
        tried: list[Setting] = []
        for number, candidate in enumerate(candidates):
            try:
                losses = self.solver.losses(candidate, part, alphas)
            except KeyboardInterrupt:
                if not tried:
                    raise
                self.interrupted = True
                break
            tried += [
                Setting(candidate, alpha, loss) for alpha, loss in zip(alphas, losses, strict=True)
            ]
            if report is not None:
                report(number, min(losses))
        return tried

    @property
    def _searches_alpha(self) -> bool:
        """Whether the search is where alpha is chosen, and not the fit."""
        if self.plan.solver == "sfgd":
            return True
        return self.plan.solver != "lasso" and len(self.rows.X) <= SEARCH_ROWS

    @property
    def _mixes(self) -> bool:
        """Whether the fit compares the alphas of its instantiation in any case."""
        return self.plan.mixed and self.plan.solver in ("least_squares", "exact")

    def _remaining(self, tried: list[Setting]) -> tuple[float, ...]:
        """Alphas that the fit is still to choose from, or to mix."""
        stopped = self.interrupted and self.plan.solver != "lasso"
        if tried and (stopped or (self._searches_alpha and not self._mixes)):
            return (best_of(tried).alpha,)
        return self._alphas

    def _with_search(self, learned: Learned, tried: list[Setting]) -> Learned:
        if tried and self._searches_alpha:
            # All that was tried, of which the fit has seen a part.
            learned = replace(learned, setting=best_of(tried), tried=())
        if learned.tried or self.plan.solver == "lasso":
            # Losses on other rows, or of another fit, cannot be compared with those.
            tried = []
        status = Status.INTERRUPTED if self.interrupted else learned.status
        return replace(learned, status=status, tried=(*tried, *learned.tried))

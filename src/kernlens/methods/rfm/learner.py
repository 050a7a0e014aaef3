"""From rows to a fitted machine: choose the settings on folds, learn the maps, fit the function."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from kernlens._array import FloatArray, IntArray
from kernlens._lazy import lazy
from kernlens._result import Status
from kernlens._rows import CanonicalRows
from kernlens.base.block_data import FitTable
from kernlens.base.fit_data import Stage
from kernlens.base.learner import Directions, Learner, LeftOut
from kernlens.base.search import SearchRecord
from kernlens.fits.held_out import Bounds, Split
from kernlens.fits.kernel_fit import KernelFitter
from kernlens.fits.table_fit import TableFit, fit_centers
from kernlens.fits.tuned_alpha import tune_alpha
from kernlens.linalg.dense_kernel import DenseKernel
from kernlens.losses import Loss, SquaredLoss
from kernlens.methods.rfm.function import FeatureMachineFunction
from kernlens.methods.rfm.kernel import MixedKernel, MixedRidge, Term
from kernlens.methods.rfm.machine import Course
from kernlens.methods.rfm.plan import Ingredient, LearnedMachine, MachinePlan, Recipe
from kernlens.methods.rfm.ranks import Ranks
from kernlens.methods.rfm.search import MachineSearch, Part
from kernlens.subspace import average_outer_product, leading_directions

#: Rows that settings are searched on: the first ones, which are a random sample.
SEARCH_ROWS = 1000
N_FOLDS = 3
#: Rows that maps are learned from beyond the exact fits, and centres of these fits.
MAP_ROWS = 10_000
MAP_CENTERS = 1000
#: Rows that gradients are averaged over to find directions.
GRADIENT_ROWS = 1000
#: Standard deviations up and down over which directions take the rises of ranks.
RANK_REACH = 0.5


@dataclass
class MachineLearner(Learner[LearnedMachine]):
    """One fit.

    Attributes
    ----------
    plan : MachinePlan
    rows : CanonicalRows
    loss : Loss
        Of the last fit; maps are learned by squares.
    strata : ndarray of shape (n_rows,) or None
        Classes to be spread evenly over folds.
    n_jobs : int or None
    stage : callable or None
        Name of a stage -> callback of its iterations.
    """

    plan: MachinePlan
    rows: CanonicalRows
    loss: Loss
    strata: IntArray | None = None
    n_jobs: int | None = None
    stage: Stage | None = None
    _search: MachineSearch | None = field(default=None, init=False)
    _recipe: Recipe | None = field(default=None, init=False)
    _terms: tuple[Term, ...] = field(default=(), init=False)

    def learn(self) -> LearnedMachine:
        """Choose the settings unless they are given, then learn from all rows."""
        if self.plan.given is not None:
            return self._make(self.plan.given, None)
        parts = self._parts()
        if not parts:
            return self._make(self.plan.fallback, None)
        report = None if self.stage is None else self.stage("choosing settings")
        self._search = MachineSearch(self.plan, parts, self.ranks, self._score_bounds, report)
        self._search.run()
        recipe = self._search.best
        if not self.loss.quadratic:
            recipe = replace(recipe, loss_alpha=self._tuned(self._search, recipe))
        return self._make(recipe, self._search.record)

    def fit_all(self, table: FitTable, learned: LearnedMachine) -> LearnedMachine:
        """The same kernel and centres with coefficients from all rows, alpha chosen again."""
        before = learned.function
        # The shift of a kernel matrix is that of all rows.
        start = TableFit(before.coefficients, before.intercept, learned.alpha / table.total)
        ridge = MixedRidge(self.loss, self.n_jobs)
        several = len(self.plan.alphas) > 1
        found = fit_centers(table, ridge, before.kernel, before.Z, start, choose=several)
        function = replace(before, coefficients=found.coefficients, intercept=found.intercept)
        return replace(
            learned,
            function=function,
            directions=self._directions_of(function),
            alpha=found.alpha * table.total,
            objective=found.value,
            history=(found.value,),
        )

    def finish_interrupted(self) -> LearnedMachine:
        """Fit with the maps so far, or with the best settings so far; else interrupt again."""
        quiet = replace(self, stage=None)
        if self._terms and self._recipe is not None:
            record = None if self._search is None else self._search.record
            shares = [one.weight for one in self._recipe.ingredients[: len(self._terms)]]
            kernel = MixedKernel(self._terms, self.ranks)
            kernel = kernel.reweighted(np.array(shares) / sum(shares))
            return quiet._finish(kernel, self._recipe, record, Status.INTERRUPTED)
        if self._search is None or not self._search.visited:
            raise KeyboardInterrupt
        learned = quiet._make(self._search.best, self._search.record)
        return replace(learned, status=Status.INTERRUPTED)

    def left_out(self, learned: LearnedMachine) -> LeftOut:
        """Predict the parts of the search, each by a machine learned on the others.

        No row is returned if there are too few of them, or of a class, to leave any out.
        """
        nothing = self.rows.take(slice(0, 0))
        predicted = [LeftOut(nothing.y, nothing.y, nothing.weights)]
        for part in self._parts():
            made = replace(self, rows=part.train, stage=None)._make(learned.recipe, None)
            decision = made.function.decision(part.test.X)
            predicted.append(LeftOut(decision, part.test.y, part.test.weights))
        return LeftOut.joined(predicted)

    def directions_on(
        self, rows: CanonicalRows, strata: IntArray | None, learned: LearnedMachine
    ) -> Directions:
        """Directions of a machine learned on other rows, by squares, which suit classes as well."""
        other = replace(self, rows=rows, loss=SquaredLoss(), strata=strata, stage=None)
        return other._make(replace(learned.recipe, loss_alpha=None), None).directions

    # The choice of settings

    def _parts(self) -> list[Part]:
        first = slice(0, SEARCH_ROWS)
        rows = self.rows.take(first)
        strata = None if self.strata is None else self.strata[first]
        return [
            Part(rows.take(train), rows.take(test)) for train, test in rows.folds(N_FOLDS, strata)
        ]

    @lazy
    def ranks(self) -> Ranks | None:
        """Ranks of the columns, if a machine uses them."""
        if not any(machine.ranked for machine in self.plan.machines):
            return None
        return Ranks.of(self.rows.X, self.rows.weights)

    @property
    def _score_bounds(self) -> Bounds | None:
        """Shares of classes are between 0 and 1."""
        if self.loss.quadratic:
            return self.plan.bounds
        return np.zeros(len(self.rows.y)), np.ones(len(self.rows.y))

    def _tuned(self, search: MachineSearch, recipe: Recipe) -> float:
        """The alpha of the loss of classes, of which squares know nothing."""
        if len(self.plan.alphas) == 1:
            return self.plan.alphas[0]
        splits = [Split(part.train, part.test, self._centers(part.train)) for part in search.parts]
        unit = float(np.mean([split.train.weights.sum() for split in splits]))
        alphas = [alpha / unit for alpha in sorted(self.plan.alphas, reverse=True)]
        ridge = MixedRidge(self.loss, self.n_jobs)
        return tune_alpha(ridge, splits, search.kernels(recipe), alphas)[0] * unit

    # The last run

    def _make(self, recipe: Recipe, search: SearchRecord | None) -> LearnedMachine:
        """Learn the maps and the function from all rows."""
        self._recipe = recipe
        self._terms = ()
        for ingredient in recipe.ingredients:
            self._learn_map(ingredient)
        kernel = MixedKernel(self._terms, self.ranks)
        kernel = kernel.reweighted(np.array([one.weight for one in recipe.ingredients]))
        return self._finish(kernel, recipe, search, Status.CONVERGED)

    def _learn_map(self, ingredient: Ingredient) -> None:
        """Follow the updates of one machine, and keep its term."""
        report = None if self.stage is None else self.stage("learning the map")
        rows = self.rows if self.plan.n_centers is None else self.rows.take(slice(0, MAP_ROWS))
        course = Course.start(ingredient.machine, rows, self.ranks, ingredient.width)
        before = self._terms
        self._terms = (*before, course.term)
        for step, alpha in enumerate(ingredient.updates, start=1):
            kernel = MixedKernel((course.term,), self.ranks)
            n_centers, a, _, value = self._fit(kernel, rows, SquaredLoss(), alpha, MAP_CENTERS)
            course.update(course.inputs[:n_centers], a)
            self._terms = (*before, course.term)
            if report is not None:
                report(step, value)

    def _fit(
        self, kernel: MixedKernel, rows: CanonicalRows, loss: Loss, alpha: float, most: int
    ) -> tuple[int, FloatArray, FloatArray, float]:
        """Number of centres, the first rows, coefficients, intercept and objective of a fit."""
        shift = alpha / float(rows.weights.sum())
        if self.plan.n_centers is None and loss.quadratic:
            fitter = KernelFitter(loss, rows.y, rows.weights, shift, "direct")
            fit = fitter(DenseKernel(kernel.among(rows.X)))
            return len(rows.X), fit.dual, fit.intercept, fit.value
        Z = self._centers(rows, most)
        ridge = MixedRidge(loss, self.n_jobs)
        on_centers = ridge.fitter(rows, shift)(ridge.blocks(kernel, rows.X, Z))
        return len(Z), on_centers.coefficients, on_centers.intercept, on_centers.value

    def _centers(self, rows: CanonicalRows, most: int | None = None) -> FloatArray:
        """The first rows, which are a random sample."""
        wanted = [n for n in (self.plan.n_centers, most) if n is not None]
        return rows.X[: min(wanted)] if wanted else rows.X

    def _finish(
        self, kernel: MixedKernel, recipe: Recipe, search: SearchRecord | None, status: Status
    ) -> LearnedMachine:
        """Fit the function on all rows, and measure its directions."""
        n_all = len(self.rows.X)
        n_centers, a, c, value = self._fit(kernel, self.rows, self.loss, recipe.last_alpha, n_all)
        function = FeatureMachineFunction(kernel, self.rows.X[:n_centers], a, c, self.n_jobs)
        if self.stage is not None:
            self.stage("fitting the function")(1, value)
        return LearnedMachine(
            function=function,
            directions=self._directions_of(function),
            alpha=recipe.last_alpha,
            objective=value,
            history=(value,),
            n_iter=max(1, *(len(one.updates) for one in recipe.ingredients)),
            status=status,
            search=search,
            recipe=recipe,
        )

    def _directions_of(self, function: FeatureMachineFunction) -> Directions:
        """Directions of a function, by its slopes at the first rows."""
        few = self.rows.take(slice(0, GRADIENT_ROWS))
        reach = None if function.kernel.ranks is None else RANK_REACH * _deviations(few)
        return _directions(function.gradient(few.X, reach), few.weights)


def _deviations(rows: CanonicalRows) -> FloatArray:
    """Standard deviations of the columns, 1 for constant ones."""
    mean = np.average(rows.X, axis=0, weights=rows.weights)
    deviations = np.sqrt(np.average(np.square(rows.X - mean), axis=0, weights=rows.weights))
    return np.where(deviations > 0.0, deviations, 1.0)


def _directions(gradients: FloatArray, weights: FloatArray) -> Directions:
    """Directions of a function, by the slopes (n_targets, n_rows, n_inputs) at some rows."""
    # Squares of steep ones overflow.
    largest = float(np.abs(gradients).max(initial=0.0)) or 1.0
    product = average_outer_product(gradients / largest, weights)
    components, values = leading_directions(product)
    of_inputs = np.sqrt(np.maximum(np.diagonal(product), 0.0))
    return Directions(components, largest * np.sqrt(values), largest * of_inputs)

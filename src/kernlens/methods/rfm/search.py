"""Choice of width, alpha and number of updates of every machine on held-out rows, and a mixture.

All splits go on together: after every fit alpha is the one that predicts the held-out rows of all
splits best, and with it every split updates its map. One eigendecomposition serves all alphas.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from kernlens._array import FloatArray
from kernlens._lazy import lazy
from kernlens._rows import CanonicalRows
from kernlens.base.search import SearchRecord
from kernlens.fits.held_out import Bounds, clip_decision
from kernlens.fits.mixture import mixing_weights
from kernlens.linalg.ridge_spectrum import RidgeSpectrum
from kernlens.methods.rfm.kernel import MixedKernel, Term
from kernlens.methods.rfm.machine import Course, Machine
from kernlens.methods.rfm.plan import MOST_UPDATES, Ingredient, MachinePlan, Recipe
from kernlens.methods.rfm.ranks import Ranks

#: A course ends after this many updates in a row that lower the loss by less than this share.
PATIENCE = 2
GAIN = 0.005
#: Machines with a smaller share are left out of a mixture.
SMALLEST_SHARE = 0.05
#: The name of a mixture in the record.
MIXTURE = "mixture"


@dataclass(frozen=True)
class Part:
    """Rows to learn from, and rows to score on."""

    train: CanonicalRows
    test: CanonicalRows


@dataclass(frozen=True)
class Visited:
    """The fits of one machine with one map, for all alphas.

    Attributes
    ----------
    name : str
        Of the machine.
    ingredient : Ingredient
    losses : ndarray of shape (n_alphas,)
        Mean losses of held-out rows.
    decision : ndarray of shape (n_targets, n_held_out)
        Predictions of these rows with the best alpha, split after split.
    terms : tuple of Term
        The kernel of every split.
    """

    name: str
    ingredient: Ingredient
    losses: FloatArray
    decision: FloatArray
    terms: tuple[Term, ...]

    @property
    def loss(self) -> float:
        """The lowest."""
        return float(self.losses.min())


@dataclass
class MachineSearch:
    """Courses of all machines and widths, and the best mixture of them.

    Attributes
    ----------
    plan : MachinePlan
    parts : sequence of Part
    ranks : Ranks or None
    bounds : tuple of ndarray of shape (n_targets,), or None
        What predictions that are scored are kept within.
    report : callable or None
        Told of the number of maps, and of the lowest loss.
    visited : list of Visited
        Everything that can be chosen so far.
    """

    plan: MachinePlan
    parts: Sequence[Part]
    ranks: Ranks | None
    bounds: Bounds | None
    report: Callable[[int, float], None] | None = None
    visited: list[Visited] = field(default_factory=list, init=False)
    mixture: tuple[Recipe, FloatArray] | None = field(default=None, init=False)

    def run(self) -> None:
        """Compare everything, and mix what is best of every machine."""
        for machine in self.plan.machines:
            for width in self.plan.widths:
                self._follow(machine, width)
        self._mix()

    def _follow(self, machine: Machine, width: float) -> None:
        """Update the maps of all splits until held-out rows are predicted no better."""
        courses = [Course.start(machine, part.train, self.ranks, width) for part in self.parts]
        updates: tuple[float, ...] = ()
        lowest, worse = np.inf, 0
        most = MOST_UPDATES if self.plan.n_updates is None else self.plan.n_updates
        while True:
            fits = [self._fits(c.term, p) for c, p in zip(courses, self.parts, strict=True)]
            losses, decision = self._score(fits)
            if self.plan.n_updates is None or len(updates) == most:
                ingredient = Ingredient(machine, width, updates)
                terms = tuple(course.term for course in courses)
                self._add(Visited(machine.name, ingredient, losses, decision, terms))
            worse = worse + 1 if losses.min() >= (1.0 - GAIN) * lowest else 0
            lowest = min(lowest, float(losses.min()))
            if len(updates) == most or (self.plan.n_updates is None and worse == PATIENCE):
                return
            best = int(losses.argmin())
            updates = (*updates, self.plan.alphas[best])
            for course, (solutions, _) in zip(courses, fits, strict=True):
                course.update(course.inputs, solutions[best])

    def _add(self, visited: Visited) -> None:
        self.visited.append(visited)
        if self.report is not None:
            self.report(len(self.visited), min(one.loss for one in self.visited))

    def _fits(self, term: Term, part: Part) -> tuple[list[FloatArray], list[FloatArray]]:
        return self._fits_with(MixedKernel((term,), self.ranks), part)

    def _fits_with(
        self, kernel: MixedKernel, part: Part
    ) -> tuple[list[FloatArray], list[FloatArray]]:
        """Coefficients, and predictions of held-out rows, for every alpha."""
        train, test = part.train, part.test
        K = kernel.among(train.X)
        across = kernel.matrix(test.X, train.X)
        spectrum = RidgeSpectrum.of_kernel(K, train.y, train.weights)
        solutions, decisions = [], []
        for alpha in self.plan.alphas:
            a, c = spectrum.solution(alpha / float(train.weights.sum()), K)
            solutions.append(a)
            decisions.append(clip_decision(a @ across.T + c[:, None], self.bounds))
        return solutions, decisions

    def _score(
        self, fits: Sequence[tuple[list[FloatArray], list[FloatArray]]]
    ) -> tuple[FloatArray, FloatArray]:
        """Losses of all alphas, and the predictions with the best one."""
        joined = [np.hstack(parts) for parts in zip(*(held for _, held in fits), strict=True)]
        losses = np.array([self._loss(decision) for decision in joined])
        return losses, joined[int(losses.argmin())]

    def _loss(self, decision: FloatArray) -> float:
        """Mean of half the squared errors, as the objective counts them."""
        errors = np.square(decision - self.targets).sum(axis=0)
        return 0.5 * float(np.average(errors, weights=self.weights))

    @lazy
    def targets(self) -> FloatArray:
        """Targets of held-out rows, (n_targets, n_held_out)."""
        return np.hstack([part.test.y for part in self.parts])

    @lazy
    def weights(self) -> FloatArray:
        """Their weights, (n_held_out,)."""
        return np.concatenate([part.test.weights for part in self.parts])

    def _mix(self) -> None:
        """Add the kernels of the best maps up, weighted as their predictions would be."""
        best = self._best_of_machines()
        if len(best) < 2:
            return
        root = np.sqrt(self.weights / self.weights.sum())
        errors = np.array([((one.decision - self.targets) * root).ravel() for one in best])
        shares = mixing_weights(errors @ errors.T)
        shares = np.where(shares < SMALLEST_SHARE, 0.0, shares)
        order = np.argsort(-shares, kind="stable")[: np.count_nonzero(shares)]
        if len(order) < 2:
            return
        shares = shares[order] / shares[order].sum()
        chosen = [best[place] for place in order]
        fits = []
        for k, part in enumerate(self.parts):
            kernel = MixedKernel(tuple(one.terms[k] for one in chosen), self.ranks)
            fits.append(self._fits_with(kernel.reweighted(shares), part))
        losses, _ = self._score(fits)
        recipe = _recipe(chosen, shares, self.plan.alphas[int(losses.argmin())])
        self.mixture = recipe, losses

    def _best_of_machines(self) -> list[Visited]:
        """The best map of every machine, the first of equal ones."""
        names = dict.fromkeys(one.name for one in self.visited)
        return [
            min((one for one in self.visited if one.name == name), key=lambda one: one.loss)
            for name in names
        ]

    @property
    def best(self) -> Recipe:
        """The settings of the lowest held-out loss so far."""
        single = min(self.visited, key=lambda one: one.loss)
        if self.mixture is not None and self.mixture[1].min() < single.loss:
            return self.mixture[0]
        alpha = self.plan.alphas[int(single.losses.argmin())]
        return _recipe([single], np.ones(1), alpha)

    def kernels(self, recipe: Recipe) -> list[MixedKernel]:
        """The kernel of every split with settings that were visited."""
        found = [
            next(one for one in self.visited if _same(one.ingredient, ingredient))
            for ingredient in recipe.ingredients
        ]
        shares = np.array([ingredient.weight for ingredient in recipe.ingredients])
        return [
            MixedKernel(tuple(one.terms[k] for one in found), self.ranks).reweighted(shares)
            for k in range(len(self.parts))
        ]

    @property
    def record(self) -> SearchRecord:
        """What was compared; a mixture has the width and updates of its heaviest machine."""
        tried = [(one.name, one.ingredient, one.losses) for one in self.visited]
        if self.mixture is not None:
            recipe, losses = self.mixture
            tried.append((MIXTURE, recipe.ingredients[0], losses))
        alphas = self.plan.alphas
        rows = [(name, one, alpha) for name, one, _ in tried for alpha in alphas]
        losses = np.concatenate([losses for _, _, losses in tried])
        return SearchRecord(
            {
                "alpha": np.array([alpha for _, _, alpha in rows]),
                "width": np.array([one.width for _, one, _ in rows]),
                "n_updates": np.array([len(one.updates) for _, one, _ in rows]),
                "machine": np.array([name for name, _, _ in rows]),
            },
            losses,
            self._chosen(losses),
        )

    def _chosen(self, losses: FloatArray) -> int:
        """Place of the best settings; a mixture must be better than all single machines."""
        n_single = len(self.visited) * len(self.plan.alphas)
        single = int(losses[:n_single].argmin())
        rest = losses[n_single:]
        if len(rest) and rest.min() < losses[single]:
            return n_single + int(rest.argmin())
        return single


def _recipe(chosen: Sequence[Visited], shares: FloatArray, alpha: float) -> Recipe:
    ingredients = tuple(
        Ingredient(one.ingredient.machine, one.ingredient.width, one.ingredient.updates, float(s))
        for one, s in zip(chosen, shares, strict=True)
    )
    return Recipe(ingredients, alpha)


def _same(one: Ingredient, other: Ingredient) -> bool:
    return (one.machine, one.width, one.updates) == (other.machine, other.width, other.updates)

"""The forward pass: pairs of hinges that lower the squared error most, one pair at a time."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kernlens._array import FloatArray, IntArray
from kernlens._execution import map_blocks
from kernlens.methods.mars._sweep import COLLINEAR, best_knot
from kernlens.methods.mars.plan import SplinePlan
from kernlens.methods.mars.pruning import effective_parameters
from kernlens.methods.mars.terms import Terms, hinge

#: Probability of a run of noise of one sign between knots, in Friedman's formulas for their spans.
RUN = 0.05
#: Share of the variance that is left where only lost digits are.
ROUNDING = 1e-14
#: Ranks that a parent rises by per step that did not look at it (Friedman 1993, beta).
AGING = 1.0


def friedman_minspan(n_inputs: int, n_active: int) -> int:
    """Rows between knots (Friedman 1991, equation 43)."""
    return max(1, int(-np.log2(-np.log1p(-RUN) / (n_inputs * max(n_active, 1))) / 2.5))


def friedman_endspan(n_inputs: int, n_factors: int) -> int:
    """Rows beyond the last knots (Friedman 1991, equation 45); twice as many for products."""
    return int(3.0 - np.log2(RUN / n_inputs)) * (1 if n_factors == 1 else 2)


@dataclass(frozen=True)
class Candidate:
    """What one column gives below one parent."""

    parent: int
    column: int
    line: float
    new_line: bool
    gain: float
    knot: float
    has_knot: bool

    @property
    def drop(self) -> float:
        """How much squared error both take away."""
        return self.line + self.gain


@dataclass
class ForwardPass:
    """Terms so far, an orthonormal basis of their span, and what they leave of the targets.

    Attributes
    ----------
    plan : SplinePlan
    X : ndarray of shape (n_rows, n_inputs)
    y : ndarray of shape (n_targets, n_rows)
    weights : ndarray of shape (n_rows,)
    n_jobs : int or None
    """

    plan: SplinePlan
    X: FloatArray
    y: FloatArray
    weights: FloatArray
    n_jobs: int | None = None
    terms: Terms = field(init=False)
    values: FloatArray = field(init=False)
    n_steps: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        n, most = len(self.X), self.plan.max_terms
        self.terms = Terms.constant(self.plan.degree)
        self._roots = np.sqrt(self.weights)
        self.values = np.ones((n, 1))
        self._basis = np.zeros((n, most))
        self._basis[:, 0] = self._roots / np.sqrt(self.weights.sum())
        self._rest = np.ascontiguousarray((self.y * self._roots).T)
        self._take_off(self._basis[:, 0])
        self.total = float(np.sum(np.square(self._rest)))
        self.rest = self.total
        self._columns = np.ascontiguousarray(self.X.T)
        self._orders = [np.argsort(-x, kind="stable").astype(np.int32) for x in self._columns]
        #: Last drop below every parent, and the step that looked.
        self._drops, self._looked = [np.inf], [0]
        #: Inputs that a term has.
        self._known: set[int] = set()
        #: Parents and columns below them that gave nothing new.
        self._closed: set[tuple[int, int]] = set()

    @property
    def share_left(self) -> float:
        """Share of the variance that is not explained."""
        return self.rest / self.total if self.total > 0.0 else 0.0

    def step(self) -> bool:
        """Add the best pair; return whether there was one worth it."""
        n_terms, plan = len(self.terms), self.plan
        room = n_terms + 2 <= plan.max_terms
        few = effective_parameters(n_terms + 2, plan.penalty) >= float(self.weights.sum())
        if not room or few or self.share_left <= ROUNDING:
            return False
        while True:
            best = self._best()
            if best is None or self._worth(best) < plan.threshold * self.total:
                return False
            self._add(best)
            if len(self.terms) > n_terms:
                self.n_steps += 1
                return True
            # Within rounding it was in the span already: the sweep measures from another origin.
            self._closed.add((best.parent, best.column))

    def _best(self) -> Candidate | None:
        parents = self._parents()
        work = float(len(self.X)) * len(parents) * self.X.shape[1] * len(self.terms)
        columns = range(self.X.shape[1])
        found = map_blocks(
            lambda column: self._below(parents, column), columns, n_jobs=self.n_jobs, work=work
        )
        best: Candidate | None = None
        for place, parent in enumerate(parents):
            self._drops[parent], self._looked[parent] = 0.0, self.n_steps
            for of_column in found:
                one = of_column[place]
                if one is None:
                    continue
                worth = self._worth(one)
                self._drops[parent] = max(self._drops[parent], worth)
                if best is None or worth > self._worth(best):
                    best = one
        return best

    def _worth(self, one: Candidate) -> float:
        """What a candidate takes away, less for an input that no term has yet."""
        if one.column in self._known:
            return one.drop
        return one.drop / (1.0 + self.plan.new_input_penalty)

    def _parents(self) -> list[int]:
        """Terms that may get another factor; with `fast_k` those that promise most."""
        able = np.flatnonzero(self.terms.degrees < self.plan.degree)
        if self.plan.fast_k is None or len(able) <= self.plan.fast_k:
            return [int(parent) for parent in able]
        drops = np.array([self._drops[parent] for parent in able])
        ages = self.n_steps - np.array([self._looked[parent] for parent in able])
        ranks = np.empty(len(able))
        ranks[np.argsort(-drops, kind="stable")] = np.arange(len(able))
        first = np.argsort(ranks - AGING * ages, kind="stable")[: self.plan.fast_k]
        return sorted(int(parent) for parent in able[first])

    def _below(self, parents: list[int], column: int) -> list[Candidate | None]:
        """What a column gives below every parent; None where it is a factor of it already."""
        x, order = self._columns[column], self._orders[column]
        found: list[Candidate | None] = []
        out = np.zeros(5)
        plan, n_inputs = self.plan, self.X.shape[1]
        linear = plan.linear[column]
        for parent in parents:
            factors = self.terms.factors(parent)
            closed = (parent, column) in self._closed
            if closed or column in factors or not plan.allows({*factors, column}):
                found.append(None)
                continue
            b = np.ascontiguousarray(self.values[:, parent])
            span, end = plan.minspan, plan.endspan
            if span is None:
                span = friedman_minspan(n_inputs, int(np.count_nonzero(b > 0.0)))
            if end is None:
                end = friedman_endspan(n_inputs, len(factors) + 1)
            sweep = linear is not True
            terms = len(self.terms)
            best_knot(
                x, order, b, self._roots, self._basis, terms, self._rest, span, end, sweep, out
            )
            line, new_line, gain, knot, has_knot = map(float, out)
            if linear is False and not has_knot:
                found.append(None)
                continue
            one = Candidate(parent, column, line, new_line > 0, gain, knot, has_knot > 0)
            found.append(one)
        return found

    def _add(self, best: Candidate) -> None:
        """Add a pair, one of it where the other is in the span already, or a line."""
        only_hinges = self.plan.linear[best.column] is False
        wanted = best.gain >= self.plan.threshold * self.total or only_hinges
        if best.has_knot and (wanted or not best.new_line):
            for sign in (1, -1):
                self._add_term(best.parent, best.column, best.knot, sign)
        else:
            # Of the rows where there is anything: far from them a line is nearly its parent.
            active = self.values[:, best.parent] > 0.0
            lowest = float(self._columns[best.column][active].min())
            self._add_term(best.parent, best.column, lowest, 0)
        self.rest = float(np.sum(np.square(self._rest)))

    def _add_term(self, parent: int, column: int, knot: float, sign: int) -> None:
        values = self.values[:, parent] * hinge(self._columns[column] - knot, sign)
        n_terms = len(self.terms)
        new = values * self._roots
        length = float(new @ new)
        Q = self._basis[:, :n_terms]
        for _ in range(2):
            new = new - Q @ (Q.T @ new)
        rest = float(new @ new)
        if not rest > COLLINEAR * length:
            return
        new /= np.sqrt(rest)
        self._basis[:, n_terms] = new
        self._take_off(new)
        self.terms = self.terms.with_factor(parent, column, knot, sign)
        self.values = np.column_stack([self.values, values])
        self._known.add(column)
        self._drops.append(np.inf)
        self._looked.append(self.n_steps)

    def _take_off(self, direction: FloatArray) -> None:
        self._rest -= np.outer(direction, direction @ self._rest)


def subset_shares(
    terms: Terms, subsets: tuple[IntArray, ...], errors: FloatArray, n_inputs: int
) -> tuple[IntArray, FloatArray]:
    """Subsets that use every input, and what these lower the error by, (n_inputs,) each."""
    uses = terms.uses(n_inputs)
    counts, drops = np.zeros(n_inputs, dtype=np.int64), np.zeros(n_inputs)
    for size in range(1, len(subsets)):
        used = uses[subsets[size]].any(axis=0)
        counts += used
        drops += used * (errors[size - 1] - errors[size])
    return counts, np.maximum(drops, 0.0)

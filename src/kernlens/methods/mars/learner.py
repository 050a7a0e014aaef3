"""One fit: the forward pass, the pruning, and the coefficients of the terms that stay."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from kernlens._array import FloatArray, IntArray
from kernlens._result import Status
from kernlens._rows import CanonicalRows
from kernlens.base.fit_data import Stage
from kernlens.base.learner import Directions, Learner, LeftOut
from kernlens.methods.mars.exhaustive import best_subsets
from kernlens.methods.mars.forward import ForwardPass, subset_shares
from kernlens.methods.mars.function import SplineFunction
from kernlens.methods.mars.plan import LearnedSplines, SplinePlan
from kernlens.methods.mars.pruning import Pruned, prune
from kernlens.methods.mars.terms import Terms
from kernlens.subspace import average_outer_product, leading_directions

#: Rows whose gradients give the directions.
GRADIENT_ROWS = 2000
#: Folds of rows that are left out, and most rows of them.
N_FOLDS = 3
LEFT_OUT_ROWS = 5000
#: Folds that say how many terms stay.
PRUNING_FOLDS = 10


@dataclass
class SplineLearner(Learner[LearnedSplines]):
    """The fit to some rows.

    Attributes
    ----------
    plan : SplinePlan
    rows : CanonicalRows
    n_jobs : int or None
    stage : callable or None
        Whom steps are reported to.
    """

    plan: SplinePlan
    rows: CanonicalRows
    n_jobs: int | None = None
    stage: Stage | None = None
    _forward: ForwardPass | None = field(default=None, init=False)

    def learn(self) -> LearnedSplines:
        """Add terms, then prune them."""
        forward = self._begin()
        report = None if self.stage is None else self.stage("adding terms")
        self._forward = forward
        if report is not None:
            report(0, forward.share_left)
        while forward.step():
            if report is not None:
                report(forward.n_steps, forward.share_left)
        held_out = self._held_out_errors() if self.plan.pruning == "cv" else None
        return self._finish(forward, Status.CONVERGED, held_out)

    def finish_interrupted(self) -> LearnedSplines:
        """Prune the terms so far; before the first of them there is nothing yet."""
        if self._forward is None:
            raise KeyboardInterrupt
        return self._finish(self._forward, Status.INTERRUPTED)

    def left_out(self, learned: LearnedSplines) -> LeftOut:
        """Predict parts of the rows, each by a fit to the others."""
        rows = self.rows.take(slice(0, LEFT_OUT_ROWS))
        nothing = rows.take(slice(0, 0))
        predicted = [LeftOut(nothing.y, nothing.y, nothing.weights)]
        for train, test in rows.folds(N_FOLDS):
            function = replace(self, rows=rows.take(train), stage=None).learn().function
            part = rows.take(test)
            predicted.append(LeftOut(function.decision(part.X), part.y, part.weights))
        return LeftOut.joined(predicted)

    def directions_on(
        self, rows: CanonicalRows, strata: IntArray | None, learned: LearnedSplines
    ) -> Directions:
        """Directions of a function fitted to other rows."""
        return replace(self, rows=rows, stage=None).learn().directions

    def _begin(self) -> ForwardPass:
        rows = self.rows
        return ForwardPass(self.plan, rows.X, rows.y, rows.weights, self.n_jobs)

    def _prune(self, forward: ForwardPass) -> tuple[Terms, FloatArray, Pruned]:
        """Terms so far, their values, and the subsets along the pruning."""
        rows = self.rows
        # An interruption may come between the values of a term and its name.
        terms = forward.terms
        values = forward.values[:, : len(terms)]
        terms = terms.take(np.arange(values.shape[1]))
        roots = np.sqrt(rows.weights)[:, None]
        n_rows = float(rows.weights.sum())
        search = best_subsets if self.plan.pruning == "exhaustive" else prune
        return terms, values, search(values * roots, rows.y.T * roots, n_rows, self.plan.penalty)

    def _held_out_errors(self) -> FloatArray:
        """Mean squared errors of rows left out, by subsets of 1, 2, ... terms."""
        rows, most = self.rows, self.plan.max_terms
        errors = np.zeros(most)
        for train, test in rows.folds(PRUNING_FOLDS):
            others, part = replace(self, rows=rows.take(train), stage=None), rows.take(test)
            forward = others._begin()
            while forward.step():
                pass
            terms, _, pruned = others._prune(forward)
            values = terms.values(part.X)
            of_size = [
                part.weights @ np.sum(np.square(part.y.T - values[:, subset] @ coef), axis=1)
                for subset, coef in zip(pruned.subsets, pruned.coefs, strict=True)
            ]
            # A fold with fewer terms has its largest subset for all sizes beyond.
            errors += of_size + of_size[-1:] * (most - len(of_size))
        return errors / (rows.weights.sum() * len(rows.y))

    def _chosen(self, pruned: Pruned, held_out: FloatArray | None) -> int:
        """Position of the subset that stays."""
        rule = self.plan.pruning
        if held_out is not None:
            return int(np.argmin(held_out[: len(pruned.subsets)]))
        if rule is None:
            return len(pruned.subsets) - 1
        return pruned.best(rule if isinstance(rule, int) else None)

    def _finish(
        self, forward: ForwardPass, status: Status, held_out: FloatArray | None = None
    ) -> LearnedSplines:
        rows = self.rows
        terms, values, pruned = self._prune(forward)
        best = self._chosen(pruned, held_out)
        chosen = pruned.subsets[best]
        function = SplineFunction(terms.take(chosen), self._coef(values[:, chosen]), self.n_jobs)
        total = forward.total if forward.total > 0.0 else 1.0
        gcv_path, rss_path = pruned.gcv / len(rows.y), pruned.rss / total
        subsets, n_inputs = pruned.subsets[: best + 1], rows.X.shape[1]
        counts, gcv_drops = subset_shares(terms, subsets, gcv_path, n_inputs)
        return LearnedSplines(
            function=function,
            directions=self._directions(function),
            alpha=self.plan.penalty,
            objective=float(gcv_path[best]),
            history=(float(gcv_path[best]),),
            n_iter=max(1, forward.n_steps),
            status=status,
            gcv_path=gcv_path,
            rss_path=rss_path,
            n_subsets=counts,
            gcv_drops=gcv_drops,
            rss_drops=subset_shares(terms, subsets, rss_path, n_inputs)[1],
            cv_path=None if held_out is None else held_out[: len(pruned.subsets)],
        )

    def _coef(self, values: np.ndarray) -> np.ndarray:
        """Least squares coefficients of terms (n_rows, n_terms), (n_targets, n_terms)."""
        scaled = values * np.sqrt(self.rows.weights)[:, None]
        lengths = np.sqrt(np.sum(np.square(scaled), axis=0))
        targets = self.rows.y.T * np.sqrt(self.rows.weights)[:, None]
        Q, R = np.linalg.qr(scaled / lengths)
        return np.ascontiguousarray((np.linalg.solve(R, Q.T @ targets) / lengths[:, None]).T)

    def _directions(self, function: SplineFunction) -> Directions:
        """Directions from the average outer product of gradients."""
        some = self.rows.take(slice(0, GRADIENT_ROWS))
        slopes = function.gradient(some.X)
        # Squares of steep ones overflow.
        largest = float(np.abs(slopes).max(initial=0.0)) or 1.0
        product = average_outer_product(slopes / largest, some.weights)
        components, values = leading_directions(product)
        of_inputs = largest * np.sqrt(np.maximum(np.diagonal(product), 0.0))
        return Directions(components, largest * (largest * values), of_inputs)

"""One fit: alpha by rows left out, then the coefficients."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from kernlens._array import FloatArray, IntArray
from kernlens._lazy import lazy
from kernlens._result import Status
from kernlens._rows import CanonicalRows
from kernlens.base.fit_data import Stage
from kernlens.base.learner import Directions, Learned, Learner, LeftOut
from kernlens.base.search import SearchRecord
from kernlens.features.nystrom_centers import distinct_rows, uniform_centers
from kernlens.fits.held_out import held_out_loss
from kernlens.fits.nystrom_fit import NystromFitter
from kernlens.linalg.ridge_spectrum import RidgeSpectrum
from kernlens.linalg.whitened_features import WhitenedFeatures
from kernlens.losses import Loss
from kernlens.methods.brownian_ridge.function import BrownianFunction
from kernlens.methods.brownian_ridge.kernel import BrownianBlocks, brownian_kernel
from kernlens.methods.brownian_ridge.plan import BrownianPlan
from kernlens.subspace import average_outer_product, leading_directions

#: Values of alpha that are compared, in units of the mean of the centred kernel's diagonal.
ALPHAS = tuple(10.0 ** np.arange(1.0, -7.1, -0.5))
#: Rows that alpha is chosen on where there are more rows than centres.
SEARCH_ROWS = 5000
#: Rows whose gradients give the directions.
GRADIENT_ROWS = 2000


@dataclass
class BrownianLearner(Learner[Learned]):
    """The fit to some rows.

    Attributes
    ----------
    plan : BrownianPlan
    rows : CanonicalRows
    loss : Loss
        The squared one.
    seed : int
        Of the centres.
    n_jobs : int or None
    stage : callable or None
        Whom iterations are reported to.
    """

    plan: BrownianPlan
    rows: CanonicalRows
    loss: Loss
    seed: int
    n_jobs: int | None = None
    stage: Stage | None = None
    _alpha: float | None = field(default=None, init=False)
    _search: SearchRecord | None = field(default=None, init=False)

    def learn(self) -> Learned:
        """Choose alpha if there is a choice, and fit."""
        self._choose()
        return self._solve(Status.CONVERGED)

    def finish_interrupted(self) -> Learned:
        """Fit with the alpha that was chosen; without one there is nothing yet."""
        if self._alpha is None:
            raise KeyboardInterrupt
        return self._solve(Status.INTERRUPTED)

    def left_out(self, learned: Learned) -> LeftOut:
        """Predict every row of the search by a fit without it."""
        rows = self._searched
        shift = learned.alpha * float(self.rows.weights.sum()) / float(rows.weights.sum())
        return LeftOut(self._spectrum.predictions(shift), rows.y, rows.weights)

    def directions_on(
        self, rows: CanonicalRows, strata: IntArray | None, learned: Learned
    ) -> Directions:
        """Directions of a function fitted to other rows, ``alpha * n`` kept."""
        alpha = learned.alpha * float(self.rows.weights.sum()) / float(rows.weights.sum())
        plan = replace(self.plan, alphas=(alpha,))
        return replace(self, plan=plan, rows=rows, stage=None).learn().directions

    @lazy
    def _centers(self) -> FloatArray:
        candidates = distinct_rows(self.rows.group)
        random = np.random.RandomState(self.seed)
        chosen = np.sort(uniform_centers(candidates, self.plan.n_centers, random))
        centers: FloatArray = self.rows.X[chosen]
        return centers

    @property
    def _is_exact(self) -> bool:
        return len(self.rows.X) <= self.plan.n_centers

    @lazy
    def _searched(self) -> CanonicalRows:
        """Rows that are left out one at a time: all of them, or the first of many."""
        return self.rows if self._is_exact else self.rows.take(slice(0, SEARCH_ROWS))

    @lazy
    def _spectrum(self) -> RidgeSpectrum:
        rows = self._searched
        if self._is_exact:
            return RidgeSpectrum.of_kernel(brownian_kernel(rows.X, rows.X), rows.y, rows.weights)
        blocks = BrownianBlocks(rows.X, self._centers, self.n_jobs)
        return RidgeSpectrum.of_features(WhitenedFeatures(blocks).matrix(), rows.y, rows.weights)

    def _choose(self) -> None:
        """Compare values of alpha by rows left out; ``alpha * n`` is what carries over."""
        if self.plan.alphas is not None and len(self.plan.alphas) == 1:
            self._alpha = self.plan.alphas[0]
            return
        rows, spectrum = self._searched, self._spectrum
        ratio = float(rows.weights.sum()) / float(self.rows.weights.sum())
        given = self.plan.alphas
        shifts = (
            [a * spectrum.unit for a in ALPHAS] if given is None else [a / ratio for a in given]
        )
        losses = []
        report = None if self.stage is None else self.stage("choosing alpha")
        for number, shift in enumerate(shifts):
            predicted = spectrum.predictions(shift)
            losses.append(held_out_loss(self.loss, rows, predicted, self.plan.bounds))
            best = int(np.argmin(losses))
            self._alpha = shifts[best] * ratio
            if report is not None:
                report(number, losses[best])
        alphas = np.array(shifts) * ratio
        self._search = SearchRecord({"alpha": alphas}, np.array(losses), best)

    def _solve(self, status: Status) -> Learned:
        assert self._alpha is not None
        Z = self._centers
        fitter = NystromFitter(self.loss, self.rows.y, self.rows.weights, self._alpha)
        fit = fitter(BrownianBlocks(self.rows.X, Z, self.n_jobs))
        function = BrownianFunction(Z, fit.coefficients, fit.intercept, self.n_jobs)
        return Learned(
            function=function,
            directions=self._directions(function),
            alpha=self._alpha,
            objective=fit.value,
            history=(fit.value,),
            status=status,
            search=self._search,
        )

    def _directions(self, function: BrownianFunction) -> Directions:
        """Directions from the average outer product of gradients."""
        some = self.rows.take(slice(0, GRADIENT_ROWS))
        product = average_outer_product(function.gradient(some.X), some.weights)
        components, values = leading_directions(product)
        return Directions(components, values, np.sqrt(np.diagonal(product)))

"""What the two kitchen sink estimators share: the base predictors."""

from __future__ import annotations

from kernlens._validation import check_choice
from kernlens.methods.rkhs_weightings.instantiations import BASES, AnyInstantiation, Instantiation
from kernlens.methods.rkhs_weightings.plan import WeightingPlan
from kernlens.methods.rkhs_weightings.solvers.functional_gradient import FunctionalGradient
from kernlens.methods.rkhs_weightings.stream import StreamingRandomFeatures

SOLVERS = ("least_squares", "lasso", "exact")
#: What "auto" tries.
AUTO_BASES = ("relu", "sign", "stumps")
#: Kitchen sinks have no kernel of the weights; nothing depends on this.
ANY_CORRELATION = 0.5


class BaseKitchenSinks(StreamingRandomFeatures):
    """Everything of random kitchen sinks that does not depend on the kind of target."""

    _kitchen_sinks = True

    def _check_parameters(self) -> None:
        self._check_shared_parameters()
        check_choice("base", self.base, ("auto", *BASES))
        check_choice("solver", self.solver, SOLVERS)

    def _plan(self, n_rows: int, n_inputs: int, seed: int) -> WeightingPlan:
        names = AUTO_BASES if self.base == "auto" else (self.base,)
        return WeightingPlan(
            candidates=tuple(self._make(name, n_inputs) for name in names),
            alphas=self._given_alphas,
            mixed=bool(self.mix_alphas),
            solver=self.solver,
            penalty="l2",
            kitchen_sinks=True,
            paper_units=self.alpha_unit == "paper",
            intercept=bool(self.fit_intercept),
            n_weights=int(self.n_random_features),
            descent=FunctionalGradient(),
            seed=seed,
        )

    def _make(self, name: str, n_inputs: int) -> Instantiation:
        return Instantiation(name, n_inputs, ANY_CORRELATION, float(self.sigma))

    @property
    def _instantiation(self) -> AnyInstantiation:
        n_inputs = self._columns.n_inputs
        return Instantiation(self.instantiation_, n_inputs, ANY_CORRELATION, self._sigma)

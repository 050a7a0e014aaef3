"""What the two kitchen sink estimators share: arguments and base predictors."""

from __future__ import annotations

from typing import Any

from kernlens._reports import Listener
from kernlens.methods.rkhs_weightings.instantiations import AnyInstantiation, Instantiation
from kernlens.methods.rkhs_weightings.solvers import SOLVERS, WeightingSolver
from kernlens.methods.rkhs_weightings.stream import StreamMixin

#: Base predictors that "auto" compares.
AUTO_BASES = ("relu", "sign", "stumps")
#: Kitchen sinks have no kernel of the weights; nothing depends on this.
ANY_CORRELATION = 0.5


class BaseKitchenSinks(StreamMixin):
    """Everything of random kitchen sinks that does not depend on the kind of target."""

    _thrifty = ({"n_random_features": 300}, {"n_random_features": 100})

    _kitchen_sinks = True

    def __init__(
        self,
        *,
        base: str = "auto",
        solver: str = "least_squares",
        alpha: Any = "auto",
        mix_alphas: bool = True,
        sigma: float = 1.0,
        n_random_features: int = 1000,
        bias: float = 3.0,
        fit_intercept: bool = True,
        standardize: bool = True,
        n_directions: int | str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int | bool = False,
        callback: Listener | None = None,
    ) -> None:
        self.base = base
        self.solver = solver
        self.alpha = alpha
        self.mix_alphas = mix_alphas
        self.sigma = sigma
        self.n_random_features = n_random_features
        self.bias = bias
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.n_directions = n_directions
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def _solver_for(self, n_rows: int) -> type[WeightingSolver]:
        return SOLVERS[self.solver]

    def _candidates(
        self, n_inputs: int, seed: int, solver: type[WeightingSolver]
    ) -> tuple[AnyInstantiation, ...]:
        names = AUTO_BASES if self.base == "auto" else (self.base,)
        sigma = float(self.sigma)
        return tuple(Instantiation(name, n_inputs, ANY_CORRELATION, sigma) for name in names)

    @property
    def _instantiation(self) -> AnyInstantiation:
        n_inputs = self._columns.n_inputs
        return Instantiation(self.instantiation_, n_inputs, ANY_CORRELATION, self._sigma)

"""What the two RKHS weighting estimators share: arguments, and from them instantiations."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernlens._reports import Listener
from kernlens.features.weightings import CustomWeighting, PreparedWeighting
from kernlens.methods.rkhs_weightings.instantiations import (
    AnyInstantiation,
    CustomInstantiation,
    Instantiation,
    correlation_of,
)
from kernlens.methods.rkhs_weightings.options import (
    SMALLEST_CORRELATION,
    FunctionalGradient,
    PaperWidth,
)
from kernlens.methods.rkhs_weightings.solvers import SOLVERS, StochasticDescent, WeightingSolver
from kernlens.methods.rkhs_weightings.stream import StreamMixin
from kernlens.methods.rkhs_weightings.weight_function import WeightFunctionMixin

#: Up to this many rows ``solver="auto"`` is the exact kernel.
EXACT_ROWS = 2000
#: Instantiations and correlations that "auto" compares.
AUTO_INSTANTIATIONS = ("relu", "sign", "stumps")
AUTO_CORRELATIONS = (0.05, 0.2, 0.6, 0.95)
#: Stochastic gradients are of size kappa / theta, which grows like exp(n r): r is about 1/n.
DESCENT_INSTANTIATIONS = ("relu", "stumps")
DESCENT_RATES = (0.3, 1.0, 3.0)


class BaseRKHSWeighting(WeightFunctionMixin, StreamMixin):
    """Everything of RKHS weightings that does not depend on the kind of target."""

    _thrifty = (
        {"solver": "least_squares"},
        {"solver": "least_squares", "n_random_features": 300},
        {"solver": "least_squares", "n_random_features": 100},
    )

    _kitchen_sinks = False

    def __init__(
        self,
        *,
        instantiation: Any = "auto",
        solver: Any = "auto",
        penalty: str = "rkhs",
        alpha: Any = "auto",
        mix_alphas: bool = True,
        correlation: Any = "auto",
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
        self.instantiation = instantiation
        self.solver = solver
        self.penalty = penalty
        self.alpha = alpha
        self.mix_alphas = mix_alphas
        self.correlation = correlation
        self.n_random_features = n_random_features
        self.bias = bias
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.n_directions = n_directions
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def _check_parameters(self) -> None:
        super()._check_parameters()
        # Whatever "auto" becomes can have any penalty.
        if self.penalty not in self._solver_for(0).penalties:
            raise ValueError(
                "penalty='l2' is for solver='least_squares' and 'exact'; set penalty='rkhs'."
            )
        PaperWidth.of(self.correlation).check_for(self.instantiation)

    def _solver_for(self, n_rows: int) -> type[WeightingSolver]:
        if isinstance(self.solver, FunctionalGradient):
            return StochasticDescent
        if self.solver == "auto":
            return SOLVERS["exact" if n_rows <= EXACT_ROWS else "least_squares"]
        return SOLVERS[self.solver]

    @property
    def _descent(self) -> FunctionalGradient:
        given = isinstance(self.solver, FunctionalGradient)
        return self.solver if given else FunctionalGradient()

    @property
    def _penalized_norm(self) -> str:
        return str(self.penalty)

    def _candidates(
        self, n_inputs: int, seed: int, solver: type[WeightingSolver]
    ) -> tuple[AnyInstantiation, ...]:
        if isinstance(self.instantiation, CustomWeighting):
            rng = np.random.default_rng([seed, 1])
            return (CustomInstantiation(self.instantiation.prepared(n_inputs, rng)),)
        names: tuple[str, ...] = (self.instantiation,)
        if self.instantiation == "auto":
            names = DESCENT_INSTANTIATIONS if solver.descends else AUTO_INSTANTIATIONS
        sigma = float(PaperWidth.of(self.correlation).sigma)
        return tuple(
            Instantiation(name, n_inputs, r, sigma)
            for name in names
            for r in self._correlations(name, n_inputs, solver)
        )

    def _correlations(
        self, name: str, n_inputs: int, solver: type[WeightingSolver]
    ) -> tuple[float, ...]:
        """Correlations of a named instantiation to choose from."""
        width = PaperWidth.of(self.correlation)
        if width.correlations is not None:
            return width.correlations
        if width.by_formula:
            found = correlation_of(
                name, n_inputs, float(width.sigma), width.gamma, width.theta, width.kappa
            )
            # At the limits of gamma the correlation rounds to 0 or 1.
            return (float(np.clip(found, SMALLEST_CORRELATION, 1.0 - 1e-9)),)
        if solver.descends:
            return tuple(_descent_correlation(name, n_inputs, rate) for rate in DESCENT_RATES)
        if self.penalty == "l2" and not solver.draws:
            # The kernel of L2(p) does not depend on it.
            return AUTO_CORRELATIONS[2:3]
        return AUTO_CORRELATIONS

    def _store_instantiation(self, used: AnyInstantiation) -> None:
        self.correlation_: float | None = used.correlation
        self._custom = None
        if isinstance(used, CustomInstantiation):
            self.correlation_ = None
            rule = used.prepared
            self._custom = (rule.rule, rule.n_inputs, rule.nodes, rule.shares)

    @property
    def _instantiation(self) -> AnyInstantiation:
        if self._custom is not None:
            return CustomInstantiation(PreparedWeighting(*self._custom))
        assert self.correlation_ is not None
        n_inputs = self._columns.n_inputs
        return Instantiation(self.instantiation_, n_inputs, self.correlation_, self._sigma)


def _descent_correlation(name: str, n_inputs: int, rate: float) -> float:
    """A correlation for which stochastic gradients are not much larger than their mean."""
    return rate / (1.0 + rate) if name == "stumps" else rate / (rate + n_inputs)

"""The ways to learn a weight function, by name."""

from kernlens.methods.rkhs_weightings.solvers.descent import StochasticDescent
from kernlens.methods.rkhs_weightings.solvers.exact import Exact
from kernlens.methods.rkhs_weightings.solvers.lasso import SparseLeastSquares
from kernlens.methods.rkhs_weightings.solvers.least_squares import LeastSquares
from kernlens.methods.rkhs_weightings.solvers.solver import WeightingSolver

SOLVERS: dict[str, type[WeightingSolver]] = {
    solver.name: solver for solver in (Exact, LeastSquares, SparseLeastSquares, StochasticDescent)
}

__all__ = [
    "SOLVERS",
    "Exact",
    "LeastSquares",
    "SparseLeastSquares",
    "StochasticDescent",
    "WeightingSolver",
]

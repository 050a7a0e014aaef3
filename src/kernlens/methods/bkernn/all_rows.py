"""The last step of a fit of more rows than memory: functions on particles learned from a sample.

The exact functions have a knot at every row. Here every function has some dozens, the same for all
rows, so that all rows are one sum over blocks after another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from kernlens._array import BoolArray, FloatArray
from kernlens._rows import CanonicalRows
from kernlens.base.block_data import FitTable
from kernlens.kernels.knots import KnotSpace, make_knot_space
from kernlens.methods.bkernn.block_fit import fit_knots
from kernlens.methods.bkernn.block_sums import KnotModel, lower, ranges
from kernlens.methods.bkernn.knot_function import KnotFunctions
from kernlens.methods.bkernn.knots import number_of_knots, place_knots
from kernlens.methods.bkernn.objective import ParticleProblem
from kernlens.methods.bkernn.plan import LearnedParticles
from kernlens.methods.bkernn.tabulated import TabulatedFunctions

#: A particle whose projections differ by a smaller share of their size sees all rows at one place.
SMALLEST_RANGE = 1e-12


def functions_of_all_rows(
    table: FitTable,
    learned: LearnedParticles,
    problem: ParticleProblem,
    n_particles: int,
    sample: CanonicalRows,
    report: Callable[[int, float], None] | None,
) -> LearnedParticles:
    """What a sample has learned, with functions of all rows of a table.

    Alpha times the sum of the weights stays the same.

    Parameters
    ----------
    table : FitTable
    learned : LearnedParticles
    problem : ParticleProblem
    n_particles : int
        With those that have become zero.
    sample : CanonicalRows
        The rows that were learned from.
    report : callable or None
        Called with the number and the relative residual of every pass.
    """
    share = float(sample.weights.sum()) / table.total
    alpha = share * learned.alpha
    search = None if learned.search is None else learned.search.with_alpha_times(share)
    learned = replace(learned, alpha=alpha, search=search)
    if not len(learned.function.particles):
        return learned
    low, negative = table.table.fold(ranges, lower, learned.function.particles)
    high = -negative
    apart = high - low > SMALLEST_RANGE * (np.abs(low) + np.abs(high))
    if not apart.any():
        return learned
    particles, low, high = learned.function.particles[apart], low[apart], high[apart]
    n_knots = number_of_knots(len(particles))
    knots = place_knots(particles @ sample.X.T, sample.weights, low, high, n_knots)
    space = make_knot_space(problem.kernel, knots, n_particles)
    fit = fit_knots(
        table.table,
        table.total,
        KnotModel(space, particles, problem.loss),
        alpha,
        sample,
        _start(space, learned.function, apart),
        report=report,
        n_jobs=problem.n_jobs,
    )
    end = fit.point
    penalty = alpha * problem.penalty.value(_all_of(learned, problem, n_particles))
    return replace(
        learned,
        function=KnotFunctions.of(space, particles, end.u, end.constant, problem.n_jobs),
        objective=end.value + penalty,
        history=(fit.first + penalty, end.value + penalty),
        n_iter=fit.n_iter,
        status=fit.status,
    )


def _start(
    space: KnotSpace, function: TabulatedFunctions, apart: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Coordinates and constants of the function of a sample, taken at the knots."""
    knots = np.zeros((len(apart), space.knots.shape[1]))
    knots[apart] = space.knots
    values = function.contributions(knots)
    u = space.interpolating(values[:, apart])
    # What a constant was taken off the functions is in the values at any knot.
    missing = values.sum(axis=1)[:, 0] - space.tables(u).sum(axis=1)[:, 0]
    return u, function.intercept + missing


def _all_of(learned: LearnedParticles, problem: ParticleProblem, n_particles: int) -> FloatArray:
    """The particles as the penalty sees them, with those that are zero."""
    alive = learned.function.particles
    if problem.on_axes:
        # Lengths along the axes.
        alive = alive.sum(axis=1, keepdims=True)
    W = np.zeros((n_particles, alive.shape[1]))
    W[: len(alive)] = alive
    return W

"""The last step of a fit of more rows than memory: functions on particles learned from a sample.

The exact functions have a knot at every row. Here every function has some dozens, the same for all
rows, so that all rows are one sum over blocks after another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from kernlens._array import FloatArray
from kernlens._rows import CanonicalRows
from kernlens.base.block_data import FitTable
from kernlens.kernels.knots import make_knot_space
from kernlens.methods.bkernn.block_fit import fit_knots
from kernlens.methods.bkernn.block_sums import KnotModel, lower, ranges
from kernlens.methods.bkernn.knot_function import KnotFunctions
from kernlens.methods.bkernn.knots import number_of_knots, place_knots
from kernlens.methods.bkernn.objective import ParticleProblem
from kernlens.methods.bkernn.plan import LearnedParticles

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
    particles, low, high = _with_ranges(table, learned.function.particles)
    if not len(particles):
        return learned
    n_knots = number_of_knots(len(particles))
    knots = place_knots(particles @ sample.X.T, sample.weights, low, high, n_knots)
    space = make_knot_space(problem.kernel, knots, n_particles)
    fit = fit_knots(
        table.table,
        table.total,
        KnotModel(space, particles, problem.loss),
        alpha,
        sample,
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


def _with_ranges(
    table: FitTable, particles: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Particles that tell rows apart, and the range of the projections on each; one pass."""
    if not len(particles):
        return particles, np.empty(0), np.empty(0)
    low, negative = table.table.fold(ranges, lower, particles)
    high = -negative
    apart = high - low > SMALLEST_RANGE * (np.abs(low) + np.abs(high))
    return particles[apart], low[apart], high[apart]


def _all_of(learned: LearnedParticles, problem: ParticleProblem, n_particles: int) -> FloatArray:
    """The particles as the penalty sees them, with those that are zero."""
    alive = learned.function.particles
    if problem.on_axes:
        # Lengths along the axes.
        alive = alive.sum(axis=1, keepdims=True)
    W = np.zeros((n_particles, alive.shape[1]))
    W[: len(alive)] = alive
    return W

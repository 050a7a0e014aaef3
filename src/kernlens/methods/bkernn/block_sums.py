"""What a fit of functions with knots needs of a block of rows: plain functions of a block.

Everything that they are called with, and return, is as large as the knots of the particles. Rows of
a block are looked at some thousand at a time, because they have a projection on every particle.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kernlens._array import FloatArray
from kernlens._execution import split_range
from kernlens.blocks.block import Block
from kernlens.kernels.knots import KnotSpace, Seen
from kernlens.losses import Loss

#: Projections that exist at once.
PROJECTIONS = 400_000


@dataclass(frozen=True)
class KnotModel:
    """Functions of projections, and how they are judged.

    Attributes
    ----------
    space : KnotSpace
        Functions of one projection each.
    particles : ndarray of shape (m, n_inputs)
    loss : Loss
    """

    space: KnotSpace
    particles: FloatArray
    loss: Loss

    def project(self, X: FloatArray) -> FloatArray:
        """Projections of rows, (m, n_rows)."""
        return np.ascontiguousarray(self.particles @ X.T)


def ranges(block: Block, particles: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The lowest projection on every particle of rows with a weight, and minus the highest."""
    low = np.full(len(particles), np.inf)
    high = np.full(len(particles), np.inf)
    X = block.X[block.weights > 0.0]
    for rows in _some_rows(len(X), len(particles)):
        projections = particles @ X[rows].T
        low = np.minimum(low, projections.min(axis=1))
        high = np.minimum(high, -projections.max(axis=1))
    return low, high


def lower(
    one: tuple[FloatArray, FloatArray], other: tuple[FloatArray, FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """The lower ones of both: ranges of the rows of two blocks."""
    return np.minimum(one[0], other[0]), np.minimum(one[1], other[1])


def losses_and_slopes(
    block: Block, model: KnotModel, tables: FloatArray, constant: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Sums of weighted losses (1,), and their slopes in tables (t, m, n_knots) and constants (t,).

    Parameters
    ----------
    block : Block
    model : KnotModel
    tables : ndarray of shape (t, m, n_knots)
        Of the functions, see :class:`KnotSpace`.
    constant : ndarray of shape (t,)
    """
    value, sums, totals = np.zeros(1), np.zeros(tables.shape), np.zeros(len(tables))
    for rows, seen in _seen(block, model):
        y, weights = block.y[:, rows], block.weights[rows]
        f = seen.values(tables) + constant[:, None]
        value += weights @ model.loss.values(y, f)
        slopes = weights * model.loss.gradient(y, f)
        sums += seen.sums(slopes)
        totals += slopes.sum(axis=1)
    return value, sums, totals


def curved(
    block: Block,
    model: KnotModel,
    tables: FloatArray,
    constant: FloatArray,
    move: FloatArray,
    constant_move: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Curvature of the sum of losses at some functions, times a move of them.

    Parameters
    ----------
    block, model, tables, constant
        As in :func:`losses_and_slopes`.
    move, constant_move : ndarray of shape (t, m, n_knots), (t,)
        Tables and constants of a direction.

    Returns
    -------
    tuple of ndarray of shape (t, m, n_knots), (t,)
    """
    sums, totals = np.zeros(move.shape), np.zeros(len(move))
    for rows, seen in _seen(block, model):
        y, weights = block.y[:, rows], block.weights[rows]
        # Squares are curved alike everywhere.
        f = y if model.loss.quadratic else seen.values(tables) + constant[:, None]
        root, _ = model.loss.working_system(y, f, weights)
        moved = seen.values(move) + constant_move[:, None]
        bent = root.apply(root.adjoint(moved))
        sums += seen.sums(bent)
        totals += bent.sum(axis=1)
    return sums, totals


def _seen(block: Block, model: KnotModel) -> Iterator[tuple[slice, Seen]]:
    for rows in _some_rows(len(block), len(model.particles)):
        yield rows, model.space.seen_by(model.project(block.X[rows]))


def _some_rows(n_rows: int, n_particles: int) -> list[slice]:
    return split_range(n_rows, max(1, PROJECTIONS // max(1, n_particles)))

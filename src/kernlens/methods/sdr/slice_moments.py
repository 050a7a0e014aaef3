"""Moments of inputs in every slice: of rows, or from sums over the blocks of a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kernlens._array import FloatArray
from kernlens._lazy import lazy
from kernlens.blocks.block import Block
from kernlens.blocks.table import BlockTable
from kernlens.methods.sdr.slices import Slices
from kernlens.methods.sdr.whitening import Whitening


@dataclass(frozen=True)
class SliceMoments:
    """Moments of whitened inputs in the slices of one target.

    Attributes
    ----------
    total : float
        Sum of the weights, the effective number of rows.
    shares : ndarray of shape (n_slices,)
        Share of the weight.
    means : ndarray of shape (n_slices, rank)
    make_seconds : callable
        Computes `seconds`, which not all methods need.
    """

    total: float
    shares: FloatArray
    means: FloatArray
    make_seconds: Callable[[], FloatArray]

    @classmethod
    def of_rows(cls, slices: Slices, whitened: FloatArray, weights: FloatArray) -> SliceMoments:
        """Of whitened rows (n_rows, rank) with weights (n_rows,)."""
        return cls(
            float(weights.sum()),
            slices.shares(weights),
            slices.means(whitened, weights),
            lambda: slices.second_moments(whitened, weights),
        )

    @lazy
    def seconds(self) -> FloatArray:
        """Means of ``z z^T``, (n_slices, rank, rank)."""
        return self.make_seconds()

    @property
    def covariance(self) -> FloatArray:
        """That of all rows, (rank, rank)."""
        mean: FloatArray = np.tensordot(self.shares, self.seconds, axes=1)
        return mean

    @property
    def between(self) -> FloatArray:
        """Covariance of the means, (rank, rank)."""
        between: FloatArray = (self.means.T * self.shares) @ self.means
        return between


@dataclass(frozen=True)
class SliceSums:
    """Sums over rows in the slices of one target.

    Attributes
    ----------
    masses : ndarray of shape (n_slices,)
        Of the weights.
    sums : ndarray of shape (n_slices, n_inputs)
        Of the inputs.
    products : ndarray of shape (n_slices, n_inputs, n_inputs)
        Of ``x x^T``.
    """

    masses: FloatArray
    sums: FloatArray
    products: FloatArray

    @property
    def mean(self) -> FloatArray:
        """Mean of all rows, (n_inputs,)."""
        mean: FloatArray = self.sums.sum(axis=0) / self.masses.sum()
        return mean

    @property
    def covariance(self) -> FloatArray:
        """Covariance of all rows, (n_inputs, n_inputs)."""
        mean = self.mean
        product: FloatArray = self.products.sum(axis=0) / self.masses.sum()
        return product - np.outer(mean, mean)

    def whitened(self, whitening: Whitening) -> SliceMoments:
        """Moments of what a whitening makes of the inputs."""
        present = self.masses > 0.0
        masses = self.masses[present]
        means = self.sums[present] / masses[:, None] - whitening.mean
        centered = self.products[present] / masses[:, None, None] - _about(means, whitening.mean)
        basis = whitening.basis
        return SliceMoments(
            float(masses.sum()),
            masses / masses.sum(),
            means @ basis,
            lambda: basis.T @ centered @ basis,
        )


def sums_of_slices(table: BlockTable, borders: Sequence[FloatArray]) -> list[SliceSums]:
    """Sums over all rows in slices of every target; one pass.

    Cost O(n d^2) for every target. A block sends s (1 + d + d^2) numbers for s slices.

    Parameters
    ----------
    table : BlockTable
        Inputs (n_rows, d), whose means are near zero, and targets.
    borders : sequence of ndarray of shape (n_slices - 1,)
        Increasing, for every target; a value at a border is above it.
    """
    found = table.sum(_sums_of_block, tuple(borders))
    return [SliceSums(*found[start : start + 3]) for start in range(0, len(found), 3)]


def _sums_of_block(block: Block, borders: tuple[FloatArray, ...]) -> tuple[FloatArray, ...]:
    parts: list[FloatArray] = []
    d = block.X.shape[1]
    for target, ends in zip(block.y, borders, strict=True):
        numbers, n_slices = np.searchsorted(ends, target, side="right"), len(ends) + 1
        sums, products = np.zeros((n_slices, d)), np.zeros((n_slices, d, d))
        for number in range(n_slices):
            rows = numbers == number
            some, weights = block.X[rows], block.weights[rows]
            sums[number] = weights @ some
            products[number] = (some.T * weights) @ some
        masses = np.bincount(numbers, weights=block.weights, minlength=n_slices)
        parts += [masses.astype(np.float64), sums, products]
    return tuple(parts)


def _about(means: FloatArray, mean: FloatArray) -> FloatArray:
    """What ``E[x x^T]`` has beyond ``E[(x - mean) (x - mean)^T]``, for means less `mean`."""
    crossed = means[:, :, None] * mean
    about: FloatArray = crossed + crossed.transpose(0, 2, 1) + np.outer(mean, mean)
    return about

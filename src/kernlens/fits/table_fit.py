"""Coefficients of features, or of Nyström centres, from all rows of a table.

A sample has given the features. The objective is that of :mod:`kernlens.fits.nystrom_fit`, in the
same whitened features; sums over the rows are sums over the blocks of the table.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from kernlens._array import FloatArray
from kernlens._execution import split_range, sum_blocks
from kernlens.blocks.block import Block
from kernlens.blocks.table import BlockTable
from kernlens.fits.feature_newton import ROWS_PER_BLOCK
from kernlens.fits.table_newton import BlockModel, TableNewton
from kernlens.fits.tuned_alpha import FixedKernelRidge
from kernlens.linalg.ridge_system import BlockPart, RidgeSystem, accumulate_ridge
from kernlens.linalg.whitened_features import WhitenedFeatures
from kernlens.losses import Loss

#: Multiples of the alpha of a sample that are tried for all rows, largest first. More rows allow
#: rougher functions.
AROUND = tuple(10.0 ** np.arange(1.0, -4.1, -0.5))
#: Share by which a smaller alpha must lower the held-out loss: rounding does not choose.
CLEAR_GAIN = 1e-3


class AllRows(Protocol):
    """All rows of a fit, as `kernlens.base.block_data.FitTable` has them."""

    @property
    def table(self) -> BlockTable:
        """The rows in the units of the fit."""

    @property
    def total(self) -> float:
        """Sum of the weights."""

    def part(self, *, held_out: bool) -> BlockTable:
        """The rows that are held out to choose by, or the others."""


class RowFeatures(Protocol):
    """Features of any rows, in which the penalty is the Euclidean norm; it is sent to the rows."""

    @property
    def shift(self) -> FloatArray:
        """About their mean, (n_columns,)."""

    def __call__(self, X: FloatArray) -> FloatArray:
        """Features (n_rows, n_columns), a new array."""


@dataclass(frozen=True)
class TableFit:
    """Coefficients of features, or of centres, and what they were found with.

    Attributes
    ----------
    coefficients : ndarray of shape (n_targets, n_columns)
    intercept : ndarray of shape (n_targets,)
    alpha : float
    value : float
        The objective, ``(1/Wt) sum_i w_i loss(y_i, f(x_i)) + (alpha/2) |f|^2``.
    """

    coefficients: FloatArray
    intercept: FloatArray
    alpha: float
    value: float = np.nan


def fit_features(
    rows: AllRows, features: RowFeatures, loss: Loss, start: TableFit, *, choose: bool = False
) -> TableFit:
    """Fit the coefficients of features on all rows.

    Parameters
    ----------
    rows : AllRows
    features : RowFeatures
    loss : Loss
    start : TableFit
        What a sample has given.
    choose : bool
        Whether alpha is chosen again, by rows held out. Newton's method, for which every alpha
        costs passes of its own, keeps the one of the sample.
    """
    alpha, system = start.alpha, None
    if not loss.quadratic:
        newton = TableNewton(rows.table, rows.total, BlockModel(features, loss, True), alpha)
        return _newton_fit(newton, start)
    if choose:
        alpha, system = _chosen(features, rows, alpha)
    if system is None:
        system = rows.table.fold_present(feature_system, RidgeSystem.merged, features)
        assert system is not None
    b, intercept = system.solve(alpha)
    penalty = alpha * float(np.vdot(b, b))
    value = 0.5 * (float(system.mean_losses(b, intercept).sum()) + penalty)
    return TableFit(b, intercept, alpha, value)


def feature_system(block: Block, features: RowFeatures) -> RidgeSystem:
    """Normal equations of the rows of a block, with an intercept."""

    def over_slices(part: BlockPart) -> list[FloatArray]:
        return sum_blocks(
            lambda rows: part(rows, features(block.X[rows])),
            split_range(len(block), ROWS_PER_BLOCK),
            n_jobs=1,
        )

    return accumulate_ridge(over_slices, block.y, block.weights, True, features.shift)


def _newton_fit(newton: TableNewton, start: TableFit) -> TableFit:
    b, intercept, value = newton.minimize((start.coefficients, start.intercept))
    return TableFit(b, intercept, newton.alpha, value)


def _chosen(features: RowFeatures, rows: AllRows, alpha: float) -> tuple[float, RidgeSystem | None]:
    """The alpha around a given one that predicts held-out rows best, and the system of all rows."""
    train, test = (
        rows.part(held_out=held_out).fold_present(feature_system, RidgeSystem.merged, features)
        for held_out in (False, True)
    )
    if train is None or test is None:
        return alpha, None
    alphas = [alpha * factor for factor in AROUND]
    losses = [float(test.mean_losses(*fit).sum()) for fit in train.solve_along(alphas)]
    most = min(losses) * (1.0 + CLEAR_GAIN)
    close = [one for one, loss in zip(alphas, losses, strict=True) if loss <= most]
    return float(max(close, default=alpha)), train.merged(test)


@dataclass(frozen=True)
class CenterFeatures:
    """Whitened features of a kernel against centres.

    Attributes
    ----------
    ridge : FixedKernelRidge
        Kernels of rows against centres.
    kernel : object
        What the kernel depends on, such as a map.
    Z : ndarray of shape (n_centers, n_inputs)
    root : ndarray of shape (n_centers, n_centers)
        Cholesky factor of the kernel of the centres.
    """

    ridge: FixedKernelRidge
    kernel: Any
    Z: FloatArray
    root: FloatArray

    @classmethod
    def of(cls, ridge: FixedKernelRidge, kernel: Any, Z: FloatArray) -> CenterFeatures:
        """Factor the kernel of the centres."""
        return cls(ridge, kernel, Z, WhitenedFeatures(ridge.blocks(kernel, Z[:1], Z)).root)

    @property
    def shift(self) -> FloatArray:
        """The mean of the features of the centres, which stand for the rows."""
        mean: FloatArray = self.root.mean(axis=1)
        return mean

    def __call__(self, X: FloatArray) -> FloatArray:
        return self.at(X).matrix()

    def at(self, X: FloatArray) -> WhitenedFeatures:
        """The features of some rows, block by block."""
        return WhitenedFeatures(self.ridge.blocks(self.kernel, X, self.Z), root=self.root)


def fit_centers(
    rows: AllRows,
    ridge: FixedKernelRidge,
    kernel: Any,
    Z: FloatArray,
    start: TableFit,
    *,
    choose: bool = False,
) -> TableFit:
    """Fit the coefficients of centres on all rows, by the loss of `ridge`.

    Parameters
    ----------
    rows : AllRows
    ridge : FixedKernelRidge
    kernel : object
        What the kernel depends on, such as a map.
    Z : ndarray of shape (n_centers, n_inputs)
    start : TableFit
        What a sample has given for the centres.
    choose : bool
        As in :func:`fit_features`.
    """
    features = CenterFeatures.of(ridge, kernel, Z)
    of_centers = features.at(Z[:1])
    whitened = replace(start, coefficients=of_centers.whitened(start.coefficients))
    found = fit_features(rows, features, ridge.loss, whitened, choose=choose)
    return replace(found, coefficients=of_centers.coefficients(found.coefficients))

"""Random features in coordinates where the penalty is the plain Euclidean norm.

With features F(x) (T,) and the penalty a^T M a, M the Gram matrix of the weights (norm of the
RKHS), that of L2(p), or a multiple of the identity (kitchen sinks), P = F R^{-1} with R^T R = M
turns the fit into ridge regression (Algorithm 4 in the stable form: the printed system
F^T F + m lambda M has a condition number that is that of M times larger). R comes from a pivoted
Cholesky factorisation, which leaves out features that depend on others to twelve digits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from kernlens._array import FloatArray
from kernlens._execution import map_blocks, single_threaded_blas, split_range, sum_blocks
from kernlens.blocks.block import Block
from kernlens.blocks.table import BlockTable
from kernlens.features.random_maps import FeatureMap
from kernlens.features.weightings import Weighting
from kernlens.linalg.ridge_system import RidgeSystem, accumulate_ridge
from kernlens.linalg.triangular import PivotedCholesky, divide_by_upper

#: Pivots below this share of the largest one are rounding.
CUTOFF = 1e-12
#: Up to this condition number the sums of products of features may be mapped, and not the features
#: themselves: half the work. The condition number times this many roundings must be less than the
#: smallest regularisation that they are used with.
WELL_CONDITIONED = 1e6
ROUNDINGS = 100.0
#: Entries of a block of features: for sums, whose T^2 parts are then few, and for values.
SUM_ENTRIES = 4_000_000
BLOCK_ENTRIES = 1_000_000
#: Sums of products of larger numbers may overflow in single precision.
LARGEST_SINGLE = 1e10
#: Elementary operations per entry, for the choice between one thread and several.
WORK_PER_ENTRY = 50


@dataclass(frozen=True)
class FeatureSpace:
    """Features P, ridge regression on which is the fit.

    Attributes
    ----------
    features : FeatureMap
        F, those that are kept.
    kept : ndarray of shape (k,)
        Which of the weights.
    scales : ndarray of shape (k,)
        Factors of the features.
    root : ndarray of shape (k, k) or None
        R, upper triangular; None for the identity. ``P = F diag(scales) R^{-1}``.
    log_scale : float
        P is to be multiplied by its exponential to have the norm of the function space.
    condition : float
        Condition number of M, roughly.
    """

    features: FeatureMap
    kept: NDArray[np.integer]
    scales: FloatArray
    root: FloatArray | None
    log_scale: float
    condition: float

    @classmethod
    def of_weighting(cls, weighting: Weighting, W: FloatArray, penalty: str) -> FeatureSpace:
        """Features E_w[K(w_t, w) phi(w, .)], norm of alpha in H ("rkhs") or L2(p) ("l2")."""
        features, log_factors = weighting.expectation(W)
        shift = float(np.max(log_factors))
        scales = np.exp(log_factors - shift)
        used = np.flatnonzero(scales > np.finfo(np.float64).tiny)
        log_penalty = 0.0
        if penalty == "l2":
            logarithms = weighting.log_square_gram(W[used])
            log_penalty = float(np.max(np.diagonal(logarithms)))
            M = np.exp(logarithms - log_penalty)
        else:
            M = weighting.gram(W[used], W[used])
        factor = PivotedCholesky.of(M, CUTOFF)
        kept = used[factor.kept]
        return cls(
            features.take(kept),
            kept,
            scales[kept],
            factor.root,
            shift - 0.5 * log_penalty,
            factor.condition,
        )

    @classmethod
    def of_scaled(cls, weighting: Weighting, W: FloatArray) -> FeatureSpace:
        """Features E_w[K(w_t, w) phi(w, .)] as they are, up to a common factor."""
        features, log_factors = weighting.expectation(W)
        shift = float(np.max(log_factors))
        return cls(features, np.arange(len(W)), np.exp(log_factors - shift), None, shift, 1.0)

    @classmethod
    def of_kitchen_sinks(cls, weighting: Weighting, W: FloatArray) -> FeatureSpace:
        """Features phi(w_t, .) / sqrt(T) with the Euclidean norm.

        That is f = (1/T) sum_t a_t phi_t with the penalty lambda |a|^2 / T of (24), of which the
        system (25) lacks a factor 1/T of Phi^T Phi.
        """
        scales = np.full(len(W), len(W) ** -0.5)
        return cls(weighting.base(W), np.arange(len(W)), scales, None, 0.0, 1.0)

    def well_conditioned(self, smallest: float) -> bool:
        """Whether sums over rows may be mapped afterwards, see :meth:`system`."""
        lost = ROUNDINGS * float(np.finfo(np.float64).eps)
        return self.condition <= min(WELL_CONDITIONED, smallest / lost)

    def matrix(self, X: FloatArray) -> FloatArray:
        """P of some rows, (n_samples, k)."""
        P = self.features.evaluate(X)
        P *= self.scales.astype(P.dtype, copy=False)
        if self.root is None:
            return P
        return divide_by_upper(P, self.root.astype(P.dtype, copy=False))

    def coefficients(self, b: FloatArray) -> FloatArray:
        """Coefficients of F, (n_targets, k), for those of P."""
        if self.root is None:
            return b * self.scales
        solved: FloatArray = solve_triangular(self.root, b.T, check_finite=False)
        return solved.T * self.scales

    def system(
        self,
        X: FloatArray,
        y: FloatArray,
        weights: FloatArray,
        intercept: bool = True,
        n_jobs: int | None = None,
        precision: type[np.floating] = np.float64,
        smallest: float = 1e-8,
    ) -> RidgeSystem:
        """Normal equations of P, with an intercept or without, summed over blocks of rows.

        O(n T d + n T^2 + T^3); memory of 8 partial sums of T^2 and of a few blocks, which are of
        the given precision. The sums have the digits that a regularisation of `smallest`, relative
        to the mean square of P, needs.
        """
        system = self.sums(X, y, weights, intercept, n_jobs, precision, smallest)
        return self.mapped(system, smallest)

    def sums(
        self,
        X: FloatArray,
        y: FloatArray,
        weights: FloatArray,
        intercept: bool,
        n_jobs: int | None,
        precision: type[np.floating],
        smallest: float,
    ) -> RidgeSystem:
        """What :meth:`mapped` makes the normal equations of; merged sums are those of all rows."""
        features = self.features.evaluate if self.well_conditioned(smallest) else self.matrix

        def evaluate(rows: FloatArray) -> FloatArray:
            return features(rows.astype(precision, copy=False))

        blocks = split_range(len(X), max(64, SUM_ENTRIES // max(1, len(self.kept))))
        shift = np.zeros(len(self.kept))
        if intercept:
            # What remains of the mean when that of some rows is taken off is small.
            shift = evaluate(X[:: max(1, len(X) // 100)]).mean(axis=0, dtype=np.float64)
        work = float(WORK_PER_ENTRY * len(X) * len(self.kept))
        with single_threaded_blas():
            return accumulate_ridge(
                lambda part: sum_blocks(
                    lambda rows: part(rows, evaluate(X[rows])), blocks, n_jobs=n_jobs, work=work
                ),
                y,
                weights,
                intercept,
                shift,
            )

    def system_of_table(
        self, table: BlockTable, intercept: bool, smallest: float
    ) -> RidgeSystem | None:
        """Normal equations of all rows of a table; None without a row."""
        found = table.fold_present(block_sums, RidgeSystem.merged, self, intercept, smallest)
        return None if found is None else self.mapped(found, smallest)

    def mapped(self, system: RidgeSystem, smallest: float) -> RidgeSystem:
        """The normal equations, from sums for regularisations from `smallest` on."""
        if not self.well_conditioned(smallest):
            return system
        if self.root is None:
            return system.scaled(self.scales)
        return system.divided_by_triangle(self.root / self.scales)


def block_sums(block: Block, space: FeatureSpace, intercept: bool, smallest: float) -> RidgeSystem:
    """The sums of the rows of a block."""
    return space.sums(block.X, block.y, block.weights, intercept, 1, np.float64, smallest)


def fits_single_precision(X: FloatArray) -> bool:
    """Whether rows are of single precision, and of sizes whose products it holds, too."""
    if X.dtype != np.float32:
        return False
    sizes = np.abs(X).max(axis=1)
    return bool(sizes.max() < LARGEST_SINGLE and sizes[sizes > 0.0].min(initial=1.0) > 1e-10)


def decision_in_blocks(
    features: FeatureMap, X: FloatArray, coefficients: FloatArray, n_jobs: int | None
) -> FloatArray:
    """``coefficients @ features(X)^T``, (n_targets, n_samples), in blocks of rows.

    Parameters
    ----------
    features : FeatureMap
    X : ndarray of shape (n_samples, n_inputs)
    coefficients : ndarray of shape (n_targets, T)
    n_jobs : int or None
    """
    n_features = coefficients.shape[1]
    blocks = split_range(len(X), max(64, BLOCK_ENTRIES // max(1, n_features)))
    transposed = coefficients.T.astype(X.dtype, copy=False)
    with single_threaded_blas():
        parts = map_blocks(
            lambda rows: features.evaluate(X[rows]) @ transposed,
            blocks,
            n_jobs=n_jobs,
            work=float(WORK_PER_ENTRY * len(X) * n_features),
        )
    return np.concatenate(parts).T.astype(np.float64, copy=False)

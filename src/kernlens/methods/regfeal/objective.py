"""What RegFeaL minimises, with the function minimised out for given directions.

    J(f, Lambda) = (1/Wt) sum_i w_i loss(y_i, f(x_i)) + |f|_Lambda^2 / 2 + mu eps sum_a 1/(2 eta_a)
    |f|_Lambda^2 = sum_alpha fhat(alpha)^2 (lam + mu alpha . 1/eta) / c_{|alpha|}

With the squared loss ``(y - f)^2 / 2`` this is half of (3.4). Minimised over Lambda it is the loss
plus ``(lam Omega_0^2 + mu Omega^2) / 2``: Lemmas 3.1 to 3.3 print Omega^r where the minimum over
eta is Omega^2, so Algorithm 1 does not minimise (2.8) and (2.11) as printed, but these with
Omega^2, which have the same stationary points for another mu.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from kernlens._array import FloatArray, IntArray
from kernlens._execution import sum_blocks
from kernlens._lazy import lazy
from kernlens._rows import CanonicalRows
from kernlens.features.hermite import HermiteFeatures
from kernlens.features.hermite_indices import DegreeSequence, GeometricSequence, Smoothness
from kernlens.fits.feature_newton import FeatureNewton
from kernlens.fits.kernel_fit import KernelFit, KernelFitter
from kernlens.fits.table_fit import AllRows, TableFit, fit_features
from kernlens.kernels.hermite import COARSE, HermiteKernel, Precision
from kernlens.linalg.dense_kernel import DenseKernel
from kernlens.linalg.ridge_system import BlockPart, accumulate_ridge
from kernlens.losses import Loss
from kernlens.methods.regfeal.directions import WeightedDirections
from kernlens.methods.regfeal.function import (
    HermiteFunction,
    KernelFunction,
    PolynomialFunction,
)
from kernlens.methods.regfeal.options import IndexRule

#: Largest feature times the root of its weight; sums of squares are then far from overflowing.
LARGEST_SCALED = 1e140


@dataclass
class HermitePoint:
    """Directions with the best function on them.

    Attributes
    ----------
    directions : WeightedDirections
    function : HermiteFunction
    decision : ndarray of shape (n_targets, n_rows)
    value : float
        The objective J.
    start : KernelFit or None
        What a nearby fit can start from.
    """

    directions: WeightedDirections
    function: HermiteFunction
    decision: FloatArray
    value: float
    objective: HermiteObjective
    start: KernelFit | None = None

    @lazy
    def derivatives(self) -> tuple[FloatArray, FloatArray]:
        """M_f in the coordinates R^T x, and the gradient of J in R, (n_features, n_directions)."""
        rows, loss = self.objective.rows, self.objective.loss
        slopes = -rows.weights * loss.gradient(rows.y, self.decision) / rows.weights.sum()
        M, pull = self.function.derivatives(rows.X, slopes)
        return M, -(rows.X.T @ pull)


@dataclass(frozen=True)
class HermiteObjective:
    """J for fixed rows, loss and penalties; call `at` with one set of directions after another.

    Attributes
    ----------
    rows : CanonicalRows
        Standardised rows and encoded targets.
    loss : Loss
    sequence : DegreeSequence
    lam, mu : float
    smoothing : float
        eps, which keeps eta from vanishing.
    rule : IndexRule or None
        None for the kernel of all polynomials, which needs ``c_k = rho^k``.
    precision : Precision
        How finely that kernel is computed.
    n_jobs : int or None
    seed : int
        Seed of indices that are drawn.
    """

    rows: CanonicalRows
    loss: Loss
    sequence: DegreeSequence
    lam: float
    mu: float
    smoothing: float = 0.0
    rule: IndexRule | None = None
    precision: Precision = field(default=COARSE)
    n_jobs: int | None = None
    seed: int = 0

    def at(
        self, directions: WeightedDirections, *, start: HermitePoint | None = None
    ) -> HermitePoint:
        """Fit the function; `start` is a nearby point."""
        Z = self.rows.X @ directions.R
        if self.rule is None:
            return self._exact(directions, Z, start)
        indices, weight = self._chosen(self.rule, directions)
        features = HermiteFeatures(indices, self.n_jobs)
        if len(indices) < len(Z):
            return self._in_features(directions, Z, features, weight)
        return self._in_kernel(directions, Z, features, weight)

    def _chosen(
        self, rule: IndexRule, directions: WeightedDirections
    ) -> tuple[IntArray, FloatArray]:
        """Polynomials and their weights."""
        smoothness = Smoothness(directions.eta, self.lam, self.mu, self.sequence)
        return rule.choose(smoothness, directions, self.seed)

    def _exact(
        self, directions: WeightedDirections, Z: FloatArray, start: HermitePoint | None
    ) -> HermitePoint:
        if not isinstance(self.sequence, GeometricSequence):
            raise ValueError("The kernel of all polynomials needs c_k = rho^k.")
        kernel = HermiteKernel.of(
            directions.eta, self.lam, self.mu, self.sequence.rho, self.precision, self.n_jobs
        )
        fit = self._kernel_fit(kernel.matrix(Z), start)
        function = KernelFunction(kernel, directions.R, Z, fit.dual, fit.intercept)
        value = fit.value + self._smoothing_term(directions)
        return HermitePoint(directions, function, fit.decision, value, self, fit)

    def _in_kernel(
        self,
        directions: WeightedDirections,
        Z: FloatArray,
        features: HermiteFeatures,
        weight: FloatArray,
    ) -> HermitePoint:
        """More features than rows: the kernel view of (3.7)."""
        H = features.matrix(Z)
        scaled = within_reach(H * np.sqrt(weight))
        fit = self._kernel_fit(scaled @ scaled.T, None)
        coefficients = weight * (fit.dual @ H)
        function = PolynomialFunction(
            features, directions.R, coefficients, fit.intercept, self.sequence
        )
        value = fit.value + self._smoothing_term(directions)
        return HermitePoint(directions, function, fit.decision, value, self)

    def _in_features(
        self,
        directions: WeightedDirections,
        Z: FloatArray,
        features: HermiteFeatures,
        weight: FloatArray,
    ) -> HermitePoint:
        """Ridge regression on sqrt(w) H_alpha; (3.8) prints w for its root."""
        root = np.sqrt(weight)
        y, weights = self.rows.y, self.rows.weights
        if self.loss.quadratic:
            theta, intercept = self._ridge(Z, features, root)
        else:
            scaled = within_reach(features.matrix(Z) * root)
            method = FeatureNewton(self.loss, y, weights, 1.0, scaled)
            theta, intercept, _ = method.minimize(None, 1e-8)
        function = PolynomialFunction(
            features, directions.R, theta * root, intercept, self.sequence
        )
        decision = function.decision(self.rows.X)
        losses = float(weights @ self.loss.values(y, decision) / weights.sum())
        value = losses + 0.5 * float(np.vdot(theta, theta)) + self._smoothing_term(directions)
        return HermitePoint(directions, function, decision, value, self)

    def _ridge(
        self, Z: FloatArray, features: HermiteFeatures, root: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        blocks = features.slices(len(Z))

        def over_blocks(part: BlockPart) -> list[FloatArray]:
            return sum_blocks(
                lambda rows: part(rows, within_reach(features.block(Z[rows]) * root)),
                blocks,
                n_jobs=self.n_jobs,
                work=float(len(Z)) * len(root) ** 2,
            )

        shift = np.zeros(len(root))
        system = accumulate_ridge(over_blocks, self.rows.y, self.rows.weights, True, shift)
        return system.solve(1.0)

    def fit_all(
        self, rows: AllRows, directions: WeightedDirections, function: PolynomialFunction
    ) -> PolynomialFunction:
        """The function at some directions, with the coefficients of all rows of a table."""
        assert self.rule is not None
        _, weight = self._chosen(self.rule, directions)
        root = np.sqrt(weight)
        features = ScaledPolynomials(function.features, directions.R, root)
        # A polynomial of no weight has no coefficient.
        theta = function.coefficients / np.where(root > 0.0, root, 1.0)
        start = TableFit(theta, function.intercept, 1.0)
        found = fit_features(rows, features, self.loss, start)
        return replace(function, coefficients=found.coefficients * root, intercept=found.intercept)

    def _kernel_fit(self, matrix: FloatArray, start: HermitePoint | None) -> KernelFit:
        fitter = KernelFitter(self.loss, self.rows.y, self.rows.weights, 1.0, solver="direct")
        nearby = None if start is None else start.start
        return fitter(DenseKernel(matrix), start=nearby, tol=1e-8)

    def _smoothing_term(self, directions: WeightedDirections) -> float:
        return 0.5 * self.mu * self.smoothing * float(np.sum(1.0 / directions.eta))


@dataclass(frozen=True)
class ScaledPolynomials:
    """Features sqrt(w) H_alpha(R^T x) of any rows.

    Attributes
    ----------
    features : HermiteFeatures
    R : ndarray of shape (n_inputs, n_directions)
    root : ndarray of shape (n_indices,)
        Roots of the weights.
    """

    features: HermiteFeatures
    R: FloatArray
    root: FloatArray

    @property
    def shift(self) -> FloatArray:
        """Polynomials are centred already, for Gaussian rows."""
        return np.zeros(len(self.root))

    def __call__(self, X: FloatArray) -> FloatArray:
        return within_reach(self.features.matrix(X @ self.R) * self.root)


def within_reach(scaled: FloatArray) -> FloatArray:
    """Refuse features of rows to learn from whose squares would overflow."""
    if max(scaled.max(initial=0.0), -scaled.min(initial=0.0)) > LARGEST_SCALED:
        raise ValueError(
            "The polynomials of this basis overflow on these rows; set standardize=True, a "
            "smaller clip, or a basis of lower degree."
        )
    return scaled

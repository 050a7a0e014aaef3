"""The linear system of a kernel fit with an unpenalised intercept, solved directly or by CG.

With curvature H = L L^T, sums of targets ``A c = L^T (1 c^T)`` and the projector Pi on the
complement of the range of A, the minimiser over the dual coefficients and the intercept is

    (Pi L^T K L Pi + shift I) b = Pi rhs,   dual = L b,

which for weights of one is Lemma 7 of BKerNN (with Pi = I - 11^T/n; the paper prints I - 11^T).
Without an intercept Pi is the identity.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.linalg import cho_solve
from scipy.linalg.blas import dsyr2

from kernlens._array import FloatArray
from kernlens._result import SolveResult, Status
from kernlens.linalg.conjugate_gradient import conjugate_gradient
from kernlens.linalg.kernel_operator import KernelOperator
from kernlens.linalg.nystrom_preconditioner import NystromPreconditioner
from kernlens.linalg.raised_cholesky import raised_cholesky
from kernlens.losses import CurvatureRoot

Solver = Literal["auto", "direct", "cg", "pcg"]

#: Up to this many rows, forming and factorising the matrix beats iterating on it.
DIRECT_MAX_SAMPLES = 150
#: Targets that share a matrix share its factor: it is formed and factorised as well if that costs
#: no more than so many steps of iterations, which take 30 to 50, and it has at most so many rows.
DIRECT_STEPS = 20.0
DIRECT_MOST_SAMPLES = 2000
#: Seconds that an entry of the matrix takes once it is formed, and in the factor for every row, in
#: units of a term of a product; measured at 300 to 2000 rows.
PASSING, FACTORING = 5.0, 1.0 / 70.0
#: Steps after which a system of coupled targets with at most so many unknowns is factorised.
#: Kernels of rows far out have condition numbers that iterations do not get through.
COUPLED_ITERATIONS = 20
COUPLED_MAX_UNKNOWNS = 1000
#: Steps after which an unfinished large system has earned a preconditioner. Building one costs as
#: much as hundreds of products, so it pays on large systems with a small shift only.
PLAIN_ITERATIONS = 150
PRECONDITION_MIN_SAMPLES = 50_000
#: Relative eigenvalues of the total curvature below this are zero: above rounding (1e-14), below
#: what the floor on curvatures leaves (1e-7).
TOTAL_CUTOFF = 1e-11


class CenteredSystem:
    """Weights, centring and shift around a kernel operator.

    Parameters
    ----------
    operator : KernelOperator
        Products with K.
    root : CurvatureRoot
        The factor L.
    shift : float
        ``alpha * sum of weights``, positive.
    n_targets : int
        Number of rows of the right-hand side.
    intercept : bool, default=True
        Whether there is one.
    """

    def __init__(
        self,
        operator: KernelOperator,
        root: CurvatureRoot,
        shift: float,
        n_targets: int,
        intercept: bool = True,
    ) -> None:
        self.operator = operator
        self.root = root
        self.shift = shift
        self.n_targets = n_targets
        self.has_intercept = intercept
        if not intercept:
            return
        self._unit = _unit_of(root)
        # Classes that share a constant make the total singular; its null eigenvalue is rounding of
        # a sum over rows, which the default cut-off of 1e-15 does not catch.
        total = root.total(n_targets)
        self._inverse_total = np.linalg.pinv(total, rcond=TOTAL_CUTOFF, hermitian=True)

    def center(self, b: FloatArray) -> FloatArray:
        """Return ``Pi b``."""
        if not self.has_intercept:
            return b
        if self._unit is not None:
            return b - np.multiply.outer(b @ self._unit, self._unit)
        return b - self.root.adjoint(
            np.broadcast_to(
                (self._inverse_total @ self.root.apply(b).sum(axis=1))[:, None], b.shape
            )
        )

    def apply(self, b: FloatArray) -> FloatArray:
        """Return the matrix of the system times `b`, for `b` in the range of Pi."""
        image = self.center(self.root.adjoint(self.operator.matvec(self.root.apply(b))))
        image += self.shift * b
        return image

    def intercept(self, rhs: FloatArray, kernel_dual: FloatArray) -> FloatArray:
        """Return the optimal intercept (n_targets,), given ``K dual``; zeros if there is none."""
        if not self.has_intercept:
            return np.zeros(self.n_targets)
        rest = self.root.apply(rhs - self.root.adjoint(kernel_dual))
        return self._inverse_total @ rest.sum(axis=1)

    def solve(
        self,
        rhs: FloatArray,
        *,
        start: FloatArray | None = None,
        solver: Solver = "auto",
        tol: float = 1e-10,
        max_iter: int = 2000,
    ) -> SolveResult:
        """Solve for `b`.

        ``solver="auto"`` factorises the matrix (O(n^2 m + n^3), memory 8 n^2 bytes) when there are
        at most 150 rows and the loss does not couple the targets, and up to 2000 rows where so many
        targets share the matrix that its factor costs less than iterations; otherwise it runs
        conjugate gradients, O(m n) a step, and if 150 steps have not finished a system of 50,000
        rows or more, goes on with a Nyström preconditioner of rank 2 sqrt(n), which keeps the
        number of steps from growing with n. ``"direct"``, ``"cg"`` and ``"pcg"`` ask for one of the
        three. A loss whose curvature is not the same for all targets has no preconditioner and runs
        plain conjugate gradients instead; so does one that couples the targets, whose small systems
        are factorised only if 20 steps have not finished a direct solve.
        """
        rhs = self.center(rhs)
        n = self.operator.n_samples
        if solver == "auto":
            few = n <= DIRECT_MAX_SAMPLES or self._factor_is_cheap(len(rhs))
            solver = "direct" if few else "cg"
            large = n >= PRECONDITION_MIN_SAMPLES and self.operator.cheap_products
            patience = min(PLAIN_ITERATIONS, max_iter) if large else max_iter
        else:
            patience = 0 if solver == "pcg" else max_iter
        if not self.root.shared_by_targets:
            patience = max_iter
        roots = self.root.diagonals
        if solver == "direct" and roots is not None:
            return self._solve_directly(rhs, roots)
        coupled = solver == "direct" and rhs.size <= COUPLED_MAX_UNKNOWNS
        if coupled:
            patience = min(COUPLED_ITERATIONS, max_iter)
        if start is not None:
            start = self.center(start)
        result = conjugate_gradient(self.apply, rhs, start=start, tol=tol, max_iter=patience)
        if result.status is not Status.MAX_ITER or patience == max_iter:
            return result
        if coupled:
            return self._solve_coupled(rhs)
        return self._solve_preconditioned(rhs, result, tol, max_iter)

    def _factor_is_cheap(self, n_targets: int) -> bool:
        """Whether one factor for all targets costs less than iterations on them."""
        n = self.operator.n_samples
        if n > DIRECT_MOST_SAMPLES or not self.root.shared_by_targets:
            return False
        entry = self.operator.pair_cost + PASSING + FACTORING * n
        return n * entry <= DIRECT_STEPS * n_targets * self.operator.row_cost

    def _solve_preconditioned(
        self, rhs: FloatArray, plain: SolveResult, tol: float, max_iter: int
    ) -> SolveResult:
        preconditioner = NystromPreconditioner.build(self.operator, self.root, self.shift)
        result = conjugate_gradient(
            self.apply,
            rhs,
            start=plain.solution,
            precondition=lambda r: self.center(preconditioner(r)),
            tol=tol,
            max_iter=max_iter,
        )
        history = plain.history + result.history[1:]
        return SolveResult(result.solution, result.status, plain.n_iter + result.n_iter, history)

    def _solve_directly(self, rhs: FloatArray, roots: FloatArray) -> SolveResult:
        matrix = self.operator.matrix
        solution = np.empty_like(rhs)
        for t, root in enumerate(roots):
            targets = slice(None) if len(roots) == 1 else slice(t, t + 1)
            factor = _factor(matrix, root, self.shift, self.has_intercept)
            solution[targets] = cho_solve(factor, rhs[targets].T, check_finite=False).T
        return SolveResult(self.center(solution), Status.CONVERGED, 1)

    def _solve_coupled(self, rhs: FloatArray) -> SolveResult:
        """Factorise the matrix of all targets together, ``K_ij L_i^T L_j`` in its blocks."""
        n_targets, n = rhs.shape
        # Rows (s, i) and columns u have entry (u, s) of L_i; it is A of the docstring above, too.
        sums = np.empty((rhs.size, n_targets))
        for u in range(n_targets):
            unit = np.zeros((n_targets, n))
            unit[u] = 1.0
            sums[:, u] = self.root.adjoint(unit).ravel()
        matrix = sums @ sums.T
        matrix *= np.tile(self.operator.matrix, (n_targets, n_targets))
        if self.has_intercept:
            matrix -= sums @ (self._inverse_total @ (sums.T @ matrix))
            matrix -= (matrix @ sums) @ self._inverse_total @ sums.T
        matrix.flat[:: rhs.size + 1] += self.shift
        size = max(float(np.trace(matrix)), float(np.abs(matrix).max()))
        factor = raised_cholesky(matrix, 0.0, 1e-15 * size, lower=True)[0], True
        solution = cho_solve(factor, rhs.ravel(), check_finite=False).reshape(rhs.shape)
        return SolveResult(self.center(solution), Status.CONVERGED, 1)


def _unit_of(root: CurvatureRoot) -> FloatArray | None:
    """The one direction that centring takes away from every target, if they share a curvature."""
    roots = root.diagonals
    if roots is None or len(roots) > 1:
        return None
    norm = float(np.linalg.norm(roots[0]))
    return roots[0] / norm if 0.0 < norm < np.inf else None


def _factor(
    matrix: FloatArray, root: FloatArray, shift: float, centered: bool
) -> tuple[FloatArray, bool]:
    scaled = np.multiply(matrix.T, root, order="F")
    scaled *= root[:, None]
    # Centring a constant kernel leaves rounding alone, whose trace may be negative.
    size = max(float(scaled.max()), -float(scaled.min()), shift)
    if centered:
        unit = root / np.linalg.norm(root)
        column = scaled @ unit
        column -= 0.5 * (unit @ column) * unit
        # Both sides at once, in the triangle that is factorised.
        scaled = dsyr2(-1.0, unit, column, a=scaled, lower=1, overwrite_a=1)
    scaled.flat[:: len(scaled) + 1] += shift
    size = max(size, float(np.trace(scaled)))
    # A shift below rounding of the largest eigenvalue is raised.
    return raised_cholesky(scaled, 0.0, 1e-15 * size, lower=True)[0], True

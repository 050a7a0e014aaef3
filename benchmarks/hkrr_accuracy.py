"""HKRR: gradients against finite differences, and the solve against exact arithmetic."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from benchmarks.tables import print_row
from kernlens._rows import CanonicalRows
from kernlens.fits.nystrom_fit import NystromFitter, evaluate
from kernlens.kernels.radial import RADIAL_KERNELS, make_radial_kernel
from kernlens.linalg.kernel_blocks import KernelBlocks
from kernlens.losses import LogisticLoss, MultinomialLoss, SquaredLoss
from kernlens.methods.hkrr.objective import HyperKernelObjective

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from reference import hkrr

WIDTHS = (22, 14, 16, 18, 18)


def run() -> None:
    """Print relative errors, worst over three seeds."""
    print("relative errors, worst of seeds 0 to 2; n=60, D=5, d=3, 9 centres, weights")
    print_row("kernel", "loss", "grad of L in B", "grad in a, c", "grad of H", widths=WIDTHS)
    for name in RADIAL_KERNELS:
        for loss in (SquaredLoss(), LogisticLoss(), MultinomialLoss()):
            errors = np.max([_gradient_errors(name, loss, seed) for seed in range(3)], axis=0)
            cells = (type(loss).__name__[:-4], *(f"{error:.1e}" for error in errors))
            print_row(name, *cells, widths=WIDTHS)
    print("\nfitted values at condition number about 1e10 of the centre kernel, alpha=1e-6:")
    print_row("seed", "condition", "whitened", "normal equations", widths=(8, 14, 14, 20))
    for seed in range(3):
        condition, ours, plain = _solve_errors(seed)
        cells = (f"{condition:.1e}", f"{ours:.1e}", f"{plain:.1e}")
        print_row(seed, *cells, widths=(8, 14, 14, 20))


def _gradient_errors(name, loss, seed):
    rng = np.random.default_rng(seed)
    X, weights = rng.normal(size=(60, 5)), rng.uniform(0.5, 2.0, 60)
    labels = rng.integers(0, 3, 60)
    y = {
        SquaredLoss: rng.normal(size=(2, 60)),
        LogisticLoss: (labels[None, :] > 0).astype(float),
        MultinomialLoss: np.eye(3)[:, labels],
    }[type(loss)]
    rows = CanonicalRows(X, y, weights, np.arange(60))
    kernel = make_radial_kernel(name)
    objective = HyperKernelObjective.of(rows, X[:9].copy(), kernel, loss, 1e-2)
    B, step = 0.3 * rng.normal(size=(3, 5)), rng.normal(size=(3, 5))
    best = objective.at(B, tol=1e-13)
    a = best.fit.coefficients + rng.normal(size=best.fit.coefficients.shape)
    c = best.fit.intercept + 0.1
    move_a, move_c = rng.normal(size=a.shape), rng.normal(size=c.shape)
    at = objective.with_coefficients(B, a, c)
    along_a, along_c = objective.coefficient_gradients(at)
    return (
        _error(
            lambda t: objective.with_coefficients(B + t * step, a, c).value,
            np.vdot(objective.gradient(at), step),
        ),
        _error(
            lambda t: objective.with_coefficients(B, a + t * move_a, c + t * move_c).value,
            np.vdot(along_a, move_a) + np.vdot(along_c, move_c),
        ),
        _error(
            lambda t: objective.at(B + t * step, tol=1e-13).value,
            np.vdot(objective.gradient(best), step),
        ),
    )


def _error(function, slope, h=1e-4):
    """Relative error of a slope against a difference quotient of fourth order."""
    near, far = function(h) - function(-h), function(2 * h) - function(-2 * h)
    return abs((8 * near - far) / (12 * h) / slope - 1)


def _solve_errors(seed):
    """Condition number, and relative errors of ours and of the plain normal equations of (6)."""
    rng = np.random.default_rng(seed)
    alpha, n, p, width = 1e-6, 40, 12, 3.5
    X = width / 2 * rng.uniform(-1, 1, (n, 1))
    Z = width / 2 * np.linspace(-1, 1, p)[:, None]
    y = np.sin(2 * X.T) + 0.1 * rng.standard_normal((1, n))
    blocks = KernelBlocks(np.eye(1), X, Z, make_radial_kernel("gaussian"))
    K = np.concatenate(blocks.map(lambda block: block.values))
    Kz = blocks.center_kernel[0]
    exact = hkrr.solve_exactly(K, Kz, y, np.ones(n), alpha)[2]
    fitter = NystromFitter(SquaredLoss(), y, np.ones(n), alpha, intercept=False, jitter=0.0)
    ours = evaluate(blocks, *fitter.function(blocks))
    plain = (K @ np.linalg.solve(K.T @ K + alpha * n * Kz, K.T @ y.T)).T
    errors = (np.linalg.norm(fit - exact) / np.linalg.norm(exact) for fit in (ours, plain))
    return np.linalg.cond(Kz), *errors

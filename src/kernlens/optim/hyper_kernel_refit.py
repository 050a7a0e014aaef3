"""The last stage of HKRR: the map is fixed; length scale, alpha and coefficients are fitted anew.

Appendix D.1 solves without the Nyström approximation once B is learned, with gamma and lambda tuned
again; here with more centres, up to all rows. The tuning uses the maps of the search, each learned
without the rows it is scored on: with the final map, which has seen all rows, small alphas would
look better than they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernlens.linalg.kernel_blocks import KernelBlocks
from kernlens.linalg.whitened_features import WhitenedFeatures
from kernlens.optim.hyper_kernel_problem import HyperKernelProblem
from kernlens.optim.hyper_kernel_search import Bounds, Split, held_out_loss

FloatArray = NDArray[np.floating]

#: Factors of the map that are tried, from the middle outwards while they help.
SCALE_STEP = 2.0**0.5
MAX_SCALE_STEPS = 5
#: Alphas tried around that of the learning, as powers of 10.
DECADES = np.arange(-4.0, 2.0)


@dataclass(frozen=True)
class Tuned:
    """Factor of the map and alpha of the last fit, with their held-out loss."""

    scale: float
    alpha: float
    loss: float


def tune_refit(
    problem: HyperKernelProblem,
    splits: Sequence[Split],
    maps: Sequence[FloatArray],
    alpha: float,
    bounds: Bounds | None,
) -> Tuned:
    """Choose the factor of the map and alpha on held-out rows.

    Parameters
    ----------
    problem : HyperKernelProblem
    splits : sequence of Split
        With the centres of the last stage.
    maps : sequence of ndarray of shape (n_components, n_features)
        The map learned on every split.
    alpha : float
        The alpha they were learned with, in the middle of the grid.
    bounds : tuple of ndarray, or None
        Of the predictions that are scored.
    """
    alphas = alpha * 10.0**DECADES

    def best_at(scale: float) -> Tuned:
        losses = np.mean(
            [
                _losses_along(problem, split, scale * B, alphas, bounds)
                for split, B in zip(splits, maps, strict=True)
            ],
            axis=0,
        )
        k = int(np.argmin(losses))
        return Tuned(scale, float(alphas[k]), float(losses[k]))

    best = best_at(1.0)
    for direction in (SCALE_STEP, 1.0 / SCALE_STEP):
        for step in range(1, MAX_SCALE_STEPS + 1):
            tried = best_at(direction**step)
            if tried.loss >= best.loss:
                break
            best = tried
    return best


def _losses_along(
    problem: HyperKernelProblem,
    split: Split,
    B: FloatArray,
    alphas: FloatArray,
    bounds: Bounds | None,
) -> FloatArray:
    """Held-out loss for every alpha, from one accumulation of the normal equations if possible."""
    matrix = problem.kernel.matrix(split.test.X @ B.T, split.Z @ B.T)
    fits: list[tuple[FloatArray, FloatArray]] = []
    if problem.loss.quadratic:
        blocks = KernelBlocks(
            B, split.train.X, split.Z, problem.kernel, problem.n_jobs, slopes=False
        )
        features = WhitenedFeatures(blocks)
        system = features.ridge_system(split.train.y, split.train.weights, problem.intercept)
        for whitened, intercept in system.solve_along(list(alphas)):
            fits.append((features.coefficients(whitened), intercept))
    else:
        point = None
        for alpha in alphas[::-1]:
            point = problem.objective(split.train, split.Z, float(alpha)).at(
                B, start=point, tol=1e-5
            )
            fits.insert(0, (point.fit.coefficients, point.fit.intercept))
    return np.array(
        [held_out_loss(problem, split.test, a @ matrix.T + c[:, None], bounds) for a, c in fits]
    )

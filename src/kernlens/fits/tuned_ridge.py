"""Length scale and alpha of kernel ridge on projected rows, tuned on rows that are held out.

This is the last stage of HKRR: once B is learned, Appendix D.1 solves without the Nyström
approximation, with gamma and lambda tuned again; here the solve has more centres, up to all rows.
The tuning uses the maps of the search, each learned without the rows it is scored on: with the
final map, which has seen all rows, small alphas would look better than they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernlens._array import FloatArray
from kernlens.fits.held_out import Bounds, Split, held_out_loss
from kernlens.fits.nystrom_fit import NystromFit
from kernlens.fits.projected_ridge import ProjectedRidge
from kernlens.linalg.whitened_features import WhitenedFeatures

#: Factors of the map that are tried, from the middle outwards while they help.
SCALE_STEP = 2.0**0.5
MAX_SCALE_STEPS = 5
#: Alphas tried around that of the learning, as powers of 10.
DECADES = np.arange(-4.0, 2.0)
#: Share by which a candidate must lower the held-out loss to replace the one before.
CLEAR_GAIN = 0.1


@dataclass(frozen=True)
class Tuned:
    """Factor of the map and alpha of the last fit, with their held-out loss."""

    scale: float
    alpha: float
    loss: float


def tune_refit(
    ridge: ProjectedRidge,
    splits: Sequence[Split],
    maps: Sequence[FloatArray],
    alpha: float,
    bounds: Bounds | None,
) -> Tuned:
    """Choose the factor of the map and alpha on held-out rows.

    Parameters
    ----------
    ridge : ProjectedRidge
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
                losses_along(ridge, split, scale * B, alphas, bounds)
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


def losses_along(
    ridge: ProjectedRidge,
    split: Split,
    B: FloatArray,
    alphas: FloatArray,
    bounds: Bounds | None,
) -> FloatArray:
    """Held-out loss for every alpha, from one accumulation of the normal equations if possible."""
    matrix = ridge.matrix(B, split.test.X, split.Z)
    fits: list[tuple[FloatArray, FloatArray]] = []
    if ridge.loss.quadratic:
        features = WhitenedFeatures(ridge.blocks(B, split.train.X, split.Z))
        system = features.ridge_system(split.train.y, split.train.weights, True)
        for whitened, intercept in system.solve_along(list(alphas)):
            fits.append((features.coefficients(whitened), intercept))
    else:
        blocks = ridge.blocks(B, split.train.X, split.Z)
        fit: NystromFit | None = None
        for alpha in alphas[::-1]:
            fit = ridge.fitter(split.train, float(alpha))(blocks, start=fit, tol=1e-5)
            fits.insert(0, (fit.coefficients, fit.intercept))
    return np.array(
        [held_out_loss(ridge.loss, split.test, a @ matrix.T + c[:, None], bounds) for a, c in fits]
    )


def settle_refit(
    ridge: ProjectedRidge,
    splits: Sequence[Split],
    maps: Sequence[FloatArray],
    W: FloatArray,
    tuned: Tuned,
    alpha: float,
    bounds: Bounds | None,
) -> Tuned:
    """Carry what was tuned for the maps of the splits over to the map learned on all rows.

    The final map can be of another size than those: candidates are the tuned factor, the factor
    that gives the same length scale, and none, each with the tuned alpha and that of the learning.
    All are compared with the final map, which has seen the scored rows; its advantage is the same
    for all.
    """
    sizes = [np.linalg.norm(B) for B in maps]
    ratio = float(np.mean(sizes) / (np.linalg.norm(W) or 1.0))
    best = tuned
    best_loss = np.inf
    for scale in dict.fromkeys((tuned.scale, tuned.scale * ratio, 1.0)):
        alphas = np.array([tuned.alpha, alpha])
        losses = np.mean(
            [losses_along(ridge, split, scale * W, alphas, bounds) for split in splits], axis=0
        )
        k = int(np.argmin(losses))
        # A gain that is not clear is no reason to leave what was tuned without these rows.
        if losses[k] < (1.0 - CLEAR_GAIN) * best_loss:
            best, best_loss = Tuned(scale, float(alphas[k]), float(losses[k])), float(losses[k])
    return best

"""Small BKerNN problems for the tests, with the objects of the package and the oracle's answers."""

from __future__ import annotations

import tracemalloc
from dataclasses import dataclass
from functools import cache

import numpy as np

from kernlens.fits.kernel_fit import KernelFitter
from kernlens.kernels.one_dimensional import KERNELS, make_kernel
from kernlens.losses import HuberLoss, LogisticLoss, MultinomialLoss, SquaredLoss
from kernlens.methods.bkernn.objective import ReducedObjective
from kernlens.optim.composite_objective import CompositeObjective
from kernlens.penalties import make_penalty
from reference import bkernn

KERNEL_NAMES = list(KERNELS)
LOSSES = {
    "squared": SquaredLoss(),
    "huber": HuberLoss(1.0),
    "logistic": LogisticLoss(),
    "multinomial": MultinomialLoss(),
}
WEIGHTINGS = ["equal", "random", "with_zeros"]
TIGHT = 1e-12


@dataclass(frozen=True)
class Problem:
    loss: str
    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    W: np.ndarray
    alpha: float

    def smooth(self, kernel="brownian", **options):
        fitter = KernelFitter(LOSSES[self.loss], self.y, self.weights, self.alpha, **options)
        return ReducedObjective(self.X, make_kernel(kernel), fitter)

    def objective(self, penalty="feature", kernel="brownian", tol=1e-10, strength=1.0):
        smooth = self.smooth(kernel)
        return CompositeObjective(smooth, make_penalty(penalty, strength=strength), tol)

    def oracle(self, kernel="brownian"):
        return bkernn.fit(kernel, self.loss, self.W, self.X, self.y, self.weights, self.alpha)


def targets(loss, X, rng):
    """Encoded targets (n_targets, n) that depend on two directions of X."""
    signal = np.vstack([np.abs(X[:, 0] + X[:, 1]), np.sin(2 * X[:, 0])])
    noisy = signal + 0.2 * rng.standard_normal(signal.shape)
    if loss == "squared":
        return noisy
    if loss == "huber":
        return noisy + 10.0 * rng.choice([-1, 0, 0, 0, 0, 0, 0, 1], noisy.shape)
    if loss == "logistic":
        return (noisy[:1] > np.median(noisy[0])).astype(float)
    classes = (noisy[0] > np.median(noisy[0])).astype(int) + (noisy[1] > 0)
    return np.eye(3)[classes].T


def sample_weights(weighting, n, rng):
    weights = rng.uniform(0.3, 2.0, n) if weighting != "equal" else np.ones(n)
    if weighting == "with_zeros":
        weights[::4] = 0.0
    return weights


def problem(loss="squared", weighting="equal", *, n=30, d=3, m=5, alpha=0.02, seed=0):
    """A random problem; the last two rows repeat the first two, with targets of their own."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[-2:] = X[:2]
    y = targets(loss, X, rng)
    W = rng.standard_normal((m, d)) / np.sqrt(d)
    return Problem(loss, X, y, sample_weights(weighting, n, rng), W, alpha)


@cache
def solved(kernel, loss, weighting, alpha=0.02):
    """A problem and the oracle's fit of it, computed once."""
    case = problem(loss, weighting, alpha=alpha)
    return case, case.oracle(kernel)


def peak_bytes(action):
    """Most memory that NumPy and Python held at once during `action()`."""
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

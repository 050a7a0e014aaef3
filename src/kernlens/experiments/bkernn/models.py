"""The estimators of the BKerNN paper, with its own settings.

The paper's lambda is for targets as they are, our alpha for targets of standard deviation s: with
the particles divided by s the objectives are the same up to a factor if alpha = lambda / s, and the
concavity of a concave penalty becomes s times its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kernlens._array import FloatArray
from kernlens.methods.bkernn import BKerNNRegressor
from kernlens.methods.brownian_ridge import BrownianKernelRidge
from kernlens.penalties import (
    BasicPenalty,
    ConcaveFeaturePenalty,
    ConcaveVariablePenalty,
    FeaturePenalty,
    Penalty,
    VariablePenalty,
)

PAPER, AUTHORS, OURS = "BKerNN", "BKerNN (authors' code)", "BKerNN (our defaults)"
BKRR, NETWORK = "BKRR", "ReLU network"
#: Concavity of the paper's concave penalties, which the text does not print.
CONCAVITY = 1.0
#: What the experiments say of the penalties.
STRENGTH_NOTE = (
    "BKerNN (authors' code) has the feature penalty with strength 1/sqrt(m). The authors' code "
    "shrinks singular values by lambda gamma / (2 m) where the paper's formula has 2 sqrt(m), so "
    "that their runs of the feature penalty had a weaker one than the text; BKerNN is the text."
)
DEFAULTS_NOTE = "BKerNN (our defaults): BKerNNRegressor(random_state=0) as it comes, nothing tuned."
BKRR_NOTE = (
    "BKRR: BrownianKernelRidge with the printed lambda, columns and predictions as they are."
)


def paper_lambda(X: FloatArray, factor: float) -> float:
    """``factor * max |x_i| / n``."""
    return factor * float(np.linalg.norm(X, axis=1).max()) / len(X)


def make_penalty(name: str, n_particles: int, spread: float) -> Penalty:
    """A penalty of the paper for targets that are divided by `spread`."""
    concave = {"concave_feature": ConcaveFeaturePenalty, "concave_variable": ConcaveVariablePenalty}
    if name in concave:
        return concave[name](s=CONCAVITY * spread)
    if name == "feature_authors":
        return FeaturePenalty(strength=1 / np.sqrt(n_particles))
    plain = {"basic": BasicPenalty, "feature": FeaturePenalty, "variable": VariablePenalty}
    made: Penalty = plain[name]()
    return made


def paper_bkernn(
    X: FloatArray,
    y: FloatArray,
    *,
    lam: float,
    n_particles: int,
    penalty: str,
    n_steps: int,
    seed: int,
    **options: Any,
) -> BKerNNRegressor:
    """Algorithm 1 of the paper, from random particles of variance 1/d, to be fitted to X and y."""
    spread = float(np.std(y)) or 1.0
    rng = np.random.RandomState(seed)
    W = rng.normal(size=(n_particles, X.shape[1])) / np.sqrt(X.shape[1])
    settings: dict[str, Any] = {
        "alpha": lam / spread,
        "n_particles": n_particles,
        "penalty": make_penalty(penalty, n_particles, spread),
        "optimizer": "plain",
        "max_iter": n_steps,
        "tol": 0.0,
        "standardize": False,
        "linear_part": False,
        "init": W / spread,
        "n_directions": 1,
    }
    return BKerNNRegressor(**(settings | options))


def paper_bkrr(lam: float) -> BrownianKernelRidge:
    """Ridge regression with the Brownian kernel of whole rows and the paper's lambda."""
    return BrownianKernelRidge(
        # The squared norm of a function grows like the square of its values: alpha is lambda.
        alpha=lam,
        truncate=None,
        linear_part=False,
        standardize=False,
        n_directions=1,
    )

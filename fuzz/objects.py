"""Valid objects and matrices as parameters.

Functions of a CustomWeighting stand here, where another process can import them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import kernlens
from fuzz.arrays import Array
from fuzz.draws import Generator, chance, count, pick, positive
from kernlens.features.weightings import CustomWeighting
from kernlens.kernels import (
    ExponentialDotKernel,
    GaussianKernel,
    LaplaceKernel,
    LinearKernel,
    Matern32Kernel,
    Matern52Kernel,
    PolynomialKernel,
    RadialKernel,
    RationalQuadraticKernel,
)
from kernlens.kernels.dot_product import LARGEST_DEGREE
from kernlens.kernels.radial import SMALLEST_POWER
from kernlens.losses import HuberLoss, Loss, SquaredLoss
from kernlens.methods.regfeal.options import Basis
from kernlens.methods.regfeal.refits import CanBeFitted
from kernlens.penalties import (
    BasicPenalty,
    ConcaveFeaturePenalty,
    ConcaveVariablePenalty,
    FeaturePenalty,
    Penalty,
    VariablePenalty,
)


@dataclass(frozen=True)
class Setting:
    """What a parameter must fit to.

    Attributes
    ----------
    n_columns : int
    classes : bool
        Whether the estimator is a classifier.
    wild : bool
        Whether numbers come from all of double precision.
    """

    n_columns: int
    classes: bool
    wild: bool


def cosines(X: Array, W: Array) -> Array:
    """Cosines of random frequencies."""
    return np.cos(X @ W.T)


def normal_weights(n_weights: int, n_inputs: int, rng: Generator) -> Array:
    """Normal weights."""
    return rng.standard_normal((n_weights, n_inputs))


COSINES = CustomWeighting(cosines, rbf_kernel, normal_weights, n_nodes=50)


def draw_matrix(rng: Generator, n_rows: int, n_columns: int, wild: bool) -> Array:
    """First directions, of ordinary size or, if `wild`, of any, with zeros, or with equal rows."""
    matrix = rng.standard_normal((n_rows, n_columns))
    if not wild:
        return matrix.round(2)
    change = pick(rng, ("size", "zeros", "equal", "hole"))
    if change == "size":
        return matrix * pick(rng, (1e-310, 1e-200, 1e-20, 1e20, 1e100, 1e200, 1e300))
    if change == "zeros":
        return np.zeros_like(matrix)
    if change == "hole":
        return np.where(np.arange(n_columns) == 0, np.nan, matrix)
    return np.repeat(matrix[:1], n_rows, axis=0)


def draw_constraint(rng: Generator, setting: Setting) -> kernlens.Constraint:
    """A bound of the map, a penalty on it, or both."""
    bound = _norm(rng, setting) if chance(rng, 0.6) else None
    trace = _norm(rng, setting) if bound is None or chance(rng, 0.3) else 0.0
    return kernlens.Constraint(max_norm=bound, trace_norm=trace)


def _norm(rng: Generator, setting: Setting) -> float:
    # A Constraint refuses others before there is anything to fit.
    return min(max(positive(rng, setting.wild), 1e-15), 1e15)


def _penalty(rng: Generator, setting: Setting) -> Any:
    strength = positive(rng, setting.wild)
    concave = pick(rng, (ConcaveFeaturePenalty, ConcaveVariablePenalty))
    return pick(
        rng,
        (
            concave(s=positive(rng, setting.wild), strength=strength),
            BasicPenalty(norm=pick(rng, ("l1", "l2")), strength=strength),
            FeaturePenalty(strength=strength),
            VariablePenalty(strength=strength),
            concave(s=0.0),
        ),
    )


def _loss(rng: Generator, setting: Setting) -> Any:
    return SquaredLoss() if chance(rng, 0.2) else HuberLoss(positive(rng, setting.wild))


def _centers(rng: Generator, setting: Setting) -> Any:
    sampling = pick(rng, ("uniform", "leverage"))
    return kernlens.Centers(count(rng, 1, 30, setting.wild), sampling)


def _rule(rng: Generator, setting: Setting) -> kernlens.StepRule:
    return kernlens.StepRule(
        contraction=float(rng.uniform(0.05, 0.95)),
        dilation=1.0 if chance(rng, 0.3) else float(rng.uniform(0.05, 0.99)),
        decrease=positive(rng, setting.wild),
        largest=np.inf if chance(rng, 0.5) else positive(rng, setting.wild),
    )


def _optimizer(rng: Generator, setting: Setting) -> Any:
    rule = _rule(rng, setting)
    if chance(rng, 0.5):
        return kernlens.AlternatingGradient(int(rng.integers(1, 6)), rule)
    return kernlens.VarPro(pick(rng, ("lbfgs", "gradient")), chance(rng, 0.5), rule)


def _degree(rng: Generator, setting: Setting) -> int | None:
    # A basis refuses larger ones where it is made.
    return None if chance(rng, 0.5) else min(count(rng, 1, 5, setting.wild), 4000)


def _basis(rng: Generator, setting: Setting) -> Any:
    # A basis refuses more of them where it is made.
    number = min(count(rng, 1, 60, setting.wild), 50_000)
    return pick(
        rng,
        (
            kernlens.AllPolynomials(pick(rng, (None, 3, 10, 1000)), number),
            kernlens.Enumerated(number),
            kernlens.BestFirst(number, _degree(rng, setting)),
            kernlens.GroupSampling(number, _degree(rng, setting)),
            kernlens.UpToDegree(min(count(rng, 1, 3, setting.wild), 4000), number),
        ),
    )


def _refit(rng: Generator, setting: Setting) -> Any:
    if setting.classes:
        forest = RandomForestClassifier(n_estimators=2, random_state=0)
        return pick(rng, (LogisticRegression(max_iter=20), KNeighborsClassifier(2), forest))
    forest = RandomForestRegressor(n_estimators=2, random_state=0)
    return pick(rng, (Ridge(), KernelRidge(), KNeighborsRegressor(2), forest))


def _descent(rng: Generator, setting: Setting) -> Any:
    most = "auto" if chance(rng, 0.3) else count(rng, 1, 4, setting.wild)
    return kernlens.Reweighting(accelerate=chance(rng, 0.5), max_directions=most)


def _functional_gradient(rng: Generator, setting: Setting) -> Any:
    bound = pick(rng, ("auto", None, positive(rng, setting.wild)))
    step = pick(rng, ("half", "full"))
    sizes = int(rng.integers(1, 30)), int(rng.integers(1, 4))
    return kernlens.FunctionalGradient(*sizes, bound, step)


def _paper_alpha(rng: Generator, setting: Setting) -> Any:
    numbers = [positive(rng, setting.wild) for _ in range(int(rng.integers(1, 4)))]
    return kernlens.PaperAlpha(numbers if chance(rng, 0.5) else numbers[0])


def _paper_width(rng: Generator, setting: Setting) -> Any:
    # A PaperWidth refuses others before there is anything to fit.
    sigma = min(max(positive(rng, setting.wild), 1e-100), 1e100)
    given: dict[str, Any] = {
        "gamma": positive(rng, setting.wild),
        "theta": float(rng.uniform(0.01, 0.99)),
        "kappa": 1.0 + positive(rng, setting.wild),
        "correlation": sorted(rng.uniform(0.01, 0.99, 2).round(3).tolist()),
    }
    name = pick(rng, tuple(given))
    # Above 1 only in the limit: adding a tiny number to 1 is lost.
    value = max(given[name], 1.001) if name == "kappa" else given[name]
    return kernlens.PaperWidth(sigma=sigma, **{name: value})


def draw_radial_kernel(rng: Generator, setting: Setting) -> Any:
    """A kernel of the distance."""
    shape = max(positive(rng, setting.wild), SMALLEST_POWER)
    named = (GaussianKernel(), Matern32Kernel(), Matern52Kernel(), LaplaceKernel())
    return RationalQuadraticKernel(shape) if chance(rng, 0.6) else pick(rng, named)


def draw_smooth_kernel(rng: Generator, setting: Setting) -> Any:
    """A kernel with two derivatives."""
    constant = 0.0 if chance(rng, 0.3) else positive(rng, setting.wild)
    degree = min(count(rng, 1, 6, setting.wild), LARGEST_DEGREE)
    polynomial = PolynomialKernel(degree, constant)
    others = (GaussianKernel(), Matern32Kernel(), LinearKernel(), ExponentialDotKernel())
    rational = RationalQuadraticKernel(max(positive(rng, setting.wild), SMALLEST_POWER))
    return pick(rng, (polynomial, polynomial, rational, rational, *others))


#: How instances of a type are drawn.
OBJECTS: dict[Any, Callable[[Generator, Setting], Any]] = {
    Penalty: _penalty,
    Loss: _loss,
    kernlens.Centers: _centers,
    RadialKernel: draw_radial_kernel,
    kernlens.VarPro: _optimizer,
    Basis: _basis,
    CanBeFitted: _refit,
    kernlens.Reweighting: _descent,
    CustomWeighting: lambda rng, setting: COSINES,
    kernlens.FunctionalGradient: _functional_gradient,
    kernlens.PaperAlpha: _paper_alpha,
    kernlens.PaperWidth: _paper_width,
}


def keep_still(progress: Any) -> None:
    """Hear of an iteration, and do nothing."""


def stop_at_once(progress: Any) -> bool:
    """Ask for the end of a fit at its first iteration."""
    return True


def look_at_the_model(progress: Any) -> None:
    """Ask for the model so far, now and then."""
    if progress.iteration % 10 == 0:
        progress.model()


#: What a fit may call after its iterations.
CALLBACKS = (keep_still, stop_at_once, look_at_the_model)

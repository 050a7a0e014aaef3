"""The arguments of BKerNN's estimators."""

from __future__ import annotations

from dataclasses import replace

from kernlens._parameters import (
    CALLBACK,
    CLASS_WEIGHT,
    LINEAR_PART,
    N_DIRECTIONS,
    N_JOBS,
    RANDOM_STATE,
    VERBOSE,
    Anything,
    Choice,
    Count,
    Flag,
    NonNegative,
    Or,
    Parameter,
    Parameters,
    Regularization,
)
from kernlens.kernels.one_dimensional import KERNELS
from kernlens.losses import LogisticLoss, Loss, MultinomialLoss
from kernlens.penalties import PENALTIES, Penalty

OPTIMIZERS = ("auto", "lbfgs", "plain")
#: The penalty that keeps every particle on the axis of one column.
ADDITIVE = "additive"


def _check_loss(loss: Loss) -> None:
    """Refuse losses of classes, under which numbers have no finite fit."""
    if isinstance(loss, LogisticLoss | MultinomialLoss):
        raise ValueError(
            f"loss must be a loss of numbers, got {type(loss).__name__}; use BKerNNClassifier for "
            "classes."
        )


PARAMETERS: Parameters = {
    "alpha": Parameter(
        Regularization(words=("auto", "heuristic"), smallest=1e-120, largest=1e120),
        "auto",
        '{"auto", "heuristic"} or float',
        """Regularisation, the paper's lambda. ``"auto"`` tries eight values, 20 down to 0.006 times
        the root mean square norm of a row over n in steps of sqrt(10), along a warm-started path;
        it takes the lowest point of the loss on held-out rows: three folds, or with more than 1200
        rows a part of about 2000 scored on up to 4000 others. `alpha_search_` has what it saw.
        ``"heuristic"`` is the paper's ``2 max |x_i| / n``, of the standardised rows if they
        are. With weights, n is the effective number of rows, ``(sum w)^2 / sum w^2``. A number is
        for standardised targets, so that the paper's lambda for the Brownian kernel is alpha times
        the standard deviation of y; it is from 1e-120 to 1e120, and not below 1e-16 times that
        unit, where it would be lost beside the kernel.""",
    ),
    "n_particles": Parameter(
        Count(),
        100,
        "int",
        """Number m of particles. More find weak directions more surely; cost is linear in it.""",
    ),
    "penalty": Parameter(
        Or((Penalty,), Choice(("auto", *PENALTIES, ADDITIVE), other="an instance of Penalty")),
        "auto",
        "str or Penalty",
        """``"feature"`` (few directions), ``"variable"`` (few columns), their less biased
        ``"concave_feature"`` and ``"concave_variable"``, ``"basic"`` and ``"basic_l1"`` (few
        particles), ``"additive"`` (one particle along the axis of every column, however many
        `n_particles` says, few of them not zero). ``"auto"`` compares ``"feature"``,
        ``"variable"`` and ``"additive"`` on held-out rows where alpha is chosen, and leaves the
        first one for a loss that is lower by a fifth; it is
        ``"feature"`` if `alpha` or `init` is given, or with ``optimizer="plain"``. The named
        concave ones have s = 1 for targets of unit standard deviation; pass
        ``kernlens.penalties.ConcaveFeaturePenalty(s=2.0, strength=0.5)`` and the like to set the
        concavity s, for standardised targets, or a strength in front of Omega.""",
        search=("feature", "variable", "concave_feature", "concave_variable"),
    ),
    "kernel": Parameter(
        Choice(tuple(KERNELS)),
        "brownian",
        '{"brownian", "exponential", "gaussian"}',
        """One-dimensional kernel on the projections. The first two cost O(n) per particle and
        product, the Gaussian one O(n^2).""",
        search=("brownian", "exponential"),
    ),
    "loss": Parameter(
        Or((Loss,), Choice(("squared", "huber"), other="a Loss of numbers"), _check_loss),
        "squared",
        '{"squared", "huber"} or Loss',
        """``"huber"`` bends from square to linear at half the robust standard deviation of y; pass
        ``kernlens.losses.HuberLoss(delta)`` to choose the place, at least a millionth of that.""",
    ),
    "n_directions": N_DIRECTIONS,
    "optimizer": Parameter(
        Choice(OPTIMIZERS),
        "auto",
        '{"auto", "lbfgs", "plain"}',
        """``"auto"`` and ``"lbfgs"`` minimise over factors of W with a quasi-Newton method, along a
        short path in alpha, or on at most 10,000 of more than 2000 rows without one, and end with
        proximal steps. Particles of classes are learned by squares of one-hot targets and end with
        some steps of the loss of classes.
        ``"plain"`` is Algorithm 1 of the paper: `max_iter` proximal gradient steps on all rows.""",
    ),
    "init": Parameter(
        Anything(),
        "random",
        '"random" or array-like of shape (n_particles, n_features)',
        """First particles: normal of variance 1 / n_features, times the scale of y; or given ones,
        in the units the rows are used in, of size up to 1e100.""",
    ),
    "linear_part": LINEAR_PART,
    "standardize": Parameter(
        Flag(),
        True,
        "bool",
        """Use ``(x - mean) / std`` of every column. The penalty compares columns, so they should be
        comparable; False takes them as they are.""",
    ),
    "max_iter": Parameter(
        Count(),
        200,
        "int",
        """Iterations of a stage. Some stages take fewer on purpose: 70 on more than 2000 rows, and
        for classes 40 by squares of one-hot targets and 30 by the loss of classes.""",
    ),
    "tol": Parameter(
        NonNegative(),
        1e-06,
        "float",
        """Relative decrease of the objective below which a stage stops.""",
    ),
    "warm_start": Parameter(
        Flag(),
        False,
        "bool",
        """Start from the particles (and the alpha, if automatic) of the previous fit.""",
    ),
    "n_jobs": N_JOBS,
    "random_state": RANDOM_STATE,
    "verbose": VERBOSE,
    "callback": CALLBACK,
}

CLASSIFIER_PARAMETERS: Parameters = {
    **PARAMETERS,
    "alpha": replace(
        PARAMETERS["alpha"],
        text="""Regularisation, the paper's lambda. ``"auto"`` tries eight values, 20 down to 0.006
        times ``rms(one-hot y - mean) * rms norm of a row / n`` in steps of sqrt(10), along a
        warm-started path of particles learned by squares of one-hot targets; it takes the lowest
        point of the loss of classes on held-out rows, coefficients fitted by that loss: three
        stratified folds, two of them with more than 700 rows, or with more than 1200 rows a part
        of about 2000 scored on up to 4000 others. `alpha_search_` has what it saw.
        ``"heuristic"`` is the paper's ``2 max |x_i| / n``, of the standardised rows if they are.
        With weights, n is the effective number of rows, ``(sum w)^2 / sum w^2``. A number is from
        1e-120 to 1e120, and not below 1e-16 times that product, where it would be lost beside the
        kernel.""",
    ),
    "penalty": replace(
        PARAMETERS["penalty"],
        text=PARAMETERS["penalty"].text.replace("lower by a fifth", "lower by 7 percent"),
    ),
    "class_weight": CLASS_WEIGHT,
}

"""BKerNN for regression."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernlens._array import FloatArray
from kernlens._parameters import documented
from kernlens._reports import Listener
from kernlens._rows import CanonicalRows
from kernlens._validation import check_choice
from kernlens.base.predictions import DecisionRegressorMixin
from kernlens.base.targets import Targets
from kernlens.losses import HuberLoss, Loss, SquaredLoss
from kernlens.methods.bkernn.estimator import BaseBKerNN
from kernlens.methods.bkernn.parameters import PARAMETERS

#: Smallest delta of a Huber loss, relative to half the spread of y.
SMALLEST_BEND = 1e-6


@documented
class BKerNNRegressor(DecisionRegressorMixin, BaseBKerNN):
    """Brownian kernel neural network (BKerNN) for regression.

    Learns a function ``f(x) = c + (1/m) sum_j g_j(w_j . x)`` of a few learned directions by

        min_{W, c, a}  (1/n) sum_i loss(y_i, f(x_i)) + (alpha/2) a^T K_W a + alpha Omega(W),

    with K_W the mean of one-dimensional Brownian kernels on the projections ``X w_j`` and Omega a
    penalty that makes the particles w_j share few directions (equation 10 of the paper [1]_).

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    components_ : ndarray of shape (n_directions_, n_features)
        Learned directions, most important first, for X in its own units. The rows of
        ``loadings_ = components_ * scale_`` are orthonormal; the function rises along each.
    component_importances_ : ndarray of shape (n_directions_,)
        Singular values of the particles (column norms for the variable penalties), sum 1.
    feature_importances_ : ndarray of shape (n_features,)
        Norm of every column of the particles, for standardised columns, sum 1.
    n_directions_ : int
        Number of directions kept.
    alpha_ : float
        The regularisation used.
    alpha_search_ : dict
        ``"alpha"`` and ``"loss"`` tried by ``alpha="auto"``.
    particles_ : ndarray of shape (n_alive, n_features)
        Particles that are not zero, in the units of X.
    linear_coef_ : ndarray of shape (n_targets, n_features)
        Slopes of the linear part, in the units of y and X; zeros where there is none.
    feature_range_ : ndarray of shape (2, n_directions_)
        Lowest and highest learned features of the training rows.
    mean_, scale_ : ndarray of shape (n_features,)
        What is taken from the columns, and what they are divided by.
    inputs_ : ndarray of int of shape (n_varying,)
        Columns in use, in the order of the inputs of the learner, which does not depend on how
        columns are listed.
    support_ : ndarray of shape (n_rows, n_seen)
        Training rows, merged where they are equal, in the inputs that particles look at; or their
        projections on the particles, if those are fewer.
    support_inputs_ : ndarray of int of shape (n_seen,)
        Positions in `inputs_` of the columns of `support_`; none if those are projections.
    dual_coef_ : ndarray of shape (n_targets, n_rows)
        Coefficients of the kernel at these rows, divided by the number of particles.
    knots_ : ndarray of shape (n_alive, n_knots)
        Of a fit of a table in blocks: projections at which the functions of the particles have
        knots; `support_`, `support_inputs_` and `dual_coef_` are missing then.
    knot_coef_ : ndarray of shape (n_targets, n_alive, n_knots)
        Coefficients of the kernel at these knots, divided by the number of particles.
    intercept_ : ndarray of shape (n_targets,)
        Constant of the fitted functions, see :meth:`partial_functions`.
    penalty_ : str
        The penalty in use: the name given, the one that was chosen, or "given" for an object.
    kernel_ : str
        The kernel they were fitted with.
    objective_ : float
        The objective at the end.
    objective_history_ : ndarray
        The objective along the last stage, never increasing.
    n_iter_ : int
        Iterations of the last stage.
    status_ : str
        How the fit ended.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Cost: a gradient is O(n m (d + log n)), a product with the kernel matrix O(n m); the matrix
    itself is never formed beyond 150 rows. Memory: about ``(28 + 8 n_targets) n n_particles`` bytes
    while fitting, ``(8 + 8 n_targets) n n_particles`` for the tables that a fitted model predicts
    from; the number of columns takes the place of n_particles where it is larger and an additive
    model is compared. A prediction is O(m (d + log n)) per row. A saved model has rows and
    coefficients instead of tables, at most ``8 n (min(d, n_particles) + n_targets)`` bytes and what
    does not grow with n; the first prediction after loading makes the tables, O(n m (d + log n)).

    A table in blocks has the particles of a sample of 20,000 rows, and functions of all rows with
    16 to 64 knots each, 4800 divided by n_particles: O(n m (d + n_targets)) for each of some dozen
    passes, and ``24 (n_particles n_knots)^2`` bytes beside the sample.

    An interrupted fit (Ctrl-C) keeps the best particles so far and says so in `status_`; then the
    KeyboardInterrupt goes on to the caller.

    Repeated rows are merged and rows are put in an order given by their content, so the result does
    not depend on the order of the rows, and a weight of 2 is exactly a repetition.

    Corrections to the paper: the centring matrix is I - 11^T/n (Section 3.2 prints I - 11^T); the
    line search re-optimises the coefficients at every trial; 0 is a candidate of the concave
    proximal operators (Appendix A.3.3); the coefficients are solved anew for the final particles.

    References
    ----------
    .. [1] B. Follain, F. Bach, "Enhanced feature learning via regularisation: integrating neural
       networks and kernel methods", Journal of Machine Learning Research.

    Examples
    --------
    >>> from kernlens import BKerNNRegressor
    >>> from kernlens.datasets import make_absolute_sum_of_sines
    >>> data = make_absolute_sum_of_sines(300, 6, random_state=0)
    >>> model = BKerNNRegressor(n_particles=30, random_state=0).fit(data.X, data.y)
    >>> round(model.score(data.X_test, data.y_test), 1)
    1.0
    >>> model.components_.shape[1]
    6
    """

    _parameters = PARAMETERS

    def __init__(
        self,
        *,
        alpha: float | str = "auto",
        n_particles: int = 100,
        penalty: Any = "auto",
        kernel: str = "brownian",
        loss: Any = "squared",
        n_directions: int | str = "auto",
        optimizer: str = "auto",
        init: Any = "random",
        linear_part: bool | str = "auto",
        standardize: bool = True,
        max_iter: int = 200,
        tol: float = 1e-6,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int | bool = False,
        callback: Listener | None = None,
    ) -> None:
        self.alpha = alpha
        self.n_particles = n_particles
        self.penalty = penalty
        self.kernel = kernel
        self.loss = loss
        self.n_directions = n_directions
        self.optimizer = optimizer
        self.init = init
        self.linear_part = linear_part
        self.standardize = standardize
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def _measure_targets(self, rows: CanonicalRows) -> Targets:
        return Targets.standardized(rows.y, rows.weights)

    def _make_loss(self, y: FloatArray, weights: FloatArray) -> Loss:
        if isinstance(self.loss, HuberLoss):
            _check_bend(self.loss.delta, half_spread(y, weights))
        if isinstance(self.loss, Loss):
            return self.loss
        check_choice("loss", self.loss, ("squared", "huber"))
        if self.loss == "squared":
            return SquaredLoss()
        return HuberLoss(half_spread(y, weights) or 1.0)


def half_spread(y: FloatArray, weights: FloatArray) -> float:
    """Half the robust standard deviation of targets (n_targets, n_samples); 0 for constants."""
    center = HuberLoss().best_constant(y, weights)
    spread = HuberLoss().best_constant(np.abs(y - center[:, None]), weights)
    # More than half of the targets equal: their standard deviation is all there is.
    deviation = np.sqrt(np.average(np.square(y - center[:, None]), axis=1, weights=weights))
    return 0.5 * (1.4826 * float(np.mean(spread)) or float(np.mean(deviation)))


def _check_bend(delta: float, spread: float) -> None:
    """Refuse a loss so nearly linear everywhere that its curvature is rounding."""
    if delta < SMALLEST_BEND * spread:
        raise ValueError(
            f"The delta of HuberLoss must be at least {SMALLEST_BEND * spread:.3g}, a millionth of "
            f"half the spread of y, got {delta!r}."
        )

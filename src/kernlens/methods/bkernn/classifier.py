"""BKerNN for classification."""

from __future__ import annotations

from typing import Any

from kernlens._parameters import documented
from kernlens._reports import Listener
from kernlens.base.predictions import DecisionClassifierMixin
from kernlens.methods.bkernn.estimator import BaseBKerNN
from kernlens.methods.bkernn.parameters import CLASSIFIER_PARAMETERS


@documented
class BKerNNClassifier(DecisionClassifierMixin, BaseBKerNN):
    """Brownian kernel neural network (BKerNN) for classification.

    The logistic loss for two classes, the multinomial one for more, in the objective of
    :class:`BKerNNRegressor`: log-odds are sums of functions of a few learned directions [1]_.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
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
        The objective at the end, with the loss of classes.
    objective_history_ : ndarray
        The objective along the last stage, with the loss of classes, never increasing.
    n_iter_ : int
        Iterations of the last stage.
    status_ : str
        How the fit ended.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Cost and memory as in :class:`BKerNNRegressor`, with one target for two classes and one per
    class otherwise. Particles are learned by squares of one-hot targets, one linear solve for all
    classes together; the loss of classes, whose inner problem takes a few Newton steps, chooses
    alpha and takes the last 30 steps, from particles as long as suit it. A warm start and
    ``optimizer="plain"`` take steps of the loss of classes alone.

    References
    ----------
    .. [1] B. Follain, F. Bach, "Enhanced feature learning via regularisation: integrating neural
       networks and kernel methods", Journal of Machine Learning Research.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernlens import BKerNNClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BKerNNClassifier(n_particles=20, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    >>> model.predict_proba(X[:2]).shape
    (2, 3)
    """

    _parameters = CLASSIFIER_PARAMETERS

    def __init__(
        self,
        *,
        alpha: float | str = "auto",
        n_particles: int = 100,
        penalty: Any = "auto",
        kernel: str = "brownian",
        n_directions: int | str = "auto",
        optimizer: str = "auto",
        init: Any = "random",
        class_weight: Any = None,
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
        self.n_directions = n_directions
        self.optimizer = optimizer
        self.init = init
        self.class_weight = class_weight
        self.standardize = standardize
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

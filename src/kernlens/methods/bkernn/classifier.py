"""BKerNN for classification."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from kernlens.base.arrays import check_fit_arrays, encode_labels
from kernlens.base.contract import all_or_nothing
from kernlens.base.predictions import DecisionClassifierMixin
from kernlens.methods.bkernn.estimator import BaseBKerNN


class BKerNNClassifier(DecisionClassifierMixin, BaseBKerNN):
    """Brownian kernel neural network (BKerNN) for classification.

    The logistic loss for two classes, the multinomial one for more, in the objective of
    :class:`BKerNNRegressor`: log-odds are sums of functions of a few learned directions [1]_.

    Parameters
    ----------
    alpha : {"auto", "heuristic"} or float, default="auto"
        Regularisation, the paper's lambda. ``"auto"`` tries eight values, 20 down to 0.006 times
        ``rms(one-hot y - mean) * rms norm of a row / n`` in steps of sqrt(10), along a warm-started
        path; it takes the lowest point of the loss on held-out rows: three stratified folds, or
        with more than 4000 rows a part of 2000 scored on up to 4000 others. `alpha_search_` has
        what it saw.
        ``"heuristic"`` is the paper's ``2 max |x_i| / n``, of the standardised rows if they are.
    n_particles : int, default=100
        Number m of particles. More find weak directions more surely; cost is linear in it.
    penalty : str or Penalty, default="feature"
        ``"feature"`` (few directions), ``"variable"`` (few columns), their less biased
        ``"concave_feature"`` and ``"concave_variable"``, ``"basic"`` and ``"basic_l1"`` (few
        particles). The named concave ones have s = 1 for targets of unit standard deviation; pass
        ``kernlens.penalties.ConcaveFeaturePenalty(s=2.0, strength=0.5)`` and the like to set the
        concavity s, in the units of y, or a strength in front of Omega.
    kernel : {"brownian", "exponential", "gaussian"}, default="brownian"
        One-dimensional kernel on the projections. The first two cost O(n) per particle and
        product, the Gaussian one O(n^2).
    n_directions : "auto" or int, default="auto"
        Directions kept in `components_` and by `transform`. ``"auto"`` keeps those with a share of
        at least ``min(0.1, 1 / n_features)`` of the importance. Predictions always use all
        particles.
    optimizer : {"auto", "lbfgs", "plain"}, default="auto"
        ``"auto"`` and ``"lbfgs"`` minimise over factors of W with a quasi-Newton method, along a
        short path in alpha, on growing subsamples beyond 4000 rows, and end with proximal steps.
        ``"plain"`` is Algorithm 1 of the paper: `max_iter` proximal gradient steps on all rows.
    init : "random" or array-like of shape (n_particles, n_features), default="random"
        First particles: normal of variance 1 / n_features, times the scale of y; or given ones,
        in the units the rows are used in.
    standardize : bool, default=True
        Use ``(x - mean) / std`` of every column. The penalty compares columns, so they should be
        comparable; False takes them as they are.
    max_iter : int, default=100
        Iterations of the last stage.
    tol : float, default=1e-6
        Relative decrease of the objective below which a stage stops.
    warm_start : bool, default=False
        Start from the particles (and the alpha, if automatic) of the previous fit.
    n_jobs : int or None, default=None
        Threads; None and -1 use all cores. Results do not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the first particles.
    verbose : bool, default=False
        Show a progress bar.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    components_ : ndarray of shape (n_directions_, n_features)
        Learned directions, orthonormal, most important first, in the units of X.
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
    knots_, tables_, intercept_, mean_ : ndarray
        The fitted functions, see :meth:`partial_functions`.
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
    Cost and memory as in :class:`BKerNNRegressor`, with one target for two classes and one per
    class otherwise; the inner problem takes a few Newton steps instead of one solve.

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

    def __init__(
        self,
        *,
        alpha: float | str = "auto",
        n_particles: int = 100,
        penalty: Any = "feature",
        kernel: str = "brownian",
        n_directions: int | str = "auto",
        optimizer: str = "auto",
        init: Any = "random",
        standardize: bool = True,
        max_iter: int = 100,
        tol: float = 1e-6,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int | bool = False,
    ) -> None:
        self.alpha = alpha
        self.n_particles = n_particles
        self.penalty = penalty
        self.kernel = kernel
        self.n_directions = n_directions
        self.optimizer = optimizer
        self.init = init
        self.standardize = standardize
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @all_or_nothing
    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> BKerNNClassifier:
        """Learn the directions and the class probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels, of any type scikit-learn takes.
        sample_weight : array-like of shape (n_samples,) or None
            Non-negative weights; a weight of 2 is the row repeated.

        Returns
        -------
        self
        """
        X, y, weights = check_fit_arrays(self, X, y, sample_weight)
        labels = encode_labels(y, weights, type(self).__name__)
        self.classes_ = labels.classes
        self._fit_encoded(X, labels.targets, weights, labels.loss, stratify=True)
        return self

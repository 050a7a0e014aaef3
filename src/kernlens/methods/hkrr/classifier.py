"""HKRR for classification."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from kernlens.base.arrays import check_fit_arrays, encode_labels
from kernlens.base.contract import all_or_nothing
from kernlens.base.predictions import DecisionClassifierMixin
from kernlens.methods.hkrr.estimator import BaseHKRR


class HKRRClassifier(DecisionClassifierMixin, BaseHKRR):
    """Hyper-kernel ridge regression (HKRR) for classification.

    The logistic loss for two classes, the multinomial one for more, in the objective of
    :class:`HKRRRegressor`: log-odds are a function of Bx with a linear map B that is learned [1]_.

    Parameters
    ----------
    alpha : "auto", float or list of float, default="auto"
        Regularisation, the paper's lambda. ``"auto"`` tries 0.1, 0.01, ... down to 1e-8 along a
        warm-started path and stops when held-out rows are predicted worse twice in a row; the best
        is taken. Held out are five folds (up to 1000 rows), three (up to 3000), or a quarter of the
        first 5000 rows. A list is searched the same way. `alpha_search_` has what was seen.
    n_components : "auto", int or list of int, default="auto"
        Number d of rows of B, at most the number of columns (more would give the same kernels).
        ``"auto"`` starts with 20 and also tries as many as the function of the best wide map varies
        along by at least 2 percent. A list is searched together with `alpha` (Section 4.3), wide
        to narrow, each narrower map started from the directions that mattered to a wider one.
    n_centers : int, default=200
        Nystrom centres while B is learned; all rows if there are fewer.
    kernel : str or RadialKernel, default="gaussian"
        Mother kernel: ``"gaussian"``, ``"matern32"``, ``"matern52"``, ``"rational_quadratic"``,
        ``"laplace"``; or a subclass of ``kernlens.kernels.radial.RadialKernel`` with its profile
        and derivative.
    n_directions : "auto" or int, default="auto"
        Directions kept in `components_` and by `transform`, at most `n_components_`. ``"auto"``
        keeps those with a share of at least ``min(0.02, 1 / n_features)`` of the importance.
        Predictions always use all of B.
    optimizer : str, VarPro or AlternatingGradient, default="auto"
        ``"varpro"`` (also ``"auto"``): L-BFGS on the objective with the coefficients minimised out;
        ``"varpro_gradient"``: Algorithm 3, projected gradient steps on it; ``"agd"``: Algorithm 4,
        steps in B and in the coefficients in turn. The classes of
        ``kernlens.methods.hkrr.problem`` set the constants of the line searches and the
        number of inner steps.
    init : {"auto", "random", "subspace"} or array-like of shape (d, n_features), default="auto"
        First maps: `n_init` random ones; the root of the average gradient outer product of a plain
        kernel ridge fit; both; or a given matrix, in the units the rows are used in, whose number
        of rows is then `n_components`. The one that
        predicts held-out rows best is taken (Section 5). A search that gets nowhere is started
        again from the next one, twice at most.
    n_init : int, default=10
        Number of random first maps.
    centers : {"uniform", "leverage"}, default="uniform"
        Centres are drawn without replacement, uniformly or by approximate leverage scores
        (Remark 6).
    refit : "auto", "exact", int or None, default="auto"
        Last fit once B is learned (Appendix D.1), with the length scale and alpha tuned again on
        held-out rows: on so many centres, on all rows (``"exact"``), or none. ``"auto"`` takes
        ``sqrt(2e10 / n)`` centres, between 300 and 1000 and not fewer than `n_centers`. If all
        columns alike (B the identity) predict held-out rows better than any learned map, that is
        kept and `status_` says so; only with ``n_components="auto"``.
    max_norm : float or None, default=None
        Bound of the operator norm of B, 1 in the paper; None lifts it. The length scale is then
        fixed by the median heuristic for a random map of half that norm.
    trace_norm : float, default=0.0
        Strength tau of the penalty ``tau * L0 * |B / l|_*`` (L0 the loss of the best constant, l
        the length scale), which drives B to low rank.
    standardize : bool, default=True
        Use ``(x - mean) / std`` of every column; constant columns are ignored.
    max_iter : int, default=100
        Iterations of the last stage of the learning; earlier ones have at most 25. The gradient
        methods, ``"varpro_gradient"`` and ``"agd"``, need several hundred.
    tol : float, default=1e-4
        Relative decrease of the objective at which the last stage stops. Smaller values fit the
        training rows more closely, which on noisy data predicts worse.
    warm_start : bool, default=False
        Start from the map of the previous fit, with as many components; a given `alpha` is used,
        ``"auto"`` keeps what was chosen before. Ignored if the number of columns has changed.
    n_jobs : int or None, default=None
        Threads; None uses all cores. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        For first maps and centres.
    verbose : bool, default=False
        Show a progress bar.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    projection_ : ndarray of shape (n_components_, n_features)
        The map B, for X in its own units.
    length_scale_ : float
        l in ``k(Bx / l, Bx' / l)``; gamma is ``1 / (2 l^2)`` for the Gaussian kernel.
    components_ : ndarray of shape (n_directions_, n_features)
        Directions along which the fitted function varies, orthonormal, most important first, in the
        units of X: eigenvectors of its average gradient outer product.
    component_importances_ : ndarray of shape (n_directions_,)
        Root mean square slopes along them, sum 1.
    feature_importances_ : ndarray of shape (n_features,)
        Root mean square partial derivatives, per standard deviation of a column, sum 1.
    n_directions_, n_components_ : int
        Directions kept, rows of B.
    alpha_, refit_alpha_ : float
        Regularisation while B was learned and in the last fit.
    alpha_search_ : dict
        Held-out ``"loss"`` of every ``"alpha"`` and ``"n_components"`` tried, if any were.
    centers_ : ndarray of shape (n_refit_centers, n_features)
        Centres of the fitted function.
    dual_coef_ : ndarray of shape (n_targets, n_refit_centers)
        Coefficients of the centres.
    intercept_, mean_ : ndarray of shape (n_targets,), (n_features,)
        Constant, and means of the columns.
    kernel_ : str or RadialKernel
        The kernel the function was fitted with.
    bounds_ : None
        Decision values are not clipped.
    objective_, objective_history_ : float, ndarray
        Objective at the end of the learning, and along its last stage, never increasing.
    n_iter_, status_ : int, str
        Iterations of the last stage, how it ended.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Cost and memory as :class:`HKRRRegressor`, several Newton steps for each evaluation, and the
    features held in memory: another ``24 n p'`` bytes for p' centres.

    An interrupted fit (Ctrl-C) ends with the best map so far, a warning, and `status_`; press twice
    to abort, also inside a cross-validation.

    Repeated rows are merged and rows are put in an order given by their content, so the result does
    not depend on the order of the rows, and a weight of 2 is exactly a repetition.

    References
    ----------
    .. [1] "Learning multi-index models with hyper-kernel ridge regression", Sections 3 to 5,
       Appendices C and D.

    Examples
    --------
    >>> from kernlens import HKRRClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = HKRRClassifier(n_components=2, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    >>> model.predict_proba(X).shape
    (150, 3)
    """

    def __init__(
        self,
        *,
        alpha: Any = "auto",
        n_components: Any = "auto",
        n_centers: int = 200,
        kernel: Any = "gaussian",
        n_directions: int | str = "auto",
        optimizer: Any = "auto",
        init: Any = "auto",
        n_init: int = 10,
        centers: str = "uniform",
        refit: int | str | None = "auto",
        max_norm: float | None = None,
        trace_norm: float = 0.0,
        standardize: bool = True,
        max_iter: int = 100,
        tol: float = 1e-4,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int | bool = False,
    ) -> None:
        self.alpha = alpha
        self.n_components = n_components
        self.n_centers = n_centers
        self.kernel = kernel
        self.n_directions = n_directions
        self.optimizer = optimizer
        self.init = init
        self.n_init = n_init
        self.centers = centers
        self.refit = refit
        self.max_norm = max_norm
        self.trace_norm = trace_norm
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
    ) -> HKRRClassifier:
        """Learn the map and the class probabilities.

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
        self._fit_encoded(X, labels.targets, weights, labels.loss)
        return self

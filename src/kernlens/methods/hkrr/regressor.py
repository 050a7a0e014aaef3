"""HKRR for regression."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kernlens._array import FloatArray
from kernlens._rows import CanonicalRows
from kernlens._validation import check_positive
from kernlens.base.arrays import check_fit_arrays, regression_targets
from kernlens.base.contract import all_or_nothing
from kernlens.base.predictions import DecisionRegressorMixin
from kernlens.base.standardisation import Standardisation
from kernlens.fits.held_out import Bounds
from kernlens.losses import SquaredLoss
from kernlens.methods.hkrr.estimator import BaseHKRR


class HKRRRegressor(DecisionRegressorMixin, BaseHKRR):
    """Hyper-kernel ridge regression (HKRR).

    Kernel ridge regression with one kernel k(Bx, Bx') whose linear map B is learned with it, by
    minimising the regularised error over both, on Nystrom centres [1]_. The few directions that the
    function varies along are the features found.

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
    truncate : "auto", float or None, default="auto"
        Keep predictions within the range of the training targets, within [-M, M] for a given M (the
        paper's T_M, Section 4.3), or do not. Held-out rows are scored the same way.
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
    bounds_ : tuple of ndarray of shape (n_targets,), or None
        What predictions are clipped to.
    objective_, objective_history_ : float, ndarray
        Objective at the end of the learning, and along its last stage, never increasing; for
        targets of unit variance.
    n_iter_, status_ : int, str
        Iterations of the last stage, how it ended.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Minimised is half of the paper's objective (5), with an intercept c, sample weights w, n their
    sum, a jitter of 1e-10 on the diagonal of the centres' kernel matrix, and every target divided
    by its standard deviation:

        L(B, a, c) = 1/(2n) sum_i w_i (y_i - (K_B a)_i - c)^2 + (alpha/2) a^T K_zz,B a.

    Cost of an evaluation with gradient: O(n p^2 + n p d + (n + p) d D) for p centres, d rows of B
    and D columns; B is learned on at most 10,000 rows (4000 with 500 centres or more), the last fit
    uses all, O(n p'^2) for its p' centres. Memory in bytes: about
    ``8 (3 n D + 14 p'^2 + min(2 n p', 8e6) + 2e6)``; the n x p' matrix is never held whole beyond 4
    million entries. A prediction costs O(d D + p' d) per row.

    An interrupted fit (Ctrl-C) ends with the best map so far, a warning, and `status_`; press twice
    to abort, also inside a cross-validation.

    Repeated rows are merged and rows are put in an order given by their content, so the result does
    not depend on the order of the rows, and a weight of 2 is exactly a repetition.

    Corrections to the paper: (5) prints the kernel of rows against centres in the penalty instead
    of the centres' own; the line searches of Algorithms 3 and 4 compare with the squared move over
    the step, since the printed test cannot hold at a constrained stationary point; Algorithm 4
    tests the coefficients at the new B and keeps the last inner step; the Hessian in Lemma 8 lacks
    a factor 2.

    References
    ----------
    .. [1] "Learning multi-index models with hyper-kernel ridge regression", Sections 3 to 5,
       Appendices C and D.

    Examples
    --------
    >>> from kernlens import HKRRRegressor
    >>> from kernlens.datasets import make_rising_sines
    >>> data = make_rising_sines(400, 10, n_relevant=2, random_state=0)
    >>> model = HKRRRegressor(n_components=2, random_state=0).fit(data.X, data.y)
    >>> round(model.score(data.X_test, data.y_test), 1)
    1.0
    >>> model.components_.shape
    (2, 10)
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
        truncate: float | str | None = "auto",
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
        self.truncate = truncate
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
    ) -> HKRRRegressor:
        """Learn the map and the function.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets; several are fitted together, with the same map, each divided by its standard
            deviation so that all count alike.
        sample_weight : array-like of shape (n_samples,) or None
            Non-negative weights; a weight of 2 is the row repeated.

        Returns
        -------
        self
        """
        X, y, weights = check_fit_arrays(
            self, X, y, sample_weight, multi_output=True, y_numeric=True
        )
        targets = regression_targets(y)
        self._single_target = y.ndim == 1
        self._fit_encoded(X, targets, weights, SquaredLoss())
        return self

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.truncate is not None and self.truncate != "auto":
            check_positive("truncate", self.truncate, other="'auto' or None")

    def _target_units(self, rows: CanonicalRows) -> Standardisation:
        # Every target counts alike, whatever its unit, and any unit gives the same fit.
        return Standardisation.of(rows.y.T, rows.weights, True)

    def _bounds(self, y: FloatArray, targets: Standardisation) -> Bounds | None:
        if self.truncate is None:
            return None
        if self.truncate == "auto":
            return y.min(axis=1), y.max(axis=1)
        largest = np.full((1, len(y)), float(self.truncate))
        return targets.apply(-largest)[0], targets.apply(largest)[0]

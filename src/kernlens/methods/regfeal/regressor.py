"""RegFeaL for regression."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from kernlens._array import FloatArray
from kernlens._rows import CanonicalRows
from kernlens._validation import check_flag
from kernlens.base.arrays import check_fit_arrays, regression_targets
from kernlens.base.contract import all_or_nothing
from kernlens.base.predictions import DecisionRegressorMixin
from kernlens.base.standardisation import Standardisation
from kernlens.fits.held_out import Bounds
from kernlens.losses import SquaredLoss
from kernlens.methods.regfeal.estimator import BaseRegFeaL


class RegFeaLRegressor(DecisionRegressorMixin, BaseRegFeaL):
    """Regularised feature learning with Hermite polynomials (RegFeaL) for regression.

    A function in the span of all Hermite polynomials of rotated columns, with a penalty on its
    derivatives that leaves few directions along which it varies [1]_.

    Parameters
    ----------
    alpha : "auto", float or list of float, default="auto"
        Strength of the penalty on derivatives: the paper's mu times ``d^((2-r)/r)`` for d columns,
        so that a linear term pays alpha while all directions are equal. ``"auto"`` and lists are
        searched together with `rho`; ``"auto"`` is the paper's grid, 1000, 100, ..., 0.001.
    rho : "auto", float or list of float, default="auto"
        Terms of degree k are weighted by ``c_k = rho^k``; large values allow rough functions.
        ``"auto"`` is the paper's grid 0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8.
    max_degree : int or None, default=None
        The other choice of the paper: ``c_k = 1`` up to this degree M and 0 beyond; `rho` is then
        not used.
    r : float, default=0.33
        Power of the penalty, in (0, 2). Small values leave fewer directions.
    structure : {"features", "variables", "none"}, default="features"
        Learn directions (2.11), select columns (2.8), or neither: kernel ridge regression with the
        kernel ``sum_k c_k sum_{|a|=k} H_a(x) H_a(x')``, the paper's baseline, whose lambda is
        `alpha`.
    indices : {"auto", "exact", "enumerate", "best_first", "group_sampling"}, default="auto"
        Which multi-indices the function has. ``"exact"``: all of them, by the integral of Mehler
        kernels of the Notes; needs ``c_k = rho^k`` and n^2 memory. ``"enumerate"``: all up to
        `max_degree`, or up to the largest degree with at most `n_indices` of them.
        ``"best_first"``: the `n_indices` of largest weight. ``"group_sampling"``: the paper's
        importance sampling with `n_indices` draws, corrected. ``"auto"``: with `rho` the exact
        kernel, on the first 2000 rows if there are more, and then a last fit on all rows with the
        best 1000 indices; with `max_degree` all indices if they are at most `n_indices`, else the
        best ones.
    n_indices : int, default=2000
        See `indices`.
    max_directions : "auto" or int, default="auto"
        Directions followed after the first fit of feature learning; ``"auto"`` is 10.
    init : "auto" or array-like of shape (k, n_features), default="auto"
        First directions of feature learning: those of a plain fit, or given ones, whose number is
        then the largest number of directions.
    n_directions : "auto" or int, default="auto"
        Directions kept in `components_` and by `transform`. ``"auto"`` is the paper's estimate: the
        number with ``eta_a^(r/(2-r)) >= 1/d``. At most those still in use at the end.
    refit : "auto", "kernel", estimator or None, default="auto"
        What predicts: a regressor fitted on the projected rows (the paper refits with splines; one
        that takes no weights gets rows repeated), a
        Gaussian kernel with length scale and regularisation tuned on held-out rows
        (``"kernel"``), RegFeaL's own function (None), or the better of these two on held-out rows
        (``"auto"``).
    n_folds : int, default=5
        Folds of the search, taken from the first 1250 rows in the order of their content.
    clip : float or None, default=4.0
        Standardised columns are kept within this many standard deviations, at training and at
        prediction: Hermite polynomials of heavy tails explode. The standard deviation is that of
        the column with its outer percents drawn in. None: predictions alone are kept within what
        was seen.
    accelerate : bool, default=True
        Go beyond reweighted directions while that lowers the objective, and turn the directions
        down its gradient. False is the paper's Algorithm 1 on all directions.
    truncate : bool, default=True
        Keep predictions within the range of the training targets.
    standardize : bool, default=True
        Use ``(x - mean) / std`` of every column; the Hermite basis is made for unit variance.
        Constant columns are ignored.
    max_iter : int, default=30
        Reweightings at the chosen setting; the search has at most 8.
    tol : float, default=1e-4
        Relative decrease of the objective at which they stop.
    warm_start : bool, default=False
        At the chosen setting, start from the directions of the previous fit if the objective is
        lower there; ``"auto"`` keeps its `alpha` and `rho`. Ignored if the structure or the number
        of columns in use has changed.
    n_jobs : int or None, default=None
        Threads; None uses all cores. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        For sampled indices and the centres of a refit.
    verbose : bool, default=False
        Show a progress bar.

    Attributes
    ----------
    components_ : ndarray of shape (n_directions_, n_features)
        Leading columns of the rotation R as rows, orthonormal, in the units of X.
    component_importances_ : ndarray of shape (n_directions_,)
        Their shares ``eta_a^(r/(2-r))``, divided by their sum.
    feature_importances_ : ndarray of shape (n_features,)
        Roots of the diagonal of M_f, per standard deviation of a column, sum 1.
    n_directions_ : int
        Directions kept.
    rotation_ : ndarray of shape (n_varying, n_followed)
        R, for standardised columns that vary.
    shares_, eta_ : ndarray of shape (n_followed,)
        Shares of all directions followed, and the paper's eta.
    alpha_, rho_, max_degree_ : float, float or None, int or None
        The setting chosen.
    alpha_search_ : dict
        ``"alpha"``, ``"rho"`` (but with `max_degree`) and held-out ``"loss"`` of the settings
        tried, the lower of the ``"own_loss"`` of RegFeaL's function and the ``"refit_loss"``, and
        on how many folds (``"n_folds"``); only if there was something to choose.
    projection_ : ndarray of shape (n_relevant, n_varying)
        The map that a refit goes through, if one is used.
    refit_ : estimator
        The fitted `refit`, if an estimator was given.
    support_, dual_coef_ : ndarray
        Rows and coefficients of a kernel function.
    indices_, coef_ : ndarray of shape (n_indices, n_followed), (n_targets, n_indices)
        Multi-indices and coefficients of an explicit function.
    intercept_, mean_, scale_ : ndarray
        Constant of the function, for standardised targets; units of the columns.
    bounds_ : tuple of ndarray of shape (n_targets,), or None
        What predictions are clipped to.
    objective_, objective_history_ : float, ndarray
        Objective at the end of the learning, and along its iterations, never increasing (but for
        sampled indices).
    n_iter_, status_ : int, str
        Iterations at the chosen setting, how they ended.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    For ``f = sum_a f_a H_a(R^T x) + f_0``, with sample weights w and n their sum, minimised is

        J = 1/(2n) sum_i w_i (y_i - f(x_i))^2 + (1/2) sum_a f_a^2 (lam + mu a . 1/eta) / c_|a|

    over f, the rotation R and eta > 0 with ``sum eta^(r/(2-r)) = 1``; half of the paper's (3.4).
    Over eta the penalty is ``lam Omega_0^2 + mu Omega^2``: Lemmas 3.1 to 3.3 print Omega^r, which
    is not what Algorithm 1 minimises. Also corrected: the features are ``sqrt(w(a)) H_a``, not
    ``w(a) H_a``; the binomial coefficient of group sampling has d_1 for d_2; uniform sampling
    leaves out a = 0.

    The exact kernel, not in the paper, is an integral of Mehler kernels,
    ``1/(lam + mu a . 1/eta) = int exp(-t (...)) dt``, by a trapezoidal rule in log t.

    The search follows the paper's grid: all settings on the first fold for 3 iterations, the best
    16 for 5 more, the best 6 on all folds. Feature learning starts from the directions of a plain
    fit at the setting where that predicts best; if no setting lowers the held-out loss of that fit
    by 5 percent, it is kept, and `status_` says so. With one setting the folds serve to tune the
    refit and to compare it, and their directions are starts of the learning.

    Cost of an iteration: O(q n^2 k + n^3) with the exact kernel, n at most 2000 rows, q = 17 nodes,
    k directions; O(n m^2) with m explicit indices, linear in n. Memory in bytes: about
    ``8 (4 n d + 8 min(n, 2000)^2 + 4 n_indices^2)``. Repeated rows are merged, and rows are put in
    an order given by their content, so the result does not depend on it and a weight of 2 is
    exactly a repetition. An interrupted fit (Ctrl-C) keeps the directions reached.

    References
    ----------
    .. [1] B. Follain and F. Bach, "Nonparametric linear feature learning in regression through
       regularisation", Electronic Journal of Statistics 18 (2024), Sections 2, 3 and 5.

    Examples
    --------
    >>> from kernlens import RegFeaLRegressor
    >>> from kernlens.datasets import make_two_sines
    >>> data = make_two_sines(300, 5, random_state=0)
    >>> model = RegFeaLRegressor(alpha=1.0, rho=0.6, random_state=0).fit(data.X, data.y)
    >>> model.components_.shape
    (2, 5)
    >>> bool(model.score(data.X_test, data.y_test) > 0.7)
    True
    """

    def __init__(
        self,
        *,
        alpha: Any = "auto",
        rho: Any = "auto",
        max_degree: int | None = None,
        r: float = 0.33,
        structure: str = "features",
        indices: str = "auto",
        n_indices: int = 2000,
        max_directions: int | str = "auto",
        init: Any = "auto",
        n_directions: int | str = "auto",
        refit: Any = "auto",
        n_folds: int = 5,
        clip: float | None = 4.0,
        accelerate: bool = True,
        truncate: bool = True,
        standardize: bool = True,
        max_iter: int = 30,
        tol: float = 1e-4,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int | bool = False,
    ) -> None:
        self.alpha = alpha
        self.rho = rho
        self.max_degree = max_degree
        self.r = r
        self.structure = structure
        self.indices = indices
        self.n_indices = n_indices
        self.max_directions = max_directions
        self.init = init
        self.n_directions = n_directions
        self.refit = refit
        self.n_folds = n_folds
        self.clip = clip
        self.accelerate = accelerate
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
    ) -> RegFeaLRegressor:
        """Learn the directions and the function.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets; several share their directions, each divided by its standard deviation so that
            all count alike.
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
        check_flag("truncate", self.truncate)

    def _target_units(self, rows: CanonicalRows) -> Standardisation:
        # Every target counts alike, whatever its unit, and any unit gives the same fit.
        return Standardisation.of(rows.y.T, rows.weights, True)

    def _bounds(self, y: FloatArray) -> Bounds | None:
        return (y.min(axis=1), y.max(axis=1)) if self.truncate else None

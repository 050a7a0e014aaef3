"""RKHS weightings for regression."""

from __future__ import annotations

from typing import Any

from kernlens.methods.rkhs_weightings.regression import RandomFeatureRegressor
from kernlens.methods.rkhs_weightings.weighting import BaseRKHSWeighting


class RKHSWeightingRegressor(RandomFeatureRegressor, BaseRKHSWeighting):
    """Random features averaged exactly against a weight function of an RKHS, for regression.

    ``f(x) = c + E_w[alpha(w) phi(w, x)]`` with random weights w, a base predictor phi and alpha in
    a reproducing kernel Hilbert space, so that the expectation has a closed form [1]_. Learned by
    least squares, the Lasso, stochastic descent, or exactly with the implicit kernel.

    Parameters
    ----------
    instantiation : str or CustomWeighting, default="auto"
        Base predictor phi and kernel K of the weights: ``max(0, <w, x>)``, ``sign(<w, x>)`` or
        ``sign(x_j - b)`` with a Gaussian kernel (``"relu"``, ``"sign"``, ``"stumps"``), or the
        first two with the exponential one (``"exp_relu"``, ``"exp_sign"``). ``"auto"`` compares
        the first three on rows left out. A
        :class:`~kernlens.features.weightings.CustomWeighting` is one of your own.
    solver : str or FunctionalGradient, default="auto"
        ``"exact"``: kernel ridge regression with the implicit kernel, the limit of infinitely many
        features. ``"least_squares"``: Algorithm 4. ``"lasso"``: Algorithm 5, sparse; only weights
        in use are kept. ``"sfgd"``: Algorithm 3, of interest for its theory and far less accurate;
        its options are those of a :class:`~kernlens.FunctionalGradient`. ``"auto"``: exact up to
        2000 rows, else least squares.
    penalty : {"rkhs", "l2"}, default="rkhs"
        Which norm of the weight function is penalised: that of its RKHS, or that of L2(p).
    alpha : "auto", float or list of float, default="auto"
        Regularisation, lambda in the Notes. ``"auto"`` and lists are chosen from by errors on rows
        left out, together with `instantiation` and `correlation`; ``"auto"`` has half decades from
        1e-8 to 10 (Lasso: 1e-4 to 1; ``"sfgd"``: 3e-4 to 1).
    alpha_unit : {"relative", "paper"}, default="relative"
        Relative: lambda is `alpha`, at least 1e-15, times the mean square of the features in the
        norm that is penalised (for the Lasso, times the root of that of one feature), centred if
        there is a constant, so that the same values fit all dimensions and instantiations. Paper:
        lambda is `alpha`, for standardised targets.
    mix_alphas : bool, default=True
        Where there are several alphas: predict with a mean of the solutions of the best one and of
        those nearest to one and two decades around it, weighted by errors on rows left out. With
        a few hundred rows that is on average better than the best alone. Not for ``"lasso"`` and
        ``"sfgd"``.
    correlation : "auto", float or list of float, default="auto"
        r in (0, 1), how alike two weights are for K: ``sigma^2 / (sigma^2 + gamma^2)`` for the
        Gaussian kernel, ``sigma^2 / (2 gamma^2)`` for the exponential one. Large values allow rough
        functions, small ones are nearly linear. ``"auto"`` compares 0.05, 0.2, 0.6 and 0.95; for
        ``"sfgd"`` values around 1/d, for which its gradients are not too noisy.
    sigma : float, default=1.0
        Standard deviation of the weights. It matters for thresholds of stumps, and for `gamma`,
        `alpha_unit="paper"`.
    gamma : float or None, default=None
        Another way to give the correlation, of a named instantiation: the width of K.
    theta : float or None, default=None
        Another one for ``"sign"`` and ``"relu"``, by equation (67), in (0, 1).
    kappa : float or None, default=None
        Another one for ``"exp_sign"`` and ``"exp_relu"``, by equation (68), above 1.
    n_random_features : int, default=1000
        T, the number of random weights. More of them cost O(n T^2) and come nearer to the exact
        kernel.
    bias : float, default=3.0
        Value of a constant column that is added to the standardised ones, so that functions need
        not be homogeneous in x; 0 is the paper's model.
    fit_intercept : bool, default=True
        Whether the constant c is fitted; False is the paper's model, c = 0. The mean of y is
        taken off before, and added to predictions, in any case.
    truncate : bool, default=True
        Keep predictions within the range of the training targets.
    standardize : bool, default=True
        Use ``(x - mean) / std`` of every column; False: columns are only centred. Constant columns
        are ignored.
    n_directions : "auto" or int, default="auto"
        Directions kept in `components_` and by `transform`. ``"auto"``: those with at least an even
        share of the importance, 1/d or a tenth.
    n_jobs : int or None, default=None
        Threads; None uses all cores. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        For the weights and the batches of ``solver="sfgd"``.
    verbose : bool, default=False
        Show a progress bar.

    Attributes
    ----------
    components_ : ndarray of shape (n_directions_, n_features)
        Leading eigenvectors of the average outer product of gradients of the function, orthonormal,
        in the units of X.
    component_importances_ : ndarray of shape (n_directions_,)
        Their eigenvalues, divided by their sum.
    feature_importances_ : ndarray of shape (n_features,)
        Root mean squared slope per standard deviation of a column; for stumps, the standard
        deviation of the column's own function; sum 1.
    n_directions_ : int
        Directions kept.
    instantiation_, correlation_, solver_ : str, float, str
        What was used.
    alpha_ : float
        The best regularisation.
    alpha_mixture_ : dict
        ``"alpha"`` and ``"weight"`` of the solutions that were mixed, those of weight zero left
        out; `alpha_` alone without a choice or with ``mix_alphas=False``.
    log_alpha_unit_ : float
        Logarithm of the paper's lambda over `alpha_`.
    alpha_search_ : dict
        ``"alpha"``, ``"instantiation"``, ``"correlation"`` and ``"loss"`` of the settings tried, in
        the last round of the search; only if there was something to choose.
    weights_, coef_ : ndarray of shape (n_weights, n_coordinates), (n_targets, n_weights)
        Weights, in units of `sigma`, and coefficients of their features (those of Table 3 without
        their exponential factors), for standardised columns
        that vary and the bias; not for ``solver="exact"``.
    support_, dual_coef_ : ndarray of shape (n_rows, n_inputs), (n_targets, n_rows)
        Rows and coefficients of the kernel function of ``solver="exact"``.
    intercept_, mean_, scale_ : ndarray
        Constant of the function, for standardised targets; units of the columns.
    bounds_ : tuple of ndarray, or None
        Lowest and highest prediction of every target, if `truncate`.
    objective_, objective_history_ : float, ndarray
        ``(1/n) sum_i w_i (f(x_i) - y_i)^2`` plus the penalty for `alpha_`; history: that, and for
        ``"sfgd"`` the loss on every batch before.
    n_iter_, status_ : int, str
        Steps of ``"sfgd"``, else 1; how the fit ended.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Minimised is ``(1/n) sum_i w_i (f(x_i) - y_i)^2 + lambda |alpha|^2`` for
    ``f(x) = c + E_w[alpha(w) phi(w, x)]`` with alpha in the RKHS of K; the Lasso has
    ``lambda sum_t |a_t|`` for ``alpha = sum_t a_t K(w_t, .)``. The features
    ``E_w[K(w_t, w) phi(w, x)]`` are those of Table 3 with two corrections (RWExpSign: sqrt 8 for
    sqrt(8 pi); RWExpRelu: the prefactor, and u' for u). Coefficients of the exponential kernel are
    rescaled so that K(w_t, .) has norm 1, the constants of high dimensions are kept as logarithms.

    With several alphas f is a mean of such minimisers, see `mix_alphas`; its weights, which are not
    negative and have sum 1, minimise the squared error on rows left out (stacked regressions), with
    a slight preference for even ones.

    The implicit kernel (63) has a closed form that the paper does without, see
    :mod:`kernlens.kernels.implicit`; up to a factor it depends on the correlation alone.

    Alpha, correlation and instantiation are chosen by leaving single rows out of the first 800 (one
    eigendecomposition each); alpha by leaving single rows out of all if they are at most 2000. With
    more rows the best instantiation of every kind and two rougher ones of the best kind go on, and
    a fifth of all rows is held out of their normal equations.

    Cost with n rows, T weights, d columns: O(n T (d + T) + T^3), exact O(n^2 d + n^3). Memory in
    bytes: about ``8 (4 n d + 12 T^2 + 1.6e7)``, exact ``8 (4 n d + 4 n^2)``. Rows of float32 are
    computed with in float32, and summed in float64, if `alpha` is given as 1e-5 or more and nothing
    cancels, else in float64. Repeated rows are merged, and rows are put in
    an order given by their content, so the result does not depend on it and a weight of 2 is
    exactly a repetition.

    References
    ----------
    .. [1] "Using RKHS weight functions in random feature models", Sections 3 to 6.

    Examples
    --------
    >>> from kernlens import RKHSWeightingRegressor
    >>> from sklearn.datasets import make_friedman1
    >>> X, y = make_friedman1(n_samples=200, random_state=0)
    >>> model = RKHSWeightingRegressor(random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    >>> model.instantiation_
    'relu'
    """

    def __init__(
        self,
        *,
        instantiation: Any = "auto",
        solver: Any = "auto",
        penalty: str = "rkhs",
        alpha: Any = "auto",
        alpha_unit: str = "relative",
        mix_alphas: bool = True,
        correlation: Any = "auto",
        sigma: float = 1.0,
        gamma: float | None = None,
        theta: float | None = None,
        kappa: float | None = None,
        n_random_features: int = 1000,
        bias: float = 3.0,
        fit_intercept: bool = True,
        truncate: bool = True,
        standardize: bool = True,
        n_directions: int | str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int | bool = False,
    ) -> None:
        self.instantiation = instantiation
        self.solver = solver
        self.penalty = penalty
        self.alpha = alpha
        self.alpha_unit = alpha_unit
        self.mix_alphas = mix_alphas
        self.correlation = correlation
        self.sigma = sigma
        self.gamma = gamma
        self.theta = theta
        self.kappa = kappa
        self.n_random_features = n_random_features
        self.bias = bias
        self.fit_intercept = fit_intercept
        self.truncate = truncate
        self.standardize = standardize
        self.n_directions = n_directions
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

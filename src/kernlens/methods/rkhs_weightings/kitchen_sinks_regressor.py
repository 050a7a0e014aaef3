"""Random kitchen sinks for regression."""

from __future__ import annotations

from typing import Any

from kernlens.methods.rkhs_weightings.kitchen_sinks import BaseKitchenSinks
from kernlens.methods.rkhs_weightings.regression import RandomFeatureRegressor


class RandomKitchenSinksRegressor(RandomFeatureRegressor, BaseKitchenSinks):
    """Random kitchen sinks for regression.

    ``f(x) = c + (1/T) sum_t a_t phi(w_t, x)`` with random weights w_t and a base predictor phi,
    coefficients by least squares or the Lasso (Rahimi and Recht; Algorithms 1 and 2 of [1]_).

    Parameters
    ----------
    base : {"auto", "relu", "sign", "stumps"}, default="auto"
        Base predictor phi: ``max(0, <w, x>)``, ``sign(<w, x>)`` or ``sign(x_j - b)``. ``"auto"``
        compares them on rows left out.
    solver : {"least_squares", "lasso", "exact"}, default="least_squares"
        ``"least_squares"``: Algorithm 1. ``"lasso"``: Algorithm 2, sparse; only weights in use are
        kept. ``"exact"``: kernel ridge regression with E_w[phi(w, x) phi(w, x')], the limit of
        infinitely many features.
    alpha : "auto", float or list of float, default="auto"
        Regularisation, lambda in the Notes. ``"auto"`` and lists are chosen from by errors on rows
        left out; ``"auto"`` has half decades from 1e-8 to 10 (Lasso: 1e-4 to 1).
    alpha_unit : {"relative", "paper"}, default="relative"
        Relative: lambda is `alpha`, at least 1e-15, times the mean square of the features (for the
        Lasso, times the root of that of one feature), centred if there is a constant. Paper: lambda
        is `alpha`, for standardised targets.
    mix_alphas : bool, default=True
        Where there are several alphas: predict with a mean of the solutions of the best one and of
        those nearest to one and two decades around it, weighted by errors on rows left out. With
        a few hundred rows that is on average better than the best alone. Not for ``"lasso"``.
    sigma : float, default=1.0
        Standard deviation of the weights; it matters for thresholds of stumps and for
        `alpha_unit="paper"`.
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
        For the weights.
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
    instantiation_, solver_ : str
        The base predictor and the solver used.
    alpha_ : float
        The best regularisation.
    alpha_mixture_ : dict
        ``"alpha"`` and ``"weight"`` of the solutions that were mixed, those of weight zero left
        out; `alpha_` alone without a choice or with ``mix_alphas=False``.
    log_alpha_unit_ : float
        Logarithm of the paper's lambda over `alpha_`.
    alpha_search_ : dict
        ``"alpha"``, ``"instantiation"`` and ``"loss"`` of the settings tried, the last ones of the
        search; only if there was something to choose.
    weights_, coef_ : ndarray of shape (n_weights, n_coordinates), (n_targets, n_weights)
        Weights, in units of `sigma`, and coefficients of their features, for standardised columns
        that vary and the bias; not for ``solver="exact"``.
    support_, dual_coef_ : ndarray of shape (n_rows, n_inputs), (n_targets, n_rows)
        Rows and coefficients of the kernel function of ``solver="exact"``.
    intercept_, mean_, scale_ : ndarray
        Constant of the function, for standardised targets; units of the columns.
    bounds_ : tuple of ndarray, or None
        Lowest and highest prediction of every target, if `truncate`.
    objective_, objective_history_ : float, ndarray
        ``(1/n) sum_i w_i (f(x_i) - y_i)^2`` plus the penalty for `alpha_`; history: that alone.
    n_iter_, status_ : int, str
        1; how the fit ended.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Minimised is ``(1/n) sum_i w_i (f(x_i) - y_i)^2 + (lambda/T) sum_t a_t^2`` for
    ``f(x) = c + (1/T) sum_t a_t phi(w_t, x)``; the Lasso has ``(lambda/T) sum_t |a_t|``. The linear
    system (25) of the paper, and (27), lack a factor 1/T of the features.

    With several alphas f is a mean of such minimisers, see `mix_alphas`; its weights, which are not
    negative and have sum 1, minimise the squared error on rows left out (stacked regressions), with
    a slight preference for even ones.

    Alpha and the base predictor are chosen by leaving single rows out of the first 800 (one
    eigendecomposition each); alpha by leaving single rows out of all if they are at most 2000. With
    more rows all base predictors are compared on a fifth of the rows, held out of their normal
    equations.

    Cost with n rows, T weights, d columns: O(n T (d + T) + T^3). Memory in bytes: about
    ``8 (4 n d + 12 T^2 + 1.6e7)``, exact ``8 (4 n d + 4 n^2)``. Rows of float32 are computed with
    in float32, and summed in float64, if `alpha` is given as 1e-5 or more and nothing cancels, else
    in float64. Repeated rows are merged, and rows are put in an order given by their content, so
    the result does not depend on it and a weight of 2 is exactly a repetition.
    Directions of ``"sign"`` and ``"stumps"``, which have no slope, are those of smoothed steps.

    References
    ----------
    .. [1] "Using RKHS weight functions in random feature models", Sections 3 to 6.

    Examples
    --------
    >>> from kernlens import RandomKitchenSinksRegressor
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RandomKitchenSinksRegressor(base="relu", random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.45)
    True
    """

    def __init__(
        self,
        *,
        base: str = "auto",
        solver: str = "least_squares",
        alpha: Any = "auto",
        alpha_unit: str = "relative",
        mix_alphas: bool = True,
        sigma: float = 1.0,
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
        self.base = base
        self.solver = solver
        self.alpha = alpha
        self.alpha_unit = alpha_unit
        self.mix_alphas = mix_alphas
        self.sigma = sigma
        self.n_random_features = n_random_features
        self.bias = bias
        self.fit_intercept = fit_intercept
        self.truncate = truncate
        self.standardize = standardize
        self.n_directions = n_directions
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

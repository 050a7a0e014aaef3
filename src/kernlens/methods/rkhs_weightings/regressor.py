"""RKHS weightings and random kitchen sinks for regression."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if

from kernlens._array import FloatArray
from kernlens._parameters import documented
from kernlens._reports import Listener
from kernlens._rows import CanonicalRows
from kernlens.base.arrays import check_batch_arrays, regression_targets
from kernlens.base.contract import all_or_nothing
from kernlens.base.predictions import DecisionRegressorMixin
from kernlens.base.targets import Targets
from kernlens.methods.rkhs_weightings.kitchen_sinks import BaseKitchenSinks
from kernlens.methods.rkhs_weightings.parameters import (
    KITCHEN_SINKS_PARAMETERS,
    WEIGHTING_PARAMETERS,
)
from kernlens.methods.rkhs_weightings.stream import can_stream
from kernlens.methods.rkhs_weightings.weighting import BaseRKHSWeighting


class RandomFeatureRegressorMixin(DecisionRegressorMixin):
    """Targets, truncation and batches of a regressor; it stands left of the base of a family."""

    truncate: float | str | None

    def _measure_targets(self, rows: CanonicalRows) -> Targets:
        targets = Targets.standardized(rows.y, rows.weights)
        return self._bounded(targets, rows.y.min(axis=1), rows.y.max(axis=1))

    def _bounded(self, targets: Targets, low: FloatArray, high: FloatArray) -> Targets:
        return targets.truncated(self.truncate, low, high)

    @available_if(can_stream)
    @all_or_nothing
    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn from a batch of rows on top of those before, without keeping any.

        The units of columns and targets, the kind of features, and their weights follow from the
        first batch, which should be a fair sample of some thousand rows; `alpha` is chosen
        anew with every batch.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets.
        sample_weight : array-like of shape (n_samples,) or None
            Non-negative weights, relative to those of the first batch, at most 1e50 times as large
            or as small.

        Returns
        -------
        self
        """
        X, y, weights = check_batch_arrays(
            self, X, y, sample_weight, dtype=self._precisions, multi_output=True, y_numeric=True
        )
        targets = regression_targets(y)
        if self._going_on and len(targets) != len(self.intercept_):
            raise ValueError(
                f"y has {len(targets)} targets and those before had {len(self.intercept_)}; give "
                "the same ones in every call."
            )
        self._single_target = y.ndim == 1
        self._partial_fit_encoded(X, targets, weights)
        return self


@documented
class RKHSWeightingRegressor(RandomFeatureRegressorMixin, BaseRKHSWeighting):
    """Random features averaged exactly against a weight function of an RKHS, for regression.

    ``f(x) = c + E_w[alpha(w) phi(w, x)]`` with random weights w, a base predictor phi and alpha in
    a reproducing kernel Hilbert space, so that the expectation has a closed form [1]_. Learned by
    least squares, the Lasso, stochastic descent, or exactly with the implicit kernel.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    components_ : ndarray of shape (n_directions_, n_features)
        Leading eigenvectors of the average outer product of gradients of the function, for X in its
        own units. The rows of ``loadings_ = components_ * scale_`` are orthonormal; the function
        rises along each.
    component_importances_ : ndarray of shape (n_directions_,)
        Their eigenvalues, divided by their sum.
    feature_importances_ : ndarray of shape (n_features,)
        Root mean squared slope per standard deviation of a column; for stumps, the standard
        deviation of the column's own function; sum 1.
    n_directions_ : int
        Directions kept.
    instantiation_, correlation_, solver_ : str, float, str
        The base predictor with its kernel, the correlation (None for a weighting of the user's own)
        and the solver used.
    alpha_ : float
        The best regularisation.
    alpha_mixture_ : dict
        ``"alpha"`` and ``"weight"`` of the solutions that were mixed, those of weight zero left
        out; `alpha_` alone without a choice or with ``mix_alphas=False``.
    log_alpha_unit_ : float
        Logarithm of the paper's lambda over `alpha_`.
    alpha_search_ : dict
        ``"alpha"``, ``"instantiation"``, ``"correlation"`` and ``"loss"`` of the settings tried in
        the last round of the search, and the position ``"chosen"``; only if there was something to
        choose.
    weights_, coef_ : ndarray of shape (n_weights, n_coordinates), (n_targets, n_weights)
        Weights, in units of sigma, and coefficients of their features (those of Table 3 without
        their exponential factors), for standardised columns as in `inputs_` and the bias; not for
        ``solver="exact"``.
    support_, dual_coef_ : ndarray of shape (n_rows, n_inputs), (n_targets, n_rows)
        Rows, with columns as in `inputs_`, and coefficients of the kernel function of
        ``solver="exact"``.
    linear_coef_ : ndarray of shape (n_targets, n_features)
        Slopes of the linear part, in the units of y and X; zeros where there is none.
    feature_range_ : ndarray of shape (2, n_directions_)
        Lowest and highest learned features of the training rows.
    intercept_, mean_, scale_ : ndarray
        Constant of the function, for standardised targets; units of the columns.
    inputs_ : ndarray of int of shape (n_varying,)
        Columns in use, in the order of the inputs of the learner, which does not depend on how
        columns are listed.
    bounds_ : tuple of ndarray, or None
        Lowest and highest prediction of every target, if `truncate`.
    objective_, objective_history_ : float, ndarray
        ``(1/n) sum_i w_i (f(x_i) - y_i)^2`` plus the penalty for `alpha_`; history: that, and for
        ``"sfgd"`` the loss on every batch before.
    n_iter_, status_ : int, str
        Steps of ``"sfgd"``, else 1, and how the fit ended.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The objective is ``(1/n) sum_i w_i (f(x_i) - y_i)^2 + lambda |alpha|^2`` for
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
    bytes: about ``8 (4 n d + 12 T^2 + 1.6e7)``, exact ``8 (4 n d + 4 n^2)``. More than 2000 rows of
    float32 are fitted in float32, with sums in float64, if `alpha` is given as 1e-5 or more and
    nothing cancels, else in float64. Repeated rows are merged, and rows are put in an order given
    by their content, so the result does not depend on it and a weight of 2 is exactly a repetition.

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

    _parameters = WEIGHTING_PARAMETERS

    def __init__(
        self,
        *,
        instantiation: Any = "auto",
        solver: Any = "auto",
        penalty: str = "rkhs",
        alpha: Any = "auto",
        mix_alphas: bool = True,
        correlation: Any = "auto",
        n_random_features: int = 1000,
        bias: float = 3.0,
        fit_intercept: bool = True,
        truncate: float | str | None = "auto",
        linear_part: bool | str = "auto",
        standardize: bool = True,
        n_directions: int | str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int | bool = False,
        callback: Listener | None = None,
    ) -> None:
        super().__init__(
            instantiation=instantiation,
            solver=solver,
            penalty=penalty,
            alpha=alpha,
            mix_alphas=mix_alphas,
            correlation=correlation,
            n_random_features=n_random_features,
            bias=bias,
            fit_intercept=fit_intercept,
            standardize=standardize,
            n_directions=n_directions,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            callback=callback,
        )
        self.truncate = truncate
        self.linear_part = linear_part


@documented
class RandomKitchenSinksRegressor(RandomFeatureRegressorMixin, BaseKitchenSinks):
    """Random kitchen sinks for regression.

    ``f(x) = c + (1/T) sum_t a_t phi(w_t, x)`` with random weights w_t and a base predictor phi,
    coefficients by least squares or the Lasso (Rahimi and Recht; Algorithms 1 and 2 of [1]_).

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    components_ : ndarray of shape (n_directions_, n_features)
        Leading eigenvectors of the average outer product of gradients of the function, for X in its
        own units. The rows of ``loadings_ = components_ * scale_`` are orthonormal; the function
        rises along each.
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
        ``"alpha"``, ``"instantiation"`` and ``"loss"`` of the settings tried in the last round of
        the search, and the position ``"chosen"``; only if there was something to choose.
    weights_, coef_ : ndarray of shape (n_weights, n_coordinates), (n_targets, n_weights)
        Weights, in units of sigma, and coefficients of their features, for standardised columns as
        in `inputs_` and the bias; not for ``solver="exact"``.
    support_, dual_coef_ : ndarray of shape (n_rows, n_inputs), (n_targets, n_rows)
        Rows, with columns as in `inputs_`, and coefficients of the kernel function of
        ``solver="exact"``.
    linear_coef_ : ndarray of shape (n_targets, n_features)
        Slopes of the linear part, in the units of y and X; zeros where there is none.
    feature_range_ : ndarray of shape (2, n_directions_)
        Lowest and highest learned features of the training rows.
    intercept_, mean_, scale_ : ndarray
        Constant of the function, for standardised targets; units of the columns.
    inputs_ : ndarray of int of shape (n_varying,)
        Columns in use, in the order of the inputs of the learner, which does not depend on how
        columns are listed.
    bounds_ : tuple of ndarray, or None
        Lowest and highest prediction of every target, if `truncate`.
    objective_, objective_history_ : float, ndarray
        ``(1/n) sum_i w_i (f(x_i) - y_i)^2`` plus the penalty for `alpha_`; history: that alone.
    n_iter_, status_ : int, str
        The number 1, and how the fit ended.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The objective is ``(1/n) sum_i w_i (f(x_i) - y_i)^2 + (lambda/T) sum_t a_t^2`` for
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
    ``8 (4 n d + 12 T^2 + 1.6e7)``, exact ``8 (4 n d + 4 n^2)``. More than 2000 rows of float32 are
    fitted in float32, with sums in float64, if `alpha` is given as 1e-5 or more and nothing
    cancels, else in float64. Repeated rows are merged, and rows are put in an order given by their
    content, so the result does not depend on it and a weight of 2 is exactly a repetition.

    Functions of ``"sign"`` and ``"stumps"`` with a finite number of features have no slope: their
    `gradient` is zero, and their directions are those of smoothed steps.

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

    _parameters = KITCHEN_SINKS_PARAMETERS

    def __init__(
        self,
        *,
        base: str = "auto",
        solver: str = "least_squares",
        alpha: Any = "auto",
        mix_alphas: bool = True,
        sigma: float = 1.0,
        n_random_features: int = 1000,
        bias: float = 3.0,
        fit_intercept: bool = True,
        truncate: float | str | None = "auto",
        linear_part: bool | str = "auto",
        standardize: bool = True,
        n_directions: int | str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int | bool = False,
        callback: Listener | None = None,
    ) -> None:
        super().__init__(
            base=base,
            solver=solver,
            alpha=alpha,
            mix_alphas=mix_alphas,
            sigma=sigma,
            n_random_features=n_random_features,
            bias=bias,
            fit_intercept=fit_intercept,
            standardize=standardize,
            n_directions=n_directions,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            callback=callback,
        )
        self.truncate = truncate
        self.linear_part = linear_part

"""Brownian kernel ridge regression."""

from __future__ import annotations

from kernlens._parameters import documented
from kernlens._rows import CanonicalRows
from kernlens.base.predictions import DecisionRegressorMixin
from kernlens.base.targets import Targets
from kernlens.methods.brownian_ridge.estimator import BaseBrownianRidge
from kernlens.methods.brownian_ridge.parameters import PARAMETERS


@documented
class BrownianKernelRidge(DecisionRegressorMixin, BaseBrownianRidge):
    """Kernel ridge regression with the Brownian kernel of whole rows (BKRR).

    The kernel ``B(x, x') = (|x| + |x'| - |x - x'|) / 2`` has no length scale, so that only alpha is
    to be chosen. It learns no features while it fits; its directions are the eigenvectors of the
    average gradient outer product of the fitted function. The paper of BKerNN compares with it
    [1]_.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    components_ : ndarray of shape (n_directions_, n_features)
        Eigenvectors of the average gradient outer product of the function, for X in its own units,
        most important first. The rows of ``loadings_ = components_ * scale_`` are orthonormal; the
        function rises along each.
    component_importances_ : ndarray of shape (n_directions_,)
        Mean squared slopes along them, sum 1.
    feature_importances_ : ndarray of shape (n_features,)
        Root mean square partial derivatives, per standard deviation of a column, sum 1.
    n_directions_ : int
        Directions kept.
    alpha_ : float
        Regularisation in use.
    alpha_search_ : dict
        Left-out ``"loss"`` of every ``"alpha"``, if any were compared, and the position
        ``"chosen"`` of the one in use.
    centers_ : ndarray of shape (n_centers, n_inputs)
        Centres, standardised columns in the order of `inputs_`.
    dual_coef_ : ndarray of shape (n_targets, n_centers)
        Coefficients of the centres, for targets of standard deviation 1.
    intercept_ : ndarray of shape (n_targets,)
        Constant, for these targets.
    linear_coef_ : ndarray of shape (n_targets, n_features)
        Slopes of the linear part, in the units of y and X; zeros where there is none.
    feature_range_ : ndarray of shape (2, n_directions_)
        Lowest and highest learned features of the training rows.
    mean_, scale_ : ndarray of shape (n_features,)
        Means of the columns, and what they are divided by in a fit.
    inputs_ : ndarray of int of shape (n_varying,)
        Columns in use, in the order of the inputs of the learner, which does not depend on how
        columns are listed.
    objective_, objective_history_ : float, ndarray
        Objective of the fit, for targets of unit variance.
    n_iter_, status_ : int, str
        1, and how the fit ended.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The objective is

        (1/(2n)) sum_i (y_i - f(x_i) - c)^2 + (alpha/2) |f|^2,

    and because of the constant c, coefficients of an exact fit sum to zero, so that the place of
    the origin does not matter. An exact fit takes O(n^3) time; with p centres it is
    O(n p^2 + n p d). Memory is
    ``8 (3 n d + 14 p^2 + 3 min(n, 5000) p + min(2 n p, 8e6) + 2e6)`` bytes.

    References
    ----------
    .. [1] B. Follain and F. Bach, "Enhanced Feature Learning via Regularisation: Integrating Neural
       Networks and Kernel Methods", 2024, Experiments 5 and 6.

    Examples
    --------
    >>> from kernlens import BrownianKernelRidge
    >>> from kernlens.datasets import make_absolute_sum_of_sines
    >>> data = make_absolute_sum_of_sines(200, 4, n_relevant=2, random_state=0)
    >>> model = BrownianKernelRidge(n_directions=2).fit(data.X, data.y)
    >>> bool(model.score(data.X_test, data.y_test) > 0.8)
    True
    """

    _parameters = PARAMETERS

    def _measure_targets(self, rows: CanonicalRows) -> Targets:
        targets = Targets.standardized(rows.y, rows.weights)
        return targets.truncated(self.truncate, rows.y.min(axis=1), rows.y.max(axis=1))

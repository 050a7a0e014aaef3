"""Multivariate adaptive regression splines."""

from __future__ import annotations

from kernlens._parameters import documented
from kernlens._rows import CanonicalRows
from kernlens.base.predictions import DecisionRegressorMixin
from kernlens.base.targets import Targets
from kernlens.methods.mars.estimator import BaseSplines
from kernlens.methods.mars.parameters import PARAMETERS


@documented
class MARSRegressor(DecisionRegressorMixin, BaseSplines):
    """Multivariate adaptive regression splines (MARS): a formula of hinges.

    The function is a sum of products of hinges ``h(x - t) = max(x - t, 0)`` and ``h(t - x)`` of
    single columns. Pairs of hinges are added one at a time, each where it lowers the squared error
    most, and terms are then taken away again by generalised cross-validation [1]_. `summary` prints
    the formula in the units of X and y. Directions are the eigenvectors of the average gradient
    outer product of the fitted function.

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
    gcv_importances_, rss_importances_ : ndarray of shape (n_features,)
        By how much the subsets of terms that use a column lower `gcv_path_`, and the squared error,
        up to the chosen subset, sum 1.
    n_subsets_ : ndarray of int of shape (n_features,)
        How many of these subsets use a column.
    n_directions_ : int
        Directions kept.
    coef_ : ndarray of shape (n_targets, n_terms)
        Coefficients of the terms, the constant first, for targets of standard deviation 1.
    term_inputs_, knots_, signs_ : ndarray of shape (n_terms, degree)
        Factors of the terms: input in the order of `inputs_`, -1 for none; knot on the
        standardised column; 1 for ``h(x - t)``, -1 for ``h(t - x)``, 0 for the line ``x - t``.
    gcv_, rsq_, grsq_ : float
        Generalised cross-validation error, for targets of standard deviation 1; R2 of the training
        rows; and the R2 that the error stands for, ``1 - gcv_ / gcv_path_[0]``.
    gcv_path_ : ndarray of shape (n_sizes,)
        That error for the subset of 1, 2, ... terms along the pruning.
    cv_path_ : ndarray of shape (n_sizes,)
        Mean squared errors of held-out rows by the number of terms, for targets of standard
        deviation 1; only with ``pruning="cv"``.
    n_effective_parameters_ : float
        ``M + penalty (M - 1) / 2`` for M terms.
    alpha_ : float
        The penalty in use.
    feature_range_ : ndarray of shape (2, n_directions_)
        Lowest and highest learned features of the training rows.
    mean_, scale_ : ndarray of shape (n_features,)
        Means of the columns, and what they are divided by in a fit.
    inputs_ : ndarray of int of shape (n_varying,)
        Columns in use, in the order of the inputs of the learner, which does not depend on how
        columns are listed.
    objective_, objective_history_ : float, ndarray
        `gcv_`.
    n_iter_, status_ : int, str
        Steps of the forward pass, at least 1, and how the fit ended.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    A step of the forward pass looks at every column below every parent, in one sweep down the
    sorted rows that carries all products along: O(n M) for M terms, instead of a least squares fit
    per knot. Repeated rows count as one row with their weights, and any row as one in the spans of
    knots, whatever its weight; the n of generalised cross-validation is the effective number of
    rows, ``(sum w)^2 / sum w^2``. Memory is ``8 n (5.5 d + 6 M + 8 t + 2 threads) + 1e7`` bytes for
    t targets and `max_terms` M, twice that with ``pruning="cv"``; a model has
    ``8 m (3 degree + t)`` bytes for its m terms.

    References
    ----------
    .. [1] J. H. Friedman, "Multivariate Adaptive Regression Splines", Annals of Statistics
       19, 1991.
    .. [2] J. H. Friedman, "Fast MARS", Stanford University, Technical Report 110, 1993.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlens import MARSRegressor
    >>> X = np.random.default_rng(0).uniform(size=(200, 3))
    >>> y = 1.0 + 2.0 * np.maximum(X[:, 0] - 0.5, 0.0) - 3.0 * X[:, 1]
    >>> model = MARSRegressor().fit(X, y)
    >>> print(model.summary())
    y = -0.07313
        - 3.007 * h(x1 - 0.36282)
        + 3.001 * h(0.36282 - x1)
        + 2.032 * h(x0 - 0.51215)
        - 0.03975 * h(0.51215 - x0)
    5 terms of 5; R2 1.000, by generalised cross-validation 1.000
    columns, most important first: x1, x0
    """

    _parameters = PARAMETERS

    def _measure_targets(self, rows: CanonicalRows) -> Targets:
        targets = Targets.standardized(rows.y, rows.weights)
        return targets.truncated(self.truncate, rows.y.min(axis=1), rows.y.max(axis=1))

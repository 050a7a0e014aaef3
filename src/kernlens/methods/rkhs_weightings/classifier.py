"""RKHS weightings and random kitchen sinks for classification."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if

from kernlens._array import FloatArray
from kernlens._parameters import documented
from kernlens._reports import Listener
from kernlens.base.arrays import (
    EncodedLabels,
    batch_classes,
    check_batch_arrays,
    one_hot,
    plus_minus_one,
)
from kernlens.base.calibration import CalibratedMixin, calibrate, evened
from kernlens.base.class_weights import class_weighted, refuse_balanced
from kernlens.base.contract import all_or_nothing
from kernlens.base.learner import Learner
from kernlens.base.predictions import DecisionClassifierMixin
from kernlens.losses import Loss, SquaredLoss
from kernlens.methods.rkhs_weightings.kitchen_sinks import BaseKitchenSinks
from kernlens.methods.rkhs_weightings.parameters import (
    KITCHEN_SINKS_CLASSIFIER_PARAMETERS,
    WEIGHTING_CLASSIFIER_PARAMETERS,
)
from kernlens.methods.rkhs_weightings.stream import can_stream
from kernlens.methods.rkhs_weightings.weighting import BaseRKHSWeighting


class RandomFeatureClassifierMixin(CalibratedMixin, DecisionClassifierMixin):
    """Labels +1 and -1, probabilities and batches; it stands left of the base of a family.

    Scores are turned into log-odds by what rows that were left out say of them.
    """

    def _fitted_to(
        self, labels: EncodedLabels, weights: FloatArray
    ) -> tuple[FloatArray, FloatArray, Loss]:
        targets = plus_minus_one(labels.targets)
        weights, self.shift_ = evened(targets, weights)
        return targets, weights, SquaredLoss()

    def _calibrate(self, learner: Learner[Any], learned: Any) -> None:
        rows = learner.left_out(learned)
        self._keep_calibration(calibrate(rows.decision, rows.y, rows.weights, self.shift_))

    @available_if(can_stream)
    @all_or_nothing
    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn from a batch of rows on top of those before, without keeping any.

        The units of columns, the kind of features, and their weights follow from the first
        batch, which should be a fair sample of some thousand rows; `alpha` is chosen anew
        with every batch. Probabilities are calibrated on rows of the last one.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels.
        classes : array-like of shape (n_classes,) or None
            All labels that are to come; needed in the first call.
        sample_weight : array-like of shape (n_samples,) or None
            Non-negative weights, relative to those of the first batch, at most 1e50 times as large
            or as small. A dictionary `class_weight` multiplies them.

        Returns
        -------
        self
        """
        X, y, weights = check_batch_arrays(self, X, y, sample_weight, dtype=self._precisions)
        refuse_balanced(self.class_weight)
        self.classes_ = batch_classes(
            classes, getattr(self, "classes_", None), self._going_on, type(self).__name__
        )
        targets = plus_minus_one(one_hot(y, self.classes_, type(self).__name__))
        weights = class_weighted(self.class_weight, y, weights, self.classes_)
        # Batches to come may have other shares of the classes.
        self.shift_ = np.zeros(len(targets))
        self._partial_fit_encoded(X, targets, weights)
        return self


@documented
class RKHSWeightingClassifier(RandomFeatureClassifierMixin, BaseRKHSWeighting):
    """Random features averaged exactly against a weight function of an RKHS, for classification.

    The squared loss on labels +1 and -1, one score per class if there are more than two, of the
    functions of :class:`RKHSWeightingRegressor`, as in the paper [1]_. The best such score is
    2p - 1: probabilities are (1 + score)/2, drawn in or stretched as rows left out say, which does
    not change which class wins, and shifted where classes are rare.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted.
    trusted_score_, stretch_ : float
        Size of a score f up to which (1 + f)/2 is taken for the probability, and factor of the
        log-odds, at least 1.
    shift_ : ndarray of shape (n_targets,)
        Added to log-odds where rare classes count more in the fit, else zero.
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
    feature_range_ : ndarray of shape (2, n_directions_)
        Lowest and highest learned features of the training rows.
    intercept_, mean_, scale_ : ndarray
        Constant of the function, for standardised targets; units of the columns.
    inputs_ : ndarray of int of shape (n_varying,)
        Columns in use, in the order of the inputs of the learner, which does not depend on how
        columns are listed.
    bounds_ : tuple of ndarray, or None
        None, because scores are not kept within bounds.
    objective_, objective_history_ : float, ndarray
        ``(1/n) sum_i w_i (f(x_i) - y_i)^2`` plus the penalty for `alpha_`; history: that, and for
        ``"sfgd"`` the loss on every batch before.
    n_iter_, status_ : int, str
        Steps of ``"sfgd"``, else 1, and how the fit ended.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The objective, the choice of settings, cost and memory are those of
    :class:`RKHSWeightingRegressor`, for labels +1 and -1 as they are: they are not standardised.
    Two classes have one score, and more have one each. A class with less than a fifth of an equal
    share of the weight counts as if it had that, one of two classes as a tenth, because the squared
    loss would otherwise be about the others; log-odds are shifted in return, so that probabilities
    are those of the rows as they are. Batches of `partial_fit` count as they are.

    Probabilities are calibrated on at most 2000 rows, each predicted by a fit without it; for
    ``"lasso"`` and ``"sfgd"`` on a fifth of the rows, by one more fit without that fifth.

    References
    ----------
    .. [1] "Using RKHS weight functions in random feature models", Sections 3 to 6.

    Examples
    --------
    >>> from kernlens import RKHSWeightingClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RKHSWeightingClassifier(instantiation="relu", random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    >>> model.predict_proba(X).shape
    (150, 3)
    """

    _parameters = WEIGHTING_CLASSIFIER_PARAMETERS

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
        class_weight: Any = None,
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
        self.class_weight = class_weight


@documented
class RandomKitchenSinksClassifier(RandomFeatureClassifierMixin, BaseKitchenSinks):
    """Random kitchen sinks for classification.

    The squared loss on labels +1 and -1, one score per class if there are more than two, of the
    functions of :class:`RandomKitchenSinksRegressor`. The best such score is 2p - 1: probabilities
    are (1 + score)/2, drawn in or stretched as rows left out say, which does not change which class
    wins, and shifted where classes are rare.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted.
    trusted_score_, stretch_ : float
        Size of a score f up to which (1 + f)/2 is taken for the probability, and factor of the
        log-odds, at least 1.
    shift_ : ndarray of shape (n_targets,)
        Added to log-odds where rare classes count more in the fit, else zero.
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
    feature_range_ : ndarray of shape (2, n_directions_)
        Lowest and highest learned features of the training rows.
    intercept_, mean_, scale_ : ndarray
        Constant of the function, for standardised targets; units of the columns.
    inputs_ : ndarray of int of shape (n_varying,)
        Columns in use, in the order of the inputs of the learner, which does not depend on how
        columns are listed.
    bounds_ : tuple of ndarray, or None
        None, because scores are not kept within bounds.
    objective_, objective_history_ : float, ndarray
        ``(1/n) sum_i w_i (f(x_i) - y_i)^2`` plus the penalty for `alpha_`; history: that alone.
    n_iter_, status_ : int, str
        The number 1, and how the fit ended.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The objective, the choice of settings, cost and memory are those of
    :class:`RandomKitchenSinksRegressor`, for labels +1 and -1 as they are: they are not
    standardised. Two classes have one score, and more have one each. Rare classes count more, as in
    :class:`RKHSWeightingClassifier`.

    Probabilities are calibrated on at most 2000 rows, each predicted by a fit without it; for
    ``"lasso"`` on a fifth of the rows, by one more fit without that fifth.

    References
    ----------
    .. [1] "Using RKHS weight functions in random feature models", Sections 3 to 6.

    Examples
    --------
    >>> from kernlens import RandomKitchenSinksClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RandomKitchenSinksClassifier(base="relu", random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    _parameters = KITCHEN_SINKS_CLASSIFIER_PARAMETERS

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
        class_weight: Any = None,
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
        self.class_weight = class_weight

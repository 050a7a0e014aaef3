"""HKRR for classification."""

from __future__ import annotations

from typing import Any

from kernlens._parameters import documented
from kernlens._reports import Listener
from kernlens.base.predictions import DecisionClassifierMixin
from kernlens.methods.hkrr.estimator import BaseHKRR
from kernlens.methods.hkrr.options import Centers, Constraint
from kernlens.methods.hkrr.parameters import CLASSIFIER_PARAMETERS


@documented
class HKRRClassifier(DecisionClassifierMixin, BaseHKRR):
    """Hyper-kernel ridge regression (HKRR) for classification.

    Log-odds are a function of Bx with a linear map B that is learned [1]_. B is learned as in
    :class:`HKRRRegressor`, by squares of the one-hot targets of the classes, which all share one
    linear solve. The function is then fitted by the logistic loss for two classes, the multinomial
    one for more.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    projection_ : ndarray of shape (n_components_, n_features)
        The map B, for X in its own units.
    length_scale_ : float
        l in ``k(Bx / l, Bx' / l)``; gamma is ``1 / (2 l^2)`` for the Gaussian kernel.
    components_ : ndarray of shape (n_directions_, n_features)
        Eigenvectors of the average gradient outer product of the function, for X in its own units,
        most important first. The rows of ``loadings_ = components_ * scale_`` are orthonormal; the
        function rises along each.
    component_importances_ : ndarray of shape (n_directions_,)
        Root mean square slopes along them, sum 1.
    feature_importances_ : ndarray of shape (n_features,)
        Root mean square partial derivatives, per standard deviation of a column, sum 1.
    n_directions_, n_components_ : int
        Directions kept, rows of B.
    alpha_, refit_alpha_ : float
        Regularisation while B was learned, by squares, and in the last fit.
    alpha_search_ : dict
        Held-out ``"loss"``, by squares, of every ``"alpha"`` and ``"n_components"`` tried, if any
        were, and the position ``"chosen"`` of the one in use.
    centers_ : ndarray of shape (n_refit_centers, n_features)
        Centres of the fitted function.
    dual_coef_ : ndarray of shape (n_targets, n_refit_centers)
        Coefficients of the centres.
    intercept_ : ndarray of shape (n_targets,)
        Constant.
    feature_range_ : ndarray of shape (2, n_directions_)
        Lowest and highest learned features of the training rows.
    mean_, scale_ : ndarray of shape (n_features,)
        Means of the columns, and what they are divided by in a fit.
    inputs_ : ndarray of int of shape (n_varying,)
        Columns in use, in the order of the inputs of the learner, which does not depend on how
        columns are listed.
    kernel_ : str or RadialKernel
        The kernel the function was fitted with.
    bounds_ : None
        Decision values are not clipped.
    objective_, objective_history_ : float, ndarray
        Objective, by squares, at the end of the learning of B, and along its last stage, never
        increasing.
    n_iter_, status_ : int, str
        Iterations of the last stage, how it ended.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Cost and memory as :class:`HKRRRegressor`, and the features of the last fit, by Newton's method,
    held in memory: another ``24 n p'`` bytes for p' centres. Its alpha is chosen along a path of
    decreasing values on held-out rows whose labels hold almost surely only, half a label in all
    being in doubt: rows that are predicted without a mistake would ask for ever smaller values.

    An interrupted fit (Ctrl-C) keeps the best map so far and says so in `status_`; then the
    KeyboardInterrupt goes on to the caller. Press twice to end at once, with the model as before.

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

    _parameters = CLASSIFIER_PARAMETERS

    def __init__(
        self,
        *,
        alpha: Any = "auto",
        n_components: Any = "auto",
        centers: int | Centers = 200,
        kernel: Any = "gaussian",
        n_directions: int | str = "auto",
        optimizer: Any = "auto",
        init: Any = "auto",
        refit: int | str | None = "auto",
        constraint: Constraint | None = None,
        class_weight: Any = None,
        standardize: bool = True,
        max_iter: int = 100,
        tol: float = 1e-4,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int | bool = False,
        callback: Listener | None = None,
    ) -> None:
        super().__init__(
            alpha=alpha,
            n_components=n_components,
            centers=centers,
            kernel=kernel,
            n_directions=n_directions,
            optimizer=optimizer,
            init=init,
            refit=refit,
            constraint=constraint,
            standardize=standardize,
            max_iter=max_iter,
            tol=tol,
            warm_start=warm_start,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            callback=callback,
        )
        self.class_weight = class_weight

"""Recursive feature machines for classification."""

from __future__ import annotations

from typing import Any

from kernlens._parameters import documented
from kernlens._reports import Listener
from kernlens.base.predictions import DecisionClassifierMixin
from kernlens.methods.rfm.estimator import BaseRFM
from kernlens.methods.rfm.parameters import CLASSIFIER_PARAMETERS


@documented
class RFMClassifier(DecisionClassifierMixin, BaseRFM):
    """Recursive feature machine (RFM) for classification.

    Log-odds are a function with a kernel k(Lx, Lx') whose linear map L is learned [1]_. L is
    learned as in :class:`RFMRegressor`, by squares of the one-hot targets of the classes, which all
    share one linear solve. The function is then fitted by the logistic loss for two classes, the
    multinomial one for more.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    components_ : ndarray of shape (n_directions_, n_features)
        Eigenvectors of the average gradient outer product of the function, for X in its own units,
        most important first. The rows of ``loadings_ = components_ * scale_`` are orthonormal; the
        function rises along each.
    component_importances_ : ndarray of shape (n_directions_,)
        Root mean square slopes along them, sum 1.
    feature_importances_ : ndarray of shape (n_features,)
        Root mean square partial derivatives, per standard deviation of a column, sum 1.
    n_directions_ : int
        Number of directions kept.
    machines_ : list of str
        The machines whose kernels are added up, the heaviest first: ``"full"``, ``"diag"`` or
        ``"product_laplace"``, followed by ``"ranks"`` if they use them.
    machine_weights_ : ndarray of shape (n_machines,)
        Weights of their kernels, sum 1.
    maps_ : list of ndarray of shape (p, d) or (d,)
        Their maps over their widths, for columns as in `inputs_`, and then their ranks; diagonal
        maps have one axis.
    widths_, n_updates_ : ndarray of shape (n_machines,)
        Width of every machine, and how often its map was learned.
    alpha_ : float
        Regularisation of the last fit.
    alpha_search_ : dict
        Held-out ``"loss"``, by squares, of every ``"alpha"``, ``"width"``, ``"n_updates"`` and
        ``"machine"`` tried, if any were, and the position ``"chosen"`` of the one in use. A mixture
        of machines has the width and the updates of the heaviest.
    centers_ : ndarray of shape (n_centers, n_varying)
        Centres of the fitted function, for columns as in `inputs_`.
    dual_coef_ : ndarray of shape (n_targets, n_centers)
        Coefficients of the centres, in units of log-odds.
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
        The objective of the last fit, by the loss of classes.
    n_iter_, status_ : int, str
        Most updates of a machine, at least 1; how the fit ended.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Choice of settings, cost and memory are those of :class:`RFMRegressor`, and the features of the
    last fit, by Newton's method, are held in memory: another ``24 n p`` bytes for p centres. Its
    alpha is chosen from the same values on the same folds, whose labels hold almost surely only,
    half a label in all being in doubt: rows that are predicted without a mistake would ask for ever
    smaller values.

    An interrupted fit (Ctrl-C) keeps the best state so far and says so in `status_`; then the
    KeyboardInterrupt goes on to the caller. Press twice to end at once, with the model as before.

    Repeated rows are merged and rows are put in an order given by their content, so the result does
    not depend on the order of the rows, and a weight of 2 is exactly a repetition.

    References
    ----------
    .. [1] A. Radhakrishnan, D. Beaglehole, P. Pandit and M. Belkin, "Mechanism for feature learning
       in neural networks and backpropagation-free machine learning models", Science 383, 2024,
       Algorithm 1.

    Examples
    --------
    >>> from kernlens import RFMClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RFMClassifier().fit(X, y)
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
        width: Any = "auto",
        n_updates: int | str = "auto",
        kernel: Any = "laplace",
        metric: str = "auto",
        ranks: bool | str = "auto",
        centers: int | str = "auto",
        n_directions: int | str = "auto",
        class_weight: Any = None,
        standardize: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int | bool = False,
        callback: Listener | None = None,
    ) -> None:
        super().__init__(
            alpha=alpha,
            width=width,
            n_updates=n_updates,
            kernel=kernel,
            metric=metric,
            ranks=ranks,
            centers=centers,
            n_directions=n_directions,
            standardize=standardize,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            callback=callback,
        )
        self.class_weight = class_weight

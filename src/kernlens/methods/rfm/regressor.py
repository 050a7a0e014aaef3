"""Recursive feature machines for regression."""

from __future__ import annotations

from typing import Any

from kernlens._parameters import documented
from kernlens._reports import Listener
from kernlens._rows import CanonicalRows
from kernlens.base.predictions import DecisionRegressorMixin
from kernlens.base.targets import Targets
from kernlens.methods.rfm.estimator import BaseRFM
from kernlens.methods.rfm.parameters import PARAMETERS


@documented
class RFMRegressor(DecisionRegressorMixin, BaseRFM):
    """Recursive feature machine (RFM).

    Kernel ridge regression with a kernel k(Lx, Lx') whose linear map L is learned by fits in turn:
    the gradients of a fitted function say along which directions it varies, and the next fit looks
    at these the more closely [1]_. Nothing is optimised over L, which makes it strong on small
    tables with noise. Machines of several kinds are mixed as held-out rows want it.

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
        Held-out ``"loss"`` of every ``"alpha"``, ``"width"``, ``"n_updates"`` and ``"machine"``
        tried, if any were, and the position ``"chosen"`` of the one in use. A mixture of
        machines has the width and the updates of the heaviest.
    centers_ : ndarray of shape (n_centers, n_varying)
        Centres of the fitted function, for columns as in `inputs_`.
    dual_coef_ : ndarray of shape (n_targets, n_centers)
        Coefficients of the centres, in units of the targets' standard deviations.
    intercept_ : ndarray of shape (n_targets,)
        Constant.
    linear_coef_ : ndarray of shape (n_targets, n_features)
        Slopes of the linear part, in the units of y and X; zeros where there is none.
    feature_range_ : ndarray of shape (2, n_directions_)
        Lowest and highest learned features of the training rows.
    mean_, scale_ : ndarray of shape (n_features,)
        Means of the columns, and what they are divided by in a fit.
    inputs_ : ndarray of int of shape (n_varying,)
        Columns in use, in the order of the inputs of the learner, which does not depend on how
        columns are listed.
    kernel_ : str or RadialKernel
        The kernel the function was fitted with.
    bounds_ : tuple of ndarray of shape (n_targets,), or None
        What predictions are clipped to.
    objective_, objective_history_ : float, ndarray
        The objective of the Notes, of the last fit, for targets of unit variance.
    n_iter_, status_ : int, str
        Most updates of a machine, at least 1; how the fit ended.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    With an intercept c, sample weights w, n their sum, and every target divided by its standard
    deviation, a fit minimises

        L(a, c) = 1/(2n) sum_i w_i (y_i - (K a)_i - c)^2 + alpha/(2n) a^T K a,

    by one Cholesky factorisation. An update of the map has, at most 3000 rows long, the average M
    of the outer products of the gradients of the function; L is a root of M over its largest
    eigenvalue, or of the diagonal of M over its largest entry. The first L is the identity.

    Settings are chosen on three folds of the first 1000 rows: every machine of the mixture follows
    the updates for every width, and all folds take the alpha that predicts all of them best. A
    step costs O(n^3 + n^2 d) for n rows of a fold, mostly one eigendecomposition. The kernel of
    several machines is the sum of theirs, weighted as described for `metric`.

    Memory in bytes: about ``8 (6 n d + 7 n^2 + 2e6)`` up to 3000 rows; beyond,
    ``8 (6 n d + 14 p^2 + min(2 n p, 8e6) + 2e6)`` with p centres, and the maps are learned from the
    first 10,000 rows on at most 1000 centres. A prediction costs O(p d) per row and machine with a
    diagonal map, and as much and O(d^2) with a full one.

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
    >>> from kernlens import RFMRegressor
    >>> from kernlens.datasets import make_rising_sines
    >>> data = make_rising_sines(300, 8, n_relevant=2, random_state=0)
    >>> model = RFMRegressor().fit(data.X, data.y)
    >>> bool(model.score(data.X_test, data.y_test) > 0.9)
    True
    >>> model.components_.shape
    (2, 8)
    """

    _parameters = PARAMETERS

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
        truncate: float | str | None = "auto",
        linear_part: bool | str = "auto",
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
        self.truncate = truncate
        self.linear_part = linear_part

    def _measure_targets(self, rows: CanonicalRows) -> Targets:
        targets = Targets.standardized(rows.y, rows.weights)
        return targets.truncated(self.truncate, rows.y.min(axis=1), rows.y.max(axis=1))

"""HKRR for regression."""

from __future__ import annotations

from typing import Any

from kernlens._parameters import documented
from kernlens._reports import Listener
from kernlens._rows import CanonicalRows
from kernlens.base.predictions import DecisionRegressorMixin
from kernlens.base.targets import Targets
from kernlens.methods.hkrr.estimator import BaseHKRR
from kernlens.methods.hkrr.options import Centers, Constraint
from kernlens.methods.hkrr.parameters import PARAMETERS


@documented
class HKRRRegressor(DecisionRegressorMixin, BaseHKRR):
    """Hyper-kernel ridge regression (HKRR).

    Kernel ridge regression with one kernel k(Bx, Bx') whose linear map B is learned with it, by
    minimising the regularised error over both, on Nystrom centres [1]_. The few directions that the
    function varies along are the features found.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
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
        Regularisation while B was learned and in the last fit.
    alpha_search_ : dict
        Held-out ``"loss"`` of every ``"alpha"`` and ``"n_components"`` tried, if any were, and the
        position ``"chosen"`` of the one in use.
    centers_ : ndarray of shape (n_refit_centers, n_features)
        Centres of the fitted function.
    dual_coef_ : ndarray of shape (n_targets, n_refit_centers)
        Coefficients of the centres.
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
        Objective at the end of the learning, and along its last stage, never increasing; for
        targets of unit variance.
    n_iter_, status_ : int, str
        Iterations of the last stage, how it ended.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The objective is half of the paper's (5), with an intercept c, sample weights w, n their sum, a
    jitter of 1e-10 on the diagonal of the centres' kernel matrix, and every target divided by its
    standard deviation, so that all count alike:

        L(B, a, c) = 1/(2n) sum_i w_i (y_i - (K_B a)_i - c)^2 + (alpha/2) a^T K_zz,B a.

    Cost of an evaluation with gradient: O(n p^2 + n p d + (n + p) d D) for p centres, d rows of B
    and D columns; B is learned on at most 10,000 rows (4000 with 500 centres or more), the last fit
    uses all, O(n p'^2) for its p' centres. Memory in bytes: about
    ``8 (3 n D + 14 p'^2 + min(2 n p', 8e6) + 2e6)``; the n x p' matrix is never held whole beyond 4
    million entries. A prediction costs O(d D + p' d) per row.

    An interrupted fit (Ctrl-C) keeps the best map so far and says so in `status_`; then the
    KeyboardInterrupt goes on to the caller. Press twice to end at once, with the model as before.

    Repeated rows are merged and rows are put in an order given by their content, so the result does
    not depend on the order of the rows, and a weight of 2 is exactly a repetition.

    Corrections to the paper: (5) prints the kernel of rows against centres in the penalty instead
    of the centres' own; the line searches of Algorithms 3 and 4 compare with the squared move over
    the step, since the printed test cannot hold at a constrained stationary point; Algorithm 4
    tests the coefficients at the new B and keeps the last inner step; the Hessian in Lemma 8 lacks
    a factor 2.

    References
    ----------
    .. [1] "Learning multi-index models with hyper-kernel ridge regression", Sections 3 to 5,
       Appendices C and D.

    Examples
    --------
    >>> from kernlens import HKRRRegressor
    >>> from kernlens.datasets import make_rising_sines
    >>> data = make_rising_sines(400, 10, n_relevant=2, random_state=0)
    >>> model = HKRRRegressor(n_components=2, random_state=0).fit(data.X, data.y)
    >>> round(model.score(data.X_test, data.y_test), 1)
    1.0
    >>> model.components_.shape
    (2, 10)
    """

    _parameters = PARAMETERS

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
        truncate: float | str | None = "auto",
        linear_part: bool | str = "auto",
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
        self.truncate = truncate
        self.linear_part = linear_part

    def _measure_targets(self, rows: CanonicalRows) -> Targets:
        targets = Targets.standardized(rows.y, rows.weights)
        return targets.truncated(self.truncate, rows.y.min(axis=1), rows.y.max(axis=1))

"""RegFeaL for regression."""

from __future__ import annotations

from typing import Any

from kernlens._parameters import documented
from kernlens._reports import Listener
from kernlens._rows import CanonicalRows
from kernlens.base.predictions import DecisionRegressorMixin
from kernlens.base.targets import Targets
from kernlens.methods.regfeal.estimator import BaseRegFeaL
from kernlens.methods.regfeal.parameters import PARAMETERS


@documented
class RegFeaLRegressor(DecisionRegressorMixin, BaseRegFeaL):
    """Regularised feature learning with Hermite polynomials (RegFeaL) for regression.

    A function in the span of all Hermite polynomials of rotated columns, with a penalty on its
    derivatives that leaves few directions along which it varies [1]_.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    components_ : ndarray of shape (n_directions_, n_features)
        Leading columns of the rotation R as rows, for X in its own units. The rows of
        ``loadings_ = components_ * scale_`` are orthonormal; the function rises along each.
    component_importances_ : ndarray of shape (n_directions_,)
        Their shares ``eta_a^(r/(2-r))``, divided by their sum.
    feature_importances_ : ndarray of shape (n_features,)
        Roots of the diagonal of M_f, per standard deviation of a column, sum 1.
    n_directions_ : int
        Directions kept.
    rotation_ : ndarray of shape (n_varying, n_followed)
        R, for standardised columns as in `inputs_`.
    shares_, eta_ : ndarray of shape (n_followed,)
        Shares of all directions followed, and the paper's eta.
    alpha_, rho_, max_degree_ : float, float or None, int or None
        The setting chosen.
    alpha_search_ : dict
        ``"alpha"``, ``"rho"`` (unless the basis has a `max_degree`) and held-out ``"loss"`` of the
        settings tried, the lower of the ``"own_loss"`` of RegFeaL's function and the
        ``"refit_loss"``, and on how many folds (``"n_folds"``). ``"plain"`` marks the fit without
        learned directions, if that was kept, ``"chosen"`` is the position of the setting chosen,
        and ``"searched"`` has the names of the settings. It is there only if there was something
        to choose.
    projection_ : ndarray of shape (n_relevant, n_varying)
        The map that a refit goes through, if one is used, for columns as in `inputs_`.
    refit_ : estimator
        The fitted `refit`, if an estimator was given.
    support_, dual_coef_ : ndarray
        Rows and coefficients of a kernel function.
    indices_, coef_ : ndarray of shape (n_indices, n_followed), (n_targets, n_indices)
        Multi-indices and coefficients of an explicit function.
    linear_coef_ : ndarray of shape (n_targets, n_features)
        Slopes of the linear part, in the units of y and X; zeros where there is none.
    feature_range_ : ndarray of shape (2, n_directions_)
        Lowest and highest learned features of the training rows.
    intercept_, mean_, scale_ : ndarray
        Constant of the function, for standardised targets; units of the columns.
    inputs_ : ndarray of int of shape (n_varying,)
        Columns in use, in the order of the inputs of the learner, which does not depend on how
        columns are listed.
    bounds_ : tuple of ndarray of shape (n_targets,), or None
        What predictions are clipped to.
    objective_, objective_history_ : float, ndarray
        Objective at the end of the learning, and along its iterations, never increasing (but for
        sampled indices).
    n_iter_, status_ : int, str
        Iterations at the chosen setting, how they ended.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    For ``f = sum_a f_a H_a(R^T x) + f_0``, with sample weights w and n their sum, the objective is

        J = 1/(2n) sum_i w_i (y_i - f(x_i))^2 + (1/2) sum_a f_a^2 (lam + mu a . 1/eta) / c_|a|

    over f, the rotation R and eta > 0 with ``sum eta^(r/(2-r)) = 1``; it is half of the paper's
    (3.4). Over eta the penalty is ``lam Omega_0^2 + mu Omega^2``: Lemmas 3.1 to 3.3 print Omega^r,
    which is not what Algorithm 1 minimises. Three more things are corrected: the features are
    ``sqrt(w(a)) H_a``, not ``w(a) H_a``; the binomial coefficient of group sampling has d_1 for
    d_2; uniform sampling leaves out a = 0.

    The exact kernel, not in the paper, is an integral of Mehler kernels,
    ``1/(lam + mu a . 1/eta) = int exp(-t (...)) dt``, by a trapezoidal rule in log t.

    The search follows the paper's grid: all settings on 320 to 500 rows of the first fold for
    3 iterations, the best 10 on the whole fold for 5 more, the best 4 on the second fold, and the
    best 2, or 1 if it is clearly ahead, on the others. Feature learning starts from the directions
    of a plain fit at the setting where that predicts best; if no setting lowers the held-out loss
    of that fit by 5 percent, it is kept, and `status_` says so. With one setting the folds serve to
    tune the refit and to compare it, and their directions are starts of the learning.

    Cost of an iteration: O(q n^2 k + n^3) with the exact kernel, n at most 2000 rows, q = 16 nodes,
    k directions; O(n m^2) with m explicit indices, linear in n. Memory in bytes: about
    ``8 (4 n d + 8 min(n, 2000)^2 + 4 m^2)``, where m is 0 up to 2000 rows and 1000 beyond, and with
    m explicit indices ``8 (4 n d + 8 min(n, m)^2 + 4 m min(m, n + d))``. Repeated rows are merged,
    and rows are put in an order given by their content, so the result does not depend on it and a
    weight of 2 is exactly a repetition. An interrupted fit (Ctrl-C) keeps the directions reached
    and says so in `status_`; then the KeyboardInterrupt goes on to the caller.

    `gradient` and `sensitivity` are exact for RegFeaL's own function and for the kernel; an
    estimator given as `refit` must have a method `gradient` of its own, as those of kernlens do.

    References
    ----------
    .. [1] B. Follain and F. Bach, "Nonparametric linear feature learning in regression through
       regularisation", Electronic Journal of Statistics 18 (2024), Sections 2, 3 and 5.

    Examples
    --------
    >>> from kernlens import RegFeaLRegressor
    >>> from kernlens.datasets import make_two_sines
    >>> data = make_two_sines(300, 5, random_state=0)
    >>> model = RegFeaLRegressor(alpha=1.0, rho=0.6, random_state=0).fit(data.X, data.y)
    >>> model.components_.shape
    (2, 5)
    >>> bool(model.score(data.X_test, data.y_test) > 0.7)
    True
    """

    _parameters = PARAMETERS

    def __init__(
        self,
        *,
        alpha: Any = "auto",
        rho: Any = "auto",
        r: float = 0.33,
        structure: str = "features",
        basis: Any = "auto",
        init: Any = "auto",
        n_directions: int | str = "auto",
        refit: Any = "auto",
        n_folds: int = 5,
        clip: float | None = 4.0,
        descent: Any = "auto",
        truncate: float | str | None = "auto",
        linear_part: bool | str = "auto",
        standardize: bool = True,
        max_iter: int = 30,
        tol: float = 1e-4,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int | bool = False,
        callback: Listener | None = None,
    ) -> None:
        super().__init__(
            alpha=alpha,
            rho=rho,
            r=r,
            structure=structure,
            basis=basis,
            init=init,
            n_directions=n_directions,
            refit=refit,
            n_folds=n_folds,
            clip=clip,
            descent=descent,
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
        # Every target counts alike, whatever its unit, and any unit gives the same fit.
        targets = Targets.standardized(rows.y, rows.weights)
        return targets.truncated(self.truncate, rows.y.min(axis=1), rows.y.max(axis=1))

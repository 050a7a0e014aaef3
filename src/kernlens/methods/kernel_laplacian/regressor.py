"""Kernel Laplacian ridge regression."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from kernlens._array import BoolArray
from kernlens._parameters import documented
from kernlens._reports import Listener
from kernlens._rows import CanonicalRows, has_target
from kernlens._validation import check_spread
from kernlens.base.callbacks import observed
from kernlens.base.contract import all_or_nothing
from kernlens.base.predictions import DecisionRegressorMixin
from kernlens.base.targets import Targets
from kernlens.blocks import is_blocks
from kernlens.methods.kernel_laplacian.estimator import BaseKernelLaplacian
from kernlens.methods.kernel_laplacian.labels import (
    check_labeled_weights,
    numbers_with_gaps,
    targets_with_gaps,
)
from kernlens.methods.kernel_laplacian.parameters import PARAMETERS


@documented
class KernelLaplacianRegressor(DecisionRegressorMixin, BaseKernelLaplacian):
    """Kernel ridge regression with a penalty on gradients, for few labels and many points.

    The penalties make the function small in norm and flat where the data are, labelled or not, so
    that values spread along clusters, curves and surfaces, without a graph [1]_. The result is a
    function of x: it predicts new rows, has a :meth:`gradient`, and directions along which it
    varies.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    components_ : ndarray of shape (n_directions_, n_features)
        Leading eigenvectors of the average outer product of gradients over the points, for X in its
        own units. The rows of ``loadings_ = components_ * scale_`` are orthonormal; the function
        rises along each.
    component_importances_ : ndarray of shape (n_directions_,)
        Their eigenvalues, divided by their sum.
    feature_importances_ : ndarray of shape (n_features,)
        Root mean squared slope per standard deviation of a column; sum 1.
    n_directions_ : int
        Number of directions kept.
    mu_, alpha_ : float
        What was used, for standardised columns and targets.
    alpha_search_ : dict
        ``"alpha"``, ``"ratio"`` (mu over alpha), ``"mu"`` and ``"loss"`` of the penalties compared,
        and the position ``"chosen"``; only if there was something to choose.
    solver_ : str
        What was used.
    length_scale_ : float or ndarray of shape (n_varying,)
        The length scale, or one for every column as in `inputs_`; `mu_` then is for gradients
        along columns times the shortest length over theirs.
    n_labeled_ : int
        Number of labelled rows, repeated ones counted once.
    centers_, coef_ : ndarray of shape (n_centers, n_varying), (n_targets, n_centers)
        Centres in units of the length scale, for columns as in `inputs_`, and coefficients of the
        kernel there; random features have `coef_` only.
    slopes_ : ndarray of shape (n_targets, n_centers, n_varying)
        Coefficients of the derivatives of the kernel at the centres; exact solvers only.
    frequencies_, phases_ : ndarray of shape (n_centers, n_varying), (n_centers,)
        Frequencies and phases of random features.
    linear_coef_ : ndarray of shape (n_targets, n_features)
        Slopes of the linear part, in the units of y and X; zeros where there is none.
    feature_range_ : ndarray of shape (2, n_directions_)
        Lowest and highest learned features of the training rows.
    intercept_, mean_, scale_ : ndarray
        Constant of the function, for standardised targets; units of the columns.
    inputs_ : ndarray of int of shape (n_varying,)
        Columns in use, in the order of the inputs of the learner, which does not depend on how
        columns are listed.
    objective_, objective_history_ : float, ndarray
        The objective of the Notes; residuals of conjugate gradients, if any, and the objective.
    n_iter_, status_ : int, str
        Iterations of conjugate gradients, else 1; how the fit ended.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    The objective, over f in the space H of the kernel and constants c, is ::

        (1/n_l) sum_L w_i (f(x_i) + c - y_i)^2 + (mu/n) sum_i w_i |T_i grad f(x_i)|^2
            + alpha |f|_H^2,

    with labelled rows in the first sum and all points in the second: equation (7) of [1]_, which
    lacks the 1/n of its own (3), with labels for some points only. T_i is the identity for the
    Euclidean metric. The solution has an atom for every labelled value and every derivative. It is
    found from (10), whose right-hand side is correct (the display before it has two misprints), as
    kernel ridge regression with a deformed kernel that depends on ``mu / alpha`` only, so that one
    decomposition serves all penalties.

    *Choice of mu and alpha.* The ratios ``mu / alpha`` = 0, 1e2, 1e4, ... 1e10 (times the squared
    median distance over d) and alphas of 1e-6 to 1 times the spread of the deformed kernel are
    compared by the squared error of leaving labelled rows out one by one, each with its gradient:
    functions may be flat at the points and vary wildly in between, and a row that keeps its
    gradient does not show it. What these errors cannot show is how a function goes on beyond the
    points: new rows farther out than all of them may have larger errors. With more than 1000
    labelled rows, the targets of a fifth of them are held out. A handful of labels cannot choose a
    ratio, so the points decide which one is preferred: the largest if they lie on clusters, curves
    or surfaces, and the smallest positive one otherwise. The errors of another ratio must be
    smaller by a share
    of ``n_l^(-1/2)``. Points count as lying on clusters, curves or surfaces if the values of
    functions at two of them are more correlated, at the largest ratio, than on a normal sample of
    the same covariance: the odds of the mean squared correlation must be three times as large on
    500 points. Among alphas that labels do not tell apart, the one nearest to ``0.1 n_l^(-1/2)``
    times that spread is taken, which is the rate of Theorem 5.

    *Cost* with n points, d columns, r = min(n_neighbors, d) directions (d for the Euclidean
    metric) and m centres: Nystrom O(n m^2 r + m^3), without the factor r for the Euclidean metric;
    exact O((n r)^3); conjugate gradients O(n^2 d) an iteration. Memory in bytes: about
    ``8 (6 n d + 10 m^2 + 200 m r + 2e7)``, where lengths of columns may be learned with m at least
    ``min(n, 1000)`` in the square; exact, in addition ``32 (n (r + 1))^2``; conjugate
    gradients ``96 n (r + 1)`` per target, no matrix. Neighbours are looked for among 5000 points at
    most.

    A table in blocks has the features and the ratio ``mu / alpha`` of a sample of 10,000 rows, half
    of them with targets if there are as many, and alpha and coefficients of all rows; those without
    a target count in the mean of squared gradients and in nothing else.

    An interrupted fit (Ctrl-C) keeps the best penalties so far, or the iterate that conjugate
    gradients have reached, and says so in `status_`; then the KeyboardInterrupt goes on to the
    caller.

    Rows of the same X are one point, with the sum of their weights, and points are put in an order
    given by their content, so the result does not depend on it and a weight of 2 is exactly a
    repetition.

    References
    ----------
    .. [1] V. Cabannes, "Kernel ridge regression with kernel Laplacian regularization".

    Examples
    --------
    >>> import numpy as np
    >>> from kernlens import KernelLaplacianRegressor
    >>> rng = np.random.default_rng(0)
    >>> angle = rng.uniform(0, 6, 300)
    >>> X = np.column_stack([np.cos(angle), np.sin(angle)]) * angle[:, None]
    >>> y = np.full(300, np.nan)
    >>> y[::30] = angle[::30]
    >>> model = KernelLaplacianRegressor(random_state=0).fit(X, y)
    >>> model.n_labeled_
    10
    >>> bool(np.corrcoef(model.predict(X), angle)[0, 1] > 0.95)
    True
    """

    _parameters = PARAMETERS

    def __init__(
        self,
        *,
        mu: Any = "auto",
        alpha: Any = "auto",
        kernel: Any = "matern52",
        length_scale: float | str = "auto",
        metric: str = "local",
        n_neighbors: int = 7,
        solver: str = "auto",
        n_centers: int | str = "auto",
        max_iter: int = 500,
        tol: float = 1e-8,
        linear_part: bool | str = "auto",
        standardize: bool = True,
        n_directions: int | str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int | bool = False,
        callback: Listener | None = None,
    ) -> None:
        super().__init__(
            mu=mu,
            alpha=alpha,
            kernel=kernel,
            length_scale=length_scale,
            metric=metric,
            n_neighbors=n_neighbors,
            solver=solver,
            n_centers=n_centers,
            max_iter=max_iter,
            tol=tol,
            standardize=standardize,
            n_directions=n_directions,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
            callback=callback,
        )
        self.linear_part = linear_part

    @all_or_nothing
    @observed
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        X_unlabeled: ArrayLike | None = None,
    ) -> Self:
        """Fit the function and its directions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), Dask collection or RowBlocks
            Rows. With :class:`~kernlens.RowBlocks` there is no other argument.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets, NaN for rows that have none; several are each divided by their standard
            deviation, so that all count alike.
        sample_weight : array-like of shape (n_samples,) or None
            Non-negative weights; a weight of 2 is the row repeated.
        X_unlabeled : array-like of shape (n_unlabeled, n_features) or None
            More rows without a target.

        Returns
        -------
        self
        """
        if is_blocks(X):
            table = self._open_all_points(X, y, sample_weight, X_unlabeled)
            self._single_target = table.target_ndim == 1
            self._fit_table(table.through(numbers_with_gaps), self._make_loss)
            return self
        # With other points, one labelled row is enough.
        smallest = 2 if X_unlabeled is None else 1
        rows, weights = self._check_rows(X, sample_weight, ensure_min_samples=smallest)
        numbers = targets_with_gaps(y, rows, type(self).__name__)
        targets = np.ascontiguousarray(np.atleast_2d(numbers.T))
        known = has_target(targets)
        check_labeled_weights(known, weights)
        check_spread(targets[:, known].T, "y")
        self._single_target = numbers.ndim == 1
        self._fit_with_gaps(rows, targets, weights, X_unlabeled)
        return self

    def labeled_rows(self, y: ArrayLike) -> BoolArray:
        """Say which rows have a target.

        Parameters
        ----------
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets, NaN for rows that have none.

        Returns
        -------
        ndarray of bool of shape (n_samples,)
        """
        return has_target(np.atleast_2d(np.asarray(y, dtype=np.float64).T))

    def _measure_targets(self, rows: CanonicalRows) -> Targets:
        known = has_target(rows.y)
        return Targets.standardized(rows.y[:, known], rows.weights[known])

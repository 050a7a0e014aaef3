"""Kernel Laplacian ridge regression."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import validate_data

from kernlens._array import FloatArray
from kernlens._validation import check_magnitude, check_weights
from kernlens.base.contract import all_or_nothing
from kernlens.base.predictions import DecisionRegressorMixin
from kernlens.base.standardisation import Standardisation
from kernlens.methods.kernel_laplacian.estimator import BaseKernelLaplacian
from kernlens.methods.kernel_laplacian.labels import (
    check_labelled_weights,
    targets_with_gaps,
)


class KernelLaplacianRegressor(DecisionRegressorMixin, BaseKernelLaplacian):
    """Kernel ridge regression with a penalty on gradients, for few labels and many points.

    The function should be small in norm and flat where the data are, labelled or not: values then
    spread along clusters, curves and surfaces, without a graph [1]_. It is a function of x: it
    predicts new rows, has a :meth:`gradient`, and directions along which it varies.

    Parameters
    ----------
    mu : "auto", float or list of float, default="auto"
        Strength of the penalty on gradients; 0 is kernel ridge regression. ``"auto"`` and lists are
        chosen from, together with `alpha`, see the Notes.
    alpha : "auto", float or list of float, default="auto"
        Strength of the penalty on the norm of the function space, the paper's lambda.
    kernel : str or kernel object, default="matern52"
        ``"gaussian"``, ``"matern32"``, ``"matern52"``, ``"rational_quadratic"``, ``"linear"``,
        ``"polynomial"`` (degree 3), ``"exponential_dot"``; or an instance of a subclass of
        ``kernlens.kernels.radial.RadialKernel`` or
        ``kernlens.kernels.dot_product.DotProductKernel`` with its profile and two derivatives.
    length_scale : "auto" or float, default="auto"
        What standardised columns are divided by before the kernel. ``"auto"``: twice the median
        distance of points; for kernels of the inner product, their root mean square length.
    metric : {"local", "euclidean"}, default="local"
        How the length of a gradient is measured. ``"euclidean"``: all directions alike, as in the
        paper. ``"local"``: along the differences to the nearest other points, so that data near a
        curve or a surface are not asked how the function varies across it.
    n_neighbors : int, default=7
        Neighbours that span the directions of the local metric.
    solver : {"auto", "exact", "cg", "nystrom", "random_features"}, default="auto"
        ``"exact"``: an atom for every value and every derivative, by dense matrices. ``"cg"``: the
        same function by conjugate gradients, without a matrix; `mu` and `alpha` are then chosen
        with centres. ``"nystrom"``: `n_centers` points as centres. ``"random_features"``: random
        Fourier features of the four named radial kernels. ``"auto"``: exact up to 1000
        derivatives (points times directions), else Nystrom.
    n_centers : "auto" or int, default="auto"
        Centres, all points if there are fewer; or random features. ``"auto"``: 2000, or 1000 for
        more than 1000 labelled rows.
    max_iter : int, default=500
        Conjugate gradients stop after so many iterations.
    tol : float, default=1e-08
        They stop when the residual is below `tol` times the targets.
    standardize : bool, default=True
        Use ``(x - mean) / std`` of every column; False: columns are only centred. Constant columns
        are ignored.
    n_directions : "auto" or int, default="auto"
        Directions kept in `components_` and by `transform`. ``"auto"``: those with at least an even
        share of the importance, 1/d or a tenth.
    n_jobs : int or None, default=None
        Threads; None uses all cores. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        For centres, random features, and the law that clusters are compared with.
    verbose : bool, default=False
        Show a progress bar.

    Attributes
    ----------
    components_ : ndarray of shape (n_directions_, n_features)
        Leading eigenvectors of the average outer product of gradients over the points, orthonormal,
        in the units of X.
    component_importances_ : ndarray of shape (n_directions_,)
        Their eigenvalues, divided by their sum.
    feature_importances_ : ndarray of shape (n_features,)
        Root mean squared slope per standard deviation of a column; sum 1.
    n_directions_ : int
        Directions kept.
    mu_, alpha_ : float
        What was used, for standardised columns and targets.
    alpha_search_ : dict
        ``"mu"``, ``"alpha"`` and ``"loss"`` of the penalties compared; only if there was something
        to choose.
    solver_, length_scale_ : str, float
        What was used.
    n_labeled_ : int
        Labelled rows, repeated ones counted once.
    centers_, coef_ : ndarray of shape (n_centers, n_columns), (n_targets, n_centers)
        Centres in units of the length scale, columns that vary only, and coefficients of the kernel
        there; of random features, `coef_` only.
    slopes_ : ndarray of shape (n_targets, n_centers, n_columns)
        Coefficients of the derivatives of the kernel at the centres; exact solvers only.
    frequencies_, phases_ : ndarray of shape (n_centers, n_columns), (n_centers,)
        Of random features.
    intercept_, mean_, scale_ : ndarray
        Constant of the function, for standardised targets; units of the columns.
    objective_, objective_history_ : float, ndarray
        The objective of the Notes; residuals of conjugate gradients, if any, and the objective.
    n_iter_, status_ : int, str
        Iterations of conjugate gradients, else 1; how the fit ended.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Minimised over f in the space H of the kernel and constants c is ::

        (1/n_l) sum_L w_i (f(x_i) + c - y_i)^2 + (mu/n) sum_i w_i |T_i grad f(x_i)|^2
            + alpha |f|_H^2,

    labelled rows in the first sum, all points in the second: equation (7) of [1]_, which lacks the
    1/n of its own (3), with labels for some points only. T_i is the identity for the Euclidean
    metric. The solution has an atom for every labelled value and every derivative; (10), whose
    right-hand side stands (the display before it has two misprints), is solved as kernel ridge
    regression with a deformed kernel that depends on ``mu / alpha`` only: one decomposition serves
    all penalties.

    *Choice of mu and alpha.* Compared are ``mu / alpha`` = 0, 1e2, 1e4, ... 1e10 (times the squared
    median distance over d) and alphas of 1e-6 to 1 times the spread of the deformed kernel, by the
    squared error of leaving labelled rows out one by one (beyond 1000: a fifth of them held out). A
    handful of labels cannot choose, so the points have a word: if they lie on clusters, curves or
    surfaces, the largest ratio is preferred, else the smallest positive one, and errors of others
    must be smaller by a share of ``n_l^(-1/2)``. They do if values of functions at two points
    are more alike, at that ratio, than on a normal law of the same covariance: if the odds of their
    mean squared correlation are three times as large; 500 points are looked at. Among alphas that
    labels do not tell apart, the one nearest to ``0.1 n_l^(-1/2)`` times that spread is taken: the
    rate of Theorem 5.

    *Cost* with n points, d columns, r = min(n_neighbors, d) directions (d for the Euclidean
    metric) and m centres: Nystrom O(n m^2 r + m^3), without the factor r for the Euclidean metric;
    exact O((n r)^3); conjugate gradients O(n^2 d) an iteration. Memory in bytes: about
    ``8 (6 n d + 10 m^2 + 2e7)``; exact, in addition ``32 (n (r + 1))^2``; conjugate gradients
    ``96 n (r + 1)`` per target, no matrix. Neighbours are looked for among 5000 points at most.

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
        standardize: bool = True,
        n_directions: int | str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int | bool = False,
    ) -> None:
        self.mu = mu
        self.alpha = alpha
        self.kernel = kernel
        self.length_scale = length_scale
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.solver = solver
        self.n_centers = n_centers
        self.max_iter = max_iter
        self.tol = tol
        self.standardize = standardize
        self.n_directions = n_directions
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @all_or_nothing
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        X_unlabeled: ArrayLike | None = None,
    ) -> Self:
        """Fit the function and its directions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
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
        self._check_parameters()
        # With other points, one labelled row is enough.
        smallest = 2 if X_unlabeled is None else 1
        checked: FloatArray = validate_data(self, X, dtype=np.float64, ensure_min_samples=smallest)
        check_magnitude(checked, "X")
        weights = check_weights(sample_weight, checked)
        targets = targets_with_gaps(y, checked, type(self).__name__)
        more = self._check_unlabeled(X_unlabeled, checked.shape[1])
        single = targets.ndim == 1
        rows = np.ascontiguousarray(np.atleast_2d(targets.T))
        check_labelled_weights(~np.isnan(rows[0]), weights)
        self._fit_encoded(checked, rows, weights, more)
        self._single_target = single
        return self

    def _target_units(self, y: FloatArray, weights: FloatArray) -> Standardisation:
        # Every target counts alike, whatever its unit, and any unit gives the same fit.
        return Standardisation.of(y.T, weights, True)

    @property
    def _one_function(self) -> bool:
        return self._single_target

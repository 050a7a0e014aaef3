"""Kernel Laplacian classification."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import ArrayLike

from kernlens._array import FloatArray
from kernlens.base.arrays import check_fit_arrays
from kernlens.base.calibration import Calibration, calibrate, with_doubts
from kernlens.base.contract import all_or_nothing
from kernlens.base.predictions import DecisionClassifierMixin
from kernlens.methods.kernel_laplacian.estimator import BaseKernelLaplacian
from kernlens.methods.kernel_laplacian.labels import (
    check_unlabeled,
    labels_with_gaps,
    refuse_missing_labels,
)
from kernlens.methods.kernel_laplacian.learner import LaplacianLearner
from kernlens.methods.kernel_laplacian.plan import Learned

#: Labelled rows of the smallest class from which probabilities are calibrated.
CALIBRATION_LABELS = 5
#: Of fewer, scores are taken at their word up to this size.
TRUSTED = 0.9


class KernelLaplacianClassifier(DecisionClassifierMixin, BaseKernelLaplacian):
    """Classification from few labels and many points, with a penalty on gradients.

    Scores are fitted to labels +1 and -1, one against the rest, by the objective of
    :class:`KernelLaplacianRegressor`: small in norm, and flat where the data are, labelled or not,
    so that labels spread along clusters, curves and surfaces, without a graph [1]_.

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
    unlabeled : object, default="auto"
        Label of rows that have none; None: every row has one. ``"auto"`` is -1, as in scikit-learn,
        but if labels are -1 and 1 only, both are taken as classes, with a warning.
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
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted.
    trusted_score_, stretch_ : float
        How scores become log-odds: (1 + f)/2 is a probability up to that size of the score f, and
        log-odds are multiplied by the second. Learned from labelled rows left out if every class
        has five, N labels of a class held to be right with probability (N + 1)/(N + 2); 0.9 and 1
        otherwise.
    mu_, alpha_ : float
        What was used, for standardised columns.
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
        Constant of the function; units of the columns.
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
    >>> from kernlens import KernelLaplacianClassifier
    >>> from sklearn.datasets import make_moons
    >>> X, truth = make_moons(300, noise=0.05, random_state=0)
    >>> y = np.full(300, -1)
    >>> y[[0, 1, 2, 3, 4, 5]] = truth[:6]
    >>> model = KernelLaplacianClassifier(random_state=0).fit(X, y)
    >>> float(model.score(X, truth))
    1.0
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
        unlabeled: Any = "auto",
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
        self.unlabeled = unlabeled
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
        """Fit the scores, their directions and the probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels, of any type scikit-learn takes; -1, or what `unlabeled` says, for rows that
            have none.
        sample_weight : array-like of shape (n_samples,) or None
            Non-negative weights; a weight of 2 is the row repeated.
        X_unlabeled : array-like of shape (n_unlabeled, n_features) or None
            More rows without a label.

        Returns
        -------
        self
        """
        if y is not None:
            refuse_missing_labels(y)
        checked, labels, weights = check_fit_arrays(self, X, y, sample_weight)
        classes, targets = labels_with_gaps(labels, weights, self.unlabeled, type(self).__name__)
        more = self._check_unlabeled(X_unlabeled, checked.shape[1])
        self._fit_encoded(checked, targets, weights, more)
        self.classes_ = classes
        return self

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_unlabeled(self.unlabeled)

    def _calibrate(self, learner: LaplacianLearner, learned: Learned) -> None:
        positive = learner.rows.y > 0
        fewest = int(min(positive.sum(axis=1).min(), (~positive).sum(axis=1).min()))
        found = Calibration(TRUSTED, 1.0)
        if fewest >= CALIBRATION_LABELS:
            found = calibrate(*with_doubts(*learner.solver.left_out(learned.penalties)))
        self.trusted_score_, self.stretch_ = found.trusted, found.stretch

    def _decision(self, X: ArrayLike) -> FloatArray:
        scores = super()._decision(X)
        return Calibration(self.trusted_score_, self.stretch_).log_odds(scores)

    @property
    def _one_function(self) -> bool:
        return len(self.coef_) == 1

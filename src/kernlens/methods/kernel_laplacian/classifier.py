"""Kernel Laplacian classification."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernlens._array import BoolArray, FloatArray
from kernlens._parameters import documented
from kernlens._reports import Listener
from kernlens.base.arrays import check_fit_arrays
from kernlens.base.calibration import UNCALIBRATED, CalibratedMixin, calibrate, with_doubts
from kernlens.base.callbacks import observed
from kernlens.base.contract import all_or_nothing
from kernlens.base.predictions import DecisionClassifierMixin
from kernlens.blocks import is_blocks
from kernlens.losses import Loss, SquaredLoss
from kernlens.methods.kernel_laplacian.estimator import BaseKernelLaplacian
from kernlens.methods.kernel_laplacian.labels import (
    has_label,
    labels_with_gaps,
    refuse_missing_labels,
    resolve_unlabeled,
)
from kernlens.methods.kernel_laplacian.parameters import CLASSIFIER_PARAMETERS

#: Number of labelled rows of the smallest class from which probabilities are calibrated.
CALIBRATION_LABELS = 5


@documented
class KernelLaplacianClassifier(DecisionClassifierMixin, CalibratedMixin, BaseKernelLaplacian):
    """Classification from few labels and many points, with a penalty on gradients.

    Scores are fitted to labels +1 and -1, one against the rest, by the objective of
    :class:`KernelLaplacianRegressor`. They are small in norm and flat where the data are, labelled
    or not, so that labels spread along clusters, curves and surfaces, without a graph [1]_.

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
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted.
    trusted_score_, stretch_ : float
        How scores f become log-odds: (1 + f)/2 is a probability up to the first in size, and
        log-odds are multiplied by the second. Both are learned from labelled rows left out if every
        class has five, where a label of a class with N of them is right with probability
        (N + 1)/(N + 2); otherwise they are 0.9 and 1.
    shift_ : ndarray of shape (n_targets,)
        Added to log-odds; zero here.
    mu_, alpha_ : float
        What was used, for standardised columns.
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
    feature_range_ : ndarray of shape (2, n_directions_)
        Lowest and highest learned features of the training rows.
    intercept_, mean_, scale_ : ndarray
        Constant of the function; units of the columns.
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
    Objective, choice of mu and alpha, cost and memory are those of
    :class:`KernelLaplacianRegressor`. Labels are +1 and -1, with one target for two classes and one
    per class otherwise, and are not standardised.

    A score f fitted by the squared loss becomes log-odds through ``(1 + f)/2``, which is the
    probability of the class where the fit is good; see `trusted_score_`. :meth:`gradient` is
    that of :meth:`decision_function`.

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

    _parameters = CLASSIFIER_PARAMETERS

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
        class_weight: Any = None,
        standardize: bool = True,
        n_directions: int | str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int | bool = False,
        callback: Listener | None = None,
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
        self.class_weight = class_weight
        self.standardize = standardize
        self.n_directions = n_directions
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    @all_or_nothing
    @observed
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        X_unlabeled: ArrayLike | None = None,
    ) -> Self:
        """Fit the scores, their directions and the probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), Dask collection or RowBlocks
            Rows. With :class:`~kernlens.RowBlocks` there is no other argument.
        y : array-like of shape (n_samples,)
            Labels, of any type scikit-learn takes; -1, or what `unlabeled` says, for rows that
            have none.
        sample_weight : array-like of shape (n_samples,) or None
            Non-negative weights; a weight of 2 is the row repeated. `class_weight` multiplies those
            of rows that have a label.
        X_unlabeled : array-like of shape (n_unlabeled, n_features) or None
            More rows without a label.

        Returns
        -------
        self
        """
        if is_blocks(X):
            self._fit_labelled_table(self._open_all_points(X, y, sample_weight, X_unlabeled))
            return self
        if y is not None:
            refuse_missing_labels(y)
        rows, labels, weights = check_fit_arrays(self, X, y, sample_weight)
        targets, weights, _ = self._label_targets(labels, weights)
        self._fit_with_gaps(rows, targets, weights, X_unlabeled)
        return self

    def _label_targets(
        self, y: NDArray[Any], weights: FloatArray
    ) -> tuple[FloatArray, FloatArray, Loss]:
        classes, targets, weights = labels_with_gaps(
            y, weights, self.unlabeled, self.class_weight, type(self).__name__
        )
        self.shift_ = np.zeros(len(targets))
        self.classes_ = classes
        return targets, weights, SquaredLoss()

    def labeled_rows(self, y: ArrayLike) -> BoolArray:
        """Say which rows have a label.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Labels; -1, or what `unlabeled` says, for rows that have none.

        Returns
        -------
        ndarray of bool of shape (n_samples,)
        """
        labels = np.asarray(y)
        return has_label(labels, resolve_unlabeled(labels, self.unlabeled))

    def _calibrate(self, learner: Any, learned: Any) -> None:
        positive = learner.rows.y > 0
        fewest = int(min(positive.sum(axis=1).min(), (~positive).sum(axis=1).min()))
        found = replace(UNCALIBRATED, shift=self.shift_)
        if fewest >= CALIBRATION_LABELS:
            left = learner.left_out(learned)
            found = calibrate(*with_doubts(left.decision, left.y, left.weights))
        self._keep_calibration(found)

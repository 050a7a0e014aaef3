"""Clusters in the coordinates of the kernel Laplacian."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClusterMixin
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin

from kernlens._array import FloatArray
from kernlens._parameters import documented
from kernlens._warnings import warn
from kernlens.base.contract import all_or_nothing
from kernlens.base.fit_data import draw_seed
from kernlens.blocks.lazily import lazy_on_dask
from kernlens.methods.kernel_laplacian.parameters import CLUSTERING_PARAMETERS
from kernlens.methods.kernel_laplacian.spectral import LaplacianEigenfunctions


@lazy_on_dask("predict")
@documented
class KernelLaplacianClustering(ClusterMixin, LaplacianEigenfunctions):
    """Clusters that follow the shape of the data: k-means on the kernel Laplacian's eigenfunctions.

    It is like :class:`~sklearn.cluster.SpectralClustering`, but needs no graph and has clusters for
    new rows [1]_.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of every row.
    cluster_centers_ : ndarray of shape (n_clusters, n_components)
        Means of the values of the eigenfunctions.
    inertia_ : float
        Sum of squared distances to the nearest centre.
    eigenvalues_ : ndarray of shape (n_components,)
        ``E(f) + alpha |f|_H^2`` of every eigenfunction, increasing, for standardised columns.
    alpha_, length_scale_ : float
        What was used, for standardised columns.
    centers_, coef_ : ndarray of shape (n_centers, n_varying), (n_components, n_centers)
        Centres in units of the length scale, for columns as in `inputs_`, and coefficients of the
        kernel there; random features have `coef_` only.
    frequencies_, phases_ : ndarray of shape (n_centers, n_varying), (n_centers,)
        Frequencies and phases of random features.
    intercept_, mean_, scale_ : ndarray
        Constants of the functions; units of the columns.
    inputs_ : ndarray of int of shape (n_varying,)
        Columns in use, in the order of the inputs of the learner, which does not depend on how
        columns are listed.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    k-means is run on the columns of :class:`KernelLaplacianEmbedding`, which have variance 1.

    Cost with n points, r = min(n_neighbors, d) directions and m centres: O(n m^2 r + m^3); memory
    about ``8 (6 n d + 10 m^2 + 2e7)`` bytes. Rows of the same X are one point, with the sum of
    their weights.

    References
    ----------
    .. [1] V. Cabannes, "Kernel ridge regression with kernel Laplacian regularization".

    Examples
    --------
    >>> from kernlens import KernelLaplacianClustering
    >>> from sklearn.datasets import make_circles
    >>> X, ring = make_circles(300, noise=0.03, factor=0.4, random_state=0)
    >>> labels = KernelLaplacianClustering(n_clusters=2, random_state=0).fit_predict(X)
    >>> bool(abs((labels == ring).mean() - 0.5) == 0.5)
    True
    """

    _parameters = CLUSTERING_PARAMETERS

    def __init__(
        self,
        *,
        n_clusters: int = 8,
        n_components: int | str = "auto",
        n_init: int = 10,
        alpha: float | str = "auto",
        kernel: Any = "matern52",
        length_scale: float | str = "auto",
        metric: str = "local",
        n_neighbors: int = 7,
        solver: str = "nystrom",
        n_centers: int | str = "auto",
        standardize: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.n_init = n_init
        self.alpha = alpha
        self.kernel = kernel
        self.length_scale = length_scale
        self.metric = metric
        self.n_neighbors = n_neighbors
        self.solver = solver
        self.n_centers = n_centers
        self.standardize = standardize
        self.n_jobs = n_jobs
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find the eigenfunctions, and clusters of their values.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,) or None
            Non-negative weights.

        Returns
        -------
        self
        """
        self._fit_clusters(X, sample_weight)
        return self

    @all_or_nothing
    def fit_predict(
        self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> NDArray[np.integer]:
        """Find clusters, and return those of the rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,) or None
            Non-negative weights.

        Returns
        -------
        ndarray of shape (n_samples,)
            `labels_`.
        """
        self._fit_clusters(X, sample_weight)
        return self.labels_

    def _fit_clusters(self, X: ArrayLike, sample_weight: ArrayLike | None) -> None:
        checked, weights = self._check_rows(X, sample_weight)
        n_components = self.n_components
        if isinstance(n_components, str):
            n_components = max(1, int(self.n_clusters) - 1)
        rows = self._fit_eigenfunctions(checked, weights, int(n_components))
        n_clusters = min(int(self.n_clusters), len(rows.X))
        if n_clusters < self.n_clusters:
            warn(
                f"There are {len(rows.X)} distinct rows only, and as many clusters instead of "
                f"n_clusters={self.n_clusters}."
            )
        means = KMeans(
            n_clusters, n_init=int(self.n_init), random_state=draw_seed(self.random_state)
        )
        # On distinct rows with their weights, in an order of their own: a weight of 2 is exactly a
        # repetition, and the order of rows does not matter.
        means.fit(self._values(rows.X), sample_weight=rows.weights)
        self.cluster_centers_ = means.cluster_centers_
        self.inertia_ = float(means.inertia_)
        self.labels_ = self._nearest(self._values(checked))

    def predict(self, X: ArrayLike) -> NDArray[np.integer]:
        """Cluster of new rows: the nearest centre among the values of the eigenfunctions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            In the numbering of `labels_`.
        """
        return self._nearest(self._checked_values(X))

    def _nearest(self, values: FloatArray) -> NDArray[np.integer]:
        nearest: NDArray[np.integer] = pairwise_distances_argmin(values, self.cluster_centers_)
        return nearest.astype(np.int32)

"""Clusters in the coordinates of the kernel Laplacian."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClusterMixin
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from kernlens._array import FloatArray
from kernlens._validation import check_count
from kernlens.base.contract import all_or_nothing
from kernlens.methods.kernel_laplacian.spectral import LaplacianEigenfunctions


class KernelLaplacianClustering(ClusterMixin, LaplacianEigenfunctions):
    """Clusters that follow the shape of the data: k-means on the kernel Laplacian's eigenfunctions.

    As :class:`~sklearn.cluster.SpectralClustering`, without a graph, and with clusters for new
    rows [1]_.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    n_components : "auto" or int, default="auto"
        Eigenfunctions that are looked at; ``"auto"``: one less than clusters.
    n_init : int, default=10
        First centres of k-means that are tried.
    alpha : "auto" or float, default="auto"
        Strength of the penalty on the norm of the function space. ``"auto"``: the smallest of 1e-8,
        1e-6, 1e-4 and 1e-2 (times d over the squared length scale) for which every eigenfunction
        is spread over 5 percent of the points at least, ``mean(f^2)^2 / mean(f^4)``: for less,
        they may single out a few.
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
    solver : {"nystrom", "random_features"}, default="nystrom"
        `n_centers` points as centres, or random Fourier features of the four named radial kernels.
    n_centers : "auto" or int, default="auto"
        Centres, all points if there are fewer; or random features. ``"auto"``: 2000.
    standardize : bool, default=True
        Use ``(x - mean) / std`` of every column; False: columns are only centred. Constant columns
        are ignored.
    n_jobs : int or None, default=None
        Threads; None uses all cores. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        For centres and random features, and for k-means.

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
    centers_, coef_ : ndarray of shape (n_centers, n_columns), (n_components, n_centers)
        Centres in units of the length scale, columns that vary only, and coefficients of the kernel
        there; of random features, `coef_` only.
    frequencies_, phases_ : ndarray of shape (n_centers, n_columns), (n_centers,)
        Of random features.
    intercept_, mean_, scale_ : ndarray
        Constants of the functions; units of the columns.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    See :class:`KernelLaplacianEmbedding`, whose columns of variance 1 k-means is run on.

    Cost with n points, r = min(n_neighbors, d) directions and m centres: O(n m^2 r + m^3); memory
    about ``8 (6 n d + 10 m^2 + 2e7)`` bytes. Rows of the same X are one point, of the sum of their
    weights.

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
        self._check_parameters()
        n_components = self.n_components
        if isinstance(n_components, str):
            n_components = max(1, int(self.n_clusters) - 1)
        checked, rows = self._fit_eigenfunctions(X, sample_weight, int(n_components))
        n_clusters = min(int(self.n_clusters), len(rows.X))
        if n_clusters < self.n_clusters:
            warnings.warn(
                f"There are {len(rows.X)} distinct rows only, and as many clusters instead of "
                f"n_clusters={self.n_clusters}.",
                # In the caller's file: this and a public method, wrapped, are between.
                stacklevel=4,
            )
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        means = KMeans(n_clusters, n_init=int(self.n_init), random_state=seed)
        # On distinct rows with their weights, in an order of their own: a weight of 2 is exactly a
        # repetition, and the order of rows does not matter.
        means.fit(self._embed(self._points_of(rows.X)), sample_weight=rows.weights)
        self.cluster_centers_, self.inertia_ = means.cluster_centers_, float(means.inertia_)
        self.labels_ = self._nearest(self._embed(self._points_of(checked)))

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
        check_is_fitted(self)
        return self._nearest(self._embed(self._points(X)))

    def _nearest(self, values: FloatArray) -> NDArray[np.integer]:
        nearest: NDArray[np.integer] = pairwise_distances_argmin(values, self.cluster_centers_)
        return nearest.astype(np.int32)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count("n_clusters", self.n_clusters)
        check_count("n_components", self.n_components, words=("auto",))
        check_count("n_init", self.n_init)

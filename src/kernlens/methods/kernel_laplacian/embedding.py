"""Eigenfunctions of the kernel Laplacian as coordinates."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from kernlens._validation import check_count
from kernlens.base.contract import all_or_nothing
from kernlens.methods.kernel_laplacian.spectral import LaplacianEigenfunctions


class KernelLaplacianEmbedding(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, LaplacianEigenfunctions
):
    """Coordinates that vary slowly where the data are: eigenfunctions of the kernel Laplacian.

    The functions of most variance per gradient energy, uncorrelated, as
    :class:`~sklearn.manifold.SpectralEmbedding` finds them on a graph; here they are functions in
    the space of a kernel, without a graph, and have values at new rows [1]_.

    Parameters
    ----------
    n_components : int, default=2
        Number of eigenfunctions; the constant is not counted.
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
        For centres and random features.

    Attributes
    ----------
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
    Maximised one after the other is ``var(f) / (E(f) + alpha |f|_H^2)`` with
    ``E(f) = (1/n) sum_i w_i |T_i grad f(x_i)|^2``, T_i the identity for the Euclidean metric. For
    many points and small alpha the Euclidean eigenvalues are those of the Laplacian of the law of
    the points: pi^2 k^2 for the uniform law on [0, 1], k for the normal one (with
    ``standardize=False``).

    Cost with n points, r = min(n_neighbors, d) directions and m centres: O(n m^2 r + m^3); memory
    about ``8 (6 n d + 10 m^2 + 2e7)`` bytes. Rows of the same X are one point, of the sum of their
    weights.

    References
    ----------
    .. [1] V. Cabannes, "Kernel ridge regression with kernel Laplacian regularization".

    Examples
    --------
    >>> import numpy as np
    >>> from kernlens import KernelLaplacianEmbedding
    >>> angle = np.linspace(0, 6, 200)
    >>> X = np.column_stack([np.cos(angle), np.sin(angle)]) * angle[:, None]
    >>> first = KernelLaplacianEmbedding(n_components=1).fit_transform(X)[:, 0]
    >>> bool(abs(np.corrcoef(first, angle)[0, 1]) > 0.95)
    True
    """

    def __init__(
        self,
        *,
        n_components: int = 2,
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
        self.n_components = n_components
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
        """Find the eigenfunctions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,) or None
            Non-negative weights; a weight of 2 is the row repeated.

        Returns
        -------
        self
        """
        self._check_parameters()
        self._fit_eigenfunctions(X, sample_weight, int(self.n_components))
        return self

    def transform(self, X: ArrayLike) -> Any:
        """Values of the eigenfunctions, at training rows or new ones.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Over the training rows every column has mean 0 and variance 1.
        """
        return self._embed(self._points(X))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count("n_components", self.n_components)

    @property
    def _n_features_out(self) -> int:
        return len(self.coef_)

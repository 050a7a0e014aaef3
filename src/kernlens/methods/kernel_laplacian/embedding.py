"""Eigenfunctions of the kernel Laplacian as coordinates."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from kernlens._parameters import documented
from kernlens.base.contract import all_or_nothing
from kernlens.blocks.lazily import lazy_on_dask
from kernlens.methods.kernel_laplacian.parameters import SPECTRAL_PARAMETERS
from kernlens.methods.kernel_laplacian.spectral import LaplacianEigenfunctions


@lazy_on_dask("transform")
@documented
class KernelLaplacianEmbedding(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, LaplacianEigenfunctions
):
    """Coordinates that vary slowly where the data are: eigenfunctions of the kernel Laplacian.

    They are the uncorrelated functions of most variance per gradient energy.
    :class:`~sklearn.manifold.SpectralEmbedding` finds such functions on a graph; here they are
    functions in the space of a kernel, without a graph, and have values at new rows [1]_.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
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
    Every function maximises ``var(f) / (E(f) + alpha |f|_H^2)`` among those uncorrelated with the
    ones before it, with ``E(f) = (1/n) sum_i w_i |T_i grad f(x_i)|^2``, where T_i is the identity
    for the Euclidean metric. For many points and small alpha the Euclidean eigenvalues are those of
    the Laplacian of the law of the points: pi^2 k^2 for the uniform law on [0, 1], k for the normal
    one (with ``standardize=False``).

    Cost with n points, r = min(n_neighbors, d) directions and m centres: O(n m^2 r + m^3); memory
    about ``8 (6 n d + 10 m^2 + 2e7)`` bytes. Rows of the same X are one point, with the sum of
    their weights.

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

    _parameters = SPECTRAL_PARAMETERS

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
        rows, weights = self._check_rows(X, sample_weight)
        distinct = self._fit_eigenfunctions(rows, weights, int(self.n_components))
        n_found = int(np.count_nonzero(self.eigenvalues_))
        if n_found < self.n_components:
            raise ValueError(
                f"n_components={self.n_components} functions are asked for, but only {n_found} of "
                f"this kernel vary over the {len(distinct.X)} distinct rows; lower n_components."
            )
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
        return self._checked_values(X)

    @property
    def _n_features_out(self) -> int:
        return len(self.coef_)

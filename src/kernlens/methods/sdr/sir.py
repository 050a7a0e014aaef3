"""Sliced inverse regression."""

from __future__ import annotations

from kernlens._parameters import documented
from kernlens.methods.sdr.candidate import Candidate
from kernlens.methods.sdr.data import ReductionData
from kernlens.methods.sdr.inverse_regression import SlicedMeans
from kernlens.methods.sdr.parameters import SLICED
from kernlens.methods.sdr.tested import SlicedFinder


@documented
class SIR(SlicedFinder):
    """Sliced inverse regression: directions in which the mean of X moves with y.

    Rows are cut into slices by y, and the means of the slices, in units in which the columns are
    uncorrelated, are looked at: their principal axes are the directions [1]_. It is quick and needs
    few rows. It does not see a direction along which y is even: for y = x1^2 all slices have the
    same mean.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    components_ : ndarray of shape (n_directions_, n_features)
        Directions, most important first, for columns in the units of the X passed to `fit`. The
        rows of ``components_ * scale_`` are orthonormal; the first k span what the first k
        directions of the paper span. The target rises along every direction, on average.
    component_importances_, feature_importances_ : ndarray
        Shares of the eigenvalues of the kept directions, and of the columns in them.
    eigenvalues_ : ndarray of shape (n_found,)
        Squared correlations of the best directions with the slices, decreasing.
    dimension_test_ : DimensionTest
        The test that counted the directions, after ``n_directions="auto"``; it prints as a table
        and has a `to_frame`.
    dimension_criterion_ : DimensionCriterion
        The same after ``test="bic"``, in its place.
    shrinkage_ : float
        Share of the identity in the covariance.
    mean_, scale_ : ndarray of shape (n_features,)
        What is taken from the columns, and what they are divided by.
    inputs_ : ndarray of int of shape (n_varying,)
        Columns in use, in an order that does not depend on how they are listed.
    n_directions_ : int
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    With m_s the mean and p_s the share of slice s, the directions are the eigenvectors of
    ``sum_s p_s m_s m_s^T``, of which H slices have H - 1. Columns must be such that
    E[X | directions] is linear, as for normal columns; n times the sum of the last eigenvalues is
    then chi-squared with (d - k)(H - k - 1) degrees of freedom if k directions are enough. Several
    targets are sliced one by one, and the matrices averaged [2]_.

    Cost O(n d min(n, d)); memory about ``8 (8 n d + 3 d r + 40 r^2)`` bytes with r = min(n, d).

    References
    ----------
    .. [1] K.-C. Li, "Sliced inverse regression for dimension reduction", Journal of the American
       Statistical Association, 1991.
    .. [2] Y. Aragon, "A Gauss implementation of multivariate sliced inverse regression",
       Computational Statistics, 1997.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlens import SIR
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((400, 5))
    >>> y = np.exp(X[:, 0] + X[:, 1]) + 0.1 * rng.standard_normal(400)
    >>> model = SIR().fit(X, y)
    >>> model.n_directions_
    1
    >>> bool(np.abs(model.loadings_[0, :2] - np.sqrt(0.5)).max() < 0.1)
    True
    """

    _parameters = SLICED
    _many_slices = 10

    def _candidate(self, data: ReductionData) -> Candidate:
        return SlicedMeans(self._slices(data))

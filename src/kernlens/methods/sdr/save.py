"""Sliced average variance estimation."""

from __future__ import annotations

from kernlens._parameters import documented
from kernlens.methods.sdr.candidate import Candidate
from kernlens.methods.sdr.data import ReductionData
from kernlens.methods.sdr.inverse_regression import SlicedCovariances
from kernlens.methods.sdr.parameters import SLICED
from kernlens.methods.sdr.tested import SlicedFinder


@documented
class SAVE(SlicedFinder):
    """Sliced average variance estimation: directions in which the spread of X moves with y.

    Rows are cut into slices by y, and the covariances of the slices are compared with that of all
    rows [1]_. It sees directions along which y is even, which :class:`~kernlens.SIR` does not, but
    needs more rows, and weak linear trends may escape it.

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
        Of the matrix, decreasing.
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
    With V_s the covariance and p_s the share of slice s, in units in which the covariance C of all
    rows is the identity, the directions are the eigenvectors of ``sum_s p_s (C - V_s)^2``. Columns
    must be such that E[X | directions] is linear and their variance given them constant, as for
    normal columns. Then the test of [2]_ is chi-squared for many rows; as its degrees of freedom
    grow with the square of the columns, ``test="auto"`` permutes rows. Several targets are sliced
    one by one, and the matrices averaged.

    Cost O(n d min(n, d) + n r^2 + H r^3) with r = min(n, d) and H slices; memory about
    ``8 (8 n d + 3 d r + 40 r^2)`` bytes.

    References
    ----------
    .. [1] R. D. Cook and S. Weisberg, discussion of "Sliced inverse regression for dimension
       reduction", Journal of the American Statistical Association, 1991.
    .. [2] Y. Shao, R. D. Cook and S. Weisberg, "Marginal tests with sliced average variance
       estimation", Biometrika, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlens import SAVE
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((400, 5))
    >>> y = X[:, 0] ** 2 + 0.1 * rng.standard_normal(400)
    >>> model = SAVE(random_state=0).fit(X, y)
    >>> model.n_directions_
    1
    >>> bool(np.abs(model.loadings_[0, 0]) > 0.95)
    True
    """

    _passes = 60.0
    _parameters = SLICED
    _many_slices = 5
    _chi2_by_default = False

    def _candidate(self, data: ReductionData) -> Candidate:
        return SlicedCovariances(self._slices(data))

"""Directional regression."""

from __future__ import annotations

from kernlens._parameters import documented
from kernlens.methods.sdr.candidate import Candidate
from kernlens.methods.sdr.data import ReductionData
from kernlens.methods.sdr.inverse_regression import DirectionalMoments
from kernlens.methods.sdr.parameters import SLICED
from kernlens.methods.sdr.tested import SlicedFinder


@documented
class DirectionalRegression(SlicedFinder):
    """Directional regression: directions in which mean or spread of X move with y.

    It looks at the differences of rows, given the slices of both [1]_, which combines what
    :class:`~kernlens.SIR` and :class:`~kernlens.SAVE` see. It finds trends and even functions
    alike, and is the one of the four to begin with.

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
    With A_s the mean of ``z z^T`` and m_s that of z in slice s, for whitened rows z of covariance
    C, and ``B = sum_s p_s m_s m_s^T``, the directions are the eigenvectors of
    ``2 sum_s p_s (A_s - C)^2 + 2 B^2 + 2 tr(B) B``. Columns must be such that E[X | directions] is
    linear and their variance given them constant, as for normal columns. The number of directions
    is tested by permutations. Several targets are sliced one by one, and the matrices averaged.

    Cost O(n d min(n, d) + n r^2 + H r^3) with r = min(n, d) and H slices; memory about
    ``8 (8 n d + 3 d r + 40 r^2)`` bytes.

    References
    ----------
    .. [1] B. Li and S. Wang, "On directional regression for dimension reduction", Journal of the
       American Statistical Association, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlens import DirectionalRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((400, 5))
    >>> y = X[:, 0] + X[:, 1] ** 2 + 0.1 * rng.standard_normal(400)
    >>> model = DirectionalRegression(random_state=0).fit(X, y)
    >>> model.n_directions_
    2
    >>> bool(np.linalg.norm(model.loadings_[:, 2:]) < 0.3)
    True
    """

    _passes = 60.0
    _parameters = SLICED
    _many_slices = 5
    _chi2_by_default = False

    def _candidate(self, data: ReductionData) -> Candidate:
        return DirectionalMoments(self._slices(data))

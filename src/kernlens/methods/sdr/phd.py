"""Principal Hessian directions."""

from __future__ import annotations

from typing import Any

from kernlens._parameters import documented
from kernlens.blocks.table import BlockTable
from kernlens.methods.sdr.candidate import Candidate
from kernlens.methods.sdr.data import ReductionData
from kernlens.methods.sdr.hessian import MeanHessian
from kernlens.methods.sdr.parameters import HESSIAN
from kernlens.methods.sdr.tested import TestedFinder


@documented
class PHD(TestedFinder):
    """Principal Hessian directions: directions in which y is curved.

    For normal columns the mean of ``(y - mean) x x^T`` is the mean Hessian of the regression
    function, whose eigenvectors are the directions [1]_. By default it is computed with what linear
    regression leaves of y [2]_. It sees no linear trend, and no curvature that is zero on average.

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
        Squared eigenvalues of the mean Hessian, decreasing.
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
    With whitened rows z and numbers r of variance 1, the directions are the eigenvectors of
    ``H^2`` with ``H = E[r z z^T]``, summed over targets; labels count as one target per class. n
    times the sum of the last eigenvalues over ``2 var(r)`` is chi-squared with
    (d - k)(d - k + 1) / 2 degrees of freedom for normal columns if k directions are enough.

    Cost O(n d min(n, d)); memory about ``8 (8 n d + 3 d r + 40 r^2)`` bytes with r = min(n, d).

    References
    ----------
    .. [1] K.-C. Li, "On principal Hessian directions for data visualization and dimension
       reduction: another application of Stein's lemma", Journal of the American Statistical
       Association, 1992.
    .. [2] R. D. Cook, "Principal Hessian directions revisited", Journal of the American Statistical
       Association, 1998.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlens import PHD
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((400, 5))
    >>> y = X[:, 0] * X[:, 1] + 0.1 * rng.standard_normal(400)
    >>> model = PHD(random_state=0).fit(X, y)
    >>> model.n_directions_
    2
    >>> bool(np.linalg.norm(model.loadings_[:, 2:]) < 0.3)
    True
    """

    _parameters = HESSIAN

    def __init__(
        self,
        *,
        n_directions: int | str = "auto",
        variant: str = "residual",
        categorical: bool | str = "auto",
        shrinkage: float | str = "auto",
        test: str = "auto",
        level: float = 0.05,
        n_permutations: int = 199,
        random_state: Any = None,
    ) -> None:
        self.n_directions = n_directions
        self.variant = variant
        self.categorical = categorical
        self.shrinkage = shrinkage
        self.test = test
        self.level = level
        self.n_permutations = n_permutations
        self.random_state = random_state

    def _candidate(self, data: ReductionData) -> Candidate:
        return MeanHessian(data.responses(), self.variant == "residual")

    def _summed_table(self, data: ReductionData) -> BlockTable:
        return data.response_table()

"""Minimum average variance estimation."""

from __future__ import annotations

from kernlens._parameters import documented
from kernlens.methods.sdr.gradients import GradientDirections
from kernlens.methods.sdr.local_finder import LocalFinder, LocalFit
from kernlens.methods.sdr.minimum_variance import minimum_variance
from kernlens.methods.sdr.parameters import LOCAL
from kernlens.methods.sdr.swaps import with_swaps


@documented
class MAVE(LocalFinder):
    """Minimum average variance estimation: one subspace for local lines everywhere.

    Lines are fitted at many rows to the rows nearby, all of them along the same few directions,
    which are chosen such that the lines leave as little of y as possible [1]_. It needs no
    assumption about how the columns are distributed, finds trends and even functions alike, and is
    the most precise of the classical methods.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    components_ : ndarray of shape (n_directions_, n_features)
        Directions, most important first, for columns in the units of the X passed to `fit`. The
        rows of ``components_ * scale_`` are orthonormal.
        The target rises along every direction, on average.
    component_importances_, feature_importances_ : ndarray
        Shares of the mean squared slopes along the kept directions, and of the columns in them.
    mean_, scale_ : ndarray of shape (n_features,)
        What is taken from the columns, and what they are divided by.
    inputs_ : ndarray of int of shape (n_varying,)
        Columns in use, in an order that does not depend on how they are listed.
    n_directions_ : int
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    With weights p_ij of rows i at anchors j,
    ``sum_j sum_i p_ij (y_i - a_j - d_j . B (x_i - x_j))^2`` is minimised over the lines and over B
    in turn. Weights are those of distances of B x, the refined kernel of the paper, and the
    bandwidth shrinks from half of all rows to about ``max(20, 1.5 d, 0.2 n^(2/3))`` rows. It starts
    from :class:`~kernlens.OPG`. The number of directions is that which predicts held-out rows, with
    a fit for every number.

    Neighbours along a column of two values have the same one, so that lines have no slope there. If
    a column has ten values or fewer, directions of :class:`~kernlens.OPG`, :class:`~kernlens.SIR`
    and :class:`~kernlens.DirectionalRegression` come in, three of them at most, each where lines
    along it predict rows that were left out better by 2 % and by two standard errors.

    Lines are fitted at 500 rows, which are a random sample, to all rows, at most 50,000; all rounds
    but the last see 3000. Cost O(m n d^2) a round with m anchors, by products of matrices; memory
    about ``8 (8 n (d + t) + 8e7 + 3 (k r)^2 + 3 r^2)`` bytes with t targets, k directions and
    r = min(n, d).

    References
    ----------
    .. [1] Y. Xia, H. Tong, W. K. Li and L.-X. Zhu, "An adaptive estimation of dimension reduction
       space", Journal of the Royal Statistical Society B, 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlens import MAVE
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((300, 5))
    >>> y = X[:, 0] + X[:, 1] ** 2 + 0.1 * rng.standard_normal(300)
    >>> model = MAVE(n_directions=2).fit(X, y)
    >>> bool(np.linalg.norm(model.loadings_[:, 2:]) < 0.3)
    True
    """

    _seconds_per_operation = 1e-8
    _parameters = LOCAL
    _nested_directions = False

    def _refined(self, fit: LocalFit, k: int) -> GradientDirections:
        found = minimum_variance(fit.problem, fit.start.directions[:k])
        return with_swaps(fit.problem, found, fit.start) if fit.few_values else found

"""The outer product of gradients."""

from __future__ import annotations

from kernlens._parameters import documented
from kernlens.methods.sdr.gradients import GradientDirections
from kernlens.methods.sdr.local_finder import LocalFinder, LocalFit
from kernlens.methods.sdr.parameters import LOCAL


@documented
class OPG(LocalFinder):
    """Outer product of gradients: principal directions of the slopes of local lines.

    At many rows a line is fitted to the rows nearby; the slopes of all of them span the directions
    along which the mean of y varies [1]_. No assumption is made about how the columns are
    distributed, unlike those of :class:`~kernlens.SIR` and its like. :class:`~kernlens.MAVE`
    refines it.

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
    The first round looks at half of all rows at each anchor, measured by distances of standardised
    columns. Later rounds measure distances along the directions found so far, each in units of its
    root mean square slope [2]_, and look at fewer rows, at last at about ``0.8 n^(2/3)``. A tenth
    of the mean local variance is added to all variances, so that there may be more columns than
    rows nearby; the last rounds add less.

    Lines are fitted at 500 rows, which are a random sample, to all rows, at most 50,000; all rounds
    but the last see 3000. Cost O(m n d^2) a round with m anchors, by products of matrices; memory
    about ``8 (8 n (d + t) + 8e7 + 3 (k r)^2 + 3 r^2)`` bytes with t targets, k directions and
    r = min(n, d).

    References
    ----------
    .. [1] Y. Xia, H. Tong, W. K. Li and L.-X. Zhu, "An adaptive estimation of dimension reduction
       space", Journal of the Royal Statistical Society B, 2002.
    .. [2] M. Hristache, A. Juditsky, J. Polzehl and V. Spokoiny, "Structure adaptive approach for
       dimension reduction", Annals of Statistics, 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlens import OPG
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((300, 5))
    >>> y = X[:, 0] + np.sin(2 * X[:, 1]) + 0.1 * rng.standard_normal(300)
    >>> model = OPG(n_directions=2).fit(X, y)
    >>> bool(np.linalg.norm(model.loadings_[:, 2:]) < 0.3)
    True
    """

    _parameters = LOCAL

    def _refined(self, fit: LocalFit, k: int) -> GradientDirections:
        return GradientDirections(fit.start.directions[:k], fit.start.squares[:k])

"""The directions of RegFeaL and their weights: equations (3.1) and (3.3), steps along them.

    Lambda = R Diag(eta) R^T,   R^T R = I,   sum_a eta_a^(r / (2 - r)) = 1

The shares ``eta_a^(r / (2 - r))`` are what the paper compares with 1/d.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kernlens._array import FloatArray

#: Shares below this are rounded up to it: eta is a power of them and must not vanish.
SMALLEST_SHARE = 1e-12
#: Where r is small, that power is high: the logarithm of eta is kept above minus this.
LARGEST_LOG_UNIT = 300.0


@dataclass(frozen=True)
class WeightedDirections:
    """Orthonormal directions and the shares of the variation allowed along them.

    Attributes
    ----------
    R : ndarray of shape (n_features, n_directions)
        Orthonormal columns; unit vectors for variable selection.
    shares : ndarray of shape (n_directions,)
        Positive, sum 1.
    r : float
        In (0, 2); small values concentrate the shares.
    """

    R: FloatArray
    shares: FloatArray
    r: float

    @classmethod
    def equal(cls, n_features: int, r: float) -> WeightedDirections:
        """All columns alike, where Algorithm 1 starts."""
        return cls(np.eye(n_features), np.full(n_features, 1.0 / n_features), r)

    @property
    def eta(self) -> FloatArray:
        """Weights eta of the directions."""
        values: FloatArray = self.shares ** ((2.0 - self.r) / self.r)
        return values

    def reweighted(self, M: FloatArray, smoothing: float, *, rotate: bool) -> WeightedDirections:
        """The best weights, and with `rotate` the best rotation, for a function with this M_f.

        (3.1) and (3.3) with ``D + smoothing`` for D, so that weights do not vanish.

        Parameters
        ----------
        M : ndarray of shape (n_directions, n_directions)
            M_f in the coordinates ``R^T x``.
        smoothing : float
            Non-negative.
        rotate : bool
            False for variable selection.
        """
        U = np.eye(len(M))
        D = np.diag(M)
        if rotate:
            D, U = np.linalg.eigh(M)
            D, U = D[::-1], U[:, ::-1]
        D = np.maximum(D, 0.0) + smoothing
        if not D.max() > 0.0:
            return self
        shares = (D / D.max()) ** (self.r / 2.0)
        return WeightedDirections(self.R @ U, _normalized(shares, self.r), self.r)

    def beyond(self, target: WeightedDirections, factor: float) -> WeightedDirections:
        """Go `factor` times as far as `target`, along the straight line of log Lambda."""
        turn = self.R.T @ target.R
        here, there = np.log(self.shares), (turn * np.log(target.shares)) @ turn.T
        step = factor * (there - np.diag(here))
        if np.array_equal(self.R, target.R):
            return replace(self, shares=_normalized(_relative_exp(here + np.diag(step)), self.r))
        values, vectors = np.linalg.eigh(np.diag(here) + 0.5 * (step + step.T))
        order = np.argsort(-values, kind="stable")
        shares = _normalized(_relative_exp(values[order]), self.r)
        return WeightedDirections(self.R @ vectors[:, order], shares, self.r)

    def turned(self, tangent: FloatArray) -> WeightedDirections:
        """Move the directions by `tangent` (n_features, n_directions), orthonormal again."""
        Q, upper = np.linalg.qr(self.R + tangent)
        return replace(self, R=Q * np.where(np.diag(upper) < 0.0, -1.0, 1.0))

    def leading(self, n_directions: int) -> WeightedDirections:
        """The directions with the largest shares, largest first."""
        order = np.argsort(-self.shares, kind="stable")[:n_directions]
        shares = _normalized(self.shares[order], self.r)
        return WeightedDirections(self.R[:, order], shares, self.r)

    def without_small(self, smallest: float) -> WeightedDirections:
        """The directions with at least this share, largest first; the largest in any case."""
        return self.leading(max(1, int(np.sum(self.shares >= smallest))))

    def relevant(self, n_features: int) -> int:
        """The paper's estimate of the dimension: the number of shares of at least 1/d."""
        # The shares of a function of all columns alike are 1/d up to rounding.
        return max(1, int(np.sum(self.shares >= (1.0 - 1e-9) / n_features)))

    def projection(self) -> FloatArray:
        """The relevant directions as rows (n_relevant, n_features), sized by their shares."""
        kept = self.leading(self.relevant(len(self.R)))
        weighted: FloatArray = (kept.R * (kept.shares / kept.shares.max())).T
        return weighted


def _normalized(shares: FloatArray, r: float) -> FloatArray:
    smallest = max(SMALLEST_SHARE, float(np.exp(-LARGEST_LOG_UNIT * r / (2.0 - r))))
    shares = np.maximum(shares / shares.sum(), smallest)
    result: FloatArray = shares / shares.sum()
    return result


def _relative_exp(logs: FloatArray) -> FloatArray:
    values: FloatArray = np.exp(logs - logs.max())
    return values

"""In which directions gradients are measured: all alike, or those in which the data vary nearby.

Data near a curve or a surface say nothing about how a function varies across it, so that a penalty
on the whole gradient mostly restrains what does not matter. The differences x_j - x_i to the
nearest other points span the directions that matter at x_i,

    |T_i grad f(x_i)|^2 = tau^2 sum_j ((x_j - x_i) . grad f(x_i))^2,

with tau such that the mean of |T_i|^2 is d, that of the identity: where points fill the space
evenly, both measures agree on average.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from kernlens._array import FloatArray
from kernlens._execution import effective_n_jobs

#: Largest number of points among which neighbours are looked for, so that the search grows linearly
#: with n.
MOST_REFERENCES = 5000
#: Points that are nearer are one.
SAME_PLACE = 1e-6


@dataclass(frozen=True)
class LocalFrames:
    """Frames made of differences to neighbours.

    Attributes
    ----------
    points : ndarray of shape (n, d)
    neighbors : ndarray of shape (n, k)
        Numbers of the nearest other points.
    scale : float
        The factor tau.
    """

    points: FloatArray
    neighbors: NDArray[np.integer]
    scale: float

    @classmethod
    def of(
        cls, points: FloatArray, weights: FloatArray, n_neighbors: int | None, n_jobs: int | None
    ) -> LocalFrames | None:
        """Find neighbours; None, all directions alike, if none are asked for or there are none.

        Parameters
        ----------
        points : ndarray of shape (n, d)
            Distinct.
        weights : ndarray of shape (n,)
            Positive; points count by them in the mean that fixes the scale.
        n_neighbors : int or None
            The number k; fewer if there are fewer points.
        n_jobs : int or None
        """
        if n_neighbors is None:
            return None
        n = len(points)
        k = min(n_neighbors, n - 1, MOST_REFERENCES - 1)
        if k < 1:
            return None
        # More threads than cores are of no use here, and joblib starts as many as it is told.
        n_threads = min(effective_n_jobs(n_jobs), effective_n_jobs(-1))
        search = NearestNeighbors(n_neighbors=k + 1, n_jobs=n_threads)
        search.fit(points[:MOST_REFERENCES])
        found = search.kneighbors(points, return_distance=False)
        # A point that is its own neighbour gives way; others have one neighbour too many.
        own = found == np.arange(n)[:, None]
        own[~own.any(axis=1), -1] = True
        neighbors = found[~own].reshape(n, k)
        squares = np.zeros(n)
        for j in range(k):
            squares += np.square(points[neighbors[:, j]] - points).sum(axis=1)
        mean = float(np.average(squares, weights=weights))
        scale = np.sqrt(points.shape[1] / mean) if mean > 0.0 else 1.0
        return cls(points, neighbors, scale)

    def at(self, X: FloatArray) -> FloatArray:
        """Frames (m, min(k, d), d) of any points, by their nearest neighbours among the references.

        A neighbour at the very place of a point is the point itself.
        """
        references = self.points[:MOST_REFERENCES]
        k = self.neighbors.shape[1]
        search = NearestNeighbors(n_neighbors=k + 1, n_jobs=1).fit(references)
        found = search.kneighbors(X, return_distance=False)
        differences = references[found] - X[:, None]
        # The digits of references are fewer.
        own = np.abs(differences[:, 0]).max(axis=1) <= SAME_PLACE * (1.0 + np.abs(X).max(axis=1))
        nearest = np.where(own[:, None, None], differences[:, 1:], differences[:, :-1])
        return self._as_frames(nearest)

    @property
    def references(self) -> LocalFrames:
        """The same with no more points than :meth:`at` needs."""
        return replace(self, points=self.points[:MOST_REFERENCES], neighbors=self.neighbors[:1])

    @property
    def n_directions(self) -> int:
        """Number of rows of a frame."""
        return min(self.neighbors.shape[1], self.points.shape[1])

    def take(self, rows: slice | NDArray[np.integer]) -> FloatArray:
        """Frames (m, min(k, d), d) of some of the points."""
        return self._as_frames(self.points[self.neighbors[rows]] - self.points[rows][:, None])

    def _as_frames(self, differences: FloatArray) -> FloatArray:
        frames: FloatArray = differences * self.scale
        if frames.shape[1] > frames.shape[2]:
            # As few rows as columns, with the same T^T T.
            frames = np.asarray(np.linalg.qr(frames, mode="r"))
        return frames

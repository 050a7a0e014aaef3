"""The Lasso from normal equations, so that its cost does not depend on the number of rows.

    min_c  (1/Wt) sum_i w_i |F c - y|^2 + penalty |c|_1      (Algorithms 2 and 5)

The solution is piecewise linear in the penalty: least angle regression follows it from zero on,
exactly, and all penalties on the way are solved with the smallest. (Coordinate descent would need
tens of thousands of sweeps for features as alike as these.) Of parallel features the longest does
the work of all, and a ridge penalty far below what matters keeps features that depend on each other
from throwing it off its path; a dual point tells whether it did.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lars_path_gram

from kernlens._array import FloatArray
from kernlens.linalg.ridge_system import RidgeSystem

#: Features of a larger cosine are parallel, and those of a smaller relative length are zero.
PARALLEL, ZERO = 1.0 - 1e-9, 1e-9
#: Share of the objective by which it may be above its minimum.
GAP = 1e-5
#: Steps of a path; every one takes in a feature or drops one.
STEPS_PER_FEATURE = 8
#: Ridge penalty, in units of the features.
RIDGE = 1e-11


@dataclass(frozen=True)
class LassoProblem:
    """The Lasso with given normal equations, in units where features and targets have size one.

    Attributes
    ----------
    gram : ndarray of shape (k, k)
        Products of the features that are kept.
    moments : ndarray of shape (n_targets, k)
    kept : ndarray of shape (k,)
        Numbers of the features that are kept.
    n_features : int
        Number T of all features.
    feature_size : float
        Root of the mean square of a feature, centred if there is a constant; 1 if all are zero.
    target_sizes : ndarray of shape (n_targets,)
        Sizes of the targets; 1 where they are zero.
    """

    gram: FloatArray
    moments: FloatArray
    kept: NDArray[np.integer]
    n_features: int
    feature_size: float
    target_sizes: FloatArray

    @classmethod
    def of(cls, system: RidgeSystem) -> LassoProblem:
        """From the system of the features themselves."""
        total, n_features = system.total, len(system.gram)
        feature_size = _size(float(np.trace(system.gram)) / (total * n_features))
        target_sizes = np.array([_size(square / total) for square in system.target_squares])
        kept = _without_parallels(system.gram)
        moments = system.moments[:, kept] / (total * feature_size * target_sizes[:, None])
        gram = system.gram[np.ix_(kept, kept)] / (total * feature_size**2)
        return cls(gram, moments, kept, n_features, feature_size, target_sizes)

    def solve(self, penalty: float) -> tuple[FloatArray, bool]:
        """Coefficients (n_targets, T), and whether they are proved to be optimal."""
        return self.path([penalty])[0]

    def path(self, penalties: list[float]) -> list[tuple[FloatArray, bool]]:
        """Coefficients (n_targets, T) for every penalty, and whether they are proved optimal.

        O(T k^2) for k features in use at the smallest one.
        """
        units = self.feature_size * self.target_sizes
        # Half of it belongs to half of the squares.
        bounds = 0.5 * np.array(penalties)[:, None] / units
        c = np.zeros((len(penalties), len(self.moments), self.n_features))
        optimal = np.ones(len(penalties), dtype=bool)
        for target, moments in enumerate(self.moments):
            followed = self._follow(moments, bounds[:, target])
            for place, bound in enumerate(bounds[:, target]):
                optimal[place] &= self._gap(followed[place], target, bound) <= GAP
            scale = self.target_sizes[target] / self.feature_size
            c[:, target, self.kept] = followed * scale
        return list(zip(c, optimal.tolist(), strict=True))

    def _follow(self, moments: FloatArray, bounds: FloatArray) -> FloatArray:
        """Coefficients (n_bounds, T) on the path of least angle regression."""
        if not moments.any():
            return np.zeros((len(bounds), len(moments)))
        # Its tolerances are absolute: the smallest bound is one.
        unit = float(bounds.min())
        with warnings.catch_warnings():
            # What comes of it is checked.
            warnings.simplefilter("ignore", ConvergenceWarning)
            knots, _, corners = lars_path_gram(
                moments / unit,
                self.gram + RIDGE * np.eye(len(moments)),
                n_samples=1,
                alpha_min=1.0,
                method="lasso",
                max_iter=STEPS_PER_FEATURE * len(moments),
            )
        # Knots decrease, and before the first one all is zero.
        paths = [np.interp(-bounds / unit, -knots, path) for path in corners]
        return np.array(paths).T * unit

    def _gap(self, c: FloatArray, target: int, bound: float) -> float:
        """Relative distance to the value of a dual point: what is left, short enough for it."""
        moments = self.moments[target]
        slopes = moments - self.gram @ c
        square = 1.0 if moments.any() else 0.0
        inside = float(moments @ c)
        left = max(square - inside - float(slopes @ c), 0.0)
        value = 0.5 * left + bound * float(np.abs(c).sum())
        share = bound / max(float(np.abs(slopes).max(initial=0.0)), bound)
        dual = share * (square - inside) - 0.5 * share**2 * left
        return (value - dual) / value if value > 0.0 else 0.0


def _without_parallels(gram: FloatArray) -> NDArray[np.integer]:
    """Numbers of the features that are not zero, and of parallel ones of the longest."""
    lengths = np.sqrt(np.maximum(np.diagonal(gram), 0.0))
    order = np.argsort(-lengths, kind="stable")
    order = order[lengths[order] > ZERO * lengths.max()]
    cosines = np.abs(gram[np.ix_(order, order)]) / np.outer(lengths[order], lengths[order])
    return np.sort(order[~np.any(np.triu(cosines, 1) > PARALLEL, axis=0)])


def _size(mean_square: float) -> float:
    return float(np.sqrt(mean_square)) if mean_square > 0.0 else 1.0

"""How many directions predict: small kernel ridges on the first k coordinates, scored held out.

A share of the importance cannot tell noise from signal; what predicts rows that neither directions
nor functions have seen can. Directions are learned on parts of the rows. For every k a kernel ridge
on the first k coordinates of a part predicts the other rows, and the smallest k is taken whose
errors are as good as the best ones: the paired differences of squared errors do not show, at a
one-sided level of 5 %, that the best number is better. Where it takes a quarter of the error away,
one standard error is enough.

Two further opinions were tried and left out. Agreement of the first k directions of all rows with
those of the parts does not tell signal from noise where a family bends its directions along the
shape of X: those agree as well. Functions on directions of all rows flatter directions that have
seen the rows they are scored on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve

from kernlens._array import FloatArray
from kernlens._execution import single_threaded_blas
from kernlens._rows import CanonicalRows
from kernlens.kernels.radial import make_radial_kernel
from kernlens.linalg.raised_cholesky import raised_cholesky
from kernlens.linalg.ridge_spectrum import RidgeSpectrum
from kernlens.linalg.triangular import divide_by_upper

#: Widths of the kernel, in units of the root mean square distance over the root of 2.
WIDTHS = (0.7, 1.5, 4.0)
#: Values of alpha, in units of the mean diagonal of the centred kernel over the rows.
ALPHAS = tuple(10.0 ** np.arange(-3.0, 2.1, 0.5))
#: Rows that functions are centred at.
N_CENTERS = 120
#: More directions are not looked for.
MOST_DIRECTIONS = 10
#: Numbers of directions in a row that may bring nothing before the search ends.
PATIENCE = 2
#: Standard errors of the paired differences that a number of directions may be worse than the best
#: one: the one-sided test of 5 %. One standard error, the usual rule, counted imprecise directions
#: and noise as well, and two lost weak directions.
AS_GOOD = 1.645
#: One is enough where the best number leaves less than this share of the error: a gain that large
#: may rest on few rows, which are most of the spread as well.
LARGE_GAIN, AS_GOOD_BUT_LARGE = 0.75, 1.0
#: Standard errors that the constant must be worse to say that anything predicts.
CLEARLY_WORSE = 2.0
#: Share of the constant's error below which something predicts, however few rows it rests on.
HALF = 0.5
#: Share of what the best number explains that further directions must add, or of the error that it
#: leaves if that is less: imprecise directions help each other a little.
LEAST_GAIN = 0.02
LEAST_GAIN_OF_ERROR = 0.5
#: Share of what the best number explains that they must add in any case. Without noise every number
#: has an error of its own, that of directions learned on fewer rows, and half of it is next to
#: nothing: a plane was counted as many directions as there were columns.
LEAST_GAIN_AT_ALL = 0.001


@dataclass(frozen=True)
class LearnedOnPart:
    """Directions learned on some rows, and rows to score them on.

    Attributes
    ----------
    train, test : CanonicalRows
    directions : ndarray of shape (r, n_inputs)
        Orthonormal rows, most important first.
    importances : ndarray of shape (r,)
        Non-negative, decreasing.
    """

    train: CanonicalRows
    test: CanonicalRows
    directions: FloatArray
    importances: FloatArray

    def squared_errors(self, k: int) -> FloatArray:
        """Errors of the test rows, predicted from the first k coordinates, (n_test,)."""
        if k == 0:
            mean = self.train.y @ self.train.weights / self.train.weights.sum()
            predicted = np.broadcast_to(mean[:, None], self.test.y.shape)
        else:
            ridges = [self._ridge(scale, width) for scale in self._scales(k) for width in WIDTHS]
            _, predicted = min([*ridges, self._linear_ridge(k)], key=lambda ridge: ridge[0])
        errors: FloatArray = np.square(self.test.y - predicted).sum(axis=0)
        return errors

    def _scales(self, k: int) -> list[FloatArray]:
        """Factors of the first k coordinates: all alike, or by their importance."""
        spread = np.sqrt(
            np.average(
                np.square(self._coordinates(self.train, k)), axis=0, weights=self.train.weights
            )
        )
        alike = 1.0 / np.where(spread > 0.0, spread, 1.0)
        if k == 1 or self.importances[0] == 0.0:
            return [alike]
        return [alike, alike * np.sqrt(self.importances[:k] / self.importances[0])]

    def _coordinates(self, rows: CanonicalRows, k: int) -> FloatArray:
        return rows.X.astype(np.float64, copy=False) @ self.directions[:k].T

    def _ridge(self, scale: FloatArray, width: float) -> tuple[float, FloatArray]:
        """Leave-one-out loss of the best alpha on the train rows, and its predictions."""
        train = self._coordinates(self.train, len(scale)) * scale
        test = self._coordinates(self.test, len(scale)) * scale
        unit = width * float(np.sqrt(np.mean(np.var(train, axis=0)) * len(scale)) or 1.0)
        return self._on_features(*_nystrom_features(train / unit, test / unit))

    def _linear_ridge(self, k: int) -> tuple[float, FloatArray]:
        """The same for linear functions: a kernel sees nothing of what far rows have in common."""
        scale = self._scales(k)[0]
        return self._on_features(
            self._coordinates(self.train, k) * scale, self._coordinates(self.test, k) * scale
        )

    def _on_features(self, features: FloatArray, at_test: FloatArray) -> tuple[float, FloatArray]:
        spectrum = RidgeSpectrum.of_features(features, self.train.y, self.train.weights)
        alphas = [alpha * spectrum.unit / len(features) for alpha in ALPHAS]
        losses = [spectrum.loss(alpha) for alpha in alphas]
        best = int(np.argmin(losses))
        return losses[best], _predictions(features, at_test, self.train, alphas[best])


@dataclass(frozen=True)
class DirectionCount:
    """How many directions predict.

    Attributes
    ----------
    number : int
        0 if nothing predicts better than the constant.
    losses : ndarray of shape (n_tried,)
        Mean squared error of held-out rows with the first 0, 1, 2, ... directions.
    """

    number: int
    losses: FloatArray


def count_directions(parts: Sequence[LearnedOnPart]) -> DirectionCount:
    """Choose the number of directions by what predicts held-out rows."""
    # Hundreds of small systems, between which threads of BLAS would spin.
    with single_threaded_blas():
        return _count(parts)


def _count(parts: Sequence[LearnedOnPart]) -> DirectionCount:
    weights = np.concatenate([part.test.weights for part in parts])
    most = min(MOST_DIRECTIONS, *(len(part.directions) for part in parts))
    errors: list[FloatArray] = []
    best = 0
    for k in range(most + 1):
        errors.append(np.concatenate([part.squared_errors(k) for part in parts]))
        best = k if _mean(errors[k], weights) < _mean(errors[best], weights) else best
        if k >= best + PATIENCE and k > PATIENCE:
            break
    losses = np.array([_mean(error, weights) for error in errors])
    number = next(k for k in range(best + 1) if _as_good(errors, losses, weights, k, best))
    return DirectionCount(number, losses)


def _as_good(
    errors: list[FloatArray], losses: FloatArray, weights: FloatArray, k: int, best: int
) -> bool:
    worse = errors[k] - errors[best]
    shares = weights / weights.sum()
    apart = shares * (worse - worse @ shares)
    # Squares of the ratios: those of huge errors overflow.
    largest = float(np.abs(apart).max()) or 1.0
    spread = largest * float(np.sqrt(np.sum(np.square(apart / largest))))
    if k == 0:
        # One far row may be all that is predicted, and all of the spread as well.
        explained = losses[best] < HALF * losses[0]
        return bool(worse @ shares <= CLEARLY_WORSE * spread) and not explained
    explained_error = losses[0] - losses[best]
    little = min(LEAST_GAIN * explained_error, LEAST_GAIN_OF_ERROR * losses[best])
    little = max(little, LEAST_GAIN_AT_ALL * explained_error)
    large = losses[best] < LARGE_GAIN * losses[k]
    allowed = (AS_GOOD_BUT_LARGE if large else AS_GOOD) * spread
    return bool(worse @ shares <= max(allowed, little))


def _mean(values: FloatArray, weights: FloatArray) -> float:
    return float(np.average(values, weights=weights))


def _nystrom_features(train: FloatArray, test: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Gaussian features of both, centred at the first train rows, which are a random sample."""
    kernel, centers = make_radial_kernel("gaussian"), train[:N_CENTERS]
    among = kernel.matrix(centers, centers)
    root, _ = raised_cholesky(among, 1e-8, 1e-8)
    features, at_test = (
        divide_by_upper(kernel.matrix(rows, centers), root) for rows in (train, test)
    )
    return features, at_test


def _predictions(
    features: FloatArray, at_test: FloatArray, train: CanonicalRows, alpha: float
) -> FloatArray:
    total = train.weights.sum()
    mean, offset = train.weights @ features / total, train.y @ train.weights / total
    A = features - mean
    gram = (A.T * train.weights) @ A
    gram.flat[:: len(gram) + 1] += alpha * total
    moments = A.T @ (train.weights * (train.y - offset[:, None])).T
    factor, _ = raised_cholesky(gram, 0.0, 1e-15 * float(gram.diagonal().max()))
    coefficients = cho_solve((factor, False), moments, check_finite=False)
    return ((at_test - mean) @ coefficients).T + offset[:, None]

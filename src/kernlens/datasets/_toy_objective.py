"""The two-variable objective of the HKRR paper: a picture of VarPro against alternating steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from kernlens._array import FloatArray
from kernlens._validation import check_choice

Curve = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class ToyObjective:
    r"""Two-variable objective of Appendix D.2 of the HKRR paper.

    .. math:: f(x, y) = (x - c(y))^2 + \cos(\pi y) + (1 - y)^2 + 1

    It is strongly convex in x, with minimiser c(y), and has local minima in y: x plays the part of
    the coefficients and y that of the matrix B. The only global minimum is 0, at (c(1), 1).

    Attributes
    ----------
    curve, curve_derivative : callable
        c and its derivative.
    """

    curve: Curve
    curve_derivative: Curve

    def value(self, x: ArrayLike, y: ArrayLike) -> FloatArray:
        """f(x, y), with numpy broadcasting."""
        y = np.asarray(y, dtype=np.float64)
        return (np.asarray(x) - self.curve(y)) ** 2 + self.reduced_value(y)

    def gradient(self, x: ArrayLike, y: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Partial derivatives of f in x and in y."""
        y = np.asarray(y, dtype=np.float64)
        gap = np.asarray(x) - self.curve(y)
        along_y = self.reduced_derivative(y) - 2 * gap * self.curve_derivative(y)
        return 2 * gap, along_y

    def best_x(self, y: ArrayLike) -> FloatArray:
        """Minimiser of f(., y), which VarPro substitutes for x."""
        return self.curve(np.asarray(y, dtype=np.float64))

    def reduced_value(self, y: ArrayLike) -> FloatArray:
        """min_x f(x, y), the objective that VarPro minimises."""
        y = np.asarray(y, dtype=np.float64)
        return np.cos(np.pi * y) + (1 - y) ** 2 + 1

    def reduced_derivative(self, y: ArrayLike) -> FloatArray:
        """Derivative of :meth:`reduced_value`."""
        y = np.asarray(y, dtype=np.float64)
        return -np.pi * np.sin(np.pi * y) - 2 * (1 - y)

    @property
    def minimizer(self) -> tuple[float, float]:
        """The global minimiser (x, y) = (c(1), 1), where f = 0."""
        return float(self.best_x(1.0)), 1.0


def make_alternating_toy(curve: str = "square") -> ToyObjective:
    r"""Two-variable objective of the HKRR paper (Figures 1b, 1c and Appendix D.2).

    Parameters
    ----------
    curve : {"square", "sigmoid"}
        c(y) = y^2 (Figures 3 and 4) or c(y) = 1 / (1 + exp(-y)) (Figures 5 and 6).

    Returns
    -------
    ToyObjective
    """
    check_choice("curve", curve, tuple(_CURVES))
    return ToyObjective(*_CURVES[curve])


def _square(y: FloatArray) -> FloatArray:
    return y**2


def _square_derivative(y: FloatArray) -> FloatArray:
    return 2 * y


def _sigmoid_derivative(y: FloatArray) -> FloatArray:
    return expit(y) * expit(-y)


_CURVES: dict[str, tuple[Curve, Curve]] = {
    "square": (_square, _square_derivative),
    "sigmoid": (expit, _sigmoid_derivative),
}

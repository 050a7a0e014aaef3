"""What a solver may ask of a penalty on the particles."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.floating[Any]]


class FactoredForm(Protocol):
    """A penalty of factors (A, B) of W that bounds the penalty of W, and meets it when balanced."""

    @property
    def factorization(self) -> Any:
        """``split(W) -> (A, B)`` and ``join(A, B) -> W``."""
        ...

    def value(self, A: FloatArray, B: FloatArray) -> float:
        """Return the penalty of the factors."""
        ...

    def gradients(
        self, A: FloatArray, B: FloatArray, gradient: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the gradients of the penalty plus a function of W with the given gradient."""
        ...


@runtime_checkable
class Penalty(Protocol):
    """Penalty ``strength * Omega(W)`` on particles ``W`` of shape (n_particles, n_features).

    One particle per row: the rows ``W^(a)`` of the paper are our columns.
    """

    @property
    def strength(self) -> float:
        """Factor in front of Omega."""
        ...

    def value(self, W: FloatArray) -> float:
        """Return ``strength * Omega(W)``."""
        ...

    def prox(self, W: FloatArray, step: float) -> FloatArray:
        """Return a global minimiser of ``1/2 |W - U|_F^2 + step * strength * Omega(U)``.

        A new array of W's shape; float32 stays float32, every other dtype gives float64.
        ``step = 0`` gives a copy of W.
        """
        ...

    def factored(self, n_particles: int) -> FactoredForm:
        """Return the same penalty as a smooth function of factors of W."""
        ...

    def directions(self, W: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the directions of the input space that the particles use.

        Returns
        -------
        components : ndarray of shape (r, n_features)
            Orthonormal rows, most important first; ties keep a fixed order.
        importances : ndarray of shape (r,)
            Non-negative, not normalised, zeros kept.
        """
        ...

"""The fitted function, ``f_t(x) = sum_m a_tm B_m(x)`` with products of hinges B_m."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kernlens._array import FloatArray
from kernlens._execution import map_blocks, split_range
from kernlens.methods.mars.terms import Terms

#: Numbers of a block of values.
BLOCK = 2**20


@dataclass(frozen=True)
class SplineFunction:
    """A sum of products of hinges.

    Attributes
    ----------
    terms : Terms
    coef : ndarray of shape (n_targets, n_terms)
    n_jobs : int or None
    """

    kind: ClassVar[str] = "splines"

    terms: Terms
    coef: FloatArray
    n_jobs: int | None = None

    def decision(self, X: FloatArray) -> FloatArray:
        """Values at rows (n_rows, n_inputs), (n_targets, n_rows)."""
        blocks = split_range(len(X), max(1, BLOCK // len(self.terms)))
        work = float(len(X)) * len(self.terms)
        parts = map_blocks(
            lambda rows: self.coef @ self.terms.values(X[rows]).T,
            blocks,
            n_jobs=self.n_jobs,
            work=work,
        )
        return np.concatenate(parts, axis=1)

    def gradient(self, X: FloatArray) -> FloatArray:
        """Gradients, (n_targets, n_rows, n_inputs); at a knot the mean of both sides."""
        return self.terms.gradient(X, self.coef)

    def arrays(self) -> dict[str, Any]:
        """Terms and coefficients, for inputs in the order of `inputs_`."""
        return {
            "term_inputs_": self.terms.inputs,
            "knots_": self.terms.knots,
            "signs_": self.terms.signs,
            "coef_": self.coef,
        }

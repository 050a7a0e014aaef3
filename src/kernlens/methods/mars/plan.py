"""What is asked of a fit, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass

from kernlens._array import FloatArray, IntArray
from kernlens.base.learner import Learned


@dataclass(frozen=True)
class SplinePlan:
    """What is asked of a fit.

    Attributes
    ----------
    max_terms : int
        Terms of the forward pass, with the constant.
    degree : int
        Factors of a term at most.
    penalty : float
        Parameters that a knot counts as.
    threshold : float
        The forward pass ends where a step explains less of the variance.
    minspan, endspan : int or None
        None for Friedman's formulas.
    fast_k : int or None
        Parents that a step looks at; None for all of them.
    linear : tuple of bool or "auto", one per input
        Whether an input enters as a line.
    groups : tuple of frozenset of int, or None
        Inputs that may be multiplied; None for all.
    new_input_penalty : float
        What a new input lowers the error by is divided by 1 plus this.
    pruning : "gcv", "cv", "exhaustive", int or None
        How many terms stay.
    """

    max_terms: int
    degree: int
    penalty: float
    threshold: float
    minspan: int | None
    endspan: int | None
    fast_k: int | None
    linear: tuple[bool | str, ...]
    groups: tuple[frozenset[int], ...] | None = None
    new_input_penalty: float = 0.0
    pruning: str | int | None = "gcv"

    def allows(self, inputs: set[int]) -> bool:
        """Whether a term may be a product of these inputs."""
        if len(inputs) == 1 or self.groups is None:
            return True
        return any(inputs <= group for group in self.groups)


@dataclass(frozen=True, kw_only=True)
class LearnedSplines(Learned):
    """The outcome of a fit.

    Attributes
    ----------
    gcv_path : ndarray of shape (n_sizes,)
        Generalised cross-validation error of the best subset of 1, 2, ... terms along the pruning.
    rss_path : ndarray of shape (n_sizes,)
        Their shares of the variance that is left.
    n_subsets : ndarray of int of shape (n_inputs,)
        Subsets up to the chosen one that use an input.
    gcv_drops, rss_drops : ndarray of shape (n_inputs,)
        What these lower the error by, and the squared error.
    cv_path : ndarray of shape (n_sizes,) or None
        Mean squared errors of held-out rows, where these chose the size.
    """

    gcv_path: FloatArray
    rss_path: FloatArray
    n_subsets: IntArray
    gcv_drops: FloatArray
    rss_drops: FloatArray
    cv_path: FloatArray | None = None

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
    linear : bool or "auto"
        Whether columns enter as lines.
    """

    max_terms: int
    degree: int
    penalty: float
    threshold: float
    minspan: int | None
    endspan: int | None
    fast_k: int | None
    linear: bool | str


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
    gcv_drops : ndarray of shape (n_inputs,)
        What these lower the error by.
    """

    gcv_path: FloatArray
    rss_path: FloatArray
    n_subsets: IntArray
    gcv_drops: FloatArray

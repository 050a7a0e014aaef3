"""Targets as every learner sees them, and predictions in the units of the user again."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kernlens._array import FloatArray
from kernlens.base.columns import center_and_scale
from kernlens.fits.held_out import Bounds, clip_decision


@dataclass(frozen=True)
class Targets:
    """Targets are used as ``(y - mean) / scale``; predictions may be kept within bounds.

    Attributes
    ----------
    mean, scale : ndarray of shape (n_targets,)
        Zero and one if targets are used as they are.
    bounds : tuple of two ndarray of shape (n_targets,), or None
        Lowest and highest prediction, in the units of the user.
    """

    mean: FloatArray
    scale: FloatArray
    bounds: Bounds | None = None

    @classmethod
    def as_they_are(cls, n_targets: int) -> Targets:
        """Targets in their own units, without bounds."""
        return cls(np.zeros(n_targets), np.ones(n_targets))

    @classmethod
    def standardized(cls, y: FloatArray, weights: FloatArray) -> Targets:
        """Every target counts alike, whatever its unit, and any unit gives the same fit.

        Parameters
        ----------
        y : ndarray of shape (n_targets, n_samples)
        weights : ndarray of shape (n_samples,)
        """
        return cls(*center_and_scale(y.T, weights, True))

    def within(self, low: FloatArray, high: FloatArray) -> Targets:
        """The same with predictions kept within bounds (n_targets,), in the units of the user."""
        return replace(self, bounds=(low, high))

    def truncated(self, truncate: float | str | None, low: FloatArray, high: FloatArray) -> Targets:
        """The same with the bounds that an argument `truncate` asks for.

        Parameters
        ----------
        truncate : "auto", float or None
            The range of the targets, ``[-M, M]`` for a number M, or none.
        low, high : ndarray of shape (n_targets,)
            Range of the targets, in the units of the user.
        """
        if truncate is None:
            return self
        if isinstance(truncate, str):
            return self.within(low, high)
        largest = np.full(len(low), float(truncate))
        return self.within(-largest, largest)

    def of_rest(self, whole: Targets, offset: FloatArray) -> Targets:
        """In the units of the user, where this is of what a line leaves of targets in other units.

        Parameters
        ----------
        whole : Targets
            Units of what the line was taken off.
        offset : ndarray of shape (n_targets,)
            The constant of the line, in these units.
        """
        mean, scale = whole.mean + whole.scale * (self.mean + offset), whole.scale * self.scale
        if self.bounds is None:
            return Targets(mean, scale)
        low, high = (whole.mean + whole.scale * (bound + offset) for bound in self.bounds)
        return Targets(mean, scale, (low, high))

    @property
    def inner_bounds(self) -> Bounds | None:
        """Bounds in the units of the fit."""
        if self.bounds is None:
            return None
        # A bound far beyond all targets may become infinite, which is none.
        with np.errstate(over="ignore"):
            low, high = ((bound - self.mean) / self.scale for bound in self.bounds)
        return low, high

    def apply(self, y: FloatArray) -> FloatArray:
        """Return targets (n_targets, n_samples) in the units of the fit."""
        return (y - self.mean[:, None]) / self.scale[:, None]

    def restore(self, decision: FloatArray) -> FloatArray:
        """Return decision values (n_targets, n_samples) in the units of the user, within bounds."""
        return clip_decision(self._in_units(decision), self.bounds)

    def gradient(self, decision: FloatArray, slopes: FloatArray) -> FloatArray:
        """Derivatives of what :meth:`restore` returns: zero where a bound cuts it off.

        Parameters
        ----------
        decision : ndarray of shape (n_targets, n_samples)
            In the units of the fit.
        slopes : ndarray of shape (n_targets, n_samples, n_features)
            Its derivatives.
        """
        scaled = slopes * self.scale[:, None, None]
        if self.bounds is None:
            return scaled
        values = self._in_units(decision)
        low, high = self.bounds
        inside = (values >= low[:, None]) & (values <= high[:, None])
        return scaled * inside[..., None]

    def _in_units(self, decision: FloatArray) -> FloatArray:
        return decision * self.scale[:, None] + self.mean[:, None]

"""The five penalties of BKerNN, section 2.5, on W of shape (n_particles = m, n_features = d).

The proximal operators are those of Lemma 9 and Appendix A.3.3, corrected where the docstrings say.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from kernlens._validation import check_non_negative
from kernlens.penalties.composition import ComposedPenalty, Composition
from kernlens.penalties.contract import FloatArray
from kernlens.penalties.directions import coordinate_directions, principal_directions
from kernlens.penalties.groupings import ENTRIES, PARTICLES, SINGULAR_VALUES, VARIABLES, Grouping
from kernlens.penalties.scalar import AbsoluteValue, Logarithm

_NORM_GROUPINGS: dict[str, Grouping] = {"l2": PARTICLES, "l1": ENTRIES}


@dataclass(frozen=True)
class BasicPenalty(ComposedPenalty):
    """Omega(W) = 1/(2m) sum_j |w_j|: few non-zero particles.

    Parameters
    ----------
    norm : {"l2", "l1"}
        Norm of a particle. Prox: soft threshold of each |w_j|_2, or of each entry, at
        step * strength / (2m) (Lemma 9, item 1; the paper leaves the norm open).
    strength : float
        Factor in front of Omega.
    """

    norm: str = "l2"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.norm not in _NORM_GROUPINGS:
            raise ValueError(f"norm must be one of {sorted(_NORM_GROUPINGS)}, got {self.norm!r}.")

    def composition(self, n_particles: int) -> Composition:
        return Composition(0.5 / n_particles, _NORM_GROUPINGS[self.norm], AbsoluteValue())

    def directions(self, W: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the right singular vectors (r, d) and singular values / sqrt(m) (r,)."""
        return principal_directions(W)


@dataclass(frozen=True)
class VariablePenalty(ComposedPenalty):
    """Omega(W) = 1/(2 sqrt m) sum_a |W[:, a]|_2: few variables, a group lasso on the columns.

    Prox: soft threshold of the d column norms at step * strength / (2 sqrt m) (Lemma 9, item 2).
    Section 2.5 prints the sum up to min(m, d); it runs up to d.
    """

    def composition(self, n_particles: int) -> Composition:
        return Composition(0.5 / math.sqrt(n_particles), VARIABLES, AbsoluteValue())

    def directions(self, W: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return unit coordinate vectors (d, d) by decreasing column norm / sqrt(m) (d,)."""
        return coordinate_directions(W)


@dataclass(frozen=True)
class FeaturePenalty(ComposedPenalty):
    """Omega(W) = 1/2 tr((1/m sum_j w_j w_j^T)^(1/2)) = 1/(2 sqrt m) |W|_*: low rank.

    Prox: soft threshold of the singular values at step * strength / (2 sqrt m) (Lemma 9, item 3).
    """

    def composition(self, n_particles: int) -> Composition:
        return Composition(0.5 / math.sqrt(n_particles), SINGULAR_VALUES, AbsoluteValue())

    def directions(self, W: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the right singular vectors (r, d) and singular values / sqrt(m) (r,)."""
        return principal_directions(W)


@dataclass(frozen=True)
class ConcaveVariablePenalty(ComposedPenalty):
    """Omega(W) = 1/(2s) sum_a log(1 + s |W[:, a]|_2 / sqrt m): few variables, little shrinkage.

    Parameters
    ----------
    s : float
        Concavity, at least 0; at 0 this is exactly :class:`VariablePenalty`.
    strength : float
        Factor in front of Omega.

    Notes
    -----
    Prox: the logarithmic threshold of the column norms (Lemma 9, item 4, corrected: see
    :func:`kernlens.penalties.log_threshold.log_threshold`), a global minimiser.
    """

    s: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_non_negative("s", self.s)

    def composition(self, n_particles: int) -> Composition:
        root = math.sqrt(n_particles)
        return Composition(0.5 / root, VARIABLES, Logarithm(self.s / root))

    def directions(self, W: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return unit coordinate vectors (d, d) by decreasing column norm / sqrt(m) (d,)."""
        return coordinate_directions(W)


@dataclass(frozen=True)
class ConcaveFeaturePenalty(ComposedPenalty):
    """Omega(W) = 1/(2s) sum_a log(1 + s S_a / sqrt m), S the singular values: low rank.

    Parameters
    ----------
    s : float
        Concavity, at least 0; at 0 this is exactly :class:`FeaturePenalty`.
    strength : float
        Factor in front of Omega.

    Notes
    -----
    Prox: the logarithmic threshold of the singular values (Lemma 9, item 5, corrected: see
    :func:`kernlens.penalties.log_threshold.log_threshold`), a global minimiser.
    """

    s: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_non_negative("s", self.s)

    def composition(self, n_particles: int) -> Composition:
        root = math.sqrt(n_particles)
        return Composition(0.5 / root, SINGULAR_VALUES, Logarithm(self.s / root))

    def directions(self, W: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the right singular vectors (r, d) and singular values / sqrt(m) (r,)."""
        return principal_directions(W)

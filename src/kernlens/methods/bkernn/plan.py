"""What a fit of BKerNN is asked for, and what comes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from kernlens._array import FloatArray
from kernlens.base.learner import Learned
from kernlens.base.search import SearchRecord
from kernlens.methods.bkernn.objective import ParticleProblem
from kernlens.methods.bkernn.tabulated import TabulatedFunctions


@dataclass(frozen=True)
class ParticlePlan:
    """What is given and what is to be chosen.

    Attributes
    ----------
    problems : dict of str to ParticleProblem
        Kernel, loss and penalty, by the name of the penalty; held-out rows choose among several.
    compared : bool
        Whether the penalty is, or was, chosen among several.
    scale : float
        Size of the targets, which random first particles are multiplied by.
    fresh : ndarray of shape (n_particles, n_inputs)
        First particles; they are drawn once the memory was checked.
    alpha : float or None
        Regularisation; None leaves the choice to held-out rows.
    start : ndarray of shape (n_particles, n_inputs) or None
        Particles of an earlier fit, to go on from.
    search : SearchRecord or None
        How an earlier fit chose the alpha that is given.
    plain : bool
        Whether Algorithm 1 is followed to the letter.
    max_iter, tol : int, float
        Of the last stage.
    """

    problems: Mapping[str, ParticleProblem]
    compared: bool = False
    scale: float = 1.0
    fresh: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    alpha: float | None = None
    start: FloatArray | None = None
    search: SearchRecord | None = None
    plain: bool = False
    max_iter: int = 200
    tol: float = 1e-6

    def by_squares(self) -> ParticlePlan:
        """The same, with the losses that particles are learned by."""
        problems = {name: problem.learning for name, problem in self.problems.items()}
        return replace(self, problems=problems)


@dataclass(frozen=True, kw_only=True)
class LearnedParticles(Learned):
    """Particles, the functions on them, and the name of the penalty they were learned by."""

    function: TabulatedFunctions
    penalty: str

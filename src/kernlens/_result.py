"""What a solver returns: one frozen object, with a status whose text is what the user reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Status(Enum):
    """How a solver ended; the value is the sentence shown to the user."""

    CONVERGED = "converged"
    MAX_ITER = "stopped at max_iter before reaching tol; raise max_iter or tol"
    ALL_STEPS = "made all max_iter iterations: with sampled terms there is no earlier end"
    EARLY = "ended early, because further iterations predict held-out rows worse"
    NO_PROGRESS = "stopped because no step lowers the objective any further"
    PLAIN = "no directions predict better than all columns alike; plain kernel ridge kept"
    CONSTANT = "nothing predicts held-out rows better than a constant; hardly more was kept"
    NOTHING = (
        "no direction predicts held-out rows clearly better than a constant; n_directions_ is 0"
    )
    LASSO = "the path of the Lasso was lost before alpha was reached; raise alpha"
    STOPPED = "stopped by the callback; the best state reached so far was kept"
    INTERRUPTED = "interrupted; the best state reached so far was kept"


@dataclass(frozen=True)
class SolveResult:
    """End state of an iterative solver.

    Attributes
    ----------
    solution : object
        What was solved for (arrays, or the solver's own point object).
    status : Status
        Why the solver stopped.
    n_iter : int
        Iterations carried out.
    history : tuple of float
        Objective (or residual norm) after every iteration, the starting value first.
    """

    solution: Any
    status: Status
    n_iter: int
    history: tuple[float, ...] = field(default=())

"""How iterations are reported: to `verbose`, to the user's callback, to those of scikit-learn.

A learner is given a :class:`Reporter`, or None if nobody listens. Called with the name of a stage,
it returns what the iterations of that stage call with their number and their objective. Who asks
to stop ends the fit in the way of Ctrl-C: the best state so far is kept.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError

#: The stage that is told of once a fit has ended.
FITTED = "fitted"
#: What an iteration calls: its number, and the objective after it.
Report = Callable[[int, float], None]


class StopRequested(KeyboardInterrupt):
    """A callback has asked to stop: what keeps the best state after Ctrl-C keeps it now."""


class Look:
    """A view of the state of a fit that can be used during one call of a callback only."""

    def __init__(self, take: Callable[[], Any]) -> None:
        self._take: Callable[[], Any] | None = take

    def model(self) -> Any:
        """The model as it would be if the fit ended now."""
        if self._take is None:
            raise RuntimeError("model() shows a fit while it goes on; call it in the callback.")
        return self._take()

    def close(self) -> None:
        """Let go of the fit, which goes on."""
        self._take = None

    def __reduce__(self) -> Any:
        # A record can be kept and sent; the fit stays where it is.
        return _closed_look, ()


def _closed_look() -> Look:
    look = Look(lambda: None)
    look.close()
    return look


@dataclass(frozen=True)
class FitProgress:
    """What a `callback` is told after an iteration of a fit.

    Attributes
    ----------
    estimator : str
        Name of the class that is being fitted.
    stage : str
        What is being done, such as "choosing alpha"; "fitted" at the end of every fit.
    iteration : int
        Number of the iteration within its stage.
    objective : float
        What is minimised in this stage; a held-out loss while settings are chosen.
    """

    estimator: str
    stage: str
    iteration: int
    objective: float
    _look: Look = field(repr=False, compare=False)

    def model(self) -> Any:
        """Return the model as it would be if the fit ended now.

        It is an estimator of its own, which predicts and has directions, importances and scores.
        It costs what an interrupted fit costs at its end, mostly one solve on all rows, and can be
        asked for during the call of the callback only.

        Returns
        -------
        estimator or None
            None while there is nothing to predict with.
        """
        return self._look.model()


#: Is told of an iteration, and says whether to stop.
Listener = Callable[[FitProgress], object]


class Reporter:
    """Tells all who listen of every iteration, one at a time.

    Parameters
    ----------
    title : str
        Name of the estimator.
    listeners : sequence of callable
        One that returns True, or raises StopIteration, asks to stop.
    """

    def __init__(self, title: str, listeners: Sequence[Listener]) -> None:
        self._title = title
        self._listeners = tuple(listeners)
        # Starts of one stage may run side by side, and a look at the state solves and reports.
        self._lock = threading.RLock()
        self._telling = False
        self._finisher: int | None = None
        #: Whether somebody has asked to stop.
        self.stopped = False
        #: Takes a copy of the model as it is; set by the fit.
        self.take: Callable[[], Any] = lambda: None

    def __call__(self, stage: str) -> Report:
        """Return what the iterations of a stage report to."""

        def report(iteration: int, objective: float) -> None:
            with self._lock:
                self._report(stage, iteration, objective)

        return report

    def _report(self, stage: str, iteration: int, objective: float) -> None:
        if self._telling or self._finisher == threading.get_ident():
            return
        if not self.stopped:
            self.stopped = self._tell(stage, iteration, objective)
        if self.stopped:
            raise StopRequested

    def _tell(self, stage: str, iteration: int, objective: float) -> bool:
        look = Look(self.take)
        record = FitProgress(self._title, stage, int(iteration), float(objective), look)
        self._telling = True
        try:
            # Every listener hears of the iteration, also if another one asks to stop.
            answers = [_heard(listener, record) for listener in self._listeners]
        finally:
            self._telling = False
            look.close()
        return any(answers)

    def finish(self) -> None:
        """Let this thread end the fit unheard; others, side by side with it, stop as well."""
        self._finisher = threading.get_ident()

    def conclude(self, n_iter: int, objective: float, take: Callable[[], Any]) -> None:
        """Tell of the end of the fit, whose model is whole: there is nothing more to stop."""
        self.take = take
        self._tell(FITTED, n_iter, objective)


def _heard(listener: Listener, record: FitProgress) -> bool:
    try:
        answer = listener(record)
    except StopIteration:
        # As optimisers of SciPy understand it; they would take it for their own.
        return True
    except (LinAlgError, FloatingPointError) as error:
        # Fits raise these themselves, and have another sentence for them.
        raise RuntimeError(f"The callback of the fit raised {error!r}.") from error
    # A list that was appended to, or whatever else a function happens to return, asks nothing.
    return isinstance(answer, bool | np.bool_) and bool(answer)

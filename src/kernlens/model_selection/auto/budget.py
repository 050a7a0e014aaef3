"""How much of the time is left, and who may still begin."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Budget:
    """Seconds for a whole fit.

    Attributes
    ----------
    seconds : float
    clock : callable
        Tells the time in seconds; tests have one of their own.
    """

    seconds: float
    clock: Callable[[], float] = time.monotonic
    _begin: float = field(init=False)
    _cancelled: threading.Event = field(default_factory=threading.Event, init=False)

    def __post_init__(self) -> None:
        self._begin = self.clock()

    @property
    def spent(self) -> float:
        """Seconds since the beginning."""
        return self.clock() - self._begin

    @property
    def left(self) -> float:
        """Seconds that are left, 0 after the end."""
        return 0.0 if self._cancelled.is_set() else max(0.0, self.seconds - self.spent)

    def cancel(self) -> None:
        """Let nobody begin any more: the user has interrupted."""
        self._cancelled.set()

    def resume(self) -> None:
        """Let what is finished be fitted to all rows after an interruption."""
        self._cancelled.clear()

    @property
    def cancelled(self) -> bool:
        """Whether the user has interrupted."""
        return self._cancelled.is_set()

    def end(self) -> None:
        """Let the time be over: only what must be done is still begun."""
        self.seconds = min(self.seconds, self.spent)

    def ends_after(self, seconds: float) -> Callable[[object], bool]:
        """A callback of fits that asks to stop after so many seconds of the whole fit."""

        def too_late(progress: object) -> bool:
            return self.cancelled or self.spent > seconds

        return too_late

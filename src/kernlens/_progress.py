"""What `verbose` shows of a long fit: a bar on a terminal, lines of a log elsewhere."""

from __future__ import annotations

import logging
import sys
import time
from typing import Protocol

from tqdm.auto import tqdm

LOGGER = logging.getLogger("kernlens")
#: Seconds between two lines of one stage.
INTERVAL = 10.0


class Display(Protocol):
    """Something that shows the iterations of a fit."""

    def show(self, stage: str, iteration: int, objective: float) -> None:
        """Show one iteration."""

    def close(self) -> None:
        """Show nothing more."""


def make_display(title: str) -> Display:
    """A bar if there is somebody to watch it, and lines of the log "kernlens" if not."""
    # A notebook has no terminal, and its own bars.
    watched = sys.stderr is not None and sys.stderr.isatty()
    return Bar(title) if watched or "ipykernel" in sys.modules else LogLines(title)


class Bar:
    """A bar that counts iterations, relabelled when the stage changes."""

    def __init__(self, title: str) -> None:
        self._bar = tqdm(desc=title, unit=" steps", leave=True)
        self._title = title

    def show(self, stage: str, iteration: int, objective: float) -> None:
        """Count one iteration."""
        self._bar.set_description_str(f"{self._title}: {stage}", refresh=False)
        self._bar.set_postfix_str(f"objective {objective:.6g}", refresh=False)
        self._bar.update()

    def close(self) -> None:
        """Leave the bar as it is."""
        self._bar.close()


class LogLines:
    """Lines at level INFO: the first iteration of every stage, then one every ten seconds."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._stage = ""
        self._n_steps = 0
        self._next = 0.0

    def show(self, stage: str, iteration: int, objective: float) -> None:
        """Write a line if it is time for one."""
        self._n_steps += 1
        now = time.monotonic()
        if stage == self._stage and now < self._next:
            return
        self._stage, self._next = stage, now + INTERVAL
        say(f"{self._title}: {stage}, step {self._n_steps}, objective {objective:.6g}")

    def close(self) -> None:
        """Say nothing at the end: the last stage has."""


def say(line: str) -> None:
    """Write a line to the log, or to the error stream of a program that has set up no log."""
    if LOGGER.hasHandlers():
        LOGGER.info(line)
    elif sys.stderr is not None:
        print(line, file=sys.stderr, flush=True)

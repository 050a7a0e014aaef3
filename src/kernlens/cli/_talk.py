"""What is said beside the results, on the error stream."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tqdm import tqdm

from kernlens._reports import FITTED, FitProgress

#: Seconds between two lines where there is no terminal.
INTERVAL = 10.0


@dataclass
class Talk:
    """Says what was decided, unless it was asked to be quiet.

    Attributes
    ----------
    quiet : bool
    said : list of str
        What the page of a fit repeats, printed or not.
    """

    quiet: bool = False
    said: list[str] = field(default_factory=list)

    def __call__(self, sentence: str) -> None:
        """Say what whoever reads the result must know as well."""
        self.said.append(sentence)
        self.aside(sentence)

    def aside(self, sentence: str) -> None:
        """Say what only those who wait want to know."""
        if not self.quiet and sys.stderr is not None:
            print(f"kernlens: {sentence}", file=sys.stderr, flush=True)

    @contextmanager
    def saying_warnings(self) -> Iterator[None]:
        """Say what the library warns of, each sentence once, instead of lines of its code."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            try:
                yield
            finally:
                texts = [" ".join(str(one.message).split()) for one in caught if _for_users(one)]
        for text in dict.fromkeys(texts):
            self(text)


def _for_users(caught: warnings.WarningMessage) -> bool:
    """Whether a warning is about the data, and not about the code of some library."""
    return issubclass(caught.category, UserWarning) and not issubclass(
        caught.category, DeprecationWarning | FutureWarning
    )


class Progress:
    """The callback of a fit: a line that changes on a terminal, lines now and then elsewhere.

    Parameters
    ----------
    seconds : float
        What the fit may take; it is asked to end then if `ends` says so.
    quiet : bool
    ends : bool
        Whether the fit does not look at the clock by itself.
    """

    def __init__(self, seconds: float, quiet: bool, ends: bool) -> None:
        self._seconds = seconds
        self._ends = ends
        self._begin = self._last = time.monotonic()
        self._n_steps = 0
        self.stopped = False
        watched = not quiet and sys.stderr is not None and sys.stderr.isatty()
        self._bar = (
            tqdm(total=round(seconds), bar_format="{desc} |{bar}|", leave=False)
            if watched
            else None
        )
        self._lines = not quiet and not watched and sys.stderr is not None

    def __call__(self, progress: FitProgress) -> bool:
        """Show an iteration, and say whether the fit should end."""
        self._n_steps += 1
        now = time.monotonic()
        spent = now - self._begin
        text = (
            f"fitting, {spent:.0f} s of at most about {self._seconds:.0f} s: {progress.stage}, "
            f"step {self._n_steps}"
        )
        if self._bar is not None:
            self._bar.set_description_str(text, refresh=False)
            self._bar.update(max(0.0, min(spent, self._seconds) - self._bar.n))
        elif self._lines and now - self._last >= INTERVAL:
            self._last = now
            print(f"kernlens: {text}", file=sys.stderr, flush=True)
        # A fit that has just ended needs no end.
        over = self._ends and spent > self._seconds and progress.stage != FITTED
        self.stopped = self.stopped or over
        return self.stopped

    def close(self) -> None:
        """Take the line away."""
        if self._bar is not None:
            self._bar.close()

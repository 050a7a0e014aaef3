"""RuntimeWarnings that leak from our code, with the line they came from."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from fuzz.refusals import is_ours, line_text

#: Kind of warning, message and line.
Leak = tuple[str, str, str]


@contextmanager
def recorded(own: Collection[str] = ()) -> Iterator[list[Leak]]:
    """Collect RuntimeWarnings with a frame of ours on the stack; show no warning at all."""
    leaks: list[Leak] = []

    def keep(message: Any, category: type[Warning], file: str, *place: Any) -> None:
        if issubclass(category, RuntimeWarning):
            line = _innermost(sys._getframe(1), own)
            if line:
                foreign = "" if is_ours(file, own) else f", in {Path(file).name}"
                leaks.append((category.__name__, f"{message}{foreign}", line))

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = keep  # type: ignore[assignment]
        yield leaks


def _innermost(frame: FrameType | None, own: Collection[str]) -> str:
    while frame is not None:
        if is_ours(frame.f_code.co_filename, own):
            return line_text(frame.f_code.co_filename, frame.f_lineno)
        frame = frame.f_back
    return ""

"""Warnings that point at the line of the user's program, however deep they are raised."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

#: Packages whose frames are not the user's: this one, and those that call it for the user.
NOT_THE_USER = ("kernlens", "sklearn", "joblib")


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning at the nearest frame of the user, also if a pipeline or a search is between.

    Parameters
    ----------
    message : str
        A whole sentence.
    category : type of Warning
    """
    level = 2
    frame = sys._getframe(1)
    while frame.f_back is not None and _package(frame) in NOT_THE_USER:
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]

"""Warnings that point at the line of the user's program, however deep they are raised."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

#: Frames of this folder are not the user's.
_OURS = str(Path(__file__).parent)


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning at the nearest frame outside of this package.

    Parameters
    ----------
    message : str
        A whole sentence.
    category : type of Warning
    """
    level = 2
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OURS):
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)

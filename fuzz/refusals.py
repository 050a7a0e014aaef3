"""Whether an exception is a refusal in one sentence of our own or of scikit-learn's validation."""

from __future__ import annotations

import dis
import re
from collections.abc import Collection
from pathlib import Path
from types import CodeType, TracebackType

import sklearn
from sklearn.exceptions import NotFittedError

import kernlens

#: Exact types: LinAlgError is a ValueError, too, but nobody meant it for a user.
ALLOWED = (ValueError, TypeError, NotFittedError, MemoryError)
OURS = str(Path(kernlens.__file__).parent)
_UTILS = Path(sklearn.__file__).parent / "utils"
#: Files of scikit-learn that check the input of users.
VALIDATION = {
    str(_UTILS / name)
    for name in ("validation.py", "multiclass.py", "_array_api.py", "_tags.py", "metaestimators.py")
}
#: What a sentence may begin with beside a capital and a parameter.
ARGUMENTS = ("X", "y", "sample_weight", "X_unlabeled", "init")


def is_refusal(error: BaseException, arguments: Collection[str], own: Collection[str] = ()) -> bool:
    """Whether the user was told in a sentence what is wrong.

    Parameters
    ----------
    error : BaseException
    arguments : collection of str
        Names that a sentence may begin with.
    own : collection of str
        Files that count as ours beside those of kernlens.
    """
    if type(error) not in ALLOWED:
        return False
    frames = _frames(error.__traceback__)
    ours = [i for i, (code, _) in enumerate(frames) if is_ours(code.co_filename, own)]
    if not ours:
        return False
    below = frames[ours[-1] + 1 :]
    if below:
        # scikit-learn was asked by us to check the input, and not by another estimator within.
        files = [code.co_filename for code, _ in below]
        return files[0] in VALIDATION and all(map(_is_foreign_check, files))
    return _raised_by_name(*frames[-1]) and is_sentence(str(error), arguments)


def is_sentence(message: str, arguments: Collection[str]) -> bool:
    """Whether a message begins with a capital or the name of an argument and ends with a stop."""
    first = re.match(r"[A-Za-z_]\w*", message)
    if first is None or not message.rstrip().endswith("."):
        return False
    return first[0][0].isupper() or first[0] in (*ARGUMENTS, *arguments)


def our_line(error: BaseException, own: Collection[str] = ()) -> str:
    """File and line of the innermost frame of ours in a traceback."""
    found, step = "", error.__traceback__
    while step is not None:
        file = step.tb_frame.f_code.co_filename
        if is_ours(file, own):
            found = line_text(file, step.tb_lineno)
        step = step.tb_next
    return found


def line_text(file: str, number: int) -> str:
    """A place in the code, without the folder that the package is installed in."""
    path = Path(file)
    short = path.relative_to(OURS) if path.is_relative_to(OURS) else Path(path.name)
    return f"{short}:{number}"


def is_ours(file: str, own: Collection[str] = ()) -> bool:
    """Whether a file is one of kernlens."""
    return file.startswith(OURS) or file in own


def _is_foreign_check(file: str) -> bool:
    # Whatever numpy raises while scikit-learn turns the input into an array is scikit-learn's.
    return file in VALIDATION or "numpy" in file or "pandas" in file


def _frames(traceback: TracebackType | None) -> list[tuple[CodeType, int]]:
    found = []
    while traceback is not None:
        found.append((traceback.tb_frame.f_code, traceback.tb_lasti))
        traceback = traceback.tb_next
    return found


def _raised_by_name(code: CodeType, position: int) -> bool:
    """Whether the instruction is a ``raise``; min() and the like raise from a call."""
    return dis.opname[code.co_code[position]] in ("RAISE_VARARGS", "RERAISE")

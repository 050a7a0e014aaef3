"""The forms that the same numbers may be given in, with the text that makes them.

A case keeps plain numbers, because flags and strides of an array do not survive a pipe.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fuzz.arrays import Array


@dataclass(frozen=True)
class Form:
    """A form of an array.

    Attributes
    ----------
    make : callable
        Gives an array this form.
    text : str
        The same in Python, with ``{}`` in place of the array.
    """

    make: Callable[[Array], Any]
    text: str


def _single(values: Array) -> Array:
    with np.errstate(all="ignore"):
        return values.astype(np.float32)


def _whole(values: Array) -> Array:
    return np.clip(np.nan_to_num(np.rint(values)), -(10**6), 10**6).astype(np.int64)


def _locked(values: Array) -> Array:
    copy = values.copy()
    copy.setflags(write=False)
    return copy


def _frame(values: Array) -> Any:
    import pandas

    return pandas.DataFrame(values, columns=[f"x{j}" for j in range(values.shape[1])])


def _series(values: Array) -> Any:
    import pandas

    return pandas.Series(values) if values.ndim == 1 else pandas.DataFrame(values)


FORMS: dict[str, Form] = {
    "array": Form(lambda values: values.copy(), "{}"),
    "float32": Form(_single, "{}.astype(np.float32)"),
    "int": Form(_whole, "np.clip(np.nan_to_num(np.rint({})), -(10**6), 10**6).astype(int)"),
    "bool": Form(lambda values: values > 0, "({} > 0)"),
    "fortran": Form(np.asfortranarray, "np.asfortranarray({})"),
    "strided": Form(
        lambda values: np.repeat(values, 2, axis=-1)[..., ::2],
        "np.repeat({}, 2, axis=-1)[..., ::2]",
    ),
    "reversed": Form(lambda values: values[::-1].copy()[::-1], "{}[::-1].copy()[::-1]"),
    "read-only": Form(_locked, "locked({})"),
    "frame": Form(_frame, "pd.DataFrame({0}, columns=[f'x{{j}}' for j in range({0}.shape[1])])"),
    "series": Form(_series, "(pd.Series({0}) if {0}.ndim == 1 else pd.DataFrame({0}))"),
    "list": Form(lambda values: values.tolist(), "{}.tolist()"),
}

#: Forms of inputs, with how often they are drawn.
INPUT_FORMS = {
    "array": 60,
    "float32": 8,
    "int": 4,
    "bool": 2,
    "fortran": 5,
    "strided": 4,
    "reversed": 3,
    "read-only": 5,
    "frame": 5,
    "list": 4,
}
#: Forms of targets and weights.
TARGET_FORMS = {"array": 80, "list": 5, "read-only": 6, "strided": 4, "series": 5}

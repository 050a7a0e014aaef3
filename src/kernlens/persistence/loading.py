"""A model from a file that nobody vouches for."""

from __future__ import annotations

import os
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from kernlens.persistence.archive import SCHEMA, Members, array_name, as_skops, unpack
from kernlens.persistence.arrays import check_array
from kernlens.persistence.errors import Damaged, ModelFileError, Refusal
from kernlens.persistence.schema import check, parse
from kernlens.persistence.trusted import own_types


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model that :func:`kernlens.save` wrote.

    Nothing of the file is run. Its sizes, types and arrays are looked at before anything is made of
    them, and only estimators and options of kernlens and of scikit-learn are made.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    estimator
        It predicts the same as the one that was saved, to the last bit.

    Raises
    ------
    ModelFileError
        If the file is foreign, damaged, newer than this version, of other types, or asks for more
        memory than its size justifies.
    OSError
        If there is no such file, or it cannot be read.

    See Also
    --------
    save : The way there.
    """
    with open(path, "rb") as file:
        content = file.read()
    try:
        return _model(content)
    except Refusal as reason:
        raise ModelFileError(reason.sentence(os.fspath(path))) from reason


def _model(content: bytes) -> BaseEstimator:
    members = unpack(content)
    files = check(parse(members[SCHEMA]))
    _check_arrays(files, members)
    return _built(as_skops(members))


def _check_arrays(files: list[str], members: Members) -> None:
    """Every array once, in the order of the text: none is read more often than it is there."""
    expected = [array_name(place) for place in range(len(members) - 1)]
    if files != expected or set(members) != {SCHEMA, *expected}:
        raise Damaged("the arrays are not those of its text")
    for name in expected:
        check_array(members[name])


def _built(content: bytes) -> BaseEstimator:
    # skops takes long to import, and a fit does not need it.
    import skops.io

    try:
        model = skops.io.loads(content, trusted=list(own_types()))
        _check_parts(model)
    except Exception as error:
        # All that is left are attributes that do not belong together, which classes of kernlens
        # and scikit-learn refuse each in its own way.
        raise Damaged("its parts are not those of a model") from error
    if not isinstance(model, BaseEstimator):
        raise Damaged("its text describes no model")
    return model


def _check_parts(model: Any) -> None:
    """Raise something if any object inside has attributes of another class under its name.

    An estimator has what its constructor takes, and a dataclass has its fields.
    """
    waiting, seen = [model], set()
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, list | tuple | set | frozenset):
            waiting += part
        elif isinstance(part, dict):
            waiting += part.values()
        elif isinstance(part, np.ndarray) and part.dtype.hasobject:
            waiting += part.ravel().tolist()
        elif hasattr(part, "__dict__") and not isinstance(part, type):
            _check_attributes(part)
            waiting += vars(part).values()


def _check_attributes(part: Any) -> None:
    if isinstance(part, BaseEstimator):
        part.get_params(deep=False)
    elif is_dataclass(part) and not {field.name for field in fields(part)} <= set(vars(part)):
        raise TypeError(f"{type(part).__name__} lacks fields")

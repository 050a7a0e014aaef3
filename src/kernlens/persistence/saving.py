"""A fitted model into a file."""

from __future__ import annotations

import io
import json
import os
import zipfile
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator

from kernlens._atomic import replacing
from kernlens.persistence.archive import SCHEMA, Members, array_name, pack
from kernlens.persistence.errors import Forbidden, Refusal
from kernlens.persistence.schema import Node, check, check_type, nodes


def save(model: BaseEstimator, path: str | os.PathLike[str]) -> None:
    """Save a model, or a pipeline of scikit-learn around it, to a file.

    The file is whole or not there: one of the same name is replaced when the new one is on the
    disk. Loaded again, the model predicts the same to the last bit.

    Parameters
    ----------
    model : estimator
        Of kernlens, or of scikit-learn with kernlens inside. Functions, and kernels or penalties of
        your own, have no place in such a file: use :func:`skops.io.dump`.
    path : str or path-like
        Where; ``.skops`` is the customary ending.

    Raises
    ------
    ValueError
        If the model is made of more than kernlens, scikit-learn and plain data.
    OSError
        If the file cannot be written; what was there before is then still there.

    See Also
    --------
    load : The way back.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import kernlens
    >>> X = np.random.default_rng(0).standard_normal((50, 3))
    >>> model = kernlens.RKHSWeightingRegressor(random_state=0).fit(X, X[:, 0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kernlens.save(model, Path(folder) / "model.skops")
    ...     again = kernlens.load(Path(folder) / "model.skops")
    >>> bool((again.predict(X) == model.predict(X)).all())
    True
    """
    content = model_bytes(model)
    with replacing(Path(path)) as part:
        part.write_bytes(content)


def model_bytes(model: BaseEstimator) -> bytes:
    """What a file of a model has in it."""
    if not isinstance(model, BaseEstimator):
        raise ValueError(f"kernlens.save takes an estimator, and got {type(model).__name__}.")
    return pack(_members(_dumped(model)))


def _dumped(model: BaseEstimator) -> bytes:
    # skops takes long to import, and a fit does not need it.
    import skops.io
    from skops.io.exceptions import UnsupportedTypeException

    try:
        content: bytes = skops.io.dumps(model)
    except RecursionError:
        raise ValueError(
            f"This {type(model).__name__} holds itself, directly or not, and cannot be saved."
        ) from None
    except (UnsupportedTypeException, TypeError, AttributeError) as error:
        raise ValueError(
            f"This {type(model).__name__} holds something that skops cannot save ({error}); "
            "set it to a plain value first."
        ) from error
    return content


def _members(dumped: bytes) -> Members:
    """Text and arrays, as the format has them: without addresses, and arrays by their place."""
    arrays: Members = {}
    with zipfile.ZipFile(io.BytesIO(dumped)) as archive:
        schema: Node = json.loads(archive.read(SCHEMA))
        for node in nodes(schema):
            # Before anything else, so that the sentence names what the user gave.
            _check_own(node)
            # Where an object was in memory; the same one in two places becomes two.
            node.pop("__id__", None)
            if node.get("type") == "numpy":
                name = array_name(len(arrays))
                arrays[name] = archive.read(node["file"])
                node["file"] = name
    _check_whole(schema)
    return {SCHEMA: json.dumps(schema, separators=(",", ":")).encode(), **arrays}


def _check_own(node: Any) -> None:
    try:
        check_type(node)
    except Forbidden as found:
        raise ValueError(_not_own(found)) from None


def _check_whole(schema: Node) -> None:
    try:
        check(schema)
    except Refusal as found:
        raise ValueError(_not_own(found)) from None


def _not_own(found: Refusal) -> str:
    return (
        f"This model holds {found}, which is neither kernlens' own nor an estimator of "
        "scikit-learn: use skops.io.dump directly."
    )

"""What passes over a table have returned, kept in a folder, so that a killed fit goes on.

A fit of blocks is a sequence of passes, and all between them follows from what they returned. A fit
that begins again after it was killed gets from the folder what was there already, computes the
rest, and ends where it would have ended, to the last bit.
"""

from __future__ import annotations

import hashlib
import json
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from numbers import Integral
from pathlib import Path
from typing import Any

import joblib

from kernlens._atomic import replacing
from kernlens._version import __version__
from kernlens._warnings import warn
from kernlens.blocks.block import Block
from kernlens.blocks.plain_pickle import NotPlain, dumped, loaded
from kernlens.blocks.table import BlockTable, Chain

#: What says which fit the files are of.
ABOUT = "fit.json"
#: Arguments that say nothing of the result.
NO_MATTER = ("n_jobs", "verbose", "callback")
#: Longer values of arguments are cut in complaints.
SHOWN = 60


@dataclass
class Checkpoint:
    """A folder for the passes of one fit.

    Attributes
    ----------
    folder : Path
    opened : bool
        Whether a table has asked for it.
    """

    folder: Path
    opened: bool = False


@dataclass
class Passes:
    """The passes of one fit so far, by their numbers.

    Attributes
    ----------
    folder : Path
    number : int
        Passes that have begun.
    """

    folder: Path
    number: int = field(default=0)

    def outcome(self, compute: Callable[[Chain], Any], chain: Chain, rest: tuple[Any, ...]) -> Any:
        """What a pass returns: from its file, or computed and written there."""
        file = self.folder / f"pass-{self.number:06d}"
        self.number += 1
        key = _hashed((chain, rest))
        if key is None:
            return compute(chain)
        try:
            return _read(file, key)
        except (OSError, NotPlain):
            pass
        value = compute(chain)
        try:
            content = dumped(value)
            # What was read has another layout and other copies: every fit goes on with that.
            read = loaded(content)
        except NotPlain:
            return value
        with replacing(file) as part:
            part.write_bytes(key.encode() + hashlib.sha256(content).digest() + content)
        return read


def _read(file: Path, key: str) -> Any:
    """What a file has, if it is of this pass and whole."""
    content = file.read_bytes()
    of_pass, check_sum, content = content[:32], content[32:64], content[64:]
    if of_pass != key.encode() or check_sum != hashlib.sha256(content).digest():
        raise NotPlain(f"{file} is of another pass.")
    return loaded(content)


@dataclass(frozen=True)
class CheckpointedTable(BlockTable):
    """A table whose passes are kept.

    Attributes
    ----------
    table : BlockTable
        Who computes.
    passes : Passes
    """

    table: BlockTable | None = None
    passes: Passes | None = None

    def _map(self, function: Chain, args: tuple[Any, ...]) -> list[Any]:
        assert self.table is not None and self.passes is not None
        table = self.table

        def compute(chain: Chain) -> list[Any]:
            return table._map(chain, args)

        found: list[Any] = self.passes.outcome(compute, function, args)
        return found

    def _fold(self, function: Chain, merge: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        assert self.table is not None and self.passes is not None
        table = self.table

        def compute(chain: Chain) -> Any:
            return table._fold(chain, merge, args)

        return self.passes.outcome(compute, function, (merge, *args))


@contextmanager
def checkpoint(folder: str | Path) -> Iterator[None]:
    """Keep what a fit of a table in blocks has computed, so that it can go on after it was killed.

    Every pass over the rows leaves a file with what it returned: sums, not rows, but for the sample
    that the first pass draws. The same fit with the same folder reads the passes that were
    completed, makes the others, and ends in the same model, to the last bit. What is learned from
    the sample between passes is learned again. One pass more says whether the rows are the same.

    Parameters
    ----------
    folder : str or Path
        For one fit; it is made if need be. A folder of a fit of other rows, in other blocks, or
        with other parameters is refused. Remove it when the model is saved.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import kernlens
    >>> X = np.random.default_rng(0).standard_normal((30000, 3))
    >>> blocks = kernlens.RowBlocks.from_arrays(X, X[:, 0], block_rows=10000)
    >>> with tempfile.TemporaryDirectory() as folder, kernlens.checkpoint(folder):
    ...     kernlens.SIR(random_state=0).fit(blocks).n_directions_
    1
    """
    given = Checkpoint(Path(folder))
    token = _given.set(given)
    try:
        yield
    finally:
        _given.reset(token)
    if not given.opened:
        warn(
            "No fit of RowBlocks or Dask collections has used the checkpoint: fits of rows in "
            "memory have none."
        )


_given: ContextVar[Checkpoint | None] = ContextVar("checkpoint", default=None)
_fitted: ContextVar[Any] = ContextVar("fitted", default=None)


@contextmanager
def fit_of(estimator: Any) -> Iterator[None]:
    """Say whose fit the passes inside are; fits within a fit are part of it."""
    if _given.get() is None or _fitted.get() is not None:
        yield
        return
    token = _fitted.set(estimator)
    try:
        yield
    finally:
        _fitted.reset(token)


def checkpointed(table: BlockTable) -> BlockTable:
    """The table with its passes kept, if that is wanted."""
    given = _given.get()
    if given is None:
        return table
    given.opened = True
    _check_same(given.folder, _about(_fitted.get(), table))
    plain = {name: getattr(table, name) for name in ("n_features", "names", "target_ndim")}
    return CheckpointedTable(
        **plain,
        steps=table.steps,
        table=replace(table, steps=()),
        passes=Passes(given.folder),
    )


def _about(estimator: Any, table: BlockTable) -> dict[str, Any]:
    """All that a fit follows from."""
    name = "" if estimator is None else type(estimator).__name__
    parameters = {} if estimator is None else estimator.get_params(deep=False)
    if "random_state" in parameters and not isinstance(parameters["random_state"], Integral):
        raise ValueError(
            f"A checkpoint needs a whole number as random_state of {name}: a fit that draws anew "
            "cannot go on."
        )
    rows = table.map(_content)
    return {
        "kernlens": __version__,
        "estimator": name,
        "parameters": {
            key: [_shown(value), _hashed(value)]
            for key, value in parameters.items()
            if key not in NO_MATTER
        },
        "n_blocks": len(rows),
        "n_rows": sum(n_rows for n_rows, _ in rows),
        "rows": hashlib.sha256(b"".join(digest for _, digest in rows)).hexdigest(),
    }


def _content(block: Block) -> tuple[int, bytes]:
    """Number of rows and a hash of all that a block has."""
    found = hashlib.blake2b(digest_size=32)
    for values in (block.X, block.y, block.weights):
        found.update(repr((values.shape, values.dtype.str)).encode())
        plain = values.dtype.kind != "O"
        found.update(values.tobytes() if plain else repr(values.tolist()).encode())
    return len(block), found.digest()


def _hashed(value: Any) -> str | None:
    """32 letters that say what a value is; None for functions without a name."""
    try:
        return str(joblib.hash(value))
    except (pickle.PicklingError, TypeError, AttributeError):
        return None


def _shown(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def _check_same(folder: Path, about: dict[str, Any]) -> None:
    """Begin a checkpoint, or refuse one of another fit."""
    file = folder / ABOUT
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(file) as part:
            part.write_text(json.dumps(about, indent=1), encoding="utf-8")
        return
    try:
        before = json.loads(file.read_text(encoding="utf-8"))
        what = _difference(before, about)
    except (ValueError, KeyError, TypeError, AttributeError):
        what = "of something else"
    if what:
        raise ValueError(
            f"The checkpoint in {folder} is {what}; give another folder, or remove this one."
        )


def _difference(before: dict[str, Any], about: dict[str, Any]) -> str:
    """What a checkpoint is of, where it is not of this fit."""
    if before["estimator"] != about["estimator"]:
        return f"of a fit of {before['estimator']}, and this is one of {about['estimator']}"
    if before["kernlens"] != about["kernlens"]:
        return f"of kernlens {before['kernlens']}, and this is {about['kernlens']}"
    for name, (shown, hashed) in about["parameters"].items():
        then, hashed_then = before["parameters"].get(name, ("nothing", ""))
        if hashed != hashed_then:
            return f"of a fit with {name}={then}, and this one has {name}={shown}"
    if before["n_rows"] != about["n_rows"]:
        return f"of a fit of {before['n_rows']} rows, and this one has {about['n_rows']}"
    if before["n_blocks"] != about["n_blocks"]:
        return f"of {before['n_blocks']} blocks, and this table has {about['n_blocks']}"
    if before["rows"] != about["rows"]:
        return "of a fit of other rows, or of the same rows in other blocks"
    return ""

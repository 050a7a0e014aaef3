"""Models from files, and the blocks of rows that they are used on."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from kernlens.cli._csv import csv_output
from kernlens.cli._errors import CommandError, explained, near
from kernlens.cli._tables import BLOCK_ROWS, opened
from kernlens.cli._talk import Talk
from kernlens.persistence import load, save
from kernlens.tables import TablePreprocessor


def load_model(path: str) -> Any:
    """The model of a file, or one sentence."""
    try:
        with explained():
            return load(path)
    except IsADirectoryError as error:
        raise CommandError(
            f"{path} is a folder; give the model in it, {path.rstrip('/')}/model.skops."
        ) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise CommandError(f"the model {path} cannot be read ({reason}).") from error


def save_model(model: Any, path: Path) -> None:
    """Write the file of a model, or one sentence."""
    try:
        save(model, path)
    except IsADirectoryError as error:
        raise CommandError(f"cannot write {path}: there is a folder of that name.") from error


def preparation_of(model: Any) -> TablePreprocessor | None:
    """What makes numbers of a table for a model, if it has such a step."""
    table = model.steps[0][1] if isinstance(model, Pipeline) else getattr(model, "table_", None)
    return table if isinstance(table, TablePreprocessor) else None


def column_names(model: Any) -> list[str] | None:
    """The columns that a model was fitted to; None if they had no names."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def text_columns(model: Any) -> frozenset[str]:
    """Columns that were text in the fit, and stay so: "1" and "1.0" may be two categories."""
    table = preparation_of(model)
    if table is None:
        return frozenset()
    report = table.columns_
    return frozenset(
        name for name, kind in zip(report.names, report.kinds, strict=True) if kind == "category"
    )


class Chosen:
    """Takes the columns of a model out of the blocks of a table."""

    def __init__(self, model: Any) -> None:
        self._names = column_names(model)
        self._n_columns = int(model.n_features_in_)
        self._seen: set[str] = set()

    def __call__(self, frame: Any) -> Any:
        """The columns of the fit, in its order; others are not looked at."""
        there = [str(name) for name in frame.columns]
        if self._names is None:
            if len(there) != self._n_columns:
                raise CommandError(
                    f"the model was fitted to {self._n_columns} columns without names, and the "
                    f"table has {len(there)}."
                )
            return frame.to_numpy()
        # Lines of JSON leave out what is empty, so that a block may lack a column.
        absent = [name for name in self._names if name not in there]
        new = [name for name in absent if name not in self._seen]
        if new:
            more = f" and {len(new) - 1} more" if len(new) > 1 else ""
            raise CommandError(
                f"the table has no column {new[0]!r}{more}, which the model needs"
                f"{near(new[0], there)}."
            )
        self._seen.update(self._names)
        return frame.reindex(columns=self._names) if absent else frame[self._names]


def write_blocks(
    arguments: argparse.Namespace,
    talk: Talk,
    model: Any,
    columns_of: Callable[[Any], dict[str, Any]],
) -> None:
    """Write what a model says of every row, block by block, so that any file fits into memory.

    Parameters
    ----------
    arguments : Namespace
        With the table, `keep` and `output`.
    talk : Talk
    model : fitted estimator
    columns_of : callable
        Rows -> columns to write.
    """
    n_rows = 0
    with csv_output(arguments.output) as writer:
        for frame, X in _blocks(arguments, model, talk):
            with explained():
                found = columns_of(X)
            rows = {"row": np.arange(n_rows + 1, n_rows + len(frame) + 1)}
            kept = {name: frame[name] for name in arguments.keep}
            writer.write(rows | kept | found)
            n_rows += len(frame)
    where = "the standard output" if arguments.output == "-" else arguments.output
    talk.aside(f"{n_rows} rows written to {where}.")


def _blocks(arguments: argparse.Namespace, model: Any, talk: Talk) -> Iterator[tuple[Any, Any]]:
    """Blocks of the table as they are, and what the model sees of them."""
    chosen = Chosen(model)
    with opened(arguments) as table:
        empty = True
        # What is only written beside the predictions stays as it is spelled.
        text = text_columns(model) | (set(arguments.keep) - set(column_names(model) or ()))
        for frame in table.blocks(BLOCK_ROWS, text):
            if len(frame) == 0:
                continue
            empty = False
            for name in arguments.keep:
                if name not in frame.columns:
                    there = [str(one) for one in frame.columns]
                    raise CommandError(
                        f"--keep names {name!r}, which is no column{near(name, there)}."
                    )
            yield frame, chosen(frame)
        if empty:
            raise CommandError(f"{table.name} has no rows.")
        for sentence in table.notes:
            talk(sentence)

"""``kernlens fit --dask``: rows in Parquet files, on the workers of a cluster.

Rows are read, learned from and predicted block by block where workers are; this process sees small
sums, and predictions of one block at a time. There is no page, which looks at rows one by one.
"""

from __future__ import annotations

import argparse
import json
import logging
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kernlens._parameters import argument_names
from kernlens._version import __version__
from kernlens.blocks.parquet import paths_of
from kernlens.cli._csv import CsvWriter, frame_columns, write_csv
from kernlens.cli._errors import CommandError, explained, near
from kernlens.cli._methods import METHODS, Method, settings_of
from kernlens.cli._output import replacing, writing_to
from kernlens.cli._talk import Talk
from kernlens.cli.fit.files import DIRECTIONS, PREDICTIONS, SUMMARY, write_model
from kernlens.cli.fit.problem import CLASSIFICATION, REGRESSION
from kernlens.inspection.direction_summary import summarize_directions
from kernlens.tables.target_means import MOST_CLASSES

#: What --dask takes.
PLACE = re.compile(r"local(:[1-9]\d{0,3})?|(tcp|tls|ucx|ws|wss)://\S+")
#: Options that look at all rows at once.
WITHOUT = ("groups", "time", "cv")
#: Seconds until a scheduler has answered.
PATIENCE = 20
#: Letters of the header of a table of directions.
COLUMN = "column"


def place_of(text: str) -> str:
    """Check what --dask was given."""
    if not PLACE.fullmatch(text):
        raise argparse.ArgumentTypeError(
            f"expected local, local:WORKERS or tcp://HOST:PORT, got {text!r}"
        )
    return text


@dataclass
class Score:
    """R² of numbers, or the share of right classes, from one block after another."""

    of_classes: bool
    n: int = 0
    wrong: float = 0.0
    mean: float = 0.0
    spread: float = 0.0

    def add(self, observed: Any, predicted: Any) -> None:
        """Look at some rows."""
        if len(observed) == 0:
            return
        if self.of_classes:
            self.n += len(observed)
            self.wrong += float(np.sum(observed != predicted))
            return
        # Chan, Golub and LeVeque: means far from zero lose no digits.
        n, mean = len(observed), float(np.mean(observed))
        apart, total = mean - self.mean, self.n + n
        self.spread += float(np.sum((observed - mean) ** 2)) + apart**2 * self.n * n / total
        self.mean += apart * n / total
        self.wrong += float(np.sum((observed - predicted) ** 2))
        self.n = total

    @property
    def name(self) -> str:
        """What it is called."""
        return "accuracy" if self.of_classes else "R2"

    @property
    def value(self) -> float | None:
        """The score; None where nothing was held out, or nothing varies."""
        whole = self.n if self.of_classes else self.spread
        return None if whole == 0 else 1.0 - self.wrong / whole


def check_cluster_options(arguments: argparse.Namespace, method: Method) -> None:
    """Refuse what blocks of rows have not, before anything is started."""
    able = [one.name for one in METHODS if _learns_from_blocks(one)]
    if method.name not in able:
        raise CommandError(
            f"--method {method.name} does not learn from blocks of rows; with --dask choose one of "
            f"{', '.join(able)}."
        )
    for name in WITHOUT:
        if getattr(arguments, name) is not None:
            raise CommandError(
                f"--{name} looks at all rows at once; leave it out with --dask, which holds out a "
                "random share."
            )


def _learns_from_blocks(method: Method) -> bool:
    estimators = [one for one in (method.regressor, method.classifier) if one is not None]
    return all(getattr(one, "_learns_from_blocks", False) for one in estimators)


def fit_on_cluster(
    arguments: argparse.Namespace, method: Method, folder: Path, talk: Talk
) -> dict[str, Any]:
    """Fit, predict what was held out, and write; the cluster is closed in the end."""
    with explained(), _client_of(arguments.dask, talk) as client:
        begin = time.monotonic()
        table, names = _table(arguments, talk)
        task = _task_of(table[arguments.target], arguments)
        if task == CLASSIFICATION:
            table = table.assign(**{arguments.target: table[arguments.target].astype(str)})
        learned, held_out = table, None
        if arguments.test > 0.0:
            shares = [1.0 - arguments.test, arguments.test]
            learned, held_out = table.random_split(shares, random_state=arguments.seed)
        model = _model(method, task, arguments)
        weights = None if arguments.weight is None else learned[arguments.weight]
        with talk.saying_warnings():
            model.fit(learned[names], learned[arguments.target], weights)
        fitted = time.monotonic() - begin
        files = [write_model(model, folder)]
        score = Score(task == CLASSIFICATION)
        if held_out is not None:
            with writing_to(folder, "--out"):
                _write_predictions(
                    model, held_out[[*names, arguments.target]], names, score, folder
                )
            files.append(PREDICTIONS)
        summary = {
            "kernlens": __version__,
            "method": method.name,
            "task": task,
            "target": arguments.target,
            "columns": names,
            "n_held_out": score.n,
            "score": {"name": score.name, "value": score.value},
            "n_directions": int(model.n_directions_),
            "seconds": fitted,
            "n_workers": len(client.scheduler_info(n_workers=-1)["workers"]),
            "warnings": list(talk.said),
        }
    with writing_to(folder, "--out"):
        directions = summarize_directions(model).to_frame()
        write_csv(folder / DIRECTIONS, frame_columns(directions, COLUMN))
        with replacing(folder / SUMMARY) as part:
            part.write_text(json.dumps(summary, indent=1), encoding="utf-8")
    return {**summary, "files": [*files, DIRECTIONS, SUMMARY], "folder": str(folder)}


def cluster_text(summary: dict[str, Any]) -> str:
    """What is printed."""
    score, n_held_out = summary["score"], summary["n_held_out"]
    value = score["value"]
    lines = [
        f"{summary['method']} learned {summary['target']!r} from {len(summary['columns'])} columns "
        f"in {summary['seconds']:.0f} seconds on {summary['n_workers']} workers: "
        f"{summary['n_directions']} directions.",
    ]
    if value is not None:
        lines.append(f"{score['name']} on {n_held_out} held-out rows: {value:.4g}.")
    lines.append(f"Written to {summary['folder']}: {', '.join(summary['files'])}.")
    lines.append(
        "For a page, give a part of the rows to 'kernlens report "
        f"{summary['folder']}/model.skops PART'."
    )
    return "\n".join(lines)


@contextmanager
def _client_of(place: str, talk: Talk) -> Iterator[Any]:
    """A client of the cluster, and with ``local`` the cluster as well, closed at the end."""
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise CommandError(
            '--dask needs Dask: python -m pip install "kernlens[distributed,parquet]".'
        ) from error
    if not place.startswith("local"):
        try:
            client = Client(place, timeout=PATIENCE)
        except OSError as error:
            raise CommandError(f"no scheduler of Dask answers at {place}.") from error
        with client:
            _say_where(client, talk)
            yield client
        return
    _, _, number = place.partition(":")
    with (
        LocalCluster(
            n_workers=int(number) if number else None,
            threads_per_worker=1,
            dashboard_address=":0",
            silence_logs=logging.ERROR,
        ) as cluster,
        Client(cluster) as client,
    ):
        _say_where(client, talk)
        yield client


def _say_where(client: Any, talk: Talk) -> None:
    talk.aside(f"Dask's dashboard: {client.dashboard_link}")


def _table(arguments: argparse.Namespace, talk: Talk) -> tuple[Any, list[str]]:
    """The table with the target and the weights, and the columns that it is predicted with."""
    try:
        import dask.dataframe
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise CommandError(
            'Parquet files on Dask need more: python -m pip install "kernlens[distributed,parquet]"'
            " dask[dataframe]."
        ) from error
    files = paths_of(arguments.data)
    if not files:
        raise CommandError(f"there is no file {arguments.data}.")
    if any(not name.lower().endswith((".parquet", ".pq")) for name in files):
        raise CommandError("--dask reads Parquet files; give DATA/*.parquet or their folder.")
    table = dask.dataframe.read_parquet(files, split_row_groups="infer")
    there = [str(name) for name in table.columns]
    named = {"--target": [arguments.target], "--ignore": arguments.ignore}
    named["--weight"] = [] if arguments.weight is None else [arguments.weight]
    for option, wanted in named.items():
        for name in wanted:
            if name not in there:
                raise CommandError(
                    f"{option} names {name!r}, which is no column{near(name, there)}."
                )
    others = {name for wanted in named.values() for name in wanted}
    inputs = [name for name in there if name not in others]
    names = [name for name in inputs if getattr(table[name].dtype, "kind", "O") in "biuf"]
    dropped = [name for name in inputs if name not in names]
    if dropped:
        more = f" and {len(dropped) - 5} more" if len(dropped) > 5 else ""
        talk(
            f"Columns without numbers were left out: {', '.join(map(repr, dropped[:5]))}{more}; "
            "make numbers of them first to use them."
        )
    if not names:
        raise CommandError(f"{arguments.target!r} has no columns of numbers beside it.")
    kept = [*names, arguments.target]
    if arguments.weight is not None:
        kept.append(arguments.weight)
    return table[kept].dropna(subset=[arguments.target]), names


def _task_of(target: Any, arguments: argparse.Namespace) -> str:
    """Text and at most 10 different whole numbers are classes, unless the user says otherwise."""
    if arguments.task != "auto":
        return str(arguments.task)
    if getattr(target.dtype, "kind", "O") not in "iuf":
        return CLASSIFICATION
    few = target.map_partitions(_some_values, meta=target._meta).compute().unique()
    whole = bool((few == np.round(few)).all())
    return CLASSIFICATION if whole and len(few) <= MOST_CLASSES else REGRESSION


def _some_values(part: Any) -> Any:
    """Different values of a partition, no more than are needed to see that they are many."""
    return part.drop_duplicates().iloc[: MOST_CLASSES + 1]


def _model(method: Method, task: str, arguments: argparse.Namespace) -> Any:
    estimator = method.estimator(task)
    given = {"random_state": arguments.seed, "n_jobs": arguments.n_jobs}
    known = argument_names(estimator)
    own = {name: value for name, value in given.items() if name in known}
    return estimator(**own, **settings_of(estimator, arguments.set))


def _write_predictions(
    model: Any, held_out: Any, names: list[str], score: Score, folder: Path
) -> None:
    """Predictions of one partition after another; only they come here, and the targets."""
    target = next(name for name in held_out.columns if name not in names)
    answer = held_out[[target]].rename(columns={target: "observed"})
    answer = answer.assign(predicted=model.predict(held_out[names]))
    with (
        replacing(folder / PREDICTIONS) as part,
        open(part, "w", encoding="utf-8", newline="") as stream,
    ):
        writer = CsvWriter(stream)
        for block in answer.partitions:
            rows = block.compute()
            observed, predicted = rows["observed"].to_numpy(), rows["predicted"].to_numpy()
            score.add(observed, predicted)
            writer.write({"observed": observed, "predicted": predicted})

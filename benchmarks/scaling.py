"""Fits of tables in blocks on two worker processes of one machine (Linux only).

Rows are standard normal, 20 columns; the target is a function of two hidden directions with noise.
Blocks of 50,000 rows are made on the workers. ``--part`` chooses among

- ``memory``: more rows than a worker may hold. The peak of its resident memory is beside its limit,
  and R2 on new rows beside that of a fit in memory of a tenth of the rows;
- ``speed``: two workers beside one;
- ``overhead``: two workers beside two threads of this process;
- ``traffic``: bytes of every pass beside the formulas of docs/scaling.md;
- ``growth``: four times the rows.

``--rows`` is the number of rows of the first, of which the others have a fifth, a tenth, a fifth,
and a twentieth and a fifth; ``--families``, ``--limit`` (MB of a worker) and ``--no-reference`` are
for the first. Seconds of passes are those that the client waits for its workers: the rest is the
search on the sample and the directions, which many rows share.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import delayed
from distributed import wait
from sklearn.base import clone
from sklearn.metrics import r2_score

from benchmarks.scaling_workers import Pass, Workers, recorded, workers
from benchmarks.tables import print_row, timed
from kernlens import (
    BKerNNRegressor,
    HKRRRegressor,
    RFMRegressor,
    RKHSWeightingRegressor,
    RowBlocks,
)

N_ROWS, N_COLUMNS, BLOCK_ROWS, N_NEW = 5_000_000, 20, 50_000, 100_000
NOISE = 0.5
DIRECTIONS = np.linalg.qr(np.random.default_rng(0).standard_normal((N_COLUMNS, 2)))[0].T
FAMILIES: dict[str, Any] = {
    "RKHSWeighting": RKHSWeightingRegressor(random_state=0),
    "HKRR": HKRRRegressor(random_state=0),
    "RFM": RFMRegressor(random_state=0),
    "BKerNN": BKerNNRegressor(random_state=0),
}
#: Nothing is searched for, so that nearly all of the time is in the passes.
DIRECT = RKHSWeightingRegressor(
    instantiation="relu", alpha=1e-4, linear_part=False, n_directions=2, random_state=0
)
#: Bytes of passes that are not compared.
SMALL = 1e6
WIDTHS = (18, 12, 12, 12, 12, 12, 12)


def run(arguments: Sequence[str] = ()) -> None:
    """Print the parts that are asked for, all by default."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks scaling")
    parser.add_argument("--part", nargs="+", choices=PARTS, default=[*PARTS])
    parser.add_argument("--rows", type=int, default=N_ROWS)
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=[*FAMILIES])
    parser.add_argument("--limit", type=int, default=700)
    parser.add_argument("--no-reference", action="store_true")
    options = parser.parse_args(arguments)
    for part in options.part:
        print(f"-- {part}", flush=True)
        PARTS[part](options)


# Rows


def draw(number: int, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of a block, and their targets."""
    rng = np.random.default_rng([1, number])
    X = rng.standard_normal((n_rows, N_COLUMNS))
    return X, signal(X) + NOISE * rng.standard_normal(n_rows)


def signal(X: np.ndarray) -> np.ndarray:
    """What there is to be learned, of variance about 0.9."""
    first, second = DIRECTIONS @ X.T
    return np.sin(first) + 0.5 * second**2


def sizes(n: int, most: int = BLOCK_ROWS) -> list[int]:
    """Rows of the blocks."""
    return [min(most, n - start) for start in range(0, n, most)]


def collections(n: int, most: int = BLOCK_ROWS) -> tuple[Any, Any]:
    """A table whose blocks are made where they are wanted."""
    some = enumerate(sizes(n, most))
    parts = [(delayed(draw, nout=2)(number, rows), rows) for number, rows in some]
    X = [da.from_delayed(part[0], (rows, N_COLUMNS), float) for part, rows in parts]
    y = [da.from_delayed(part[1], (rows,), float) for part, rows in parts]
    return da.concatenate(X), da.concatenate(y)


def on_workers(n: int) -> tuple[Any, Any]:
    """The same table, made already."""
    made = [one.persist() for one in collections(n)]
    wait(made)
    return made[0], made[1]


def in_memory(n: int) -> tuple[np.ndarray, np.ndarray]:
    """The same rows as arrays of this process."""
    parts = [draw(number, rows) for number, rows in enumerate(sizes(n))]
    return np.concatenate([X for X, _ in parts]), np.concatenate([y for _, y in parts])


def r2_on_new_rows(model: Any) -> float:
    """R2 against the function without noise."""
    X, _ = draw(-1 % 2**32, N_NEW)
    return float(r2_score(signal(X), model.predict(X)))


# Measuring


@dataclass(frozen=True)
class Fit:
    """A fit that was made, and what it cost."""

    model: Any
    seconds: float
    passes: list[Pass]

    @property
    def in_passes(self) -> float:
        """Seconds of all passes over the rows."""
        return sum(one.seconds for one in self.passes)

    @property
    def cpu(self) -> float:
        """CPU seconds of all passes."""
        return sum(one.cpu for one in self.passes)


def fitted(model: Any, data: tuple[Any, ...], some: Workers | None = None) -> Fit:
    """Fit a new copy of a model."""
    with recorded(some) as passes:
        seconds, found = timed(lambda: clone(model).fit(*data))
    return Fit(found, seconds, passes)


def fitted_on(number: int, n: int, model: Any = DIRECT) -> Fit:
    """A fit by as many workers, of rows that they have already."""
    with ready(number) as some:
        return fitted(model, on_workers(n), some)


@contextmanager
def ready(number: int, limit: int | None = None) -> Iterator[Workers]:
    """Workers that have compiled and imported what a fit needs."""
    with workers(number, limit) as some:
        clone(DIRECT).fit(*collections(15_000, 2500))
        yield some


def print_fits(fits: dict[str, Fit]) -> None:
    """A line for every fit; ratios are to the first."""
    print_row("", "passes s", "ratio", "whole s", "ratio", "CPU s", "R2", widths=WIDTHS)
    first = next(iter(fits.values()))
    for name, fit in fits.items():
        print_row(
            name,
            f"{fit.in_passes:.1f}",
            f"{fit.in_passes / first.in_passes:.2f}",
            f"{fit.seconds:.1f}",
            f"{fit.seconds / first.seconds:.2f}",
            f"{fit.cpu:.1f}",
            f"{r2_on_new_rows(fit.model):.4f}",
            widths=WIDTHS,
        )


# The parts


def memory(options: argparse.Namespace) -> None:
    """Peaks of workers that cannot hold the table, and R2 beside a fit in memory."""
    n, limit = options.rows, 10**6 * options.limit
    n_bytes = 8 * n * (N_COLUMNS + 2)
    print(f"{n:,} rows, {n_bytes / 1e6:.0f} MB in blocks; 2 workers of {options.limit} MB each")
    if n_bytes <= limit:
        print("(a worker may hold all of it)")
    heads = ("family", "peak MB", "peak MB", "passes", "whole s", "R2", "in memory")
    print_row(*heads, widths=WIDTHS)
    for name in options.families:
        with workers(2, limit) as some:
            fit = fitted(FAMILIES[name], collections(n), some)
            peaks = some.peaks()
        assert max(peaks) <= limit, f"{name} needs {max(peaks) / 1e6:.0f} MB"
        cells = [f"{peak / 1e6:.0f}" for peak in peaks]
        cells += [str(len(fit.passes)), f"{fit.seconds:.0f}", f"{r2_on_new_rows(fit.model):.4f}"]
        if not options.no_reference:
            reference = fitted(FAMILIES[name], in_memory(n // 10))
            cells.append(f"{r2_on_new_rows(reference.model):.4f}")
            cells.append(f"({reference.seconds:.0f} s)")
        print_row(name, *cells, widths=(*WIDTHS, 12)[: len(cells) + 1])
        print("    " + ", ".join(f"{one.name} {one.seconds:.0f} s" for one in fit.passes[:12]))


def speed(options: argparse.Namespace) -> None:
    """One worker and two."""
    n = options.rows // 5
    print(f"{n:,} rows, {DIRECT}")
    print_fits({f"{number} worker(s)": fitted_on(number, n) for number in (1, 2)})


def overhead(options: argparse.Namespace) -> None:
    """Two threads and two workers."""
    n = options.rows // 10
    print(f"{n:,} rows, {DIRECT}")
    rows = RowBlocks.from_arrays(*in_memory(n), block_rows=BLOCK_ROWS, n_jobs=2)
    fitted(DIRECT, (rows,))
    print_fits({"2 threads": fitted(DIRECT, (rows,)), "2 workers": fitted_on(2, n)})


def growth(options: argparse.Namespace) -> None:
    """A number of rows, and four times as many."""
    n = options.rows // 20
    print(f"{DIRECT}")
    print_fits({f"{rows:,} rows": fitted_on(2, rows) for rows in (n, 4 * n)})


def traffic(options: argparse.Namespace) -> None:
    """Bytes of every pass."""
    n = options.rows // 5
    model = clone(DIRECT).set_params(alpha="auto")
    print(f"{n:,} rows, {model}")
    fit = fitted_on(2, n, model)
    print_row("pass", "seconds", "MB", "formula", "ratio", widths=WIDTHS[:5])
    n_sent = numbers_sent(model)
    for one in fit.passes:
        expected = 8.0 * n_sent[one.name](len(sizes(n)), 2) if one.name in n_sent else 0.0
        # Of small passes nearly all is what says which task is where.
        compared = f"{expected / 1e6:.2f}", f"{one.n_bytes / max(expected, 1.0):.2f}"
        print_row(
            one.name,
            f"{one.seconds:.1f}",
            f"{one.n_bytes / 1e6:.2f}",
            *(compared if expected > SMALL else ("small", "")),
            widths=WIDTHS[:5],
        )


def numbers_sent(model: Any) -> dict[str, Callable[[int, int], float]]:
    """Numbers that a pass over B blocks sends among W workers, see docs/scaling.md."""
    c, d, t, m = int(model.n_random_features), N_COLUMNS, 1, type(model)._sample_rows

    def formula(result: float, argument: float) -> Callable[[int, int], float]:
        return lambda B, W: (1 - 1 / W) * 8 / 7 * B * result + 2 * result + (W + 1) * argument

    return {
        "survey_block": formula(m * (d + t + 1), 0),
        "block_sums": formula(c**2 + (t + 1) * c + 2 * t + 1, c * (c + d)),
    }


PARTS: dict[str, Callable[[argparse.Namespace], None]] = {
    "memory": memory,
    "speed": speed,
    "overhead": overhead,
    "traffic": traffic,
    "growth": growth,
}

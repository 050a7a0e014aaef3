"""Worker processes of one machine, and what a fit costs on them (Linux only).

Every process counts the bytes that it writes to its connections, so that the sum over client,
scheduler and workers is what went over the network: what goes from a worker to the client through
the scheduler counts twice. Resident memory is the highest since the process began.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from distributed import Client, LocalCluster
from distributed.comm import tcp

from kernlens.blocks.dask_table import DaskTable
from kernlens.blocks.local import LocalTable

#: Bytes that this process has written to its connections.
_WRITTEN = [0]


def count_bytes() -> None:
    """Count what this process writes from now on."""
    write = tcp.TCP.write
    if write.__name__ == "counted":
        return

    async def counted(self: Any, *args: Any, **options: Any) -> Any:
        n_bytes = await write(self, *args, **options)
        _WRITTEN[0] += n_bytes
        return n_bytes

    tcp.TCP.write = counted


def written() -> int:
    """Bytes counted so far."""
    return _WRITTEN[0]


def peak_bytes() -> int:
    """The highest resident memory of this process."""
    with open("/proc/self/status") as status:
        line = next(line for line in status if line.startswith("VmHWM"))
    return 1024 * int(line.split()[1])


@dataclass
class Workers:
    """A client of worker processes with one thread each."""

    client: Client
    pids: set[int] = field(init=False)

    def __post_init__(self) -> None:
        count_bytes()
        self.client.run(count_bytes)
        self.pids = set(self.client.run(os.getpid).values())

    def peaks(self) -> list[int]:
        """The highest resident memory of every worker; none of them may have been replaced."""
        assert set(self.client.run(os.getpid).values()) == self.pids, "a worker was replaced"
        return list(self.client.run(peak_bytes).values())

    def cpu_seconds(self) -> float:
        """Of all workers together."""
        return sum(self.client.run(time.process_time).values())

    def bytes_sent(self) -> int:
        """By client, scheduler and workers together."""
        return written() + sum(self.client.run(written).values())


@contextmanager
def workers(number: int, limit: int | None = None) -> Iterator[Workers]:
    """Begin as many worker processes, each with a limit of its memory in bytes, and end them."""
    with (
        LocalCluster(
            n_workers=number,
            threads_per_worker=1,
            memory_limit=limit or "auto",
            dashboard_address=":0",
        ) as cluster,
        Client(cluster) as client,
    ):
        yield Workers(client)


@dataclass(frozen=True)
class Pass:
    """One pass over the rows of a table."""

    name: str
    seconds: float
    cpu: float
    n_bytes: int


@contextmanager
def recorded(some: Workers | None = None) -> Iterator[list[Pass]]:
    """The passes that fits make, as they are made; those of workers with CPU seconds and bytes."""
    passes: list[Pass] = []
    kinds = [(kind, name) for kind in (DaskTable, LocalTable) for name in ("_map", "_fold")]
    before = [getattr(kind, name) for kind, name in kinds]
    for (kind, name), ask in zip(kinds, before, strict=True):
        setattr(kind, name, _recording(ask, passes, some))
    try:
        yield passes
    finally:
        for (kind, name), ask in zip(kinds, before, strict=True):
            setattr(kind, name, ask)


def _recording(ask: Callable[..., Any], passes: list[Pass], some: Workers | None) -> Any:
    def recording(table: Any, function: Any, *args: Any) -> Any:
        cpu, n_bytes = _used(some)
        start = time.perf_counter()
        found = ask(table, function, *args)
        seconds = time.perf_counter() - start
        cpu_after, bytes_after = _used(some)
        inner = function.function
        name = getattr(inner, "function", inner).__qualname__
        passes.append(Pass(name, seconds, cpu_after - cpu, bytes_after - n_bytes))
        return found

    return recording


def _used(some: Workers | None) -> tuple[float, int]:
    return (time.process_time(), 0) if some is None else (some.cpu_seconds(), some.bytes_sent())

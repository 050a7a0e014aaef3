"""The one place that knows Dask: collections as blocks on workers, and collections out.

Blocks are made where their partitions are and stay there; functions go to them as tasks. Only what
functions return, and what they are called with, goes over the network. A worker that is lost takes
its blocks along, and Dask makes them again from the graph of the collection.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from kernlens._execution import as_worker
from kernlens.blocks.block import Block, make_block
from kernlens.blocks.folding import fold_with, join
from kernlens.blocks.local import LocalTable, Read
from kernlens.blocks.table import BlockTable, Chain

#: How often a task is tried again where a worker fails it, as one that runs out of memory does.
RETRIES = 3
#: Priority of tasks that make few results of many.
JOIN_FIRST = 1
#: Seconds without any worker after which nobody waits any longer, and between looks at them.
PATIENCE, LOOK = 30.0, 1.0


def is_dask(values: Any) -> bool:
    """Whether this is a collection of Dask; without Dask nothing is."""
    return hasattr(values, "__dask_graph__") and hasattr(values, "to_delayed")


@dataclass(frozen=True)
class DaskTable(BlockTable):
    """Blocks that lie on the workers of a cluster.

    Attributes
    ----------
    client : distributed.Client
    futures : tuple of distributed.Future
        The blocks, in their order.
    """

    client: Any = None
    futures: tuple[Any, ...] = ()

    def _map(self, function: Chain, args: tuple[Any, ...]) -> list[Any]:
        parts = self._submitted(function, args)
        return self._gathered(parts, parts)

    def _fold(self, function: Chain, merge: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        def joined(parts: list[Any]) -> Any:
            if len(parts) == 1:
                return parts[0]
            # Before results that are still to be made, of which not all fit into memory.
            return self.client.submit(
                join, merge, parts, pure=False, retries=RETRIES, priority=JOIN_FIRST
            )

        parts = self._submitted(function, args)
        return self._gathered([fold_with(joined, parts)], parts)[0]

    def _submitted(self, function: Chain, args: tuple[Any, ...]) -> list[Any]:
        """Futures of what a function returns for every block."""
        # One task holds what goes to all: workers pass it on, and it can be made again.
        work = self.client.submit(_held, (function, args), pure=False, retries=RETRIES)
        # In the order of the blocks, so that results are soon joined, and few exist at a time.
        later = 1.0 / len(self.futures)
        return [
            self.client.submit(
                _work, work, block, pure=False, retries=RETRIES, priority=-later * number
            )
            for number, block in enumerate(self.futures)
        ]

    def _gathered(self, futures: list[Any], parts: list[Any]) -> list[Any]:
        """The results, or an error if nobody is left to compute them.

        `parts` are what a function returns for every block, of which the results are made.
        """
        from distributed import KilledWorker

        wait_for(self.client, futures)
        try:
            results: list[Any] = self.client.gather(futures)
        except KilledWorker as error:
            pairs = enumerate(zip(self.futures, parts, strict=True))
            failed = [n for n, pair in pairs if any(one.status == "error" for one in pair)]
            which = f" by block {failed[0]}" if failed else ""
            raise MemoryError(
                f"Workers were killed{which}, one after another, as happens where a block and what "
                "is computed of it do not fit into the memory of a worker; cut the table into "
                "smaller partitions, or give workers more memory."
            ) from error
        return results


def wait_for(
    client: Any, futures: list[Any], wanted: Callable[[], bool] = lambda: True, look: float = LOOK
) -> bool:
    """Wait until futures are done; a cluster without workers is given up after a while.

    Returns whether they are done: if they are not `wanted` any more, nobody waits.
    """
    from distributed import CancelledError, wait

    last_seen = time.monotonic()
    while True:
        try:
            wait(futures, timeout=look)
            return True
        except TimeoutError:
            pass
        except CancelledError as error:
            raise _lost("The cluster has forgotten the blocks of this fit") from error
        if not wanted():
            return False
        if client.status not in ("running", "connecting"):
            raise _lost(f"The client of the cluster is {client.status}")
        if client.status == "running" and client.nthreads():
            last_seen = time.monotonic()
        elif time.monotonic() - last_seen > PATIENCE:
            raise _lost(f"The cluster has had no worker for {PATIENCE:.0f} seconds")


def _lost(what: str) -> RuntimeError:
    return RuntimeError(f"{what}; start workers, load the table again, and repeat the fit.")


def _held(work: Any) -> Any:
    return work


def _work(work: tuple[Chain, tuple[Any, ...]], block: Block) -> Any:
    function, args = work
    with as_worker():
        return function(block, *args)


def of_dask(X: Any, y: Any, weights: Any) -> BlockTable:
    """Partitions of collections as blocks; on a cluster, if there is a client of one."""
    for name, one in (("X", X), ("y", y), ("sample_weight", weights)):
        if one is not None and not is_dask(one):
            raise ValueError(
                f"{name} is no Dask collection, but others are; give X, y and sample_weight as "
                "collections with the same partitions."
            )
    names = getattr(X, "columns", None)
    named = None if names is None else tuple(str(name) for name in names)
    rows, n_features = _partitions(X, None), int(X.shape[1])
    targets = _partitions(y, X)
    given = [None] * len(rows) if weights is None else _partitions(weights, X)
    if not len(rows) == len(targets) == len(given):
        raise ValueError(
            f"X has {len(rows)} partitions and y {len(targets)}; give collections with the same "
            "partitions."
        )
    from dask.delayed import delayed

    parts = [
        delayed(make_block, pure=False)(*part, number, n_features)
        for number, part in enumerate(zip(rows, targets, given, strict=True))
    ]
    client = _client()
    if client is None:

        def blocks() -> Iterator[Read]:
            for part in parts:
                yield partial(part.compute, scheduler="synchronous")

        return LocalTable(n_features, named, y.ndim, blocks=blocks)
    futures = tuple(client.compute(parts, retries=RETRIES))
    return DaskTable(n_features, named, y.ndim, client=client, futures=futures)


def _partitions(values: Any, like: Any) -> list[Any]:
    """Partitions by rows, as delayed objects."""
    if hasattr(values, "chunks"):
        if values.ndim == 2:
            values = values.rechunk({1: -1})
        known = like is not None and hasattr(like, "chunks")
        if known and not np.isnan(like.chunks[0]).any() and len(like) == len(values):
            values = values.rechunk({0: like.chunks[0]})
    return list(np.ravel(values.to_delayed()))


def _client() -> Any:
    """The client in use, if there is one; distributed is not imported to find out."""
    if "distributed" not in sys.modules:
        return None
    from distributed import get_client

    try:
        return get_client()
    except ValueError:
        return None

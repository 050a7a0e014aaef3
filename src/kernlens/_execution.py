"""Where work runs: independent blocks, mapped serially or on threads.

Every heavy loop of the package is a plain function of one block, and this module is the only one
that decides how the blocks are carried out. Results come back in the order of the blocks, whatever
ran first, so that a sum over them has the same rounding for every `n_jobs`.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

import joblib
from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController

from kernlens._array import FloatArray

Item = TypeVar("Item")
Value = TypeVar("Value")

#: Below this many elementary operations, handing a block to a thread costs more than the block.
SERIAL_WORK = 2_000_000
#: Partial sums over blocks that exist at once.
N_SUMS = 8


@cache
def _available_cores() -> int:
    """Cores that affinity and the quotas of a container leave to this process.

    Quotas are files, which would be read again by every one of the thousands of calls of a fit.
    """
    return int(joblib.cpu_count())


def inside_worker() -> bool:
    """Say whether this thread works for joblib, next to other workers: as in a parallel search."""
    # Backends of the user's own may leave the level at None.
    return (get_active_backend()[0].nesting_level or 0) > 0


def effective_n_jobs(n_jobs: int | None) -> int:
    """Return the number of threads meant by `n_jobs`.

    None takes the number of a surrounding ``joblib.parallel_config``, and all cores without one;
    negative numbers count back from all cores. Both mean one thread inside a worker of joblib,
    where every core has its worker already. A positive number is used as it is.
    """
    if n_jobs is not None and n_jobs > 0:
        return n_jobs
    if inside_worker():
        return 1
    if n_jobs is None:
        n_jobs = get_active_backend()[1] or -1
    return n_jobs if n_jobs > 0 else max(1, _available_cores() + 1 + n_jobs)


class SharedLimit:
    """BLAS on one thread as long as anyone wants it so.

    Fits in several threads of the user overlap. If each put back what it found, the last one would
    put back the limit of another; so users are counted, and the last one ends the limit.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_users = 0
        self._limiter: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._n_users == 0:
                self._limiter = _thread_pools().limit(limits=1, user_api="blas")
            self._n_users += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._n_users -= 1
            if self._n_users == 0:
                self._limiter.restore_original_limits()


@cache
def _thread_pools() -> ThreadpoolController:
    """Thread pools of the libraries loaded; looking for them takes milliseconds."""
    return ThreadpoolController()


def single_threaded_blas() -> AbstractContextManager[None]:
    """Keep BLAS to one thread: our products are small, and its threads spin while ours work."""
    return _shared.limit


class SharedPools:
    """Our threads, kept as long as anyone works: a fit makes thousands of short calls.

    The last one who leaves ends them, so that none is left behind.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_users = 0
        self._pools: dict[int, ThreadPoolExecutor] = {}

    def __enter__(self) -> None:
        with self._lock:
            self._n_users += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._n_users -= 1
            ended, self._pools = (self._pools, {}) if self._n_users == 0 else ({}, self._pools)
        for pool in ended.values():
            # After an interruption blocks may still run: they are short, and nobody waits for them.
            pool.shutdown(wait=error[0] is None, cancel_futures=True)

    def of(self, n_threads: int) -> ThreadPoolExecutor:
        """So many threads, for someone who works."""
        with self._lock:
            if n_threads not in self._pools:
                self._pools[n_threads] = ThreadPoolExecutor(
                    n_threads, thread_name_prefix="kernlens", initializer=_mark
                )
            return self._pools[n_threads]


#: Marks the threads of the pools.
_inside = threading.local()


def _mark() -> None:
    _inside.pool = True


@dataclass
class _Shared:
    """What all fits of a process share; nothing that a result could depend on."""

    limit: SharedLimit = field(default_factory=SharedLimit)
    pools: SharedPools = field(default_factory=SharedPools)


_shared = _Shared()


def working() -> AbstractContextManager[None]:
    """Keep our threads for the calls inside."""
    return _shared.pools


def _start_anew() -> None:
    """In the child of a fork: its parent's threads, and what they hold, do not exist here."""
    if _shared.limit._n_users:
        _shared.limit._limiter.restore_original_limits()
    _shared.limit, _shared.pools = SharedLimit(), SharedPools()
    _inside.pool = False


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)


def split_range(n_items: int, block_size: int) -> list[slice]:
    """Cut ``range(n_items)`` into slices of `block_size` items, the last one shorter.

    :func:`sklearn.utils.gen_batches` does the same, but validates its arguments at every call:
    small fits, with ten thousands of calls, took up to 1.4 times as long with it.
    """
    return [slice(lo, min(lo + block_size, n_items)) for lo in range(0, n_items, block_size)]


def map_blocks(
    function: Callable[[Item], Value],
    blocks: Sequence[Item] | Iterable[Item],
    *,
    n_jobs: int | None = None,
    work: float = float("inf"),
) -> list[Value]:
    """Apply `function` to every block and return the values in the order of the blocks.

    Parameters
    ----------
    function : callable
        A function of one block that holds no lock for long: numba code compiled with ``nogil``,
        BLAS, or NumPy's own loops.
    blocks : sequence
        The blocks; they must not depend on each other.
    n_jobs : int or None, default=None
        Threads, see :func:`effective_n_jobs`.
    work : float, default=inf
        Rough number of elementary operations in all blocks together. Small work runs serially.
    """
    blocks = list(blocks)
    # Waiting for threads of the pool from within one of them could wait for ever.
    serial = len(blocks) <= 1 or work < SERIAL_WORK or getattr(_inside, "pool", False)
    n_threads = 1 if serial else min(effective_n_jobs(n_jobs), len(blocks))
    if n_threads == 1:
        return [function(block) for block in blocks]
    with working():
        return list(_shared.pools.of(n_threads).map(function, blocks))


def sum_blocks(
    function: Callable[[Item], tuple[FloatArray, ...]],
    blocks: Sequence[Item],
    *,
    n_jobs: int | None = None,
    work: float = float("inf"),
) -> list[FloatArray]:
    """Sum what `function` returns over all blocks, part by part.

    The blocks are summed in a fixed number of groups, so that memory does not grow with their
    number and the rounding is the same for every number of threads.
    """

    def total(group: slice) -> list[FloatArray]:
        sums: list[FloatArray] = []
        for block in blocks[group]:
            parts = function(block)
            if not sums:
                sums = list(parts)
                continue
            for part, more in zip(sums, parts, strict=True):
                part += more
        return sums

    groups = split_range(len(blocks), max(1, -(-len(blocks) // N_SUMS)))
    totals = map_blocks(total, groups, n_jobs=n_jobs, work=work)
    # In place: large parts are not stacked to be added up.
    first, *others = totals
    for sums in others:
        for part, more in zip(first, sums, strict=True):
            part += more
    return first

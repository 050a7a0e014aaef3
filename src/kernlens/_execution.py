"""Where work runs: independent blocks, mapped serially or on threads.

Every heavy loop of the package is a plain function of one block, and this module is the only one
that decides how the blocks are carried out. Results come back in the order of the blocks, whatever
ran first, so that a sum over them has the same rounding for every `n_jobs`.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import TypeVar

from threadpoolctl import ThreadpoolController

from kernlens._array import FloatArray

Item = TypeVar("Item")
Value = TypeVar("Value")

#: Below this many elementary operations, handing a block to a thread costs more than the block.
SERIAL_WORK = 2_000_000
#: Partial sums over blocks that exist at once.
N_SUMS = 8


def effective_n_jobs(n_jobs: int | None) -> int:
    """Number of threads meant by `n_jobs` (None: all cores available to this process)."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    available = available or os.cpu_count() or 1
    if n_jobs is None:
        return available
    return n_jobs if n_jobs > 0 else max(1, available + 1 + n_jobs)


@cache
def _thread_pools() -> ThreadpoolController:
    """Thread pools of the libraries loaded; looking for them takes milliseconds."""
    return ThreadpoolController()


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Keep BLAS to one thread: our products are small, and its threads spin while ours work."""
    with _thread_pools().limit(limits=1, user_api="blas"):
        yield


#: Marks the threads of the pools.
_inside = threading.local()


@cache
def _pool(n_threads: int) -> ThreadPoolExecutor:
    """Threads kept between calls: a fit makes thousands of short ones."""

    def mark() -> None:
        _inside.pool = True

    return ThreadPoolExecutor(n_threads, thread_name_prefix="kernlens", initializer=mark)


if hasattr(os, "register_at_fork"):
    # Threads do not survive a fork: a child makes its own.
    os.register_at_fork(after_in_child=_pool.cache_clear)


def split_range(n_items: int, block_size: int) -> list[slice]:
    """Cut ``range(n_items)`` into slices of `block_size` items, the last one shorter."""
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
        Threads; None means all the cores of this process, -1 the same.
    work : float, default=inf
        Rough number of elementary operations in all blocks together. Small work runs serially.
    """
    blocks = list(blocks)
    n_threads = min(effective_n_jobs(n_jobs), len(blocks))
    if n_threads <= 1 or work < SERIAL_WORK:
        return [function(block) for block in blocks]
    if getattr(_inside, "pool", False):
        # Waiting for threads of the pool from within one of them could wait for ever.
        return [function(block) for block in blocks]
    return list(_pool(n_threads).map(function, blocks))


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

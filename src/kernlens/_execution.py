"""Where work runs: independent blocks, mapped serially or on threads.

Every heavy loop of the package is a plain function of one block, and this module is the only one
that decides how the blocks are carried out. Results come back in the order of the blocks, whatever
ran first, so that a sum over them has the same rounding for every `n_jobs`.
"""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import count
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


class Shared(ABC):
    """Something that all threads of the user share as long as one of them wants it.

    Fits in several threads overlap, and one use may stand within another.
    """

    def __init__(self) -> None:
        # A use may be forgotten, and left, while its own thread begins another one.
        self._lock = threading.RLock()
        self._uses: dict[int, list[int]] = {}

    def uses_of(self, thread: int) -> int:
        """How often a thread wants it."""
        return len(self._uses.get(thread, ()))

    def enter(self, thread: int, use: int) -> None:
        """Begin a use, within those of the same thread that there are."""
        with self._lock:
            first = not self._uses
            self._uses.setdefault(thread, []).append(use)
            if first:
                self._begin()

    def leave(self, thread: int, use: int, *, interrupted: bool) -> None:
        """End a use, and those within it that an interruption kept from ending."""
        self._end_uses(thread, use, slice(None), interrupted)

    def forget(self, thread: int, use: int) -> None:
        """End a use that an interruption kept from ending."""
        self._end_uses(thread, use, slice(1), interrupted=True)

    def _end_uses(self, thread: int, use: int, from_here: slice, interrupted: bool) -> None:
        remains: Callable[[], None] | None = None
        with self._lock:
            uses = self._uses.get(thread, [])
            if use not in uses:
                return
            outer, inner = uses[: uses.index(use)], uses[uses.index(use) :]
            del inner[from_here]
            self._uses[thread] = outer + inner
            if not self._uses[thread]:
                del self._uses[thread]
            if not self._uses:
                remains = self._end(interrupted)
        if remains is not None:
            remains()

    @abstractmethod
    def _begin(self) -> None:
        """What the first use needs."""

    @abstractmethod
    def _end(self, interrupted: bool) -> Callable[[], None] | None:
        """Put back what was before the first use; return what may take longer."""


class Use:
    """One use of something shared, as a context.

    An interruption may hit the very lines that begin or end a use. An outer use ends those within
    it, whatever happened there; and a use that was not ended is when it is forgotten.
    """

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._thread, self._number = threading.get_ident(), next(_numbers)

    def __enter__(self) -> None:
        self._shared.enter(self._thread, self._number)

    def __exit__(self, *error: object) -> None:
        self._shared.leave(self._thread, self._number, interrupted=error[0] is not None)

    def __del__(self) -> None:
        self._shared.forget(self._thread, self._number)


#: Numbers of uses, each given once.
_numbers = count()


class SharedLimit(Shared):
    """BLAS on one thread as long as anyone wants it so.

    If each of several fits put back what it found, the last one would put back the limit of
    another.
    """

    _limiter: Any = None

    def _begin(self) -> None:
        self._limiter = _thread_pools().limit(limits=1, user_api="blas")

    def _end(self, interrupted: bool) -> None:
        if self._limiter is not None:
            self._limiter.restore_original_limits()
            self._limiter = None


@cache
def _thread_pools() -> ThreadpoolController:
    """Thread pools of the libraries loaded; looking for them takes milliseconds."""
    return ThreadpoolController()


def single_threaded_blas() -> AbstractContextManager[None]:
    """Keep BLAS to one thread: our products are small, and its threads spin while ours work."""
    return Use(_shared.limit)


def single_threaded_openmp() -> AbstractContextManager[Any]:
    """Keep the loops of others, such as trees of scikit-learn, to the thread that calls them.

    OpenMP keeps this number for every thread of ours by itself, so that nobody else is touched.
    """
    return _thread_pools().limit(limits=1, user_api="openmp")


class SharedPools(Shared):
    """Our threads, kept as long as anyone works: a fit makes thousands of short calls.

    The last one who leaves ends them, so that none is left behind.
    """

    def __init__(self) -> None:
        super().__init__()
        self._pools: dict[int, ThreadPoolExecutor] = {}

    def _begin(self) -> None:
        """Threads are started when they are asked for."""

    def _end(self, interrupted: bool) -> Callable[[], None]:
        ended, self._pools = self._pools, {}

        def shut_down() -> None:
            for pool in ended.values():
                # After an interruption blocks may still run: they are short, and nobody waits.
                pool.shutdown(wait=not interrupted, cancel_futures=True)

        return shut_down

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
    return Use(_shared.pools)


def _start_anew() -> None:
    """In the child of a fork: its parent's threads, and what they hold, do not exist here."""
    _shared.limit._end(interrupted=True)
    _shared.limit, _shared.pools = SharedLimit(), SharedPools()
    _inside.pool = False


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)


@contextmanager
def as_worker() -> Iterator[None]:
    """Keep what is called inside to this thread: others work beside it, here or elsewhere."""
    before = getattr(_inside, "pool", False)
    _inside.pool = True
    try:
        with single_threaded_blas():
            yield
    finally:
        _inside.pool = before


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

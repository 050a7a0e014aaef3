"""Whole fits on the workers of a cluster, where joblib was told to use one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from joblib.parallel import get_active_backend

from kernlens._execution import as_worker
from kernlens._reports import StopRequested
from kernlens.blocks.dask_table import wait_for

#: Seconds between looks whether somebody still wants a result.
LOOK = 0.2


@dataclass
class Workers:
    """Workers that compute what threads of this process wait for.

    Attributes
    ----------
    client : distributed.Client
    """

    client: Any
    _sent: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    @classmethod
    def of_joblib(cls) -> Workers | None:
        """Those of ``joblib.parallel_config("dask")``; None for any other backend."""
        client = getattr(get_active_backend()[0], "client", None)
        return cls(client) if hasattr(client, "scatter") else None

    @property
    def n_threads(self) -> int:
        """How many fits there may be at a time."""
        return max(1, sum(self.client.nthreads().values()))

    def sent(self, value: Any) -> Any:
        """A value on the workers, to which it is sent once."""
        if value is None:
            return None
        with self._lock:
            if id(value) not in self._sent:
                future = self.client.scatter(value, broadcast=True, hash=False)
                # The value stays, so that nothing else gets its number.
                self._sent[id(value)] = value, future
            return self._sent[id(value)][1]

    def run(
        self, function: Callable[..., Any], *args: Any, wanted: Callable[[], bool], **options: Any
    ) -> Any:
        """What a function returns on a worker; None if nobody wants it any more.

        Errors of the function are raised here. A worker that dies takes nothing along: the call
        begins again on another one.
        """
        future = self.client.submit(_alone, function, args, options, pure=False)
        if not wait_for(self.client, [future], wanted, LOOK):
            future.cancel()
            return None
        value, stopped = future.result()
        if stopped:
            raise StopRequested
        return value


def _alone(
    function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]
) -> tuple[Any, bool]:
    """What a function returns, and whether it was stopped instead, which would end a worker."""
    try:
        with as_worker():
            return function(*args, **options), False
    except StopRequested:
        return None, True

"""Loops compiled by numba, which free the interpreter's lock while they run.

No compiled loop may read or write outside its arrays, whatever the values in them: an index that
comes from data is clamped, and comparisons are written so that NaN ends them too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Decorate a loop; what is compiled is kept on disk if there is a place for it.

    numba keeps it beside the package, or in the user's folder, or in ``NUMBA_CACHE_DIR``, and
    refuses to decorate where none of them can be written. Then every process compiles anew.
    """

    def decorate(loop: Callable[..., Any]) -> Any:
        try:
            return njit(nogil=True, cache=True, **options)(loop)
        except RuntimeError:
            return njit(nogil=True, **options)(loop)

    return decorate

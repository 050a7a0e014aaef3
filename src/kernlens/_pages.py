"""How estimators reach the pages about them, which are made in a layer above them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass
class _Makers:
    """What `kernlens.reporting` puts here when the package is imported.

    Attributes
    ----------
    report : callable
        Writes a page, see :func:`kernlens.report`.
    head : callable
        Fitted model -> the answer as HTML.
    """

    report: Callable[..., Path] | None = None
    head: Callable[[Any], str] | None = None


_MAKERS = _Makers()


def register(report: Callable[..., Path], head: Callable[[Any], str]) -> None:
    """Say who makes pages; the package does so once, when it is imported."""
    _MAKERS.report, _MAKERS.head = report, head


def write_page(*arguments: Any, **options: Any) -> Path:
    """Write a page, see :func:`kernlens.report`."""
    assert _MAKERS.report is not None, "importing any part of kernlens imports its pages"
    return _MAKERS.report(*arguments, **options)


def head_of_page(model: Any) -> str:
    """The answer about a fitted model as HTML, for notebooks."""
    assert _MAKERS.head is not None, "importing any part of kernlens imports its pages"
    return _MAKERS.head(model)

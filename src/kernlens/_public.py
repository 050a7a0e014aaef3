"""Which module a public name belongs to, for users and for saved models."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def expose(module: str, names: Iterable[str], namespace: dict[str, Any]) -> None:
    """Make classes and functions belong to the module that users import them from.

    Saved models, error messages and documentation then name that module, and files can move inside
    the package without breaking any of them.

    Parameters
    ----------
    module : str
        The public module, ``__name__`` of the caller.
    names : iterable of str
        Its public names.
    namespace : dict
        Its globals.
    """
    for name in names:
        thing = namespace[name]
        if callable(thing) and getattr(thing, "__module__", "").startswith("kernlens."):
            thing.__module__ = module

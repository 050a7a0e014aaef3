"""What pages of HTML share: their style, templates that escape, and hashes for their policy."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from functools import cache
from importlib import resources
from typing import Any


@cache
def part(package: str, name: str) -> str:
    """A file among the templates of a package."""
    return (resources.files(package) / "templates" / name).read_text("utf-8")


@cache
def style() -> str:
    """The style of all pages."""
    return (resources.files("kernlens._html") / "page.css").read_text("utf-8")


def hash_of(text: str) -> str:
    """What a page's policy calls a style or a script that may be used."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def environment(package: str, *, autoescape: bool | Callable[[str | None], bool] = True) -> Any:
    """Templates of a package, in which a name that is not there is an error."""
    # Only those who make a page wait for it.
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    return Environment(
        loader=FunctionLoader(lambda name: part(package, name)),
        autoescape=autoescape,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )

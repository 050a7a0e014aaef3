"""Every example in a docstring of the installed package gives what it shows.

The package is walked as it is imported, wherever that is, so the examples run against the same
modules as all other tests. ``pytest --doctest-modules src`` would load a second copy beside them.
"""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import kernlens

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def module_names() -> Iterator[str]:
    yield "kernlens"
    for found in pkgutil.walk_packages(kernlens.__path__, prefix="kernlens.", onerror=_reraise):
        if not found.name.endswith("__main__"):  # importing it would run the command line
            yield found.name


def _reraise(name: str) -> None:
    # walk_packages swallows the ImportError of a subpackage, and with it all its examples.
    raise


def examples() -> list[doctest.DocTest]:
    finder = doctest.DocTestFinder()
    found = (test for name in module_names() for test in finder.find(importlib.import_module(name)))
    return [test for test in found if test.examples]


def test_the_walk_reaches_every_file() -> None:
    # walk_packages passes over a folder without __init__.py.
    walked = {importlib.import_module(name).__file__ for name in module_names()}
    files = {str(path) for root in kernlens.__path__ for path in Path(root).rglob("*.py")}
    assert {file for file in files if not file.endswith("__main__.py")} == walked


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.name)
def test_docstring_example(example: doctest.DocTest) -> None:
    report: list[str] = []
    # A copy of the globals: what an example assigns must not leak into its module.
    example.globs = example.globs.copy()
    outcome = doctest.DocTestRunner(optionflags=OPTIONS).run(example, out=report.append)
    assert outcome.failed == 0, "".join(report)

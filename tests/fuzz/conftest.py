"""The short run waits for what it finds to be mended; naming its file runs it."""

from __future__ import annotations

from pathlib import Path

import pytest

WAITING = "test_short_run.py"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the short run out unless it is named."""
    named = any(WAITING in argument for argument in config.args)
    return True if collection_path.name == WAITING and not named else None

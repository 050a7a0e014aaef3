"""Where data sets come from: a folder of npz files that the user names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np


class DataFolder:
    """A folder of npz files with X and y; without a path, an empty one.

    Parameters
    ----------
    path : Path or None
        The folder of ``--data-dir``.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path

    def has(self, name: str) -> bool:
        """Whether there is a data set of this name."""
        return self.path is not None and self._file(name).is_file()

    def load(self, name: str) -> dict[str, Any]:
        """The arrays of a data set."""
        with np.load(self._file(name), allow_pickle=False) as arrays:
            return dict(arrays)

    def _file(self, name: str) -> Path:
        return Path(self.path or "") / f"{name}.npz"

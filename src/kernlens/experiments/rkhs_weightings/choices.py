"""Splits and chosen settings, kept while the cells of a line of a table are run one after another.

Whoever asks, the answer is the same: what is kept saves time and changes no number.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from kernlens.experiments.contract import Cell
from kernlens.experiments.data import DataFolder
from kernlens.experiments.rkhs_weightings import fits, sets

#: What a choice depends on beside data set, instantiation and method.
SEARCH = ("search_T", "n_widths", "search_rows", "search_seeds")
#: Up to so many training rows settings are chosen with all features.
FEW_ROWS = 1000


@lru_cache(maxsize=2)
def split_of(name: str, folder: Path | None) -> sets.Split:
    """A data set with its split."""
    return sets.load_split(name, DataFolder(folder))


def setting_of(cell: Cell, data: DataFolder) -> fits.Setting:
    """The setting that serves all seeds of a cell, chosen with other weights than those.

    Where rows are few, a decomposition costs the same for all features as for some of them: what
    fewer features leave out may be what keeps a small lambda from fitting noise.
    """
    search_T, *others = (cell[part] for part in SEARCH)
    if len(split_of(cell["dataset"], data.path).X) <= FEW_ROWS:
        search_T = cell["T"]
    return _chosen(
        *(cell["dataset"], data.path, cell["instantiation"], cell["method"]),
        *(search_T, *others),
    )


@lru_cache(maxsize=8)
def _chosen(
    name: str,
    folder: Path | None,
    instantiation: str,
    method: str,
    search_T: int,
    n_widths: int,
    search_rows: int,
    search_seeds: int,
) -> fits.Setting:
    split = split_of(name, folder)
    tried = fits.settings_of(instantiation, method, split.X.shape[1], n_widths)
    return fits.choose(tried, split, search_T, search_rows, search_seeds)

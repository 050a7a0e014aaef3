"""What an experiment is: settings as data, a function of one cell, a table, a figure and claims."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from matplotlib.figure import Figure

from kernlens.experiments.claims import Claim
from kernlens.experiments.data import DataFolder
from kernlens.experiments.summaries import TableForm

#: One independent piece of work: settings, "method" and "seed", all of them values of JSON.
Cell = dict[str, Any]
#: A cell and what was measured in it.
Row = dict[str, Any]
Settings = Mapping[str, Any]

QUICK, FULL = "quick", "full"
SCALES = (QUICK, FULL)


@dataclass(frozen=True)
class Paper:
    """A paper whose numbers are compared with."""

    name: str
    citation: str


@dataclass(frozen=True)
class Measured:
    """What one cell gives, or one of several lines of a cell.

    Attributes
    ----------
    scores : dict
        Numbers of the table.
    curves : dict
        Lists of numbers for the figure.
    times : dict
        Seconds, which differ from run to run and are kept apart.
    labels : dict
        What tells several lines of one cell apart, such as the iteration; plain values.
    """

    scores: dict[str, float]
    curves: dict[str, list[Any]] = field(default_factory=dict)
    times: dict[str, float] = field(default_factory=dict)
    labels: dict[str, Any] = field(default_factory=dict)


#: Runs a cell.
Run = Callable[[Cell, DataFolder], Measured | list[Measured]]


@dataclass(frozen=True)
class Experiment:
    """An experiment of a paper.

    Attributes
    ----------
    name : str
        Of the command line, such as "bkernn-5".
    paper : Paper
    place : str
        Section, figure or table, and appendix.
    title : str
    scales : mapping
        The settings of "quick" and "full".
    cells : callable
        Settings to the list of cells.
    run : callable
        A cell and the folder of data sets to what was measured: one line, or a list of lines.
    table : TableForm
    draw : callable
        Draws the figure in the paper's form from the rows; None if there is none.
    claims : sequence of Claim
    notes : sequence of str
        How this differs from the paper, and why.
    needs : callable
        The data set of a cell, or None.
    size : tuple of float
        Inches of the figure.
    """

    name: str
    paper: Paper
    place: str
    title: str
    scales: Mapping[str, Settings]
    cells: Callable[[Settings], list[Cell]]
    run: Run
    table: TableForm
    draw: Callable[[Figure, Sequence[Row]], None] | None
    claims: Sequence[Claim] = ()
    notes: Sequence[str] = ()
    needs: Callable[[Cell], str | None] = lambda cell: None
    size: tuple[float, float] = (9.0, 4.5)


def key_of(cell: Cell) -> str:
    """The name of a cell, the same whenever its settings are."""
    return json.dumps(cell, sort_keys=True, separators=(",", ":"))

"""Two tables of the paper that differ in their data sets alone: classification and regression."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from matplotlib.figure import Figure

from kernlens.experiments.claims import Claim
from kernlens.experiments.contract import Cell, Experiment, Row, Run, Settings
from kernlens.experiments.papers import RKHS_WEIGHTINGS
from kernlens.experiments.rkhs_weightings import sets
from kernlens.experiments.summaries import TableForm

#: Tables 16 to 19 have the deviations of Tables 10 to 13.
DEVIATIONS_LATER = 6


def table_pair(
    first_number: int,
    section: str,
    title: str,
    *,
    quick: tuple[Settings, Settings],
    full: tuple[Settings, Settings],
    cells: Callable[[Settings], list[Cell]],
    run: Run,
    form_of: Callable[[bool], TableForm],
    draw: Callable[[Figure, Sequence[Row]], None],
    claims: Sequence[Claim],
    notes: Sequence[str],
    size: tuple[float, float],
) -> tuple[Experiment, ...]:
    """The experiments of two tables, the settings and the form of each first for classification.

    Parameters
    ----------
    first_number : int
        Number of the table of classification.
    section, title : str
    quick, full : tuple of mapping
    cells, run, draw, claims, notes, size
        As of an :class:`~kernlens.experiments.contract.Experiment`.
    form_of : callable
        Whether it is regression, to the form of the table.
    """
    return tuple(
        Experiment(
            name=f"weightings-table-{number}",
            paper=RKHS_WEIGHTINGS,
            place=f"{section}, Tables {number} and {number + DEVIATIONS_LATER}",
            title=f"{title}, {kind}",
            scales={"quick": quick[place], "full": full[place]},
            cells=cells,
            run=run,
            table=form_of(kind == "regression"),
            draw=draw,
            claims=claims,
            notes=notes,
            needs=sets.needs,
            size=size,
        )
        for place, (number, kind) in enumerate(
            ((first_number, "classification"), (first_number + 1, "regression"))
        )
    )

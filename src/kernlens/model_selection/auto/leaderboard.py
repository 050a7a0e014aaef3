"""What was tried and how well it predicts, as a table and in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kernlens._table import Table
from kernlens.base.tabular import Tabular

#: The row of the stack.
STACK = "stack of members"
#: Columns that are left out for one reason are all named up to so many; of more, some are.
MOST_NAMED = 10
SOME_NAMED = 3


@dataclass(frozen=True)
class Row:
    """One candidate.

    Attributes
    ----------
    name : str
    score, error : float
        Of rows left out, and its standard error; NaN unless the candidate predicted all of them.
    look : float
        Score of the first look; NaN if there was none.
    seconds : float
    weight : float
        Share in the final function.
    note : str
        Why it was not finished.
    kind : str
        "family", "line" or "trees".
    """

    name: str
    score: float
    error: float
    look: float
    seconds: float
    weight: float
    note: str
    kind: str


@dataclass(frozen=True, repr=False)
class Leaderboard(Tabular):
    """All candidates, the best first."""

    rows: tuple[Row, ...]
    title: str

    @classmethod
    def of(cls, rows: Sequence[Row], title: str) -> Leaderboard:
        """Sort by score; those without one by their first look, after the others."""

        def place(row: Row) -> tuple[bool, float, float]:
            look = -row.look if np.isfinite(row.look) else np.inf
            return (not np.isfinite(row.score), -row.score if np.isfinite(row.score) else 0.0, look)

        return cls(tuple(sorted(rows, key=place)), title)

    def _table(self) -> Table:
        return Table(
            ["candidate", "score", "standard_error", "first_look", "seconds", "weight", "note"],
            [
                [row.name for row in self.rows],
                [row.score for row in self.rows],
                [row.error for row in self.rows],
                [row.look for row in self.rows],
                [row.seconds for row in self.rows],
                [row.weight for row in self.rows],
                [row.note for row in self.rows],
            ],
            caption=f"Scores of rows left out: {self.title}, higher is better.",
        )

    def named(self, name: str) -> Row | None:
        """The row of a candidate."""
        return next((row for row in self.rows if row.name == name), None)

    def best_of(self, kind: str) -> Row | None:
        """The best finished candidate of a kind."""
        rows = [row for row in self.rows if row.kind == kind and np.isfinite(row.score)]
        return max(rows, key=lambda row: row.score, default=None)


def told(
    board: Leaderboard,
    final: Row,
    n_directions: int,
    left_out: Mapping[str, str],
    n_rows: int,
    n_weak: int = 0,
) -> str:
    """How it was chosen, in a few sentences.

    Parameters
    ----------
    board : Leaderboard
    final : Row
        What predicts in the end.
    n_directions : int
    left_out : dict of str to str
        Columns that were left out, and why.
    n_rows : int
    n_weak : int
        Prepared columns that were too many.
    """
    rows = [row for row in board.rows if row.name != STACK]
    tried = [row for row in rows if np.isfinite(row.score) or np.isfinite(row.look)]
    others = f" of {len(rows)}" if len(tried) < len(rows) else ""
    members = sorted((row for row in tried if row.weight > 0.0), key=lambda row: -row.weight)
    shares = ", ".join(f"{row.name} ({row.weight:.0%})" for row in members)
    lines = [
        f"{len(tried)}{others} candidates were tried on {n_rows} rows. The prediction is that of "
        f"{shares}; its {board.title} on rows left out is {final.score:.3f} (standard error "
        f"{final.error:.3f})."
    ]
    lines += _gained(members, final, board.title)
    for kind, name in (("line", "A straight line"), ("trees", "Gradient boosted trees")):
        row = board.best_of(kind)
        if row is not None:
            lines.append(_compared(name, row, final, board.title))
    if n_directions:
        plural = "direction matters" if n_directions == 1 else "directions matter"
        lines.append(f"{n_directions} {plural}.")
    else:
        lines.append("No direction predicts rows left out better than a constant.")
    if n_weak:
        lines.append(f"{n_weak} prepared columns that say least of the target were not used.")
    if left_out:
        lines.append(f"Columns left out: {', '.join(named_with_reasons(left_out))}.")
    return " ".join(lines)


def named_with_reasons(left_out: Mapping[str, str]) -> list[str]:
    """Columns with the reason why they are left out; of many for the same reason only some."""
    by_reason: dict[str, list[str]] = {}
    for name, reason in left_out.items():
        by_reason.setdefault(reason, []).append(name)
    found = []
    for reason, names in by_reason.items():
        if len(names) <= MOST_NAMED:
            found += [f"{name} ({reason})" for name in names]
        else:
            some = ", ".join(names[:SOME_NAMED])
            found.append(f"{len(names)} columns such as {some} ({reason})")
    return found


def _gained(members: Sequence[Row], final: Row, title: str) -> list[str]:
    """What a stack gains over the best of its members."""
    if len(members) < 2:
        return []
    best = max(members, key=lambda row: row.score)
    gain = final.score - best.score
    return [f"That is {gain:.3f} more than {best.name} alone ({title} {best.score:.3f})."]


def _compared(name: str, row: Row, final: Row, title: str) -> str:
    apart = final.score - row.score
    unsure = float(np.hypot(final.error, row.error))
    verb = "does" if name.endswith("line") else "do"
    if abs(apart) <= unsure:
        return f"{name} {verb} as well ({title} {row.score:.3f})."
    return f"{name} {verb} {'worse' if apart > 0.0 else 'better'} ({title} {row.score:.3f})."

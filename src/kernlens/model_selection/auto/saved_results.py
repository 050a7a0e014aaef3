"""What an automatic estimator has beside arrays, as plain values in a saved model."""

from __future__ import annotations

from dataclasses import astuple, fields
from typing import Any

from kernlens.base.saved import SavedMixin
from kernlens.model_selection.auto.agreement import FoldStability
from kernlens.model_selection.auto.leaderboard import Leaderboard, Row


class SavedResultsMixin(SavedMixin):
    """Leaderboard and stability as plain values, so that files name no types of theirs."""

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes, with plain values in the place of results."""
        state: dict[str, Any] = dict(super().__getstate__())
        board: Leaderboard | None = state.pop("_board", None)
        if board is not None:
            state["_saved_board"] = {
                "title": board.title,
                "rows": [list(astuple(row)) for row in board.rows],
            }
        stability: FoldStability | None = state.get("stability_")
        if stability is not None:
            state["stability_"] = {
                field.name: getattr(stability, field.name) for field in fields(stability)
            }
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make the results again."""
        state = dict(state)
        board = state.pop("_saved_board", None)
        if board is not None:
            state["_board"] = Leaderboard(tuple(Row(*row) for row in board["rows"]), board["title"])
        stability = state.get("stability_")
        if isinstance(stability, dict):
            names = tuple(stability.pop("names"))
            state["stability_"] = FoldStability(names=names, **stability)
        super().__setstate__(state)

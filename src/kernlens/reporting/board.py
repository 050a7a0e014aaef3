"""The leaderboard of an automatic estimator as plain rows."""

from __future__ import annotations

from typing import Any

import numpy as np

#: A normal variable is this far from its mean, in standard errors, with a probability of 10 %.
Z90 = 1.6448536269514722


def leaderboard_of(model: Any) -> dict[str, Any] | None:
    """All candidates, the best first; None for a model that compared none."""
    board = getattr(model, "_board", None)
    if board is None:
        return None
    rows = [
        {
            "name": row.name,
            "kind": row.kind,
            "score": row.score,
            "standard_error": row.error,
            "low": row.score - Z90 * row.error,
            "high": row.score + Z90 * row.error,
            "first_look": row.look,
            "seconds": row.seconds,
            "weight": row.weight,
            "note": row.note,
        }
        for row in board.rows
    ]
    stack = board.named("stack of members")
    heaviest = max(board.rows, key=lambda row: row.weight if np.isfinite(row.weight) else 0.0)
    final = stack if stack is not None else heaviest
    best = {kind: board.best_of(kind) for kind in ("line", "trees")}
    return {
        "score_name": board.title,
        "coverage": 0.9,
        "final": final.name,
        "line": None if best["line"] is None else best["line"].name,
        "trees": None if best["trees"] is None else best["trees"].name,
        "rows": rows,
    }

"""The files that `fit` writes, each whole or not there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kernlens.cli._csv import frame_columns, write_csv
from kernlens.cli._models import save_model
from kernlens.cli._output import replacing, writing_to
from kernlens.inspection.direction_summary import summarize_directions
from kernlens.reporting import render

MODEL, PREDICTIONS, DIRECTIONS = "model.skops", "predictions.csv", "directions.csv"
LEADERBOARD, SUMMARY, PAGE = "leaderboard.csv", "summary.json", "report.html"
ALL = (MODEL, PREDICTIONS, DIRECTIONS, LEADERBOARD, SUMMARY, PAGE)


def write_model(model: Any, folder: Path) -> str:
    """The model, which is worth most, first."""
    with writing_to(folder, "--out"):
        save_model(model, folder / MODEL)
        # Files of an earlier run would be taken for those of this model.
        for name in ALL[1:]:
            if not (folder / name).is_dir():
                (folder / name).unlink(missing_ok=True)
    return MODEL


def write_tables(
    model: Any,
    predictions: dict[str, Any] | None,
    board: dict[str, Any],
    folder: Path,
) -> list[str]:
    """Predictions of rows held out, directions and leaderboard."""
    directions = summarize_directions(model).to_frame()
    with writing_to(folder, "--out"):
        if predictions is not None:
            write_csv(folder / PREDICTIONS, predictions)
        write_csv(folder / DIRECTIONS, frame_columns(directions, "column"))
        write_csv(folder / LEADERBOARD, board)
    written = [PREDICTIONS] if predictions is not None else []
    return [*written, DIRECTIONS, LEADERBOARD]


def write_page(summary: dict[str, Any], folder: Path) -> list[str]:
    """The summary, and the page that is made of it."""
    text = json.dumps(summary, indent=1, ensure_ascii=False, allow_nan=False)
    page = render(summary)
    with writing_to(folder, "--out"):
        for name, content in ((SUMMARY, text + "\n"), (PAGE, page)):
            with replacing(folder / name) as part:
                # Half a pair of surrogates is no text that can be written.
                part.write_bytes(content.encode("utf-8", errors="replace"))
    return [SUMMARY, PAGE]

"""The tables of a summary as CSV files that a page has inside."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from kernlens.reporting.cells import safe_cell

Rows = list[dict[str, Any]]


def downloads_of(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """Name, description and address of every table that there is."""
    tables: list[tuple[str, str, Rows]] = [
        ("scores.csv", "Scores and their intervals", (summary["scores"] or {}).get("scores", [])),
        ("leaderboard.csv", "Leaderboard", (summary["leaderboard"] or {}).get("rows", [])),
        ("directions.csv", "Weights of the columns in the directions", _directions(summary)),
        ("columns.csv", "Importances of columns", (summary["columns"] or {}).get("columns", [])),
        ("derivatives.csv", "Average derivatives", _derivatives(summary)),
        ("predictions.csv", "Observed and predicted, the rows of the picture", _points(summary)),
        ("classes.csv", "Recall and precision", (summary["classes"] or {}).get("by_class", [])),
        ("curves.csv", "Fitted curves along the directions", _curves(summary)),
    ]
    return [
        {"name": name, "text": text, "n_rows": len(rows), "href": address(csv_text(rows))}
        for name, text, rows in tables
        if rows
    ]


def address(text: str) -> str:
    """A text as an address that has it inside."""
    return "data:text/csv;charset=utf-8," + quote(text, safe=" ,-.()'!*~/:;@=$")


def csv_text(rows: Rows) -> str:
    """A table with a header; text from the data is never a formula."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\r\n")
    writer.writerow([safe_cell(name) for name in rows[0]])
    writer.writerows([_cell(value) for value in row.values()] for row in rows)
    return written.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return safe_cell(value)
    return "" if value is None else value


def _directions(summary: dict[str, Any]) -> Rows:
    return [
        {"direction": one["number"], "column": column["name"]}
        | {key: column[key] for key in ("loading", "low", "high")}
        for one in (summary["directions"] or {}).get("directions", [])
        for column in one["columns"]
    ]


def _derivatives(summary: dict[str, Any]) -> Rows:
    found = summary["derivatives"] or {"columns": [], "outputs": []}
    outputs = found["outputs"] or [""]
    return [
        {
            "column": one["name"],
            "output": output,
            "standard_deviation": one["scale"],
            "mean": one["mean"][place],
            "root_mean_square": one["root_mean_square"][place],
        }
        for one in found["columns"]
        for place, output in enumerate(outputs)
    ]


def _points(summary: dict[str, Any]) -> Rows:
    found = summary["regression"]
    if found is None:
        return []
    pairs: Iterable[Any] = zip(found["observed"], found["predicted"], strict=True)
    return [{"observed": observed, "predicted": predicted} for observed, predicted in pairs]


def _curves(summary: dict[str, Any]) -> Rows:
    return [
        {
            "direction": one["direction"],
            "response": one["response"],
            "position": one["grid"][place],
            "mean": one["mean"][place],
            "low": one["low"][place],
            "high": one["high"][place],
        }
        for one in summary["profiles"] or []
        if one["grid"] is not None
        for place in range(len(one["grid"]))
    ]

"""What `fit` prints: the answer, the scores and the directions in a few lines."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kernlens._table import shortened, significant

#: Directions and columns of each that are printed.
N_DIRECTIONS = 3
N_COLUMNS = 4
WIDTH = 80
#: Signs of good print that some terminals lack.
PLAIN = str.maketrans(
    {"\u2212": "-", "\u2013": "-", "\u202f": " ", "\u00a0": " "}
    | {"\u201c": '"', "\u201d": '"', "\u2018": "'", "\u2019": "'"}
)
WHERE = {
    "test": "held-out rows",
    "left_out": "rows left out in turn",
    "training": "rows it learned from",
}


def fit_text(summary: dict[str, Any], folder: Path, files: list[str], said: Sequence[str]) -> str:
    """The whole text.

    Parameters
    ----------
    summary : dict
        As :func:`kernlens.reporting.summarize` has it.
    folder : Path
    files : list of str
        Names of what was written.
    said : sequence of str
        Sentences that the error stream has had already.
    """
    parts = [_answer(summary), _scores(summary), _directions(summary), _notes(summary, said)]
    written = f"Wrote {', '.join(files)} to the folder {folder}."
    parts.append(textwrap.fill(written, WIDTH, break_long_words=False, break_on_hyphens=False))
    if "report.html" in files:
        parts.append(f"The page: {folder / 'report.html'}")
    return "\n\n".join(part for part in parts if part).translate(PLAIN)


def _answer(summary: dict[str, Any]) -> str:
    parts = summary["answer"]["parts"]
    return "\n".join(textwrap.fill(part["text"], WIDTH) for part in parts[:2])


def _notes(summary: dict[str, Any], said: Sequence[str]) -> str:
    """What a reader of the scores must know, such as a column that knows the target."""
    notes = [f"Note: {text}" for text in summary["warnings"] if text not in said]
    return "\n".join(textwrap.fill(note, WIDTH, subsequent_indent="  ") for note in notes)


def _scores(summary: dict[str, Any]) -> str:
    scores = summary["scores"]
    if scores is None:
        return ""
    constant = scores["constant"]["scores"]
    title = f"{scores['n_rows']} {WHERE[scores['where']]}"
    width = max(len(title), 26)
    lines = [f"{title:<{width}}  {'model':>9}  {'90% interval':>20}  {'constant':>9}"]
    for one in scores["scores"]:
        if one["value"] is None:
            continue
        bounds = ""
        if one.get("low") is not None:
            bounds = f"{significant(one['low'])} to {significant(one['high'])}"
        beside = constant.get(one["key"])
        other = "" if beside is None else significant(beside)
        name = f"  {one['name']}"
        lines.append(f"{name:<{width}}  {significant(one['value']):>9}  {bounds:>20}  {other:>9}")
    return "\n".join(line.rstrip() for line in lines)


def _directions(summary: dict[str, Any]) -> str:
    found = (summary["directions"] or {}).get("directions", [])
    if not found:
        return ""
    lines = ["Directions: importance, and the largest weights per standard deviation"]
    for one in found[:N_DIRECTIONS]:
        columns = sorted(one["columns"], key=lambda column: -abs(column["loading"]))[:N_COLUMNS]
        line = f"  {one['number']}  {one['importance']:4.0%} "
        for column in columns:
            more = f"  {column['loading']:+.2f} {shortened(column['name'])}"
            if len(line) + len(more) > WIDTH:
                break
            line += more
        lines.append(line)
    more = summary["directions"]["n_directions"] - len(found[:N_DIRECTIONS])
    if more:
        lines.append(f"  and {more} more")
    return "\n".join(lines)

"""A summary as one self-contained page."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from markupsafe import Markup

from kernlens import _html
from kernlens.reporting import bars, charts, formats
from kernlens.reporting.downloads import downloads_of
from kernlens.reporting.summary import FORMAT

#: Where the templates are.
PACKAGE = "kernlens.reporting"
#: What must not stand in a script: it could end it, or begin a comment of the page.
_UNSAFE = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def render(summary: dict[str, Any]) -> str:
    """Make one self-contained page of HTML from a summary.

    Parameters
    ----------
    summary : dict
        Of :func:`summarize`, also after a way through JSON. Every number on the page is in it.

    Returns
    -------
    str
        It needs no network and no other file, and runs no script but its own.
    """
    _check(summary)
    style, script = _html.style(), _html.part(PACKAGE, "page.js")
    html: str = (
        _environment()
        .get_template("page.html")
        .render(
            s=summary,
            style=Markup(style),
            script=Markup(script),
            style_hash=_html.hash_of(style),
            script_hash=_html.hash_of(script),
            downloads=downloads_of(summary),
            data=embedded(_sliders(summary["what_if"])),
        )
    )
    return html


def render_head(summary: dict[str, Any]) -> str:
    """The answer alone, for notebooks."""
    html: str = _environment().get_template("head.html").render(s=summary)
    return html


def _check(summary: dict[str, Any]) -> None:
    found = summary.get("format") if isinstance(summary, dict) else None
    if found != FORMAT:
        raise ValueError(
            f"render takes a summary of summarize() with format {FORMAT}, and got one with format "
            f"{found!r}; make it again with this version of kernlens."
        )


def embedded(value: Any) -> Markup:
    """A value as JSON that can stand in a page: nothing in it ends a script or begins markup."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup(text.translate(_UNSAFE))


def _sliders(what_if: dict[str, Any] | None) -> dict[str, Any] | None:
    """What the script shows: text made here, so that it computes no numbers of its own."""
    if what_if is None:
        return None
    sliders = []
    for kind in ("columns", "directions"):
        for one in what_if[kind]:
            values = one["values"]
            if kind == "directions":
                values = [formats.fixed(value) for value in values]
            sliders.append(
                {
                    "values": values,
                    "own": one["own_value"],
                    "ordered": one["n_ordered"],
                    "predictions": one["predictions"],
                    "texts": [
                        [[formats.number(y) for y in row] for row in of_row]
                        for of_row in one["predictions"]
                    ],
                }
            )
    rows = [[formats.number(value) for value in row["prediction"]] for row in what_if["rows"]]
    return {"rows": rows, "sliders": sliders}


def sections(summary: dict[str, Any]) -> list[tuple[str, str]]:
    """Identifiers and names of the sections that a page has."""
    return [
        (name, title)
        for name, title, there in (
            ("answer", "Answer", True),
            ("leaderboard", "Leaderboard", summary["leaderboard"]),
            ("directions", "Directions", summary["directions"]),
            ("responses", "Response", summary["profiles"]),
            ("surface", "Surface", summary["surfaces"]),
            ("what-if", "One row", summary["what_if"]),
            ("predictions", "Predictions", summary["scores"]),
            ("columns", "Columns", summary["columns"]),
            ("agreement", "Agreement", summary["agreement"]),
            ("coordinates", "Coordinates", summary["coordinates"]),
            ("data", "Data", True),
            ("made", "How it was made", True),
        )
        if there
    ]


@cache
def _environment() -> Any:
    environment = _html.environment(PACKAGE)
    environment.filters |= {
        "number": formats.number,
        "fixed": formats.fixed,
        "percent": formats.percent,
        "score": formats.score,
        "entry": formats.entry,
    }
    environment.globals |= {
        "bars": bars,
        "charts": charts,
        "counted": formats.counted,
        "board_ends": bars.board_ends,
        "sections": sections,
    }
    return environment

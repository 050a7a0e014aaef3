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
from kernlens.reporting.turnable import turnable

#: Where the templates are.
PACKAGE = "kernlens.reporting"
SCRIPTS = ("page.js", "turn.js")
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
    style = _html.style()
    script = "".join(_html.part(PACKAGE, name) for name in SCRIPTS)
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
            data=embedded(_for_script(summary)),
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


def _for_script(summary: dict[str, Any]) -> dict[str, Any] | None:
    """What the script shows: text made here, so that it computes no numbers of its own."""
    what_if = summary["what_if"]
    if what_if is None:
        return None
    kind = summary["model"]["kind"]
    rows = [_texts(row["prediction"], kind) for row in what_if["rows"]]
    surfaces = [turnable(one) for one in summary["surfaces"] or []]
    return {"rows": rows, "sliders": _sliders(what_if, kind), "surfaces": surfaces}


def _texts(outputs: list[Any], kind: str) -> list[str]:
    return [formats.predicted(value, kind) for value in outputs]


def _sliders(what_if: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """Sliders of columns, and then those of directions."""
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
                        [_texts(outputs, kind) for outputs in of_row]
                        for of_row in one["predictions"]
                    ],
                }
            )
    return sliders


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
        "predicted": formats.predicted,
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

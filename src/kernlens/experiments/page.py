"""The summary of a reproduction: one page of HTML, and the same in Markdown."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from markupsafe import Markup

from kernlens import _html
from kernlens._atomic import replacing
from kernlens._table import significant
from kernlens.experiments.claims import FAILS, HOLDS, UNCLEAR
from kernlens.experiments.results import RESULT

PACKAGE = "kernlens.experiments"
PAGE, TEXT = "index.html", "summary.md"


def write_pages(folder: Path, order: Iterable[str]) -> Path:
    """Write both from the results that are in the folders of the experiments.

    Parameters
    ----------
    folder : Path
        Of the reproduction, with a folder for every experiment.
    order : iterable of str
        Names of experiments; those that were not run are left out.

    Returns
    -------
    Path
        The page.
    """
    results = [read_result(folder, name) for name in order]
    content = summary_of([one for one in results if one is not None])
    for name, text in ((PAGE, page(content)), (TEXT, markdown(content))):
        with replacing(folder / name) as part:
            part.write_text(text, encoding="utf-8")
    return folder / PAGE


def read_result(folder: Path, name: str) -> dict[str, Any] | None:
    """The result of an experiment, None if it has none."""
    path = folder / name / RESULT
    if not path.is_file():
        return None
    result: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return result


def summary_of(results: list[dict[str, Any]]) -> dict[str, Any]:
    """All results with what is counted over them."""
    counts = Counter(claim["outcome"] for one in results for claim in one["claims"])
    return {
        "results": results,
        "counts": {word: counts[word] for word in (HOLDS, FAILS, UNCLEAR)},
        "published": {
            name: sum(one["published"][name] for one in results) for name in ("n", "met")
        },
    }


def page(summary: dict[str, Any]) -> str:
    """The page of HTML; pictures lie beside it."""
    style = _html.style()
    template = _templates(True).get_template("page.html")
    html: str = template.render(s=summary, style=Markup(style), style_hash=_html.hash_of(style))
    return html


def markdown(summary: dict[str, Any]) -> str:
    """The same as text."""
    text: str = _templates(False).get_template("page.md").render(s=summary)
    return text


@cache
def _templates(escape: bool) -> Any:
    environment = _html.environment(PACKAGE, autoescape=escape)
    environment.filters |= {"evidence": evidence_text, "setting": setting_text}
    return environment


def evidence_text(one: dict[str, Any]) -> str:
    """A comparison in one line, with its figures.

    Examples
    --------
    >>> fields = {"text": "A above B (r2)", "mean": 0.12, "error": 0.011, "n": 5}
    >>> evidence_text(fields | {"outcome": "holds"})
    'A above B (r2): 0.120 ± 0.0110, 5 repetitions: holds'
    """
    if not one["n"]:
        return f"{one['text']}: nothing was measured"
    error = "" if one["error"] is None else f" ± {significant(one['error'])}"
    repetitions = "repetition" if one["n"] == 1 else "repetitions"
    figures = f"{significant(one['mean'])}{error}, {one['n']} {repetitions}"
    return f"{one['text']}: {figures}: {one['outcome']}"


def setting_text(value: Any) -> str:
    """The value of a setting."""
    if isinstance(value, list):
        return ", ".join(map(setting_text, value))
    if isinstance(value, dict):
        return "; ".join(f"{key}: {setting_text(one)}" for key, one in value.items())
    return str(value)

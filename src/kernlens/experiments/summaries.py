"""Means over repetitions, with their standard errors, beside the published ones."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

import numpy as np

#: Decimals of every number of a table.
DECIMALS = 4


@dataclass(frozen=True)
class TableForm:
    """What a table groups rows by, and which scores it averages.

    Attributes
    ----------
    by : sequence of str
        Keys of the cells that name a line; all others, such as the seed, are repetitions.
    scores : sequence of str
    published : str or None
        File in ``published/`` with the columns `by` and some of `scores`, and ``<score>_std`` where
        the paper has a spread.
    known_as : mapping
        Methods whose means should meet published ones, to the paper's names of them.
    lower : bool
        Whether lower scores are better.
    rounding : float
        Half a unit of the last digit of the published means.
    """

    by: Sequence[str]
    scores: Sequence[str]
    published: str | None = None
    known_as: Mapping[str, str] = field(default_factory=dict)
    lower: bool = False
    rounding: float = 0.0


@dataclass(frozen=True)
class Mean:
    """Mean of a score over `n` repetitions, its standard error, and what was published."""

    value: float
    error: float
    n: int
    published: float | None = None
    published_spread: float | None = None

    def meets(self, lower: bool, rounding: float = 0.0) -> bool | None:
        """Whether it is within the spread of the published mean, or better.

        Where the paper has no spread, two standard errors of ours take its place; None where
        nothing was published, or there is no spread at all. What rounding may have taken from the
        published mean is added to the spread.
        """
        if self.published is None:
            return None
        spread = self.published_spread
        if spread is None:
            spread = 2 * self.error
        if not math.isfinite(spread):
            return None
        gain = self.value - self.published
        return (-gain if lower else gain) >= -(spread + rounding)


@dataclass(frozen=True)
class Line:
    """A line of a table: what it is about, and the mean of every score."""

    labels: dict[str, Any]
    means: dict[str, Mean]


def summarize(rows: Iterable[Mapping[str, Any]], form: TableForm) -> list[Line]:
    """Lines in the order in which their labels first occur."""
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in form.by), []).append(row)
    known = published_numbers(form)
    lines = []
    for labels, members in groups.items():
        named = dict(zip(form.by, labels, strict=True))
        facts = known.get(_known_labels(named, form), {})
        means = {score: _mean(members, score, facts) for score in form.scores}
        lines.append(Line(named, means))
    return lines


def met(lines: Iterable[Line], form: TableForm) -> tuple[int, int, list[str]]:
    """How many published means are met, of how many, and which are not."""
    n_met, n_all, missed = 0, 0, []
    for line in lines:
        for score, mean in line.means.items():
            answer = mean.meets(form.lower, form.rounding)
            if answer is None:
                continue
            n_all, n_met = n_all + 1, n_met + answer
            if not answer:
                where = ", ".join(f"{key} {value}" for key, value in line.labels.items())
                missed.append(f"{where}: {score} {mean.value:.3f}, published {mean.published:.3f}")
    return n_met, n_all, missed


def header(form: TableForm) -> list[str]:
    """Names of the columns of a table."""
    names = [*form.by, "repetitions"]
    for score in form.scores:
        names += [score, f"{score}_se"]
        if form.published is not None:
            names += [f"{score}_published", f"{score}_published_std"]
    return names


def cells_of(line: Line, form: TableForm) -> list[str]:
    """A line as texts, one per column."""
    n = max((mean.n for mean in line.means.values()), default=0)
    texts = [*(str(line.labels[name]) for name in form.by), str(n)]
    for score in form.scores:
        mean = line.means[score]
        values: list[float | None] = [mean.value, mean.error]
        if form.published is not None:
            values += [mean.published, mean.published_spread]
        texts += map(number, values)
    return texts


def number(value: float | None) -> str:
    """A number of a table; empty where there is none."""
    if value is None or math.isnan(value):
        return ""
    # Adding zero takes the sign from what is rounded to minus zero.
    return f"{round(value, DECIMALS) + 0.0:.{DECIMALS}f}"


def as_csv(names: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table as text."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(lines)
    return text.getvalue()


def _mean(rows: Sequence[Mapping[str, Any]], score: str, facts: Mapping[str, str]) -> Mean:
    values = np.array([row[score] for row in rows if row.get(score) is not None], dtype=float)
    values = values[np.isfinite(values)]
    n = len(values)
    return Mean(
        float(values.mean()) if n else math.nan,
        float(values.std(ddof=1) / math.sqrt(n)) if n > 1 else math.nan,
        n,
        _number_or_none(facts.get(score)),
        _number_or_none(facts.get(f"{score}_std")),
    )


def published_numbers(form: TableForm) -> dict[tuple[str, ...], dict[str, str]]:
    """Lines of the file of published numbers, by the texts of their labels."""
    if form.published is None:
        return {}
    path = resources.files("kernlens.experiments") / "published" / form.published
    lines = path.read_text("utf-8").splitlines()
    facts = csv.DictReader(line for line in lines if not line.startswith("#"))
    return {tuple(row[name] for name in form.by): row for row in facts}


def _known_labels(labels: Mapping[str, Any], form: TableForm) -> tuple[str, ...]:
    """Labels as the files of published numbers spell them."""
    method = labels.get("method")
    spelled = {**labels, "method": form.known_as.get(str(method))}
    return tuple(
        f"{spelled[name]:g}" if isinstance(spelled[name], float) else str(spelled[name])
        for name in form.by
    )


def _number_or_none(text: str | None) -> float | None:
    return float(text) if text else None

"""What is printed at the end: a table, the slowest cases, and findings in groups."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TextIO

from fuzz.cases import Case
from fuzz.estimators import family_of
from fuzz.outcomes import FITTED, KINDS, REFUSED, Finding, Outcome

#: How many of the slowest cases are named.
SLOWEST = 10

GroupKey = tuple[str, str, str, str]


@dataclass
class Group:
    """Findings of one kind, family, exception and line.

    Attributes
    ----------
    first : Case
        The first case that showed it.
    finding : Finding
    numbers : list of str
        Estimators and numbers of all cases.
    lines : str
        Python that shows it, once it is made small.
    """

    first: Case
    finding: Finding
    numbers: list[str] = field(default_factory=list)
    lines: str = ""

    @property
    def size(self) -> int:
        """How many cases showed it."""
        return len(self.numbers)


class Report:
    """Collects outcomes."""

    def __init__(self, log: TextIO | None = None) -> None:
        self.groups: dict[GroupKey, Group] = {}
        self._counts: dict[str, Counter[str]] = defaultdict(Counter)
        self._times: list[tuple[float, str]] = []
        self._log = log

    def add(self, case: Case, outcome: Outcome) -> None:
        """Count an outcome, and keep its findings."""
        name = f"{case.estimator} {case.number}"
        counts = self._counts[case.estimator]
        counts["cases"] += 1
        # A fit that ended otherwise is counted with its findings.
        counts.update({outcome.state} | {finding.kind for finding in outcome.findings})
        self._times.append((outcome.seconds, name))
        for finding in outcome.findings:
            key = group_key(case, finding)
            group = self.groups.setdefault(key, Group(case, finding))
            if name not in group.numbers:
                group.numbers.append(name)
            self._write(case, finding)

    def _write(self, case: Case, finding: Finding) -> None:
        if self._log is not None:
            entry = {"estimator": case.estimator, "number": case.number, "seed": case.seed}
            self._log.write(json.dumps({**entry, **vars(finding), "words": case.words}) + "\n")
            self._log.flush()

    def text(self) -> str:
        """All of it."""
        return "\n".join([*self._table(), "", *self._slowest(), "", *self._grouped()])

    def _table(self) -> Iterator[str]:
        seen = [kind for kind in KINDS if any(kind in row for row in self._counts.values())]
        columns = ["cases", FITTED, REFUSED, *seen]
        first = max([len(name) for name in self._counts] + [5])
        yield " | ".join([" " * first, *columns])
        total: Counter[str] = Counter()
        for row in self._counts.values():
            total.update(row)
        for name, row in [*sorted(self._counts.items()), ("total", total)]:
            yield " | ".join([name.ljust(first), *(f"{row[c]:{len(c)}d}" for c in columns)])

    def _slowest(self) -> Iterator[str]:
        times = sorted(self._times, reverse=True)
        if times:
            mean = 1e3 * sum(seconds for seconds, _ in times) / len(times)
            yield f"Mean {mean:.0f} ms a case; the slowest:"
        yield from (f"  {seconds:7.2f} s  {name}" for seconds, name in times[:SLOWEST])

    def gravest_first(self) -> list[Group]:
        """Groups by their kind, and those of one kind by how many cases they have."""
        return sorted(
            self.groups.values(), key=lambda one: (KINDS.index(one.finding.kind), -one.size)
        )

    def _grouped(self) -> Iterator[str]:
        if not self.groups:
            yield "Nothing was found."
        for group in self.gravest_first():
            kind, family, exception, place = group_key(group.first, group.finding)
            yield f"{kind}: {family}, {exception or 'no exception'}, {place}"
            cases = ", ".join(group.numbers[:6]) + (", …" if group.size > 6 else "")
            yield f"    {group.size} cases: {cases}"
            yield f"    {group.finding.where}: {group.finding.detail}".rstrip(": ")
            yield from (f"        {line}" for line in group.lines.splitlines())
            yield ""


def group_key(case: Case, finding: Finding) -> GroupKey:
    """What findings are put together by."""
    return finding.kind, family_of(case.estimator), finding.exception, finding.place

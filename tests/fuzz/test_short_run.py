"""A short run of the fuzz harness with a fixed seed: nothing is found."""

from __future__ import annotations

import pytest

from fuzz.cases import draw_case
from fuzz.estimators import public_names
from fuzz.runner import Worker
from fuzz.spelling import lines_of

N_CASES = 10


@pytest.fixture(scope="module")
def worker():
    with Worker(time_limit=60.0) as one:
        yield one


@pytest.mark.parametrize("name", public_names())
def test_nothing_is_found(name, worker):
    found = []
    for number in range(N_CASES):
        case = draw_case(name, number)
        for finding in worker.run(case).findings:
            told = f"{finding.kind} {finding.exception} {finding.place}: {finding.detail}"
            found.append(f"case {number}: {told}\n{lines_of(case, finding)}")
    assert not found, "\n\n".join(found)

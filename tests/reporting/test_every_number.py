"""A walk through a whole summary: every number is that of the public API, and none is more."""

from __future__ import annotations

import numpy as np
import pytest

from reporting.every_number import EveryNumber, numbers_of


@pytest.mark.parametrize("name", ["automatic", "classified", "regressor"])
def test_every_number_of_a_summary_is_that_of_the_api(name, summaries, request):
    summary = summaries[name]
    seen = numbers_of(summary)
    expected = EveryNumber(summary, request.getfixturevalue(name)).all()
    assert sorted(seen) == sorted(expected)
    assert sum(map(len, seen.values())) > 1000
    for path, numbers in seen.items():
        assert len(numbers) == len(expected[path]), path
        np.testing.assert_allclose(numbers, expected[path], rtol=1e-7, atol=1e-9, err_msg=path)


def test_the_walk_sees_a_number_that_is_new_and_one_that_is_wrong(summaries):
    summary = summaries["regressor"]
    seen = numbers_of(summary)
    assert numbers_of({**summary, "more": [{"new": 1.5}]}) == seen | {".more[].new": [1.5]}
    assert numbers_of({"flag": True, "text": "3", "none": None}) == {}

"""A short run of hostile tables with a fixed seed: nothing is found, and what is planted is."""

from __future__ import annotations

import pandas as pd
import pytest

from fuzz import tables
from fuzz.columns import COLUMNS
from fuzz.tables import draw_table, main, outcomes


@pytest.mark.parametrize(
    ("estimator", "cases"),
    [("TablePreprocessor", 150), ("AutoLensRegressor", 30), ("AutoLensClassifier", 30)],
)
def test_nothing_is_found(estimator, cases):
    found = [
        f"draw_table({case.number}, {case.seed}): {finding}"
        for case, outcome in outcomes(estimator, cases, seed=0)
        for finding in outcome.findings
    ]
    assert not found, "\n".join(found)


def test_a_number_is_the_same_table_again():
    for number in range(20):
        one, other = draw_table(number, 3), draw_table(number, 3)
        assert one.words == other.words and repr(one.parameters) == repr(other.parameters)
        pd.testing.assert_frame_equal(pd.DataFrame(one.X), pd.DataFrame(other.X))


def test_every_kind_of_column_is_drawn():
    drawn = {word for number in range(150) for word in draw_table(number, 0).words}
    assert drawn == set(COLUMNS)


def test_what_is_planted_is_found_and_told(monkeypatch, capsys):
    class Faulty(tables.TablePreprocessor):
        def transform(self, X):
            return [][0] if len(X) == 3 else super().transform(X) / 0.0

    monkeypatch.setitem(tables.ESTIMATORS, "TablePreprocessor", Faulty)
    assert main(["--cases", "20", "--seed", "1"]) == 1
    told = capsys.readouterr().out
    assert "foreign exception" in told and "IndexError" in told
    assert "not finite" in told and "draw_table(" in told

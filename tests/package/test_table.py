"""Tables as short plain text, and the sentence for those who have no pandas."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from kernlens._pandas import import_pandas
from kernlens._table import MAX_LETTERS, Table, shortened, significant


def test_numbers_have_three_digits_and_points_below_each_other():
    table = Table(["size", "count"], [np.array([0.5, 12.345, np.nan]), np.array([1, 2000, 3])])
    assert table.text().splitlines() == [
        "  size  count",
        " 0.500      1",
        "12.3     2000",
        "     -      3",
    ]


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0"),
        (0.99951, "1.00"),
        (99.96, "100"),
        (999.7, "1000"),
        (123456.0, "123000"),
        (-1e6, "-1.00e+06"),
        (np.inf, "inf"),
    ],
)
def test_three_significant_digits(number, text):
    assert significant(number) == text


def test_fixed_decimals_have_no_minus_zero():
    assert Table(["a"], [[-1e-9, -0.25]], decimals=2).text().split() == ["a", "0.00", "-0.25"]


def test_the_last_line_says_what_was_left_out():
    rows = np.arange(100)
    first = Table(["row"], [rows], caption="Rows").text().splitlines()
    assert first[0] == "Rows"
    assert [int(line) for line in first[2:-1]] == list(range(12))
    assert first[-1] == "(88 rows left out)"
    spread = Table(["row"], [rows], spread=True).text().splitlines()
    assert [int(line) for line in spread[1:-1]] == [0, 9, 18, 27, 36, 45, 54, 63, 72, 81, 90, 99]
    wide = Table([f"c{k}" for k in range(8)], [[1]] * 8).text().splitlines()
    assert wide[-1] == "(1 column left out)"
    assert wide[0].split() == [f"c{k}" for k in range(7)]
    assert "left out" not in Table(["row"], [rows[:12]]).text()


def test_rows_have_names_on_the_left_and_a_table_may_have_no_rows():
    lines = Table(["a"], [[1, 2]], ["long name", "b"]).text().splitlines()
    assert lines == ["           a", "long name  1", "b          2"]
    assert Table(["a"], [[]]).text() == "a"


def test_long_names_keep_both_ends_and_stay_on_one_line():
    short = shortened("the mean of\nall temperatures in the basement, 2021")
    assert len(short) == MAX_LETTERS
    assert short.startswith("the mean of") and short.endswith(", 2021")


def test_without_pandas_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        import_pandas()


def test_numbers_that_rise_are_told_apart():
    years = Table(["year", "y"], [np.array([2001.0, 2003.0, 2012.0]), np.array([0.1, 0.2, 0.3])])
    assert [line.split() for line in years.text().splitlines()[1:]] == [
        ["2001", "0.100"], ["2003", "0.200"], ["2012", "0.300"],
    ]  # fmt: skip
    falling = Table(["x"], [np.array([1.00003, 1.00002, 1.0])]).text().split()[1:]
    assert falling == ["1.00003", "1.00002", "1.00000"]
    # Numbers in no order are not positions, and three digits are enough.
    assert Table(["x"], [np.array([2001.0, 2012.0, 2003.0])]).text().split()[1:] == [
        "2000", "2010", "2000",
    ]  # fmt: skip

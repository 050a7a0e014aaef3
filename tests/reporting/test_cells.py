"""Cells of CSV files are no formulas."""

import pytest

from kernlens.reporting.cells import safe_cell


@pytest.mark.parametrize("start", "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
def test_what_begins_like_a_formula_gets_an_apostrophe(start):
    assert safe_cell(f"{start}1+1") == f"'{start}1+1"


@pytest.mark.parametrize("text", ["", "age", "a=b", " =1", "'=1", "1-2"])
def test_other_text_stays_as_it_is(text):
    assert safe_cell(text) == text

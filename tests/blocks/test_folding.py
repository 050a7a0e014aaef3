"""Results of blocks joined in one order, whatever computes them."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens.blocks.folding import Folding, add, fold_with, join
from reference.blocks import folded

NUMBERS = [1, 2, 7, 8, 9, 16, 63, 64, 65, 71, 520]


def merge(one, other):
    """Shows the order of the merges."""
    return f"({one} {other})"


@pytest.mark.parametrize("n_values", NUMBERS)
def test_results_are_joined_in_the_order_of_the_definition(n_values):
    values = [str(number) for number in range(n_values)]
    expected = folded(values, merge)
    folding = Folding(merge)
    for value in values:
        folding.push(value)
    assert folding.result() == expected
    assert fold_with(lambda parts: join(merge, parts), values) == expected


def test_a_sum_changes_none_of_its_parts():
    one, other = (np.ones(2), np.zeros(1)), (np.full(2, 3.0), np.ones(1))
    total = add(one, other)
    np.testing.assert_array_equal(total[0], [4.0, 4.0])
    np.testing.assert_array_equal(one[0], [1.0, 1.0])

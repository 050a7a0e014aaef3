"""Directions that several fits agree on."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens.model_selection.auto.agreement import agreed
from kernlens.model_selection.auto.trials import Found

NAMES = ("a", "b", "c")


@pytest.mark.parametrize("heavy", [0, 1])
def test_directions_of_heavy_members_come_first(heavy):
    found = [Found(NAMES, row[None], np.ones(1)) for row in np.eye(3)[:2]]
    shares = np.where(np.arange(2) == heavy, 0.8, 0.2)
    whole = agreed(found, shares, NAMES)
    np.testing.assert_allclose(whole.importances, [0.8, 0.2, 0.0], atol=1e-15)
    np.testing.assert_allclose(np.abs(whole.loadings[0]), np.eye(3)[heavy], atol=1e-15)


def test_importances_count_and_columns_may_be_missing():
    found = Found(("c", "a"), np.eye(2), np.array([0.7, 0.3]))
    whole = agreed([found], np.ones(1), NAMES)
    np.testing.assert_allclose(whole.importances, [0.7, 0.3, 0.0], atol=1e-15)
    np.testing.assert_allclose(np.abs(whole.loadings), np.eye(3)[[2, 0, 1]], atol=1e-15)

"""The net of a surface that can be turned: the numbers of the summary, between 0 and 1."""

from __future__ import annotations

import json

import numpy as np
import pytest

from kernlens.reporting.charts import levels_of, shade_of
from kernlens.reporting.turnable import turnable


def saddle(scale=1.0, shift=0.0):
    first, second = np.linspace(-2.0, 3.0, 6), np.linspace(-1.0, 1.0, 5)
    mean = shift + scale * np.subtract.outer(first**2, 4.0 * second)
    return {"first": first.tolist(), "second": second.tolist(), "mean": mean.tolist()}


@pytest.mark.parametrize(("scale", "shift"), [(1.0, 0.0), (1e-6, 5.0), (-1e9, 1e8)])
def test_heights_are_the_surface_between_its_ends(scale, shift):
    surface = saddle(scale, shift)
    found = turnable(surface)
    heights, mean = np.array(found["heights"]), np.array(surface["mean"])
    assert heights.min() == 0.0
    assert heights.max() == 1.0
    np.testing.assert_allclose(heights * np.ptp(mean) + mean.min(), mean, atol=6e-4 * np.ptp(mean))
    assert json.loads(json.dumps(found)) == found
    assert all(len(text) <= 8 for name in ("first", "second", "ends") for text in found[name])


def test_a_tile_has_the_shade_of_the_contours_at_its_middle():
    surface = saddle()
    shades, levels = turnable(surface)["shades"], levels_of(surface)
    mean = np.array(surface["mean"])
    assert np.shape(shades) == (5, 4)
    for i in range(5):
        for j in range(4):
            middle = mean[i : i + 2, j : j + 2].mean()
            between = [k for k in range(len(levels) - 1) if levels[k] <= middle < levels[k + 1]]
            assert shades[i][j] == shade_of(between[0], len(levels))


def test_a_flat_surface_has_one_shade_and_no_height():
    surface = saddle(0.0, 2.0)
    found = turnable(surface)
    assert not np.any(found["heights"])
    assert not np.any(found["shades"])
    assert found["ends"] == ["2.00", "2.00"]

"""The toy of the HKRR paper: the two methods follow their algorithms and end in valleys."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

from kernlens.datasets import make_alternating_toy
from kernlens.experiments.hkrr.toy_descent import (
    LOCAL_MINIMA,
    PASS_VALUE,
    PASSES,
    alternating,
    in_global_valley,
    varpro,
)


def test_the_printed_minima_and_passes_are_stationary():
    toy = make_alternating_toy()
    for y in (*LOCAL_MINIMA, *PASSES):
        found = brentq(toy.reduced_derivative, y - 0.1, y + 0.1)
        assert found == pytest.approx(y, abs=1e-4)
    assert float(toy.reduced_derivative(1.0)) == pytest.approx(0.0, abs=1e-12)
    values = [float(toy.reduced_value(y)) for y in PASSES]
    np.testing.assert_allclose(values, PASS_VALUE, atol=1e-4)


@pytest.mark.parametrize("curve", ["square", "sigmoid"])
@pytest.mark.parametrize("method", [varpro, alternating])
def test_a_descent_never_rises_and_stops_in_the_same_valley_as_one_that_goes_on(curve, method):
    toy = make_alternating_toy(curve)
    for start in np.random.default_rng(0).uniform((-3, -2), (6, 3), (6, 2)).tolist():
        path = method(toy, tuple(start))
        values = toy.value(path[:, 0], path[:, 1])
        assert np.all(np.diff(values) <= 1e-12)
        short = method(toy, tuple(start), PASS_VALUE)
        # Where the longer run has come to rest, the shorter one has seen its valley.
        if np.abs(toy.gradient(*path[-1])).max() < 1e-3:
            assert in_global_valley(short) == in_global_valley(path)


def test_varpro_is_always_at_the_best_coefficient():
    toy = make_alternating_toy()
    path = varpro(toy, (-1.5, -0.1))
    np.testing.assert_allclose(path[:, 0], toy.best_x(path[:, 1]))

"""Verdicts on planted tables: what the numbers say is what comes out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from kernlens.experiments.claims import (
    FAILS,
    HOLDS,
    UNCLEAR,
    Claim,
    above,
    below,
    better,
    interval,
    measured,
    similar,
    slopes,
)

A, B = {"method": "A"}, {"method": "B"}


def table(gains, base=(0.5, 0.9, 0.1, 0.7)):
    """Two methods on the same four draws, which differ a lot; A is better by `gains`."""
    return [
        {"method": method, "seed": seed, "r2": value + (gain if method == "A" else 0.0)}
        for seed, (value, gain) in enumerate(zip(base, gains, strict=True))
        for method in ("A", "B")
    ]


def test_a_small_gain_that_every_draw_shows_holds_although_draws_differ_more():
    rows = table((0.010, 0.012, 0.011, 0.009))
    found = better(rows, "r2", A, B)
    assert found.outcome == HOLDS
    assert found.n == 4
    assert found.mean == pytest.approx(0.0105)
    assert better(rows, "r2", B, A).outcome == FAILS
    assert better(rows, "r2", A, B, margin=0.05).outcome == FAILS
    assert better(rows, "r2", A, B, lower=True).outcome == FAILS
    assert better(rows, "r2", B, A, lower=True).outcome == HOLDS


def test_a_gain_that_draws_contradict_cannot_be_told():
    rows = table((0.02, -0.01, 0.03, -0.02))
    assert better(rows, "r2", A, B).outcome == UNCLEAR
    assert better(rows, "r2", B, A).outcome == UNCLEAR


def test_one_draw_or_none_cannot_be_told():
    rows = [row for row in table((0.5,) * 4) if row["seed"] == 0]
    assert better(rows, "r2", A, B).outcome == UNCLEAR
    nothing = better(rows, "r2", A, {"method": "C"})
    assert (nothing.outcome, nothing.n) == (UNCLEAR, 0)
    assert above([], "r2", A, 0.0).outcome == UNCLEAR


def test_equal_numbers_are_no_gain():
    assert better(table((0.0,) * 4), "r2", A, B).outcome == FAILS


def test_similar_needs_the_whole_interval_inside():
    assert similar(table((0.010, 0.012, 0.011, 0.009)), "r2", A, B, within=0.02).outcome == HOLDS
    assert similar(table((0.110, 0.112, 0.111, 0.109)), "r2", A, B, within=0.02).outcome == FAILS
    assert similar(table((-0.11, -0.12, -0.11, -0.1)), "r2", A, B, within=0.02).outcome == FAILS
    assert similar(table((0.1, -0.1, 0.05, -0.05)), "r2", A, B, within=0.02).outcome == UNCLEAR


@pytest.mark.parametrize(("value", "outcome"), [(0.0, HOLDS), (0.55, UNCLEAR), (2.0, FAILS)])
def test_above_and_below_a_number(value, outcome):
    rows = table((0.0,) * 4)
    assert above(rows, "r2", B, value).outcome == outcome
    opposite = {HOLDS: FAILS, FAILS: HOLDS, UNCLEAR: UNCLEAR}
    assert below(rows, "r2", B, value).outcome == opposite[outcome]


def test_a_claim_holds_only_if_all_comparisons_do_and_falls_with_one():
    planted = {
        "good": (0.1, 0.11, 0.1, 0.09),
        "bad": (-0.1, -0.11, -0.1, -0.09),
        "unclear": (0.1, -0.1, 0.1, -0.1),
    }
    rows = [row | {"set": name} for name, gains in planted.items() for row in table(gains)]

    def claim(*names):
        return Claim(
            "A is better",
            "nowhere",
            lambda given: [
                better(given, "r2", {**A, "set": one}, {**B, "set": one}) for one in names
            ],
            "",
        )

    assert claim("good").judge(rows).outcome == HOLDS
    assert claim("good", "unclear").judge(rows).outcome == UNCLEAR
    assert claim("good", "unclear", "bad").judge(rows).outcome == FAILS
    assert claim().judge(rows).outcome == UNCLEAR


def test_repetitions_are_averaged_within_a_unit():
    """Ten starts on one data set are one data set."""
    rows = [
        {"method": method, "dataset": name, "seed": seed, "r2": value + seed * 1e-3}
        for method, values in (("A", (0.6, 0.8)), ("B", (0.5, 0.6)))
        for name, value in zip(("one", "two"), values, strict=True)
        for seed in range(10)
    ]
    found = better(rows, "r2", A, B, unit="dataset")
    assert found.n == 2
    assert found.mean == pytest.approx(0.15)


def test_the_interval_is_students():
    values = np.random.default_rng(0).normal(size=7)
    wanted = stats.t.interval(0.95, 6, values.mean(), stats.sem(values))
    np.testing.assert_allclose(interval(values), wanted)
    assert interval([1.0]) == (-math.inf, math.inf)


def test_slopes_are_powers_of_every_repetition():
    rows = [
        {"method": "A", "seed": seed, "n": n, "risk": (3.0 + seed) * n**power}
        for seed, power in enumerate((-0.5, -1.0))
        for n in (10, 30, 100)
    ]
    rows += [{"method": "B", "seed": 0, "n": 10, "risk": 1.0}]
    found = slopes(rows, "n", "risk", A)
    assert found == pytest.approx({0: -0.5, 1: -1.0})
    # One point has no slope.
    assert slopes(rows, "n", "risk", B) == {}


def test_numbers_that_a_rule_makes_itself_are_compared_like_scores():
    values = (0.9, 1.1, 1.0, 1.05)
    assert measured("x", values, above=0.5).outcome == HOLDS
    assert measured("x", values, below=0.5).outcome == FAILS
    assert measured("x", values, above=1.0).outcome == UNCLEAR
    assert measured("x", values, above=0.5, below=1.5).outcome == HOLDS
    assert measured("x", values[:1], above=0.5).outcome == UNCLEAR
    assert measured("x", values[:1], above=0.5, certain=True).outcome == HOLDS
    assert measured("x", []).outcome == UNCLEAR
    assert measured("x", values).mean == pytest.approx(np.mean(values))

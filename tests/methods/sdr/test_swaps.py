"""Directions of other methods that come in where columns have few values."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kernlens import MAVE
from kernlens.methods.sdr import local_linear, swaps
from kernlens.methods.sdr.gradients import GradientDirections
from kernlens.methods.sdr.local_linear import LocalProblem, find_bandwidth
from kernlens.metrics import feature_learning_score
from reference import sdr as reference


def sample(kind, seed=0, n=200):
    """Six columns of which the first has few values; the function has the first one or two."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 6))
    X[:, 0] = rng.integers(0, 3 if kind == "three values" else 2, n)
    signal = X[:, 0] + (np.sin(2.0 * X[:, 1]) if kind == "beside a smooth one" else 0.0)
    y = signal / signal.std() + 0.3 * rng.standard_normal(n)
    return X, y, np.eye(6)[: 2 if kind == "beside a smooth one" else 1]


def problem(seed=0, n=40):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    y = X[:, 0] ** 2 + 0.3 * rng.standard_normal(n)
    return LocalProblem(X - X.mean(axis=0), y[None], rng.random(n) + 0.5, 15)


@pytest.mark.parametrize("kind", ["two values", "three values", "beside a smooth one"])
def test_directions_of_few_values_are_found_and_counted(kind):
    X, y, true = sample(kind)
    model = MAVE().fit(X * [100.0, 1.0, 1e-3, 1.0, 1.0, 7.0] + 5.0, y)
    assert model.n_directions_ == len(true)
    assert feature_learning_score(true, model.loadings_) > 0.95
    # The column of few values has slopes as well.
    assert model.component_importances_.min() > 0.1


def test_errors_are_those_of_lines_without_the_row(monkeypatch):
    monkeypatch.setattr(local_linear, "FLOOR", 0.0)
    asked = problem()
    basis = np.linalg.qr(np.random.default_rng(1).standard_normal((3, 2)))[0].T
    found = swaps.left_out_errors(asked, basis, 0.4)
    rows, y = asked.inputs @ basis.T, asked.targets[0]
    width = find_bandwidth(rows, asked.weights, 15, 0.4)
    for j in range(15):
        p = reference.kernel_weights(rows, asked.weights, width, j)
        p[j] = 0.0
        level, _ = reference.local_line(rows, y, p / p.sum(), j, swaps.LINE_RIDGE)
        assert found[j] == pytest.approx((y[j] - np.clip(level, y.min(), y.max())) ** 2, rel=1e-6)


def test_slopes_of_a_binary_column_are_differences_of_means():
    rng = np.random.default_rng(0)
    b = np.repeat([-1.0, 1.0], 50)
    rows = np.column_stack([b, np.zeros(100)])
    asked = LocalProblem(rows, (3.0 * b + 0.01 * rng.standard_normal(100))[None], np.ones(100), 100)
    found = swaps._principal(asked, np.eye(2)[:1], 0.2)
    assert found.squares[0] == pytest.approx(9.0, rel=0.02)


def test_nothing_is_exchanged_without_a_clear_gain():
    asked = replace(problem(n=200), n_anchors=200)
    start = GradientDirections(np.eye(3)[::-1].copy(), np.ones(3))
    found = GradientDirections(np.eye(3)[:1], np.ones(1))
    assert swaps.with_swaps(asked, found, start) is found
    rng = np.random.default_rng(2)
    noise = replace(asked, targets=rng.standard_normal((1, 200)))
    assert swaps.with_swaps(noise, found, start) is found
    wrong = GradientDirections(np.eye(3)[1:2], np.ones(1))
    better = swaps.with_swaps(asked, wrong, start)
    assert feature_learning_score(np.eye(3)[:1], better.directions) > 0.95


def test_columns_of_few_values_are_recognised():
    rng = np.random.default_rng(0)
    smooth = rng.standard_normal((200, 3))
    assert not swaps.has_few_values(smooth)
    assert not swaps.has_few_values(smooth[:8])
    assert swaps.has_few_values(np.column_stack([smooth, rng.integers(0, 10, 200)]))
    assert not swaps.has_few_values(np.column_stack([smooth, rng.integers(0, 60, 200)]))

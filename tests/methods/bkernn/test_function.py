"""Predictions from tables: the kernel expansion of the oracle, without a kernel."""

from __future__ import annotations

import dataclasses
from dataclasses import replace

import numpy as np
import pytest

from kernlens.methods.bkernn import tabulated
from kernlens.methods.bkernn.function import RidgeFunctions
from reference import bkernn
from reference.bkernn_problems import KERNEL_NAMES, LOSSES, TIGHT, WEIGHTINGS, problem, solved


def functions_of(case, kernel="brownian", W=None):
    return RidgeFunctions.of(case.smooth(kernel).at(case.W if W is None else W, tol=TIGHT))


def new_rows(case, n=40, scale=1.0, seed=9):
    return scale * np.random.default_rng(seed).standard_normal((n, case.X.shape[1]))


@pytest.mark.parametrize("kernel", KERNEL_NAMES)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_predictions_equal_the_oracle(kernel, loss, weighting):
    case, oracle = solved(kernel, loss, weighting)
    X_new = np.vstack([new_rows(case), case.X])
    expected = bkernn.predict(kernel, case.W, case.X, oracle, X_new)
    actual = functions_of(case, kernel).decision(X_new)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("kernel", KERNEL_NAMES)
@pytest.mark.parametrize("scale", [30.0, 1e4])
def test_predictions_far_outside_the_data(kernel, scale):
    case, oracle = solved(kernel, "squared", "random")
    X_new = new_rows(case, scale=scale)
    expected = bkernn.predict(kernel, case.W, case.X, oracle, X_new)
    actual = functions_of(case, kernel).decision(X_new)
    # The oracle adds numbers of the size of the rows, and loses as many digits.
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-8 + 1e-13 * scale)
    if kernel != "brownian" and scale == 1e4:
        np.testing.assert_allclose(actual, np.tile(oracle.intercept[:, None], 40), atol=1e-8)


@pytest.mark.parametrize("kernel", KERNEL_NAMES)
def test_training_rows_get_their_fitted_values(kernel):
    case = problem("squared", "with_zeros", n=70, seed=1)
    point = case.smooth(kernel).at(case.W, tol=TIGHT)
    # Shift the constant of -|p - p'| / 2 away: both sides use the same form.
    fitted = RidgeFunctions.of(point).decision(case.X)
    np.testing.assert_allclose(fitted, point.fit.decision, atol=1e-11)


@pytest.mark.parametrize("kernel", KERNEL_NAMES)
@pytest.mark.parametrize("dead", [[0], [1, 3], [0, 1, 2, 3], [0, 1, 2, 3, 4]])
def test_dead_particles_are_dropped_without_a_trace(kernel, dead):
    case = problem("squared", "random", seed=2)
    W = case.W.copy()
    W[dead] = 0.0
    case = dataclasses.replace(case, W=W)
    functions = functions_of(case, kernel)
    assert len(functions.particles) == len(functions.knots) == len(W) - len(dead)
    X_new = new_rows(case)
    expected = bkernn.predict(kernel, W, case.X, case.oracle(kernel), X_new)
    np.testing.assert_allclose(functions.decision(X_new), expected, atol=1e-9)


@pytest.mark.parametrize("kernel", KERNEL_NAMES)
def test_dead_blocks_of_particles_are_dropped_too(kernel, monkeypatch):
    # Force several blocks of particles on a small problem, one of them dead altogether.
    monkeypatch.setattr("kernlens.linalg.projected_kernel_operator.SERIAL_WORK", 0)
    case = problem("squared", m=21, seed=3)
    W = case.W.copy()
    W[8:16] = 0.0
    W[2] = 0.0
    case = dataclasses.replace(case, W=W)
    functions = functions_of(case, kernel)
    np.testing.assert_array_equal(functions.particles, np.delete(W, [2, *range(8, 16)], axis=0))
    X_new = new_rows(case)
    expected = bkernn.predict(kernel, W, case.X, case.oracle(kernel), X_new)
    np.testing.assert_allclose(functions.decision(X_new), expected, atol=1e-9)


@pytest.mark.parametrize("kernel", KERNEL_NAMES)
@pytest.mark.parametrize("dead", [[], [1, 3], [0, 1, 2, 3], [0, 1, 2, 3, 4]])
@pytest.mark.parametrize("blind", [[], [1], [0, 2]])
def test_tables_from_rows_are_those_of_the_fit(kernel, dead, blind):
    case = problem("squared", "random", seed=2)
    W = case.W.copy()
    W[dead] = 0.0
    W[:, blind] = 0.0
    fitted = functions_of(case, kernel, W)
    again = replace(fitted)
    assert again.knots is not fitted.knots
    np.testing.assert_allclose(again.knots, fitted.knots, rtol=0, atol=1e-13)
    np.testing.assert_allclose(again.tables, fitted.tables, rtol=0, atol=1e-13)
    # Whatever is smaller: columns that particles look at, or projections.
    n_seen = (case.X.shape[1] - len(blind)) if len(dead) < 5 else 0
    assert fitted.support.shape == (len(case.X), min(n_seen, len(W) - len(dead)))


@pytest.mark.parametrize("kernel", KERNEL_NAMES)
@pytest.mark.parametrize("n", [1, 2])
def test_very_few_training_rows(kernel, n):
    case = problem("squared", n=8, seed=4)
    few = dataclasses.replace(case, X=case.X[:n], y=case.y[:, :n], weights=case.weights[:n])
    X_new = new_rows(case)
    expected = bkernn.predict(kernel, few.W, few.X, few.oracle(kernel), X_new)
    np.testing.assert_allclose(functions_of(few, kernel).decision(X_new), expected, atol=1e-11)


@pytest.mark.parametrize("kernel", KERNEL_NAMES)
def test_tied_knots(kernel):
    case = problem("squared", seed=5)
    rng = np.random.default_rng(0)
    X, W = rng.integers(-1, 2, (30, 3)).astype(float), rng.integers(-1, 2, (5, 3)).astype(float)
    case = dataclasses.replace(case, X=X, W=W)
    X_new = np.vstack([X, rng.integers(-4, 5, (40, 3)), new_rows(case)])
    expected = bkernn.predict(kernel, W, X, case.oracle(kernel), X_new)
    np.testing.assert_allclose(functions_of(case, kernel).decision(X_new), expected, atol=1e-9)


@pytest.mark.parametrize("kernel", KERNEL_NAMES)
def test_contributions_add_up_to_the_decision(kernel):
    case = problem("squared", "random", seed=6)
    functions = functions_of(case, kernel)
    X_new = new_rows(case)
    parts = functions.contributions(functions.particles @ X_new.T)
    assert parts.shape == (2, 5, 40)
    total = parts.sum(axis=1) + functions.intercept[:, None]
    np.testing.assert_allclose(total, functions.decision(X_new), atol=1e-13)


@pytest.mark.parametrize("kernel", KERNEL_NAMES)
def test_blocks_of_rows_and_threads_do_not_change_a_bit(kernel, monkeypatch):
    case = problem("squared", seed=7)
    functions, X_new = functions_of(case, kernel), new_rows(case, n=3000)
    monkeypatch.setattr(tabulated, "ROWS_PER_BLOCK", 512)
    serial = replace(functions, n_jobs=1).decision(X_new)
    np.testing.assert_array_equal(serial, replace(functions, n_jobs=3).decision(X_new))
    alone = np.concatenate([functions.decision(row[None]) for row in X_new[:50]], axis=1)
    np.testing.assert_allclose(alone, serial[:, :50], rtol=0, atol=1e-12)


def test_brownian_predictions_are_bounded_by_the_values_at_the_knots():
    case = problem("squared", seed=8)
    functions = functions_of(case)
    far = functions.contributions(np.tile([-1e12, 1e12], (5, 1)))
    np.testing.assert_allclose(far, functions.tables[0][:, :, [0, -1]], atol=1e-12)


def test_inputs_are_left_alone():
    case = problem("squared", "random")
    point = case.smooth().at(case.W)
    X_new = new_rows(case)
    arrays = (case.X, case.y, case.weights, case.W, X_new, point.fit.dual, point.fit.intercept)
    kept = [a.copy() for a in arrays]
    functions = RidgeFunctions.of(point)
    tables = functions.tables.copy()
    functions.decision(X_new)
    functions.contributions(functions.particles @ X_new.T)
    for array, copy in zip((*arrays, functions.tables), (*kept, tables), strict=True):
        np.testing.assert_array_equal(array, copy)

"""Normal equations of ridge regression: merged, mapped, evaluated, without a row."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from kernlens._execution import split_range, sum_blocks
from kernlens.linalg.ridge_system import RidgeSystem, accumulate_ridge

N_ROWS, N_COLUMNS, N_TARGETS = 60, 7, 2


def problem(n=N_ROWS, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, N_COLUMNS)) + rng.normal(0, 2, N_COLUMNS)
    y = rng.standard_normal((N_TARGETS, n)) + np.array([[3.0], [-1.0]]) + A[:, 0]
    weights = rng.uniform(0.2, 3.0, n)
    weights[::9] = 0.0
    return A, y, weights


def system_of(A, y, weights, intercept, block=13, dtype=np.float64):
    shift = A[:10].mean(axis=0) if intercept else np.zeros(A.shape[1])
    return accumulate_ridge(
        lambda part: sum_blocks(
            lambda rows: part(rows, A[rows].astype(dtype, copy=True)), split_range(len(A), block)
        ),
        y,
        weights,
        intercept,
        shift,
    )


def solved_plainly(A, y, weights, alpha, intercept):
    """Stack the penalty below the rows, and a column of ones beside them without one."""
    k = A.shape[1]
    root = np.sqrt(weights)[:, None]
    left = np.vstack([root * A, np.sqrt(alpha * weights.sum()) * np.eye(k)])
    if intercept:
        left = np.column_stack([left, np.concatenate([root[:, 0], np.zeros(k)])])
    right = np.vstack([root * y.T, np.zeros((k, len(y)))])
    solution = np.linalg.lstsq(left, right, rcond=None)[0].T
    return (solution[:, :k], solution[:, k]) if intercept else (solution, np.zeros(len(y)))


def squared_error(A, y, weights, b, constant):
    return (y - b @ A.T - constant[:, None]) ** 2 @ weights / weights.sum()


def assert_same(one, other, rtol=1e-11):
    for field in dataclasses.fields(one):
        a, b = getattr(one, field.name), getattr(other, field.name)
        np.testing.assert_allclose(a, b, rtol=0, atol=rtol * max(1.0, np.abs(b).max()))


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("alpha", [1e-6, 0.3])
def test_solution_is_that_of_stacked_least_squares(alpha, intercept):
    A, y, weights = problem()
    b, c = system_of(A, y, weights, intercept).solve(alpha)
    expected = solved_plainly(A, y, weights, alpha, intercept)
    np.testing.assert_allclose(b, expected[0], rtol=0, atol=1e-11)
    np.testing.assert_allclose(c, expected[1], rtol=0, atol=1e-11)


@pytest.mark.parametrize("intercept", [False, True])
def test_mean_losses_are_means_of_squared_residuals(intercept):
    A, y, weights = problem()
    system = system_of(A, y, weights, intercept)
    rng = np.random.default_rng(1)
    b = rng.standard_normal((N_TARGETS, N_COLUMNS))
    constant = rng.standard_normal(N_TARGETS) if intercept else np.zeros(N_TARGETS)
    expected = squared_error(A, y, weights, b, constant)
    np.testing.assert_allclose(system.mean_losses(b, constant), expected, rtol=1e-12)
    solution = system.solve(0.1)
    np.testing.assert_allclose(
        system.mean_losses(*solution), squared_error(A, y, weights, *solution), rtol=1e-11
    )


@pytest.mark.parametrize("intercept", [False, True])
def test_mean_losses_on_rows_that_were_not_fitted(intercept):
    fitted, others = problem(), problem(40, seed=1)
    solution = system_of(*fitted, intercept).solve(0.05)
    losses = system_of(*others, intercept).mean_losses(*solution)
    np.testing.assert_allclose(losses, squared_error(*others, *solution), rtol=1e-12)


@pytest.mark.parametrize("intercept", [False, True])
def test_error_products_are_means_of_products_of_residuals(intercept):
    fitted, (A, y, weights) = problem(), problem(40, seed=1)
    solutions = [system_of(*fitted, intercept).solve(alpha) for alpha in (1e-3, 0.05, 2.0)]
    b, constant = (np.array(part) for part in zip(*solutions, strict=True))
    residuals = np.array([y - b @ A.T - c[:, None] for b, c in solutions])
    expected = np.einsum("itn,jtn,n->tij", residuals, residuals, weights) / weights.sum()
    found = system_of(A, y, weights, intercept).error_products(b, constant)
    np.testing.assert_allclose(found, expected, rtol=1e-11)


def test_mean_losses_are_never_negative():
    A, _, weights = problem()
    y = np.random.default_rng(1).standard_normal((N_TARGETS, N_COLUMNS)) @ A.T + 2.0
    system = system_of(A, y, weights, True)
    losses = system.mean_losses(*system.solve(1e-15))
    assert np.all(losses >= 0.0)
    np.testing.assert_allclose(losses, 0.0, atol=1e-12)


@pytest.mark.parametrize("intercept", [False, True])
def test_merged_system_is_that_of_all_rows(intercept):
    A, y, weights = problem()
    A[25:] += 4.0
    y[:, 25:] -= 7.0
    whole = system_of(A, y, weights, intercept)
    parts = [
        system_of(A[rows], y[:, rows], weights[rows], intercept)
        for rows in (slice(0, 25), slice(25, 31), slice(31, None))
    ]
    merged = parts[0].merged(parts[1]).merged(parts[2])
    assert_same(merged, whole)
    assert_same(parts[0].merged(parts[1].merged(parts[2])), whole)
    assert_same(parts[2].merged(parts[0]).merged(parts[1]), whole)
    b, c = merged.solve(0.1)
    expected = solved_plainly(A, y, weights, 0.1, intercept)
    np.testing.assert_allclose(b, expected[0], rtol=0, atol=1e-11)
    np.testing.assert_allclose(c, expected[1], rtol=0, atol=1e-11)


def assert_maps(mapped, A, y, weights, intercept):
    assert_same(mapped, system_of(A, y, weights, intercept))
    b, c = mapped.solve(0.1)
    expected = solved_plainly(A, y, weights, 0.1, intercept)
    np.testing.assert_allclose(b, expected[0], rtol=0, atol=1e-11)
    np.testing.assert_allclose(c, expected[1], rtol=0, atol=1e-11)


@pytest.mark.parametrize("intercept", [False, True])
def test_system_of_mixed_features(intercept):
    A, y, weights = problem()
    root = np.triu(np.random.default_rng(2).standard_normal((N_COLUMNS, N_COLUMNS)))
    root += 3.0 * np.eye(N_COLUMNS)
    system = system_of(A, y, weights, intercept)
    gram, kept = system.gram.copy(), root.copy()
    mapped = system.divided_by_triangle(root)
    assert_maps(mapped, A @ np.linalg.inv(root), y, weights, intercept)
    np.testing.assert_array_equal(mapped.gram, mapped.gram.T)
    np.testing.assert_array_equal(system.gram, gram)
    np.testing.assert_array_equal(root, kept)


@pytest.mark.parametrize("intercept", [False, True])
def test_system_of_scaled_features(intercept):
    A, y, weights = problem()
    scales = np.random.default_rng(2).standard_normal(N_COLUMNS)
    scaled = system_of(A, y, weights, intercept).scaled(scales)
    assert_maps(scaled, A * scales, y, weights, intercept)


def test_a_mapped_system_forgets_the_eigenvectors_of_the_other():
    system = system_of(*problem(), True)
    system.solve_along([0.1])
    scales = np.arange(1.0, N_COLUMNS + 1)
    for mapped in (system.scaled(scales), system.divided_by_triangle(np.diag(scales))):
        np.testing.assert_allclose(
            mapped.solve_along([0.1])[0][0], mapped.solve(0.1)[0], rtol=0, atol=1e-11
        )


@pytest.mark.parametrize("by_eigenvalues", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("alpha", [1e-6, 0.3])
def test_rows_left_out_are_predicted_by_a_fit_without_them(
    alpha, intercept, by_eigenvalues, monkeypatch
):
    A, y, weights = problem(25)
    weights[::9] = 0.4
    system = system_of(A, y, weights, intercept)
    if by_eigenvalues:
        monkeypatch.setattr(RidgeSystem, "_factor", lambda self, alpha: None)
    some = np.array([3, 0, 17, 24])
    predictions = system.left_out(A[some], y[:, some], weights[some], alpha)
    for place, row in enumerate(some):
        others = np.delete(np.arange(25), row)
        kept = alpha * weights.sum() / weights[others].sum()
        b, c = solved_plainly(A[others], y[:, others], weights[others], kept, intercept)
        np.testing.assert_allclose(predictions[:, place], b @ A[row] + c, rtol=0, atol=1e-9)


def test_a_row_that_decides_its_value_alone_has_a_finite_prediction_without_it():
    A, y = np.eye(3), np.ones((1, 3))
    system = system_of(A, y, np.ones(3), False)
    assert np.all(np.isfinite(system.left_out(A, y, np.ones(3), 1e-18)))


@pytest.mark.parametrize("intercept", [False, True])
def test_shift_does_not_change_a_centred_system(intercept):
    A, y, weights = problem()
    system = system_of(A, y, weights, intercept)
    if intercept:
        other = accumulate_ridge(
            lambda part: list(part(slice(None), A.copy())), y, weights, True, np.zeros(N_COLUMNS)
        )
        assert_same(other, system)
        centered = A - weights @ A / weights.sum()
        np.testing.assert_allclose(system.gram, (centered.T * weights) @ centered, atol=1e-10)
    else:
        np.testing.assert_allclose(system.gram, (A.T * weights) @ A, atol=1e-10)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("uniform", [False, True])
def test_blocks_of_single_precision(uniform, intercept):
    A, y, weights = problem(600)
    if uniform:
        weights = np.ones(600)
    kept = A.copy(), y.copy(), weights.copy()
    single = system_of(A, y, weights, intercept, dtype=np.float32)
    for field in ("gram", "moments", "feature_mean", "target_squares"):
        assert getattr(single, field).dtype == np.float64
    assert_same(single, system_of(A, y, weights, intercept), rtol=1e-6)
    b, c = single.solve(0.1)
    expected = solved_plainly(A, y, weights, 0.1, intercept)
    np.testing.assert_allclose(b, expected[0], rtol=0, atol=1e-5)
    np.testing.assert_allclose(c, expected[1], rtol=0, atol=1e-5)
    for before, after in zip(kept, (A, y, weights), strict=True):
        np.testing.assert_array_equal(before, after)


def test_blocks_of_single_precision_are_summed_in_double():
    # 2^24 + 1 is 2^24 in single precision.
    A = np.ones((1001, 1))
    A[0] = 4096.0
    system = system_of(A, A.T.copy(), np.ones(1001), False, block=1, dtype=np.float32)
    assert system.gram[0, 0] == system.moments[0, 0] == 4096.0**2 + 1000.0


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("intercept", [False, True])
def test_losses_that_overflow_are_infinite(intercept):
    system = system_of(*problem(), intercept)
    b = np.full((N_TARGETS, N_COLUMNS), 1e200)
    b[1] = 0.0
    losses = system.mean_losses(b, np.zeros(N_TARGETS))
    assert losses[0] == np.inf and np.isfinite(losses[1])

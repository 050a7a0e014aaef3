"""HKRR's objective in the map B: values, gradients by finite differences, invariances."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from kernlens._rows import canonical_rows
from kernlens.fits.nystrom_fit import NystromFitter
from kernlens.kernels.radial import RADIAL_KERNELS, make_radial_kernel
from kernlens.linalg import kernel_blocks
from kernlens.methods.hkrr.objective import HyperKernelObjective
from reference import hkrr
from reference.bkernn_problems import LOSSES

NAMES = list(RADIAL_KERNELS)
#: Every loss, the squared one with one and with several targets.
CASES = [("squared", 1), ("squared", 3), ("logistic", 1), ("multinomial", 3)]
TIGHT = 1e-12


def objective_of(case, kernel="gaussian", intercept=True, n_jobs=None):
    fitter = NystromFitter(
        LOSSES[case.loss], case.y, case.weights, case.alpha, intercept, case.jitter
    )
    return HyperKernelObjective(case.X, case.Z, make_radial_kernel(kernel), fitter, n_jobs=n_jobs)


def reduced(case, B, kernel="gaussian", **options):
    return objective_of(case, kernel, **options).at(B, tol=TIGHT).value


def reduced_gradient(case, B, kernel="gaussian", **options):
    objective = objective_of(case, kernel, **options)
    return objective.gradient(objective.at(B, tol=TIGHT))


def relative(actual, expected):
    return np.abs(actual - expected).max() / np.abs(expected).max()


def rotation(k, seed=0):
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((k, k)))[0]


@pytest.mark.parametrize("kernel", NAMES)
@pytest.mark.parametrize(("loss", "n_targets"), CASES)
def test_value_at_given_coefficients_equals_the_oracle(kernel, loss, n_targets):
    case = hkrr.problem(loss, n_targets=n_targets, jitter=1e-3)
    objective = objective_of(case, kernel)
    point = objective.with_coefficients(case.B, case.a, case.c)
    assert point.value == pytest.approx(case.objective(kernel), rel=1e-12)
    moved = objective.move_coefficients(point, -case.a, 2 * case.c)
    assert moved.value == pytest.approx(case.objective(kernel, a=-case.a, c=2 * case.c), rel=1e-12)
    assert moved.W is point.W and moved.blocks is point.blocks


def test_squared_loss_is_half_of_equation_5():
    case = hkrr.problem("squared", n_targets=1, jitter=0.0)
    case = dataclasses.replace(case, weights=np.ones(24), c=np.zeros(1))
    K, Kzz = case.kernels("gaussian")
    a = case.a[0]
    paper = np.sum((K @ a - case.y[0]) ** 2) / 24 + case.alpha * a @ Kzz @ a
    point = objective_of(case).with_coefficients(case.B, case.a, case.c)
    assert 2 * point.value == pytest.approx(paper, rel=1e-13)


@pytest.mark.parametrize("kernel", NAMES)
@pytest.mark.parametrize("n_targets", [1, 3])
def test_reduced_objective_is_half_of_equation_7(kernel, n_targets):
    case = hkrr.problem("squared", n_targets=n_targets)
    K, Kzz = case.kernels(kernel)
    paper = sum(hkrr.reduced_objective(K, Kzz, y, case.weights, case.alpha) for y in case.y)
    assert 2 * reduced(case, case.B, kernel, intercept=False) == pytest.approx(paper, rel=1e-9)
    assert reduced(case, case.B, kernel) < paper / 2


@pytest.mark.parametrize("loss", ["squared", "logistic", "multinomial"])
def test_reduced_objective_is_the_lowest_over_the_coefficients(loss):
    case = hkrr.problem(loss)
    K, Kzz = case.kernels("matern52")
    data = (case.y, case.weights, case.alpha)
    lowest = hkrr.minimize_coefficients(loss, K, Kzz, *data)[0]
    assert reduced(case, case.B, "matern52") == pytest.approx(lowest, rel=1e-9)


@pytest.mark.parametrize("kernel", NAMES)
@pytest.mark.parametrize(("loss", "n_targets"), CASES)
def test_gradient_in_the_map_equals_finite_differences(kernel, loss, n_targets):
    # The first centres are rows: a distance that is 0 for every B has no part in the gradient.
    case = hkrr.problem(loss, n=12, p=5, n_targets=n_targets, jitter=1e-3)
    objective = objective_of(case, kernel)
    exact = objective.gradient(objective.with_coefficients(case.B, case.a, case.c))
    numerical = hkrr.central_differences(lambda B: case.objective(kernel, B=B), case.B)
    assert exact.shape == case.B.shape
    assert relative(exact, numerical) < 1e-6


@pytest.mark.parametrize("kernel", NAMES)
@pytest.mark.parametrize(("loss", "n_targets"), CASES)
def test_gradient_in_the_coefficients_equals_finite_differences(kernel, loss, n_targets):
    case = hkrr.problem(loss, n=12, p=5, n_targets=n_targets, jitter=1e-3)
    objective = objective_of(case, kernel)
    point = objective.with_coefficients(case.B, case.a, case.c)
    in_a, in_c = objective.coefficient_gradients(point)
    numerical_a = hkrr.central_differences(lambda a: case.objective(kernel, a=a), case.a)
    numerical_c = hkrr.central_differences(lambda c: case.objective(kernel, c=c), case.c)
    assert relative(in_a, numerical_a) < 1e-6
    assert np.abs(in_c - numerical_c).max() < 1e-6 * np.abs(numerical_a).max()


@pytest.mark.parametrize("kernel", NAMES)
@pytest.mark.parametrize("n_targets", [1, 3])
def test_gradient_of_varpro_is_that_of_equation_7(kernel, n_targets):
    case = hkrr.problem("squared", n_targets=n_targets, jitter=1e-3)

    def half_of_7(B):
        K, Kzz = case.kernels(kernel, B)
        values = [hkrr.reduced_objective(K, Kzz, y, case.weights, case.alpha) for y in case.y]
        return sum(values) / 2

    numerical = hkrr.central_differences(half_of_7, case.B)
    exact = reduced_gradient(case, case.B, kernel, intercept=False)
    assert relative(exact, numerical) < 1e-6


@pytest.mark.parametrize("kernel", NAMES)
@pytest.mark.parametrize(("loss", "n_targets"), CASES)
@pytest.mark.parametrize("intercept", [True, False])
def test_gradient_of_the_reduced_objective_equals_finite_differences(
    kernel, loss, n_targets, intercept
):
    case = hkrr.problem(loss, n_targets=n_targets, jitter=1e-8, seed=1)
    options = {"kernel": kernel, "intercept": intercept}
    exact = reduced_gradient(case, case.B, **options)
    numerical = hkrr.central_differences(lambda B: reduced(case, B, **options), case.B)
    assert relative(exact, numerical) < 1e-6


@pytest.mark.parametrize("shape", [(1000, 25, 50, 3), (99, 50, 200, 5)])
def test_laplace_gradient_with_rows_as_centres_in_many_dimensions(shape):
    # Here the images of a row and of the centre that repeats it are rounded differently.
    n, p, d, k = shape
    rng = np.random.default_rng(0)
    X, B = rng.standard_normal((n, d)), rng.standard_normal((k, d)) / np.sqrt(d)
    fitter = NystromFitter(LOSSES["squared"], np.sin(X[:, :2].T), np.ones(n), 1e-3)
    objective = HyperKernelObjective(X, X[:p], make_radial_kernel("laplace"), fitter)
    exact = objective.gradient(objective.at(B))
    for _ in range(3):
        move = rng.standard_normal(B.shape)
        h = 1e-5
        numerical = (objective.at(B + h * move).value - objective.at(B - h * move).value) / (2 * h)
        assert np.vdot(exact, move) == pytest.approx(numerical, abs=1e-5 * np.linalg.norm(exact))


@pytest.mark.parametrize("kernel", NAMES)
@pytest.mark.parametrize(("loss", "n_targets"), CASES)
def test_rotating_the_images_changes_nothing_and_turns_the_gradient(kernel, loss, n_targets):
    case = hkrr.problem(loss, k=3, d=4, n_targets=n_targets)
    Q = rotation(3)
    assert reduced(case, Q @ case.B, kernel) == pytest.approx(
        reduced(case, case.B, kernel), rel=1e-10
    )
    gradient = reduced_gradient(case, case.B, kernel)
    turned = reduced_gradient(case, Q @ case.B, kernel)
    assert relative(turned, Q @ gradient) < 1e-7
    # Nothing changes along a rotation, so the gradient has no part along one: B G^T is symmetric.
    product = case.B @ gradient.T
    assert relative(product, product.T) < 1e-7


@pytest.mark.parametrize("kernel", NAMES)
def test_rotating_the_data_turns_the_map(kernel):
    case = hkrr.problem("squared", d=4)
    Q = rotation(4)
    turned = dataclasses.replace(case, X=case.X @ Q, Z=case.Z @ Q)
    B = case.B @ Q
    assert reduced(turned, B, kernel) == pytest.approx(reduced(case, case.B, kernel), rel=1e-10)
    expected = reduced_gradient(case, case.B, kernel) @ Q
    assert relative(reduced_gradient(turned, B, kernel), expected) < 1e-7


@pytest.mark.parametrize("kernel", NAMES)
@pytest.mark.parametrize("loss", ["squared", "logistic", "multinomial"])
def test_moving_rows_and_centres_together_changes_nothing(kernel, loss):
    case = hkrr.problem(loss)
    moved = dataclasses.replace(case, X=case.X + 5.0, Z=case.Z + 5.0)
    assert reduced(moved, case.B, kernel) == pytest.approx(reduced(case, case.B, kernel), rel=1e-9)
    expected = reduced_gradient(case, case.B, kernel)
    assert relative(reduced_gradient(moved, case.B, kernel), expected) < 1e-6


@pytest.mark.parametrize("loss", ["squared", "logistic", "multinomial"])
def test_rows_and_centres_have_no_order(loss):
    case = hkrr.problem(loss)
    rng = np.random.default_rng(0)
    rows, centers = rng.permutation(len(case.X)), rng.permutation(len(case.Z))
    moved = dataclasses.replace(
        case, X=case.X[rows], y=case.y[:, rows], weights=case.weights[rows], Z=case.Z[centers]
    )
    assert reduced(moved, case.B) == pytest.approx(reduced(case, case.B), rel=1e-11)
    expected = reduced_gradient(case, case.B)
    assert relative(reduced_gradient(moved, case.B), expected) < 1e-8


def test_a_row_of_zeros_in_the_map_is_no_row():
    case = hkrr.problem("squared")
    taller = np.vstack([case.B, np.zeros(3)])
    assert reduced(case, taller) == pytest.approx(reduced(case, case.B), rel=1e-12)
    gradient = reduced_gradient(case, taller)
    np.testing.assert_array_equal(gradient[-1], 0.0)
    np.testing.assert_allclose(gradient[:-1], reduced_gradient(case, case.B), rtol=1e-9)


@pytest.mark.parametrize("kernel", NAMES)
def test_a_map_to_zero_leaves_the_best_constant(kernel):
    case = hkrr.problem("squared")
    mean = np.average(case.y, axis=1, weights=case.weights)[:, None]
    spread = np.average(0.5 * np.sum((case.y - mean) ** 2, axis=0), weights=case.weights)
    assert reduced(case, 0.0 * case.B, kernel) == pytest.approx(spread, rel=1e-10)
    np.testing.assert_array_equal(reduced_gradient(case, 0.0 * case.B, kernel), 0.0)


@pytest.mark.parametrize("kernel", NAMES)
@pytest.mark.parametrize("loss", ["squared", "multinomial"])
def test_blocks_change_nothing_held_or_not(kernel, loss, monkeypatch):
    case = hkrr.problem(loss, n=200)
    value, gradient = reduced(case, case.B, kernel), reduced_gradient(case, case.B, kernel)
    monkeypatch.setattr(kernel_blocks, "BLOCK_ENTRIES", 1)
    for held in (0, 10**9):
        monkeypatch.setattr(kernel_blocks, "HELD_ENTRIES", held)
        assert reduced(case, case.B, kernel) == pytest.approx(value, rel=1e-11)
        assert relative(reduced_gradient(case, case.B, kernel), gradient) < 1e-7


def test_threads_change_not_one_bit(monkeypatch):
    monkeypatch.setattr(kernel_blocks, "BLOCK_ENTRIES", 1)
    monkeypatch.setattr(kernel_blocks, "WORK_PER_ENTRY", 10**9)
    case = hkrr.problem("logistic", n=200)
    values = [reduced(case, case.B, n_jobs=n_jobs) for n_jobs in (1, 2, 3)]
    gradients = [reduced_gradient(case, case.B, n_jobs=n_jobs) for n_jobs in (1, 2, 3)]
    assert values[0] == values[1] == values[2]
    np.testing.assert_array_equal(gradients[0], gradients[1])
    np.testing.assert_array_equal(gradients[0], gradients[2])


def test_objective_of_canonical_rows_is_that_of_the_rows():
    case = hkrr.problem("squared", jitter=1e-4)
    doubled = np.concatenate([np.arange(24), np.arange(5)])
    rows = canonical_rows(case.X[doubled], case.y[:, doubled], case.weights[doubled])
    assert len(rows.X) == 24
    objective = HyperKernelObjective.of(
        rows,
        case.Z,
        make_radial_kernel("gaussian"),
        LOSSES["squared"],
        case.alpha,
        penalty_strength=0.5,
    )
    fitter = dataclasses.replace(objective.fitter, intercept=False, jitter=case.jitter)
    objective = dataclasses.replace(objective, fitter=fitter)
    weights = case.weights * np.where(np.arange(24) < 5, 2.0, 1.0)
    expected = reduced(dataclasses.replace(case, weights=weights), case.B, intercept=False)
    assert objective.at(case.B).value == pytest.approx(expected, rel=1e-11)
    assert objective.penalty_strength == 0.5


@pytest.mark.parametrize("loss", ["logistic", "multinomial"])
def test_a_start_does_not_change_the_reduced_objective(loss):
    case = hkrr.problem(loss)
    objective = objective_of(case)
    near = objective.at(1.05 * case.B, tol=TIGHT)
    assert objective.at(case.B, start=near, tol=TIGHT).value == pytest.approx(
        reduced(case, case.B), rel=1e-12
    )


@pytest.mark.parametrize("loss", ["squared", "logistic", "multinomial"])
def test_inputs_are_left_alone(loss):
    case = hkrr.problem(loss)
    arrays = (case.X, case.Z, case.B, case.y, case.weights, case.a, case.c)
    kept = [array.copy() for array in arrays]
    objective = objective_of(case, "laplace")
    point = objective.with_coefficients(case.B, case.a, case.c)
    first = objective.gradient(point)
    objective.coefficient_gradients(point)
    objective.gradient(objective.at(case.B, start=point))
    np.testing.assert_array_equal(objective.gradient(point), first)
    for array, copy in zip(arrays, kept, strict=True):
        np.testing.assert_array_equal(array, copy)

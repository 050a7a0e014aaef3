"""Whitened features: the norm, the solution of (6), and the digits that they save."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens.kernels.radial import RADIAL_KERNELS, make_radial_kernel
from kernlens.linalg import kernel_blocks
from kernlens.linalg.kernel_blocks import KernelBlocks
from kernlens.linalg.ridge_system import RidgeSystem
from kernlens.linalg.whitened_features import JITTER, WhitenedFeatures
from reference import hkrr

NAMES = list(RADIAL_KERNELS)


def features_of(case, kernel="gaussian", jitter=None):
    blocks = KernelBlocks(case.B, case.X, case.Z, make_radial_kernel(kernel))
    return WhitenedFeatures(blocks, case.jitter if jitter is None else jitter)


def solution(features, y, weights, alpha, intercept):
    """Coefficients, constant and predictions."""
    b, c = features.ridge_system(y, weights, intercept).solve(alpha)
    a = features.coefficients(b)
    K = np.concatenate(features.blocks.map(lambda block: block.values))
    return a, c, a @ K.T + c[:, None]


def relative(actual, expected):
    return np.abs(actual - expected).max() / np.abs(expected).max()


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(kernel_blocks, "BLOCK_ENTRIES", 1)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("jitter", [1e-10, 1e-3])
def test_plain_norm_is_the_norm_of_the_function(name, jitter):
    case = hkrr.problem(p=8, jitter=jitter)
    features = features_of(case, name)
    b = features.whitened(case.a)
    Kzz = case.kernels(name)[1]
    expected = [a @ Kzz @ a for a in case.a]
    np.testing.assert_allclose(np.sum(b**2, axis=1), expected, rtol=1e-12)
    np.testing.assert_allclose(features.root.T @ features.root, Kzz, rtol=0, atol=1e-13)
    np.testing.assert_allclose(features.coefficients(b), case.a, rtol=1e-9)
    assert features.jitter == jitter


@pytest.mark.parametrize("name", NAMES)
def test_features_are_the_function_in_other_coordinates(name, small_blocks):
    case = hkrr.problem(n=150, p=8)
    features = features_of(case, name)
    A = features.matrix()
    assert A.shape == (150, 8)
    K = case.kernels(name)[0]
    expected = case.a @ K.T
    np.testing.assert_allclose(features.whitened(case.a) @ A.T, expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("alpha", [1e-3, 10.0])
def test_solution_of_a_good_problem_is_that_of_equation_6(name, intercept, alpha):
    case = hkrr.problem(n=40, p=6, jitter=1e-4)
    K, Kzz = case.kernels(name)
    assert np.linalg.cond(Kzz) < 1e4
    features = features_of(case, name)
    a, c, fitted = solution(features, case.y, case.weights, alpha, intercept)
    # Equation (6), with a column of ones for the constant, as it stands.
    design, penalty = np.column_stack([K, np.ones(40)]), np.zeros((7, 7))
    penalty[:6, :6] = alpha * case.weights.sum() * Kzz
    if not intercept:
        design[:, -1], penalty[-1, -1] = 0.0, 1.0
    W = np.diag(case.weights)
    direct = np.linalg.solve(design.T @ W @ design + penalty, design.T @ W @ case.y.T).T
    assert relative(a, direct[:, :-1]) < 1e-9
    np.testing.assert_allclose(c, direct[:, -1], atol=1e-11)
    assert relative(fitted, direct @ design.T) < 1e-11
    if not intercept:
        np.testing.assert_array_equal(c, 0.0)


def ill_conditioned(p=12, width=3.5, n=40):
    """Equidistant centres on a line, so close that their kernel has a condition number of 1e10."""
    rng = np.random.default_rng(0)
    X = width / 2 * rng.uniform(-1, 1, (n, 1))
    Z = width / 2 * np.linspace(-1, 1, p)[:, None]
    y = np.sin(2 * X.T) + 0.1 * rng.standard_normal((2, n))
    features = WhitenedFeatures(KernelBlocks(np.eye(1), X, Z, make_radial_kernel("gaussian")), 0.0)
    # The oracle gets the same rounded matrices: what is compared is the solution, not the kernel.
    K = np.concatenate(features.blocks.map(lambda block: block.values))
    return features, K, features.blocks.center_kernel[0], y, rng.uniform(0.5, 2.0, n)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("alpha", [1e-4, 1e-6, 1e-8])
def test_ill_conditioned_centres_keep_the_digits(intercept, alpha):
    features, K, Kzz, y, weights = ill_conditioned()
    assert 3e9 < np.linalg.cond(Kzz) < 3e10
    assert features.jitter == 0.0
    exact = hkrr.solve_exactly(K, Kzz, y, weights, alpha, intercept)[2]
    fitted = solution(features, y, weights, alpha, intercept)[2]
    assert relative(fitted, exact) < 1e-8


@pytest.mark.parametrize(("p", "width"), [(10, 2.5), (12, 3.5), (14, 4.5)])
def test_plain_normal_equations_lose_a_thousand_times_more(p, width):
    alpha = 1e-6
    features, K, Kzz, y, weights = ill_conditioned(p, width)
    assert 3e9 < np.linalg.cond(Kzz) < 3e10
    exact = hkrr.solve_exactly(K, Kzz, y, weights, alpha)[2]
    whitened_error = relative(solution(features, y, weights, alpha, False)[2], exact)
    system = K.T @ (weights[:, None] * K) + alpha * weights.sum() * Kzz
    plain = np.linalg.solve(system, K.T @ (weights * y).T)
    plain_error = relative((K @ plain).T, exact)
    assert whitened_error < 1e-9
    assert plain_error > 1000 * whitened_error


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("jitter", [0.0, 1e-18, JITTER])
def test_repeated_centres_change_nothing(name, jitter):
    # The centre kernel is singular. The functions are those of the distinct centres.
    case = hkrr.problem(n=40, p=6)
    repeated = np.vstack([case.Z, case.Z[:4], case.Z[:2]])
    blocks = KernelBlocks(case.B, case.X, repeated, make_radial_kernel(name))
    features = WhitenedFeatures(blocks, jitter)
    assert jitter <= features.jitter <= 1e-10
    a, _, fitted = solution(features, case.y, case.weights, case.alpha, True)
    distinct = features_of(case, name, jitter=0.0)
    expected = solution(distinct, case.y, case.weights, case.alpha, True)[2]
    assert np.isfinite(a).all()
    assert relative(fitted, expected) < 1e-7


def test_one_centre_kernel_for_all_centres_works():
    # A map to zero: every kernel value is 1, and only the constant can be fitted.
    case = hkrr.problem(n=40, p=6)
    blocks = KernelBlocks(0.0 * case.B, case.X, case.Z, make_radial_kernel("gaussian"))
    for intercept in (False, True):
        features = WhitenedFeatures(blocks, 0.0)
        fitted = solution(features, case.y, case.weights, case.alpha, intercept)[2]
        mean = np.average(case.y, axis=1, weights=case.weights)[:, None]
        # Without an intercept, b multiplies a feature of norm 1: ridge on the mean.
        expected = mean if intercept else mean / (1 + case.alpha)
        np.testing.assert_allclose(fitted, np.tile(expected, 40), rtol=1e-9)


@pytest.mark.parametrize("intercept", [False, True])
def test_integer_weights_are_repetitions(intercept):
    case = hkrr.problem(n=40, p=8)
    counts = np.random.default_rng(0).integers(0, 4, 40)
    rows = np.repeat(np.arange(40), counts)
    features = features_of(case)
    one = solution(features, case.y, counts.astype(float), case.alpha, intercept)
    blocks = KernelBlocks(case.B, case.X[rows], case.Z, make_radial_kernel("gaussian"))
    other = solution(
        WhitenedFeatures(blocks), case.y[:, rows], np.ones(len(rows)), case.alpha, intercept
    )
    np.testing.assert_allclose(one[1], other[1], atol=1e-11)
    np.testing.assert_allclose(one[2][:, rows], other[2], atol=1e-10)


def test_intercept_is_a_column_without_penalty(small_blocks):
    case = hkrr.problem(n=150, p=6, jitter=1e-6)
    K, Kzz = case.kernels("matern52")
    features = features_of(case, "matern52")
    for shift in (0.0, 1e3):
        y = case.y + shift
        exact = hkrr.solve_exactly(K, Kzz, y, case.weights, case.alpha, intercept=True)
        a, c, fitted = solution(features, y, case.weights, case.alpha, True)
        np.testing.assert_allclose(c, exact[1], rtol=1e-9)
        assert relative(a, exact[0]) < 1e-7
        assert relative(fitted, exact[2]) < 1e-11
        # Stationary in the constant: the residuals have no mean.
        np.testing.assert_allclose((y - fitted) @ case.weights, 0.0, atol=1e-10 * (1 + shift))


@pytest.mark.parametrize("intercept", [False, True])
def test_solutions_along_a_path_are_the_single_ones(intercept):
    case = hkrr.problem(n=40, p=8)
    features = features_of(case)
    system = features.ridge_system(case.y, case.weights, intercept)
    alphas = [10.0, 1e-1, 1e-3, 1e-6]
    for alpha, (b, c) in zip(alphas, system.solve_along(alphas), strict=True):
        one_b, one_c = system.solve(alpha)
        np.testing.assert_allclose(b, one_b, atol=1e-9 * np.abs(one_b).max())
        np.testing.assert_allclose(c, one_c, atol=1e-9)


def test_a_system_that_rounding_made_indefinite_is_solved_by_its_eigenvalues():
    gram = np.diag([1.0, -1e-15])
    system = RidgeSystem(
        gram, np.array([[1.0, 1e-9]]), 1.0, np.zeros(2), np.zeros(1), False, np.zeros(1)
    )
    b, c = system.solve(1e-16)
    np.testing.assert_allclose(b, [[1.0, 1e7]], rtol=1e-12)
    np.testing.assert_array_equal(c, 0.0)


def test_more_centres_than_rows_interpolate_as_alpha_vanishes():
    case = hkrr.problem(n=8, p=10)
    features = features_of(case)
    fitted = [solution(features, case.y, case.weights, alpha, True)[2] for alpha in (1e-4, 1e-9)]
    assert np.abs(fitted[0] - case.y).max() > 1e-4
    np.testing.assert_allclose(fitted[1], case.y, atol=1e-4)


def test_blocks_do_not_change_the_system(monkeypatch):
    case = hkrr.problem(n=300, p=8)
    whole = features_of(case).ridge_system(case.y, case.weights, True)
    monkeypatch.setattr(kernel_blocks, "BLOCK_ENTRIES", 1)
    monkeypatch.setattr(kernel_blocks, "HELD_ENTRIES", 0)
    cut = features_of(case).ridge_system(case.y, case.weights, True)
    for one, other in ((whole.gram, cut.gram), (whole.moments, cut.moments)):
        np.testing.assert_allclose(one, other, atol=1e-12 * np.abs(one).max())


def test_inputs_are_left_alone():
    case = hkrr.problem()
    arrays = (case.X, case.Z, case.B, case.y, case.weights, case.a)
    kept = [array.copy() for array in arrays]
    features = features_of(case)
    values = features.blocks.center_kernel[0].copy()
    system = features.ridge_system(case.y, case.weights, True)
    gram = system.gram.copy()
    system.solve(0.1)
    system.solve_along([0.1, 1.0])
    features.coefficients(features.whitened(case.a))
    for array, copy in zip(arrays, kept, strict=True):
        np.testing.assert_array_equal(array, copy)
    np.testing.assert_array_equal(features.blocks.center_kernel[0], values)
    np.testing.assert_array_equal(system.gram, gram)


def test_sums_of_a_wide_kernel_keep_their_digits_when_they_are_centred():
    # All values of the kernel are near 1: without taking the mean of the centres away first, the
    # centred sums would be differences of numbers a million times as large.
    rng = np.random.default_rng(0)
    X, Z = rng.standard_normal((300, 3)), rng.standard_normal((8, 3))
    features = WhitenedFeatures(
        KernelBlocks(1e-3 * np.eye(3), X, Z, make_radial_kernel("gaussian"))
    )
    y, weights = rng.standard_normal((1, 300)), rng.uniform(0.5, 2.0, 300)
    A = features.matrix().astype(np.longdouble)
    centered = A - weights @ A / weights.sum()
    exact = (centered * weights[:, None]).T @ centered
    system = features.ridge_system(y, weights, True)
    scale = np.sqrt(np.outer(np.diag(exact), np.diag(exact))).astype(float)
    errors = np.abs(system.gram - exact.astype(float)) / scale
    assert errors.max() < 1e-9

"""The fit on Nyström centres for a fixed map: every loss against the oracle and SciPy."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from kernlens.fits import feature_newton
from kernlens.fits.nystrom_fit import NystromFitter, evaluate
from kernlens.kernels.radial import RADIAL_KERNELS, make_radial_kernel
from kernlens.linalg import kernel_blocks
from kernlens.linalg.kernel_blocks import KernelBlocks
from kernlens.optim.damped_newton import damped_newton
from reference import hkrr
from reference.bkernn_problems import LOSSES, peak_bytes

NAMES = list(RADIAL_KERNELS)
SMOOTH = ["logistic", "multinomial"]
ALL_LOSSES = ["squared", *SMOOTH]
TIGHT = 1e-12


def blocks_of(case, kernel="gaussian"):
    return KernelBlocks(case.B, case.X, case.Z, make_radial_kernel(kernel))


def fitter_of(case, intercept=True, **changes):
    case = dataclasses.replace(case, **changes)
    return NystromFitter(
        LOSSES[case.loss], case.y, case.weights, case.alpha, intercept, case.jitter
    )


def oracle_gradients(case, kernel, fit):
    K, Kzz = case.kernels(kernel)
    return hkrr.coefficient_gradients(
        case.loss, K, Kzz, fit.coefficients, fit.intercept, case.y, case.weights, case.alpha
    )


def relative(actual, expected):
    return np.abs(actual - expected).max() / np.abs(expected).max()


@pytest.mark.parametrize("kernel", NAMES)
@pytest.mark.parametrize("loss", ALL_LOSSES)
def test_objective_at_given_coefficients_equals_the_oracle(kernel, loss):
    case = hkrr.problem(loss, jitter=1e-3)
    fit = fitter_of(case).at(blocks_of(case, kernel), case.a, case.c)
    assert fit.value == pytest.approx(case.objective(kernel), rel=1e-12)
    K, Kzz = case.kernels(kernel)
    np.testing.assert_allclose(fit.decision, case.a @ K.T + case.c[:, None], rtol=1e-11, atol=1e-12)
    assert fit.square_norm == pytest.approx(np.sum((case.a @ Kzz) * case.a), rel=1e-12)


@pytest.mark.parametrize("kernel", NAMES)
@pytest.mark.parametrize("loss", ALL_LOSSES)
@pytest.mark.parametrize("intercept", [True, False])
def test_gradient_in_the_coefficients_equals_the_oracle(kernel, loss, intercept):
    case = hkrr.problem(loss, jitter=1e-3)
    if not intercept:
        case = dataclasses.replace(case, c=0.0 * case.c)
    blocks, fitter = blocks_of(case, kernel), fitter_of(case, intercept)
    fit = fitter.at(blocks, case.a, case.c)
    in_a, in_c = fitter.coefficient_gradients(blocks, fit)
    expected_a, expected_c = oracle_gradients(case, kernel, fit)
    assert relative(in_a, expected_a) < 1e-11
    np.testing.assert_allclose(in_c, expected_c if intercept else 0.0 * case.c, atol=1e-12)


@pytest.mark.parametrize("kernel", NAMES)
@pytest.mark.parametrize("alpha", [1e-9, 0.02, 1e3])
@pytest.mark.parametrize("intercept", [True, False])
def test_squared_loss_equals_the_exact_solution(kernel, alpha, intercept):
    case = hkrr.problem("squared", alpha=alpha)
    K, Kzz = case.kernels(kernel)
    a, c, decision = hkrr.solve_exactly(K, Kzz, case.y, case.weights, alpha, intercept)
    fit = fitter_of(case, intercept)(blocks_of(case, kernel))
    lowest = hkrr.fixed_kernel_objective("squared", K, Kzz, a, c, case.y, case.weights, alpha)
    assert fit.value == pytest.approx(lowest, rel=1e-12)
    # Coefficients are as ill-conditioned as the centres, fitted values are not.
    assert relative(fit.coefficients, a) < 1e-13 * np.linalg.cond(Kzz) + 1e-10
    np.testing.assert_allclose(fit.intercept, c, atol=1e-9)
    assert np.abs(fit.decision - decision).max() < 1e-9 * np.abs(case.y).max()


@pytest.mark.parametrize("kernel", NAMES)
@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("intercept", [True, False])
def test_classification_losses_reach_the_minimum_of_scipy(kernel, loss, intercept):
    case = hkrr.problem(loss)
    K, Kzz = case.kernels(kernel)
    lowest = hkrr.minimize_coefficients(loss, K, Kzz, case.y, case.weights, case.alpha, intercept)[
        0
    ]
    fit = fitter_of(case, intercept)(blocks_of(case, kernel), tol=TIGHT)
    assert fit.value == pytest.approx(lowest, rel=1e-9)
    in_a, in_c = oracle_gradients(case, kernel, fit)
    np.testing.assert_allclose(in_a, 0.0, atol=1e-11)
    if intercept:
        np.testing.assert_allclose(in_c, 0.0, atol=1e-11)
    else:
        np.testing.assert_array_equal(fit.intercept, 0.0)


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("alpha", [1e-9, 1e-6, 1.0, 1e3])
def test_classification_losses_at_other_strengths(loss, alpha):
    case = hkrr.problem(loss, alpha=alpha)
    K, Kzz = case.kernels("gaussian")
    lowest = hkrr.minimize_coefficients(loss, K, Kzz, case.y, case.weights, alpha)[0]
    fit = fitter_of(case)(blocks_of(case), tol=TIGHT)
    assert fit.value == pytest.approx(lowest, rel=1e-9)
    in_a, in_c = oracle_gradients(case, "gaussian", fit)
    # The penalty holds the coefficients only with alpha: the gradient has to be small against it.
    assert np.abs(in_a).max() < max(1e-4 * alpha * np.abs(fit.coefficients).max(), 1e-13)
    # No trace of what keeps the system definite may be left in the constant.
    assert np.abs(in_c).max() < 1e-11


@pytest.mark.parametrize("loss", SMOOTH)
def test_many_centres_with_hardly_any_penalty(loss):
    # Decision values in the hundreds, probabilities far below the floor of the curvature.
    case = hkrr.problem(loss, n=30, p=10, alpha=1e-9)
    K, Kzz = case.kernels("gaussian")
    lowest = hkrr.minimize_coefficients(loss, K, Kzz, case.y, case.weights, case.alpha)[0]
    fit = fitter_of(case)(blocks_of(case), tol=TIGHT)
    assert fit.value == pytest.approx(lowest, rel=1e-9)


@pytest.mark.parametrize("intercept", [True, False])
def test_multinomial_with_many_classes(intercept):
    case = hkrr.problem("multinomial", n=60, n_targets=12, alpha=1e-3)
    assert np.all(case.y.sum(axis=1) > 0)
    K, Kzz = case.kernels("matern52")
    lowest = hkrr.minimize_coefficients(
        "multinomial", K, Kzz, case.y, case.weights, case.alpha, intercept
    )[0]
    fit = fitter_of(case, intercept)(blocks_of(case, "matern52"), tol=TIGHT)
    assert fit.value == pytest.approx(lowest, rel=1e-9)
    # Nothing but the penalty sees what is added to all classes, so nothing is added.
    np.testing.assert_allclose(fit.coefficients.sum(axis=0), 0.0, atol=1e-7)
    np.testing.assert_allclose(fit.intercept.sum(), 0.0, atol=1e-7)


def test_multinomial_with_two_classes_is_logistic_with_half_the_penalty():
    # f_1 - f_0 with a_1 = -a_0 = a / 2 has the penalty |a|^2 / 4 instead of |a|^2 / 2.
    one = hkrr.problem("logistic", n=40)
    two = dataclasses.replace(
        one, loss="multinomial", y=np.vstack([1 - one.y, one.y]), alpha=2 * one.alpha
    )
    binary = fitter_of(one)(blocks_of(one), tol=TIGHT)
    classes = fitter_of(two)(blocks_of(two), tol=TIGHT)
    assert classes.value == pytest.approx(binary.value, rel=1e-11)
    np.testing.assert_allclose(
        classes.decision[1] - classes.decision[0], binary.decision[0], atol=1e-8
    )


@pytest.mark.parametrize("loss", LOSSES)
def test_no_nearby_coefficients_are_better(loss):
    case = hkrr.problem("squared" if loss == "huber" else loss, seed=4)
    if loss == "huber":
        y = case.y + 10.0 * np.random.default_rng(0).choice([-1, 0, 0, 0, 1], case.y.shape)
        case = dataclasses.replace(case, loss="huber", y=y)
    blocks, fitter = blocks_of(case, "matern52"), fitter_of(case)
    fit = fitter(blocks, tol=TIGHT)
    rng = np.random.default_rng(0)
    for size in (1.0, 1e-2):
        for _ in range(20):
            a = fit.coefficients + size * rng.standard_normal(fit.coefficients.shape)
            c = fit.intercept + size * rng.standard_normal(fit.intercept.shape)
            assert fitter.at(blocks, a, c).value > fit.value
    assert fitter.at(blocks, fit.coefficients, fit.intercept).value == pytest.approx(
        fit.value, rel=1e-12
    )


@pytest.mark.parametrize("loss", ALL_LOSSES)
@pytest.mark.parametrize("intercept", [True, False])
def test_warm_start_ends_at_the_same_fit(loss, intercept):
    case = hkrr.problem(loss, n=40, p=8)
    fitter = fitter_of(case, intercept)
    near = fitter(blocks_of(dataclasses.replace(case, B=1.1 * case.B)), tol=TIGHT)
    cold = fitter(blocks_of(case), tol=TIGHT)
    for start in (near, cold):
        warm = fitter(blocks_of(case), start=start, tol=TIGHT)
        assert warm.value == pytest.approx(cold.value, rel=1e-12)
        np.testing.assert_allclose(warm.decision, cold.decision, atol=1e-8)


@pytest.mark.parametrize("loss", SMOOTH)
def test_a_warm_start_is_where_newton_starts(loss, monkeypatch):
    case = hkrr.problem(loss, n=40, p=8)
    fitter, blocks = fitter_of(case), blocks_of(case)
    given = fitter.at(blocks, case.a, case.c)
    starts = []

    def watched(start, **options):
        starts.append(start)
        return damped_newton(start, **options)

    monkeypatch.setattr(feature_newton, "damped_newton", watched)
    fitter(blocks, start=given)
    assert starts[0].value == pytest.approx(given.value, rel=1e-10)
    np.testing.assert_allclose(starts[0].decision, given.decision, atol=1e-9)


def test_a_start_far_away_ends_at_the_same_fit():
    case = hkrr.problem("logistic", n=40, p=8)
    fitter, blocks = fitter_of(case), blocks_of(case)
    far = fitter.at(blocks, 100.0 * case.a, 100.0 * case.c)
    assert np.abs(far.decision).max() > 50
    assert fitter(blocks, start=far, tol=TIGHT).value == pytest.approx(
        fitter(blocks, tol=TIGHT).value, rel=1e-10
    )


@pytest.mark.parametrize("loss", ALL_LOSSES)
def test_integer_weights_are_repetitions(loss):
    case = hkrr.problem(loss, n=30, seed=5)
    counts = np.random.default_rng(0).integers(0, 4, 30)
    rows = np.repeat(np.arange(30), counts)
    weighted = dataclasses.replace(case, weights=counts.astype(float))
    repeated = dataclasses.replace(
        case, X=case.X[rows], y=case.y[:, rows], weights=np.ones(len(rows))
    )
    one = fitter_of(weighted)(blocks_of(weighted), tol=TIGHT)
    other = fitter_of(repeated)(blocks_of(repeated), tol=TIGHT)
    assert one.value == pytest.approx(other.value, rel=1e-11)
    np.testing.assert_allclose(one.decision[:, rows], other.decision, atol=1e-8)


@pytest.mark.parametrize("loss", ALL_LOSSES)
@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_the_scale_of_the_weights_does_not_matter(loss, scale):
    case = hkrr.problem(loss, n=30)
    plain = fitter_of(case)(blocks_of(case), tol=TIGHT)
    scaled = fitter_of(case, weights=scale * case.weights)(blocks_of(case), tol=TIGHT)
    assert scaled.value == pytest.approx(plain.value, rel=1e-11)
    np.testing.assert_allclose(scaled.decision, plain.decision, atol=1e-8)


@pytest.mark.parametrize("constant", [0.0, 3.0, -1e4])
def test_constant_targets_of_regression_leave_only_the_constant(constant):
    case = hkrr.problem("squared")
    case = dataclasses.replace(case, y=np.full_like(case.y, constant))
    fit = fitter_of(case)(blocks_of(case))
    np.testing.assert_allclose(fit.intercept, constant, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(fit.decision, constant, rtol=1e-12, atol=1e-12)
    assert fit.value <= 1e-20 * constant**2


@pytest.mark.parametrize("loss", SMOOTH)
def test_constant_classes_are_predicted_for_sure(loss):
    # The lowest loss, 0, is at infinity: a fit that ends must be finite and close to it.
    case = hkrr.problem(loss, n=40)
    y = np.zeros_like(case.y)
    y[0] = 1.0
    fit = fitter_of(case, y=y)(blocks_of(case), tol=1e-8)
    assert 0.0 < fit.value < 1e-6
    assert np.isfinite(fit.decision).all() and np.all(fit.decision[0] > 5.0)
    assert np.abs(fit.coefficients).max() < 1e-6


@pytest.mark.parametrize("loss", ALL_LOSSES)
def test_heavy_regularisation_leaves_the_best_constant(loss):
    case = hkrr.problem(loss, alpha=1e8)
    fit = fitter_of(case)(blocks_of(case), tol=TIGHT)
    constant = LOSSES[loss].best_constant(case.y, case.weights)
    np.testing.assert_allclose(fit.decision, np.tile(constant[:, None], len(case.X)), atol=1e-7)


@pytest.mark.parametrize("loss", ALL_LOSSES)
def test_blocks_do_not_change_the_fit(loss, monkeypatch):
    case = hkrr.problem(loss, n=300)
    whole = fitter_of(case)(blocks_of(case), tol=TIGHT)
    monkeypatch.setattr(kernel_blocks, "BLOCK_ENTRIES", 1)
    monkeypatch.setattr(kernel_blocks, "HELD_ENTRIES", 0)
    cut = fitter_of(case)(blocks_of(case), tol=TIGHT)
    assert cut.value == pytest.approx(whole.value, rel=1e-12)
    np.testing.assert_allclose(cut.decision, whole.decision, atol=1e-9)
    np.testing.assert_allclose(
        evaluate(blocks_of(case), cut.coefficients, cut.intercept), cut.decision, atol=1e-9
    )


def test_large_kernels_are_never_held_for_the_squared_loss(monkeypatch):
    monkeypatch.setattr(kernel_blocks, "HELD_ENTRIES", 0)
    case = hkrr.problem(n=20_000, p=50)
    kernel, fitter = make_radial_kernel("gaussian"), fitter_of(case)
    blocks = KernelBlocks(case.B, case.X, case.Z, kernel, n_jobs=1)
    assert peak_bytes(lambda: fitter(blocks)) < 8 * 20_000 * 50 / 1.5


@pytest.mark.parametrize("loss", ALL_LOSSES)
def test_inputs_are_left_alone(loss):
    case = hkrr.problem(loss)
    arrays = (case.X, case.Z, case.B, case.y, case.weights, case.a, case.c)
    kept = [array.copy() for array in arrays]
    blocks, fitter = blocks_of(case), fitter_of(case)
    start = fitter.at(blocks, case.a, case.c)
    fit = fitter(blocks, start=start)
    held = fit.coefficients.copy(), fit.intercept.copy(), fit.decision.copy()
    fitter.coefficient_gradients(blocks, fit)
    fitter(blocks, start=fit)
    for array, copy in zip(arrays, kept, strict=True):
        np.testing.assert_array_equal(array, copy)
    for array, copy in zip((fit.coefficients, fit.intercept, fit.decision), held, strict=True):
        np.testing.assert_array_equal(array, copy)

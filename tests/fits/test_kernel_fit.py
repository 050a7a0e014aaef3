"""The convex fit for fixed particles: every kernel, loss and weighting against the oracle."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from kernlens.fits.kernel_fit import KernelFitter
from kernlens.kernels.one_dimensional import make_kernel
from kernlens.linalg.projected_kernel_operator import ProjectedKernelOperator
from reference.bkernn_problems import KERNEL_NAMES, LOSSES, TIGHT, WEIGHTINGS, problem, solved


def operator_of(case, kernel="brownian"):
    return ProjectedKernelOperator(case.W, case.X, make_kernel(kernel))


def fitter_of(case, solver="auto", **changes):
    case = dataclasses.replace(case, **changes)
    return KernelFitter(LOSSES[case.loss], case.y, case.weights, case.alpha, solver)


class CountedSystems:
    """A loss that counts the linear systems it is asked for."""

    def __init__(self, loss):
        self.loss, self.n_systems = loss, 0

    def __getattr__(self, name):
        return getattr(self.loss, name)

    def working_system(self, *given):
        self.n_systems += 1
        return self.loss.working_system(*given)


def relative(actual, expected):
    return np.abs(actual - expected).max() / np.abs(expected).max()


@pytest.mark.parametrize("kernel", KERNEL_NAMES)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("weighting", WEIGHTINGS)
@pytest.mark.parametrize("solver", ["auto", "cg"])
def test_objective_and_fitted_values_equal_the_oracle(kernel, loss, weighting, solver):
    case, oracle = solved(kernel, loss, weighting)
    fit = fitter_of(case, solver)(operator_of(case, kernel), tol=TIGHT)
    assert fit.value == pytest.approx(oracle.value, rel=1e-11)
    assert relative(fit.decision, oracle.decision) < 1e-8
    assert relative(fit.dual, oracle.dual) < 1e-7


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("alpha", [1e-4, 10.0])
def test_objective_equals_the_oracle_at_other_strengths(loss, alpha):
    case, oracle = solved("brownian", loss, "random", alpha)
    fit = fitter_of(case)(operator_of(case), tol=TIGHT)
    assert fit.value == pytest.approx(oracle.value, rel=1e-9)


def test_separated_classes_are_fitted_beyond_the_curvature_floor():
    # Probabilities far below 1e-6, where the curvature is raised but the gradient must stay exact.
    case = problem("multinomial", alpha=1e-6)
    X, W = case.X, np.vstack([np.eye(3), case.W])
    y = np.eye(3)[np.digitize(X[:, 0], [-0.5, 0.5])].T
    case = dataclasses.replace(case, y=y, W=W)
    fit = fitter_of(case)(operator_of(case), tol=1e-12)
    assert np.exp(-np.ptp(fit.decision, axis=0)).min() < 1e-7
    assert fit.value == pytest.approx(case.oracle().value, rel=1e-8)


@pytest.mark.parametrize("loss", ["logistic", "multinomial"])
def test_separated_classes_without_a_penalty_to_speak_of_end_soon(loss):
    # The minimum is at probabilities of 1e-300: nobody sees the way from 1e-13 to there.
    case = problem(loss, alpha=1e-300)
    share = np.eye(3)[np.digitize(case.X[:, 0], [-0.5, 0.5])].T
    y = share if loss == "multinomial" else share[:1]
    counted = CountedSystems(LOSSES[loss])
    fitter = KernelFitter(counted, y, case.weights, case.alpha)
    fit = fitter(operator_of(case), tol=1e-10)
    assert counted.n_systems < 60
    seen = case.weights > 0
    assert np.abs(counted.gradient(y, fit.decision))[:, seen].max() < 1e-8


@pytest.mark.parametrize("loss", LOSSES)
def test_without_an_intercept_the_slopes_are_those_of_the_function_alone(loss):
    case = problem(loss, "with_zeros", n=60, seed=3)
    fitter = dataclasses.replace(fitter_of(case), intercept=False)
    # Positive without centring.
    fit = fitter(operator_of(case, "gaussian"), tol=TIGHT)
    np.testing.assert_array_equal(fit.intercept, 0.0)
    # The condition of the minimum of a convex objective.
    slopes = LOSSES[loss].gradient(case.y, fit.kernel_dual)
    expected = -case.weights * slopes / (case.alpha * case.weights.sum())
    np.testing.assert_allclose(fit.dual, expected, atol=1e-7 * np.abs(expected).max())


@pytest.mark.parametrize("kernel", KERNEL_NAMES)
@pytest.mark.parametrize("loss", LOSSES)
def test_duals_are_the_scaled_slopes_of_the_loss(kernel, loss):
    case = problem(loss, "with_zeros", n=60, seed=3)
    fit = fitter_of(case)(operator_of(case, kernel), tol=TIGHT)
    slopes = LOSSES[loss].gradient(case.y, fit.decision)
    expected = -case.weights * slopes / (case.alpha * case.weights.sum())
    np.testing.assert_allclose(fit.dual, expected, atol=1e-7 * np.abs(expected).max())
    np.testing.assert_allclose(fit.dual.sum(axis=1), 0.0, atol=1e-9 * np.abs(fit.dual).sum())
    np.testing.assert_allclose(
        fit.kernel_dual, operator_of(case, kernel).matvec(fit.dual), atol=1e-9
    )


@pytest.mark.parametrize("loss", LOSSES)
def test_no_nearby_coefficients_are_better(loss):
    case = problem(loss, "random", seed=4)
    fitter, operator = fitter_of(case), operator_of(case)
    fit = fitter(operator, tol=TIGHT)
    rng = np.random.default_rng(0)
    for size in (1e-1, 1e-3):
        for _ in range(20):
            move = rng.standard_normal(fit.dual.shape)
            move = size * (move - move.mean(axis=1, keepdims=True))
            dual = fit.dual + move
            intercept = fit.intercept + size * rng.standard_normal(len(fit.intercept))
            assert fitter.objective(dual, intercept, operator.matvec(dual)) > fit.value


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kernel", KERNEL_NAMES)
def test_integer_weights_are_repetitions(loss, kernel):
    case = problem(loss, seed=5)
    counts = np.random.default_rng(0).integers(0, 4, len(case.X))
    rows = np.repeat(np.arange(len(case.X)), counts)
    weighted = dataclasses.replace(case, weights=counts.astype(float))
    repeated = dataclasses.replace(
        case, X=case.X[rows], y=case.y[:, rows], weights=np.ones(len(rows))
    )
    one = fitter_of(weighted)(operator_of(weighted, kernel), tol=TIGHT)
    other = fitter_of(repeated)(operator_of(repeated, kernel), tol=TIGHT)
    assert one.value == pytest.approx(other.value, rel=1e-10)
    np.testing.assert_allclose(one.decision[:, rows], other.decision, atol=1e-7)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_the_scale_of_the_weights_does_not_matter(loss, scale):
    case = problem(loss, "random")
    plain = fitter_of(case)(operator_of(case), tol=TIGHT)
    scaled = fitter_of(case, weights=scale * case.weights)(operator_of(case), tol=TIGHT)
    assert scaled.value == pytest.approx(plain.value, rel=1e-10)
    np.testing.assert_allclose(scaled.decision, plain.decision, atol=1e-7)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_order_of_the_rows_does_not_matter(loss):
    case = problem(loss, "with_zeros", seed=6)
    order = np.random.default_rng(0).permutation(len(case.X))
    moved = dataclasses.replace(
        case, X=case.X[order], y=case.y[:, order], weights=case.weights[order]
    )
    one = fitter_of(case)(operator_of(case), tol=TIGHT)
    other = fitter_of(moved)(operator_of(moved), tol=TIGHT)
    assert one.value == pytest.approx(other.value, rel=1e-11)
    np.testing.assert_allclose(one.decision[:, order], other.decision, atol=1e-7)


def with_products(fitter, case, start=None):
    """A fit, and the number of products with the kernel matrix that it took."""
    operator, calls = operator_of(case), []
    product = operator.matvec

    def counted(v):
        calls.append(len(v))
        return product(v)

    operator.matvec = counted
    return fitter(operator, start=start, tol=1e-9), len(calls)


@pytest.mark.parametrize("loss", LOSSES)
def test_warm_start_ends_at_the_same_fit_with_less_work(loss):
    case = problem(loss, "random", n=160, seed=7)
    fitter = fitter_of(case, "cg")
    cold = fitter(operator_of(case), tol=1e-9)
    near = dataclasses.replace(case, W=case.W * (1 + 1e-6))
    warm, products_of_warm = with_products(fitter, near, start=cold)
    alone, products_alone = with_products(fitter, near)
    assert warm.value == pytest.approx(alone.value, rel=1e-9)
    assert products_of_warm < products_alone
    assert fitter(operator_of(case), start=cold, tol=1e-9).value <= cold.value * (1 + 1e-12)


def test_a_class_without_rows_is_left_out():
    # Its decision values go to minus infinity, and the objective to that of the other classes.
    case = problem("multinomial", "random", seed=8)
    kept = case.y[2] == 0
    without = dataclasses.replace(case, weights=case.weights * kept)
    fit = fitter_of(without)(operator_of(without), tol=1e-8)
    others = dataclasses.replace(without, y=case.y[:2] + case.y[2] / 2)
    assert fit.value == pytest.approx(others.oracle().value, rel=1e-4)
    assert np.all(fit.decision[2] < fit.decision[:2].min(axis=0) - 8)


@pytest.mark.parametrize("loss", ["squared", "logistic", "multinomial"])
def test_heavy_regularisation_leaves_the_best_constant(loss):
    case = problem(loss, "random", alpha=1e8)
    fit = fitter_of(case)(operator_of(case), tol=TIGHT)
    constant = LOSSES[loss].best_constant(case.y, case.weights)
    np.testing.assert_allclose(fit.decision, np.tile(constant[:, None], len(case.X)), atol=1e-6)


def test_hundred_huber_fits_with_gross_outliers_reach_the_minimum():
    for seed in range(100):
        case = problem("huber", "random", n=25, alpha=10.0 ** -(1 + seed % 4), seed=seed)
        case = dataclasses.replace(case, y=case.y * 10.0 ** (seed % 3))
        fit = fitter_of(case)(operator_of(case), tol=1e-12)
        slopes = LOSSES["huber"].gradient(case.y, fit.decision)
        residual = case.weights * slopes / case.weights.sum() + case.alpha * fit.dual
        assert np.abs(residual).max() < 1e-8, seed


@pytest.mark.parametrize("loss", LOSSES)
def test_inputs_are_left_alone(loss):
    case = problem(loss, "with_zeros")
    copies = [a.copy() for a in (case.X, case.y, case.weights, case.W)]
    fit = fitter_of(case)(operator_of(case))
    kept = fit.dual.copy(), fit.intercept.copy(), fit.unknown.copy()
    fitter_of(case)(operator_of(case, "gaussian"), start=fit)
    for array, copy in zip((case.X, case.y, case.weights, case.W), copies, strict=True):
        np.testing.assert_array_equal(array, copy)
    for array, copy in zip((fit.dual, fit.intercept, fit.unknown), kept, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_the_objective_is_never_negative():
    # Where the kernel is huge beside alpha, the norm of the coefficients is rounding of any sign.
    case = problem("squared", alpha=1.0)
    ones = np.ones_like(case.y)
    value = fitter_of(case).objective(1e6 * ones, np.zeros(len(ones)), -1e-3 * ones)
    assert value >= 0.0

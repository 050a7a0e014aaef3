"""The kernel of all Hermite polynomials: against plain sums, closed forms and differences."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from kernlens.features.hermite import HermiteFeatures
from kernlens.features.hermite_indices import enumerate_indices
from kernlens.kernels.hermite import COARSE, FEW_ROWS, FINE, MEDIUM, ROUGH, TILE, HermiteKernel
from reference import regfeal

#: Degrees that leave out less than 1e-11 of the sums for this rho and rows of ordinary size.
RHO = 0.3
DEGREE = 26
ETAS = {
    "one": (0.5,),
    "two": (0.8, 0.05),
    "spread": (0.7, 0.2, 0.01),
    "equal": (0.3, 0.3, 0.3),
    "pair": (0.5, 0.1, 0.1),
    "tiny": (0.9, 1e-4, 1e-9),
}
PENALTIES = [(0.1, 1.0), (0.0, 0.02), (2.0, 1e-6)]


def points(d, n=6, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def relative(actual, expected):
    return np.abs(actual - expected).max() / np.abs(expected).max()


def summed_derivatives(Z, dual, eta, lam, mu):
    """M_f and the pull from explicit coefficients of all polynomials up to a degree."""
    features = HermiteFeatures(enumerate_indices(Z.shape[1], DEGREE))
    cost = lam + mu * features.indices @ (1 / np.array(eta))
    c = RHO**features.degrees
    coefficients = (c / cost) * (dual @ features.matrix(Z))
    keys = features.derivative
    pull = sum(a[:, None] * keys.gradients(b, Z) for a, b in zip(dual, coefficients, strict=True))
    return keys.outer_product(coefficients, c), pull


@pytest.mark.parametrize("name", ETAS)
@pytest.mark.parametrize("penalties", PENALTIES)
def test_kernel_equals_the_sum_over_all_polynomials(name, penalties):
    eta = np.array(ETAS[name])
    Z, others = points(len(eta)), points(len(eta), 4, seed=1)
    everything = np.concatenate([Z, others])
    full = regfeal.kernel(everything, everything, eta, *penalties, RHO, DEGREE)
    kernel = HermiteKernel.of(eta, *penalties, RHO)
    assert relative(kernel.matrix(Z), full[:6, :6]) < 1e-10
    assert relative(kernel.matrix(Z, others), full[:6, 6:]) < 1e-10


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_scale_of_the_penalties_is_the_scale_of_the_kernel(scale):
    eta, Z = np.array(ETAS["spread"]), points(3)
    one = HermiteKernel.of(eta, 0.1, 1.0, RHO).matrix(Z)
    other = HermiteKernel.of(eta, 0.1 * scale, scale, RHO).matrix(Z)
    np.testing.assert_allclose(other * scale, one, rtol=1e-12)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("precision", [FINE, COARSE])
def test_small_mu_is_almost_none(precision):
    # The nodes follow lam where it is what ends the integral.
    eta, Z = np.array(ETAS["equal"]), points(3)
    kernel = HermiteKernel.of(eta, 0.5, 1e-12, 0.7, precision)
    assert relative(kernel.matrix(Z), regfeal.mehler(Z, Z, 0.7) / 0.5) < (
        1e-10 if precision is FINE else 1e-3
    )


@pytest.mark.parametrize("precision", [FINE, COARSE])
@pytest.mark.parametrize("lam", [0.5, 1e-3])
def test_without_mu_the_kernel_is_mehlers(precision, lam):
    Z, others = points(3), points(3, 4, seed=1)
    kernel = HermiteKernel.of(np.array(ETAS["tiny"]), lam, 0.0, 0.7, precision)
    tolerance = 1e-13 if precision is FINE else 1e-5
    assert relative(kernel.matrix(Z, others), regfeal.mehler(Z, others, 0.7) / lam) < tolerance
    assert relative(kernel.matrix(Z), regfeal.mehler(Z, Z, 0.7) / lam) < tolerance


def test_square_matrix_is_the_rectangular_one_with_itself():
    eta, Z = np.array(ETAS["spread"]), points(3, TILE + 40)
    kernel = HermiteKernel.of(eta, 0.1, 1.0, RHO, COARSE)
    square, rectangle = kernel.matrix(Z), kernel.matrix(Z, Z.copy())
    assert relative(square, rectangle) < 1e-5
    assert relative(square, square.T) < 1e-5
    fine = HermiteKernel.of(eta, 0.1, 1.0, RHO)
    few = np.r_[0, 5, TILE - 1, TILE, TILE + 39]
    assert relative(fine.matrix(Z, Z[few])[few], fine.matrix(Z[few])) < 1e-13


def test_kernel_is_positive_definite():
    values = np.linalg.eigvalsh(
        HermiteKernel.of(np.array([0.6, 0.1]), 0.1, 1.0, 0.8).matrix(points(2, 15))
    )
    assert values.min() > 0


@pytest.mark.parametrize("name", ETAS)
@pytest.mark.parametrize("penalties", PENALTIES)
@pytest.mark.parametrize("n_targets", [1, 3])
def test_derivatives_equal_the_explicit_sums(name, penalties, n_targets):
    eta = np.array(ETAS[name])
    Z = points(len(eta))
    dual = np.random.default_rng(2).standard_normal((n_targets, len(Z)))
    M, pull = HermiteKernel.of(eta, *penalties, RHO).derivatives(Z, dual)
    expected_M, expected_pull = summed_derivatives(Z, dual, eta, *penalties)
    np.testing.assert_array_equal(M, M.T)
    # Every direction on its own scale: small eta make small derivatives.
    scale = np.sqrt(np.diag(expected_M))
    assert np.abs((M - expected_M) / np.outer(scale, scale)).max() < 1e-8
    assert (
        np.abs(pull - expected_pull).max(axis=0) / np.abs(expected_pull).max(axis=0)
    ).max() < 1e-8


@pytest.mark.parametrize("name", ETAS)
def test_pull_is_half_the_gradient_of_the_square_norm(name):
    eta = np.array(ETAS[name])
    Z, step = points(len(eta)), 1e-5
    dual = np.random.default_rng(2).standard_normal((2, len(Z)))
    kernel = HermiteKernel.of(eta, 0.1, 1.0, RHO)

    def square_norm(Z):
        return np.sum((dual @ kernel.matrix(Z)) * dual)

    slopes = np.empty_like(Z)
    for i, a in np.ndindex(Z.shape):
        shift = np.zeros_like(Z)
        shift[i, a] = step
        slopes[i, a] = (square_norm(Z + shift) - square_norm(Z - shift)) / (2 * step)
    assert relative(2 * kernel.derivatives(Z, dual)[1], slopes) < 1e-7


def test_square_norm_splits_into_lam_and_the_trace_of_m():
    # |f|^2 = lam Omega_0^2 + mu sum_a M_aa / eta_a: with lam = 0 it is the trace alone.
    eta, Z = np.array(ETAS["spread"]), points(3)
    dual = np.random.default_rng(2).standard_normal((2, len(Z)))
    kernel = HermiteKernel.of(eta, 0.0, 0.3, 0.7)
    M, _ = kernel.derivatives(Z, dual)
    square_norm = np.sum((dual @ kernel.matrix(Z)) * dual)
    assert 0.3 * np.sum(np.diag(M) / eta) == pytest.approx(square_norm, rel=1e-11)


def test_outer_product_turns_with_the_rows_if_all_directions_are_equal():
    eta, Z = np.array(ETAS["equal"]), points(3)
    dual = np.random.default_rng(2).standard_normal((1, len(Z)))
    R = np.linalg.qr(np.random.default_rng(3).standard_normal((3, 3)))[0]
    kernel = HermiteKernel.of(eta, 0.1, 1.0, 0.8)
    assert relative(kernel.matrix(Z @ R), kernel.matrix(Z)) < 1e-13
    M, pull = kernel.derivatives(Z, dual)
    turned_M, turned_pull = kernel.derivatives(Z @ R, dual)
    assert relative(R @ turned_M @ R.T, M) < 1e-11
    assert relative(turned_pull @ R.T, pull) < 1e-11
    uneven = HermiteKernel.of(np.array(ETAS["spread"]), 0.1, 1.0, 0.8)
    assert relative(uneven.matrix(Z @ R), uneven.matrix(Z)) > 1e-2


def test_nearly_equal_directions_are_no_worse_than_equal_ones():
    Z = points(2)
    dual = np.random.default_rng(2).standard_normal((1, len(Z)))
    expected = HermiteKernel.of(np.array([0.5, 0.5]), 0.1, 1.0, RHO).derivatives(Z, dual)
    for gap in [1e-14, 1e-11, 1e-8]:
        eta = np.array([0.5, 0.5 + gap])
        actual = HermiteKernel.of(eta, 0.1, 1.0, RHO).derivatives(Z, dual)
        assert relative(actual[0], expected[0]) < 1e-11 + 10 * gap
        assert relative(actual[1], expected[1]) < 1e-11 + 10 * gap


@pytest.mark.parametrize("name", ETAS)
@pytest.mark.parametrize("penalties", [(0.1, 1.0), (0.0, 0.02), (1e-8, 1e-4), (1.0, 1e-7)])
@pytest.mark.parametrize("rho", [0.3, 0.8])
@pytest.mark.parametrize(("precision", "close"), [(ROUGH, 2e-3), (COARSE, 1e-4), (MEDIUM, 1e-7)])
def test_faster_precisions_are_close_to_fine(name, penalties, rho, precision, close):
    eta = np.array(ETAS[name])
    Z = points(len(eta), 20)
    dual = np.random.default_rng(2).standard_normal((2, len(Z)))
    fine = HermiteKernel.of(eta, *penalties, rho)
    fast = HermiteKernel.of(eta, *penalties, rho, precision)
    assert len(fast.times) < len(fine.times) / 2
    assert relative(fast.matrix(Z), fine.matrix(Z)) < close
    for actual, expected in zip(fast.derivatives(Z, dual), fine.derivatives(Z, dual), strict=True):
        assert relative(actual, expected) < 10 * close


@pytest.mark.parametrize("name", ETAS)
@pytest.mark.parametrize("mu", [0.0, 1e-6, 1.0])
@pytest.mark.parametrize("precision", [FINE, MEDIUM])
def test_few_rows_have_the_columns_of_many(name, mu, precision):
    eta = np.array(ETAS[name])
    Z, others = points(len(eta), 40), points(len(eta), FEW_ROWS + 1, seed=1)
    kernel = HermiteKernel.of(eta, 0.1, mu, RHO, precision)
    many = kernel.matrix(Z, others)
    assert kernel.matrix(Z, others[:0]).shape == (40, 0)
    for k in range(1, FEW_ROWS + 1):
        assert relative(kernel.matrix(Z, others[:k]), many[:, :k]) < 1e-13


@pytest.mark.parametrize("step", [0.3, 0.5, 0.8, 1.0])
def test_first_weights_sum_what_a_rule_down_to_zero_sums(step):
    times = np.exp(step * np.arange(-200, 2))
    constant = dataclasses.replace(FINE, step=step).first_weights()
    assert constant == pytest.approx([step * times[:-1].sum()], rel=1e-12)
    if step >= 0.5:
        weights = dataclasses.replace(MEDIUM, step=step).first_weights()
        assert weights.min() > 0.0
        for power in (0, 1):
            expected = step * (times ** (1 + power)).sum()
            assert weights @ times[-2:] ** power == pytest.approx(expected, rel=1e-12)


def test_directions_that_no_node_sees_change_nothing():
    # Their share is a hundredth: eta is 1e-10 of the largest one.
    eta, few = np.array([0.6, 0.4, 1e-10]), np.array([0.6, 0.4])
    Z, others = points(3, 30), points(3, 9, seed=1)
    for precision in (MEDIUM, COARSE, ROUGH):
        whole = HermiteKernel.of(eta, 1e-8, 1.0, RHO, precision)
        part = HermiteKernel.of(few, 1e-8, 1.0, RHO, precision)
        np.testing.assert_array_equal(whole.times, part.times)
        close = 1e-14 if precision is MEDIUM else 1e-5
        assert relative(whole.matrix(Z, others), part.matrix(Z[:, :2], others[:, :2])) < close


@pytest.mark.parametrize("precision", [FINE, COARSE])
def test_threads_change_nothing(precision, monkeypatch):
    monkeypatch.setattr("kernlens._execution.SERIAL_WORK", 0)
    eta, Z = np.array([0.6, 0.2]), points(2, 2 * TILE + 30)
    others = points(2, TILE + 10, seed=1)
    dual = np.random.default_rng(2).standard_normal((2, len(Z)))
    # Few nodes do: the tiles are what threads share.
    precision = dataclasses.replace(precision, step=2.0)
    results = []
    for n_jobs in [1, 3]:
        kernel = HermiteKernel.of(eta, 0.1, 1.0, RHO, precision, n_jobs)
        results.append([kernel.matrix(Z), kernel.matrix(Z, others), *kernel.derivatives(Z, dual)])
    for one, several in zip(*results, strict=True):
        np.testing.assert_array_equal(one, several)


@pytest.mark.parametrize("precision", [FINE, COARSE])
def test_tiles_add_up(precision, monkeypatch):
    eta, Z = np.array([0.6, 0.2]), points(2, 50)
    dual = np.random.default_rng(2).standard_normal((2, len(Z)))
    kernel = HermiteKernel.of(eta, 0.1, 1.0, RHO, precision)
    whole = [kernel.matrix(Z), *kernel.derivatives(Z, dual)]
    monkeypatch.setattr("kernlens.kernels.hermite.TILE", 16)
    parts = [kernel.matrix(Z), *kernel.derivatives(Z, dual)]
    for one, several in zip(whole, parts, strict=True):
        assert relative(several, one) < (1e-12 if precision is FINE else 1e-4)


def test_inputs_stay_as_they_are():
    eta, Z, others = np.array(ETAS["spread"]), points(3), points(3, 4, seed=1)
    dual = np.random.default_rng(2).standard_normal((2, len(Z)))
    before = [array.copy() for array in (eta, Z, others, dual)]
    for precision in (FINE, COARSE):
        kernel = HermiteKernel.of(eta, 0.1, 1.0, RHO, precision)
        kernel.matrix(Z, others)
        kernel.derivatives(Z, dual)
        for array, old in zip((eta, Z, others, dual), before, strict=True):
            np.testing.assert_array_equal(array, old)


# Gradients at other rows


@pytest.mark.parametrize("name", ETAS)
@pytest.mark.parametrize("penalties", [*PENALTIES, (0.5, 0.0)])
def test_gradients_are_those_of_the_sum_over_all_polynomials(name, penalties):
    eta = np.array(ETAS[name])
    Z, others = points(len(eta)), points(len(eta), 4, seed=1)
    dual = np.random.default_rng(2).standard_normal((2, 6))
    features = HermiteFeatures(enumerate_indices(len(eta), DEGREE))
    cost = penalties[0] + penalties[1] * features.indices @ (1 / eta)
    coefficients = (RHO**features.degrees / cost) * (dual @ features.matrix(Z))
    expected = np.stack([features.derivative.gradients(row, others) for row in coefficients])
    found = HermiteKernel.of(eta, *penalties, RHO).gradients(Z, dual, others)
    assert relative(found, expected) < 1e-9


@pytest.mark.parametrize("precision", [FINE, MEDIUM, COARSE])
def test_gradients_at_the_own_rows_are_their_pull(precision):
    # More rows than a tile has.
    Z = points(3, TILE + 40)
    dual = np.random.default_rng(2).standard_normal((1, len(Z)))
    kernel = HermiteKernel.of(np.array([0.7, 0.2, 0.1]), 0.01, 0.02, RHO, precision)
    _, pull = kernel.derivatives(Z, dual)
    close = 1e-4 if precision is COARSE else 1e-10
    assert relative(dual[0][:, None] * kernel.gradients(Z, dual, Z)[0], pull) < close

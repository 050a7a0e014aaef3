"""Predictions without a row from one eigendecomposition, against fits without the row."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens.linalg.ridge_spectrum import RidgeSpectrum
from reference.alpha_mixture import mean_products


def data(m=15, k=6, seed=0):
    rng = np.random.default_rng(seed)
    P = rng.normal(1.0, 1.0, (m, k))
    y = np.stack([P[:, 0] ** 2, rng.normal(size=m)])
    return P, y, rng.uniform(0.5, 2.0, m)


def without(P, y, weights, shift, row, removed, intercept):
    """Prediction of a row by ridge regression with a free constant, some of its weight gone."""
    kept = weights.copy()
    kept[row] -= removed
    design = np.column_stack([P, np.full(len(P), float(intercept))])
    # alpha times the sum of all weights, that of the row included, stays.
    penalty = shift * weights.sum() * np.diag([1.0] * P.shape[1] + [1.0 - intercept])
    b = np.linalg.solve((design.T * kept) @ design + penalty, (design.T * kept) @ y.T)
    return design[row] @ b


def expected(P, y, weights, shift, unit=np.inf, intercept=True):
    removed = np.minimum(weights, unit)
    rows = [without(P, y, weights, shift, i, removed[i], intercept) for i in range(len(P))]
    return np.array(rows).T


def spectra(P, y, weights, intercept=True):
    yield RidgeSpectrum.of_features(P, y, weights, intercept)
    yield RidgeSpectrum.of_kernel(P @ P.T, y, weights, intercept)


@pytest.mark.parametrize("shape", [(15, 6), (8, 20)])
@pytest.mark.parametrize("shift", [1e-3, 0.3])
@pytest.mark.parametrize("unit", [np.inf, 0.9])
@pytest.mark.parametrize("intercept", [True, False])
def test_predictions_are_those_of_fits_without_the_row(shape, shift, unit, intercept):
    P, y, weights = data(*shape)
    rows = expected(P, y, weights, shift, unit, intercept)
    for spectrum in spectra(P, y, weights, intercept):
        np.testing.assert_allclose(spectrum.predictions(shift, unit), rows, atol=1e-8)


@pytest.mark.parametrize("intercept", [True, False])
def test_error_products_are_those_of_fits_without_the_rows(intercept):
    P, y, weights = data()
    shifts = [1e-3, 0.05, 0.3]
    errors = [expected(P, y, weights, shift, intercept=intercept) - y for shift in shifts]
    products = mean_products(np.array(errors), weights)
    for spectrum in spectra(P, y, weights, intercept):
        np.testing.assert_allclose(spectrum.error_products(shifts), products, rtol=1e-8)
        losses = [spectrum.loss(shift) for shift in shifts]
        np.testing.assert_allclose(np.diagonal(products), losses, rtol=1e-8)


@pytest.mark.parametrize("shift", [1e-10, 1e-13])
def test_rows_that_are_fitted_exactly_are_predicted_by_the_interpolation_of_the_others(shift):
    P, y, weights = data(8, 20)
    found = [spectrum.predictions(shift) for spectrum in spectra(P, y, weights)]
    for row in range(len(P)):
        others = np.arange(len(P)) != row
        # The centred fit of least norm that meets all other rows.
        design = P[others] - P[others][0]
        b = np.linalg.pinv(design[1:]) @ (y[:, others][:, 1:] - y[:, others][:, :1]).T
        interpolated = y[:, others][:, 0] + (P[row] - P[others][0]) @ b
        for predictions in found:
            np.testing.assert_allclose(predictions[:, row], interpolated, atol=1e-4)


@pytest.mark.parametrize("shift", [1e-10, 1e-13])
def test_without_a_constant_rows_left_out_are_interpolated_too(shift):
    P, y, weights = data(8, 20)
    for row in range(len(P)):
        others = np.arange(len(P)) != row
        interpolated = P[row] @ np.linalg.pinv(P[others]) @ y[:, others].T
        for spectrum in spectra(P, y, weights, intercept=False):
            found = spectrum.predictions(shift)[:, row]
            np.testing.assert_allclose(found, interpolated, atol=1e-4)


def test_loss_is_the_weighted_mean_of_their_squares():
    P, y, weights = data()
    errors = (expected(P, y, weights, 0.05) - y) ** 2
    for spectrum in spectra(P, y, weights):
        loss = np.average(errors.sum(axis=0), weights=weights)
        assert np.isclose(spectrum.loss(0.05), loss, rtol=1e-9)


def test_leaving_one_of_two_equal_rows_out_is_removing_half_of_a_double_one():
    P, y, _ = data()
    once = np.ones(len(P))
    double = once.copy()
    double[0] = 2.0
    repeated = RidgeSpectrum.of_features(
        np.vstack([P[:1], P]), np.hstack([y[:, :1], y]), np.ones(len(P) + 1)
    ).predictions(0.1)
    merged = RidgeSpectrum.of_features(P, y, double).predictions(0.1, 1.0)
    np.testing.assert_allclose(repeated[:, 1:], merged, atol=1e-10)


def test_unit_is_the_mean_square_of_the_features_that_are_centred_for_a_constant():
    P, y, weights = data()
    mean = weights @ P / weights.sum()
    square = np.average(np.sum((P - mean) ** 2, axis=1), weights=weights)
    for spectrum in spectra(P, y, weights):
        assert np.isclose(spectrum.unit, square)
    square = np.average(np.sum(P**2, axis=1), weights=weights)
    for spectrum in spectra(P, y, weights, intercept=False):
        assert np.isclose(spectrum.unit, square)
    nothing = RidgeSpectrum.of_kernel(np.zeros((5, 5)), y[:, :5], np.ones(5))
    assert nothing.unit == 1.0


def test_large_shifts_predict_the_mean_of_the_others():
    P, y, weights = data()
    total = weights.sum()
    others = (y @ weights)[:, None] - y * weights
    for spectrum in spectra(P, y, weights):
        found = spectrum.predictions(1e12)
        np.testing.assert_allclose(found, others / (total - weights), atol=1e-9)
    for spectrum in spectra(P, y, weights, intercept=False):
        np.testing.assert_allclose(spectrum.predictions(1e12), 0.0, atol=1e-9)


def test_inputs_are_unchanged():
    P, y, weights = data()
    K = P @ P.T
    copies = [array.copy() for array in (P, K, y, weights)]
    for spectrum in spectra(P, y, weights):
        spectrum.predictions(0.1)
    RidgeSpectrum.of_kernel(K, y, weights).loss(0.1)
    for now, before in zip((P, K, y, weights), copies, strict=True):
        np.testing.assert_array_equal(now, before)


def test_two_rows_are_predicted_by_each_other_whatever_the_size_of_a_constant():
    # Nothing but the other row is left; a constant part of the kernel must not leak in.
    y, weights = np.array([[0.0, 1.0]]), np.array([0.3, 1.1])
    for constant in (0.0, 0.7, 123.4):
        P = np.array([[constant, 1e-4, 0.0], [constant, 3e-5, 2e-4]])
        for spectrum in spectra(P, y, weights):
            for relative in (1e-6, 1e-3, 1.0):
                found = spectrum.predictions(relative * 1e-8)
                np.testing.assert_allclose(found, y[:, ::-1], atol=1e-6)


@pytest.mark.parametrize("shape", [(15, 6), (8, 20)])
def test_a_constant_feature_changes_nothing(shape):
    P, y, weights = data(*shape)
    shifted = np.column_stack([P, np.full(len(P), 1e5)])
    found = RidgeSpectrum.of_features(shifted, y, weights).predictions(1e-3)
    plain = RidgeSpectrum.of_features(P, y, weights).predictions(1e-3)
    np.testing.assert_allclose(found, plain, atol=1e-9)


@pytest.mark.parametrize("shape", [(15, 6), (8, 20)])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_solution_satisfies_the_normal_equations(shape, intercept):
    P, y, weights = data(*shape)
    K, shift = P @ P.T, 0.1
    a, c = RidgeSpectrum.of_kernel(K, y, weights, intercept).solution(shift, K)
    errors = y - a @ K - c[:, None]
    np.testing.assert_allclose(weights * errors, shift * weights.sum() * a, atol=1e-9)
    if intercept:
        np.testing.assert_allclose(errors @ weights, 0.0, atol=1e-9)
    else:
        assert not c.any()

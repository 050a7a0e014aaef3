"""Ridge regression beside a kernel: slopes, errors of rows left out, and slopes that go on."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens.fits import linear_ridge
from kernlens.fits.linear_ridge import fit_linear_ridge
from reference.linear_ridge import left_out_errors, slope_beyond, slopes_and_offset


def sample(n=30, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 0.3
    y = np.stack([X[:, 0] - np.tanh(3 * X[:, 1]), X[:, 2] ** 2])
    return X, y + 0.3 * rng.standard_normal(y.shape), rng.random(n) + 0.5


@pytest.mark.parametrize("shape", [(30, 4), (12, 20)])
def test_slopes_and_errors_are_those_of_one_fit_for_every_row(shape):
    X, y, weights = sample(*shape)
    fitted = fit_linear_ridge(X, y, weights)
    # The penalty is that of the slopes found: of all tried ones, the errors left out are lowest.
    centered = X - weights @ X / weights.sum()
    unit = np.sum(weights * np.sum(centered**2, axis=1)) / weights.sum()
    penalties = [alpha * unit / len(X) * weights.sum() for alpha in linear_ridge.ALPHAS]
    errors = [
        sum(np.average(left_out_errors(X, t, weights, p) ** 2, weights=weights) for t in y)
        for p in penalties
    ]
    best = penalties[int(np.argmin(errors))]
    for target in range(len(y)):
        slopes, offset = slopes_and_offset(X, y[target], weights, best)
        np.testing.assert_allclose(fitted.slopes[target], slopes, atol=1e-9)
        np.testing.assert_allclose(fitted.offset[target], offset, atol=1e-9)
    np.testing.assert_allclose(fitted.left_out_error, min(errors), rtol=1e-8)
    seen = np.average(np.sum((y - fitted(X)) ** 2, axis=0), weights=weights)
    np.testing.assert_allclose(fitted.error, seen, rtol=1e-9)


def test_slopes_go_on_where_rows_at_the_end_follow_them():
    X, y, weights = sample(200)
    fitted = fit_linear_ridge(X, y, weights)
    centered = X - weights @ X / weights.sum()
    unit = np.sum(weights * np.sum(centered**2, axis=1)) / weights.sum()
    errors = {}
    for target in range(len(y)):
        distances = {}
        for alpha in linear_ridge.ALPHAS:
            penalty = alpha * unit / len(X) * weights.sum()
            slopes, _ = slopes_and_offset(X, y[target], weights, penalty)
            distances[penalty] = np.abs(slopes - fitted.slopes[target]).max()
        errors[target] = left_out_errors(X, y[target], weights, min(distances, key=distances.get))
    expected = [
        [
            [
                slope_beyond(
                    X, y[t], errors[t], fitted.slopes[t], weights, column, upper,
                    linear_ridge.OUTER, linear_ridge.CLEARLY, linear_ridge.TREND,
                )
                for column in range(X.shape[1])
            ]
            for t in range(len(y))
        ]
        for upper in (False, True)
    ]  # fmt: skip
    np.testing.assert_allclose(fitted.beyond, expected, atol=1e-12)
    # The first column is linear.
    assert fitted.beyond[1, 0, 0] > 0.5


def test_one_end_may_go_on_and_the_other_not():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((400, 2))
    y = np.minimum(X[:, 0], 0.3)[None] + 0.05 * rng.standard_normal(400)
    beyond = fit_linear_ridge(X, y, np.ones(400)).beyond
    assert beyond[0, 0, 0] > 0.0
    assert beyond[1, 0, 0] == 0.0


def test_noise_goes_nowhere():
    rng = np.random.default_rng(2)
    found = 0
    for _ in range(20):
        X, y = rng.standard_normal((100, 5)), rng.standard_normal((1, 100))
        found += np.count_nonzero(fit_linear_ridge(X, y, np.ones(100)).beyond)
    assert found == 0


def test_two_columns_that_say_the_same_go_on_as_one():
    rng = np.random.default_rng(3)
    first = rng.standard_normal(300)
    X = np.column_stack([first, first + 1e-3 * rng.standard_normal(300)])
    y = (first + 20.0 * (X[:, 1] - first) + 0.01 * rng.standard_normal(300))[None]
    fitted = fit_linear_ridge(X, y, np.ones(300))
    assert np.abs(fitted.slopes).max() > 5.0
    # The large slopes of both cancel; one of them alone would run away.
    np.testing.assert_allclose(fitted.beyond[:, 0].sum(axis=1), 1.0, atol=0.1)

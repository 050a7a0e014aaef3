"""A length scale for every column, where rows left out want it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from families import inputs_of, targets_of
from kernlens import KernelLaplacianClassifier, KernelLaplacianRegressor
from kernlens.kernels.derivatives import make_derivatives
from kernlens.methods.kernel_laplacian.plan import RELATIVE_ALPHAS, LabeledPoints
from kernlens.methods.kernel_laplacian.relevance import (
    LUCK,
    ROWS_OF_A_BIN,
    SMALLEST,
    _plain_fit,
    explained_alone,
    learned_relevance,
)

KERNEL = make_derivatives("matern52")


def regressor(**options):
    return KernelLaplacianRegressor(random_state=0, n_jobs=1, n_directions=1, **options)


def one_column_among_noise(n=300, n_noise=4, seed=0):
    rng = np.random.default_rng(seed)
    t = rng.uniform(-1.0, 1.0, n)
    return np.column_stack([rng.standard_normal((n, n_noise)), t]), np.sin(8.0 * t)


def test_one_smooth_column_is_found_beside_noise():
    X, y = one_column_among_noise()
    X_new, y_new = one_column_among_noise(seed=1)
    model = regressor().fit(X, y)
    assert model.score(X_new, y_new) > 0.98
    lengths = dict(zip(model.inputs_.tolist(), model.length_scale_.tolist(), strict=True))
    assert lengths[4] == min(lengths.values())
    assert all(length > 10.0 * lengths[4] for j, length in lengths.items() if j != 4)
    # A given length scale is that of all columns.
    assert regressor(length_scale=model.length_scale_.min()).fit(X, y).length_scale_ == (
        model.length_scale_.min()
    )


def test_columns_alike_stay_alike():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    noise = regressor().fit(X, rng.standard_normal(200))
    assert type(noise.length_scale_) is float
    even = regressor().fit(X, np.sin(X.sum(axis=1)))
    assert type(even.length_scale_) is float


def test_units_and_order_of_columns_do_not_matter():
    X, y = one_column_among_noise(n=120)
    expected = regressor().fit(X, y).predict(X)
    units = np.array([1e-3, 1.0, 50.0, 7.0, 1e4])
    assert np.ptp(regressor().fit(X, y).length_scale_) > 1.0
    np.testing.assert_allclose(
        regressor().fit(X * units, y).predict(X * units), expected, atol=1e-7
    )
    order = [3, 4, 0, 2, 1]
    np.testing.assert_allclose(regressor().fit(X[:, order], y).predict(X[:, order]), expected)


def test_gradients_are_those_of_the_prediction():
    X, y = one_column_among_noise(n=80)
    model = regressor().fit(X, y)
    assert np.ptp(model.length_scale_) > 0.0
    found, step = model.gradient(X[:5]), 1e-4
    for j in range(X.shape[1]):
        move = step * np.eye(X.shape[1])[j]
        slope = (model.predict(X[:5] + move) - model.predict(X[:5] - move)) / (2.0 * step)
        np.testing.assert_allclose(found[:, j], slope, rtol=1e-4, atol=1e-6)


def test_ranges_are_taken_where_columns_are_mostly_zero():
    X, y = load_digits(return_X_y=True)
    labels = np.where(np.arange(500) < 150, y[:500], -1)
    options = {"random_state": 0, "n_jobs": 1, "n_directions": 1}
    found = KernelLaplacianClassifier(**options).fit(X[:500], labels)
    raw = KernelLaplacianClassifier(standardize=False, **options).fit(X[:500], labels)
    rows = inputs_of(found, X[:500])
    products = found.length_scale_ / np.ptp(rows, axis=0)
    np.testing.assert_allclose(products, products[0])
    assert found.score(X[150:500], y[150:500]) >= raw.score(X[150:500], y[150:500]) - 0.01


def labeled(X, y, weights=None):
    weights = np.ones(len(X)) if weights is None else weights
    return LabeledPoints(X, weights, np.arange(len(X)), np.atleast_2d(y), weights)


def test_losses_are_those_of_rows_left_out_and_slopes_those_of_the_fit():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((25, 2)), rng.standard_normal(25)
    factors, length = np.array([1.0, 0.3]), 1.5
    weights = rng.random(25) + 0.5
    found = _plain_fit(KERNEL, labeled(X, y, weights), factors, length)
    points = X * factors / length
    K = KERNEL.matrix(points, points)
    shares = weights / weights.sum()
    unit = shares @ np.diagonal(K) - shares @ K @ shares

    def solved(keep, alpha):
        W = weights[keep]
        A = K[np.ix_(keep, keep)] * W[:, None] + alpha * unit * weights.sum() * np.eye(len(W))
        A = np.block([[A, W[:, None]], [W @ K[np.ix_(keep, keep)], W.sum()]])
        return np.linalg.solve(A, np.append(W * y[keep], W @ y[keep]))

    losses = []
    for alpha in RELATIVE_ALPHAS:
        errors = np.empty(25)
        for i in range(25):
            keep = np.delete(np.arange(25), i)
            solution = solved(keep, alpha)
            errors[i] = y[i] - K[i, keep] @ solution[:-1] - solution[-1]
        losses.append(np.average(errors**2, weights=weights))
    assert found.loss == pytest.approx(min(losses), rel=1e-6)
    dual = solved(np.arange(25), RELATIVE_ALPHAS[int(np.argmin(losses))])[:-1]
    step = 1e-5
    for j in range(2):
        move = step * np.eye(2)[j] * factors / length
        rise = (KERNEL.matrix(points + move, points) - KERNEL.matrix(points - move, points)) @ dual
        slope = np.sqrt(np.average((rise / (2 * step)) ** 2, weights=weights))
        assert found.slopes[j] == pytest.approx(slope, rel=1e-5)


def test_what_columns_explain_alone():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 6)).round(1)
    y = np.vstack([np.abs(X[:, 0]), 0.5 * X[:, 1]])
    weights = rng.integers(1, 3, 400).astype(float)
    found = explained_alone(X, y, weights)
    # Every row is predicted by the weighted mean of the others in its bin, one by one.
    n_bins = 400 // ROWS_OF_A_BIN
    centered = y - np.average(y, axis=1, weights=weights)[:, None]
    for j, column in enumerate(X.T):
        ordered = np.repeat(column, weights.astype(int))
        ordered.sort()
        edges = [ordered[-(-k * len(ordered) // n_bins) - 1] for k in range(1, n_bins)]
        bins = np.array([sum(edge < value for edge in edges) for value in column])
        error = 0.0
        for i in range(400):
            others = (bins == bins[i]) & (np.arange(400) != i)
            mean = np.average(centered[:, others], axis=1, weights=weights[others])
            error += weights[i] * np.sum((centered[:, i] - mean) ** 2)
        share = 1.0 - error / np.sum(centered**2 @ weights)
        expected = max(share - LUCK * np.sqrt(2.0 * n_bins) / 400, 0.0)
        assert found[j] == pytest.approx(expected, abs=1e-12)
    assert found[0] > found[1] > 0.2
    assert not found[2:].any()


def test_few_labels_and_single_columns_learn_nothing():
    X, y = one_column_among_noise(n=60)
    rows = labeled(X, y)
    assert learned_relevance(KERNEL, rows.with_labels(slice(0, 10)), lambda points: 2.0) is None
    assert learned_relevance(KERNEL, labeled(X[:, 4:], y), lambda points: 2.0) is None
    assert learned_relevance(KERNEL, labeled(X, np.ones(60)), lambda points: 2.0) is None
    factors = learned_relevance(KERNEL, rows, lambda points: 2.0 * np.sqrt(np.sum(points.var(0))))
    assert factors is not None
    assert factors.max() == 1.0
    assert factors.min() >= SMALLEST


def test_weights_are_repetitions_and_targets_keep_their_units():
    X, y = one_column_among_noise(n=100)
    times = np.where(np.arange(100) % 3 == 0, 2, 1)
    repeated = regressor().fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    weighted = regressor().fit(X, y, sample_weight=times)
    np.testing.assert_array_equal(repeated.predict(X), weighted.predict(X))
    np.testing.assert_array_equal(repeated.length_scale_, weighted.length_scale_)
    moved = regressor().fit(X, 1e6 * y - 3.0, sample_weight=times)
    np.testing.assert_allclose((moved.predict(X) + 3.0) / 1e6, weighted.predict(X), atol=1e-8)
    assert targets_of(moved, 1e6 * y - 3.0, times).std() < 2.0

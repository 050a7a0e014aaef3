"""Fits on centres by sums over blocks: those of all rows at once, however they are cut."""

from __future__ import annotations

import pickle
from dataclasses import dataclass

import numpy as np
import pytest

from kernlens.base.block_targets import numeric_targets
from kernlens.blocks import as_blocks
from kernlens.fits import table_newton
from kernlens.fits.nystrom_fit import NystromFitter
from kernlens.fits.projected_ridge import ProjectedRidge
from kernlens.fits.table_fit import AROUND, CenterFeatures, TableFit, feature_system, fit_centers
from kernlens.fits.table_newton import BlockModel
from kernlens.kernels.radial import make_radial_kernel
from kernlens.losses import HuberLoss, LogisticLoss, MultinomialLoss, SquaredLoss
from reference.block_problems import blocks

LOSSES = {
    "squared": SquaredLoss(),
    "huber": HuberLoss(0.5),
    "logistic": LogisticLoss(),
    "multinomial": MultinomialLoss(),
}
ALPHA = 1e-3


def problem(loss, n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    f = np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.3 * rng.standard_normal(n)
    y = np.stack([f, f**2])
    if loss == "logistic":
        y = (f > 0.0).astype(float)[None]
    elif loss == "multinomial":
        y = np.eye(3)[:, np.digitize(f, [-0.5, 0.7])]
    B = np.array([[1.0, 0.2, 0.0], [0.0, 0.7, 0.1]])
    return X, y, rng.integers(0, 4, n).astype(float), B


@dataclass(frozen=True)
class Rows:
    """A table whose first block is held out."""

    table: object
    total: float

    def part(self, *, held_out):
        return self.table.through(First(held_out))


@dataclass(frozen=True)
class First:
    held_out: bool

    def __call__(self, block):
        kept = slice(None) if (block.number == 0) == self.held_out else slice(0)
        return type(block)(block.X[kept], block.y[:, kept], block.weights[kept], block.number)


def rows_of(X, y, weights, **how):
    table = as_blocks(blocks(X, y.T, weights, **how)).through(numeric_targets)
    return Rows(table, len(X) if weights is None else weights.sum())


def start_for(ridge, X, y, weights, B, Z):
    """The fit of a few rows."""
    few = slice(0, 60)
    blocks_of_few = ridge.blocks(B, X[few], Z)
    fit = ridge_fitter(ridge, y[:, few], weights[few] + 1.0)(blocks_of_few)
    return TableFit(fit.coefficients, fit.intercept, ALPHA, fit.value)


def ridge_fitter(ridge, y, weights, alpha=ALPHA):
    return NystromFitter(ridge.loss, y, weights, alpha)


def fitted(loss, *, choose=False, rows=None, **how):
    X, y, weights, B = problem(loss)
    ridge = ProjectedRidge(make_radial_kernel("gaussian"), LOSSES[loss], n_jobs=1)
    Z = X[:25]
    start = start_for(ridge, X, y, weights, B, Z)
    chosen = rows_of(X, y, weights, **how) if rows is None else rows
    return ridge, start, fit_centers(chosen, ridge, B, Z, start, choose=choose)


@pytest.mark.parametrize("loss", LOSSES)
def test_all_rows_at_once_give_the_same(loss):
    X, y, weights, B = problem(loss)
    ridge, _, found = fitted(loss, block_rows=33)
    whole = ridge_fitter(ridge, y, weights)(ridge.blocks(B, X, X[:25]))
    decision = found.coefficients @ ridge.matrix(B, X, X[:25]).T + found.intercept[:, None]
    np.testing.assert_allclose(decision, whole.decision, rtol=1e-8, atol=1e-8)
    assert found.value == pytest.approx(whole.value, rel=1e-10)


@pytest.mark.parametrize("loss", LOSSES)
def test_partition_threads_and_weights_say_nothing(loss):
    X, y, weights, B = problem(loss)
    ridge, _, one = fitted(loss, block_rows=33)
    kernel = ridge.matrix(B, X, X[:25]).T
    repeated = np.repeat(np.arange(len(X)), weights.astype(int))
    order = np.random.default_rng(1).permutation(repeated)
    other = fitted(loss, rows=rows_of(X[order], y[:, order], None, block_rows=70))[2]
    np.testing.assert_allclose(
        other.coefficients @ kernel + other.intercept[:, None],
        one.coefficients @ kernel + one.intercept[:, None],
        rtol=1e-8,
        atol=1e-8,
    )
    threads = fitted(loss, block_rows=33, n_jobs=3)[2]
    np.testing.assert_array_equal(threads.coefficients, one.coefficients)
    np.testing.assert_array_equal(threads.intercept, one.intercept)


@pytest.mark.parametrize("loss", ["huber", "multinomial"])
def test_large_couplings_are_iterated_on(loss, monkeypatch):
    X, _, _, B = problem(loss)
    ridge, _, expected = fitted(loss)
    monkeypatch.setattr(table_newton, "MOST_FACTORED", 1)
    found = fitted(loss)[2]
    kernel = ridge.matrix(B, X, X[:25]).T
    np.testing.assert_allclose(
        found.coefficients @ kernel + found.intercept[:, None],
        expected.coefficients @ kernel + expected.intercept[:, None],
        atol=1e-6,
    )
    assert found.value == pytest.approx(expected.value, rel=1e-10)


@pytest.mark.parametrize("loss", ["logistic", "multinomial"])
def test_newton_starts_anywhere(loss):
    X, y, weights, B = problem(loss)
    ridge, start, one = fitted(loss)
    nowhere = TableFit(0.0 * start.coefficients, 0.0 * start.intercept, ALPHA, np.nan)
    other = fit_centers(rows_of(X, y, weights), ridge, B, X[:25], nowhere, choose=False)
    assert other.value == pytest.approx(one.value, rel=1e-10)


def test_alpha_is_chosen_by_the_rows_held_out():
    X, y, weights, B = problem("squared")
    ridge, _, found = fitted("squared", choose=True, block_rows=100)
    at_test = ridge.matrix(B, X[:100], X[:25])
    losses = {}
    for alpha in ALPHA * np.array(AROUND):
        fit = ridge_fitter(ridge, y[:, 100:], weights[100:], alpha)(
            ridge.blocks(B, X[100:], X[:25])
        )
        errors = y[:, :100] - fit.coefficients @ at_test.T - fit.intercept[:, None]
        losses[alpha] = np.average(np.square(errors).sum(axis=0), weights=weights[:100])
    best = min(losses.values())
    assert losses[found.alpha] <= best * (1.0 + 1e-3)
    assert found.alpha != ALPHA or losses[ALPHA] <= best * (1.0 + 1e-3)
    whole = ridge_fitter(ridge, y, weights, found.alpha)(ridge.blocks(B, X, X[:25]))
    assert found.value == pytest.approx(whole.value, rel=1e-10)


def test_blocks_without_weight_are_no_trouble():
    X, y, weights, B = problem("logistic")
    empty = weights.copy()
    empty[66:132] = 0.0
    for loss in ("squared", "logistic"):
        ridge = ProjectedRidge(make_radial_kernel("gaussian"), LOSSES[loss], n_jobs=1)
        start = start_for(ridge, X, y, weights, B, X[:25])
        found = fit_centers(
            rows_of(X, y, empty, block_rows=33), ridge, B, X[:25], start, choose=True
        )
        assert np.isfinite(found.coefficients).all()


@pytest.mark.parametrize(
    ("function", "n_numbers"),
    [
        ("ridge", lambda c, t: c**2 + c + t * c + 2 * t + 1),
        ("look", lambda c, t: t * (c + 1) + 3),
        ("system", lambda c, t: (c + 1) ** 2 + t * (c + 1) + 1),
        ("coupled", lambda c, t: (t * (c + 1)) ** 2),
        ("curved", lambda c, t: t * (c + 1)),
    ],
)
def test_blocks_send_what_the_documentation_says(function, n_numbers):
    X, y, weights, B = problem("multinomial")
    ridge = ProjectedRidge(make_radial_kernel("gaussian"), LOSSES["multinomial"], n_jobs=1)
    n_centers, n_targets = 60, len(y)
    features = CenterFeatures.of(ridge, B, X[:n_centers])
    model, at = BlockModel(features, ridge.loss, True), np.zeros((n_targets, n_centers + 1))
    table = rows_of(X, y, weights, block_rows=400).table
    work = {"ridge": (feature_system, features), "curved": (model.curved, at, at)}
    call, *args = work.get(function) or (getattr(model, function), at)
    (sent,) = table.map(call, *args)
    expected = 8 * n_numbers(n_centers, n_targets)
    # Beside the numbers there are names and shapes.
    assert expected <= len(pickle.dumps(sent)) < 1.05 * expected + 1000

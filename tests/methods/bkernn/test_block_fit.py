"""Functions of all rows by sums over blocks: the dense fit among functions with knots."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kernlens._array import FloatArray
from kernlens._reports import StopRequested
from kernlens._result import Status
from kernlens._rows import CanonicalRows
from kernlens.blocks.block import Block
from kernlens.blocks.local import LocalTable
from kernlens.kernels.knots import make_knot_space
from kernlens.kernels.one_dimensional import make_kernel
from kernlens.losses import HuberLoss, LogisticLoss, MultinomialLoss, SquaredLoss
from kernlens.methods.bkernn import block_sums, sample_preconditioner
from kernlens.methods.bkernn.block_fit import fit_knots
from kernlens.methods.bkernn.block_sums import KnotModel, lower, ranges
from kernlens.methods.bkernn.knot_function import KnotFunctions
from kernlens.methods.bkernn.knots import number_of_knots, place_knots
from reference import bkernn, bkernn_knots

LOSSES = {
    "squared": SquaredLoss(),
    "huber": HuberLoss(),
    "logistic": LogisticLoss(),
    "multinomial": MultinomialLoss(),
}
KERNELS = ("brownian", "exponential", "gaussian")
M, N_PARTICLES, N_KNOTS, ALPHA = 3, 4, 5, 0.05


class Case:
    """Rows, particles and knots, some weights zero."""

    def __init__(self, loss: str, kernel: str, n: int = 60) -> None:
        rng = np.random.default_rng(0)
        self.loss, self.kernel = loss, kernel
        self.X = rng.standard_normal((n, 4))
        score = np.sin(2.0 * self.X[:, 0]) + self.X[:, 1] + 0.3 * rng.standard_normal(n)
        self.y = targets(loss, score)
        self.weights = rng.integers(0, 4, n).astype(float)
        self.W = rng.standard_normal((M, 4))
        projections = self.W @ self.X.T
        present = self.weights > 0
        low, high = projections[:, present].min(axis=1), projections[:, present].max(axis=1)
        self.knots = place_knots(projections[:, present], self.weights[present], low, high, N_KNOTS)
        space = make_knot_space(make_kernel(kernel), self.knots, N_PARTICLES)
        self.model = KnotModel(space, self.W, LOSSES[loss])

    def table(self, block_rows: int = 17, n_jobs: int = 1) -> LocalTable:
        n = len(self.X)
        blocks = [
            Block(self.X[a : a + block_rows], self.y[:, a : a + block_rows], w, k)
            for k, a in enumerate(range(0, n, block_rows))
            for w in [self.weights[a : a + block_rows]]
        ]

        def read():
            return iter([lambda block=block: block for block in blocks])

        return LocalTable(4, None, 2, blocks=read, n_jobs=n_jobs)

    def sample(self, n: int = 40) -> CanonicalRows:
        rows = np.flatnonzero(self.weights)[:n]
        return CanonicalRows(self.X[rows], self.y[:, rows], self.weights[rows], np.arange(n))

    def fit(self, table: LocalTable | None = None, tol: float = 1e-10, **options):
        start = np.zeros((len(self.y), M, self.model.space.n_coordinates)), np.zeros(len(self.y))
        table = self.table() if table is None else table
        return fit_knots(
            table, self.weights.sum(), self.model, ALPHA, self.sample(), start, tol=tol, **options
        )

    def values(self, fit, X: FloatArray) -> FloatArray:
        function = KnotFunctions.of(self.model.space, self.W, fit.point.u, fit.point.constant, 1)
        return function.decision(X)


def targets(loss: str, score: FloatArray) -> FloatArray:
    if loss == "logistic":
        return (score > 0.0).astype(float)[None]
    if loss == "multinomial":
        return np.eye(3)[np.digitize(score, [-0.7, 0.6])].T.copy()
    return np.vstack([score, score**2])


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("loss", LOSSES)
def test_the_fit_is_that_of_the_oracle(loss, kernel):
    case = Case(loss, kernel)
    found = case.fit()
    b, c, value = bkernn_knots.fit(
        kernel, loss, case.W, case.knots, case.X, case.y, case.weights, ALPHA, N_PARTICLES
    )
    X_new = 2.0 * np.random.default_rng(1).standard_normal((30, 4))
    expected = bkernn_knots.predict(kernel, case.W, case.knots, b, c, X_new)
    assert found.status is Status.CONVERGED
    np.testing.assert_allclose(found.point.value, value, rtol=1e-9)
    actual = case.values(found, X_new)
    if loss == "multinomial":
        # A constant of all classes says nothing.
        actual, expected = (f - f.mean(axis=0) for f in (actual, expected))
    np.testing.assert_allclose(actual, expected, atol=2e-6 * np.abs(expected).max())


@pytest.mark.parametrize("kernel", KERNELS)
def test_with_a_knot_at_every_row_it_is_the_exact_fit(kernel):
    case = Case("squared", kernel, n=25)
    case.weights = np.ones(25)
    knots = np.sort(case.W @ case.X.T, axis=1)
    case.model = replace(case.model, space=make_knot_space(make_kernel(kernel), knots, M))
    start = np.zeros((2, M, case.model.space.n_coordinates)), np.zeros(2)
    found = fit_knots(case.table(), 25.0, case.model, ALPHA, case.sample(25), start, tol=1e-12)
    exact = bkernn.fit(kernel, "squared", case.W, case.X, case.y, case.weights, ALPHA)
    X_new = 2.0 * np.random.default_rng(1).standard_normal((30, 4))
    expected = bkernn.predict(kernel, case.W, case.X, exact, X_new)
    # Of a Gaussian, functions with the share 1e-12 of the squared norm are left out.
    atol = 1e-6 if kernel == "gaussian" else 1e-7
    np.testing.assert_allclose(case.values(found, X_new), expected, atol=atol)
    np.testing.assert_allclose(found.point.value, exact.value, rtol=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_slopes_and_curvature_are_derivatives(loss):
    case = Case(loss, "exponential")
    rng = np.random.default_rng(2)
    space, table = case.model.space, case.table()
    shape = (len(case.y), M, N_KNOTS)
    around, move = rng.standard_normal((2, *shape))
    constant, constant_move = rng.standard_normal((2, len(case.y)))

    def at(step):
        return table.sum(
            block_sums.losses_and_slopes,
            case.model,
            space.tables(around + step * move),
            constant + step * constant_move,
        )

    h = 1e-5
    (value_up, sums_up, totals_up), (value_down, sums_down, totals_down) = at(h), at(-h)
    _, sums, totals = at(0.0)
    slope = np.vdot(space.coordinates(sums), move) + totals @ constant_move
    np.testing.assert_allclose(slope, (value_up - value_down)[0] / (2 * h), rtol=1e-6)
    bent, bent_totals = table.sum(
        block_sums.curved,
        case.model,
        space.tables(around),
        constant,
        space.tables(move),
        constant_move,
    )
    if loss != "huber":
        # Huber's curvature is a majorant beyond the bend.
        np.testing.assert_allclose(bent, (sums_up - sums_down) / (2 * h), rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(bent_totals, (totals_up - totals_down) / (2 * h), rtol=1e-4)


@pytest.mark.parametrize("loss", ["squared", "multinomial"])
def test_neither_the_partition_nor_threads_nor_parts_of_blocks_matter(loss, monkeypatch):
    case = Case(loss, "brownian")
    one = case.fit()
    threads = case.fit(case.table(n_jobs=3))
    np.testing.assert_array_equal(threads.point.u, one.point.u)
    for block_rows in (1, 60):
        other = case.fit(case.table(block_rows))
        np.testing.assert_allclose(other.point.u, one.point.u, atol=1e-8)
    monkeypatch.setattr(block_sums, "PROJECTIONS", 5 * M)
    np.testing.assert_allclose(case.fit().point.u, one.point.u, atol=1e-8)


def test_particles_in_groups_are_preconditioned_to_the_same_fit(monkeypatch):
    case = Case("squared", "exponential")
    one = case.fit()
    monkeypatch.setattr(sample_preconditioner, "LARGEST", 2 * N_KNOTS)
    other = case.fit()
    np.testing.assert_allclose(other.point.u, one.point.u, atol=1e-8)
    assert other.n_iter > one.n_iter


def test_a_preconditioner_of_all_rows_solves_at_once():
    case = Case("squared", "brownian")
    all_rows = int(np.count_nonzero(case.weights))
    start = np.zeros((2, M, case.model.space.n_coordinates)), np.zeros(2)
    found = fit_knots(
        case.table(),
        case.weights.sum(),
        case.model,
        ALPHA,
        case.sample(all_rows),
        start,
        tol=1e-9,
    )
    assert found.n_iter == 1


def test_an_interruption_keeps_what_was_reached():
    case = Case("squared", "brownian")
    whole = case.fit()

    def interrupting(asked):
        def report(iteration, residual):
            if iteration == 2:
                raise asked

        return report

    for asked, status in (
        (KeyboardInterrupt, Status.INTERRUPTED),
        (StopRequested, Status.STOPPED),
    ):
        found = case.fit(report=interrupting(asked))
        assert found.status is status and found.n_iter == 2
        assert whole.point.value < found.point.value < found.first


def test_classes_keep_the_best_functions_when_interrupted():
    case = Case("logistic", "brownian")
    seen = []

    def report(iteration, residual):
        seen.append(residual)
        if len(seen) == 6:
            raise KeyboardInterrupt

    found = case.fit(report=report)
    assert found.status is Status.INTERRUPTED
    assert case.fit().point.value <= found.point.value <= found.first


def test_ranges_are_those_of_rows_with_weight():
    case = Case("squared", "brownian")
    low, negative = case.table(1).fold(ranges, lower, case.W)
    projections = case.W @ case.X[case.weights > 0].T
    np.testing.assert_allclose(low, projections.min(axis=1), rtol=1e-14)
    np.testing.assert_allclose(-negative, projections.max(axis=1), rtol=1e-14)


# Knots


def test_knots_increase_strictly_and_reach_over_all_rows():
    rng = np.random.default_rng(3)
    values = np.vstack(
        [
            rng.standard_normal(300),
            rng.standard_t(1, 300),
            rng.integers(0, 3, 300).astype(float),
            np.repeat([0.0, 1.0], [299, 1]),
            np.zeros(300),
        ]
    )
    low, high = values.min(axis=1) - 1.0, values.max(axis=1) + 2.0
    weights = rng.uniform(0.5, 2.0, 300)
    for n_knots in (2, 3, 16, 64):
        knots = place_knots(values, weights, low, high, n_knots)
        assert knots.shape == (5, n_knots)
        assert np.diff(knots, axis=1).min() > 0.0
        np.testing.assert_array_equal(knots[:, 0], low)
        np.testing.assert_array_equal(knots[:, -1], high)


def test_a_weight_of_two_places_knots_as_a_repetition():
    rng = np.random.default_rng(4)
    values, weights = rng.standard_normal((2, 400)), rng.integers(1, 4, 400)
    low, high = values.min(axis=1), values.max(axis=1)
    one = place_knots(values, weights.astype(float), low, high, 12)
    repeated = np.repeat(values, weights, axis=1)
    other = place_knots(repeated, np.ones(repeated.shape[1]), low, high, 12)
    # Quantiles between rows are interpolated.
    np.testing.assert_allclose(one, other, atol=0.05)


def test_many_particles_have_fewer_knots_each():
    assert number_of_knots(1) == 64 and number_of_knots(100) == 48 and number_of_knots(5000) == 16

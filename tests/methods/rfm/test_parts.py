"""Ranks, kernels of images and maps: values against definitions, slopes against differences."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens._rows import CanonicalRows
from kernlens.kernels import GeneralizedLaplaceKernel, LaplaceKernel
from kernlens.losses import SquaredLoss
from kernlens.methods.rfm.forms import ProductForm, RadialForm
from kernlens.methods.rfm.kernel import MixedBlocks, MixedKernel, MixedRidge, Term
from kernlens.methods.rfm.machine import learned_map
from kernlens.methods.rfm.ranks import MOST_KNOTS, Ranks
from reference import rfm as reference

FORMS = [RadialForm(LaplaceKernel()), RadialForm(GeneralizedLaplaceKernel(0.7)), ProductForm()]


def differences(function, X, step=1e-6):
    """Central differences of functions of rows (n, d), (n_targets, n, d)."""
    columns = []
    for j in range(X.shape[1]):
        move = step * np.eye(X.shape[1])[j]
        columns.append((function(X + move) - function(X - move)) / (2.0 * step))
    return np.stack(columns, axis=-1)


def test_ranks_are_shares_of_the_weight():
    random = np.random.default_rng(0)
    X = np.column_stack([random.standard_normal(20), random.integers(0, 3, 20)])
    weights = random.integers(1, 4, 20).astype(float)
    new = np.vstack([X, random.uniform(-5.0, 5.0, (10, 2))])
    ranks = Ranks.of(X, weights)
    np.testing.assert_allclose(
        ranks.beside(new), reference.beside_ranks(X, weights, new), rtol=1e-12, atol=1e-12
    )


def test_weights_of_ranks_are_repetitions():
    X = np.random.default_rng(0).standard_normal((50, 2))
    counts = np.arange(50) % 3 + 1
    weighted, repeated = (
        Ranks.of(X, counts.astype(float)),
        Ranks.of(np.repeat(X, counts, axis=0), np.ones(counts.sum())),
    )
    np.testing.assert_array_equal(weighted.knots, repeated.knots)
    np.testing.assert_allclose(weighted.values, repeated.values, rtol=1e-12)


def test_many_values_have_few_knots_that_reach_both_ends():
    column = np.random.default_rng(0).standard_normal((500, 1)) ** 3
    ranks = Ranks.of(column, np.ones(500))
    assert len(ranks.knots) <= MOST_KNOTS
    assert ranks.knots[0] == column.min()
    assert ranks.knots[-1] == column.max()
    exact = np.sqrt(12.0) * ((column.argsort(axis=0).argsort(axis=0) + 0.5) / 500 - 0.5)
    assert np.abs(ranks.beside(column)[:, 1:] - exact).max() < np.sqrt(12.0) / MOST_KNOTS


def test_slopes_of_ranks():
    random = np.random.default_rng(0)
    X = np.column_stack([random.standard_normal(20), random.integers(0, 3, 20)])
    ranks = Ranks.of(X, np.ones(20))
    new = random.uniform(-2.0, 4.0, (30, 2))
    measured = np.diagonal(differences(lambda Z: ranks.beside(Z)[:, 2:].T, new), axis1=0, axis2=2)
    np.testing.assert_allclose(ranks.slopes(new), measured, rtol=1e-6, atol=1e-8)
    # At a knot it is the mean of both sides, and the ends have one side.
    sides = [ranks.slopes(X + shift) for shift in (-1e-9, 1e-9)]
    np.testing.assert_allclose(ranks.slopes(X), 0.5 * (sides[0] + sides[1]), rtol=1e-12)


def test_chords_of_ranks_are_differences():
    random = np.random.default_rng(0)
    X = np.column_stack([random.standard_normal(20), random.integers(0, 3, 20)])
    ranks, reach = Ranks.of(X, np.ones(20)), np.array([0.3, 1.5])
    rises = ranks.beside(X + reach)[:, 2:] - ranks.beside(X - reach)[:, 2:]
    np.testing.assert_allclose(ranks.chords(X, reach), rises / [0.6, 3.0], rtol=1e-12)
    # Small ones are slopes.
    small = ranks.chords(X, np.full(2, 1e-9))
    np.testing.assert_allclose(small, ranks.slopes(X), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: type(form).__name__)
@pytest.mark.parametrize("ranked", [False, True])
@pytest.mark.parametrize("diagonal", [False, True])
def test_gradients_of_kernel_sums(form, ranked, diagonal):
    random = np.random.default_rng(1)
    Z, X = random.standard_normal((8, 3)), random.standard_normal((5, 3))
    d = 6 if ranked else 3
    matrix = random.uniform(0.2, 1.0, d) if diagonal else 0.5 * random.standard_normal((4, d))
    kernel = MixedKernel(
        (Term(form, matrix, ranked, 0.3), Term(FORMS[0], np.ones(3), False, 0.7)),
        Ranks.of(Z, np.ones(8)),
    )
    a = random.standard_normal((2, 8))
    measured = differences(lambda rows: a @ kernel.matrix(rows, Z).T, X)
    found = kernel.gradient(X, kernel.images(Z), a)
    np.testing.assert_allclose(found, measured, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: type(form).__name__)
def test_a_centre_adds_no_slope_at_its_own_place(form):
    Z = np.random.default_rng(2).standard_normal((1, 3))
    for near in (Z, Z * (1.0 + 1e-9)):
        assert not form.gradient(near, Z, np.ones((1, 1))).any()


def test_blocks_have_the_kernel_matrix():
    random = np.random.default_rng(3)
    X, Z = random.standard_normal((150, 3)), random.standard_normal((6, 3))
    terms = (Term(FORMS[0], np.eye(3), False, 0.4), Term(FORMS[2], np.ones(6), True, 0.6))
    kernel = MixedKernel(terms, Ranks.of(X, np.ones(150)))
    blocks = MixedBlocks(kernel, X, Z, 1)
    matrix = np.concatenate(blocks.map(lambda block: block.values))
    np.testing.assert_allclose(matrix, kernel.matrix(X, Z), rtol=1e-13)
    np.testing.assert_allclose(blocks.center_kernel[0], kernel.matrix(Z, Z), rtol=1e-13)
    assert np.linalg.eigvalsh(blocks.center_kernel[0]).min() > 0.0


def test_on_all_rows_as_centres_the_fit_is_exact():
    random = np.random.default_rng(4)
    X, weights = random.standard_normal((20, 2)), random.uniform(0.5, 2.0, 20)
    rows = CanonicalRows(X, random.standard_normal((2, 20)), weights, np.arange(20))
    kernel = MixedKernel((Term(FORMS[0], np.ones(2), False),), None)
    ridge = MixedRidge(SquaredLoss(), 1)
    fit = ridge.fitter(rows, 0.1 / weights.sum())(ridge.blocks(kernel, X, X))
    a, c = reference.ridge(kernel.matrix(X, X), rows.y, weights, 0.1)
    np.testing.assert_allclose(fit.coefficients, a, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(fit.intercept, c, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("n_rows", [30, 3], ids=["more rows", "more columns"])
def test_a_map_is_a_root_of_the_outer_product(n_rows):
    random = np.random.default_rng(5)
    gradients, weights = random.standard_normal((2, n_rows, 8)), random.uniform(0.5, 2.0, n_rows)
    product = reference.outer_product(gradients, weights)
    root = learned_map(gradients, weights, full=True)
    assert len(root) == min(8, 2 * n_rows)
    largest = np.linalg.eigvalsh(product)[-1]
    np.testing.assert_allclose(root.T @ root, product / largest, atol=1e-12)
    diagonal = learned_map(gradients, weights, full=False)
    np.testing.assert_allclose(np.diag(diagonal), reference.root_of(product, "diag"), atol=1e-12)


@pytest.mark.parametrize("size", [1e-200, 1e200])
@pytest.mark.parametrize("full", [False, True])
def test_the_size_of_slopes_does_not_matter_to_a_map(size, full):
    gradients = np.random.default_rng(6).standard_normal((1, 9, 3))
    plain, scaled = (learned_map(g, np.ones(9), full) for g in (gradients, size * gradients))
    np.testing.assert_allclose(scaled.T @ scaled, plain.T @ plain, rtol=1e-9)


def test_a_flat_function_says_nothing():
    assert learned_map(np.zeros((1, 4, 2)), np.ones(4), full=True) is None

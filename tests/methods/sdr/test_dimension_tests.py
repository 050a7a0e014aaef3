"""Tests of the number of directions: statistics, laws, levels, and what a user reads."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.stats import binom, chi2

from kernlens import PHD, SAVE, SIR, DirectionalRegression
from kernlens.methods.sdr.dimension_tests import _moved
from reference import sdr as reference


def sample(n=200, d=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), rng


def test_statistic_of_sir_is_n_times_the_last_eigenvalues():
    X, rng = sample()
    y = X[:, 0] + 0.5 * rng.standard_normal(200)
    test = SIR(n_slices=5).fit(X, y).dimension_test_
    Z, _ = reference.whitened(X)
    matrix = reference.sir_matrix(Z, reference.slices_of(y, 5))
    values = np.sort(np.linalg.eigvalsh(matrix))[::-1]
    np.testing.assert_allclose(
        test.statistic, [200 * values.sum(), 200 * values[1:].sum()], rtol=1e-4
    )
    np.testing.assert_array_equal(test.degrees_of_freedom, [12, 6])
    np.testing.assert_allclose(test.p_value, chi2.sf(test.statistic, [12, 6]))
    assert test.n_directions == 1 and test.method == "chi2"


def test_statistic_of_hessian_directions():
    X, rng = sample()
    y = X[:, 0] ** 2 + 0.5 * rng.standard_normal(200)
    test = PHD().fit(X, y).dimension_test_
    Z, _ = reference.whitened(X)
    matrix, r = reference.hessian(Z, y, residual=True)
    squares = np.sort(np.linalg.eigvalsh(matrix) ** 2)[::-1]
    np.testing.assert_allclose(test.statistic[0], 200 * squares.sum() / (2 * r.var()), rtol=1e-4)
    np.testing.assert_array_equal(test.degrees_of_freedom[:2], [6, 3])


def test_statistic_of_save_without_directions():
    # With no direction the last eigenvectors are all: half of n times the trace of the matrix.
    X, rng = sample()
    y = rng.standard_normal(200)
    test = SAVE(n_slices=4, test="chi2", level=1e-9, n_directions="auto").fit(X, y).dimension_test_
    Z, _ = reference.whitened(X)
    matrix = reference.save_matrix(Z, reference.slices_of(y, 4))
    assert test.statistic[0] == pytest.approx(100 * np.trace(matrix), rel=1e-4)
    assert test.degrees_of_freedom[0] == 3 * 6


LEVEL, N_SETS = 0.2, 100


@pytest.mark.parametrize(
    "model",
    [
        SIR(n_slices=4),
        SIR(test="permutation", n_slices=4),
        SAVE(n_slices=3, test="chi2"),
        SAVE(n_slices=3),
        DirectionalRegression(n_slices=3),
        PHD(),
        PHD(variant="response"),
        PHD(test="permutation"),
    ],
    ids=str,
)
def test_without_a_signal_hypotheses_are_rejected_as_often_as_the_level_says(model):
    n_rejected = 0
    model.set_params(level=LEVEL, n_permutations=19, random_state=0)
    for seed in range(N_SETS):
        X, rng = sample(150, 3, seed)
        n_rejected += model.fit(X, rng.standard_normal(150)).n_directions_ > 0
    # A fair test leaves these bounds once in ten thousand runs.
    assert binom.ppf(5e-5, N_SETS, LEVEL) <= n_rejected <= binom.ppf(1 - 5e-5, N_SETS, LEVEL)


@pytest.mark.parametrize(
    "model",
    [SIR(n_slices=4), SIR(test="permutation", n_slices=4), DirectionalRegression(n_slices=3)],
    ids=str,
)
def test_a_second_direction_is_taken_as_often_as_the_level_says(model):
    numbers = []
    model.set_params(level=LEVEL, n_permutations=19, random_state=0)
    for seed in range(N_SETS):
        X, rng = sample(150, 3, seed)
        numbers.append(model.fit(X, X[:, 0] + 0.3 * rng.standard_normal(150)).n_directions_)
    assert min(numbers) == 1
    n_rejected = np.sum(np.array(numbers) > 1)
    assert n_rejected <= binom.ppf(1 - 5e-5, N_SETS, LEVEL)


def test_the_result_is_readable_and_survives_a_copy():
    X, rng = sample()
    model = SIR(n_slices=5).fit(X, X[:, 0] + rng.standard_normal(200))
    text = str(pickle.loads(pickle.dumps(model)).dimension_test_)
    assert text.startswith("chi2 test, level 0.05: 1 directions")
    frame = model.dimension_test_.to_frame()
    assert list(frame["directions"]) == [0, 1]
    assert "DimensionTest(method='chi2'" in repr(model.dimension_test_)


def test_without_a_test_there_is_no_result():
    X, _ = sample()
    model = SIR().fit(X, X[:, 0])
    assert hasattr(model, "dimension_test_")
    model.set_params(n_directions=1).fit(X, X[:, 0])
    with pytest.raises(AttributeError, match="n_directions='auto' on at least 15 rows"):
        model.dimension_test_  # noqa: B018


def test_a_law_that_does_not_exist_is_refused():
    X, _ = sample()
    with pytest.raises(ValueError, match=r"^test='chi2' has no theory for DirectionalRegression"):
        DirectionalRegression(test="chi2").fit(X, X[:, 0])


def test_permutations_follow_the_seed_and_few_rows_have_none():
    X, rng = sample(60)
    y = X[:, 0] + 3 * rng.standard_normal(60)
    first, again, other = (
        DirectionalRegression(random_state=seed).fit(X, y).dimension_test_.p_value[0]
        for seed in (0, 0, 1)
    )
    assert first == again != other
    few = SIR().fit(X[:14], y[:14])
    assert not hasattr(few, "dimension_test_") and few.n_directions_ >= 1


@pytest.mark.parametrize("k", [0, 1, 3])
def test_moved_coordinates_are_uncorrelated_with_the_first_ones(k):
    X, rng = sample(n=60, d=4)
    weights = rng.uniform(0.1, 2.0, 60)
    X = X - np.average(X, axis=0, weights=weights)
    moved = _moved(X, rng.permutation(60), k, weights)
    np.testing.assert_array_equal(moved[:, :k], X[:, :k])
    rest = moved[:, k:]
    np.testing.assert_allclose(weights @ rest, 0.0, atol=1e-12)
    np.testing.assert_allclose((moved[:, :k].T * weights) @ rest, 0.0, atol=1e-11)
    # Neither the scale nor the relations of the others to each other are lost.
    assert np.linalg.matrix_rank(rest) == 4 - k and rest.std() > 0.5


def test_the_identity_is_one_of_the_permutations():
    X, rng = sample(n=100)
    y = X[:, 0] + 0.1 * rng.standard_normal(100)
    model = SAVE(test="permutation", n_permutations=9, level=0.2, random_state=0).fit(X, X[:, 0])
    assert model.dimension_test_.p_value[0] == pytest.approx(1 / 10)
    sliced = SIR(test="permutation", n_permutations=3, level=0.3, random_state=0).fit(X, y)
    assert sliced.dimension_test_.p_value[0] == pytest.approx(1 / 4)

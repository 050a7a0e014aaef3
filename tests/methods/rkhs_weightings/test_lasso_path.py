"""The Lasso from normal equations: optimality on the rows, and scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Lasso

from kernlens.linalg.ridge_system import accumulate_ridge
from kernlens.methods.rkhs_weightings.solvers.lasso_path import LassoProblem


def data(m=80, k=15, n_targets=2, seed=0):
    rng = np.random.default_rng(seed)
    F = rng.normal(size=(m, k)) @ np.diag(rng.uniform(0.5, 2.0, k)) + 1.0
    y = np.stack([F[:, j] - 2 * F[:, j + 3] + rng.normal(size=m) for j in range(n_targets)])
    return F, y, rng.integers(1, 4, m).astype(float)


def system(F, y, weights):
    return accumulate_ridge(
        lambda part: list(part(slice(None), F.copy())), y, weights, True, F.mean(axis=0)
    )


def centered(F, y, weights):
    return F - weights @ F / weights.sum(), y - (y @ weights / weights.sum())[:, None]


@pytest.mark.parametrize("shape", [(80, 15), (10, 25)])
@pytest.mark.parametrize("penalty", [0.05, 0.5, 1.5])
def test_optimality_conditions_on_the_rows(shape, penalty):
    F, y, weights = data(*shape)
    c, converged = LassoProblem.of(system(F, y, weights)).solve(penalty)
    assert converged
    features, targets = centered(F, y, weights)
    slopes = -2 * ((targets - c @ features.T) * weights) @ features / weights.sum()
    used = c != 0.0
    assert used.any() and not used.all()
    # -slope = penalty sign(c) where c is not zero, and is not larger elsewhere.
    assert np.abs(slopes[used] + penalty * np.sign(c[used])).max() < 1e-8 * penalty
    assert np.abs(slopes[~used]).max() < (1 + 1e-8) * penalty


@pytest.mark.parametrize("penalty", [0.05, 0.5])
def test_solution_is_that_of_scikit_learn_on_repeated_rows(penalty):
    F, y, weights = data()
    c, _ = LassoProblem.of(system(F, y, weights)).solve(penalty)
    rows = np.repeat(np.arange(len(F)), weights.astype(int))
    for k in range(2):
        model = Lasso(alpha=penalty / 2, tol=1e-12, max_iter=10**5).fit(F[rows], y[k, rows])
        np.testing.assert_allclose(c[k], model.coef_, atol=1e-5)


def test_all_penalties_of_a_path_are_those_of_single_solves():
    F, y, weights = data()
    problem = LassoProblem.of(system(F, y, weights))
    # In any order, some beyond the largest that matters, and one twice.
    penalties = [0.2, 100.0, 1.5, 0.01, 0.2, 7.0]
    for (c, proved), penalty in zip(problem.path(penalties), penalties, strict=True):
        alone, _ = problem.solve(penalty)
        assert proved
        np.testing.assert_allclose(c, alone, atol=1e-9)


@pytest.mark.parametrize("shape", [(80, 15), (12, 30)])
@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_units_change_nothing(shape, scale):
    F, y, weights = data(*shape)
    c, _ = LassoProblem.of(system(F, y, weights)).solve(0.3)
    other, proved = LassoProblem.of(system(scale * F, y, weights)).solve(0.3 * scale)
    assert proved
    np.testing.assert_allclose(other * scale, c, atol=1e-8)


def test_parallel_features_are_as_good_as_the_longest():
    F, y, weights = data()
    plain, _ = LassoProblem.of(system(F, y, weights)).solve(0.3)
    doubled = np.column_stack([F, -0.5 * F, F[:, ::-1], np.ones(len(F))])
    c, proved = LassoProblem.of(system(doubled, y, weights)).solve(0.3)
    assert proved
    np.testing.assert_allclose(np.abs(c).sum(), np.abs(plain).sum(), rtol=1e-8)
    np.testing.assert_allclose(c @ doubled.T, plain @ F.T, atol=1e-7)
    assert np.count_nonzero(c) == np.count_nonzero(plain)


@pytest.mark.parametrize("n", [6, 12, 40])
def test_signs_that_depend_on_each_other_are_solved_too(n):
    # Ties, sums that agree, fewer rows than features: where the path is lost without the ridge.
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, 3))
    F = np.sign(X @ rng.standard_normal((3, 60)))
    y = (X[:, :1] ** 2 + X[:, 1:2]).T
    problem = LassoProblem.of(system(F, y, np.ones(n)))
    for penalty, (c, proved) in zip(
        (0.1, 1e-2, 1e-4), problem.path([0.1, 1e-2, 1e-4]), strict=True
    ):
        assert proved
        features, targets = centered(F, y, np.ones(n))
        slopes = -2 * (targets - c @ features.T) @ features / n
        assert np.abs(slopes).max() < (1 + 1e-4) * penalty


def test_large_penalties_give_zero_from_where_they_should():
    F, y, weights = data()
    features, targets = centered(F, y, weights)
    least = np.abs(2 * (targets * weights) @ features / weights.sum()).max()
    problem = LassoProblem.of(system(F, y, weights))
    assert not problem.solve(1.001 * least)[0].any()
    assert problem.solve(0.98 * least)[0].any()


def test_features_that_do_not_vary():
    F, y, weights = data()
    problem = LassoProblem.of(system(np.ones_like(F), y, weights))
    c, converged = problem.solve(0.1)
    assert converged and np.abs(c @ (np.ones_like(F) - 1.0).T).max() == 0.0
    assert np.all(np.isfinite(c))

"""The Lasso from normal equations: optimality on the rows, and scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Lasso

from kernlens.linalg.ridge_system import accumulate_ridge
from kernlens.optim.lasso_path import LassoProblem


def data(m=80, k=15, n_targets=2, seed=0):
    rng = np.random.default_rng(seed)
    F = rng.normal(size=(m, k)) @ np.diag(rng.uniform(0.5, 2.0, k)) + 1.0
    y = np.stack([F[:, j] - 2 * F[:, j + 3] + rng.normal(size=m) for j in range(n_targets)])
    return F, y, rng.integers(1, 4, m).astype(float)


def system(F, y, weights):
    return accumulate_ridge(
        lambda part: list(part(slice(None), F.copy())), y, weights, True, F.mean(axis=0)
    )


def centred(F, y, weights):
    return F - weights @ F / weights.sum(), y - (y @ weights / weights.sum())[:, None]


@pytest.mark.parametrize("shape", [(80, 15), (10, 25)])
@pytest.mark.parametrize("penalty", [0.05, 0.5, 1.5])
def test_optimality_conditions_on_the_rows(shape, penalty):
    F, y, weights = data(*shape)
    c, converged = LassoProblem.of(system(F, y, weights)).solve(penalty)
    assert converged
    features, targets = centred(F, y, weights)
    slopes = -2 * ((targets - c @ features.T) * weights) @ features / weights.sum()
    used = c != 0.0
    assert used.any() and not used.all()
    # -slope = penalty sign(c) where c is not zero, and is not larger elsewhere.
    assert np.abs(slopes[used] + penalty * np.sign(c[used])).max() < 0.02 * penalty
    assert np.abs(slopes[~used]).max() < 1.02 * penalty


@pytest.mark.parametrize("penalty", [0.05, 0.5])
def test_solution_is_that_of_scikit_learn_on_repeated_rows(penalty):
    F, y, weights = data()
    c, _ = LassoProblem.of(system(F, y, weights)).solve(penalty)
    rows = np.repeat(np.arange(len(F)), weights.astype(int))
    for k in range(2):
        model = Lasso(alpha=penalty / 2, tol=1e-12, max_iter=10**5).fit(F[rows], y[k, rows])
        np.testing.assert_allclose(c[k], model.coef_, atol=5e-3)


def test_a_start_changes_the_way_and_not_the_end():
    F, y, weights = data()
    problem = LassoProblem.of(system(F, y, weights))
    first, _ = problem.solve(0.4)
    start = first.copy()
    again, _ = problem.solve(0.2, start)
    cold, _ = problem.solve(0.2)
    np.testing.assert_allclose(again, cold, atol=5e-3)
    np.testing.assert_array_equal(start, first)


def test_large_penalties_give_zero_from_where_they_should():
    F, y, weights = data()
    features, targets = centred(F, y, weights)
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

"""The paper's settings are the paper's: lambda, concavity and targets in their own units."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens.datasets import make_absolute_sum, make_sum_of_sines
from kernlens.experiments.bkernn import experiment1, models
from kernlens.experiments.data import DataFolder
from kernlens.kernels.one_dimensional import KERNELS
from kernlens.penalties import BasicPenalty, ConcaveFeaturePenalty, FeaturePenalty


def objective(X, y, W, lam, penalty, kernel="brownian"):
    """Objective (10) of the paper for targets as they are, by the least squares of Lemma 7."""
    n, m = len(X), len(W)
    P = X @ W.T
    gaps = P[:, None, :] - P[None, :, :]
    if kernel == "brownian":
        A, B = P[:, None, :], P[None, :, :]
        K = np.where(A * B > 0, np.minimum(np.abs(A), np.abs(B)), 0.0).sum(axis=2) / m
    else:
        K = np.exp(-np.abs(gaps) / 2).sum(axis=2) / m
    center = np.eye(n) - 1 / n
    a = np.linalg.solve(center @ K @ center + n * lam * np.eye(n), center @ y)
    c = np.mean(y - K @ a)
    residual = y - K @ a - c
    return residual @ residual / (2 * n) + lam / 2 * a @ K @ a + lam * penalty.value(W)


@pytest.mark.parametrize(
    ("name", "penalty"),
    [
        ("basic", BasicPenalty()),
        ("feature", FeaturePenalty()),
        ("feature_authors", FeaturePenalty(strength=1 / np.sqrt(6))),
        ("concave_feature", ConcaveFeaturePenalty(s=1.0)),
    ],
)
def test_the_objective_of_the_paper_is_what_falls(name, penalty):
    """Our objective, times the variance of the targets, is the paper's at the same particles."""
    data = make_sum_of_sines(30, 5, noise=0.1, random_state=0)
    y = 3.0 * data.y
    model = models.paper_bkernn(
        data.X, y, lam=0.05, n_particles=6, penalty=name, n_steps=4, seed=1
    ).fit(data.X, y)
    W = np.random.RandomState(1).normal(size=(6, 5)) / np.sqrt(5)
    first = objective(data.X, y, W, 0.05, penalty)
    assert y.var() * model.objective_history_[0] == pytest.approx(first, rel=1e-6)
    assert model.objective_history_[-1] < model.objective_history_[0]


def test_a_bounded_kernel_has_the_same_objective_too():
    data = make_absolute_sum(40, 6, random_state=0)
    cell = {
        **{"n": 40, "d": 6, "n_particles": 4, "lambda_factors": [0.5], "folds": 2},
        **{"search_steps": 1, "steps": 1, "method": "ExpKerNN", "seed": 2},
    }
    model = experiment1._chosen(data, cell).fit(data.X, data.y)
    assert model.kernel == "exponential" and model.kernel in KERNELS
    W = np.random.RandomState(2).normal(size=(4, 6)) / np.sqrt(6)
    lam = models.paper_lambda(data.X, 1.0)
    first = objective(data.X, data.y, W, lam, BasicPenalty(), kernel="exponential")
    assert data.y.var() * model.objective_history_[0] == pytest.approx(first, rel=1e-6)


def test_bkrr_is_the_ridge_system_of_the_paper():
    data = make_sum_of_sines(30, 5, noise=0.1, random_state=0)
    X, y, lam, n = data.X, 5.0 * data.y, 0.03, 30
    norms = np.linalg.norm(X, axis=1)
    tests = np.linalg.norm(data.X_test, axis=1)

    def brownian(a, b, A, B):
        return (a[:, None] + b - np.linalg.norm(A[:, None] - B[None], axis=2)) / 2

    K = brownian(norms, norms, X, X)
    center = np.eye(n) - 1 / n
    a = np.linalg.solve(center @ K @ center + n * lam * np.eye(n), center @ y)
    found = brownian(tests, norms, data.X_test, X) @ a + np.mean(y - K @ a)
    model = models.paper_bkrr(lam).fit(X, y)
    np.testing.assert_allclose(model.predict(data.X_test), found, rtol=1e-6, atol=1e-6)


def test_the_curve_ends_where_the_model_does():
    cell = {
        **{"n": 50, "d": 6, "n_particles": 5, "lambda_factors": [0.1], "folds": 2},
        **{"search_steps": 2, "steps": 6, "method": models.PAPER, "seed": 0},
    }
    found = experiment1.run(cell, DataFolder())
    assert found.curves["iterations"] == [1, 2, 3, 5, 6]
    assert found.curves["train_curve"][-1] == pytest.approx(found.scores["train_mse"], rel=1e-6)
    assert found.curves["test_curve"][-1] == pytest.approx(found.scores["test_mse"], rel=1e-6)

"""The planted problem of the kernel Laplacian, and the graph beside it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from kernlens.experiments.kernel_laplacian import graphs, moons, planted, population


def risk(f, slope, X):
    """Risk (1) of a function up to the noise, by the rows of a fine grid."""
    gradient = slope(X)
    return np.mean(np.square(f(X) - planted.mean_of(X))) + planted.MU * np.mean(
        np.sum(gradient**2, axis=1)
    )


def test_no_function_beside_the_minimiser_has_a_smaller_risk():
    X = population.middles(4001)
    least = risk(planted.minimizer, planted.slope, X)
    for k in (0, 1, 2, 5):
        for size in (-0.1, 0.1):
            other = risk(
                lambda X, k=k, size=size: planted.minimizer(X) + size * np.cos(k * np.pi * X[:, 0]),
                lambda X, k=k, size=size: (
                    planted.slope(X) - size * k * np.pi * np.sin(k * np.pi * X)
                ),
                X,
            )
            assert other > least
            # What is above the least risk is the distance that the experiments measure.
            energy = 0.5 if k else 1.0
            expected = size**2 * energy * (1.0 + planted.MU * (k * np.pi) ** 2)
            assert other - least == pytest.approx(expected, rel=1e-4)


def test_gradients_of_the_minimiser_are_those_of_differences():
    X = np.random.default_rng(0).uniform(size=(5, 3))
    for column in range(3):
        step = np.zeros(3)
        step[column] = 1e-6
        slope = (planted.minimizer(X + step) - planted.minimizer(X - step)) / 2e-6
        np.testing.assert_allclose(planted.slope(X)[:, column], slope, atol=1e-8)


def test_the_estimate_without_noise_nears_the_minimiser():
    X = population.middles(60)
    model = planted.fitted(X, planted.mean_of(X), 1e-6, kernel="matern52", solver="exact")
    assert planted.excess_risk(model, population.middles(301)) < 1e-4
    # Kernel ridge regression without the penalty nears E[Y | X], which is another function.
    plain = planted.fitted(X, planted.mean_of(X), 1e-6, kernel="matern52", solver="exact", mu=0.0)
    assert planted.excess_risk(plain, population.middles(301)) > 0.05


def test_the_graph_minimises_its_objective_and_nears_the_minimiser_on_a_line():
    X = population.middles(400)
    y = planted.mean_of(X)
    D = squareform(pdist(X))
    values = graphs.graph_values(X, D, y, 2.0 / 400)
    assert np.mean(np.square(values - planted.minimizer(X))) < 1e-3
    W = np.exp(-0.5 * np.square(D / (2.0 / 400)))

    def objective(f):
        energy = np.sum(W * np.square(f[:, None] - f)) / np.sum(W * np.square(X - X.T))
        return np.mean(np.square(f - y)) + planted.MU * energy

    least = objective(values)
    for seed in range(3):
        step = 0.01 * np.random.default_rng(seed).standard_normal(400)
        assert objective(values + step) > least


def test_the_best_setting_is_chosen_for_every_number_of_columns():
    rows = [
        {
            "columns": n,
            "method": "A",
            "setting": name,
            "seed": seed,
            "accuracy": value + 0.01 * seed,
        }
        for n, values in ((2, (0.9, 0.8)), (6, (0.6, 0.7)))
        for name, value in zip(("one", "two"), values, strict=True)
        for seed in (0, 1)
    ]
    kept = moons.best(rows)
    assert [(row["columns"], row["setting"]) for row in kept] == [
        *((2, "one"), (2, "one")),
        *((6, "two"), (6, "two")),
    ]

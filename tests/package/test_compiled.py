"""Compiled loops stay inside their arrays, and the package loads where nothing can be written."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from kernlens import BKerNNRegressor, RKHSWeightingRegressor
from kernlens.features.hermite import HermiteFeatures
from kernlens.features.profiles import SmoothRamp, SmoothStep
from kernlens.kernels.one_dimensional import BrownianKernel, ExponentialKernel, make_guide

STRANGE = np.array([np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, 0.0, 1.0])

WITHOUT_A_CACHE = """
from numba.core import caching
caching.CacheImpl._locator_classes = []      # no folder can be written
import numpy as np, kernlens
X = np.random.default_rng(0).standard_normal((30, 2))
model = kernlens.RKHSWeightingRegressor(n_random_features=10, solver="least_squares", n_jobs=1)
print(model.fit(X, X[:, 0]).score(X, X[:, 0]) > 0.9)
"""


def test_the_package_loads_where_no_folder_can_be_written():
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT_A_CACHE], capture_output=True, text=True, timeout=300
    )
    assert run.stdout.strip() == "True", run.stderr


@pytest.mark.parametrize("profile", [SmoothStep(), SmoothRamp()])
def test_tables_are_not_left_whatever_the_values(profile):
    values = np.tile(STRANGE, (3, 40))
    profile.apply(values)
    known = np.isfinite(np.tile(STRANGE, (3, 40)))
    assert np.isfinite(values[known]).all()


@pytest.mark.parametrize("kernel", [BrownianKernel(), ExponentialKernel()])
@pytest.mark.parametrize("n_queries", [1, 50])
@pytest.mark.parametrize(
    "knots",
    [[0.0, 0.0, 0.0], [0.0, 1.0, 2.0], [0.0, 5e-324, 1e-323], [-1e308, 0.0, 1e308], STRANGE],
)
def test_look_ups_stay_among_their_knots(kernel, n_queries, knots):
    points = np.sort(np.array([knots, knots], dtype=float), axis=1)
    tables = np.ones((2, 1, *points.shape))
    guide = make_guide(points, n_queries)
    queries = np.tile(STRANGE, (2, 1))
    values, slopes = np.zeros((1, len(STRANGE))), np.zeros((1, 2, len(STRANGE)))
    kernel.add_values(points, tables, guide, queries, values)
    kernel.write_slopes(points, tables, guide, queries, slopes)
    if np.isfinite(knots).all() and isinstance(kernel, BrownianKernel):
        # Functions that are 1 at every knot are 1 everywhere, and for what is no number.
        np.testing.assert_allclose(values, 2.0)


def test_features_refuse_indices_that_are_none():
    Z = np.ones((3, 2))
    for indices in ([[1, 0, 2]], [[1, -4]], [[1, 2**40]]):
        with pytest.raises(ValueError, match="indices must be integers from 0 to 4000"):
            HermiteFeatures(np.array(indices)).block(Z)


def test_a_damaged_model_is_refused():
    X = np.random.default_rng(0).standard_normal((20, 2))
    model = BKerNNRegressor(n_particles=4, alpha=0.1, max_iter=2, n_jobs=1).fit(X, X[:, 0])
    model.dual_coef_ = model.dual_coef_[:, :5]
    with pytest.raises(ValueError, match="damaged"):
        model.predict(X)


def test_weights_over_many_powers_of_ten():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 3))
    X[:, 0] = 0.0
    X[0, 0] = 1.0
    weights = np.full(20, 1e90)
    weights[0] = 1e-250
    model = RKHSWeightingRegressor(solver="least_squares", instantiation="relu", random_state=0)
    assert np.isfinite(
        model.fit(X, rng.standard_normal(20), sample_weight=weights).predict(X)
    ).all()

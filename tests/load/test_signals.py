"""A real SIGINT in the middle of a fit, of a search and of a path.

``python -m benchmarks.interrupts`` does the first at 20 moments of every estimator's defaults.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score

from benchmarks.interrupts import NAMES, Presses
from families import PUBLIC, light
from kernlens import BKerNNRegressor, HKRRRegressor
from kernlens.model_selection import regularization_path

pytestmark = pytest.mark.skipif(
    not hasattr(signal, "setitimer"), reason="the system has no timers of CPU seconds"
)

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def ctrl_c():
    """Workers of pytest ignore Ctrl-C, which a program of a user does not."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_every_estimator_is_interrupted():
    assert sorted(NAMES) == sorted(estimator.__name__ for estimator in PUBLIC)


@pytest.mark.parametrize("name", ["BKerNNRegressor", "HKRRClassifier", "MAVE"])
def test_two_moments_of_a_fit(name):
    command = ["-m", "benchmarks.interrupts", "--here", name, "--moments=2", "--rows=60"]
    run = subprocess.run(
        [sys.executable, *command], cwd=ROOT, capture_output=True, text=True, timeout=280
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith(name)


def sample():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    return X, np.abs(X[:, 0])


class CountedFits(BKerNNRegressor):
    """Presses Ctrl-C in its second fit."""

    n_fits = 0

    def _learn_planned(self, data, plan, **options):
        CountedFits.n_fits += 1
        if CountedFits.n_fits == 2:
            os.kill(os.getpid(), signal.SIGINT)
        super()._learn_planned(data, plan, **options)


@pytest.fixture
def counted():
    CountedFits.n_fits = 0
    return CountedFits(n_particles=8, max_iter=5, alpha=0.02, random_state=0, n_jobs=1)


def test_ctrl_c_ends_a_whole_search(counted):
    X, y = sample()
    search = GridSearchCV(counted, {"alpha": [0.1, 1.0]}, cv=3, n_jobs=1)
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, y)
    assert CountedFits.n_fits == 2
    assert not hasattr(search, "cv_results_")


def test_ctrl_c_ends_a_whole_cross_validation(counted):
    with pytest.raises(KeyboardInterrupt):
        cross_val_score(counted, *sample(), cv=5, n_jobs=1)
    assert CountedFits.n_fits == 2


def test_ctrl_c_ends_a_whole_path(counted):
    with pytest.raises(KeyboardInterrupt):
        regularization_path(counted, *sample(), alphas=[0.1, 1.0], cv=3)
    assert CountedFits.n_fits == 2


def test_presses_are_real():
    with pytest.raises(KeyboardInterrupt), Presses([0.01]):
        while True:
            light(HKRRRegressor).fit(*sample())

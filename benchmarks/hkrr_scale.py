"""HKRR on many rows: growth, memory, and what a user would pick instead, datasets 1 and 2."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.memory import bytes_added
from benchmarks.recursive_feature_machine import fit_predict
from benchmarks.tables import print_row, timed
from kernlens import HKRRRegressor
from kernlens.datasets import make_oscillating_products, make_rising_sines
from kernlens.methods.hkrr.estimator import fit_bytes

GENERATORS = {"dataset 1": make_rising_sines, "dataset 2": make_oscillating_products}
N_CENTERS = 500
#: Rows of the recursive feature machine, whose kernel matrix is n x n.
MOST_RFM_ROWS = 8000

#: What a fit's memory is measured on; a small fit first, so that compiled code does not count.
_PREPARE = """
from kernlens import HKRRRegressor
from kernlens.datasets import make_rising_sines
small = make_rising_sines(1000, 50, random_state=0)
HKRRRegressor(alpha=1e-3, n_components=2, random_state=0).fit(small.X, small.y)
data = make_rising_sines(n, 50, random_state=0)
"""
_FIT = "HKRRRegressor(centers=500, random_state=0).fit(data.X, data.y)"


def run() -> None:
    """Print growth and memory of the fit, then test R2 and seconds beside other methods."""
    print("D=50, 500 centres, out of the box otherwise; seed 0, one repetition")
    widths = (10, 10, 10, 12, 22, 14)
    print_row("n", "seconds", "ratio", "test R2", "memory over formula", "MB", widths=widths)
    first = None
    for n in (25_000, 100_000):
        data = make_rising_sines(n, 50, random_state=0)
        seconds, score = _hkrr(data)
        first = first or seconds
        used, formula = bytes_added(_PREPARE, _FIT, n), fit_bytes(n, 50, N_CENTERS, held=False)
        cells = (f"{seconds:.1f}", f"{seconds / first:.2f}", f"{score:.4f}")
        print_row(n, *cells, f"{used / formula:.2f}", f"{used / 1e6:.0f}", widths=widths)
    print("\nNystroem + Ridge: 500 centres, gamma = 1 / (2 median^2) and alpha = 1e-6 n, one fit;")
    print("tuned: gamma x {1/4, 1, 4}, alpha x {1e-2, 1, 1e2} on a fifth of the rows held out;")
    print(f"RFM: five rounds, three alphas, held-out choice, at most {MOST_RFM_ROWS} rows")
    widths = (12, 10, 26, 12, 10)
    print_row("data", "n", "method", "test R2", "seconds", widths=widths)
    for name, make in GENERATORS.items():
        for n in (4000, 100_000):
            data = make(n, 50, random_state=0)
            for method, function in METHODS.items():
                seconds, score = function(data)
                print_row(name, n, method, f"{score:.4f}", f"{seconds:.1f}", widths=widths)


def _hkrr(data):
    model = HKRRRegressor(centers=N_CENTERS, random_state=0)
    seconds, _ = timed(lambda: model.fit(data.X, data.y))
    return seconds, model.score(data.X_test, data.y_test)


def _pipeline(data):
    median = np.median(pdist(StandardScaler().fit_transform(data.X[:500])))
    return make_pipeline(
        StandardScaler(),
        Nystroem(gamma=0.5 / median**2, n_components=N_CENTERS, random_state=0),
        Ridge(alpha=1e-6 * len(data.X)),
    ), 0.5 / median**2


def _nystroem(data):
    pipeline, _ = _pipeline(data)
    seconds, _ = timed(lambda: pipeline.fit(data.X, data.y))
    return seconds, pipeline.score(data.X_test, data.y_test)


def _nystroem_tuned(data):
    pipeline, gamma = _pipeline(data)
    grid = {
        "nystroem__gamma": gamma * np.array([0.25, 1.0, 4.0]),
        "ridge__alpha": 1e-6 * len(data.X) * np.array([1e-2, 1.0, 1e2]),
    }
    search = GridSearchCV(pipeline, grid, cv=ShuffleSplit(1, test_size=0.2, random_state=0))
    seconds, _ = timed(lambda: search.fit(data.X, data.y))
    return seconds, search.score(data.X_test, data.y_test)


def _rfm(data):
    X, y = data.X[:MOST_RFM_ROWS], data.y[:MOST_RFM_ROWS]
    seconds, predictions = timed(lambda: fit_predict(X, y, data.X_test))
    return seconds, r2_score(data.y_test, predictions)


METHODS = {
    "HKRR": _hkrr,
    "Nystroem + Ridge, one fit": _nystroem,
    "Nystroem + Ridge, tuned": _nystroem_tuned,
    "RFM": _rfm,
}

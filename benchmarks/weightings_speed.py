"""RKHS weightings: time on adults beside kitchen sinks and scikit-learn's pipelines; memory."""

from __future__ import annotations

from functools import partial

import numpy as np
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from benchmarks.memory import bytes_added
from benchmarks.tables import data_folder, print_row, timed
from kernlens import RandomKitchenSinksRegressor, RKHSWeightingRegressor

N_FEATURES = 2000
WIDTHS = (34, 10, 10, 12, 12)
SKIN_LIMIT = 2e9

_PREPARE = """
import numpy as np
from kernlens import RKHSWeightingClassifier
data = np.load({path!r}, allow_pickle=False)
rng = np.random.default_rng(0)
rows = rng.permutation(len(data["y"]))[:n]
X, y = data["X"][rows].astype(float), data["y"][rows]
model = RKHSWeightingClassifier(n_random_features=2000, solver="least_squares", random_state=0)
model.fit(X[:3000], y[:3000])
"""


def run(repetitions: int = 3) -> None:
    """Print seconds of fit and predict, the best of three, and ratios to kitchen sinks."""
    folder = data_folder()
    if folder is None:
        return
    data = np.load(folder / "adults.npz", allow_pickle=False)
    test = data["test_mask"][:, 0]
    X, y = data["X"].astype(float), 2.0 * data["y"] - 1.0
    scale = np.where(X[~test].std(axis=0) > 0, X[~test].std(axis=0), 1.0)
    X = (X - X[~test].mean(axis=0)) / scale
    print(f"adults, {np.sum(~test)} rows to fit and {np.sum(test)} to predict, {X.shape[1]}")
    print(f"columns, T = {N_FEATURES}, alpha given, best of {repetitions}")
    print_row("", "fit", "predict", "over RKS", "over RKS", widths=WIDTHS)
    results = {}
    for name, make in _models().items():
        results[name] = _measure(make, X[~test], y[~test], X[test], repetitions)
    for name, (fit, predict) in results.items():
        base = name.split("(")[-1].rstrip(")")
        other = results.get(f"kitchen sinks ({base})", results["kitchen sinks (relu)"])
        cells = (
            f"{fit:.2f}",
            f"{predict:.2f}",
            f"{fit / other[0]:.2f}",
            f"{predict / other[1]:.2f}",
        )
        print_row(name, *cells, widths=WIDTHS)
    _growth()
    _memory_of_skin(str(folder / "skin.npz"))


def _models():
    common = {"n_random_features": N_FEATURES, "alpha": 1e-4, "random_state": 0}
    models = {}
    for base in ("relu", "sign", "stumps"):
        models[f"kitchen sinks ({base})"] = lambda base=base: RandomKitchenSinksRegressor(
            base=base, **common
        )
        models[f"RKHS weighting ({base})"] = lambda base=base: RKHSWeightingRegressor(
            instantiation=base, correlation=0.2, solver="least_squares", **common
        )
    models["RBFSampler + Ridge"] = lambda: make_pipeline(
        RBFSampler(gamma=0.01, n_components=N_FEATURES, random_state=0), Ridge(1.0)
    )
    models["Nystroem + Ridge"] = lambda: make_pipeline(
        Nystroem(gamma=0.01, n_components=N_FEATURES, random_state=0), Ridge(1.0)
    )
    return models


def _measure(make, X, y, X_test, repetitions):
    make().fit(X[:3000], y[:3000]).predict(X_test[:100])  # compiles
    fits, predictions = [], []
    for _ in range(repetitions):
        model = make()
        fits.append(timed(lambda model=model: model.fit(X, y))[0])
        predictions.append(timed(lambda model=model: model.predict(X_test))[0])
    return min(fits), min(predictions)


def _growth() -> None:
    """Seconds of fits at n and 4 n rows."""
    print("\n20 columns of noise, T = 500, alpha given, one run each, and out of the box")
    print_row("n", "given", "ratio", "default", "ratio", widths=WIDTHS)
    rng = np.random.default_rng(0)
    first = None
    for n in (25_000, 100_000):
        X = rng.standard_normal((n, 20))
        y = np.abs(X[:, 0] + X[:, 1]) + 0.1 * rng.standard_normal(n)
        options = {"n_random_features": 500, "random_state": 0}
        given = RKHSWeightingRegressor(
            instantiation="relu", correlation=0.5, alpha=1e-4, solver="least_squares", **options
        )
        seconds = [
            timed(partial(model.fit, X, y))[0]
            for model in (given, RKHSWeightingRegressor(**options))
        ]
        first = first or seconds
        cells = (f"{seconds[0]:.2f}", f"{seconds[0] / first[0]:.2f}")
        cells += (f"{seconds[1]:.1f}", f"{seconds[1] / first[1]:.2f}")
        print_row(n, *cells, widths=WIDTHS)


def _memory_of_skin(path: str) -> None:
    added = bytes_added(_PREPARE.format(path=path), "model.fit(X, y)", 183_792)
    formula = 8.0 * (4.0 * 183_792 * 3 + 12.0 * N_FEATURES**2 + 1.6e7)
    print(f"\nskin, 183,792 x 3, T = {N_FEATURES}, out of the box with least squares: a fit adds")
    share = f"{added / formula:.2f} of the formula"
    print(f"{added / 1e9:.2f} GB (limit {SKIN_LIMIT / 1e9:.0f} GB), {share}")

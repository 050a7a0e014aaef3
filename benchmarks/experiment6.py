"""Experiment 6 of the BKerNN paper: 17 real data sets, the published 400 / 100 rows."""

from __future__ import annotations

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.tables import print_row, published, shared_folder, timed
from kernlens import BKerNNRegressor, RFMRegressor

WIDTHS = (28, 10, 9, 11, 9, 9, 9, 9, 9)


def run() -> None:
    """Print test R2 out of the box (random_state=0) beside the published one and other methods."""
    print(
        "Ridge: alpha by leave-one-out over 13 values; kernel ridge: Gaussian, alpha and gamma by"
    )
    print("5-fold CV over 6 x 6; HistGB: scikit-learn's defaults; RFM: RFMRegressor as it comes;")
    print("one split, seed 0")
    header = ("data set", "BKerNN", "seconds", "published", "Ridge", "KRR", "HistGB", "RFM", "k")
    print_row(*header, widths=WIDTHS)
    table = []
    for row in published("bkernn_experiment6.csv"):
        data = np.load(shared_folder() / "data" / "bkernn_exp6" / f"{row['dataset']}.npz")
        scores, seconds, k = _compare(data)
        table.append([scores[0], seconds, float(row["bkernn_concave_feature_r2"]), *scores[1:]])
        _print(row["dataset"], table[-1], k)
    if table:
        _print("mean", np.mean(table, axis=0), "")


def _compare(data):
    """Return the scores of ours and the others, our seconds and the number of directions."""
    parts = [data[name][data[rows]] for rows in ("train_idx", "test_idx") for name in ("X", "y")]
    X, y, X_test, y_test = parts
    model = BKerNNRegressor(random_state=0)
    seconds, _ = timed(lambda: model.fit(X, y))
    scores = [fitted.score(X_test, y_test) for fitted in (model, *(o.fit(X, y) for o in _others()))]
    return scores, seconds, model.n_directions_


def _print(name, values, k) -> None:
    ours, seconds, *rest = values
    cells = (f"{ours:.4f}", f"{seconds:.1f}", *(f"{value:.4f}" for value in rest), k)
    print_row(name, *cells, widths=WIDTHS)


def _others():
    grid = {"alpha": np.logspace(-4, 1, 6), "gamma": np.logspace(-4, 1, 6)}
    search = GridSearchCV(KernelRidge(kernel="rbf"), grid)
    return (
        make_pipeline(StandardScaler(), RidgeCV(np.logspace(-3, 3, 13))),
        make_pipeline(
            StandardScaler(), TransformedTargetRegressor(search, transformer=StandardScaler())
        ),
        HistGradientBoostingRegressor(random_state=0),
        RFMRegressor(),
    )

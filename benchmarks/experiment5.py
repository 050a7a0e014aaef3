"""Experiment 5 of the BKerNN paper: y = |sum of three sines|, no noise, 10 repetitions."""

from __future__ import annotations

import numpy as np

from benchmarks.tables import print_row, published
from kernlens import BKerNNRegressor
from kernlens.datasets import make_absolute_sum_of_sines
from kernlens.metrics import feature_learning_score
from kernlens.penalties import FeaturePenalty

WIDTHS = (12, 10, 18, 18, 18, 18)
SETTINGS = (
    ("n", 200, 15),
    ("n", 300, 15),
    ("n", 500, 15),
    ("d", 212, 5),
    ("d", 212, 10),
    ("d", 212, 20),
    ("d", 212, 30),
)
REPETITIONS = 10


def run() -> None:
    """Print means over the published seeds 0..9, published mean and deviation beside them."""
    print("(a) the authors' settings: lambda = 2 max|x|/n, m=50, 20 plain iterations, and the")
    print("    penalty strength 1/sqrt(m) that their code used")
    _table(_authors_model)
    print("(b) out of the box: BKerNNRegressor(), nothing tuned by hand, random_state=0")
    _table(lambda seed, d: BKerNNRegressor(random_state=0))


def _table(make_model) -> None:
    figures = {
        (row["varied"], int(row["n"]), int(row["d"])): row
        for row in published("bkernn_experiment5.csv")
        if row["method"] == "BKerNN"
    }
    header = ("n, d", "", "R2", "published R2", "feature score", "published score")
    print_row(*header, widths=WIDTHS)
    for setting in SETTINGS:
        _, n, d = setting
        scores = np.array([_scores(make_model(seed, d), n, d, seed) for seed in range(REPETITIONS)])
        moments = scores.mean(axis=0), scores.std(axis=0)
        r2, feature = (f"{m:.3f} ± {s:.3f}" for m, s in zip(*moments, strict=True))
        row = figures.get(setting)
        cells = (
            ("", "")
            if row is None
            else (
                f"{float(row['r2_mean']):.3f} ± {float(row['r2_std']):.3f}",
                f"{float(row['feature_score_mean']):.3f} ± {float(row['feature_score_std']):.3f}",
            )
        )
        print_row(f"{n}, {d}", "", r2, cells[0], feature, cells[1], widths=WIDTHS)


def _authors_model(seed, d):
    W = np.random.RandomState(seed).normal(size=(50, d)) / np.sqrt(d)
    return BKerNNRegressor(
        alpha="heuristic",
        n_particles=50,
        penalty=FeaturePenalty(strength=1 / np.sqrt(50)),
        optimizer="plain",
        max_iter=20,
        tol=0.0,
        standardize=False,
        init=W,
    )


def _scores(model, n, d, seed):
    data = make_absolute_sum_of_sines(n, d, random_state=seed)
    model.set_params(n_directions=3).fit(data.X, data.y)
    score = feature_learning_score(data.components, model.components_)
    return model.score(data.X_test, data.y_test), score

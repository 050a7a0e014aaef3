"""RKHS weightings and kitchen sinks: Tables 10 and 11 of the paper, T = 500.

Settings are chosen by cross-validation with five folds, by the error that the table shows, mean
over all seeds of the weights: they are the same for all of them, and deviations as small as those
of the paper. The ranges of Table 14 are searched on a grid, where the paper draws 50 points. For
ramps, of which sigma is but a unit, lambda / sigma^2 goes from 1e-14 to 1; lambda of the others
from 1e-12 to 1e-4. Pairs of sigma and gamma, of stumps, are drawn. Kitchen sinks have their own
grid: (25) is printed with another scale than (24), and neither explains all published errors with
the range of Table 14.

The functions of the paper have no constant; one may be chosen here. Columns more: "mixed" leaves
lambda to the estimator, which mixes several by errors on rows left out; "L2" has the norm of L2(p)
for that of the RKHS: half of the widths, on which little depends then, and lambda relative to the
features.

Published errors of RWExpRelu are probably those of the features as printed in Table 3, which need
a correction; here they are those of the corrected ones, functions of another kind.

Deviations of the published means are those of Tables 16 and 17, over weights: the paper has one
split. Its sizes are those of scikit-learn's ``train_test_split(test_size=0.25)``; with
``random_state=0`` the ramps of kitchen sinks, without a constant, have the published training and
test errors of diabetes, abalone, cancer, concrete and skin, within 0.002, each at some lambda: that
split is used here. Of marketing the paper has 47 columns: those of unknown values are left out.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.model_selection import train_test_split

from benchmarks.tables import print_row, published, shared_folder
from benchmarks.weightings_search import N_FOLDS, SEARCH_ROWS, Choice, Width, choose
from kernlens import (
    PaperAlpha,
    PaperWidth,
    RandomKitchenSinksClassifier,
    RandomKitchenSinksRegressor,
    RKHSWeightingClassifier,
    RKHSWeightingRegressor,
)
from kernlens.methods.rkhs_weightings.instantiations import Instantiation, correlation_of

NAMES = {
    "RWExpRelu": "exp_relu",
    "RWExpSign": "exp_sign",
    "RWRelu": "relu",
    "RWSign": "sign",
    "RWStumps": "stumps",
}
#: Deviations of test errors of (kitchen sinks, RKHS weightings), Tables 16 and 17, in the order
#: RWExpRelu, RWExpSign, RWRelu, RWSign, RWStumps.
DEVIATIONS = {
    "adults": "1 1, 4 2, 1 1, 4 0, 4 4",
    "cancer": "6 6, 10 8, 6 6, 10 9, 11 3",
    "marketing": "1 1, 4 2, 1 1, 4 3, 1 1",
    "mnist17": "2 1, 2 1, 2 1, 2 1, 2 2",
    "phishing": "3 2, 3 2, 3 1, 3 2, 1 1",
    "skin": "1 1, 1 1, 1 0, 1 0, 0 0",
    "telescope": "2 2, 3 3, 2 1, 3 2, 3 1",
    "abalone": "2 1, 6 0, 2 1, 6 1, 8 0",
    "california housing": "2 1, 4 1, 2 1, 4 1, 9 7",
    "concrete": "8 12, 9 33, 8 9, 9 12, 4 23",
    "diabetes": "8 2, 11 0, 8 0, 11 1, 28 0",
    "wine": "10 2, 11 4, 10 4, 11 6, 12 0",
}
FILES = {"california housing": "california"}
BUNDLED = {"cancer": load_breast_cancer, "diabetes": load_diabetes, "wine": load_wine}
N_FEATURES = 500
#: Thetas or kappas; pairs (sigma, gamma) of stumps; sigmas of stumps of kitchen sinks.
N_WIDTHS, N_PAIRS, SIGMAS = 8, 16, (0.25, 0.5, 1.0, 2.0, 4.0)
#: Half decades of lambda, between these powers of ten: of ramps, of other weightings, of kitchen
#: sinks, and of weightings with the norm of L2(p).
RAMPS, OTHERS, SINKS, SQUARES = (-14, 0), (-12, -4), (-10, 0), (-12, 1)
#: The exact kernel is fitted on at most so many rows, and the sampled ones on all.
EXACT_ROWS = 5000
#: ... stumps of many columns, whose exact kernel adds up one matrix per column, on fewer, which are
#: also those that a constant and the sigmas of stumps are chosen on.
MANY_COLUMNS, FEW_ROWS = 200, 1000
#: Of stumps; kernels of thresholds any narrower cost the exact solver minutes.
MOST_CORRELATION = 0.99
#: Sets with more rows have this many repetitions.
LARGE, FEW = 12_000, 3
WIDTHS = (12, 11, 9, 11, 9, 9, 9, 11, 9, 9)


def run(repetitions: int = 10, sets: tuple[str, ...] = tuple(DEVIATIONS)) -> None:
    """Print test errors or mean squared errors beside the published ones, for some data sets."""
    print(f"T = {N_FEATURES}, {N_WIDTHS} widths ({N_PAIRS} of stumps), with a constant or without,")
    print("no bias; the split of train_test_split(random_state=0), or the official one of adults")
    print(f"and mnist17; mean over seeds 0 to {repetitions - 1} of weights ({FEW} of them for sets")
    print(f"of more than {LARGE} rows), all with the same setting, chosen by {N_FOLDS} folds of at")
    print(f"most {SEARCH_ROWS} training rows; published: mean + one deviation;")
    print(f"exact: same grid, by squared errors on rows left out, on at most {EXACT_ROWS} rows")
    print(f"({FEW_ROWS} for stumps of more than {MANY_COLUMNS} columns, correlations at most")
    print(f"{MOST_CORRELATION}); default: the estimator out of the box with T = {N_FEATURES};")
    print("* above the published mean plus its deviation")
    for table, regression in (
        ("rkhs_weightings_table10_classification.csv", False),
        ("rkhs_weightings_table11_regression.csv", True),
    ):
        print(f"\n{'mean squared error' if regression else 'share of errors'}")
        names = ("RKS", "published", "RW", "mixed", "L2", "published", "exact", "default")
        header = ("", "", *names)
        print_row(*header, widths=WIDTHS)
        _run_table(table, regression, repetitions, sets)


def _run_table(table: str, regression: bool, repetitions: int, sets: tuple[str, ...]) -> None:
    column = "test_mse" if regression else "test_error"
    # What several rows of the table share: the default, and kitchen sinks by their base.
    known: dict[tuple[str, str], float] = {}
    for row in published(table):
        if row["dataset"] not in sets:
            continue
        data = _load(row["dataset"], regression)
        if data is None:
            continue
        split = Split(*data, regression)
        deviations = dict(zip(NAMES, DEVIATIONS[row["dataset"]].split(","), strict=True))
        spread = [float(part) / 1000 for part in deviations[row["instantiation"]].split()]
        n_runs = FEW if len(data[0]) > LARGE else repetitions
        name = NAMES[row["instantiation"]]
        base = name.removeprefix("exp_")
        if (row["dataset"], "default") not in known:
            known[row["dataset"], "default"] = split.default(n_runs)
        if (row["dataset"], base) not in known:
            best = split.choose(base, "sinks", n_runs)
            known[row["dataset"], base] = split.sampled(best, n_runs)
        # Published means are rounded.
        sinks, weightings = (
            float(row[f"{column}_{kind}"]) + extra + 0.0005
            for kind, extra in zip(("rks", "rw"), spread, strict=True)
        )
        cells = [_cell(known[row["dataset"], base], sinks), f"{sinks:.4f}"]
        best = split.choose(name, "rkhs", n_runs)
        cells += [_cell(split.sampled(best, n_runs, mixed), weightings) for mixed in (False, True)]
        best = split.choose(name, "l2", n_runs)
        cells += [_cell(split.sampled(best, n_runs), weightings), f"{weightings:.4f}"]
        cells += [f"{split.exact(name):.3f}", f"{known[row['dataset'], 'default']:.3f}"]
        print_row(row["dataset"][:11], row["instantiation"], *cells, widths=WIDTHS)
        sys.stdout.flush()


def _cell(error: float, limit: float) -> str:
    return f"{error:.4f}{'*' if error > limit else ' '}"


def _load(name: str, regression: bool):
    if name in BUNDLED:
        X, y = BUNDLED[name](return_X_y=True)
        return X, y.astype(float), None
    folder = shared_folder()
    path = None if folder is None else folder / "data" / f"{FILES.get(name, name)}.npz"
    if path is None or not path.is_file():
        return None
    data = np.load(path, allow_pickle=False)
    official = data["test_mask"][:, 0] if name in ("adults", "mnist17") else None
    X = data["X"]
    if name == "marketing":
        X = X[:, [not column.endswith("=unknown") for column in data["feature_names"]]]
    return X.astype(float), data["y"].astype(float), official


class Split:
    """Training and test rows of a data set, and the errors of models on the latter."""

    def __init__(self, X, y, official, regression):
        if official is None:
            train, test = train_test_split(np.arange(len(X)), test_size=0.25, random_state=0)
        else:
            train, test = np.flatnonzero(~official), np.flatnonzero(official)
        if regression:
            y = (y - y[train].mean()) / y[train].std()
        else:
            y = np.where(y == y.max(), 1.0, -1.0)
        self.regression = regression
        self.X, self.y = X[train], y[train]
        self.test_X, self.test_y = X[test], y[test]

    def default(self, n_runs: int) -> float:
        """Of the estimator out of the box."""
        make = self._estimator(False)
        models = (make(n_random_features=N_FEATURES, random_state=seed) for seed in range(n_runs))
        return float(np.mean([self._error(model.fit(self.X, self.y)) for model in models]))

    def choose(self, name: str, kind: str, n_runs: int) -> Choice:
        """The setting of T random features, by folds."""
        spread = self.X.std(axis=0)
        standardized = (self.X - self.X.mean(axis=0))[:, spread > 0.0] / spread[spread > 0.0]
        widths = _widths(name, kind, standardized.shape[1])
        return choose(widths, standardized, self.y, N_FEATURES, n_runs, self._measure)

    def sampled(self, best: Choice, n_runs: int, mixed: bool = False) -> float:
        """Of T random features with a setting, or with its alpha left to a mixture."""
        found, kind = best.width.instantiation, best.width.kind
        settings: dict[str, Any] = {"base": found.name, "sigma": found.sigma}
        if kind != "sinks":
            settings = {
                "instantiation": found.name,
                "correlation": PaperWidth(correlation=found.correlation, sigma=found.sigma),
                "penalty": kind,
            }
        alpha: Any = list(best.width.alphas) if mixed else best.alpha
        model = self._estimator(kind == "sinks")(
            solver="least_squares",
            alpha=PaperAlpha(alpha) if best.width.paper_units else alpha,
            bias=0.0,
            fit_intercept=best.intercept,
            n_random_features=N_FEATURES,
            **settings,
        )
        fits = (model.set_params(random_state=seed).fit(self.X, self.y) for seed in range(n_runs))
        return float(np.mean([self._error(fit) for fit in fits]))

    def exact(self, name: str) -> float:
        """Of the exact kernel, which chooses by itself."""
        many = self.X.shape[1] > MANY_COLUMNS and name == "stumps"
        order = np.random.default_rng(0).permutation(len(self.X))
        few, rows = order[:FEW_ROWS], order[: FEW_ROWS if many else EXACT_ROWS]
        # By sigma: the only instantiation for which it is more than a unit is that of stumps.
        correlations: dict[float, list[float]] = {}
        widths = _widths(name, "rkhs", self.X.shape[1])
        for width in widths:
            found = width.instantiation
            correlations.setdefault(found.sigma, []).append(found.correlation)
        models = [
            self._estimator(False)(
                instantiation=name,
                solver="exact",
                correlation=PaperWidth(correlation=given, sigma=sigma),
                alpha=PaperAlpha(list(widths[0].alphas)),
                mix_alphas=False,
                bias=0.0,
                fit_intercept=intercept,
            ).fit(self.X[few], self.y[few])
            for sigma, given in correlations.items()
            for intercept in (False, True)
        ]
        best = min(models, key=lambda model: model.alpha_search_["loss"].min())
        return self._error(best.fit(self.X[rows], self.y[rows]))

    def _estimator(self, kitchen_sinks: bool) -> Callable[..., Any]:
        if kitchen_sinks:
            return RandomKitchenSinksRegressor if self.regression else RandomKitchenSinksClassifier
        return RKHSWeightingRegressor if self.regression else RKHSWeightingClassifier

    def _measure(self, predictions, y):
        if not self.regression:
            return np.mean(np.sign(predictions) != y[:, None], axis=0)
        # Estimators keep predictions within the range of the targets.
        kept = np.clip(predictions, y.min(), y.max())
        return np.square(kept - y[:, None]).mean(axis=0)

    def _error(self, model) -> float:
        found = model.predict(self.test_X)
        if self.regression:
            return float(np.square(found - self.test_y).mean())
        return float(np.mean(found != self.test_y))


def _widths(name: str, kind: str, n_columns: int) -> list[Width]:
    """What Table 14 lets vary, but for lambda."""
    if kind == "sinks":
        powers, sigmas = SINKS, SIGMAS if name == "stumps" else (1.0,)
        pairs = [(sigma, 0.5) for sigma in sigmas]
    elif name == "stumps":
        powers = OTHERS
        drawn = 10.0 ** np.random.default_rng(0).uniform(-2, 1, (N_PAIRS, 2))
        pairs = [
            (sigma, correlation_of(name, n_columns, sigma, gamma, None, None))
            for sigma, gamma in drawn
        ]
        pairs = [(sigma, min(r, MOST_CORRELATION)) for sigma, r in pairs]
    elif name.startswith("exp_"):
        powers = RAMPS if name == "exp_relu" else OTHERS
        kappas = np.linspace(1.5, 100 if name == "exp_relu" else 50, N_WIDTHS)
        pairs = [(1.0, correlation_of(name, n_columns, 1.0, None, None, k)) for k in kappas]
    else:
        powers = RAMPS if name == "relu" else OTHERS
        thetas = np.linspace(0.01, 0.9, N_WIDTHS)
        pairs = [(1.0, correlation_of(name, n_columns, 1.0, None, t, None)) for t in thetas]
    if kind == "l2":
        powers, pairs = SQUARES, pairs[::2]
    lowest, highest = powers
    alphas = tuple(10.0 ** np.arange(lowest, highest + 0.25, 0.5))
    return [
        Width(Instantiation(name, n_columns, float(r), float(sigma)), kind, alphas)
        for sigma, r in pairs
    ]

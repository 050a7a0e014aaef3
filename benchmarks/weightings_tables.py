"""RKHS weightings and kitchen sinks: Tables 10 and 11 of the paper, T = 500.

Hyper-parameters are drawn as in Table 14 (8 draws of theta, kappa or gamma times 24 of lambda,
where the paper has 50 joint draws), and chosen by errors on rows left out. Deviations of the
published means are those of Tables 16 and 17, over weights: the paper has one split. Its sizes are
those of scikit-learn's ``train_test_split(test_size=0.25)``, and with ``random_state=0`` a tuned
SVR comes near the published one on diabetes, wine and abalone, which it does not with other seeds
tried (42, 1, 2, 3, 123, 1234): that split is used here. Kitchen sinks choose alpha from their own
grid: (25) is printed with another scale than (24), and neither explains all published errors with
the range of Table 14.
"""

from __future__ import annotations

import sys

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.model_selection import train_test_split

from benchmarks.tables import print_row, published, shared_folder
from kernlens import (
    RandomKitchenSinksClassifier,
    RandomKitchenSinksRegressor,
    RKHSWeightingClassifier,
    RKHSWeightingRegressor,
)
from kernlens.optim.instantiations import correlation_of

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
N_DRAWS, N_ALPHAS, N_PAIRS = 8, 24, 16
#: The exact kernel is fitted on at most so many rows, and the sampled ones on all.
EXACT_ROWS = 5000
#: ... stumps of many columns, whose exact kernel adds up one matrix per column, on fewer.
MANY_COLUMNS, STUMP_ROWS = 200, 1000
#: Of stumps; kernels of thresholds any narrower cost the exact solver minutes.
MOST_CORRELATION = 0.99
#: Sets with more rows have this many repetitions.
LARGE, FEW = 30_000, 2
WIDTHS = (12, 11, 9, 11, 9, 11, 9, 9)


def run(repetitions: int = 5, sets: tuple[str, ...] = tuple(DEVIATIONS)) -> None:
    """Print test errors or mean squared errors beside the published ones, for some data sets."""
    print(f"T = {N_FEATURES}, {N_DRAWS} x {N_ALPHAS} draws of Table 14, no bias; the split of")
    print("train_test_split(random_state=0), or the official one of adults and mnist17;")
    print(f"mean over seeds 0 to {repetitions - 1} of weights and draws ({FEW} of them for sets of")
    print(f"more than {LARGE} rows); published: mean + one deviation;")
    print(f"exact: same draws, on at most {EXACT_ROWS} rows ({STUMP_ROWS} for stumps of more than")
    print(f"{MANY_COLUMNS} columns); default: the estimator out of the box with T = 500;")
    print(f"correlations of stumps at most {MOST_CORRELATION};")
    print("* above the published mean plus its deviation")
    for table, regression in (
        ("rkhs_weightings_table10_classification.csv", False),
        ("rkhs_weightings_table11_regression.csv", True),
    ):
        print(f"\n{'mean squared error' if regression else 'share of errors'}")
        header = ("", "", "RKS", "published", "RW", "published", "exact", "default")
        print_row(*header, widths=WIDTHS)
        _run_table(table, regression, repetitions, sets)


def _run_table(table: str, regression: bool, repetitions: int, sets: tuple[str, ...]) -> None:
    column = "test_mse" if regression else "test_error"
    defaults: dict[str, float] = {}
    for row in published(table):
        if row["dataset"] not in sets:
            continue
        data = _load(row["dataset"], regression)
        if data is None:
            continue
        deviations = dict(zip(NAMES, DEVIATIONS[row["dataset"]].split(","), strict=True))
        spread = [float(part) / 1000 for part in deviations[row["instantiation"]].split()]
        n_runs = FEW if len(data[0]) > LARGE else repetitions
        if row["dataset"] not in defaults:
            defaults[row["dataset"]] = _mean(_default(regression), data, regression, n_runs)
        name = NAMES[row["instantiation"]]
        errors = [
            _mean(_kitchen_sinks(name, regression), data, regression, n_runs),
            _mean(_weighting(name, regression, "least_squares"), data, regression, n_runs),
            _mean(_weighting(name, regression, "exact"), data, regression, 1),
        ]
        limits = [
            float(row[f"{column}_{kind}"]) + extra + 0.0005
            for kind, extra in zip(("rks", "rw"), spread, strict=True)
        ]
        cells = []
        for error, limit in zip(errors, limits, strict=False):
            cells += [f"{error:.3f}{'*' if error > limit else ' '}", f"{limit:.3f}"]
        cells += [f"{errors[2]:.3f}", f"{defaults[row['dataset']]:.3f}"]
        print_row(row["dataset"][:11], row["instantiation"], *cells, widths=WIDTHS)
        sys.stdout.flush()


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
    return data["X"].astype(float), data["y"].astype(float), official


def _mean(make, data, regression, n_runs):
    X, y, official = data
    errors = []
    for seed in range(n_runs):
        if official is None:
            train, test = train_test_split(np.arange(len(X)), test_size=0.25, random_state=0)
        else:
            train, test = np.flatnonzero(~official), np.flatnonzero(official)
        models = make(seed, X.shape[1])
        if models[0].solver == "exact":
            many = X.shape[1] > MANY_COLUMNS and models[0].instantiation == "stumps"
            n_rows = STUMP_ROWS if many else EXACT_ROWS
            train = np.random.default_rng(seed).permutation(train)[:n_rows]
        mean, scale = (y[train].mean(), y[train].std()) if regression else (0.0, 1.0)
        for model in models:
            model.fit(X[train], (y[train] - mean) / scale)
        best = min(models, key=lambda model: np.min(model.alpha_search_["loss"]))
        predicted = best.predict(X[test])
        wrong = (predicted - (y[test] - mean) / scale) ** 2 if regression else predicted != y[test]
        errors.append(np.mean(wrong))
    return float(np.mean(errors))


def _default(regression):
    estimator = RKHSWeightingRegressor if regression else RKHSWeightingClassifier
    return lambda seed, d: [estimator(n_random_features=N_FEATURES, random_state=seed)]


def _kitchen_sinks(name, regression):
    estimator = RandomKitchenSinksRegressor if regression else RandomKitchenSinksClassifier

    def make(seed, d):
        sink = estimator(
            base=name.removeprefix("exp_"),
            bias=0.0,
            n_random_features=N_FEATURES,
            random_state=seed,
        )
        return [sink]

    return make


def _weighting(name, regression, solver):
    estimator = RKHSWeightingRegressor if regression else RKHSWeightingClassifier

    def make(seed, d):
        rng = np.random.default_rng(seed)
        # sigma multiplies ramps, and does nothing to signs.
        unit = 10.0 ** (2.0 * rng.uniform(-2, 1, N_ALPHAS)) if name.endswith("relu") else 1.0
        common = {
            "instantiation": name,
            "solver": solver,
            "alpha": list(10.0 ** rng.uniform(-12, -4, N_ALPHAS) / unit),
            "alpha_unit": "paper",
            "bias": 0.0,
            "n_random_features": N_FEATURES,
            "random_state": seed,
        }
        if name == "stumps":
            # The only instantiation for which sigma is more than a unit.
            pairs = 10.0 ** rng.uniform(-2, 1, (N_PAIRS, 2))
            return [
                estimator(
                    sigma=sigma,
                    correlation=min(
                        correlation_of(name, d, sigma, gamma, None, None), MOST_CORRELATION
                    ),
                    **common,
                )
                for sigma, gamma in pairs
            ]
        if name.startswith("exp_"):
            kappas = rng.uniform(1.5, 50 if name == "exp_sign" else 100, N_DRAWS)
            correlations = [correlation_of(name, d, 1.0, None, None, k) for k in kappas]
        else:
            thetas = rng.uniform(0.01, 0.9, N_DRAWS)
            correlations = [correlation_of(name, d, 1.0, None, t, None) for t in thetas]
        return [estimator(correlation=correlations, **common)]

    return make

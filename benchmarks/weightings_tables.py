"""RKHS weightings and kitchen sinks: Tables 10 and 11 of the paper, T = 500.

The ranges of Table 14 are searched on a grid, where the paper draws 50 points. For ramps, of
which sigma is but a unit, lambda / sigma^2 goes from 1e-14 to 1; lambda of the others from 1e-12 to
1e-4. Pairs of sigma and gamma, of stumps, are drawn. Kitchen sinks have their own grid: (25) is
printed with another scale than (24), and neither explains all published errors with the range of
Table 14.

Settings are chosen by squared errors on training rows left out, averaged over all seeds of the
weights, so that they are the same for all of them. Deviations of the published means are those of
Tables 16 and 17, over weights: the paper has one split, and deviations as small as those here for
equal settings. Its sizes are those of scikit-learn's ``train_test_split(test_size=0.25)``; with
``random_state=0`` the ramps of kitchen sinks, without a constant, have the published training and
test errors of diabetes, abalone, cancer, concrete and skin, within 0.002, each at some lambda: that
split is used here.
Of marketing the paper has 47 columns: those of unknown values are left out.

The functions here have a constant, those of the paper none; and its features of RWExpSign and
RWExpRelu are those of Table 3, which need a correction.
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
#: Thetas or kappas; pairs (sigma, gamma) of stumps.
N_WIDTHS, N_PAIRS = 8, 16
#: Half decades of lambda, between these powers of ten: of ramps, of other weightings, of sinks.
RAMPS, OTHERS, RELATIVE = (-14, 0), (-12, -4), (-10, 0)
#: The exact kernel is fitted on at most so many rows, and the sampled ones on all.
EXACT_ROWS = 5000
#: ... stumps of many columns, whose exact kernel adds up one matrix per column, on fewer.
MANY_COLUMNS, STUMP_ROWS = 200, 1000
#: Of stumps; kernels of thresholds any narrower cost the exact solver minutes.
MOST_CORRELATION = 0.99
#: Sets with more rows have this many repetitions.
LARGE, FEW = 5_000, 3
WIDTHS = (12, 11, 9, 11, 9, 11, 9, 9)


def run(repetitions: int = 10, sets: tuple[str, ...] = tuple(DEVIATIONS)) -> None:
    """Print test errors or mean squared errors beside the published ones, for some data sets."""
    print(f"T = {N_FEATURES}, {N_WIDTHS} widths ({N_PAIRS} of stumps), no bias; the split of")
    print("train_test_split(random_state=0), or the official one of adults and mnist17;")
    print(f"mean over seeds 0 to {repetitions - 1} of weights ({FEW} of them for sets of more than")
    print(f"{LARGE} rows), all with the same setting; published: mean + one deviation;")
    print(f"exact: same grid, on at most {EXACT_ROWS} rows ({STUMP_ROWS} for stumps of more than")
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
    X = data["X"]
    if name == "marketing":
        X = X[:, [not column.endswith("=unknown") for column in data["feature_names"]]]
    return X.astype(float), data["y"].astype(float), official


def _mean(make, data, regression, n_runs):
    """Test error of the best of the models that `make` returns for a seed, mean over seeds."""
    X, y, official = data
    if official is None:
        train, test = train_test_split(np.arange(len(X)), test_size=0.25, random_state=0)
    else:
        train, test = np.flatnonzero(~official), np.flatnonzero(official)
    runs = [make(seed, X.shape[1]) for seed in range(n_runs)]
    first = runs[0][0]
    if first.solver == "exact":
        many = X.shape[1] > MANY_COLUMNS and first.instantiation == "stumps"
        train = np.random.default_rng(0).permutation(train)[: STUMP_ROWS if many else EXACT_ROWS]
    mean, scale = (y[train].mean(), y[train].std()) if regression else (0.0, 1.0)
    models = _chosen(runs, X[train], (y[train] - mean) / scale)
    predictions = (model.predict(X[test]) for model in models)
    if regression:
        errors = [np.square(found - (y[test] - mean) / scale).mean() for found in predictions]
    else:
        errors = [np.mean(found != y[test]) for found in predictions]
    return float(np.mean(errors))


def _chosen(runs, X, y):
    """One fitted model of every run, all with the setting of least mean error on rows left out."""
    losses = [[model.fit(X, y).alpha_search_["loss"] for model in run] for run in runs]
    first = runs[0][0]
    if first.solver == "exact" or first.alpha == "auto":
        # These have one run, or choose by themselves.
        return [
            run[int(np.argmin([np.min(loss) for loss in part]))]
            for run, part in zip(runs, losses, strict=True)
        ]
    total = np.sum(losses, axis=0)
    best, place = np.unravel_index(np.argmin(total), total.shape)
    return [run[best].set_params(alpha=run[best].alpha[place]).fit(X, y) for run in runs]


def _alphas(powers):
    lowest, highest = powers
    return [float(alpha) for alpha in 10.0 ** np.arange(lowest, highest + 0.25, 0.5)]


def _default(regression):
    estimator = RKHSWeightingRegressor if regression else RKHSWeightingClassifier
    return lambda seed, d: [estimator(n_random_features=N_FEATURES, random_state=seed)]


def _kitchen_sinks(name, regression):
    estimator = RandomKitchenSinksRegressor if regression else RandomKitchenSinksClassifier

    def make(seed, d):
        sink = estimator(
            base=name.removeprefix("exp_"),
            alpha=_alphas(RELATIVE),
            bias=0.0,
            n_random_features=N_FEATURES,
            random_state=seed,
        )
        return [sink]

    return make


def _weighting(name, regression, solver):
    estimator = RKHSWeightingRegressor if regression else RKHSWeightingClassifier

    def make(seed, d):
        common = {
            "instantiation": name,
            "solver": solver,
            "alpha": _alphas(RAMPS if name.endswith("relu") else OTHERS),
            "alpha_unit": "paper",
            "bias": 0.0,
            "n_random_features": N_FEATURES,
            "random_state": seed,
        }
        if name == "stumps":
            # The only instantiation for which sigma is more than a unit.
            pairs = 10.0 ** np.random.default_rng(0).uniform(-2, 1, (N_PAIRS, 2))
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
            kappas = np.linspace(1.5, 50 if name == "exp_sign" else 100, N_WIDTHS)
            correlations = [correlation_of(name, d, 1.0, None, None, k) for k in kappas]
        else:
            thetas = np.linspace(0.01, 0.9, N_WIDTHS)
            correlations = [correlation_of(name, d, 1.0, None, t, None) for t in thetas]
        if solver == "exact":
            # Large kernel matrices: one estimator, that compares the widths on fewer rows.
            return [estimator(correlation=correlations, **common)]
        return [estimator(correlation=correlation, **common) for correlation in correlations]

    return make

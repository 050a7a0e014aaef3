"""RegFeaL: the whole grid against the paper followed literally, growth, memory."""

from __future__ import annotations

import numpy as np

from benchmarks.memory import bytes_added
from benchmarks.regfeal_naive import fit_once
from benchmarks.tables import print_row, timed
from kernlens import AllPolynomials, BestFirst, RegFeaLRegressor
from kernlens.datasets import make_two_sines
from kernlens.methods.regfeal.estimator import ALPHAS, RHOS, fit_bytes

#: Settings of the grid that the literal version is timed on; the others cost the same.
TIMED = ((0.05, 1.0), (0.2, 0.1), (0.6, 10.0))
N_FOLDS = 5

#: What a fit's memory is measured on; a small fit first, so that compiled code does not count.
_PREPARE = """
from kernlens import RegFeaLRegressor
from kernlens.datasets import make_two_sines
small = make_two_sines(300, 20, random_state=0)
RegFeaLRegressor(alpha=1.0, rho=0.4, random_state=0).fit(small.X, small.y)
data = make_two_sines(n, 20, random_state=0)
"""
_FIT = "RegFeaLRegressor(alpha=100.0, rho=0.4, random_state=0).fit(data.X, data.y)"


def run() -> None:
    """Print the cost of the cross-validated fit as a ratio, then growth in n and memory."""
    _grid()
    _feature_view()
    _many_rows()


def _grid() -> None:
    data = make_two_sines(1000, 40, random_state=0)
    ours, model = timed(lambda: RegFeaLRegressor(random_state=0).fit(data.X, data.y))
    rows = slice(0, 1000 - 1000 // N_FOLDS)
    X, y = data.X[rows], data.y[rows]
    naive = [
        timed(lambda rho=rho, alpha=alpha: _literally(X, y, rho, alpha))[0] for rho, alpha in TIMED
    ]
    whole = np.mean(naive) * len(ALPHAS) * len(RHOS) * N_FOLDS
    print("sinus, features, d=40, n=1000, the paper's grid, seed 0")
    print(f"whole cross-validated fit: {ours:.0f} s, test R2 {_score(model, data):.3f}")
    print(
        f"the paper literally (10,000 samples, 5 iterations): {np.mean(naive):.1f} s a fit on one"
        f" fold (mean of {len(TIMED)} settings), so {whole:.0f} s for 49 x 5 of them"
    )
    print(f"ratio {whole / ours:.0f}\n")


def _literally(X, y, rho, alpha):
    return fit_once(X, y, rho, alpha, 10_000, 5, np.random.RandomState(0))


def _feature_view() -> None:
    print("feature view: BestFirst(500), d=20, alpha and rho given, refit=None, 5 steps")
    print_row("n", "seconds", "ratio", widths=(10, 10, 10))
    first = None
    for n in (10_000, 40_000):
        data = make_two_sines(n, 20, random_state=0)
        model = RegFeaLRegressor(
            alpha=100.0,
            rho=0.4,
            basis=BestFirst(500),
            refit=None,
            max_iter=5,
            tol=0.0,
            random_state=0,
        )
        seconds, _ = timed(lambda model=model, data=data: model.fit(data.X, data.y))
        first = first or seconds
        print_row(n, f"{seconds:.1f}", f"{seconds / first:.2f}", widths=(10, 10, 10))
    print()


def _many_rows() -> None:
    print("out of the box, d=20, seed 0; memory of a fit at one setting over the formula")
    widths = (10, 10, 10, 12, 22)
    print_row("n", "seconds", "ratio", "test R2", "memory over formula", widths=widths)
    first, basis = None, AllPolynomials()
    for n in (25_000, 100_000):
        data = make_two_sines(n, 20, random_state=0)
        seconds, model = timed(
            lambda data=data: RegFeaLRegressor(random_state=0).fit(data.X, data.y)
        )
        first = first or seconds
        formula = fit_bytes(n, 20, basis.matrix_rows(20, n), basis.most_indices(20, n))
        share = bytes_added(_PREPARE, _FIT, n) / formula
        cells = (f"{seconds:.1f}", f"{seconds / first:.2f}", f"{_score(model, data):.3f}")
        print_row(n, *cells, f"{share:.2f}", widths=widths)


def _score(model, data):
    return model.score(data.X_test, data.y_test)

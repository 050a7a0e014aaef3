"""Problems for fits of tables in blocks, and small samples that make sums over blocks necessary."""

from __future__ import annotations

import numpy as np

from kernlens import RowBlocks

#: Rows of a sample in these tests.
SAMPLE_ROWS = 150


def problem(n, seed=0):
    """Columns in odd units, and a target of a smooth function of two of them, with noise."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, 4))
    y = np.sin(1.5 * Z[:, 0]) + 0.5 * Z[:, 1] ** 2 + 0.2 * rng.standard_normal(n)
    return Z * np.logspace(-2, 2, 4) + 7.0, 10.0 * y - 3.0


def classes(y):
    """Three classes of a target, of different sizes."""
    return np.array(["a", "b", "c"])[np.digitize(y, np.quantile(y, [0.5, 0.8]))]


def blocks(X, y, weights=None, block_rows=77, n_jobs=1):
    return RowBlocks.from_arrays(X, y, weights, block_rows=block_rows, n_jobs=n_jobs)


def small_samples(monkeypatch, estimators):
    """Samples so small that sums over blocks are needed."""
    for estimator in estimators:
        monkeypatch.setattr(estimator, "_sample_rows", SAMPLE_ROWS)

"""Sums over blocks of all rows: the objective of all points in the features of a sample."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from kernlens import KernelLaplacianClassifier, KernelLaplacianRegressor, RowBlocks
from kernlens.base.block_data import FitTable, InUnits, Surveyed
from kernlens.base.columns import Columns
from kernlens.base.targets import Targets
from kernlens.blocks.survey import survey
from kernlens.kernels.derivatives import make_derivatives
from kernlens.methods.kernel_laplacian import all_rows
from kernlens.methods.kernel_laplacian.all_rows import SampleFeatures, solve_all
from kernlens.methods.kernel_laplacian.energy_basis import EnergyBasis, KernelMap
from kernlens.methods.kernel_laplacian.labels import numbers_with_gaps
from kernlens.methods.kernel_laplacian.local_frames import LocalFrames
from reference import kernel_laplacian as oracle
from reference.block_problems import SAMPLE_ROWS, blocks, classes, problem, small_samples

FAST = {"n_centers": 40, "random_state": 0, "n_jobs": 1, "n_directions": 2}


@pytest.fixture
def few_rows(monkeypatch):
    small_samples(monkeypatch, [KernelLaplacianRegressor, KernelLaplacianClassifier])


def with_gaps(n=900, share=0.4, seed=0):
    X, y = problem(n, seed)
    y[np.random.default_rng(seed + 1).random(n) > share] = np.nan
    return X, y


def regressor(**options):
    return KernelLaplacianRegressor(**{**FAST, "linear_part": False, **options})


# Against the oracle


@pytest.mark.parametrize("local", [None, 3])
@pytest.mark.parametrize("kernel", ["gaussian", "matern32", "polynomial"])
@pytest.mark.parametrize("ratio", [0.0, 2.0, 1e6])
def test_the_solution_is_that_of_all_points(kernel, ratio, local):
    rng = np.random.default_rng(0)
    X, weights = rng.standard_normal((60, 3)), rng.integers(1, 4, 60).astype(float)
    y = np.vstack([X[:, 0] ** 2, np.sin(X[:, 1])])
    y[:, rng.random(60) < 0.5] = np.nan
    y[:, :9] = np.nan  # a block without any label
    sample, alpha = X[20:50], 1e-3
    frames = LocalFrames.of(sample, np.ones(30), local, 1)
    feature_map = KernelMap(make_derivatives(kernel), sample[:8])
    basis = EnergyBasis.of(feature_map, sample, np.ones(30), frames, 1, ratio)
    features = SampleFeatures.of(basis, ratio, 1.0, frames, sample)
    table = RowBlocks.from_arrays(X, y.T, weights, block_rows=9).table.through(numbers_with_gaps)
    found = Surveyed(table, survey(table, 1000, gaps=True))
    columns = Columns(np.zeros(3), np.ones(3), np.arange(3))
    whole = FitTable.of(found, InUnits(columns, Targets.as_they_are(2), found.survey.weight_unit))
    solution, same = solve_all(whole, basis, features, ratio, alpha, [])
    assert same == alpha
    known = np.flatnonzero(~np.isnan(y[0]))
    dense = oracle.Problem(
        X=X,
        weights=weights,
        labeled=known,
        y=y[:, known],
        label_weights=weights[known],
        mu=ratio * alpha,
        alpha=alpha,
        frames=None if frames is None else list(frames.at(X)),
    )
    expected = oracle.minimize_over_centers(oracle.KERNELS[kernel], dense, sample[:8])
    X_new = rng.standard_normal((20, 3))
    values = expected.values(X_new)
    np.testing.assert_allclose(solution.objective, expected.objective, rtol=1e-7)
    np.testing.assert_allclose(
        solution.function.decision(X_new), values, atol=1e-5 * np.abs(values).max()
    )


@pytest.mark.parametrize("n_neighbors", [2, 5])
def test_frames_of_the_points_themselves_are_those_of_a_fit(n_neighbors):
    X = np.random.default_rng(1).standard_normal((40, 3))
    frames = LocalFrames.of(X, np.ones(40), n_neighbors, 1)
    # The last digits are those of a sample, not of the table.
    found, own = frames.at(X * (1.0 + 1e-9)), frames.take(slice(None))
    np.testing.assert_allclose(
        found.transpose(0, 2, 1) @ found, own.transpose(0, 2, 1) @ own, atol=1e-6
    )


# Estimators


@pytest.mark.parametrize("options", [{}, {"metric": "euclidean"}, {"mu": 1e-3, "alpha": 1e-4}])
def test_the_partition_and_threads_say_nothing(few_rows, options):
    X, y = with_gaps()
    weights = np.random.default_rng(1).integers(0, 4, len(X)).astype(float)
    order = np.random.default_rng(2).permutation(len(X))
    one = regressor(**options).fit(blocks(X, y, weights))
    cut = regressor(**options).fit(blocks(X[order], y[order], weights[order], block_rows=190))
    repeated = np.repeat(np.arange(len(X)), weights.astype(int))
    repeats = regressor(**options).fit(blocks(X[repeated], y[repeated], block_rows=200))
    threads = regressor(**options).fit(blocks(X, y, weights, n_jobs=3))
    for other in (cut, repeats):
        np.testing.assert_allclose(other.predict(X), one.predict(X), rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(other.components_, one.components_, rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(threads.predict(X), one.predict(X))


def test_few_rows_in_blocks_are_the_fit_of_these_rows(few_rows):
    X, y = with_gaps(SAMPLE_ROWS - 10)
    one, other = regressor().fit(X, y), regressor().fit(blocks(X, y))
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    assert set(vars(one)) == set(vars(other))


def test_rows_without_a_target_count_in_the_gradients(few_rows):
    X, y = with_gaps()
    strict = {"mu": 0.5, "alpha": 1e-4}
    with_all = regressor(**strict).fit(blocks(X, y))
    known = ~np.isnan(y)
    assert with_all.n_labeled_ == known.sum()
    labeled_only = regressor(**strict).fit(blocks(X[known], y[known]))
    assert not np.allclose(with_all.predict(X), labeled_only.predict(X), rtol=1e-3)
    slopes = [np.square(m.gradient(X) * X.std(axis=0)).sum() for m in (with_all, labeled_only)]
    assert slopes[0] < slopes[1]


def test_rare_labels_are_half_of_the_sample(few_rows):
    X, y = problem(900)
    kept = y.copy()
    y[:] = np.nan
    y[::30] = kept[::30]
    table = blocks(X, y, block_rows=15).table.through(numbers_with_gaps)
    found = survey(table, 40, gaps=True)
    assert found.n_labeled == 30 and len(found.sample.X) == 40 and not found.complete
    assert np.isnan(found.sample.y).sum() == 20
    np.testing.assert_allclose(found.targets.mean, y[::30].mean(), rtol=1e-12)
    # Half of the blocks have no label.
    model = regressor().fit(blocks(X, y, block_rows=15))
    assert model.n_labeled_ == 30 and model.score(X, kept) > 0.5


def test_more_rows_predict_better_than_the_sample(few_rows):
    X, y = with_gaps(2000)
    X_new, y_new = problem(500, seed=7)
    model = regressor().fit(blocks(X, y))
    sample = regressor().fit(X[:SAMPLE_ROWS], y[:SAMPLE_ROWS])
    assert model.score(X_new, y_new) > sample.score(X_new, y_new)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_with_rows_that_have_none(few_rows, n_classes):
    X, y = problem(900)
    labels = classes(y)
    if n_classes == 2:
        labels[labels == "c"] = "b"
    given = labels.copy()
    given[np.random.default_rng(1).random(900) > 0.4] = "?"
    model = KernelLaplacianClassifier(**FAST, unlabeled="?").fit(blocks(X, given))
    cut = KernelLaplacianClassifier(**FAST, unlabeled="?").fit(blocks(X, given, block_rows=300))
    assert list(model.classes_) == list("abc")[:n_classes]
    assert model.n_labeled_ == np.sum(given != "?")
    np.testing.assert_allclose(cut.predict_proba(X), model.predict_proba(X), atol=1e-7)
    assert model.score(X, labels) > 0.75


def test_a_saved_model_predicts_the_same(few_rows):
    X, y = with_gaps()
    model = regressor().fit(blocks(X, y))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


def test_an_interruption_of_the_last_step_keeps_what_the_sample_has_learned(few_rows, monkeypatch):
    X, y = with_gaps()
    model = regressor()

    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(all_rows, "labeled_sums", interrupted)
    with pytest.raises(KeyboardInterrupt, match="has the best state"):
        model.fit(blocks(X, y))
    assert np.isfinite(model.predict(X)).all() and "interrupted" in model.status_


@pytest.mark.parametrize("solver", ["exact", "cg"])
def test_what_needs_all_rows_at_once_says_so(few_rows, solver):
    X, y = with_gaps()
    with pytest.raises(ValueError, match="needs all rows at once; choose solver='nystrom'"):
        regressor(solver=solver).fit(blocks(X, y))


def test_bad_targets_are_refused(few_rows):
    X, y = with_gaps()
    with pytest.raises(ValueError, match="X_unlabeled goes with arrays"):
        regressor().fit(blocks(X, y), X_unlabeled=X)
    with pytest.raises(ValueError, match="no row is labelled"):
        regressor().fit(blocks(X, np.full(len(X), np.nan)))
    both = np.column_stack([y, y])
    both[0] = 1.0, np.nan
    with pytest.raises(ValueError, match="NaN in some targets of a row only, in block 0"):
        regressor().fit(blocks(X, both))
    y[3] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        regressor().fit(blocks(X, y))

"""How alpha is chosen: the formulas, the curve that is recorded, and that the choice is good."""

from __future__ import annotations

import numpy as np
import pytest

from families import inputs_of, targets_of
from kernlens import BKerNNClassifier, BKerNNRegressor
from kernlens._rows import canonical_rows
from kernlens.methods.bkernn import path
from kernlens.methods.bkernn.learner import GRID
from kernlens.methods.bkernn.objective import ReducedObjective
from kernlens.methods.bkernn.path import ValidationCurve, revive

FAST = {"n_particles": 6, "max_iter": 10, "random_state": 0, "n_jobs": 1}


def sample(n=60, noise=0.3, seed=0, n_new=300):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n + n_new, 4)) * [1.0, 3.0, 0.5, 2.0] + 5.0
    y = 2 * np.abs((X - 5.0) @ [0.8, 0.2, 0.0, 0.1])
    noisy = y + noise * rng.standard_normal(n + n_new)
    return X[:n], noisy[:n], X[n:], y[n:]


def effective_number(weights):
    return weights.sum() ** 2 / (weights**2).sum()


# The formulas


@pytest.mark.parametrize("weighted", [False, True])
def test_heuristic_is_the_formula_of_the_paper(weighted):
    X, y, *_ = sample()
    weights = np.random.default_rng(0).integers(0, 3, len(X)) if weighted else np.ones(len(X))
    for estimator, target in ((BKerNNRegressor, y), (BKerNNClassifier, y > 2)):
        model = estimator(**FAST, alpha="heuristic").fit(X, target, sample_weight=weights)
        norms = np.linalg.norm(inputs_of(model, X), axis=1)[weights > 0]
        assert model.alpha_ == pytest.approx(2 * norms.max() / effective_number(weights), rel=1e-12)


def test_heuristic_takes_the_rows_as_they_are_without_standardisation():
    X, y, *_ = sample()
    model = BKerNNRegressor(**FAST, alpha="heuristic", standardize=False).fit(X, y)
    rows = inputs_of(model, X) + model.mean_[model.inputs_]
    np.testing.assert_allclose(rows, X[:, model.inputs_], atol=1e-6)
    largest = np.linalg.norm(rows, axis=1).max()
    assert model.alpha_ == pytest.approx(2 * largest / len(X), rel=1e-12)


def test_given_alpha_is_used():
    X, y, *_ = sample()
    for alpha in (0.5, 1, np.float32(0.25), np.int64(2)):
        model = BKerNNRegressor(**FAST, alpha=alpha).fit(X, y)
        assert model.alpha_ == float(alpha)
        assert isinstance(model.alpha_, float)
        assert not hasattr(model, "alpha_search_")


@pytest.mark.parametrize("weighted", [False, True])
def test_grid_is_the_documented_one(weighted):
    X, y, *_ = sample()
    weights = np.random.default_rng(0).integers(0, 3, len(X)) if weighted else np.ones(len(X))
    model = BKerNNRegressor(**FAST, penalty="feature").fit(X, y, sample_weight=weights)
    tried = model.alpha_search_["alpha"]
    rms_y = np.sqrt(np.average(targets_of(model, y, weights)[0] ** 2, weights=weights))
    squares = np.sum(inputs_of(model, X) ** 2, axis=1)
    # Standardised rows have a mean square norm equal to their number of columns.
    assert np.average(squares, weights=weights) == pytest.approx(4.0, rel=1e-7)
    reference = rms_y * np.sqrt(np.average(squares, weights=weights)) / effective_number(weights)
    np.testing.assert_allclose(tried, GRID[: len(tried)] * reference, rtol=1e-10)
    np.testing.assert_allclose(GRID[0] / GRID[-1], 10**3.5, rtol=1e-12)
    assert GRID[0] == 20.0


def test_grid_of_a_classifier_is_that_of_its_encoded_target():
    X, y, *_ = sample()
    labels = y > np.median(y)
    model = BKerNNClassifier(**FAST).fit(X, labels)
    share = labels.mean()
    reference = np.sqrt(share * (1 - share)) * np.sqrt(4) / len(X)
    assert model.alpha_search_["alpha"][0] == pytest.approx(20 * reference, rel=1e-9)


@pytest.mark.parametrize("shift", [10.0, 1000.0])
def test_automatic_alpha_does_not_depend_on_the_origin_of_the_columns(shift):
    # The kernels see differences of rows only.
    X, y, X_new, _ = sample()
    model = BKerNNRegressor(**FAST, standardize=False).fit(X, y)
    other = BKerNNRegressor(**FAST, standardize=False).fit(X + shift, y)
    grids = model.alpha_search_["alpha"][0], other.alpha_search_["alpha"][0]
    assert grids[0] == pytest.approx(grids[1], rel=1e-9)
    # The folds are cut along hashes of the rows, so that the chosen values differ a little.
    assert np.mean((other.predict(X_new + shift) - model.predict(X_new)) ** 2) < 0.05 * y.var()


# The curve


@pytest.mark.parametrize("noise", [0.01, 0.3, 3.0])
def test_choice_is_at_the_minimum_of_the_recorded_curve(noise):
    X, y, *_ = sample(noise=noise)
    model = BKerNNRegressor(**FAST, penalty="feature").fit(X, y)
    tried, losses = model.alpha_search_["alpha"], model.alpha_search_["loss"]
    assert tried.shape == losses.shape
    assert np.all(np.isfinite(losses))
    assert np.all(np.diff(tried) < 0)
    low = int(np.argmin(losses))
    neighbors = tried[max(low - 1, 0) : low + 2]
    assert neighbors.min() <= model.alpha_ <= neighbors.max()
    assert abs(np.log(model.alpha_ / tried[low])) <= 0.5 * np.log(np.sqrt(10)) + 1e-9


@pytest.mark.parametrize("noise", [0.05, 0.5])
def test_choice_is_nearly_the_best_of_the_grid_on_new_rows(noise):
    # Three folds of few rows are a noisy guide: on average over data sets, not on every one.
    ratios = []
    for seed in range(4):
        X, y, X_new, truth = sample(n=100, noise=noise, seed=seed)
        model = BKerNNRegressor(**FAST, penalty="feature").fit(X, y)
        chosen = np.mean((model.predict(X_new) - truth) ** 2)
        errors = [
            np.mean((BKerNNRegressor(**FAST, alpha=a).fit(X, y).predict(X_new) - truth) ** 2)
            for a in model.alpha_search_["alpha"]
        ]
        ratios.append(chosen / min(errors))
        assert chosen < 0.2 * max(errors)
    assert np.exp(np.mean(np.log(ratios))) < 2.5


def test_more_noise_asks_for_more_regularisation():
    alphas = []
    for noise in (0.02, 2.0):
        X, y, *_ = sample(n=90, noise=noise)
        model = BKerNNRegressor(**FAST).fit(X, y)
        alphas.append(model.alpha_ / y.std())
    assert alphas[0] < alphas[1]


def test_pure_noise_is_not_fitted():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((90, 4)), rng.standard_normal(90)
    model = BKerNNRegressor(**FAST).fit(X, y)
    assert np.var(model.predict(rng.standard_normal((200, 4)))) < 0.3 * y.var()


@pytest.mark.parametrize(
    ("losses", "expected"),
    [
        ([1.0, 2.0, 3.0], 0.0),
        ([3.0, 2.0, 1.0], 2.0),
        ([1.0], 0.0),
        ([2.0, 1.0, 2.0], 1.0),
        ([5.0, 0.0, 5.0], 1.0),
        ([1.0, 1.0, 1.0], 0.0),
    ],
)
def test_lowest_point_of_simple_curves(losses, expected):
    # Shifts are 10^-position, so the position is minus the logarithm of the answer.
    shifts = 10.0 ** -np.arange(len(losses))
    best = ValidationCurve(shifts, np.array(losses)).best()
    assert -np.log10(best) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("vertex", [0.6, 0.9, 1.0, 1.3])
def test_lowest_point_of_a_parabola_in_logarithms_is_its_vertex(vertex):
    position = np.arange(3.0)
    losses = np.exp(0.7 * (position - vertex) ** 2 - 2.0)
    best = ValidationCurve(10.0**-position, losses).best()
    assert -np.log10(best) == pytest.approx(vertex, rel=1e-12)


# Warm starts and degenerate sets


def test_warm_start_keeps_alpha_and_does_not_search_again(monkeypatch):
    X, y, *_ = sample()
    model = BKerNNRegressor(**FAST, warm_start=True, n_directions=2).fit(X, y)
    alpha = model.alpha_
    sizes = []
    evaluate = ReducedObjective.at

    def counted(self, W, **options):
        sizes.append(len(self.X))
        return evaluate(self, W, **options)

    monkeypatch.setattr(ReducedObjective, "at", counted)
    assert model.fit(X, y).alpha_ == alpha
    assert set(sizes) == {len(X)}, "no fold of the rows is fitted"


def test_folds_have_two_thirds_of_the_rows(monkeypatch):
    X, y, *_ = sample()
    sizes = []
    evaluate = ReducedObjective.at

    def counted(self, W, **options):
        sizes.append(len(self.X))
        return evaluate(self, W, **options)

    monkeypatch.setattr(ReducedObjective, "at", counted)
    BKerNNRegressor(**FAST).fit(X, y)
    assert set(sizes) == {40, 60}


@pytest.mark.parametrize("n_distinct", [1, 2, 3, 4])
def test_few_distinct_rows(n_distinct):
    X = np.repeat(np.arange(float(n_distinct)), 4)[:, None]
    y = X[:, 0] + np.tile([0.0, 0.1, 0.2, 0.3], n_distinct)
    model = BKerNNRegressor(**FAST).fit(X, y)
    assert np.isfinite(model.predict(X)).all()
    assert 0 < model.alpha_ < np.inf


def test_revival_mixes_in_a_tenth_of_the_size():
    rng = np.random.default_rng(0)
    W, fresh = rng.standard_normal((5, 3)), rng.standard_normal((5, 3))
    for size in (1.0, 100.0):
        move = revive(size * W, fresh) - size * W
        assert np.linalg.norm(move) == pytest.approx(0.1 * size * np.linalg.norm(W), rel=1e-9)
        cosine = np.vdot(move, fresh) / np.linalg.norm(move) / np.linalg.norm(fresh)
        assert cosine == pytest.approx(1.0, rel=1e-12)


def test_revival_of_nothing_is_a_little_and_by_nothing_is_a_copy():
    W, fresh = np.zeros((2, 2)), np.ones((2, 2))
    np.testing.assert_allclose(revive(W, fresh), 0.01 * fresh)
    same = revive(fresh, W)
    np.testing.assert_array_equal(same, fresh)
    assert same is not fresh


class Scripted:
    """Follows a path without learning; its losses on held-out rows are written down."""

    def __init__(self, rows, losses):
        self.rows, self.losses, self.last, self.problem = rows, iter(losses), None, None

    def advance(self, alpha):
        self.loss = next(self.losses)

    def ended(self, alpha):
        return self.loss


@pytest.mark.parametrize(
    ("losses", "followed"),
    [
        # Above the lowest one twice, and at the end by five percent.
        ([3.0, 2.0, 1.0, 1.01, 1.06, 0.5], 5),
        ([3.0, 2.0, 1.0, 1.2, 1.3, 0.5], 5),
        # A single rise, or a small one, may be noise.
        ([3.0, 2.0, 1.0, 1.2, 0.9, 0.8], 6),
        ([3.0, 2.0, 1.0, 1.01, 1.02, 1.03], 6),
    ],
)
def test_a_curve_is_followed_until_it_clearly_rises(losses, followed, monkeypatch):
    monkeypatch.setattr(path, "_held_out_loss", lambda loss, problem, test: loss)
    rows = canonical_rows(np.arange(4.0)[:, None], np.zeros((1, 4)), np.ones(4))
    curve = path.validation_curve([Scripted(rows, losses)], [rows], np.ones(6))
    np.testing.assert_allclose(curve.losses, np.array(losses[:followed]) / 4.0)

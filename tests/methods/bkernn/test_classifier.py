"""BKerNNClassifier: probabilities, labels, the oracle's objective, and what must not matter."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, softmax
from sklearn.datasets import load_iris

from kernlens import BKerNNClassifier
from kernlens.methods.bkernn import learner as particle_learning
from kernlens.methods.bkernn.objective import ReducedObjective
from kernlens.metrics import feature_learning_score
from kernlens.penalties import PENALTIES
from reference import bkernn

N_PARTICLES = 6
FAST = {
    "alpha": 0.02,
    "n_particles": N_PARTICLES,
    "max_iter": 5,
    "random_state": 0,
    "n_directions": 2,
    "n_jobs": 1,
}
n_classes_2_and_4 = pytest.mark.parametrize("n_classes", [2, 4])


def sample(n_classes=2, n=45, d=4, seed=0):
    """Classes by the distance from a hyperplane, with columns of different units."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * np.linspace(0.5, 3.0, d) + np.linspace(-2.0, 10.0, d)
    direction = np.linspace(1.0, 0.2, d) / np.linspace(0.5, 3.0, d)
    score = np.abs((X - X.mean(axis=0)) @ direction) + 0.2 * rng.standard_normal(n)
    return X, np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))


def fit(X, y, sample_weight=None, **options):
    return BKerNNClassifier(**{**FAST, **options}).fit(X, y, sample_weight=sample_weight)


def scores(model, X):
    return model.decision_function(X)


# Against the oracle


@n_classes_2_and_4
@pytest.mark.parametrize("kernel", ["brownian", "exponential", "gaussian"])
@pytest.mark.parametrize("penalty", ["feature", "concave_variable"])
def test_objective_and_decision_are_the_oracle_s(n_classes, kernel, penalty):
    X, y = sample(n_classes, n=30, d=3)
    weights = np.random.default_rng(1).uniform(0.2, 3.0, len(X))
    model = fit(X, y, weights, kernel=kernel, penalty=penalty, max_iter=3)
    W = np.zeros((N_PARTICLES, 3))
    W[: len(model.particles_)] = model.particles_
    one_hot = np.eye(n_classes)[y].T
    loss, encoded = ("logistic", one_hot[1:]) if n_classes == 2 else ("multinomial", one_hot)
    centered = X - model.mean_
    oracle = bkernn.fit(kernel, loss, W, centered, encoded, weights, 0.02)
    mean = np.average(X, axis=0, weights=weights)
    scale = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weights))
    # Concave penalties by name are measured in the root mean square of the loss's gradient.
    rest = encoded - np.average(encoded, axis=1, weights=weights)[:, None]
    s = 1 / np.sqrt(np.average(np.sum(rest**2, axis=0), weights=weights))
    omega = bkernn.omega(penalty, W * scale, s)
    assert model.objective_ == pytest.approx(oracle.value + 0.02 * omega, rel=1e-7)
    X_new = sample(n_classes, d=3, seed=5)[0]
    expected = bkernn.predict(kernel, W, centered, oracle, X_new - model.mean_)
    decision = np.atleast_2d(scores(model, X_new).T)
    np.testing.assert_allclose(decision, expected, atol=1e-4 * np.abs(expected).max())


@n_classes_2_and_4
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("optimizer", ["auto", "plain"])
def test_history_never_increases_and_ends_at_the_objective(n_classes, penalty, optimizer):
    X, y = sample(n_classes, n=30)
    model = fit(X, y, penalty=penalty, optimizer=optimizer, max_iter=4)
    assert len(model.objective_history_) > 1
    assert np.all(np.diff(model.objective_history_) <= 0)
    assert model.objective_ == pytest.approx(model.objective_history_[-1], rel=1e-6)


@n_classes_2_and_4
@pytest.mark.parametrize("penalty", ["feature", "concave_feature", "variable", "basic"])
def test_auto_goes_at_least_as_low_as_algorithm_1(n_classes, penalty):
    X, y = sample(n_classes)
    options = {"penalty": penalty, "max_iter": 6}
    auto, plain = fit(X, y, **options), fit(X, y, optimizer="plain", **options)
    assert auto.objective_ <= plain.objective_


def test_heavy_regularisation_leaves_the_shares_of_the_classes():
    for n_classes in (2, 4):
        X, y = sample(n_classes)
        weights = np.random.default_rng(0).uniform(0.5, 2.0, len(X))
        shares = np.bincount(y, weights=weights) / weights.sum()
        proba = fit(X, y, weights, alpha=1e4).predict_proba(X)
        np.testing.assert_allclose(proba, np.tile(shares, (len(X), 1)), atol=1e-4)


# Probabilities and labels


@n_classes_2_and_4
@pytest.mark.parametrize("alpha", [0.02, "auto", "heuristic"])
def test_decision_probabilities_and_labels_agree(n_classes, alpha):
    X, y = sample(n_classes, n=28)
    model = fit(X, y, alpha=alpha, n_particles=3)
    X_new = sample(seed=7, n=200)[0]
    decision, proba = scores(model, X_new), model.predict_proba(X_new)
    assert proba.shape == (200, n_classes)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-12)
    assert proba.min() >= 0
    if n_classes == 2:
        assert decision.shape == (200,)
        np.testing.assert_allclose(proba[:, 1], expit(decision), rtol=1e-12)
        np.testing.assert_array_equal(model.predict(X_new), (decision > 0).astype(int))
    else:
        np.testing.assert_allclose(proba, softmax(decision, axis=1), rtol=1e-12)
        np.testing.assert_allclose(decision.sum(axis=1), 0.0, atol=1e-6)
    # Classes may have the same probability where their scores differ in the last digit.
    chosen = np.searchsorted(model.classes_, model.predict(X_new))
    np.testing.assert_array_equal(proba[np.arange(200), chosen], proba.max(axis=1))


@n_classes_2_and_4
@pytest.mark.parametrize(
    "labels",
    [
        np.array(["delta", "alpha", "gamma", "beta"]),
        np.array(["delta", "alpha", "gamma", "beta"], dtype=object),
        np.array([7, -3, 100, 0]),
        np.array([2.0, -1.0, 5.0, 3.0]),
    ],
)
def test_labels_of_any_kind_come_back(n_classes, labels):
    X, y = sample(n_classes)
    named = labels[:n_classes][y]
    model = fit(X, named)
    np.testing.assert_array_equal(model.classes_, np.unique(named))
    assert set(model.predict(X)) <= set(labels[:n_classes])
    assert model.score(X, named) > 0.8
    assert model.predict(X).dtype == named.dtype


def test_two_booleans():
    X, y = sample(2)
    model = fit(X, y.astype(bool))
    assert model.predict(X).dtype == bool
    np.testing.assert_array_equal(model.predict(X), fit(X, y).predict(X).astype(bool))


def test_names_that_keep_the_order_of_the_classes_change_nothing():
    X, y = sample(4)
    model, named = fit(X, y), fit(X, np.array(["a", "b", "c", "d"])[y])
    np.testing.assert_array_equal(named.predict_proba(X), model.predict_proba(X))


def test_swapping_two_classes_swaps_the_probabilities():
    X, y = sample(2)
    options = {"init": np.random.default_rng(0).standard_normal((N_PARTICLES, 4))}
    np.testing.assert_allclose(
        fit(X, 1 - y, **options).predict_proba(X),
        fit(X, y, **options).predict_proba(X)[:, ::-1],
        atol=1e-7,
    )


def test_permuted_classes_permute_the_probabilities():
    X, y = sample(4)
    order = np.array([2, 0, 3, 1])
    model, other = fit(X, y, max_iter=2), fit(X, order[y], max_iter=2)
    # The multinomial inner problem is solved to 1e-7, which the steps on the particles amplify.
    np.testing.assert_allclose(
        other.predict_proba(X)[:, order], model.predict_proba(X), rtol=0, atol=1e-4
    )


def test_three_classes_of_iris():
    X, y = load_iris(return_X_y=True)
    model = BKerNNClassifier(n_particles=3, random_state=0, n_jobs=1).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.9


def test_a_class_of_weight_zero_is_known_but_never_predicted():
    X, y = sample(4)
    model = fit(X, y, (y != 2).astype(float))
    np.testing.assert_array_equal(model.classes_, [0, 1, 2, 3])
    assert model.predict_proba(X)[:, 2].max() < 1e-3
    assert 2 not in model.predict(X)


@pytest.mark.parametrize("alpha", [0.02, "auto"])
def test_a_class_with_a_single_row(alpha):
    X, y = sample(2, n=24)
    y = np.where(np.arange(24) == 5, 2, y)
    proba = fit(X, y, alpha=alpha, n_particles=3).predict_proba(X)
    assert np.isfinite(proba).all()
    # At its row the class is at least as probable as elsewhere on average.
    assert proba[5, 2] >= proba[:, 2].mean() * (1 - 1e-9)


def test_planted_direction_is_found():
    rng = np.random.default_rng(0)
    P = np.linalg.qr(rng.standard_normal((5, 1)))[0].T
    X = rng.uniform(-2, 2, (150, 5))
    y = np.abs(X @ P[0]) > 0.8
    model = BKerNNClassifier(n_particles=10, random_state=0, n_jobs=1).fit(X, y)
    assert feature_learning_score(P, model.components_) > 0.95
    X_new = rng.uniform(-2, 2, (400, 5))
    assert model.score(X_new, np.abs(X_new @ P[0]) > 0.8) > 0.9


def test_partial_functions_add_up_to_the_log_odds():
    x = np.linspace(-1.0, 3.0, 21)
    y = (np.abs(x) > 0.8).astype(int)
    model = fit(x[:, None], y)
    parts = model.partial_functions(n_points=41)
    total = np.full(21, parts.constant[0])
    for direction, grid, values in zip(parts.directions, parts.grid, parts.values, strict=True):
        total += np.interp((x[:, None] - parts.offset) @ direction, grid, values[:, 0])
    np.testing.assert_allclose(total, scores(model, x[:, None]), atol=1e-10)


# What must not matter


@n_classes_2_and_4
@pytest.mark.parametrize("alpha", [0.02, "auto", "heuristic"])
def test_order_of_the_rows_does_not_matter_at_all(n_classes, alpha):
    X, y = sample(n_classes, n=28)
    options = {"alpha": alpha, "n_particles": 3, "max_iter": 3}
    model = fit(X, y, **options)
    order = np.random.default_rng(1).permutation(len(X))
    moved = fit(X[order], y[order], **options)
    np.testing.assert_array_equal(scores(moved, X), scores(model, X))
    np.testing.assert_array_equal(moved.components_, model.components_)


@n_classes_2_and_4
@pytest.mark.parametrize("alpha", [0.02, "auto", "heuristic"])
def test_integer_weights_are_repetitions_and_zeros_are_removals(n_classes, alpha):
    X, y = sample(n_classes, n=28)
    counts = np.random.default_rng(0).integers(0, 4, len(X))
    rows = np.repeat(np.arange(len(X)), counts)
    options = {"alpha": alpha, "n_particles": 2, "max_iter": 3}
    weighted = fit(X, y, counts.astype(float), **options)
    repeated = fit(X[rows], y[rows], **options)
    np.testing.assert_array_equal(scores(weighted, X), scores(repeated, X))
    assert weighted.alpha_ == repeated.alpha_


@pytest.mark.parametrize("penalty", PENALTIES)
def test_order_and_units_of_the_columns_do_not_matter(penalty):
    X, y = sample(2)
    W = np.random.default_rng(1).standard_normal((N_PARTICLES, 4)) / 2
    order, units = np.array([2, 0, 3, 1]), np.array([10.0, 0.1, 3.0, 1e6])
    model = fit(X, y, penalty=penalty, init=W)
    moved = fit(X[:, order] * units - 3.0, y, penalty=penalty, init=W[:, order])
    np.testing.assert_allclose(
        scores(moved, X[:, order] * units - 3.0), scores(model, X), rtol=0, atol=1e-6
    )


@pytest.mark.parametrize("penalty", ["basic", "feature"])
def test_rotations_of_the_rows_rotate_the_components(penalty):
    X, y = sample(2)
    rng = np.random.default_rng(1)
    Q = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    W = rng.standard_normal((N_PARTICLES, 4)) / 2
    options = {"penalty": penalty, "standardize": False, "n_directions": 1}
    model, turned = fit(X, y, init=W, **options), fit(X @ Q, y, init=W @ Q, **options)
    np.testing.assert_allclose(scores(turned, X @ Q), scores(model, X), rtol=0, atol=1e-6)
    assert abs(model.components_[0] @ Q @ turned.components_[0]) == pytest.approx(1.0, abs=1e-8)


@n_classes_2_and_4
def test_number_of_threads_does_not_change_a_bit(n_classes, monkeypatch):
    monkeypatch.setattr("kernlens._execution.SERIAL_WORK", 0)
    monkeypatch.setattr("kernlens.linalg.projected_kernel_operator.SERIAL_WORK", 0)
    # Two blocks of particles; few iterations, as starting a thread costs more than its block.
    X, y = sample(n_classes, n=20)
    options = {"n_particles": 10, "max_iter": 1}
    one, two = fit(X, y, n_jobs=1, **options), fit(X, y, n_jobs=2, **options)
    np.testing.assert_array_equal(scores(two, X), scores(one, X))
    np.testing.assert_array_equal(two.particles_, one.particles_)


@n_classes_2_and_4
def test_same_seed_same_result(n_classes):
    X, y = sample(n_classes)
    one, two = fit(X, y), fit(X, y)
    np.testing.assert_array_equal(scores(one, X), scores(two, X))
    assert fit(X, y, random_state=1).particles_.tolist() != one.particles_.tolist()


def test_inputs_are_left_alone():
    X, y = sample(4)
    weights = np.ones(len(X))
    arrays = (X, y, weights)
    copies = [array.copy() for array in arrays]
    for array in arrays:
        array.flags.writeable = False
    model = fit(X, y, weights, max_iter=2)
    model.predict_proba(X)
    for array, copy in zip(arrays, copies, strict=True):
        np.testing.assert_array_equal(array, copy)


# Starting again and many rows


def count_evaluations(monkeypatch):
    sizes: list[int] = []
    evaluate = ReducedObjective.at

    def counted(self, W, **options):
        sizes.append(len(self.X))
        return evaluate(self, W, **options)

    monkeypatch.setattr(ReducedObjective, "at", counted)
    return sizes


@n_classes_2_and_4
def test_warm_start_costs_less_and_is_not_worse(n_classes, monkeypatch):
    X, y = sample(n_classes)
    model = BKerNNClassifier(**{**FAST, "warm_start": True, "max_iter": 20})
    sizes = count_evaluations(monkeypatch)
    first = model.fit(X, y).objective_
    cold = len(sizes)
    assert model.fit(X, y).objective_ <= first * (1 + 1e-9)
    assert len(sizes) - cold < 0.5 * cold


def test_refit_with_other_columns_and_classes():
    X, y = sample(4)
    model = fit(X, y)
    again = fit(X[:, :2], y > 1).fit(X, y)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


@n_classes_2_and_4
def test_many_rows_are_learned_on_parts_of_them(n_classes, monkeypatch):
    X, y = sample(n_classes, n=4500)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(X))
    monkeypatch.setattr(particle_learning, "PART_ROWS", 1000)
    sizes = count_evaluations(monkeypatch)
    model = fit(X, y, weights, alpha=1e-3, max_iter=1, n_particles=3)
    assert set(sizes) == {1000, 4500}
    assert model.score(X, y) > (0.85 if n_classes == 2 else 0.6)

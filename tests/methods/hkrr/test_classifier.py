"""HKRRClassifier: its probabilities against the oracle, planted maps, and what must not matter."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, softmax
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_score

from kernlens import Constraint, HKRRClassifier, RandomMaps
from kernlens.kernels.radial import RADIAL_KERNELS
from kernlens.linalg.whitened_features import JITTER
from kernlens.metrics import feature_learning_score
from reference import hkrr

FAST = {
    "alpha": 1e-2,
    "n_components": 2,
    "centers": 15,
    "refit": None,
    "init": 2,
    "max_iter": 5,
    "random_state": 0,
    "n_directions": 2,
    "n_jobs": 1,
}
#: No rows are drawn, and the end is a minimum: what a theorem says of minima holds to many digits.
MINIMUM = {"centers": 1000, "init": RandomMaps(1), "max_iter": 300, "tol": 1e-12}
METHODS = ["varpro", "varpro_gradient", "agd"]
SEARCHES = [{}, {"refit": 20}, {"alpha": [1e-1, 1e-3], "n_components": [1, 2]}]
n_classes_2_and_3 = pytest.mark.parametrize("n_classes", [2, 3])


def sample(n_classes=2, n=45, seed=0, noise=0.3):
    """Columns of different units; the classes are intervals of one direction."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3)) * [0.5, 1.0, 3.0] + [-2.0, 10.0, 0.0]
    z = (X - [-2.0, 10.0, 0.0]) @ [2.0, 1.0, -1.0 / 3.0] / np.sqrt(3.0)
    z += noise * rng.standard_normal(n)
    return X, np.digitize(z, [0.0] if n_classes == 2 else [-0.5, 0.5])


def fit(X, y, sample_weight=None, **options):
    return HKRRClassifier(**{**FAST, **options}).fit(X, y, sample_weight=sample_weight)


def rows_of_targets(scores):
    """Decision values as the oracle has them, (n_targets, n_samples)."""
    return np.atleast_2d(scores.T)


# Against the oracle


@n_classes_2_and_3
@pytest.mark.parametrize("kernel", RADIAL_KERNELS)
def test_decision_and_objective_are_the_oracle_s(n_classes, kernel):
    X, y = sample(n_classes, n=30)
    weights = np.random.default_rng(1).uniform(0.2, 3.0, 30)
    model = fit(X, y, weights, kernel=kernel, centers=6)
    one_hot = np.eye(n_classes)[y].T
    loss, encoded = ("logistic", one_hot[1:]) if n_classes == 2 else ("multinomial", one_hot)
    B = model.projection_ / model.length_scale_
    K = hkrr.kernel_matrix(kernel, B, X, model.centers_)
    Kzz = hkrr.center_matrix(kernel, B, model.centers_, JITTER)
    data = (encoded, weights, model.alpha_)
    # The map is learned by squares, and the last fit has the loss of classes.
    a, c = hkrr.polished_coefficients("squared", K, Kzz, *data)
    value = hkrr.fixed_kernel_objective("squared", K, Kzz, a, c, *data)
    assert model.objective_ == pytest.approx(value, rel=1e-7)
    a, c = hkrr.polished_coefficients(loss, K, Kzz, *data)
    expected = softmax(a @ K.T + c[:, None], axis=0) if n_classes > 2 else a @ K.T + c[:, None]
    found = rows_of_targets(model.decision_function(X))
    # Scores of several classes are known up to a constant.
    found = softmax(found, axis=0) if n_classes > 2 else found
    np.testing.assert_allclose(found, expected, atol=1e-5)


@n_classes_2_and_3
@pytest.mark.parametrize("optimizer", METHODS)
@pytest.mark.parametrize(
    "options",
    [{}, {"constraint": Constraint(trace_norm=0.05)}, {"constraint": Constraint(max_norm=1.0)}],
)
def test_history_never_increases_and_ends_at_the_objective(n_classes, optimizer, options):
    X, y = sample(n_classes)
    model = fit(X, y, optimizer=optimizer, max_iter=20, **options)
    assert len(model.objective_history_) > model.n_iter_ > 0
    assert np.all(np.diff(model.objective_history_) <= 0)
    assert model.objective_ == pytest.approx(model.objective_history_[-1], rel=1e-9)
    if options.get("constraint") == Constraint(max_norm=1.0):
        assert np.linalg.norm(model.projection_ * X.std(axis=0), 2) <= 1 + 1e-9


# Probabilities


def test_two_classes_have_log_odds():
    X, y = sample()
    model = fit(X, y)
    scores, proba = model.decision_function(X), model.predict_proba(X)
    assert scores.shape == (45,)
    np.testing.assert_allclose(proba[:, 1], expit(scores), rtol=1e-12)
    np.testing.assert_allclose(np.log(proba[:, 1] / proba[:, 0]), scores, atol=1e-9)
    np.testing.assert_array_equal(model.predict(X), scores > 0)
    assert model.dual_coef_.shape == (1, 15)


def test_three_classes_have_scores_whose_softmax_are_the_probabilities():
    X, y = sample(3)
    model = fit(X, y)
    scores, proba = model.decision_function(X), model.predict_proba(X)
    assert scores.shape == proba.shape == (45, 3)
    np.testing.assert_allclose(proba, softmax(scores, axis=1), rtol=1e-12)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(X), proba.argmax(axis=1))
    assert model.dual_coef_.shape == (3, 15)


@n_classes_2_and_3
def test_mean_probabilities_are_the_shares_of_the_classes(n_classes):
    # The optimality condition of the intercepts.
    X, y = sample(n_classes)
    weights = np.random.default_rng(1).uniform(0.2, 3.0, 45)
    proba = fit(X, y, weights).predict_proba(X)
    shares = [np.average(y == k, weights=weights) for k in range(n_classes)]
    np.testing.assert_allclose(np.average(proba, axis=0, weights=weights), shares, atol=1e-6)


@n_classes_2_and_3
def test_a_large_alpha_leaves_the_shares_of_the_classes(n_classes):
    X, y = sample(n_classes)
    proba = fit(X, y, alpha=1e6).predict_proba(X)
    shares = np.bincount(y) / len(y)
    np.testing.assert_allclose(proba, np.tile(shares, (45, 1)), atol=1e-4)


def test_probabilities_of_noisy_labels_lie_between_their_shares():
    # A third of the labels is flipped: no row should be given much more than two thirds.
    X, clean = sample(n=600, noise=0.0)
    flipped = np.random.default_rng(3).random(600) < 1 / 3
    proba = fit(X, np.where(flipped, 1 - clean, clean)).predict_proba(X)[:, 1]
    assert np.mean((proba > 0.5) == clean) > 0.9
    assert 0.55 < proba[clean == 1].mean() < 0.75
    assert 0.25 < proba[clean == 0].mean() < 0.45


# Labels


@n_classes_2_and_3
def test_labels_may_be_anything(n_classes):
    X, y = sample(n_classes)
    expected = fit(X, y)
    for names in (["ant", "bee", "cow"], [-5, 0, 7], [1.0, 2.0, 3.0]):
        labels = np.array(names[:n_classes])[y]
        model = fit(X, labels)
        np.testing.assert_array_equal(model.classes_, names[:n_classes])
        np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))
        assert set(model.predict(X)) <= set(names)
        assert model.score(X, labels) == expected.score(X, y)
    if n_classes == 2:
        model = fit(X, y.astype(bool))
        assert model.predict(X).dtype == bool


def test_exchanged_labels_exchange_the_probabilities():
    X, y = sample()
    one, other = fit(X, y, **MINIMUM), fit(X, 1 - y, **MINIMUM)
    np.testing.assert_allclose(other.predict_proba(X), one.predict_proba(X)[:, ::-1], atol=1e-5)


def test_a_class_of_weight_zero_is_known_but_never_predicted():
    X, y = sample(3)
    model = fit(X, y, (y != 1).astype(float))
    np.testing.assert_array_equal(model.classes_, [0, 1, 2])
    assert model.predict_proba(X)[:, 1].max() < 1e-3
    assert 1 not in model.predict(X)


@pytest.mark.parametrize("options", [{}, {"alpha": "auto"}, {"refit": 20}])
def test_a_class_with_a_single_row(options):
    X, y = sample(n=24)
    y = np.where(np.arange(24) == 5, 2, y)
    proba = fit(X, y, **options).predict_proba(X)
    assert np.isfinite(proba).all()
    assert proba[5, 2] >= proba[:, 2].mean() * (1 - 1e-6)


# Planted maps


@pytest.mark.parametrize("optimizer", ["auto", "varpro_gradient", "agd"])
def test_planted_direction_is_found(optimizer):
    X, y = sample(n=250, noise=0.05)
    model = fit(X, y, n_components=1, centers=30, alpha=1e-3, optimizer=optimizer, max_iter=50)
    # z = (x - m) . v depends on x through v.
    direction = np.array([[2.0, 1.0, -1.0 / 3.0]])
    assert feature_learning_score(direction, model.components_) > 0.98
    X_new, y_new = sample(n=500, seed=1, noise=0.0)
    assert model.score(X_new, y_new) > 0.95


def test_a_curved_boundary_in_a_plane_of_five():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 5))
    P = np.linalg.qr(rng.standard_normal((5, 2)))[0].T
    y = np.linalg.norm(X @ P.T, axis=1) > 1.2
    model = fit(X[:300], y[:300], alpha=1e-3, centers=40, max_iter=50)
    assert feature_learning_score(P, model.components_) > 0.95
    assert model.score(X[300:], y[300:]) > 0.9


@n_classes_2_and_3
@pytest.mark.parametrize("alpha", [1e-2, 1e-6, [1e-1, 1e-3]])
def test_separable_classes(n_classes, alpha):
    # Without a bound on the log-odds but for alpha: they stay finite and the rows are told apart.
    X, y = sample(n_classes, n=60, noise=0.0)
    X[:, 0] += 10.0 * y
    model = fit(X, y, alpha=alpha)
    assert model.score(X, y) == 1.0
    proba = model.predict_proba(X)
    assert np.isfinite(model.decision_function(X)).all()
    assert np.all((proba >= 0) & (proba <= 1))


@pytest.mark.parametrize("alpha", [0.4, [1.0, 0.1, 1e-3]])
def test_given_alphas_are_tried_however_easy_the_classes_are(alpha):
    X, y = sample(n=60, noise=0.0)
    X[:, 0] += 50.0 * y
    model = fit(X, y, alpha=alpha, refit=20)
    assert set(model.alpha_search_["alpha"]) == set(np.atleast_1d(alpha))


def test_iris():
    X, y = load_iris(return_X_y=True)
    model = HKRRClassifier(**{**FAST, "alpha": [1e-1, 1e-2, 1e-3], "max_iter": 20})
    assert cross_val_score(model, X, y, cv=3).mean() > 0.94


# What must not matter


@pytest.mark.parametrize(
    ("n_classes", "options"), [*((2, options) for options in SEARCHES), (3, {}), (3, {"refit": 20})]
)
def test_order_of_the_rows_does_not_matter_at_all(n_classes, options):
    X, y = sample(n_classes)
    model = fit(X, y, **options)
    order = np.random.default_rng(1).permutation(len(X))
    moved = fit(X[order], y[order], **options)
    np.testing.assert_array_equal(moved.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize(
    ("n_classes", "options"), [*((2, options) for options in SEARCHES), (3, {}), (3, {"refit": 20})]
)
def test_integer_weights_are_repetitions_and_zeros_are_removals(n_classes, options):
    X, y = sample(n_classes)
    counts = np.random.default_rng(0).integers(0, 4, len(X))
    rows = np.repeat(np.arange(len(X)), counts)
    weighted = fit(X, y, counts.astype(float), **options)
    repeated = fit(X[rows], y[rows], **options)
    np.testing.assert_array_equal(weighted.decision_function(X), repeated.decision_function(X))
    assert weighted.alpha_ == repeated.alpha_


@n_classes_2_and_3
def test_units_of_the_columns_do_not_matter_when_standardised(n_classes):
    X, y = sample(n_classes)
    moved = X * [10.0, 0.1, 1e6] + [5.0, -2.0, 1e6]
    model, other = fit(X, y, **MINIMUM), fit(moved, y, **MINIMUM)
    np.testing.assert_allclose(other.predict_proba(moved), model.predict_proba(X), atol=1e-5)
    np.testing.assert_allclose(other.feature_importances_, model.feature_importances_, atol=1e-4)


def test_rotations_of_the_rows_rotate_the_map():
    X, y = sample()
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    rng = np.random.default_rng(1)
    Q = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    W = rng.standard_normal((2, 3))
    options = {**MINIMUM, "standardize": False}
    model = fit(X, y, **{**options, "init": W})
    turned = fit(X @ Q, y, **{**options, "init": W @ Q})
    np.testing.assert_allclose(turned.predict_proba(X @ Q), model.predict_proba(X), atol=1e-5)


def test_number_of_threads_does_not_change_a_bit(monkeypatch):
    monkeypatch.setattr("kernlens._execution.SERIAL_WORK", 0)
    monkeypatch.setattr("kernlens.linalg.kernel_blocks.BLOCK_ENTRIES", 1)
    X, y = sample(n=200)
    options = {"alpha": 1.0, "n_components": 1, "max_iter": 1}
    one = fit(X, y, n_jobs=1, **options)
    other = fit(X, y, n_jobs=2, **options)
    np.testing.assert_array_equal(other.decision_function(X), one.decision_function(X))


@n_classes_2_and_3
def test_same_seed_same_result(n_classes):
    X, y = sample(n_classes)
    one, two, other = (fit(X, y, random_state=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))
    assert np.abs(one.projection_ - other.projection_).max() > 1e-6


@n_classes_2_and_3
def test_more_components_than_columns_and_more_centres_than_rows(n_classes):
    X, y = sample(n_classes)
    wide = fit(X, y, n_components=50, centers=500)
    full = fit(X, y, n_components=3, centers=45)
    np.testing.assert_array_equal(wide.decision_function(X), full.decision_function(X))


@n_classes_2_and_3
@pytest.mark.parametrize("refit", [25, "exact"])
def test_last_fit(n_classes, refit):
    X, y = sample(n_classes)
    model = fit(X, y, refit=refit)
    assert len(model.centers_) == (45 if refit == "exact" else refit)
    assert model.score(X, y) > 0.75
    table = model.alpha_search_
    assert np.all(table["loss"] > 0)


def test_the_chosen_settings_have_the_lowest_loss():
    X, y = sample(n=80)
    model = fit(X, y, alpha=[1.0, 1e-2], n_components=[1, 3])
    table = model.alpha_search_
    assert set(table["alpha"]) == {1.0, 1e-2}
    assert set(table["n_components"]) == {1, 3}
    best = np.argmin(table["loss"])
    assert (model.alpha_, model.n_components_) == (
        table["alpha"][best],
        table["n_components"][best],
    )
    assert model.alpha_ == 1e-2


@n_classes_2_and_3
def test_warm_start_goes_on(n_classes):
    X, y = sample(n_classes)
    model = fit(X, y, warm_start=True, max_iter=2, tol=0.0)
    values = [model.objective_]
    for _ in range(3):
        values.append(model.fit(X, y).objective_)
    assert np.all(np.diff(values) <= 1e-7 * values[0])
    assert values[-1] < values[0]


def test_warm_start_with_another_number_of_classes():
    X, y = sample(3)
    model = fit(X, y, warm_start=True)
    two = model.fit(X, y > 0)
    assert two.decision_function(X).shape == (45,)
    assert two.score(X, y > 0) > 0.75

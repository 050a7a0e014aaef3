"""BKerNNRegressor: its objective and predictions against the oracle, and what must not matter."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from kernlens import BKerNNRegressor
from kernlens._execution import effective_n_jobs
from kernlens._invariance import leading_digits
from kernlens.losses import HuberLoss
from kernlens.methods.bkernn import learner as particle_learning
from kernlens.methods.bkernn.objective import ReducedObjective
from kernlens.metrics import feature_learning_score
from kernlens.penalties import PENALTIES, ConcaveFeaturePenalty
from reference import bkernn

ROTATION_INVARIANT = ["basic", "feature", "concave_feature"]
N_PARTICLES = 10
FAST = {
    "alpha": 0.02,
    "n_particles": N_PARTICLES,
    "max_iter": 10,
    "random_state": 0,
    "n_directions": 2,
    "n_jobs": 1,
}


def sample(n=45, d=4, seed=0, noise=0.1):
    """Columns of different units; the target depends on one direction."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * np.linspace(0.5, 3.0, d) + np.linspace(-2.0, 10.0, d)
    direction = np.linspace(1.0, 0.2, d) / np.linspace(0.5, 3.0, d)
    return X, np.abs((X - X.mean(axis=0)) @ direction) + noise * rng.standard_normal(n)


def planted(n, d, k, seed):
    """A target of k orthonormal directions, which are returned."""
    rng = np.random.default_rng(seed)
    P = np.linalg.qr(rng.standard_normal((d, k)))[0].T
    X = rng.uniform(-2, 2, (n, d))
    Z = X @ P.T
    y = 2 * np.abs(Z[:, 0]) + (2 * np.sin(2 * Z[:, 1]) if k == 2 else 0.0)
    return X, y + 0.1 * rng.standard_normal(n), P


def fit(X, y, sample_weight=None, **options):
    return BKerNNRegressor(**{**FAST, **options}).fit(X, y, sample_weight=sample_weight)


def all_particles(model):
    """The fitted particles in the units of X, with those at zero."""
    W = np.zeros((model.n_particles, model.n_features_in_))
    W[: len(model.particles_)] = model.particles_
    return W


def inputs_of(model, X):
    """Standardised rows as a fit sees them."""
    return leading_digits((X - model.mean_) / model.scale_)


def targets_of(y, weights=None):
    """Standardised targets (n_targets, n_samples) as a fit sees them."""
    mean = np.average(y, axis=-1, weights=weights)[..., None]
    scale = np.sqrt(np.average((y - mean) ** 2, axis=-1, weights=weights))[..., None]
    return leading_digits(np.atleast_2d((y - mean) / scale).T).T


def concavity(t, weights):
    """Of the concave penalties by name: one over the standard deviation, which is rounded, too."""
    centered = t - np.average(t, weights=weights)
    return 1 / np.sqrt(np.average(centered**2, weights=weights))


def oracle_of(model, loss, X, t, weights=None):
    """The oracle for the particles of a model and standardised targets."""
    weights = np.ones(len(X)) if weights is None else weights
    W = all_particles(model) * model.scale_
    return bkernn.fit(model.kernel, loss, W, inputs_of(model, X), t, weights, model.alpha_)


def standardized_predictions(model, X, y, weights=None):
    """Predictions (n_targets, n_samples) in the units of the fit."""
    mean = np.average(y, axis=-1, weights=weights)[..., None]
    scale = np.sqrt(np.average((y - mean) ** 2, axis=-1, weights=weights))[..., None]
    return (model.predict(X).T - mean) / scale


# Against the oracle


@pytest.mark.parametrize("kernel", ["brownian", "exponential", "gaussian"])
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("optimizer", ["auto", "plain"])
def test_objective_and_predictions_are_the_oracle_s(kernel, penalty, optimizer):
    X, y = sample(n=30)
    weights = np.random.default_rng(1).uniform(0.2, 3.0, 30)
    model = fit(X, y, weights, kernel=kernel, penalty=penalty, optimizer=optimizer)
    oracle = oracle_of(model, "squared", X, targets_of(y, weights), weights)
    W = all_particles(model) * model.scale_
    omega = bkernn.omega(penalty, W, concavity(targets_of(y, weights)[0], weights))
    assert model.objective_ == pytest.approx(oracle.value + 0.02 * omega, rel=1e-9)
    X_new = sample(seed=9)[0]
    rows = (X_new - model.mean_) / model.scale_
    expected = bkernn.predict(kernel, W, inputs_of(model, X), oracle, rows)[0]
    found = standardized_predictions(model, X_new, y, weights)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8)


def test_huber_with_a_given_delta_is_the_oracle_s():
    X, y = sample(n=40)
    y[::7] += 20.0
    # The oracle bends at 1: in the units of y that is its standard deviation.
    model = fit(X, y, loss=HuberLoss(y.std()))
    oracle = oracle_of(model, "huber", X, targets_of(y))
    omega = bkernn.omega("feature", all_particles(model) * model.scale_, 1.0)
    assert model.objective_ == pytest.approx(oracle.value + 0.02 * omega, rel=1e-8)
    found = standardized_predictions(model, X, y)
    np.testing.assert_allclose(found, oracle.decision[0], atol=1e-5)


def test_given_penalty_object_is_used():
    X, y = sample(n=40)
    model = fit(X, y, penalty=ConcaveFeaturePenalty(s=3.0, strength=0.5))
    oracle = oracle_of(model, "squared", X, targets_of(y))
    omega = bkernn.omega("concave_feature", all_particles(model) * model.scale_, 3.0)
    assert model.objective_ == pytest.approx(oracle.value + 0.02 * 0.5 * omega, rel=1e-9)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_plain_is_algorithm_1(penalty):
    X, y = sample(n=25, d=3)
    W = np.random.default_rng(1).standard_normal((5, 3))
    model = fit(
        X, y, penalty=penalty, optimizer="plain", n_particles=5, init=W, max_iter=4, tol=0.0
    )
    path, objectives = bkernn.algorithm_1(
        penalty, W, inputs_of(model, X), targets_of(y), 0.02, n_iter=4, s=1.0
    )
    np.testing.assert_allclose(model.objective_history_, objectives, rtol=1e-7)
    alive = path[-1][np.any(path[-1] != 0, axis=1)]
    np.testing.assert_allclose(model.particles_ * X.std(axis=0), alive, atol=1e-5)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("optimizer", ["auto", "plain"])
def test_history_never_increases_and_ends_at_the_objective(penalty, optimizer):
    X, y = sample()
    model = fit(X, y, penalty=penalty, optimizer=optimizer, max_iter=50)
    assert len(model.objective_history_) > 1
    assert np.all(np.diff(model.objective_history_) <= 0)
    assert model.objective_ == pytest.approx(model.objective_history_[-1], rel=1e-7)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("max_iter", [10, 50])
def test_auto_goes_at_least_as_low_as_algorithm_1(penalty, max_iter):
    # On the whole: a single fit of either may end in a higher minimum than the other.
    options = {"penalty": penalty, "max_iter": max_iter, "n_particles": 15}
    autos, plains = [], []
    for seed, k in ((0, 1), (1, 2), (2, 2), (3, 1)):
        X, y, _ = planted(80, 5, k, seed)
        autos.append(fit(X, y, **options).objective_)
        plains.append(fit(X, y, optimizer="plain", **options).objective_)
    assert np.mean(autos) <= np.mean(plains)
    assert fit(X, y, optimizer="lbfgs", **options).objective_ == autos[-1]


def test_small_alpha_interpolates_and_large_alpha_is_the_mean():
    X, y = sample()
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(X))
    np.testing.assert_allclose(fit(X, y, weights, alpha=1e-10).predict(X), y, atol=1e-5)
    heavy = fit(X, y, weights, alpha=1e6)
    np.testing.assert_allclose(heavy.predict(X), np.average(y, weights=weights), rtol=1e-5)


# What must not matter


@pytest.mark.parametrize("alpha", [0.02, "auto", "heuristic"])
@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_order_of_the_rows_does_not_matter_at_all(alpha, loss):
    X, y = sample()
    options = {"alpha": alpha, "loss": loss, "n_particles": 4}
    model = fit(X, y, **options)
    order = np.random.default_rng(1).permutation(len(X))
    moved = fit(X[order], y[order], **options)
    np.testing.assert_array_equal(moved.predict(X), model.predict(X))
    np.testing.assert_array_equal(moved.components_, model.components_)


@pytest.mark.parametrize("alpha", [0.02, "auto", "heuristic"])
@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_integer_weights_are_repetitions_and_zeros_are_removals(alpha, loss):
    X, y = sample()
    counts = np.random.default_rng(0).integers(0, 4, len(X))
    rows = np.repeat(np.arange(len(X)), counts)
    options = {"alpha": alpha, "loss": loss, "n_particles": 4}
    weighted = fit(X, y, counts.astype(float), **options)
    repeated = fit(X[rows], y[rows], **options)
    np.testing.assert_array_equal(weighted.predict(X), repeated.predict(X))
    assert weighted.alpha_ == repeated.alpha_


def test_default_huber_delta_counts_weights_even_if_most_targets_are_equal():
    X, y = sample()
    y[:30] = 0.0
    counts = np.random.default_rng(0).integers(0, 3, len(X))
    rows = np.repeat(np.arange(len(X)), counts)
    weighted = fit(X, y, counts.astype(float), loss="huber")
    repeated = fit(X[rows], y[rows], loss="huber")
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-9)


def test_weights_matter():
    X, y = sample()
    weights = np.random.default_rng(0).uniform(0.1, 5.0, len(X))
    assert np.abs(fit(X, y, weights).predict(X) - fit(X, y).predict(X)).max() > 1e-3


@pytest.mark.parametrize("penalty", PENALTIES)
def test_order_of_the_columns_does_not_matter(penalty):
    X, y = sample()
    W = np.random.default_rng(1).standard_normal((N_PARTICLES, 4)) / 2
    order = np.array([2, 0, 3, 1])
    model = fit(X, y, penalty=penalty, init=W)
    moved = fit(X[:, order], y, penalty=penalty, init=W[:, order])
    np.testing.assert_allclose(moved.predict(X[:, order]), model.predict(X), atol=1e-10)
    np.testing.assert_allclose(
        moved.feature_importances_, model.feature_importances_[order], atol=1e-10
    )


@pytest.mark.parametrize("penalty", PENALTIES)
def test_units_of_the_columns_do_not_matter_when_standardised(penalty):
    X, y = sample()
    units, origin = np.array([10.0, 0.1, 3.0, 1e6]), np.array([5.0, -2.0, 0.0, 1e6])
    model, other = fit(X, y, penalty=penalty), fit(X * units + origin, y, penalty=penalty)
    np.testing.assert_allclose(other.predict(X * units + origin), model.predict(X), atol=1e-9)
    np.testing.assert_allclose(other.feature_importances_, model.feature_importances_, atol=1e-9)


def test_a_shift_of_the_columns_does_not_matter_without_standardisation():
    X, y = sample()
    shifted = fit(X + 7.0, y, standardize=False)
    np.testing.assert_allclose(
        shifted.predict(X + 7.0), fit(X, y, standardize=False).predict(X), atol=1e-10
    )


@pytest.mark.parametrize("penalty", ROTATION_INVARIANT)
@pytest.mark.parametrize("optimizer", ["auto", "plain"])
def test_rotations_of_the_rows_rotate_the_components(penalty, optimizer):
    X, y, _ = planted(60, 4, 2, seed=0)
    rng = np.random.default_rng(1)
    Q = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    W = rng.standard_normal((N_PARTICLES, 4))
    options = {"penalty": penalty, "optimizer": optimizer, "standardize": False, "n_directions": 2}
    model = fit(X, y, init=W, **options)
    turned = fit(X @ Q, y, init=W @ Q, **options)
    assert model.component_importances_.min() > 0.05
    # Rows of a fit are rounded to a hundred-millionth, in other places when they are turned.
    np.testing.assert_allclose(turned.predict(X @ Q), model.predict(X), atol=1e-6)
    for one, other in zip(model.components_ @ Q, turned.components_, strict=True):
        assert abs(one @ other) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("kernel", ["brownian", "exponential", "gaussian"])
@pytest.mark.parametrize("loss", ["squared", "huber", HuberLoss(0.5)])
def test_the_unit_and_the_sign_of_y_do_not_matter(kernel, loss):
    X, y = sample()
    other = HuberLoss(5.0) if isinstance(loss, HuberLoss) else loss
    # The one direction that there is: others have hardly any importance, and are rounding.
    options = {"kernel": kernel, "n_directions": 1}
    model = fit(X, y, loss=loss, **options)
    scaled = fit(X, -10 * y + 3.0, loss=other, **options)
    np.testing.assert_allclose(scaled.predict(X), -10 * model.predict(X) + 3.0, atol=1e-8)
    np.testing.assert_allclose(scaled.components_, -model.components_, atol=1e-8)
    assert scaled.alpha_ == model.alpha_ and scaled.objective_ == pytest.approx(model.objective_)


def test_number_of_threads_does_not_change_a_bit(monkeypatch):
    # Small work runs on one thread; without that rule, three blocks of particles go to two.
    monkeypatch.setattr("kernlens._execution.SERIAL_WORK", 0)
    monkeypatch.setattr("kernlens.linalg.projected_kernel_operator.SERIAL_WORK", 0)
    X, y = sample()
    options = {"n_particles": 20, "max_iter": 1}
    one = fit(X, y, n_jobs=1, **options)
    for n_jobs in (2, None):
        other = fit(X, y, n_jobs=n_jobs, **options)
        np.testing.assert_array_equal(other.predict(X), one.predict(X))
        np.testing.assert_array_equal(other.particles_, one.particles_)
    assert effective_n_jobs(2) == 2


@pytest.mark.parametrize("alpha", [0.02, "auto"])
def test_same_seed_same_result_other_seed_other_particles(alpha):
    X, y = sample()
    one, two = fit(X, y, alpha=alpha), fit(X, y, alpha=alpha)
    np.testing.assert_array_equal(one.particles_, two.particles_)
    np.testing.assert_array_equal(one.predict(X), two.predict(X))
    assert fit(X, y, alpha=alpha, random_state=1).particles_.tolist() != one.particles_.tolist()
    shared = np.random.RandomState(0)
    np.testing.assert_array_equal(fit(X, y, random_state=shared).predict(X), fit(X, y).predict(X))


def test_float32_is_the_same_numbers_in_float64():
    X, y = sample()
    X32, y32 = X.astype(np.float32), y.astype(np.float32)
    single, double = fit(X32, y32), fit(X32.astype(np.float64), y32.astype(np.float64))
    np.testing.assert_array_equal(single.predict(X32), double.predict(X32.astype(np.float64)))
    np.testing.assert_allclose(single.predict(X32), fit(X, y).predict(X), atol=1e-3)


@pytest.mark.parametrize("layout", [np.asfortranarray, lambda a: np.repeat(a, 2, axis=0)[::2]])
def test_memory_layout_does_not_matter(layout):
    X, y = sample()
    np.testing.assert_array_equal(
        fit(layout(X), layout(y)).predict(layout(X)), fit(X, y).predict(X)
    )


@pytest.mark.parametrize("alpha", [0.02, "auto"])
def test_inputs_are_left_alone(alpha):
    X, y = sample()
    weights, W = np.ones(len(X)), np.ones((N_PARTICLES, 4))
    W[0, 0] = 3.0
    arrays = (X, y, weights, W)
    copies = [array.copy() for array in arrays]
    for array in arrays:
        array.flags.writeable = False
    fit(X, y, weights, alpha=alpha, init=W).predict(X)
    for array, copy in zip(arrays, copies, strict=True):
        np.testing.assert_array_equal(array, copy)


# Several targets


def test_several_targets_share_their_directions():
    X, y = sample()
    both = np.column_stack([y, np.sin(X[:, 0]), -2 * y])
    model = fit(X, both)
    assert model.predict(X).shape == (45, 3)
    assert model.components_.shape[1] == 4
    oracle = oracle_of(model, "squared", X, targets_of(both.T))
    # Rows of a fit are rounded; rows that are predicted are not.
    found = standardized_predictions(model, X, both.T)
    np.testing.assert_allclose(found, oracle.decision, atol=1e-6)
    np.testing.assert_allclose(model.predict(X)[:, 2], -2 * model.predict(X)[:, 0], atol=1e-8)


def test_a_column_of_targets_is_predicted_as_a_column():
    X, y = sample()
    column = fit(X, y[:, None]).predict(X)
    assert column.shape == (45, 1)
    np.testing.assert_array_equal(column[:, 0], fit(X, y).predict(X))


# Finding what was planted


@pytest.mark.parametrize(("k", "n"), [(1, 100), (2, 150)])
@pytest.mark.parametrize("penalty", ["feature", "concave_feature"])
def test_planted_directions_are_found(k, n, penalty):
    X, y, P = planted(n, 5, k, seed=k)
    model = BKerNNRegressor(n_particles=10, penalty=penalty, random_state=0, n_jobs=1).fit(X, y)
    assert feature_learning_score(P, model.components_) > 0.95
    X_new, y_new, _ = planted(400, 5, k, seed=k)
    assert model.score(X_new, y_new) > 0.9


@pytest.mark.parametrize("penalty", ["variable", "concave_variable"])
def test_planted_variables_are_found(penalty):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 8))
    y = np.abs(X[:, 2]) + np.sin(2 * X[:, 5]) + 0.1 * rng.standard_normal(120)
    model = fit(X, y, penalty=penalty, n_directions=2, max_iter=50)
    assert set(np.argsort(model.feature_importances_)[-2:]) == {2, 5}
    assert set(np.argmax(np.abs(model.components_), axis=1)) == {2, 5}
    np.testing.assert_array_equal(model.feature_importances_[[0, 1, 3, 4, 6, 7]] < 0.02, True)


def test_huber_resists_gross_outliers():
    X, y, _ = planted(90, 4, 1, seed=0)
    truth = y.copy()
    rows = np.random.default_rng(0).choice(90, 11, replace=False)
    y[rows] += 40.0 * np.random.default_rng(1).choice([-1.0, 1.0], 11)
    options = {"alpha": "auto", "n_particles": 5}
    errors = {
        loss: np.mean((fit(X, y, loss=loss, **options).predict(X) - truth) ** 2)
        for loss in ("squared", "huber")
    }
    assert errors["huber"] < 0.1 * errors["squared"]
    assert errors["huber"] < 0.2 * truth.var()


# Inspection of the fit


@pytest.mark.parametrize("kernel", ["brownian", "exponential", "gaussian"])
def test_partial_functions_add_up_on_a_grid_that_has_every_row(kernel):
    x = np.linspace(-1.0, 3.0, 21)
    y = np.column_stack([np.abs(x), x**2])
    model = fit(x[:, None], y, kernel=kernel, max_iter=5)
    parts = model.partial_functions(n_points=41)
    total = np.tile(parts.constant, (21, 1))
    for direction, grid, values in zip(parts.directions, parts.grid, parts.values, strict=True):
        at = (x[:, None] - parts.offset) @ direction
        total += np.column_stack([np.interp(at, grid, values[:, t]) for t in range(2)])
    np.testing.assert_allclose(total, model.predict(x[:, None]), atol=1e-6)


def test_partial_functions_add_up_everywhere_in_the_limit_of_fine_grids():
    X, y = sample()
    X_new = sample(seed=5)[0]
    model = fit(X, y)

    def error(n_points):
        parts = model.partial_functions(n_points)
        at = parts.directions @ (X_new - parts.offset).T
        pieces = [
            np.interp(row, grid, values[:, 0])
            for row, grid, values in zip(at, parts.grid, parts.values, strict=True)
        ]
        return np.abs(np.sum(pieces, axis=0) + parts.constant[0] - model.predict(X_new)).max()

    assert error(20_001) < 1e-3 * y.std()
    assert error(20_001) < 0.1 * error(201)


def test_partial_functions_are_sorted_centred_and_of_unit_direction():
    X, y = sample()
    parts = fit(X, y).partial_functions(50)
    n = len(parts.directions)
    assert parts.grid.shape == (n, 50)
    assert parts.values.shape == (n, 50, 1)
    np.testing.assert_allclose(np.linalg.norm(parts.directions * X.std(axis=0), axis=1), 1.0)
    np.testing.assert_allclose(parts.values.mean(axis=1), 0.0, atol=1e-12)
    assert np.all(np.diff(parts.values.std(axis=1)[:, 0]) <= 1e-12)
    at = parts.directions @ (X - parts.offset).T
    np.testing.assert_allclose(parts.grid[:, 0], at.min(axis=1), atol=1e-7)
    np.testing.assert_allclose(parts.grid[:, -1], at.max(axis=1), atol=1e-7)


# Starting again


def count_evaluations(monkeypatch):
    sizes: list[int] = []
    evaluate = ReducedObjective.at

    def counted(self, W, **options):
        sizes.append(len(self.X))
        return evaluate(self, W, **options)

    monkeypatch.setattr(ReducedObjective, "at", counted)
    return sizes


@pytest.mark.parametrize("alpha", [0.02, "auto"])
@pytest.mark.parametrize("seed", range(3))
def test_warm_start_costs_less_and_is_not_worse(monkeypatch, alpha, seed):
    X, y, _ = planted(80, 5, 2, seed)
    model = BKerNNRegressor(**{**FAST, "alpha": alpha, "warm_start": True, "max_iter": 50})
    sizes = count_evaluations(monkeypatch)
    first = model.fit(X, y).objective_
    cold = len(sizes)
    assert model.fit(X, y).objective_ <= first * (1 + 1e-9)
    assert len(sizes) - cold < cold / 2


def test_warm_start_is_used_by_algorithm_1():
    X, y = sample()
    model = BKerNNRegressor(**FAST, warm_start=True, optimizer="plain").fit(X, y)
    first = model.objective_
    assert model.fit(X, y).objective_history_[0] == pytest.approx(first, rel=1e-6)


def test_warm_start_takes_other_numbers_of_particles():
    X, y = sample()
    model = BKerNNRegressor(**FAST, warm_start=True).fit(X, y)
    for n_particles in (5, 20):
        model.set_params(n_particles=n_particles).fit(X, y)
        assert model.score(X, y) > 0.9


def test_without_warm_start_a_second_fit_is_a_first_fit():
    X, y = sample()
    model = fit(X, y, alpha="auto")
    again = clone(model).fit(X[:, :2], y).fit(X, y)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.n_features_in_ == 4


# Many rows


@pytest.mark.parametrize("alpha", [1e-3, "auto"])
def test_many_rows_are_learned_on_parts_of_them(monkeypatch, alpha):
    X, y, P = planted(5000, 5, 1, seed=0)
    monkeypatch.setattr(particle_learning, "PART_ROWS", 1000)
    sizes = count_evaluations(monkeypatch)
    model = fit(X, y, alpha=alpha, max_iter=5, n_directions=1)
    # Alpha is chosen on one of two folds.
    searched = {2500} if alpha == "auto" else set()
    assert set(sizes) == {1000, 5000} | searched
    assert sizes.count(5000) < sizes.count(1000)
    assert feature_learning_score(P, model.components_) > 0.95
    assert model.score(X, y) > 0.95
    assert np.all(np.diff(model.objective_history_) <= 0)


def test_many_rows_with_weights_are_repetitions_in_any_order():
    X, y, P = planted(4800, 5, 1, seed=1)
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 4, len(X)) + (np.arange(len(X)) < 4200)
    rows = rng.permutation(np.repeat(np.arange(len(X)), counts))
    options = {"alpha": 1e-3, "n_particles": 5, "max_iter": 5, "n_directions": 1}
    weighted = fit(X, y, counts.astype(float), **options)
    repeated = fit(X[rows], y[rows], **options)
    np.testing.assert_array_equal(weighted.predict(X[:200]), repeated.predict(X[:200]))
    assert feature_learning_score(P, weighted.components_) > 0.9

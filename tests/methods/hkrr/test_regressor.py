"""HKRRRegressor: its function against the oracle, planted maps, and what must not matter."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import hadamard
from sklearn.kernel_ridge import KernelRidge

from families import inputs_of
from kernlens import (
    AlternatingGradient,
    Centers,
    Constraint,
    HKRRRegressor,
    RandomMaps,
    VarPro,
)
from kernlens.datasets import make_rising_sines
from kernlens.inspection import alpha_search
from kernlens.kernels.radial import RADIAL_KERNELS, RadialKernel, RationalQuadraticKernel
from kernlens.linalg.whitened_features import JITTER
from kernlens.methods.hkrr.problem import OPTIMIZERS
from kernlens.methods.hkrr.stages import Stages
from kernlens.metrics import feature_learning_score, principal_angles
from reference import hkrr

FAST = {
    "alpha": 1e-3,
    "n_components": 2,
    "centers": 20,
    "refit": None,
    "init": 2,
    "max_iter": 10,
    "random_state": 0,
    "n_directions": 2,
    "n_jobs": 1,
}
#: No rows are drawn, and the end is a minimum: what a theorem says of minima holds to many digits.
MINIMUM = {"centers": 1000, "init": RandomMaps(1), "max_iter": 500, "tol": 1e-13}
METHODS = ["varpro", "varpro_gradient", "agd"]
SEARCHES = [
    {},
    {"refit": 30},
    {"alpha": "auto", "centers": Centers(20, "leverage")},
    {"n_components": [1, 3]},
]


UNITS = np.linspace(0.5, 3.0, 4)
DIRECTION = np.linspace(1.0, 0.2, 4) / UNITS


def sample(n=45, seed=0, noise=0.1):
    """Columns of different units; the target depends on one direction."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4)) * UNITS + np.linspace(-2.0, 10.0, 4)
    return X, np.sin((X - X.mean(axis=0)) @ DIRECTION) + noise * rng.standard_normal(n)


def fit(X, y, sample_weight=None, **options):
    return HKRRRegressor(**{**FAST, **options}).fit(X, y, sample_weight=sample_weight)


def dense(model, X, kernel="gaussian"):
    """Kernel matrices of a fitted model: rows against centres, and centres with their jitter."""
    B = model.projection_ / model.length_scale_
    K = hkrr.kernel_matrix(kernel, B, X, model.centers_)
    return K, hkrr.center_matrix(kernel, B, model.centers_, JITTER)


# Against the oracle


@pytest.mark.parametrize("kernel", RADIAL_KERNELS)
@pytest.mark.parametrize("refit", [None, 15])
def test_predictions_are_the_oracle_s(kernel, refit):
    X, y = sample(n=40)
    weights = np.random.default_rng(1).uniform(0.2, 3.0, 40)
    model = fit(X, y, weights, kernel=kernel, refit=refit, centers=12, truncate=None)
    assert model.centers_.shape == (12 if refit is None else 15, 4)
    K, Kzz = dense(model, X, kernel)
    a, c = hkrr.ridge_coefficients(K, Kzz, y[None], weights, model.refit_alpha_)
    np.testing.assert_allclose(model.predict(X), a[0] @ K.T + c[0], atol=1e-7)
    X_new = sample(seed=9)[0]
    K_new = dense(model, X_new, kernel)[0]
    np.testing.assert_allclose(model.predict(X_new), a[0] @ K_new.T + c[0], atol=1e-7)


@pytest.mark.parametrize("optimizer", METHODS)
@pytest.mark.parametrize("trace_norm", [0.0, 0.05])
@pytest.mark.parametrize("max_norm", [None, 1.0])
def test_history_never_increases_and_ends_at_the_objective(optimizer, trace_norm, max_norm):
    X, y = sample()
    constraint = Constraint(max_norm, trace_norm)
    model = fit(X, y, optimizer=optimizer, constraint=constraint, max_iter=40)
    assert len(model.objective_history_) > model.n_iter_ > 0
    assert np.all(np.diff(model.objective_history_) <= 0)
    assert model.objective_ == pytest.approx(model.objective_history_[-1], rel=1e-9)
    K, Kzz = dense(model, X)
    # For targets of unit variance, whose best constant has a loss of a half.
    data = ((y - y.mean())[None] / y.std(), np.ones(len(y)), 1e-3)
    a, c = hkrr.ridge_coefficients(K, Kzz, *data)
    value = hkrr.fixed_kernel_objective("squared", K, Kzz, a, c, *data)
    used = model.projection_ / model.length_scale_ * X.std(axis=0)
    value += trace_norm / 2 * np.linalg.norm(used, "nuc")
    assert model.objective_ == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize("kernel", RADIAL_KERNELS)
def test_exact_refit_is_kernel_ridge_on_the_learned_map(kernel):
    X, y = sample(n=60)
    model = fit(X, y, kernel=kernel, refit="exact", truncate=None)
    assert model.centers_.shape == X.shape
    X_new = sample(seed=9)[0]
    B = model.projection_ / model.length_scale_

    def mother(u, v):
        return hkrr.KERNEL[kernel](np.linalg.norm(u - v))

    ridge = KernelRidge(alpha=model.refit_alpha_ * len(X), kernel=mother)
    ridge.fit(X @ B.T, y - model.intercept_)
    expected = ridge.predict(X_new @ B.T) + model.intercept_
    np.testing.assert_allclose(model.predict(X_new), expected, atol=1e-5)
    # The intercept leaves coefficients that sum to zero.
    residual = y - model.predict(X)
    assert abs(residual.sum()) < 1e-6 * np.abs(residual).sum()


@pytest.mark.parametrize("kernel", [*RADIAL_KERNELS, RationalQuadraticKernel(0.5)])
def test_every_kernel_fits(kernel):
    X, y = sample(n=120, noise=0.01)
    assert fit(X, y, kernel=kernel, centers=40).score(X, y) > 0.95


class OwnGaussian(RadialKernel):
    """What a user writes: the profile and its derivative."""

    def profile(self, s):
        return np.exp(-s / 2)

    def derivative(self, s):
        return -np.exp(-s / 2) / 2


class OwnLaplace(RadialKernel):
    """A kernel that is not smooth at zero."""

    smooth_at_zero = False

    def profile(self, s):
        return np.exp(-np.sqrt(s))

    def derivative(self, s):
        r = np.sqrt(np.where(s > 0, s, 1.0))
        return np.where(s > 0, -np.exp(-r) / (2 * r), 0.0)


@pytest.mark.parametrize(
    ("own", "name"),
    [(OwnGaussian(), "gaussian"), (OwnLaplace(), "laplace")],
    ids=["smooth", "not smooth"],
)
def test_a_kernel_of_the_user_is_as_good_as_one_by_name(own, name):
    X, y = sample()
    expected = fit(X, y, kernel=name, **MINIMUM).predict(X)
    np.testing.assert_allclose(fit(X, y, kernel=own, **MINIMUM).predict(X), expected, atol=1e-6)


# Planted maps


@pytest.mark.parametrize("structure", ["features", "variables"])
def test_planted_subspace_is_found(structure):
    data = make_rising_sines(400, 8, n_relevant=2, structure=structure, random_state=0)
    model = fit(data.X, data.y, alpha="auto", centers=50, refit=150, max_iter=100)
    assert feature_learning_score(data.components, model.components_) > 0.95
    assert model.score(data.X_test, data.y_test) > 0.95


@pytest.mark.parametrize("optimizer", METHODS)
def test_every_optimizer_finds_a_planted_direction(optimizer):
    X, y = sample(n=150, noise=0.05)
    model = fit(X, y, optimizer=optimizer, n_components=1, centers=40)
    assert feature_learning_score(DIRECTION[None], model.components_) > 0.98
    assert model.score(X, y) > 0.97


def test_too_few_components_are_visibly_worse_and_more_are_not():
    data = make_rising_sines(400, 8, n_relevant=2, random_state=1)
    scores = {}
    for d in (1, 2, 5):
        options = {"n_components": d, "n_directions": 2, "centers": 50, "max_iter": 100}
        model = fit(data.X, data.y, alpha="auto", **options)
        scores[d] = model.score(data.X_test, data.y_test)
    assert scores[1] < 0.9 < scores[2]
    assert scores[5] > 0.9
    assert feature_learning_score(data.components, model.components_) > 0.9


def test_directions_lie_in_the_rows_of_the_map():
    X, y = sample()
    model = fit(X, y, n_directions=2)
    # In the units of X a direction v stands for the feature v . x: both span the same features.
    np.testing.assert_allclose(principal_angles(model.projection_, model.components_), 0, atol=1e-7)
    one = fit(X, y, init=[[1.0, -2.0, 0.5, 1.0]], n_components="auto")
    assert one.n_components_ == one.n_directions_ == 1
    np.testing.assert_allclose(principal_angles(one.projection_, one.components_), 0, atol=1e-7)


def test_importances_are_slopes_of_the_predictions():
    X, y = sample()
    model = fit(X, y, truncate=None)
    h = 1e-5 * X.std(axis=0)
    slopes = np.empty_like(X)
    for a in range(4):
        step = h * (np.arange(4) == a)
        slopes[:, a] = (model.predict(X + step) - model.predict(X - step)) / (2 * h[a])
    sizes = np.sqrt(np.mean(slopes**2, axis=0)) * X.std(axis=0)
    np.testing.assert_allclose(model.feature_importances_, sizes / sizes.sum(), atol=1e-6)


# What must not matter


@pytest.mark.parametrize("options", SEARCHES)
def test_order_of_the_rows_does_not_matter_at_all(options):
    X, y = sample()
    model = fit(X, y, **options)
    order = np.random.default_rng(1).permutation(len(X))
    moved = fit(X[order], y[order], **options)
    np.testing.assert_array_equal(moved.predict(X), model.predict(X))
    np.testing.assert_array_equal(moved.components_, model.components_)


@pytest.mark.parametrize("options", SEARCHES)
def test_integer_weights_are_repetitions_and_zeros_are_removals(options):
    X, y = sample()
    counts = np.random.default_rng(0).integers(0, 4, len(X))
    rows = np.repeat(np.arange(len(X)), counts)
    weighted = fit(X, y, counts.astype(float), **options)
    repeated = fit(X[rows], y[rows], **options)
    np.testing.assert_array_equal(weighted.predict(X), repeated.predict(X))
    assert weighted.alpha_ == repeated.alpha_
    present = counts > 0
    absent = fit(X[present], y[present], counts[present], **options)
    np.testing.assert_array_equal(absent.predict(X), weighted.predict(X))


def test_weights_matter():
    X, y = sample()
    weights = np.random.default_rng(0).uniform(0.1, 5.0, len(X))
    assert np.abs(fit(X, y, weights).predict(X) - fit(X, y).predict(X)).max() > 1e-3


@pytest.mark.parametrize("optimizer", METHODS)
@pytest.mark.parametrize(
    "options",
    [{}, {"constraint": Constraint(trace_norm=0.01)}, {"constraint": Constraint(max_norm=1.0)}],
)
def test_units_of_y_do_not_matter(optimizer, options):
    X, y = sample()
    # A power of two: every number along the way is the same but for its exponent.
    model, scaled = (fit(X, z, optimizer=optimizer, **options) for z in (y, 8 * y))
    np.testing.assert_allclose(scaled.predict(X), 8 * model.predict(X), rtol=1e-12)
    assert scaled.objective_ == pytest.approx(model.objective_, rel=1e-12)
    np.testing.assert_allclose(scaled.projection_, model.projection_, rtol=1e-12)


def test_the_origin_of_y_does_not_matter():
    X, y = sample()
    model, moved = fit(X, y, **MINIMUM), fit(X, 100.0 - 7 * y, **MINIMUM)
    np.testing.assert_allclose(moved.predict(X), 100.0 - 7 * model.predict(X), atol=1e-5)


def test_units_of_y_do_not_matter_to_searches():
    X, y = sample()
    options = {"alpha": "auto", "n_components": [1, 2], "refit": 30}
    model, scaled = fit(X, y, **options), fit(X, 8 * y, **options)
    one, other = model.alpha_search_, scaled.alpha_search_
    np.testing.assert_array_equal(other["alpha"], one["alpha"])
    # A search is a long path of iterations, along which rounding grows.
    np.testing.assert_allclose(other["loss"], one["loss"], rtol=1e-3)
    assert (scaled.alpha_, scaled.refit_alpha_) == (model.alpha_, model.refit_alpha_)
    np.testing.assert_allclose(scaled.predict(X), 8 * model.predict(X), atol=1e-2 * y.std())


@pytest.mark.parametrize("kernel", ["gaussian", "matern32"])
def test_units_of_the_columns_do_not_matter_when_standardised(kernel):
    X, y = sample()
    units, origin = np.array([10.0, 0.1, 3.0, 1e6]), np.array([5.0, -2.0, 0.0, 1e6])
    moved = X * units + origin
    model, other = (fit(Z, y, kernel=kernel, **MINIMUM) for Z in (X, moved))
    np.testing.assert_allclose(other.predict(moved), model.predict(X), atol=1e-6)
    np.testing.assert_allclose(other.feature_importances_, model.feature_importances_, atol=1e-6)
    np.testing.assert_allclose(other.projection_ * units, model.projection_, atol=1e-4)


def test_a_shift_of_the_columns_does_not_matter_without_standardisation():
    X, y = sample()
    options = {**MINIMUM, "standardize": False}
    model, shifted = fit(X, y, **options), fit(X + 7.0, y, **options)
    np.testing.assert_allclose(shifted.predict(X + 7.0), model.predict(X), atol=1e-6)


@pytest.mark.parametrize("optimizer", ["auto", "varpro_gradient"])
@pytest.mark.parametrize("options", [{}, {"constraint": Constraint(trace_norm=0.01)}])
def test_rotations_of_the_rows_rotate_the_map(optimizer, options):
    # Rows of few digits and a mean of zero, and a rotation by halves: no entry is rounded, nor are
    # those of the turned rows.
    X, y = sample()
    few = np.round(X[:22] / X.std(axis=0) * 2.0**10) / 2.0**10
    X, y = np.vstack([few, -few]), y[:44]
    rng = np.random.default_rng(1)
    Q = 0.5 * hadamard(4)
    W = rng.standard_normal((2, 4))
    options = {**MINIMUM, **options, "optimizer": optimizer, "standardize": False, "max_iter": 15}
    model = fit(X, y, **{**options, "init": W})
    turned = fit(X @ Q, y, **{**options, "init": W @ Q})
    np.testing.assert_allclose(turned.predict(X @ Q), model.predict(X), atol=1e-6)
    one, other = (m.projection_ / m.length_scale_ for m in (model, turned))
    np.testing.assert_allclose(other.T @ other, Q.T @ one.T @ one @ Q, atol=1e-5)


def test_order_of_the_columns_does_not_matter():
    X, y = sample()
    order = np.array([2, 0, 3, 1])
    W = np.random.default_rng(1).standard_normal((2, 4))
    model = fit(X, y, **{**MINIMUM, "init": W})
    moved = fit(X[:, order], y, **{**MINIMUM, "init": W[:, order]})
    np.testing.assert_allclose(moved.predict(X[:, order]), model.predict(X), atol=1e-6)
    np.testing.assert_allclose(
        moved.feature_importances_, model.feature_importances_[order], atol=1e-6
    )


def test_a_rotation_of_the_image_of_the_map_does_not_matter():
    X, y = sample()
    rng = np.random.default_rng(1)
    W, Q = rng.standard_normal((3, 4)), np.linalg.qr(rng.standard_normal((3, 3)))[0]
    options = {**MINIMUM, "n_components": 3}
    model, turned = (fit(X, y, **{**options, "init": init}) for init in (W, Q @ W))
    np.testing.assert_allclose(turned.predict(X), model.predict(X), atol=1e-6)
    np.testing.assert_allclose(turned.components_, model.components_, atol=1e-5)


def test_number_of_threads_does_not_change_a_bit(monkeypatch):
    monkeypatch.setattr("kernlens._execution.SERIAL_WORK", 0)
    monkeypatch.setattr("kernlens.linalg.kernel_blocks.BLOCK_ENTRIES", 1)
    X, y = sample(n=200)
    options = {"alpha": 0.1, "n_components": 1, "max_iter": 1, "refit": None}
    one = fit(X, y, n_jobs=1, **options)
    for n_jobs in (2, 3):
        other = fit(X, y, n_jobs=n_jobs, **options)
        np.testing.assert_array_equal(other.predict(X), one.predict(X))
        np.testing.assert_array_equal(other.projection_, one.projection_)


@pytest.mark.parametrize("alpha", [1e-3, "auto"])
def test_same_seed_same_result_other_seed_other_map(alpha):
    X, y = sample()
    one, two = fit(X, y, alpha=alpha), fit(X, y, alpha=alpha)
    np.testing.assert_array_equal(one.projection_, two.projection_)
    np.testing.assert_array_equal(one.predict(X), two.predict(X))
    other = fit(X, y, alpha=alpha, random_state=1)
    assert np.abs(other.projection_ - one.projection_).max() > 1e-6
    shared = np.random.RandomState(0)
    np.testing.assert_array_equal(
        fit(X, y, alpha=alpha, random_state=shared).predict(X), one.predict(X)
    )


def test_rows_are_predicted_one_by_one(monkeypatch):
    X, y = sample()
    model = fit(X, y)
    X_new = sample(n=500, seed=3)[0]
    whole = model.predict(X_new)
    parts = np.concatenate([model.predict(X_new[k : k + 7]) for k in range(0, 500, 7)])
    np.testing.assert_allclose(parts, whole, rtol=0, atol=1e-12)
    monkeypatch.setattr("kernlens.linalg.kernel_blocks.BLOCK_ENTRIES", 1)
    monkeypatch.setattr("kernlens.linalg.kernel_blocks.HELD_ENTRIES", 0)
    np.testing.assert_allclose(model.predict(X_new), whole, rtol=0, atol=1e-12)


# Several targets


@pytest.mark.parametrize("scale", [1.0, -100.0, 0.0])
def test_a_second_target_that_says_nothing_new_changes_nothing(scale):
    X, y = sample()
    expected = fit(X, y, **MINIMUM).predict(X)
    found = fit(X, np.column_stack([y, scale * y + 1.0]), **MINIMUM).predict(X)
    assert found.shape == (45, 2)
    np.testing.assert_allclose(found[:, 0], expected, atol=1e-5)
    np.testing.assert_allclose(found[:, 1], scale * expected + 1.0, atol=1e-3)


def test_one_target_in_a_column_is_the_target():
    X, y = sample()
    column = fit(X, y[:, None])
    assert column.predict(X).shape == (45, 1)
    np.testing.assert_array_equal(column.predict(X)[:, 0], fit(X, y).predict(X))


def test_two_targets_share_one_map():
    data = make_rising_sines(300, 6, n_relevant=2, noise=0.0, random_state=0)
    features = data.X @ data.components.T
    Y = np.column_stack([np.sin(3 * features[:, 0]), features[:, 1] ** 2])
    model = fit(data.X, Y, centers=50, max_iter=100)
    assert feature_learning_score(data.components, model.components_) > 0.98
    assert model.dual_coef_.shape == (2, 50)
    assert model.score(data.X, Y) > 0.98


# Sizes


@pytest.mark.parametrize("alpha", [1e-3, "auto"])
def test_more_components_than_columns_are_as_many(alpha):
    X, y = sample()
    wide, full = (fit(X, y, alpha=alpha, n_components=d) for d in (100, 4))
    assert wide.n_components_ == 4
    np.testing.assert_array_equal(wide.predict(X), full.predict(X))


def test_more_rows_of_a_given_map_than_columns_give_the_same_kernels():
    X, y = sample()
    W = np.random.default_rng(0).standard_normal((7, 4))
    options = {**MINIMUM, "n_components": "auto"}
    tall = fit(X, y, **{**options, "init": W})
    # W and the root of W^T W give the same distances.
    values, vectors = np.linalg.eigh(W.T @ W)
    square = fit(X, y, **{**options, "init": np.sqrt(values)[:, None] * vectors.T})
    np.testing.assert_allclose(tall.predict(X), square.predict(X), atol=1e-6)
    assert tall.components_.shape[1] == 4
    assert len(tall.component_importances_) <= 4


@pytest.mark.parametrize("sampling", ["uniform", "leverage"])
def test_centres_are_distinct_rows_at_most_all(sampling):
    X, y = sample()
    for n_centers in (1, 20, 45, 1000):
        model = fit(X, y, centers=Centers(n_centers, sampling))
        assert len(model.centers_) == len(np.unique(model.centers_, axis=0)) == min(n_centers, 45)
        rows = np.empty_like(X)
        rows[:, model.inputs_] = inputs_of(model, X)
        rows = model.mean_ + model.scale_ * rows
        nearest = np.abs(model.centers_[:, None] - rows).max(axis=2).min(axis=1)
        assert nearest.max() < 1e-12
        assert np.isfinite(model.predict(X)).all()


def test_leverage_and_uniform_centres_agree_when_all_rows_are_taken():
    X, y = sample()
    one, other = (
        fit(X, y, **{**MINIMUM, "centers": Centers(1000, sampling)})
        for sampling in ("uniform", "leverage")
    )
    np.testing.assert_allclose(other.predict(X), one.predict(X), atol=1e-6)


@pytest.mark.parametrize("kernel", RADIAL_KERNELS)
@pytest.mark.parametrize("gap", [0.0, 1e-14, 1e-9])
def test_centres_that_nearly_coincide(kernel, gap):
    # A singular centre kernel: five places, eight rows nearly at each, their targets apart.
    rng = np.random.default_rng(0)
    places = 3.0 * rng.standard_normal((5, 2))
    X = np.repeat(places, 8, axis=0) + gap * rng.standard_normal((40, 2))
    y = np.repeat(np.arange(5.0), 8) + np.tile([-1.0, 1.0], 20)
    model = fit(X, y, kernel=kernel, centers=40, alpha=1e-6)
    np.testing.assert_allclose(model.predict(places), np.arange(5.0), atol=0.05)


# Parameters


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("auto", VarPro()),
        ("varpro", VarPro("lbfgs")),
        ("varpro_gradient", VarPro("gradient")),
        ("agd", AlternatingGradient(10)),
    ],
)
def test_optimizers_by_name_and_as_objects(name, given):
    X, y = sample()
    by_name, as_object = fit(X, y, optimizer=name), fit(X, y, optimizer=given)
    np.testing.assert_array_equal(as_object.predict(X), by_name.predict(X))


def test_optimizers_agree_on_an_easy_minimum():
    X, y = sample(noise=0.0)
    options = {"n_components": 1, "alpha": 0.1, "max_iter": 300, "tol": 1e-6}
    values = [fit(X, y, optimizer=name, **options).objective_ for name in OPTIMIZERS]
    np.testing.assert_allclose(values, values[0], rtol=1e-3)


BOUNDED = [{"constraint": Constraint(0.5, 0.01)}, {"init": 100 * np.eye(4), "n_components": "auto"}]


@pytest.mark.parametrize(
    ("optimizer", "options"),
    [
        *(("auto", options) for options in (*SEARCHES, *BOUNDED)),
        *((name, options) for name in ("varpro_gradient", "agd") for options in ({}, *BOUNDED)),
    ],
)
def test_operator_norm_is_bounded(optimizer, options):
    X, y = sample()
    model = fit(X, y, optimizer=optimizer, **{"constraint": Constraint(0.5), **options})
    norm = np.linalg.norm(model.projection_ * X.std(axis=0), 2)
    assert norm <= 0.5 * (1 + 1e-9)


def test_the_bound_of_the_norm_is_a_unit_of_length():
    X, y = sample()
    one, two = (fit(X, y, constraint=Constraint(bound)) for bound in (1.0, 2.0))
    np.testing.assert_allclose(two.projection_, 2 * one.projection_, rtol=1e-12)
    assert two.length_scale_ == pytest.approx(2 * one.length_scale_, rel=1e-12)
    np.testing.assert_allclose(two.predict(X), one.predict(X), atol=1e-10)


def test_the_bound_holds_back_a_map_that_would_grow():
    # A target that oscillates ten times over the rows needs a map of large norm.
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (200, 2))
    y = np.sin(15 * X[:, 0])
    options = {"centers": 100, "max_iter": 200, "n_components": 2}
    free = fit(X, y, **options)
    bound = fit(X, y, constraint=Constraint(1.0), **options)
    assert np.linalg.norm(bound.projection_ * X.std(axis=0), 2) > 0.9
    steepness = [np.linalg.norm(m.projection_ / m.length_scale_, 2) for m in (free, bound)]
    assert steepness[1] < steepness[0]
    assert bound.objective_ >= free.objective_


@pytest.mark.parametrize("optimizer", METHODS)
def test_trace_norm_lowers_the_rank(optimizer):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 4))
    y = np.sin(X[:, 0]) + np.sin(X[:, 1]) + 0.05 * rng.standard_normal(100)
    ranks = []
    for trace_norm in (0.0, 0.3, 100.0):
        constraint = Constraint(trace_norm=trace_norm)
        model = fit(X, y, constraint=constraint, n_components=4, max_iter=100, optimizer=optimizer)
        values = np.linalg.svd(model.projection_ * X.std(axis=0), compute_uv=False)
        ranks.append(int(np.sum(values > 1e-4)))
    assert ranks[0] >= 2
    assert ranks[1] == 1
    # A penalty that nothing can pay for: the map vanishes and a constant is left.
    assert ranks[2] == 0
    np.testing.assert_allclose(model.predict(X), y.mean(), atol=1e-6)


def test_truncation_clips_predictions_and_nothing_else():
    X, y = sample()
    far = sample(seed=1)[0] * 3
    free = fit(X, y, truncate=None)
    assert free.bounds_ is None
    plain = free.predict(far)
    assert plain.min() < -0.3 < 0.3 < plain.max()
    tight = fit(X, y, truncate=0.3)
    np.testing.assert_array_equal(tight.predict(far), np.clip(plain, -0.3, 0.3))
    auto = fit(X, y)
    np.testing.assert_array_equal(auto.predict(far), np.clip(plain, y.min(), y.max()))
    np.testing.assert_array_equal(auto.bounds_, [[y.min()], [y.max()]])
    wide = fit(X, y, truncate=1e6)
    np.testing.assert_array_equal(wide.predict(far), plain)


def test_truncation_of_several_targets():
    X, y = sample()
    Y = np.column_stack([y, 10 * y + 5])
    predicted = fit(X, Y, alpha=1e-9).predict(sample(seed=1)[0] * 3)
    assert np.all(predicted >= Y.min(axis=0))
    assert np.all(predicted <= Y.max(axis=0))
    assert fit(X, Y, truncate=2.0).predict(X).max() <= 2.0


@pytest.mark.parametrize(
    ("n_samples", "options", "n_centers"),
    [
        (45, {"refit": None}, 20),
        (45, {"refit": 30}, 30),
        (45, {"refit": 10}, 10),
        (45, {"refit": "exact"}, 45),
        (45, {"refit": "auto"}, 45),
        (600, {"refit": None}, 20),
        (600, {"refit": "exact"}, 600),
    ],
)
def test_number_of_centres_of_the_last_fit(n_samples, options, n_centers):
    X, y = sample(n=n_samples)
    model = fit(X, y, max_iter=2, **options)
    assert model.centers_.shape == (n_centers, 4)
    assert model.dual_coef_.shape == (1, n_centers)
    if options["refit"] is None:
        assert model.refit_alpha_ == model.alpha_


@pytest.mark.parametrize("init", ["auto", "random", "subspace"])
def test_named_starts_find_a_planted_direction(init):
    X, y = sample(n=150, noise=0.05)
    model = fit(X, y, init=init, n_components=1, centers=40, max_iter=50)
    assert feature_learning_score(DIRECTION[None], model.components_) > 0.98


def test_numbers_of_first_maps(monkeypatch):
    compared = []
    drawn = Stages._random_maps

    def counted(self, width, number):
        compared.append((number, self.plan.subspace))
        return drawn(self, width, number)

    monkeypatch.setattr(Stages, "_random_maps", counted)
    X, y = sample()
    for init, expected in (
        ("auto", (10, True)),
        (3, (3, True)),
        (np.int64(3), (3, True)),
        ("random", (10, False)),
        (RandomMaps(3), (3, False)),
        (RandomMaps(), (10, False)),
        ("subspace", (0, True)),
    ):
        compared.clear()
        fit(X, y, init=init, max_iter=1, n_directions=2)
        assert compared == [expected]


def test_options_by_number_and_as_objects():
    X, y = sample()
    expected = fit(X, y, init="random")
    for options in (
        {"centers": Centers(20)},
        {"centers": Centers(20, "uniform")},
        {"constraint": Constraint()},
        {"init": RandomMaps(10)},
    ):
        model = fit(X, y, **{"init": "random", **options})
        np.testing.assert_array_equal(model.predict(X), expected.predict(X))


def test_a_given_start_is_used_with_its_number_of_rows():
    X, y = sample()
    W = np.random.default_rng(0).standard_normal((3, 4))
    model = fit(X, y, init=W, n_components="auto")
    assert model.n_components_ == 3
    for same in ({"init": W, "n_components": 3}, {"init": W.tolist(), "n_components": "auto"}):
        np.testing.assert_array_equal(fit(X, y, **same).predict(X), model.predict(X))
    # Its scale is that of the median heuristic, so only its shape matters.
    scaled = fit(X, y, init=4 * W, n_components=3)
    np.testing.assert_allclose(scaled.predict(X), model.predict(X), rtol=1e-12)


# Searches


@pytest.mark.parametrize("refit", [None, 30])
def test_the_chosen_settings_have_the_lowest_loss(refit):
    X, y = sample(n=80)
    alphas, widths = [1e-1, 1e-3], [1, 2, 4]
    model = fit(X, y, alpha=alphas, n_components=widths, refit=refit)
    table = model.alpha_search_
    assert set(table["alpha"]) == set(alphas)
    assert set(table["n_components"]) == set(widths)
    assert len(table["alpha"]) == len(table["n_components"]) == len(table["loss"])
    best = np.argmin(table["loss"])
    assert (model.alpha_, model.n_components_) == (
        table["alpha"][best],
        table["n_components"][best],
    )


@pytest.mark.parametrize(
    "options",
    [
        {"alpha": [1e-1, 1e-2, 1e-3]},
        {"alpha": [1e-1, 1e-3], "n_components": [1, 2]},
        {"alpha": "auto", "n_components": "auto"},
        {"alpha": "auto", "refit": 30},
    ],
    ids=str,
)
def test_the_curve_of_alpha_is_that_of_the_chosen_number_of_components(options):
    X, y = sample(n=60)
    model = fit(X, y, **options)
    tried = model.alpha_search_
    assert tried["searched"][:2] == ["n_components", "alpha"]
    chosen = tried["chosen"]
    assert tried["alpha"][chosen] == model.alpha_
    assert tried["n_components"][chosen] == model.n_components_
    same = tried["n_components"] == model.n_components_
    curve = alpha_search(model)
    assert curve.chosen == model.alpha_
    assert np.all(np.diff(curve.alphas) > 0)
    assert dict(zip(curve.alphas, curve.losses, strict=True)) == dict(
        zip(tried["alpha"][same], tried["loss"][same], strict=True)
    )


def test_a_given_alpha_has_no_curve():
    X, y = sample()
    assert alpha_search(fit(X, y)) is None
    assert alpha_search(fit(X, y, refit=30)) is None
    assert alpha_search(fit(X, y, n_components=[1, 2])) is None


def test_a_search_over_one_value_is_that_value():
    X, y = sample()
    given = fit(X, y, alpha=1e-2, n_components=2)
    for alpha, n_components in (([1e-2], 2), ((1e-2,), [2]), (np.array([1e-2]), (2, 2))):
        model = fit(X, y, alpha=alpha, n_components=n_components)
        assert model.alpha_ == 1e-2
        np.testing.assert_array_equal(model.predict(X), given.predict(X))
    assert not hasattr(given, "alpha_search_")


def test_order_of_the_values_does_not_matter():
    X, y = sample()
    one = fit(X, y, alpha=[1e-1, 1e-3], n_components=[1, 3])
    other = fit(X, y, alpha=(1e-3, 1e-1, 1e-1), n_components=range(3, 0, -2))
    np.testing.assert_array_equal(other.predict(X), one.predict(X))


def test_strong_noise_asks_for_a_larger_alpha():
    X, clean = sample(n=100, noise=0.0)
    noisy = clean + np.random.default_rng(5).standard_normal(100)
    assert fit(X, noisy, alpha="auto").alpha_ > fit(X, clean, alpha="auto").alpha_


def test_pure_noise_is_not_learned():
    X, _ = sample(n=100)
    y = np.random.default_rng(5).standard_normal(100)
    model = fit(X, y, alpha="auto", n_components="auto", refit="auto")
    X_new = sample(n=200, seed=6)[0]
    assert np.std(model.predict(X_new)) < 0.7


# Continuing


@pytest.mark.parametrize(
    "options",
    [{}, {"constraint": Constraint(max_norm=1.0)}, {"constraint": Constraint(trace_norm=0.01)}],
)
def test_warm_start_goes_on(options):
    X, y = sample()
    model = fit(X, y, warm_start=True, max_iter=3, tol=0.0, **options)
    values = [model.objective_]
    for _ in range(3):
        values.append(model.fit(X, y).objective_)
    assert np.all(np.diff(values) <= 1e-9 * values[0])
    assert values[-1] < values[0]


def test_warm_start_keeps_the_settings_that_were_searched():
    X, y = sample()
    model = fit(X, y, warm_start=True, alpha="auto", n_components=[1, 2], refit=30)
    alpha, refit_alpha, width = model.alpha_, model.refit_alpha_, model.n_components_
    score = model.score(X, y)
    tried = model.alpha_search_
    model.fit(X, y)
    assert (model.alpha_, model.refit_alpha_, model.n_components_) == (alpha, refit_alpha, width)
    for name, values in tried.items():
        np.testing.assert_array_equal(model.alpha_search_[name], values)
    assert model.score(X, y) > score - 0.02


def test_without_warm_start_a_fit_forgets():
    X, y = sample()
    model = fit(X, y)
    np.testing.assert_array_equal(
        fit(X, y).predict(X), model.fit(*sample(seed=2)).fit(X, y).predict(X)
    )


def test_status_says_how_it_ended():
    X, y = sample()
    assert "max_iter" in fit(X, y, max_iter=1, tol=0.0).status_
    assert fit(X, y, max_iter=1, tol=0.0).n_iter_ == 1
    assert fit(X, y, max_iter=500, tol=1e-3).status_ == "converged"

from __future__ import annotations

import dataclasses
import math
import pickle

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import kstest, ortho_group

from kernlens import datasets
from kernlens.datasets._sampling import orthogonal_by_qr, orthogonal_by_reflections

# name -> (generator, arguments, half width of the cube, dimension of the true subspace)
CASES = {
    "absolute_sum": (datasets.make_absolute_sum, {"n_relevant": 4}, 1, 1),
    "sum_of_absolutes": (datasets.make_sum_of_absolutes, {"n_relevant": 4}, 1, 4),
    "sines_features": (datasets.make_sum_of_sines, {"structure": "features"}, 1, 5),
    "sines_variables": (datasets.make_sum_of_sines, {"structure": "variables"}, 1, 5),
    "sines_none": (datasets.make_sum_of_sines, {"structure": "none"}, 1, None),
    "absolute_sum_of_sines": (datasets.make_absolute_sum_of_sines, {}, 1, 3),
    "two_sines_features": (datasets.make_two_sines, {"structure": "features"}, 3**0.5, 2),
    "two_sines_variables": (datasets.make_two_sines, {"structure": "variables"}, 3**0.5, 2),
    "quartic_features": (datasets.make_quartic, {"structure": "features"}, 3**0.5, 2),
    "quartic_variables": (datasets.make_quartic, {"structure": "variables"}, 3**0.5, 2),
    "rising_features": (datasets.make_rising_sines, {}, 1, 3),
    "rising_variables": (datasets.make_rising_sines, {"structure": "variables"}, 1, 3),
    "oscillating_features": (datasets.make_oscillating_products, {"n_relevant": 4}, 10, 4),
    "oscillating_variables": (
        datasets.make_oscillating_products,
        {"structure": "variables"},
        10,
        3,
    ),
}
CURVES = ["sine", "square", "triangle"]


def make(name, n_samples=40, n_features=8, **options):
    generator, arguments, _, _ = CASES[name]
    options = {"n_test": 11, "random_state": 0, **arguments, **options}
    return generator(n_samples, n_features, **options)


def slow_target(name, z):
    """The papers' formulas, one point z = projection x at a time, indices from 1 as printed."""
    k = len(z)
    if name == "absolute_sum":
        return 2 * math.pi * abs(sum(z))
    if name == "sum_of_absolutes":
        return sum(abs(2 * math.pi * t) for t in z)
    if name.startswith("sines"):
        return sum(math.sin(t) for t in z)
    if name == "absolute_sum_of_sines":
        return abs(sum(math.sin(t) for t in z))
    if name.startswith("two_sines"):
        return math.sin(2 * z[0]) + math.sin(2 * z[1])
    if name.startswith("quartic"):
        return z[0] + z[1] - z[0] ** 2 - z[1] ** 2 + 2 * z[0] * z[1] ** 3 - 4
    if name.startswith("rising"):
        return sum(math.sin((1 + j / k) * math.pi * z[j - 1]) for j in range(1, k + 1))
    total = 0.0
    for j in range(1, k + 1):
        total += math.sin(0.5 * z[j - 1] - j)
        total += 0.5 * z[j % k] * math.cos(0.4 * z[(j + 1) % k] - j + 1)
    return total


@pytest.mark.parametrize("name", CASES)
def test_targets_are_the_printed_formula(name):
    data = make(name, noise=0)
    assert data.noise == 0
    for X, y in ((data.X, data.y), (data.X_test, data.y_test)):
        expected = [slow_target(name, data.projection @ x) for x in X]
        np.testing.assert_allclose(y, expected, rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(data.function(X), y)


@pytest.mark.parametrize("name", CASES)
def test_shapes_and_range_of_the_inputs(name):
    half_width, dimension = CASES[name][2:]
    data = make(name)
    assert data.X.shape == (40, 8)
    assert data.y.shape == (40,)
    assert data.X_test.shape == (11, 8)
    assert data.y_test.shape == (11,)
    assert data.half_width == pytest.approx(half_width)
    assert np.abs(data.X).max() <= half_width
    if dimension is not None:
        assert data.components.shape == (dimension, 8)
        np.testing.assert_allclose(
            data.components @ data.components.T, np.eye(dimension), atol=1e-13
        )


def test_no_structure_has_no_components_and_uses_every_variable():
    data = make("sines_none")
    assert data.components is None
    np.testing.assert_array_equal(data.projection, np.eye(8))


@pytest.mark.parametrize("name", [name for name in CASES if CASES[name][3] is not None])
def test_function_depends_on_the_components_only_and_on_each_of_them(name):
    data = make(name)
    rng = np.random.default_rng(1)
    shift = rng.standard_normal(data.X.shape)
    orthogonal_shift = shift - shift @ data.components.T @ data.components
    assert np.abs(orthogonal_shift).max() > 0.5
    before = data.function(data.X)
    np.testing.assert_allclose(data.function(data.X + orthogonal_shift), before, atol=1e-11)
    for direction in data.components:
        assert np.abs(data.function(data.X + 0.3 * direction) - before).max() > 1e-2


@pytest.mark.parametrize("name", CASES)
def test_moments_of_inputs_and_noise(name):
    half_width = CASES[name][2]
    data = make(name, n_samples=20_000, noise=0.7)
    kurtosis = np.mean(data.X**4) / half_width**4
    assert np.mean(data.X) == pytest.approx(0, abs=5 * half_width / math.sqrt(3 * 160_000))
    assert np.mean(data.X**2) / half_width**2 == pytest.approx(1 / 3, abs=5 * 0.3 / 400)
    assert kurtosis == pytest.approx(1 / 5, abs=5 * 0.27 / 400)
    residual = data.y - data.function(data.X)
    assert kstest(residual / 0.7, "norm").pvalue > 1e-3
    assert abs(np.corrcoef(residual, data.function(data.X))[0, 1]) < 5 / math.sqrt(20_000)


@pytest.mark.parametrize("name", CASES)
def test_same_seed_same_data_and_the_seed_matters(name):
    first, again, other = make(name), make(name), make(name, random_state=1)
    from_instance = make(name, random_state=np.random.RandomState(0))
    for field in ("X", "y", "X_test", "y_test", "projection"):
        np.testing.assert_array_equal(getattr(first, field), getattr(again, field))
        np.testing.assert_array_equal(getattr(first, field), getattr(from_instance, field))
    assert not np.array_equal(first.X, other.X)


@pytest.mark.parametrize("name", CASES)
def test_noise_level_changes_only_the_targets(name):
    quiet, loud = make(name, noise=0), make(name, noise=2.0)
    for field in ("X", "X_test", "projection"):
        np.testing.assert_array_equal(getattr(quiet, field), getattr(loud, field))
    assert np.std(loud.y - quiet.y) > 1


@pytest.mark.parametrize("name", CASES)
def test_fresh_samples_come_from_the_same_problem(name):
    data = make(name, noise=0.5)
    X, y = data.sample(5000, random_state=3)
    assert np.abs(X).max() <= data.half_width
    assert np.std(X) == pytest.approx(data.half_width / math.sqrt(3), rel=0.02)
    assert np.std(y - data.function(X)) == pytest.approx(0.5, rel=0.06)
    again, _ = data.sample(5000, random_state=3)
    np.testing.assert_array_equal(X, again)


@pytest.mark.parametrize("shape", CURVES)
def test_one_dimensional_curves(shape):
    data = datasets.make_one_dimensional(50, shape=shape, noise=0, random_state=0)
    expected = {
        "sine": lambda x: math.sin(2 * math.pi * x),
        "square": lambda x: 1.0 if x % 1 < 0.5 else -1.0,
        # 1 at -3/4 and 1/4, -1 at -1/4 and 3/4, straight between: the triangle in phase with sine.
        "triangle": lambda x: np.interp(x, [-1, -0.75, -0.25, 0.25, 0.75, 1], [0, 1, -1, 1, -1, 0]),
    }[shape]
    np.testing.assert_allclose(data.y, [expected(x) for x in data.X[:, 0]], atol=1e-12)
    np.testing.assert_array_equal(data.function(data.X), data.y)
    np.testing.assert_array_equal(data.components, [[1.0]])


def test_one_dimensional_test_set_is_the_clean_curve_on_a_grid():
    data = datasets.make_one_dimensional(n_test=5, noise=0.2, random_state=0)
    np.testing.assert_array_equal(data.X_test[:, 0], [-1, -0.5, 0, 0.5, 1])
    np.testing.assert_array_equal(data.y_test, data.function(data.X_test))
    assert data.X.shape == (128, 1)
    assert 0.1 < np.std(data.y - data.function(data.X)) < 0.3


@pytest.mark.parametrize("seed", [0, 9])
def test_absolute_sum_of_sines_draws_in_the_published_order(seed):
    rng = np.random.RandomState(seed)
    matrix = ortho_group.rvs(15, random_state=rng)
    X = rng.rand(212, 15) * 2 - 1
    rng.randn(212)
    X_test = rng.rand(201, 15) * 2 - 1
    data = datasets.make_absolute_sum_of_sines(random_state=seed)
    np.testing.assert_array_equal(data.components, matrix[:, :3].T)
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(data.X_test, X_test)


@pytest.mark.parametrize("rotated", [True, False])
@pytest.mark.parametrize("inputs_first", [True, False])
def test_other_bkernn_experiments_draw_in_the_documented_order(rotated, inputs_first):
    rng = np.random.RandomState(1)
    projection = ortho_group.rvs(8, random_state=rng)[:, :5].T if rotated else np.eye(5, 8)
    if inputs_first:
        structure = "features" if rotated else "variables"
        data = datasets.make_sum_of_sines(40, 8, structure=structure, n_test=11, random_state=1)
        X, X_test = rng.rand(40, 8) * 2 - 1, rng.rand(11, 8) * 2 - 1
        eps, eps_test = rng.randn(40), rng.randn(11)
    else:
        make_it = datasets.make_absolute_sum if rotated else datasets.make_sum_of_absolutes
        data = make_it(40, 8, noise=0.5, n_test=11, random_state=1)
        X, eps = rng.rand(40, 8) * 2 - 1, rng.randn(40)
        X_test, eps_test = rng.rand(11, 8) * 2 - 1, rng.randn(11)
    np.testing.assert_array_equal(data.projection, projection)
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(data.X_test, X_test)
    np.testing.assert_allclose(data.y - data.function(X), 0.5 * eps, atol=1e-12)
    np.testing.assert_allclose(data.y_test - data.function(X_test), 0.5 * eps_test, atol=1e-12)


def brownian_ridge_score(data):
    """R2 of ridge regression with the kernel -|x - x'| / 2, centred, alpha = 2 max|x| / n."""
    n = len(data.y)
    centering = np.eye(n) - 1 / n
    kernel = -cdist(data.X, data.X) / 2
    ridge = 2 * np.linalg.norm(data.X, axis=1).max()
    weights = np.linalg.solve(
        centering @ kernel @ centering + ridge * np.eye(n), data.y - data.y.mean()
    )
    offset = data.y.mean() - (kernel @ weights).mean()
    residual = data.y_test + cdist(data.X_test, data.X) @ weights / 2 - offset
    return 1 - np.sum(residual**2) / np.sum((data.y_test - data.y_test.mean()) ** 2)


@pytest.mark.parametrize(
    "n_samples, n_features, mean, std",
    [(100, 15, 0.0149, 0.0239), (212, 3, 0.7266, 0.0243), (212, 20, 0.0104, 0.0299)],
)
def test_published_brownian_ridge_scores_are_reproduced(n_samples, n_features, mean, std):
    """Experiment 5, BKRR: a deterministic method, so its published score identifies the data."""
    scores = [
        brownian_ridge_score(
            datasets.make_absolute_sum_of_sines(n_samples, n_features, random_state=seed)
        )
        for seed in range(10)
    ]
    assert np.mean(scores) == pytest.approx(mean, abs=5.1e-5)
    assert np.std(scores) == pytest.approx(std, abs=5.1e-5)


@pytest.mark.parametrize(
    "generator, structure, n_features, published",
    [
        (datasets.make_two_sines, "variables", 10, 0.7861),
        (datasets.make_two_sines, "features", 10, 0.7996),
        (datasets.make_two_sines, "features", 40, 0.7997),
        (datasets.make_quartic, "variables", 10, 0.7546),
        (datasets.make_quartic, "features", 10, 0.8666),
        (datasets.make_quartic, "features", 40, 0.8997),
    ],
)
def test_published_noise_levels_are_reproduced(generator, structure, n_features, published):
    """RegFeaL Experiment 1, the best achievable R2: 1 - n sigma^2 / sum (y_test - mean)^2."""
    levels = []
    for seed in range(36, 41):
        data = generator(1000, n_features, structure=structure, random_state=seed)
        levels.append(1 - data.noise**2 / np.var(data.y_test))
    assert np.mean(levels) == pytest.approx(published, abs=5.1e-5)


@pytest.mark.parametrize("draw", [orthogonal_by_qr, orthogonal_by_reflections])
def test_orthogonal_matrices_are_uniform(draw):
    rng = np.random.RandomState(0)
    matrices = np.array([draw(rng, 4) for _ in range(2000)])
    np.testing.assert_allclose(
        matrices @ matrices.transpose(0, 2, 1), np.broadcast_to(np.eye(4), (2000, 4, 4)), atol=1e-13
    )
    # An entry of a Haar matrix of size 4 has density (2 / pi) sqrt(1 - t^2) on [-1, 1].
    for row, column in ((0, 0), (3, 0), (2, 3)):
        entries = matrices[:, row, column]
        assert kstest(entries, "semicircular").pvalue > 1e-3
    assert 0.45 < np.mean(np.linalg.det(matrices) > 0) < 0.55


@pytest.mark.parametrize(
    "generator", [datasets.make_rising_sines, datasets.make_oscillating_products]
)
def test_hkrr_matrix_is_positive_in_the_unit_ball_and_noise_is_a_tenth(generator):
    data = generator(500, 20, random_state=0)
    assert np.linalg.norm(data.projection, 2) == pytest.approx(1)
    assert data.projection.min() > 0
    assert data.noise == pytest.approx(np.std(data.function(data.X)) / 10)
    # The components span the rows of B.
    inside = data.projection @ data.components.T @ data.components
    np.testing.assert_allclose(inside, data.projection, atol=1e-14)
    unscaled = generator(5, 1, n_relevant=1, random_state=0).projection
    np.testing.assert_array_equal(unscaled, np.random.RandomState(0).random_sample((1, 1)))


def test_absolute_sum_has_one_direction_out_of_its_features():
    data = make("absolute_sum", noise=0)
    assert data.projection.shape == (4, 8)
    expected = 2 * np.pi * 2 * np.abs(data.X @ data.components[0])  # 2 = sqrt(n_relevant)
    np.testing.assert_allclose(data.y, expected, rtol=1e-12)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(
    "options, message",
    [
        ({"n_samples": 0}, "n_samples must be an integer of at least 1"),
        ({"n_samples": 2.5}, "n_samples must be an integer"),
        ({"n_features": 0}, "n_features must be an integer of at least 1"),
        ({"n_test": -1}, "n_test must be an integer of at least 0"),
        ({"noise": -1.0}, "noise must be a finite number of at least 0"),
        ({"noise": float("nan")}, "noise must be a finite number of at least 0"),
        ({"noise": "loud"}, "noise must be a finite number of at least 0"),
    ],
)
def test_bad_sizes_and_noise_are_refused(name, options, message):
    with pytest.raises(ValueError, match=message):
        make(name, **options)


@pytest.mark.parametrize("name", [name for name in CASES if name != "sines_none"])
def test_more_directions_than_features_are_refused(name):
    with pytest.raises(ValueError, match="relevant directions but n_features = 1"):
        make(name, n_features=1)


@pytest.mark.parametrize(
    "call",
    [
        lambda: datasets.make_sum_of_sines(structure="rows"),
        lambda: datasets.make_two_sines(structure="none"),
        lambda: datasets.make_rising_sines(structure="none"),
        lambda: datasets.make_one_dimensional(shape="circle"),
        lambda: datasets.make_alternating_toy("cubic"),
    ],
)
def test_unknown_choices_are_refused(call):
    with pytest.raises(ValueError, match="must be one of"):
        call()


def test_function_refuses_other_shapes():
    data = make("sines_features")
    with pytest.raises(ValueError, match=r"Expected X of shape \(n, 8\)"):
        data.function(np.ones((3, 7)))
    with pytest.raises(ValueError, match=r"Expected X of shape \(n, 8\)"):
        data.function(np.ones(8))
    with pytest.raises(ValueError, match="n_samples must be an integer of at least 1"):
        data.sample(0)


def test_result_is_frozen_and_survives_pickling():
    data = make("quartic_features")
    with pytest.raises(dataclasses.FrozenInstanceError):
        data.noise = 0.0
    copy = pickle.loads(pickle.dumps(data))
    np.testing.assert_array_equal(copy.function(data.X), data.function(data.X))


def test_no_test_points_is_allowed():
    assert make("quartic_features", n_test=0).X_test.shape == (0, 8)
    assert datasets.make_one_dimensional(n_test=0).X_test.shape == (0, 1)


@pytest.mark.parametrize("curve", ["square", "sigmoid"])
def test_alternating_toy(curve):
    toy = datasets.make_alternating_toy(curve)
    c = {"square": lambda y: y**2, "sigmoid": lambda y: 1 / (1 + np.exp(-y))}[curve]
    x, y = np.meshgrid(np.linspace(-3, 3, 25), np.linspace(-3, 3, 31))
    expected = (x - c(y)) ** 2 + np.cos(np.pi * y) + (1 - y) ** 2 + 1
    np.testing.assert_allclose(toy.value(x, y), expected, rtol=1e-13, atol=1e-13)
    step = 1e-6
    slope_x, slope_y = toy.gradient(x, y)
    finite_x = (toy.value(x + step, y) - toy.value(x - step, y)) / (2 * step)
    finite_y = (toy.value(x, y + step) - toy.value(x, y - step)) / (2 * step)
    np.testing.assert_allclose(slope_x, finite_x, atol=1e-6)
    np.testing.assert_allclose(slope_y, finite_y, atol=1e-6)
    # Variable projection: the reduced objective and its derivative are those at the best x.
    np.testing.assert_allclose(toy.value(toy.best_x(y), y), toy.reduced_value(y), atol=1e-14)
    best_slopes = toy.gradient(toy.best_x(y), y)
    np.testing.assert_array_equal(best_slopes[0], np.zeros_like(y))
    np.testing.assert_allclose(best_slopes[1], toy.reduced_derivative(y), atol=1e-14)
    assert toy.minimizer == pytest.approx((c(1.0), 1.0))
    assert toy.value(*toy.minimizer) == pytest.approx(0, abs=1e-15)
    assert toy.value(x, y).min() >= 0


def test_alternating_toy_has_a_local_minimum_that_is_not_global():
    toy = datasets.make_alternating_toy()
    grid = np.linspace(-2, 3, 2001)
    values = toy.reduced_value(grid)
    interior = (values[1:-1] < values[:-2]) & (values[1:-1] < values[2:])
    minima = grid[1:-1][interior]
    assert len(minima) >= 2
    assert np.min(np.abs(minima - 1)) < 2e-3
    assert np.sum(toy.reduced_value(minima) > 0.1) >= 1

"""SIR, SAVE, directional regression and PHD: formulas, planted subspaces, what they must miss."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest

from kernlens import PHD, SAVE, SIR, DirectionalRegression
from kernlens.methods.sdr.slices import Slices
from kernlens.methods.sdr.whitening import Whitening, ledoit_wolf_shrinkage
from kernlens.metrics import principal_angles
from reference import sdr as reference

ALL = [SIR, SAVE, DirectionalRegression, PHD]
every = pytest.mark.parametrize("estimator", ALL)


def columns(n=600, d=5, seed=0):
    """Correlated normal columns in odd units."""
    rng = np.random.default_rng(seed)
    mixing = np.eye(d) + 0.15 * rng.standard_normal((d, d))
    return rng.standard_normal((n, d)) @ mixing * np.logspace(-2, 2, d) + 7.0, rng


def angle(model, basis):
    """Largest angle between the directions found and some others, for standardised columns."""
    return principal_angles(model.loadings_, basis).max()


# Formulas


@pytest.mark.parametrize("shrinkage", [0.0, 0.3])
@pytest.mark.parametrize(
    ("estimator", "matrix"),
    [
        (SIR, reference.sir_matrix),
        (SAVE, reference.save_matrix),
        (DirectionalRegression, reference.directional_matrix),
    ],
)
def test_sliced_methods_against_their_definitions(estimator, matrix, shrinkage):
    X, rng = columns(60, 4)
    y = X[:, 0] * 30 + X[:, 1] ** 2 + rng.standard_normal(60)
    model = estimator(n_directions=2, n_slices=4, shrinkage=shrinkage).fit(X, y)
    Z, root = reference.whitened(X, shrinkage)
    expected = matrix(Z, reference.slices_of(y, 4))
    values = np.sort(np.linalg.eigvalsh(expected))[::-1]
    np.testing.assert_allclose(model.eigenvalues_, values[: len(model.eigenvalues_)], rtol=1e-5)
    assert len(model.eigenvalues_) == (3 if estimator is SIR else 4)
    assert angle(model, reference.leading_span(expected, root, 2)) < 1e-5
    assert model.shrinkage_ == shrinkage


@pytest.mark.parametrize("variant", ["residual", "response"])
def test_hessian_directions_against_their_definition(variant):
    X, rng = columns(60, 4)
    y = X[:, 0] * 30 + X[:, 1] ** 2 + rng.standard_normal(60)
    model = PHD(n_directions=2, variant=variant, shrinkage=0.0).fit(X, y)
    Z, root = reference.whitened(X)
    expected, _ = reference.hessian(Z, y, variant == "residual")
    squares = np.sort(np.linalg.eigvalsh(expected) ** 2)[::-1]
    np.testing.assert_allclose(model.eigenvalues_, squares, rtol=1e-4)
    assert angle(model, reference.leading_span(expected, root, 2)) < 1e-5


@pytest.mark.parametrize("shape", [(30, 8), (10, 25)])
def test_shrinkage_against_ledoit_and_wolf(shape):
    rng = np.random.default_rng(0)
    X = rng.standard_normal(shape) + rng.standard_normal((shape[0], 1))
    Z = reference.standardized(X)
    found = ledoit_wolf_shrinkage(Z, np.full(len(Z), 1.0 / len(Z)))
    assert found == pytest.approx(reference.ledoit_wolf(X), rel=1e-10)
    assert 0.0 < found < 1.0


def test_shrinkage_is_for_few_rows_only():
    X, rng = columns(60, 5)
    y = rng.standard_normal(60)
    assert SIR(n_directions=1).fit(X, y).shrinkage_ == 0.0
    assert SIR(n_directions=1).fit(X[:20], y[:20]).shrinkage_ > 0.0


def test_whitened_inputs_have_the_identity_as_covariance():
    X, rng = columns(80, 4)
    Z = np.column_stack([reference.standardized(X), np.zeros(80)])
    Z[:, 4] = Z[:, 0] - Z[:, 1]
    weights = rng.random(80) + 0.1
    whitening = Whitening.of(Z, weights, 0.0)
    assert whitening.rank == 4
    inputs = whitening.apply(Z)
    shares = weights / weights.sum()
    np.testing.assert_allclose(shares @ inputs, 0.0, atol=1e-12)
    np.testing.assert_allclose((inputs.T * shares) @ inputs, np.eye(4), atol=1e-8)


# Slices


def test_slices_have_the_same_weight_and_keep_equal_targets_together():
    y = np.array([5.0, 1.0, 2.0, 2.0, 3.0, 4.0, 6.0, 7.0])
    slices = Slices.of(y, np.ones(8), 4)
    np.testing.assert_array_equal(slices.numbers, [2, 0, 1, 1, 1, 2, 3, 3])
    np.testing.assert_allclose(slices.shares(np.ones(8)), [1 / 8, 3 / 8, 1 / 4, 1 / 4])
    few = Slices.of(np.array([3.0, 1.0, 3.0, 9.0]), np.ones(4), 10)
    np.testing.assert_array_equal(few.numbers, [1, 0, 1, 2])
    assert few.n_slices == 3
    heavy = Slices.of(np.arange(10.0), np.array([100.0] + [1.0] * 9), 5)
    assert heavy.n_slices == len(np.unique(heavy.numbers)) < 5


# Planted subspaces

PLANTED = {
    "trend": lambda a, b: np.exp(0.5 * a),
    "even": lambda a, b: a**2,
    "product": lambda a, b: a * b,
    "both": lambda a, b: 2 * a + b**2,
}


def planted(name, n=1500):
    X, rng = columns(n, 6, seed=3)
    Z = reference.standardized(X)
    loadings = np.linalg.qr(rng.standard_normal((6, 2)))[0].T
    features = Z @ loadings.T
    features /= features.std(axis=0)
    y = PLANTED[name](*features.T)
    true = loadings if name in ("product", "both") else loadings[:1]
    return X, y + 0.2 * y.std() * rng.standard_normal(n), true


@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        (SIR, "trend"),
        (SAVE, "even"),
        (SAVE, "product"),
        (DirectionalRegression, "trend"),
        (DirectionalRegression, "even"),
        (DirectionalRegression, "product"),
        (DirectionalRegression, "both"),
        (PHD, "even"),
        (PHD, "product"),
    ],
)
def test_planted_directions_are_found_and_counted(estimator, name):
    X, y, true = planted(name)
    model = estimator(level=0.01, random_state=0).fit(X, y)
    assert model.n_directions_ == len(true)
    assert angle(model, true) < 0.25


@pytest.mark.parametrize("name", ["even", "product"])
def test_sir_misses_what_is_even(name):
    X, y, _ = planted(name)
    with pytest.warns(UserWarning, match="found no direction; n_directions_ is 0"):
        model = SIR().fit(X, y)
    assert model.n_directions_ == 0
    assert model.transform(X).shape == (len(X), 0)
    assert SIR(n_directions=1).fit(X, y).eigenvalues_[0] < 0.02


def test_hessian_directions_miss_a_linear_trend():
    X, rng = columns(1500, 6)
    y = reference.standardized(X)[:, 1] + 0.3 * rng.standard_normal(1500)
    with pytest.warns(UserWarning, match="found no direction"):
        assert PHD().fit(X, y).n_directions_ == 0


def test_exactly_linear_targets_have_no_hessian():
    X, _ = columns(100, 4)
    with pytest.warns(UserWarning, match="found no direction"):
        assert PHD(n_directions=2).fit(X, X @ [1.0, 2.0, 0.0, 1.0]).n_directions_ == 0


# Kinds of targets


@every
def test_labels_and_their_numbers_are_the_same(estimator):
    X, _ = columns(200, 4)
    Z = reference.standardized(X)
    labels = np.digitize(Z[:, 0] ** 2 + Z[:, 1], [0.3, 1.5])
    words = np.array(["a", "b", "c"])[labels]
    one = estimator(n_directions=2).fit(X, words)
    other = estimator(n_directions=2, categorical=True).fit(X, labels)
    np.testing.assert_array_equal(one.components_, other.components_)
    plain = estimator(n_directions=2).fit(X, labels)
    if estimator is PHD:
        assert np.abs(plain.eigenvalues_ - one.eigenvalues_).max() > 1e-3
    else:
        # Three values are three slices.
        np.testing.assert_allclose(plain.eigenvalues_, one.eigenvalues_, rtol=1e-6)


def test_two_classes_have_one_direction_of_sir_which_is_that_of_fisher():
    X, _ = columns(300, 4)
    Z = reference.standardized(X)
    labels = Z @ [1.0, 0.0, -1.0, 0.5] > 0.2
    model = SIR(n_directions=3).fit(X, labels)
    assert model.components_.shape == (1, 4)
    within = sum(np.cov(Z[labels == c].T, bias=True) * (labels == c).mean() for c in (0, 1))
    fisher = np.linalg.solve(within, Z[labels].mean(axis=0) - Z[~labels].mean(axis=0))
    assert angle(model, fisher[None]) < 1e-5
    assert model.loadings_[0] @ fisher > 0


@every
def test_several_targets_share_their_directions(estimator):
    X, rng = columns(1500, 5, seed=1)
    Z = reference.standardized(X)
    Y = np.column_stack([np.exp(Z[:, 0]), np.exp(-Z[:, 3])]) + 0.1 * rng.standard_normal((1500, 2))
    model = estimator(n_directions=2, random_state=0).fit(X, Y)
    assert angle(model, np.eye(5)[[0, 3]]) < 0.3
    counted = estimator(random_state=0, n_permutations=39).fit(X, Y)
    assert counted.dimension_test_.method == "permutation"
    assert counted.n_directions_ >= 2


@every
def test_more_columns_than_rows(estimator):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 500))
    X[:, :5] += 2.0 * rng.standard_normal(60)[:, None]
    y = X[:, :5].mean(axis=1)
    model = estimator(n_directions=1).fit(X, y**2 if estimator is PHD else y)
    assert model.components_.shape == (1, 500)
    assert 0.0 < model.shrinkage_ < 1.0
    np.testing.assert_allclose(model.loadings_ @ model.loadings_.T, 1.0)
    if estimator is SIR:
        # Half of the unit vector is in five of five hundred columns.
        assert np.linalg.norm(model.loadings_[0, :5]) > 0.5
        assert SIR(random_state=0).fit(X, y).n_directions_ >= 1


# Weights


@every
def test_weights_are_repetitions(estimator):
    X, rng = columns(80, 3)
    y = X[:, 0] * 30 + rng.standard_normal(80)
    times = rng.integers(1, 4, 80)
    settings = {} if estimator is PHD else {"n_slices": 4}
    weighted = estimator(n_directions=2, shrinkage=0.0, **settings)
    weighted.fit(X, y, sample_weight=times)
    # Repetitions that are no exact copies, so that nobody merges them.
    moved = 1e-7 * rng.standard_normal((times.sum(), 3)) * X.std(axis=0)
    again = type(weighted)(**weighted.get_params())
    again.fit(np.repeat(X, times, axis=0) + moved, np.repeat(y, times))
    np.testing.assert_allclose(again.eigenvalues_, weighted.eigenvalues_, rtol=1e-4)
    np.testing.assert_allclose(again.loadings_, weighted.loadings_, atol=1e-3)


# Refusals


@every
def test_bad_targets_are_refused_in_a_sentence(estimator):
    X, _ = columns(30, 3)
    with pytest.raises(ValueError, match=r"^categorical=False needs a y of numbers"):
        estimator(categorical=False).fit(X, np.array(["a", "b"] * 15))
    with pytest.raises(ValueError, match="at least 2 classes"):
        estimator().fit(X, np.array(["a"] * 30))
    with pytest.raises(ValueError, match=r"^y has missing labels \(None\); leave these rows out"):
        estimator().fit(X, np.array(["a", "b", None] * 10, dtype=object))
    with pytest.raises(ValueError, match=r"^y has dates or durations; give numbers"):
        estimator().fit(X, np.arange("2020-01-01", "2020-01-31", dtype="datetime64[D]"))
    with pytest.raises(ValueError, match=r"^y has targets of text and of numbers; fit one model"):
        estimator().fit(X, np.array([["a", 0.5], ["b", 1.5]] * 15, dtype=object))
    with pytest.warns(UserWarning, match="unique classes is greater than 50%"):
        estimator(n_directions=1).fit(X, np.arange(30).astype(str))
    with pytest.raises(ValueError, match="requires y to be passed"):
        estimator().fit(X, None)
    with pytest.raises(ValueError, match="y contains NaN"):
        estimator().fit(X, np.full(30, np.nan))
    with pytest.warns(UserWarning, match="found no direction"):
        assert estimator(n_directions=2).fit(X, np.ones(30)).n_directions_ == 0


def test_columns_that_do_not_vary_have_no_direction():
    with pytest.warns(UserWarning, match="found no direction"):
        model = SIR(n_directions=2).fit(np.ones((20, 3)), np.arange(20.0))
    assert model.components_.shape == (0, 3)
    np.testing.assert_allclose(model.feature_importances_, 1 / 3)


def test_numbers_of_any_size_are_labels_if_the_user_says_so():
    X = np.random.default_rng(0).standard_normal((60, 3))
    labels = np.where(X[:, 0] > 0.0, 1.5, 1e50)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = SIR(categorical=True, n_directions=1).fit(X, labels)
    same = SIR(n_directions=1).fit(X, np.where(X[:, 0] > 0.0, "a", "b"))
    np.testing.assert_allclose(np.abs(found.loadings_), np.abs(same.loadings_), atol=1e-12)


@every
def test_a_share_may_be_any_number(estimator):
    X, rng = columns(40, 3)
    y = X[:, 0] + rng.standard_normal(40)
    one, two = (estimator(shrinkage=share).fit(X, y) for share in (Fraction(1, 3), 1 / 3))
    np.testing.assert_array_equal(one.loadings_, two.loadings_)
    assert isinstance(one.shrinkage_, float)

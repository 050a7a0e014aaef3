"""OPG and MAVE: moments, lines and bases against slow code, planted subspaces, counting."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens import MAVE, OPG
from kernlens.methods.sdr import gradients, local_linear, minimum_variance
from kernlens.methods.sdr.local_linear import LocalProblem, find_bandwidth, local_moments
from kernlens.metrics import principal_angles
from reference import sdr as reference

BOTH = [OPG, MAVE]
both = pytest.mark.parametrize("estimator", BOTH)


def problem(n=25, d=3, n_anchors=25, n_targets=1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X -= X.mean(axis=0)
    Y = np.array([np.sin(X[:, 0]) + X[:, 1] ** 2, X[:, 2]])[:n_targets]
    return LocalProblem(X, Y, rng.random(n) + 0.5, n_anchors)


def angle(found, basis):
    return principal_angles(found, basis).max()


# Formulas


def test_lines_against_weighted_least_squares(monkeypatch):
    monkeypatch.setattr(local_linear, "FLOOR", 0.0)
    asked = problem(n_targets=2)
    width = find_bandwidth(asked.inputs, asked.weights, 25, 0.5)
    (moments,) = local_moments(asked, asked.inputs, 0.5)
    for ridge in (0.0, 0.3):
        levels, slopes = moments.lines(ridge)
        for j in (0, 7, 24):
            p = reference.kernel_weights(asked.inputs, asked.weights, width, j)
            for t, y in enumerate(asked.targets):
                level, slope = reference.local_line(asked.inputs, y, p, j, ridge)
                assert levels[j, t] == pytest.approx(level, rel=1e-8)
                np.testing.assert_allclose(slopes[j, t], slope, rtol=1e-8, atol=1e-10)


def test_lines_along_a_basis_are_those_of_the_coordinates():
    asked = problem()
    basis = np.linalg.qr(np.random.default_rng(1).standard_normal((3, 2)))[0].T
    coordinates = asked.inputs @ basis.T
    (moments,) = local_moments(asked, coordinates, 0.4)
    reduced = LocalProblem(coordinates, asked.targets, asked.weights, 25)
    (of_reduced,) = local_moments(reduced, coordinates, 0.4)
    for found, expected in zip(moments.lines(0.01, basis), of_reduced.lines(0.01), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_blocks_change_nothing(monkeypatch):
    asked = problem(n_anchors=20, n_targets=2)
    (whole,) = local_moments(asked, asked.inputs, 0.5)
    monkeypatch.setattr(local_linear, "BLOCK_ENTRIES", 70)
    blocks = list(local_moments(asked, asked.inputs, 0.5))
    assert len(blocks) > 5
    for name in ("products", "means", "levels", "mixed", "importance"):
        joined = np.concatenate([getattr(block, name) for block in blocks])
        np.testing.assert_allclose(joined, getattr(whole, name), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.8])
def test_the_bandwidth_gives_the_median_anchor_its_share(share):
    asked = problem(60, 3, 60)
    width = find_bandwidth(asked.inputs, asked.weights, 60, share)
    all_p = [reference.kernel_weights(asked.inputs, asked.weights, width, j) for j in range(60)]
    effective = [1.0 / np.sum(p**2) for p in all_p]
    assert np.median(effective) == pytest.approx(share * asked.weights.sum(), rel=1e-4)


def test_rows_that_are_all_the_same_have_a_bandwidth():
    assert find_bandwidth(np.zeros((5, 2)), np.ones(5), 5, 0.5) == 1.0


def test_a_round_is_the_outer_product_of_slopes(monkeypatch):
    monkeypatch.setattr(local_linear, "FLOOR", 0.0)
    asked = problem()
    start = gradients.GradientDirections(np.eye(3), np.array([4.0, 1.0, 0.25]))
    coordinates = asked.inputs * [1.0, 0.5, 0.25]
    width = find_bandwidth(coordinates, asked.weights, 25, 0.5)
    product, total = np.zeros((3, 3)), 0.0
    for j in range(25):
        p = reference.kernel_weights(coordinates, asked.weights, width, j)
        _, slope = reference.local_line(asked.inputs, asked.targets[0], p, j, 0.1)
        counted = min(1.0, 1.0 / np.sum(p**2) / (0.5 * asked.weights.sum()))
        product += asked.weights[j] * counted * np.outer(slope, slope)
        total += asked.weights[j] * counted
    found = gradients.one_round(asked, start, 0.5, 0.1)
    expected = np.linalg.eigvalsh(product / total)[::-1]
    np.testing.assert_allclose(found.squares, expected, rtol=1e-8)
    rebuilt = (found.directions.T * found.squares) @ found.directions
    np.testing.assert_allclose(rebuilt, product / total, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("ridge", [0.0, 0.05, 50.0])
def test_a_step_is_least_squares_over_all_pairs(monkeypatch, ridge):
    # The largest ridge is more than the equations have along the basis, and is cut.
    monkeypatch.setattr(local_linear, "FLOOR", 0.0)
    monkeypatch.setattr(minimum_variance, "LINE_RIDGE", 0.0)
    asked = problem(15, 3, 15)
    basis = np.linalg.qr(np.random.default_rng(1).standard_normal((3, 2)))[0].T
    coordinates = asked.inputs @ basis.T
    width = find_bandwidth(coordinates, asked.weights, 15, 0.5)
    all_p, levels, slopes = [], [], []
    for j in range(15):
        p = reference.kernel_weights(coordinates, asked.weights, width, j)
        level, slope = reference.local_line(coordinates, asked.targets[0], p, j)
        all_p.append(p)
        levels.append(level)
        slopes.append(slope)
    (moments,) = local_moments(asked, coordinates, 0.5)
    equations = (asked.inputs, asked.targets[0], all_p, levels, np.array(slopes))
    solution = reference.mave_basis(*equations, moments.importance, basis, ridge)
    found = minimum_variance.one_step(asked, basis, 0.5, ridge)
    np.testing.assert_allclose(found @ found.T, np.eye(2), atol=1e-12)
    assert angle(found, solution) < 1e-6


# Planted subspaces

LINKS = {
    "trend": (1, lambda a, b: np.exp(0.5 * a)),
    "even": (1, lambda a, b: np.abs(a)),
    "product": (2, lambda a, b: a * b),
    "both": (2, lambda a, b: a + np.cos(2 * b)),
}


def planted(name, n=300, d=6, seed=0):
    """Columns that are neither normal nor symmetric, in odd units."""
    rng = np.random.default_rng(seed)
    Z = rng.exponential(size=(n, d))
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    k, link = LINKS[name]
    loadings = np.linalg.qr(rng.standard_normal((d, 2)))[0].T
    y = link(*(Z @ loadings.T).T)
    y = y + 0.1 * y.std() * rng.standard_normal(n)
    return Z * np.logspace(-2, 2, d) + 5.0, y, loadings[:k]


@both
@pytest.mark.parametrize("name", list(LINKS))
def test_planted_directions_are_found(estimator, name):
    X, y, true = planted(name)
    model = estimator(n_directions=len(true)).fit(X, y)
    assert angle(model.loadings_, true) < (0.15 if estimator is MAVE else 0.3)


@pytest.mark.parametrize("noise", [0.1, 1.0])
def test_a_straight_line_among_many_columns_is_found(noise):
    # Rows nearby hardly differ along the one direction: a ridge must not shrink it.
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 24))
    y = X[:, :4].sum(axis=1) / 2.0 + noise * rng.standard_normal(500)
    model = MAVE(n_directions=1).fit(X, y)
    assert angle(model.loadings_, np.repeat([0.5, 0.0], [4, 20])[None]) < (
        0.05 if noise < 1 else 0.4
    )


@both
@pytest.mark.parametrize("name", ["trend", "product"])
def test_directions_are_counted_by_held_out_rows(estimator, name):
    X, y, true = planted(name, 200, 4)
    assert estimator().fit(X, y).n_directions_ == len(true)


@both
def test_a_plane_has_one_direction(estimator):
    X = np.random.default_rng(0).standard_normal((200, 6))
    assert estimator().fit(X, X[:, 0] + X[:, 1]).n_directions_ == 1


@both
def test_noise_has_no_direction(estimator):
    X, _, _ = planted("even", 80)
    with pytest.warns(UserWarning, match="found no direction"):
        model = estimator().fit(X, np.random.default_rng(1).standard_normal(80))
    assert model.components_.shape == (0, 6)


@both
def test_labels_are_as_good_as_their_indicators(estimator):
    X, y, true = planted("even", 200)
    labels = np.where(y > np.median(y), "high", "low")
    one = estimator(n_directions=1).fit(X, labels)
    other = estimator(n_directions=1).fit(X, (labels == "low").astype(float))
    np.testing.assert_allclose(np.abs(one.loadings_), np.abs(other.loadings_), atol=1e-6)
    assert angle(one.loadings_, true) < 0.4
    three = np.digitize(y, np.quantile(y, [0.3, 0.7]))
    model = estimator(n_directions=1, categorical=True).fit(X, three)
    assert angle(model.loadings_, true) < 0.4


@both
def test_several_targets_share_their_directions(estimator):
    X, _, true = planted("product", 200)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    Y = np.column_stack([np.sin(Z @ true[0]), 1000.0 * np.abs(Z @ true[1])])
    model = estimator(n_directions=2).fit(X, Y)
    assert angle(model.loadings_, true) < 0.2


@both
def test_more_columns_than_rows(estimator):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 500))
    X[:, :5] += 2.0 * rng.standard_normal(60)[:, None]
    model = estimator(n_directions=1).fit(X, X[:, :5].mean(axis=1))
    # Five of five hundred columns have a tenth of the length of a random direction.
    assert np.linalg.norm(model.loadings_[0, :5]) > 0.35
    np.testing.assert_allclose(model.loadings_ @ model.loadings_.T, 1.0)


@both
def test_many_rows(estimator, monkeypatch):
    for module in (gradients, minimum_variance):
        monkeypatch.setattr(module, "EARLY_ROWS", 200)
    X, y, true = planted("both", 1000, 4)
    model = estimator(n_directions=2).fit(X, y)
    assert angle(model.loadings_, true) < 0.1


@both
def test_a_constant_target_has_no_direction(estimator):
    X, _, _ = planted("even", 30)
    with pytest.warns(UserWarning, match="found no direction"):
        assert estimator(n_directions=2).fit(X, np.ones(30)).n_directions_ == 0
    with pytest.raises(ValueError, match="requires y to be passed"):
        estimator().fit(X, None)


def test_shares_of_rows_fall_to_the_last_one():
    shares = gradients.falling_shares(0.05, 4, 2)
    assert shares[0] == gradients.FIRST_SHARE and len(shares) == 7
    np.testing.assert_allclose(np.diff(np.log(shares[:5])), np.log(0.1) / 4)
    np.testing.assert_allclose(shares[4:], 0.05)
    assert gradients.last_share(20.0, 30.0, 0.8) == gradients.FIRST_SHARE
    assert gradients.last_share(8000.0, 30.0, 0.8) == pytest.approx(0.04)

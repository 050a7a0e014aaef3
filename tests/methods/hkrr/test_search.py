"""Search of settings: losses recomputed by hand, when a path ends, maps narrowed to directions."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from kernlens.fits.held_out import clip_decision
from kernlens.kernels.radial import make_radial_kernel
from kernlens.methods.hkrr import search as hyper_kernel_search
from kernlens.methods.hkrr.problem import HyperKernelProblem
from kernlens.methods.hkrr.search import (
    PATIENCE,
    SettingSearch,
    Visited,
    direction_strengths,
    reduce_map,
    score_point,
)
from reference import hkrr
from reference.bkernn_problems import LOSSES
from reference.hkrr_problems import (
    near_truth,
    objective_of,
    planted_map,
    planted_rows,
    splits_of,
    subspace_gap,
)

ALL_LOSSES = ["squared", "logistic", "multinomial"]
BOUNDS = {
    "squared": (np.array([-0.8]), np.array([0.6])),
    "logistic": (np.array([-1.0]), np.array([2.0])),
}


def search_of(loss="squared", alphas=(1e-1, 1e-2, 1e-3), bounds=None, n=60, k=1, **options):
    rows = planted_rows(loss, n=n, k=k, noise=0.2)
    rows = dataclasses.replace(
        rows, weights=np.random.default_rng(0).uniform(0.5, 2.0, len(rows.X))
    )
    problem = HyperKernelProblem(make_radial_kernel("matern52"), LOSSES[loss])
    return SettingSearch(problem, splits_of(rows), alphas, bounds, **options)


@pytest.mark.parametrize(
    ("loss", "bounds"), [*((loss, None) for loss in ALL_LOSSES), *BOUNDS.items()]
)
def test_losses_are_those_of_the_maps_recomputed_by_hand(loss, bounds):
    search = search_of(loss, (1e-1, 1e-2), bounds)
    search.follow([near_truth(2)] * 2)
    assert len(search.visited) == 2
    for setting in search.visited:
        assert setting.n_components == 2 and len(setting.maps) == 2
        by_hand = [
            hkrr.held_out_loss(
                "matern52", loss, B, split.train, split.test, split.Z, setting.alpha, bounds=bounds
            )
            for split, B in zip(search.splits, setting.maps, strict=True)
        ]
        assert setting.loss == pytest.approx(np.mean(by_hand), rel=1e-5)


def test_every_alpha_starts_from_the_map_of_the_one_before(monkeypatch):
    search = search_of()
    starts = {}
    step = SettingSearch._step

    def recorded(self, split, B, alpha):
        starts.setdefault(alpha, []).append(B)
        return step(self, split, B, alpha)

    monkeypatch.setattr(SettingSearch, "_step", recorded)
    first = [near_truth(2), 1.1 * near_truth(2)]
    search.follow(first)
    before = first
    for setting in search.visited:
        for start, end in zip(starts[setting.alpha], before, strict=True):
            np.testing.assert_array_equal(start, end)
        before = setting.maps


@pytest.mark.parametrize("loss", ALL_LOSSES)
def test_objectives_go_down_along_every_step(loss):
    search = search_of(loss)
    start = near_truth(2)
    search.follow([start] * 2)
    maps = [start] * 2
    for setting in search.visited:
        for split, before, after in zip(search.splits, maps, setting.maps, strict=True):
            objective = search.problem.objective(split.train, split.Z, setting.alpha)
            assert objective.at(after).value <= objective.at(before).value * (1 + 1e-9)
        maps = setting.maps


def scripted(monkeypatch, losses, **options):
    """A search whose maps never move and whose held-out losses are given."""
    given = iter(losses)
    search = search_of(alphas=tuple(10.0 ** -np.arange(len(losses))), **options)
    search.splits = search.splits[:1]
    monkeypatch.setattr(
        SettingSearch,
        "_step",
        lambda self, split, B, alpha: self.problem.objective(split.train, split.Z, alpha).at(B),
    )
    monkeypatch.setattr(
        hyper_kernel_search,
        "row_losses",
        lambda problem, point, test, bounds: np.full(len(test.X), next(given)),
    )
    search.follow([near_truth(1)])
    return search


@pytest.mark.parametrize(
    ("losses", "n_visited"),
    [
        ([8.0, 4.0, 2.0, 1.0, 0.5, 0.25], 6),
        ([1.0, 2.0, 4.0, 8.0, 16.0, 32.0], 1 + PATIENCE),
        ([8.0, 4.0, 5.0, 2.0, 3.0, 1.0], 6),
        ([8.0, 4.0, *[9.0] * PATIENCE, 1e-3, 1e-4], 2 + PATIENCE),
        # Not lower than the best is worse, whatever the last one was.
        ([4.0, 10.0, 9.0, 8.0, 7.0, 6.0], 1 + PATIENCE),
        # No gain at all is no gain.
        ([4.0, 4.0, 4.0, 4.0, 4.0, 4.0], 1 + PATIENCE),
    ],
)
def test_a_path_ends_after_so_many_alphas_without_gain(monkeypatch, losses, n_visited):
    search = scripted(monkeypatch, losses)
    found = [setting.loss for setting in search.visited]
    assert found == pytest.approx(losses[:n_visited], rel=1e-12)
    assert [setting.alpha for setting in search.visited] == list(search.alphas[:n_visited])


def test_the_best_setting_is_the_lowest_and_of_equal_ones_the_first(monkeypatch):
    search = scripted(monkeypatch, [3.0, 1.0, 1.0, 7.0])
    assert search.best is search.visited[1]
    search.visited.append(Visited(1, 1.0, 0.5, ()))
    assert search.best is search.visited[-1]


def test_other_alphas_may_be_given_and_paths_add_up():
    search = search_of()
    search.follow([near_truth(2)] * 2)
    n = len(search.visited)
    search.follow([near_truth(1)] * 2, [0.5, 0.05])
    assert [(s.n_components, s.alpha) for s in search.visited[n:]] == [(1, 0.5), (1, 0.05)]
    assert search.best.loss == min(setting.loss for setting in search.visited)


def test_callbacks_see_the_iterations_and_points_of_their_alpha():
    iterations, watched = [], {}
    search = search_of(
        progress=lambda iteration, value: iterations.append(iteration),
        watch=lambda alpha: watched.setdefault(alpha, []).append,
    )
    search.follow([near_truth(2)] * 2)
    assert set(watched) == {setting.alpha for setting in search.visited}
    assert iterations[0] == 1 and len(iterations) >= len(search.visited)
    for setting in search.visited:
        assert any(np.allclose(point.W, setting.maps[0]) for point in watched[setting.alpha])


# -- maps and directions --------------------------------------------------------------------------


@pytest.mark.parametrize(("k", "r"), [(1, 1), (3, 1), (3, 2), (3, 3), (2, 3)])
def test_a_reduced_map_sees_what_the_map_sees_of_the_directions(k, r):
    rng = np.random.default_rng(k + r)
    B = rng.standard_normal((k, 5))
    Q = np.linalg.qr(rng.standard_normal((5, r)))[0].T
    reduced = reduce_map(B, Q)
    assert reduced.shape == (min(k, r), 5)
    for x in rng.standard_normal((30, 5)):
        expected = np.linalg.norm(B @ Q.T @ (Q @ x))
        assert np.linalg.norm(reduced @ x) == pytest.approx(expected, abs=1e-12)


def test_reducing_to_all_of_its_directions_changes_no_distance():
    B = np.random.default_rng(0).standard_normal((3, 5))
    directions = np.linalg.svd(B)[2][:3]
    reduced = reduce_map(B, directions)
    np.testing.assert_allclose(reduced.T @ reduced, B.T @ B, atol=1e-12)


@pytest.mark.parametrize("kernel", ["gaussian", "matern52"])
@pytest.mark.parametrize(("k", "d"), [(1, 3), (2, 4), (3, 3)])
@pytest.mark.parametrize("n_targets", [1, 2])
def test_strengths_are_eigenvalues_of_the_dense_average_outer_product(kernel, k, d, n_targets):
    case = hkrr.problem("squared", n=8, p=5, d=d, k=k, n_targets=n_targets)
    point = objective_of(case, kernel).with_coefficients(case.B, case.a, case.c)
    slopes, directions = direction_strengths(point, case.weights)
    dense = hkrr.average_outer_product(case, kernel)
    values = np.linalg.eigvalsh(dense)
    expected = np.sqrt(np.maximum(values[::-1][:k], 0.0))
    np.testing.assert_allclose(slopes, expected, atol=1e-6 * expected[0])
    np.testing.assert_allclose(directions @ directions.T, np.eye(k), atol=1e-12)
    # The dense matrix from its parts; eigenvectors alone are known up to a sign only.
    rebuilt = directions.T @ np.diag(slopes**2) @ directions
    np.testing.assert_allclose(rebuilt, dense, atol=1e-6 * values[-1])


def test_strengths_of_a_constant_function_are_zero():
    case = hkrr.problem("squared", n=8, p=5)
    point = objective_of(case).with_coefficients(case.B, 0.0 * case.a, case.c)
    slopes, directions = direction_strengths(point, case.weights)
    np.testing.assert_array_equal(slopes, 0.0)
    assert np.isfinite(directions).all()


@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_narrowed_maps_keep_the_leading_directions(n_components):
    search = search_of(n=80, k=2)
    setting = Visited(3, 1e-3, 0.0, (near_truth(3), 1.2 * near_truth(3)))
    maps = search.narrowed(setting, n_components)
    for split, B, narrow in zip(search.splits, setting.maps, maps, strict=True):
        assert narrow.shape == (n_components, 4)
        point = search.problem.objective(split.train, split.Z, 1e-3).at(B)
        case = hkrr.Problem(
            "squared",
            split.train.X,
            split.Z,
            split.train.y,
            split.train.weights,
            B,
            point.fit.coefficients,
            point.fit.intercept,
            1e-3,
            1e-10,
        )
        dense = hkrr.average_outer_product(case, "matern52")
        top = np.linalg.eigh(dense)[1][:, ::-1][:, :n_components]
        projection = top @ top.T
        expected = projection @ B.T @ B @ projection
        np.testing.assert_allclose(narrow.T @ narrow, expected, atol=1e-5)


def test_the_number_of_directions_follows_their_share(monkeypatch):
    search = search_of(n=120)
    search.follow([near_truth(3)] * 2)
    setting = search.best
    for share, number in ((0.0, 3), (2.0, 1)):
        monkeypatch.setattr(hyper_kernel_search, "SHARE", share)
        assert search.n_directions(setting) == number
    shares = []
    for split, B in zip(search.splits, setting.maps, strict=True):
        point = search.problem.objective(split.train, split.Z, setting.alpha).at(B)
        slopes, _ = direction_strengths(point, split.train.weights)
        shares.append(slopes / slopes.sum())
    mean = np.mean(shares, axis=0)
    for number in (1, 2):
        between = 0.5 * (mean[number - 1] + mean[number])
        monkeypatch.setattr(hyper_kernel_search, "SHARE", between)
        assert search.n_directions(setting) == number
    narrow = search.narrowed(setting, 1)
    assert max(subspace_gap(B, planted_map(1, 4)) for B in narrow) < 0.2


@pytest.mark.parametrize("n_starts", [1, 2, 3])
def test_settling_gives_every_split_the_map_that_fits_it_best(n_starts):
    search = search_of()
    starts = [np.zeros((2, 4)), near_truth(2), 0.1 * planted_map(2, 4, seed=5)][-n_starts:]
    settled = search.settle(starts)
    alpha = search.alphas[0]
    assert settled.alpha == alpha and settled.n_components == 2 and search.visited == []
    # Starts go round the splits, and splits round the starts, until all have had a turn.
    ends = [
        search._step(search.splits[k % 2], starts[k % n_starts], alpha).W
        for k in range(max(2, n_starts))
    ]
    for split, B in zip(search.splits, settled.maps, strict=True):
        objective = search.problem.objective(split.train, split.Z, alpha)
        values = [objective.at(end).value for end in ends]
        np.testing.assert_array_equal(B, ends[np.argmin(values)])


@pytest.mark.parametrize("M", [0.5, 2.0])
def test_clipping_is_the_truncation_of_the_paper(M):
    """T_M f = sign(f) min(|f|, M) for bounds -M, M."""
    decision = np.random.default_rng(0).standard_normal((2, 50)) * 2
    kept = decision.copy()
    clipped = clip_decision(decision, (np.full(2, -M), np.full(2, M)))
    np.testing.assert_array_equal(clipped, np.sign(kept) * np.minimum(np.abs(kept), M))
    np.testing.assert_array_equal(decision, kept)


def test_every_target_has_bounds_of_its_own_and_none_is_no_bound():
    decision = np.array([[-5.0, 0.0, 5.0], [-5.0, 0.0, 5.0]])
    clipped = clip_decision(decision, (np.array([-1.0, 2.0]), np.array([1.0, 3.0])))
    np.testing.assert_array_equal(clipped, [[-1.0, 0.0, 1.0], [2.0, 2.0, 3.0]])
    assert clip_decision(decision, None) is decision


def test_clipping_within_the_range_of_the_targets_never_hurts():
    search = search_of()
    split = search.splits[0]
    # A map and an alpha far from good ones: the function overshoots.
    split = dataclasses.replace(split, Z=split.train.X)
    point = search.problem.objective(split.train, split.Z, 1e-9).at(0.3 * near_truth(2))
    bounds = (split.test.y.min(axis=1), split.test.y.max(axis=1))
    free = score_point(search.problem, point, split.test, None)
    assert score_point(search.problem, point, split.test, bounds) < free


def test_a_path_ends_where_the_loss_is_at_its_floor(monkeypatch):
    search = scripted(monkeypatch, [8.0, 4.0, 2.0, 1.0, 0.5, 0.25], floor=1.5)
    found = [setting.loss for setting in search.visited]
    assert found == pytest.approx([8.0, 4.0, 2.0, 1.0], rel=1e-12)


def test_the_smoothest_is_the_largest_alpha_within_a_standard_error():
    search = search_of()
    search.splits = search.splits[:1]
    weights = search.splits[0].test.weights
    noise = np.random.default_rng(0).standard_normal(len(weights))
    noise -= np.average(noise, weights=weights)
    error = np.linalg.norm(weights / weights.sum() * noise)

    def tried(alpha, row_losses):
        loss = float(np.average(row_losses, weights=weights))
        return Visited(2, alpha, loss, (), 0, row_losses)

    best = tried(1e-4, np.ones(len(weights)))
    worse = {0.1: 1.01, 1e-2: 0.99, 1e-3: 0.5}
    settings = [tried(alpha, 1.0 + noise + k * error) for alpha, k in worse.items()]
    assert search.smoothest([*settings, best]) is settings[1]
    assert search.smoothest([settings[0], best]) is best

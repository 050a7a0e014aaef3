"""Penalties on the particles: values, proximal operators, directions."""

from __future__ import annotations

import dataclasses
import warnings

import numpy as np
import pytest
import scipy.linalg

from kernlens.penalties import (
    PENALTIES,
    BasicPenalty,
    ConcaveFeaturePenalty,
    ConcaveVariablePenalty,
    FeaturePenalty,
    Penalty,
    VariablePenalty,
    log_penalty,
    log_threshold,
    make_penalty,
)
from reference import penalties as oracle

NAMES = list(PENALTIES)
CONVEX = ["basic", "basic_l1", "variable", "feature"]
SPECTRAL = ["feature", "concave_feature"]
COORDINATE = ["variable", "concave_variable"]
SHAPES = [(5, 3), (3, 5), (4, 4), (1, 3), (3, 1)]

pytestmark = pytest.mark.filterwarnings("error")


def particles(shape, seed=0, scale=1.0):
    return scale * np.random.default_rng(seed).standard_normal(shape)


def orthogonal(n, seed):
    return np.linalg.qr(particles((n, n), seed))[0]


def prox_objective(penalty, W, step, U):
    return 0.5 * np.sum((W - U) ** 2) + step * penalty.value(U)


def random_scalar_problems(n, seed):
    rng = np.random.default_rng(seed)
    return tuple(10.0 ** rng.uniform(-1.5, 1.5, n) for _ in range(3))


# The scalar logarithmic threshold


def test_log_threshold_is_the_global_minimiser_in_all_four_branches():
    rho, tau, c = random_scalar_problems(4000, seed=1)
    ours = log_threshold(rho, tau, c)
    brute = oracle.scalar_prox_by_grid(rho, tau, c)
    excess = oracle.scalar_objective(ours, rho, tau, c) - oracle.scalar_objective(
        brute, rho, tau, c
    )
    scale = rho**2 + tau / c
    assert np.max(excess / scale) <= 1e-14

    branch = oracle.scalar_branch(rho, tau, c)
    assert np.bincount(branch, minlength=5)[1:].min() >= 50
    assert np.all(ours[branch == 1] > 0)
    assert np.all(ours[(branch == 2) | (branch == 3)] == 0)
    kept = ours[branch == 4] > 0
    assert kept.sum() >= 50 and (~kept).sum() >= 50


def test_log_threshold_has_the_position_of_the_brute_force_minimiser():
    rho, tau, c = random_scalar_problems(4000, seed=2)
    ours = log_threshold(rho, tau, c)
    brute = oracle.scalar_prox_by_grid(rho, tau, c)
    # Only in branch 4 can 0 and the root tie; there compare where a root clearly wins or loses.
    root = np.where(ours > 0, ours, brute)
    gain = oracle.scalar_objective(root, rho, tau, c) - oracle.scalar_objective(0, rho, tau, c)
    branch = oracle.scalar_branch(rho, tau, c)
    tied = (branch == 4) & (root > 0) & (np.abs(gain) < 1e-12 * (rho**2 + tau / c))
    assert tied.mean() < 0.002
    np.testing.assert_allclose(ours[~tied], brute[~tied], rtol=1e-9, atol=1e-13)


def test_the_rule_printed_in_the_appendix_is_beaten():
    rho, tau, c = random_scalar_problems(4000, seed=3)
    delta = (1 + c * rho) ** 2 - 4 * c * tau
    root = np.maximum((c * rho - 1 + np.sqrt(np.maximum(delta, 0))) / (2 * c), 0)
    printed = np.where(delta > 0, root, 0)
    ours = log_threshold(rho, tau, c)
    excess = oracle.scalar_objective(printed, rho, tau, c) - oracle.scalar_objective(
        ours, rho, tau, c
    )
    assert np.min(excess) > -1e-9 and np.mean(excess > 1e-3) > 0.01


@pytest.mark.parametrize("gap", [1e-2, 1e-6, 1e-10, 1e-14])
@pytest.mark.parametrize("shift", [-1e-3, -1e-9, 0.0, 1e-9, 1e-3])
def test_log_threshold_keeps_its_digits_near_the_triple_point(gap, shift):
    # At rho = tau = 1/c both coefficients vanish; the textbook root loses half its digits there.
    rho, tau, c = 1.0 + gap, 1.0, 1.0 + shift
    exact = oracle.larger_root_in_decimal(rho, tau, c)
    # rho - 1/c is formed in floating point, which bounds what the root can know of it.
    assert log_threshold(rho, tau, c) == pytest.approx(exact, rel=1e-12, abs=1e-15)


def test_log_threshold_is_exactly_zero_where_no_stationary_point_exists():
    # One float above tau = rho, zero beats the real part of the complex roots by rounding only.
    rng = np.random.default_rng(43)
    rho = rng.uniform(0.5, 2, 200_000)
    tau = np.nextafter(rho, np.inf)
    beyond = 10.0 ** rng.uniform(-14, -6, rho.size)
    # Delta is (c rho - 1)^2 - 4 c (tau - rho), negative with a margin.
    no_root = beyond**2 < (tau - rho) / rho
    assert no_root.sum() > 10_000
    assert np.all(log_threshold(rho, tau, (1 + beyond) / rho)[no_root] == 0)


@pytest.mark.parametrize("unit", [1e-150, 1e-30, 1e30, 1e150, 1e250])
def test_log_threshold_is_homogeneous_up_to_extreme_units(unit):
    rho, tau, c = random_scalar_problems(500, seed=4)
    np.testing.assert_allclose(
        log_threshold(unit * rho, unit * tau, c / unit),
        unit * log_threshold(rho, tau, c),
        rtol=1e-9,
    )


def test_log_threshold_is_finite_bounded_and_silent_for_any_size():
    sizes = np.array([0.0, 5e-324, 1e-310, 1e-200, 1e-9, 1.0, 1e9, 1e200, 1e307])
    rho, tau, c = np.meshgrid(sizes, sizes, sizes)
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        ours = log_threshold(rho, tau, c)
        values = log_penalty(rho, c)
    assert np.all(np.isfinite(ours)) and np.all(ours >= 0)
    assert np.all(ours <= rho * (1 + 1e-15))
    assert np.all(ours[rho == 0] == 0)
    assert np.all(np.isfinite(values)) and np.all(values <= rho)


def test_log_threshold_without_concavity_is_exactly_the_soft_threshold():
    rho, tau, _ = random_scalar_problems(500, seed=5)
    np.testing.assert_array_equal(log_threshold(rho, tau, 0.0), np.maximum(rho - tau, 0))
    np.testing.assert_array_equal(log_penalty(rho, 0.0), rho)


@pytest.mark.parametrize("c", [1e-3, 1e-6, 1e-9, 1e-15, 1e-300, 5e-324])
def test_log_threshold_tends_to_the_soft_threshold_at_rate_c(c):
    rho, tau, _ = random_scalar_problems(500, seed=6)
    limit = np.maximum(rho - tau, 0)
    bound = 2 * c * tau * rho + 1e-14 * rho
    assert np.all(np.abs(log_threshold(rho, tau, c) - limit) <= bound)
    assert np.all(np.abs(log_penalty(rho, c) - rho) <= c * rho**2 / 2 + 1e-14 * rho)


def test_log_threshold_never_decreases_with_the_magnitude():
    rho = np.linspace(0, 12, 2001)
    for tau, c in [(1.0, 0.5), (3.0, 2.0), (5.0, 10.0)]:
        assert np.all(np.diff(log_threshold(rho, tau, c)) >= 0)


def test_log_threshold_recovers_planted_stationary_points():
    # rho = u + tau / (1 + c u) makes u stationary; c tau <= 1 makes the problem convex.
    rng = np.random.default_rng(7)
    u, c = rng.uniform(0.1, 5, 300), rng.uniform(0.1, 5, 300)
    tau = rng.uniform(0, 1, 300) / c
    np.testing.assert_allclose(log_threshold(u + tau / (1 + c * u), tau, c), u, rtol=1e-10)


# Values


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("s", [0.3, 1.0, 20.0])
def test_value_matches_the_definition(name, shape, s):
    W = particles(shape, seed=8)
    expected = 1.7 * oracle.OMEGA[name](W, s)
    assert make_penalty(name, s=s, strength=1.7).value(W) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", CONVEX)
def test_convex_values_are_norms(name):
    penalty = make_penalty(name)
    V, W = particles((4, 3), 9), particles((4, 3), 10)
    assert penalty.value(-2.5 * W) == pytest.approx(2.5 * penalty.value(W), rel=1e-13)
    assert penalty.value(V + W) <= penalty.value(V) + penalty.value(W)


@pytest.mark.parametrize("name", NAMES)
def test_duplicating_every_particle_leaves_the_value(name):
    # Omega depends on the particles only through their empirical distribution.
    W = particles((4, 3), 11)
    penalty = make_penalty(name)
    assert penalty.value(np.repeat(W, 3, axis=0)) == pytest.approx(penalty.value(W), rel=1e-13)


# Matrix proximal operators


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("shape", "step"), [((2, 3), 0.8), ((3, 2), 3.0)])
def test_no_search_beats_the_prox(name, shape, step):
    s = 4.0
    penalty = make_penalty(name, s=s, strength=1.3)
    W = particles(shape, seed=12)
    U = penalty.prox(W, step)
    ours = prox_objective(penalty, W, step, U)
    starts = [W, U + 1e-2 * particles(shape, 13), 1e-2 * particles(shape, 14)]
    starts += [particles(shape, 15 + i) for i in range(2)]
    best = oracle.matrix_prox_by_search(W, step, penalty.value, starts)
    assert ours <= best + 1e-10
    # The search is strong enough to come close, so the line above can fail.
    assert best <= ours + 1e-2 * ours


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("step", [0.1, 1.0, 4.0])
def test_no_perturbation_beats_the_prox(name, shape, step):
    rng = np.random.default_rng(16)
    penalty = make_penalty(name, s=5.0)
    W = particles(shape, seed=17)
    U = penalty.prox(W, step)
    ours = prox_objective(penalty, W, step, U)
    for size in 10.0 ** np.arange(-6.0, 1.0):
        for _ in range(10):
            move = rng.standard_normal(shape)
            if rng.random() < 0.5:
                move *= rng.random(shape) < 0.4
            assert ours <= prox_objective(penalty, W, step, U + size * move) + 1e-10
    for t in np.linspace(0, 1, 11):
        assert ours <= prox_objective(penalty, W, step, t * W) + 1e-10


@pytest.mark.parametrize("name", ["variable", "feature", "concave_variable", "concave_feature"])
def test_a_threshold_with_m_instead_of_its_root_is_beaten(name):
    penalty = make_penalty(name)
    W, step = particles((6, 3), 18, scale=2.0), 3.0
    wrong = penalty.prox(W, step / np.sqrt(6))
    right = penalty.prox(W, step)
    assert prox_objective(penalty, W, step, right) < prox_objective(penalty, W, step, wrong) - 1e-3


def dual_norm(name, R):
    """Dual of the norm 2 m Omega or 2 sqrt(m) Omega."""
    return {
        "basic": lambda: np.linalg.norm(R, axis=1).max(),
        "basic_l1": lambda: np.abs(R).max(),
        "variable": lambda: np.linalg.norm(R, axis=0).max(),
        "feature": lambda: np.linalg.norm(R, 2),
    }[name]()


@pytest.mark.parametrize("name", CONVEX)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("step", [0.2, 1.0, 5.0])
def test_convex_prox_carries_its_optimality_certificate(name, shape, step):
    # U minimises iff R = W - U has dual norm <= tau and <R, U> = step * Omega(U).
    penalty = make_penalty(name)
    W = particles(shape, 19)
    U = penalty.prox(W, step)
    m = shape[0]
    tau = step / (2 * m if name.startswith("basic") else 2 * np.sqrt(m))
    assert dual_norm(name, W - U) <= tau + 1e-13
    assert np.sum((W - U) * U) == pytest.approx(step * penalty.value(U), abs=1e-12)


@pytest.mark.parametrize("name", CONVEX)
def test_convex_prox_is_firmly_non_expansive(name):
    penalty = make_penalty(name)
    for seed in range(30):
        V, W = particles((4, 3), 2 * seed), particles((4, 3), 2 * seed + 1)
        gap = penalty.prox(V, 1.5) - penalty.prox(W, 1.5)
        assert np.sum(gap**2) <= np.sum(gap * (V - W)) + 1e-12


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", SHAPES)
def test_step_zero_and_strength_zero_copy_the_input(name, shape):
    W = particles(shape, 20)
    for U in (make_penalty(name).prox(W, 0.0), make_penalty(name, strength=0.0).prox(W, 2.0)):
        np.testing.assert_array_equal(U, W)
        assert not np.shares_memory(U, W)


@pytest.mark.parametrize("name", NAMES)
def test_strength_scales_like_the_step(name):
    W = particles((5, 3), 21)
    strong = make_penalty(name, strength=3.0)
    plain = make_penalty(name)
    np.testing.assert_allclose(strong.prox(W, 0.5), plain.prox(W, 1.5), atol=1e-14)
    assert strong.value(W) == pytest.approx(3 * plain.value(W), rel=1e-14)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_big_step_gives_exact_zeros(name, shape):
    np.testing.assert_array_equal(make_penalty(name).prox(particles(shape, 22), 1e6), 0.0)


@pytest.mark.parametrize("name", NAMES)
def test_prox_is_sparse_in_its_own_sense(name):
    # A strong and a weak part: the weak one disappears entirely, the strong one does not.
    rng = np.random.default_rng(23)
    m, d = 8, 5
    strong, weak = 10.0, 1e-3
    scales = np.array([strong, strong, weak, weak, weak])
    if name in COORDINATE:
        W, survivors = rng.standard_normal((m, d)) * scales, lambda U: np.any(U, axis=0).sum()
    elif name in SPECTRAL:
        W = orthogonal(m, 24)[:, :d] * scales @ orthogonal(d, 25)
        survivors = np.linalg.matrix_rank
    else:
        W = rng.choice([-1.0, 1.0], (m, d)) * np.repeat([[strong], [weak]], [2, m - 2], axis=0)
        survivors = lambda U: np.any(U, axis=1).sum()  # noqa: E731
    assert survivors(make_penalty(name).prox(W, 1.0)) == 2
    assert survivors(W) > 2


@pytest.mark.parametrize("name", SPECTRAL)
def test_feature_penalties_ignore_rotations_on_both_sides(name):
    penalty = make_penalty(name, s=3.0)
    W, left, right = particles((5, 3), 26), orthogonal(5, 27), orthogonal(3, 28)
    turned = left @ W @ right
    assert penalty.value(turned) == pytest.approx(penalty.value(W), rel=1e-13)
    np.testing.assert_allclose(
        penalty.prox(turned, 1.0), left @ penalty.prox(W, 1.0) @ right, atol=1e-13
    )


@pytest.mark.parametrize("name", COORDINATE)
def test_variable_penalties_follow_permuted_columns_and_ignore_left_rotations(name):
    penalty = make_penalty(name, s=3.0)
    W, left, order = particles((5, 3), 29), orthogonal(5, 30), np.array([2, 0, 1])
    assert penalty.value(left @ W[:, order]) == pytest.approx(penalty.value(W), rel=1e-13)
    np.testing.assert_allclose(
        penalty.prox(left @ W[:, order], 1.0), left @ penalty.prox(W, 1.0)[:, order], atol=1e-13
    )


def test_basic_penalty_ignores_right_rotations_and_follows_permuted_particles():
    penalty = BasicPenalty()
    W, right, order = particles((4, 3), 31), orthogonal(3, 32), np.array([3, 1, 0, 2])
    assert penalty.value(W[order] @ right) == pytest.approx(penalty.value(W), rel=1e-13)
    np.testing.assert_allclose(
        penalty.prox(W[order] @ right, 2.0), penalty.prox(W, 2.0)[order] @ right, atol=1e-14
    )


CONCAVE_AND_CONVEX = [
    (ConcaveVariablePenalty, VariablePenalty),
    (ConcaveFeaturePenalty, FeaturePenalty),
]


@pytest.mark.parametrize(("concave", "convex"), CONCAVE_AND_CONVEX)
def test_concave_penalties_become_the_convex_ones(concave, convex):
    W = particles((6, 4), 33, scale=2.0)
    np.testing.assert_array_equal(concave(0.0).prox(W, 1.5), convex().prox(W, 1.5))
    assert concave(0.0).value(W) == convex().value(W)
    gaps = []
    for s in (1e-2, 1e-4, 1e-6):
        gaps.append(np.linalg.norm(concave(s).prox(W, 1.5) - convex().prox(W, 1.5)))
        assert gaps[-1] <= 5 * s
        assert abs(concave(s).value(W) - convex().value(W)) <= 10 * s
    assert gaps[0] > 50 * gaps[1] > 0  # first order in s, and the concave one differs


@pytest.mark.parametrize(("concave", "convex"), CONCAVE_AND_CONVEX)
def test_concave_penalties_shrink_large_parts_less(concave, convex):
    W = particles((6, 4), 34, scale=20.0)
    assert np.linalg.norm(W - concave(5.0).prox(W, 5.0)) < 0.2 * np.linalg.norm(
        W - convex().prox(W, 5.0)
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("step", [0.1, 100.0])
def test_zero_particles_zero_variables_and_zero_matrices_give_no_nan(name, step):
    W = particles((5, 4), 35)
    W[1] = 0.0
    W[:, 2] = 0.0
    for matrix in (W, np.zeros((3, 2)), np.zeros((2, 3))):
        U = make_penalty(name).prox(matrix, step)
        assert np.all(np.isfinite(U)) and np.isfinite(make_penalty(name).value(matrix))
        np.testing.assert_allclose(U[~matrix.any(axis=1)], 0.0, atol=1e-15)
        np.testing.assert_allclose(U[:, ~matrix.any(axis=0)], 0.0, atol=1e-15)
    assert make_penalty(name).value(np.zeros((3, 2))) == 0.0


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("unit", [1e-160, 1e160])
def test_prox_is_homogeneous_in_extreme_units(name, unit):
    W = particles((4, 3), 36)
    scaled = make_penalty(name, s=2.0 / unit).prox(unit * W, unit * 1.2)
    np.testing.assert_allclose(scaled / unit, make_penalty(name, s=2.0).prox(W, 1.2), atol=1e-13)


@pytest.mark.parametrize("name", NAMES)
def test_inputs_are_unchanged_and_dtypes_respected(name):
    penalty = make_penalty(name)
    W = particles((5, 3), 37)
    W32 = W.astype(np.float32)
    before = W.copy(), W32.copy()
    for array in (W, W32):
        array.setflags(write=False)
        penalty.value(array), penalty.prox(array, 1.0), penalty.directions(array)
    np.testing.assert_array_equal(W, before[0])
    np.testing.assert_array_equal(W32, before[1])
    U, U32 = penalty.prox(W, 1.0), penalty.prox(W32, 1.0)
    assert (U.dtype, U32.dtype) == (np.float64, np.float32)
    assert penalty.prox(W32, 0.0).dtype == np.float32
    assert penalty.prox(np.arange(6).reshape(3, 2), 0.1).dtype == np.float64
    np.testing.assert_array_equal(U32, penalty.prox(W32.astype(np.float64), 1.0).astype(np.float32))


def test_the_svd_falls_back_when_divide_and_conquer_fails(monkeypatch):
    W = particles((5, 3), 38)
    expected, value = FeaturePenalty().prox(W, 1.0), FeaturePenalty().value(W)
    svd = scipy.linalg.svd

    def failing(*args, lapack_driver="gesdd", **kwargs):
        if lapack_driver == "gesdd":
            raise np.linalg.LinAlgError("SVD did not converge")
        return svd(*args, lapack_driver=lapack_driver, **kwargs)

    monkeypatch.setattr(scipy.linalg, "svd", failing)
    np.testing.assert_allclose(FeaturePenalty().prox(W, 1.0), expected, atol=1e-13)
    assert FeaturePenalty().value(W) == pytest.approx(value, rel=1e-13)


# Directions


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", SHAPES)
def test_directions_are_orthonormal_and_ordered(name, shape):
    W = particles(shape, 39)
    W[:, 0] = 0.0
    components, importances = make_penalty(name).directions(W)
    m, d = shape
    r = d if name in COORDINATE else min(m, d)
    assert components.shape == (r, d) and importances.shape == (r,)
    np.testing.assert_allclose(components @ components.T, np.eye(r), atol=1e-13)
    assert np.all(importances >= 0) and np.all(np.diff(importances) <= 0)
    # Both kinds split the mean square norm of the particles.
    assert np.sum(importances**2) == pytest.approx(np.sum(W**2) / m, rel=1e-12)


@pytest.mark.parametrize("name", ["basic", "basic_l1", *SPECTRAL])
def test_principal_directions_diagonalise_the_second_moment(name):
    W = particles((6, 4), 40)
    components, importances = make_penalty(name).directions(W)
    second_moment = sum(np.outer(w, w) for w in W) / 6
    np.testing.assert_allclose(
        components @ second_moment @ components.T, np.diag(importances**2), atol=1e-13
    )


@pytest.mark.parametrize("name", COORDINATE)
def test_coordinate_directions_sort_the_columns_and_keep_ties_in_order(name):
    W = np.array([[1.0, 3.0, 0.0, 1.0, -3.0], [1.0, 0.0, 0.0, -1.0, 0.0]])
    components, importances = make_penalty(name).directions(W)
    np.testing.assert_array_equal(np.argmax(components, axis=1), [1, 4, 0, 3, 2])
    np.testing.assert_allclose(importances, np.array([3, 3, 2**0.5, 2**0.5, 0]) / 2**0.5)


@pytest.mark.parametrize("name", SPECTRAL)
def test_directions_find_a_planted_subspace(name):
    basis = orthogonal(6, 41)[:2]
    W = particles((9, 2), 42) @ basis
    components, importances = make_penalty(name).directions(W)
    np.testing.assert_allclose(components[:2].T @ components[:2], basis.T @ basis, atol=1e-13)
    np.testing.assert_allclose(importances[2:], 0.0, atol=1e-14)


# Construction


def test_make_penalty_builds_every_name():
    assert make_penalty("basic", strength=2.0) == BasicPenalty("l2", strength=2.0)
    assert make_penalty("basic_l1", strength=2.0) == BasicPenalty("l1", strength=2.0)
    assert make_penalty("variable", strength=2.0) == VariablePenalty(strength=2.0)
    assert make_penalty("feature", strength=2.0) == FeaturePenalty(strength=2.0)
    assert make_penalty("concave_variable", s=3.0) == ConcaveVariablePenalty(s=3.0)
    assert make_penalty("concave_feature", s=3.0) == ConcaveFeaturePenalty(s=3.0)
    assert set(NAMES) == set(oracle.OMEGA)
    assert all(isinstance(make_penalty(name), Penalty) for name in NAMES)


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match="trace") as raised:
        make_penalty("trace")
    assert all(name in str(raised.value) for name in NAMES)


@pytest.mark.parametrize("bad", [-1.0, np.inf, np.nan])
def test_bad_numbers_are_refused_by_name(bad):
    with pytest.raises(ValueError, match="strength"):
        FeaturePenalty(strength=bad)
    with pytest.raises(ValueError, match="s must"):
        ConcaveVariablePenalty(bad)
    with pytest.raises(ValueError, match="s must"):
        ConcaveFeaturePenalty(bad)
    with pytest.raises(ValueError, match="step"):
        VariablePenalty().prox(np.ones((2, 2)), bad)
    with pytest.raises(ValueError, match=r"l1.*l2"):
        BasicPenalty("l3")


def test_penalties_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        FeaturePenalty().strength = 2.0

"""Choice of mu and alpha: what is compared, who decides, and what an interruption leaves."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from kernlens._result import Status
from kernlens.methods.kernel_laplacian.learner import ADVANTAGE, RULE, LaplacianLearner
from kernlens.methods.kernel_laplacian.plan import (
    RATIOS,
    RELATIVE_ALPHAS,
    SMALLEST_ALPHA,
    LabeledPoints,
    Penalties,
)
from kernlens.methods.kernel_laplacian.solvers import preconditioner as laplacian_preconditioner
from reference import kernel_laplacian as oracle
from reference.laplacian_problems import data, make_plan, problem_of

POSITIVE = [ratio for ratio in RATIOS if ratio > 0.0]


def learner_of(rows=None, stage=None, **options):
    rows = data() if rows is None else rows
    return LaplacianLearner(make_plan(**options), rows, 1, stage)


def pairs(tried):
    return [(one.ratio, one.alpha) for one in tried]


def circles(n=120, seed=0):
    """Two circles and the number of each point's circle, in units of the median distance."""
    rng = np.random.default_rng(seed)
    angles, inner = rng.uniform(0.0, 2 * np.pi, n), np.arange(n) % 2 == 0
    X = np.column_stack([np.cos(angles), np.sin(angles)]) * np.where(inner, 0.4, 1.0)[:, None]
    X += 0.03 * rng.standard_normal(X.shape)
    return X / np.median(pdist(X)), inner.astype(float)


def cloud(n=100, d=20, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, d))
    X /= np.median(pdist(X))
    return X, X[:, 0]


def with_labels(X, y, n_labeled):
    """Points in half of the units of X: a kernel of two median distances."""
    labeled = np.arange(n_labeled)
    return LabeledPoints(X / 2, np.ones(len(X)), labeled, y[None, labeled], np.ones(n_labeled))


def unit_of(X):
    return 1.0 / (4.0 * X.shape[1])


@pytest.mark.parametrize("solver", ["exact", "nystrom", "random_features", "cg"])
def test_given_penalties_are_not_compared(solver):
    learner = learner_of(solver=solver, mus=(0.3,), alphas=(0.02,))
    learned = learner.learn()
    assert learner.tried == [] and learned.search is None
    assert learned.mu == 0.3 and learned.alpha == 0.02
    assert learned.penalties.mu == pytest.approx(0.3) and learned.penalties.alpha == 0.02
    assert learned.status is Status.CONVERGED


@pytest.mark.parametrize("neighbors", [None, 4])
def test_the_function_is_that_of_the_penalties(neighbors):
    rows = data()
    learner = learner_of(rows, mus=(0.3,), alphas=(0.02,), n_neighbors=neighbors)
    problem = problem_of(rows, Penalties(15.0, 0.02), neighbors)
    expected = oracle.minimize_over_span(oracle.KERNELS["gaussian"], problem)
    learned = learner.learn()
    X = rows.points
    np.testing.assert_allclose(learned.function.decision(X), expected.values(X), atol=1e-10)


def test_all_free_compares_every_ratio_with_every_alpha():
    learner = learner_of(ratio_unit=3.0)
    learner.learn()
    expected = [
        (3.0 * ratio, relative * learner.solver.unit(3.0 * ratio))
        for ratio, relative in product(RATIOS, RELATIVE_ALPHAS)
    ]
    np.testing.assert_allclose(pairs(learner.tried), expected, rtol=1e-12)
    relative = [one.relative for one in learner.tried]
    np.testing.assert_allclose(relative, np.tile(RELATIVE_ALPHAS, len(RATIOS)), rtol=1e-12)


def test_given_mu_takes_alpha_from_the_ratios_and_from_kernel_ridge():
    learner = learner_of(mus=(0.3, 2.0), ratio_unit=3.0)
    learner.learn()
    plain = [relative * learner.solver.unit(0.0) for relative in RELATIVE_ALPHAS]
    expected = []
    for mu in (0.3, 2.0):
        alphas = [mu / (3.0 * ratio) for ratio in POSITIVE] + plain
        expected += [(mu / alpha, alpha) for alpha in alphas]
    np.testing.assert_allclose(pairs(learner.tried), expected, rtol=1e-12)
    given = np.repeat([0.3, 2.0], len(POSITIVE) + len(plain))
    np.testing.assert_allclose([one.mu for one in learner.tried], given, rtol=1e-12)


def test_alphas_of_a_tiny_mu_are_not_tiny():
    learner = learner_of(mus=(1e-25,))
    learner.learn()
    assert min(one.alpha for one in learner.tried) >= SMALLEST_ALPHA
    assert len(learner.tried) == len(RELATIVE_ALPHAS)


@pytest.mark.parametrize("mus", [(0.0,), (0.0, 0.3), (0.3, 0.0)])
def test_a_mu_of_zero_is_kernel_ridge_for_every_alpha(mus):
    learner = learner_of(mus=mus)
    learner.learn()
    ridge = [one for one in learner.tried if one.ratio == 0.0]
    unit = learner.solver.unit(0.0)
    expected = [relative * unit for relative in RELATIVE_ALPHAS]
    np.testing.assert_allclose([one.alpha for one in ridge], expected, rtol=1e-12)
    assert len(learner.tried) == len(ridge) + (len(mus) - 1) * (len(POSITIVE) + len(ridge))
    assert all(one.mu == 0.0 for one in ridge)


def test_given_alphas_take_every_ratio():
    learner = learner_of(alphas=(1e-3, 0.1), ratio_unit=3.0)
    learner.learn()
    expected = [(3.0 * ratio, alpha) for ratio in RATIOS for alpha in (1e-3, 0.1)]
    np.testing.assert_allclose(pairs(learner.tried), expected, rtol=1e-12)


def test_given_lists_are_combined():
    learner = learner_of(mus=(0.0, 0.3), alphas=(1e-3, 0.1))
    learner.learn()
    found = [(one.mu, one.alpha) for one in learner.tried]
    np.testing.assert_allclose(found, list(product((0.0, 0.3), (1e-3, 0.1))), rtol=1e-12)


@pytest.mark.parametrize("solver", ["exact", "nystrom"])
def test_of_given_lists_the_least_loss_is_chosen(solver):
    learner = learner_of(mus=(0.0, 0.03, 0.3), alphas=(1e-4, 1e-2, 1.0), solver=solver)
    learned = learner.learn()
    losses = [one.loss for one in learner.tried]
    assert learned.penalties == learner.tried[int(np.argmin(losses))]
    assert min(losses) < 0.9 * np.median(losses)
    for one in learner.tried:
        (loss,) = learner.solver.losses(one.ratio, [one.alpha])
        assert one.loss == pytest.approx(loss, rel=1e-9)


@pytest.mark.parametrize("solver", ["exact", "nystrom"])
@pytest.mark.parametrize("neighbors", [None, 10])
def test_curves_prefer_the_largest_ratio(solver, neighbors):
    X, y = circles()
    options = {"kernel": "matern52", "n_neighbors": neighbors, "ratio_unit": unit_of(X)}
    learner = learner_of(with_labels(X, y, 2), solver=solver, n_components=60, **options)
    assert learner.preferred_ratio == RATIOS[-1] * unit_of(X)


@pytest.mark.parametrize("neighbors", [None, 10])
def test_a_cloud_prefers_the_smallest_positive_ratio(neighbors):
    X, y = cloud()
    options = {"n_neighbors": neighbors, "ratio_unit": unit_of(X)}
    learner = learner_of(with_labels(X, y, 2), solver="nystrom", n_components=60, **options)
    assert learner.preferred_ratio == POSITIVE[0] * unit_of(X)


@pytest.mark.parametrize("make", [circles, cloud])
def test_two_labels_follow_the_preferred_ratio(make):
    X, y = make()
    options = {"kernel": "matern52", "ratio_unit": unit_of(X), "n_components": 60}
    learner = learner_of(with_labels(X, y, 2), solver="nystrom", **options)
    learned = learner.learn()
    # Without one of two labels the other one is all there is.
    losses = [one.loss for one in learner.tried]
    np.testing.assert_allclose(losses, (y[0] - y[1]) ** 2, rtol=1e-6)
    assert learned.penalties.ratio == learner.preferred_ratio
    apart = np.abs(np.log(np.divide(RELATIVE_ALPHAS, RULE / np.sqrt(2))))
    expected = RELATIVE_ALPHAS[int(np.argmin(apart))]
    assert learned.penalties.relative == pytest.approx(expected, rel=1e-9)


def test_one_label_a_circle_is_enough():
    X, y = circles()
    options = {"kernel": "matern52", "ratio_unit": unit_of(X), "n_neighbors": 10}
    learner = learner_of(with_labels(X, y, 2), solver="nystrom", n_components=120, **options)
    values = learner.learn().function.decision(X / 2)[0]
    assert np.mean((values > 0.5) == (y > 0.5)) > 0.95
    ridge = replace(learner.plan, mus=(0.0,))
    plain = LaplacianLearner(ridge, learner.rows, 1).learn().function.decision(X / 2)[0]
    assert np.mean((plain > 0.5) == (y > 0.5)) < 0.8


def learner_with_losses(losses, preferred, n_labeled=4):
    """A learner whose losses and preferred ratio are given."""
    X, y = cloud(n=30, d=2)
    learner = learner_of(with_labels(X, y, n_labeled), alphas=(0.1,))
    learner.solver.losses = lambda ratio, alphas: [losses[ratio]]
    learner.__dict__["preferred_ratio"] = preferred
    return learner


@pytest.mark.parametrize("n_labeled", [4, 25])
@pytest.mark.parametrize(("smaller", "wins"), [(0.99, False), (1.01, True)])
def test_other_ratios_need_an_advantage_that_shrinks_with_the_labels(smaller, wins, n_labeled):
    losses = dict.fromkeys(RATIOS, 1.0)
    losses[RATIOS[2]] = 1.0 / (1.0 + smaller * ADVANTAGE / np.sqrt(n_labeled))
    chosen = learner_with_losses(losses, RATIOS[-1], n_labeled).learn().penalties.ratio
    assert chosen == (RATIOS[2] if wins else RATIOS[-1])


def test_the_preferred_ratio_does_not_matter_where_mu_is_given():
    learner = learner_of(mus=(0.01, 0.1), alphas=(0.1,))
    losses = {0.1: 1.0, 1.0: 1.01}
    learner.solver.losses = lambda ratio, alphas: [losses[round(ratio, 9)]]
    assert learner.learn().penalties.mu == pytest.approx(0.01)
    assert "preferred_ratio" not in vars(learner)


def interrupt_after(learner, n_calls):
    """Comparisons that end in an interruption after some."""
    original, calls = learner.solver.losses, []

    def losses(ratio, alphas):
        if len(calls) == n_calls:
            raise KeyboardInterrupt
        calls.append(ratio)
        return original(ratio, alphas)

    learner.solver.losses = losses


def test_an_interrupted_comparison_goes_on_with_the_best():
    options = {"mus": (0.0, 0.03, 0.3, 3.0), "alphas": (1e-2,)}
    whole = learner_of(**options)
    whole.learn()
    learner = learner_of(**options)
    interrupt_after(learner, 2)
    with pytest.raises(KeyboardInterrupt):
        learner.learn()
    learned = learner.finish_interrupted()
    assert learned.status is Status.INTERRUPTED
    assert learner.tried == whole.tried[:2]
    assert len(learned.search.losses) == 2
    best = min(learner.tried, key=lambda one: one.loss)
    assert learned.penalties == best
    given = learner_of(mus=(best.mu,), alphas=(best.alpha,)).learn()
    X = learner.rows.points
    np.testing.assert_allclose(learned.function.decision(X), given.function.decision(X), atol=1e-9)


def test_an_interruption_before_anything_is_known_is_raised():
    learner = learner_of()
    interrupt_after(learner, 0)
    with pytest.raises(KeyboardInterrupt):
        learner.learn()
    with pytest.raises(KeyboardInterrupt):
        learner.finish_interrupted()


def test_an_interrupted_solve_says_so(monkeypatch):
    original, calls = laplacian_preconditioner.ShiftedSystem.apply, []

    def apply(shifted, unknowns):
        if len(calls) == 2:
            raise KeyboardInterrupt
        calls.append(None)
        return original(shifted, unknowns)

    monkeypatch.setattr(laplacian_preconditioner, "RANK", 4)
    monkeypatch.setattr(laplacian_preconditioner.ShiftedSystem, "apply", apply)
    learned = learner_of(solver="cg", mus=(0.3,), alphas=(0.02,)).learn()
    assert learned.status is Status.INTERRUPTED and learned.n_iter == 2


def test_stages_report_their_steps():
    seen = []

    def stage(name):
        return lambda step, value: seen.append((name, step, value))

    learner = learner_of(stage=stage, mus=(0.0, 0.3), alphas=(0.01, 0.1))
    learner.learn()
    comparing = [entry for entry in seen if entry[0] == "choosing mu and alpha"]
    assert [step for _, step, _ in comparing] == [1, 2, 3, 4]
    assert [value for *_, value in comparing] == [one.loss for one in learner.tried]
    # Of the end of a direct solve, which has no steps, the fit itself tells.
    assert seen == comparing


def test_stages_report_the_steps_of_conjugate_gradients():
    seen = []

    def stage(name):
        return lambda step, value: seen.append((name, step, value))

    learned = learner_of(stage=stage, solver="cg", mus=(0.3,), alphas=(0.02,)).learn()
    expected = [("solving", step, value) for step, value in enumerate(learned.history[1:-1])]
    assert seen == expected and learned.n_iter > 1


def test_learning_is_deterministic_and_leaves_its_inputs_alone():
    rows = data()
    given = [rows.points, rows.weights, rows.labeled, rows.y, rows.label_weights]
    kept = [array.copy() for array in given]
    learners = [learner_of(rows, solver="nystrom") for _ in range(2)]
    first, second = (learner.learn() for learner in learners)
    assert first.penalties == second.penalties and learners[0].tried == learners[1].tried
    values = [one.function.decision(rows.points) for one in (first, second)]
    np.testing.assert_array_equal(*values)
    for array, before in zip(given, kept, strict=True):
        np.testing.assert_array_equal(array, before)


@pytest.mark.parametrize("solver", ["exact", "nystrom", "cg"])
def test_rows_are_left_out_with_the_chosen_penalties(solver):
    rows = data()
    learner = learner_of(rows, solver=solver, mus=(0.03, 0.3), alphas=(1e-2,))
    learned = learner.learn()
    left = learner.left_out(learned)
    np.testing.assert_array_equal(left.y, rows.y)
    np.testing.assert_array_equal(left.weights, rows.label_weights)
    errors = np.square(left.decision - left.y).sum(axis=0)
    loss = np.average(errors, weights=left.weights)
    assert loss == pytest.approx(learned.penalties.loss, rel=1e-9)
    assert loss == pytest.approx(learned.search.losses.min(), rel=1e-9)


def test_the_length_scale_is_a_unit_of_inputs():
    rows = data()
    plain = learner_of(rows, mus=(0.3,), alphas=(0.02,)).learn()
    longer = learner_of(rows, mus=(0.3,), alphas=(0.02,), length=2.5).learn()
    X = rows.points
    np.testing.assert_allclose(longer.function.decision(2.5 * X), plain.function.decision(X))
    slopes = plain.function.gradient(X) / 2.5
    np.testing.assert_allclose(longer.function.gradient(2.5 * X), slopes, atol=1e-12)
    assert longer.mu == pytest.approx(0.3 * 2.5**2) and longer.penalties == plain.penalties
    found = longer.directions
    np.testing.assert_allclose(found.importances, plain.directions.importances / 2.5**2)
    np.testing.assert_allclose(found.of_inputs, plain.directions.of_inputs / 2.5)

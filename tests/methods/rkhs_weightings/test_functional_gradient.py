"""Stochastic functional gradient descent against Algorithm 3 as printed, on the same draws."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from kernlens import FunctionalGradient
from kernlens.features.weightings import RidgeWeighting, StumpWeighting
from kernlens.kernels.implicit import StumpKernel
from kernlens.methods.rkhs_weightings.solvers.functional_gradient import (
    STEPS_AT_ONCE,
    Descent,
)
from reference import rkhs_weightings as oracle

SEED = 3
#: More than one block of steps, the last one not full.
N_STEPS = STEPS_AT_ONCE + 17


def model_of(name, r=0.4, n=3):
    return oracle.with_correlation(name, n, 1.0, r)


def weighting_of(model):
    if model.stumps:
        return StumpWeighting(model.n, model.correlation, model.sigma)
    return RidgeWeighting(model.ramp, model.exponential, model.n, model.correlation)


def data(m=25, n_targets=1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(0, 1.3, (m, 3))
    y = np.stack([np.sin(X[:, 0] + k) + 0.3 * rng.normal(size=m) for k in range(n_targets)])
    return X, y, rng.uniform(0.2, 3.0, m)


def draws(model, weights, rule, n_steps, before=0):
    """Weights and rows of every step, by the documented use of the generator."""
    rng = np.random.default_rng([SEED, before])
    shares = np.cumsum(weights / weights.sum())
    W, batches = [], []
    while len(batches) < n_steps:
        block = min(STEPS_AT_ONCE, n_steps - len(batches))
        W.append(weighting_of(model).sample(block * rule.features_per_step, rng))
        for _ in range(block):
            u = rng.random(rule.batch_size)
            batches.append(np.array([np.flatnonzero(shares >= value)[0] for value in u]))
    return np.concatenate(W), batches


def printed(model, X, y, W, batches, rule, penalty):
    """Algorithm 3 in the paper's units; `penalty` and the radius are over the kernel's unit."""
    unit = np.exp(model.log_unit)
    bound = np.inf if rule.max_norm is None else rule.max_norm / np.sqrt(unit)
    return oracle.descend(
        model.base(W, X),
        oracle.table_features(model, W, X),
        model.kernel(W, W),
        y,
        penalty * unit,
        batches,
        bound=bound,
        halved=rule.step == "half",
        n_features=rule.features_per_step,
    )


def in_paper_units(model, coefficients, W):
    """Coefficients of K(w_t, .) from those of what has norm 1, over the root of the unit."""
    logs = -0.5 * model.log_unit * np.ones(len(W))
    if model.exponential:
        logs -= np.sum(W**2, axis=1) / (4 * model.gamma**2)
    return coefficients * np.exp(logs)


def descended(model, X, y, weights, rule, penalty, n_steps=N_STEPS):
    descent = Descent(weighting_of(model), rule, penalty, len(y), SEED)
    descent.run(X, y, weights, n_steps)
    return descent


def assert_close(actual, expected, tolerance=1e-10):
    assert np.abs(actual - expected).max() <= tolerance * np.abs(expected).max()


@pytest.mark.parametrize("name", oracle.NAMES)
@pytest.mark.parametrize(
    ("step", "per_step", "max_norm"), list(product(("half", "full"), (1, 3), (None, 0.7)))
)
def test_same_iterates_as_the_algorithm_as_printed(name, step, per_step, max_norm):
    model = model_of(name)
    X, y, weights = data()
    rule = FunctionalGradient(7, per_step, max_norm, step)
    descent = descended(model, X, y, weights, rule, 0.05)
    W, batches = draws(model, weights, rule, N_STEPS)
    np.testing.assert_array_equal(descent.W, W)
    expected = printed(model, X, y[0], W, batches, rule, 0.05)
    last = (descent.scale[:, None] * descent.raw)[0]
    assert_close(in_paper_units(model, last, W), expected.last)
    assert_close(in_paper_units(model, descent.average[0], W), expected.average)
    root = np.exp(0.5 * model.log_unit)
    assert_close(np.sqrt(descent.squared_norm), root * expected.norms[-1])
    assert_close(descent.largest_norm, root * max(expected.norms))
    if max_norm is not None:
        # The ball is reached: the projection is tested.
        assert np.isclose(descent.largest_norm[0], max_norm, rtol=1e-12)


def test_running_norm_stays_that_of_the_iterate():
    model = model_of("relu")
    X, y, weights = data()
    descent = descended(model, X, y, weights, FunctionalGradient(5, max_norm=None), 0.01, 1000)
    iterate = (descent.scale[:, None] * descent.raw)[0]
    direct = iterate @ weighting_of(model).gram(descent.W, descent.W) @ iterate
    assert abs(descent.squared_norm[0] - direct) <= 1e-11 * direct


@pytest.mark.parametrize("max_norm", [None, 0.5])
def test_several_targets_are_separate_descents_with_the_same_draws(max_norm):
    model = model_of("sign")
    X, y, weights = data(n_targets=3)
    rule = FunctionalGradient(6, 2, max_norm)
    together = descended(model, X, y, weights, rule, 0.03)
    for k in range(3):
        alone = descended(model, X, y[k : k + 1], weights, rule, 0.03)
        assert_close(together.average[k], alone.average[0], 1e-12)
        assert_close(together.squared_norm[k], alone.squared_norm[0], 1e-12)


@pytest.mark.parametrize("step", ["half", "full"])
def test_going_on_is_the_printed_algorithm_on_the_draws_of_both_runs(step):
    model = model_of("stumps")
    X, y, weights = data()
    rule = FunctionalGradient(8, 2, 0.6, step)
    first = descended(model, X, y, weights, rule, 0.05, 20)
    W, batches = draws(model, weights, rule, 20)
    more_W, more = draws(model, weights, rule, 15, before=20)
    second = Descent(weighting_of(model), rule, 0.05, 1, SEED)
    second.go_on(first.state())
    second.run(X, y, weights, 15)
    both = np.concatenate([W, more_W])
    expected = printed(model, X, y[0], both, batches + more, rule, 0.05)
    assert second.n_steps == 35
    assert_close(second.average[0], expected.average * np.exp(0.5 * model.log_unit))


def test_a_state_is_a_copy_and_can_be_gone_on_from_twice():
    model = model_of("relu")
    X, y, weights = data()
    rule = FunctionalGradient(4, max_norm=None)
    first = descended(model, X, y, weights, rule, 0.05, 10)
    state, average = first.state(), first.average.copy()
    results = []
    for _ in range(2):
        copy = Descent(weighting_of(model), rule, 0.05, 1, SEED)
        copy.go_on(state)
        copy.run(X, y, weights, 5)
        results.append(copy.average)
    first.run(X, y, weights, 5)
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], first.average)
    assert not np.array_equal(average, first.average[:, :10])


def test_rows_are_drawn_in_proportion_to_their_weights():
    model = model_of("relu")
    X, y, _ = data(m=4)
    weights = np.array([0.0, 1.0, 3.0, 0.0])
    changed = y.copy()
    changed[:, [0, 3]] = 1e6
    rule = FunctionalGradient(5, max_norm=None)
    descent = descended(model, X, y, weights, rule, 0.05)
    other = descended(model, X, changed, weights, rule, 0.05)
    np.testing.assert_array_equal(descent.average, other.average)
    _, batches = draws(model, weights, FunctionalGradient(4000), 1)
    share = np.mean(batches[0] == 2)
    assert abs(share - 0.75) < 4 * np.sqrt(0.75 * 0.25 / 4000)


def test_batches_of_many_rows_approach_the_minimiser_of_the_objective():
    model = model_of("stumps", r=0.3)
    X, y, weights = data(m=30)
    y = y - (y @ weights / weights.sum())[:, None]
    penalty = 0.3
    descent = descended(model, X, y, weights, FunctionalGradient(30, 10, None), penalty, 300)
    features, logs = weighting_of(model).expectation(descent.W)
    values = descent.average[0] @ (features.evaluate(X) * np.exp(logs)).T
    K = StumpKernel(0.3, 1.0 / np.sqrt(1.3)).matrix(X, X)
    shares = np.diag(weights / weights.sum())
    best = K @ np.linalg.solve(shares @ K + penalty * np.eye(30), shares @ y[0])
    assert np.linalg.norm(values - best) <= 0.05 * np.linalg.norm(best)


def test_many_steps_that_end_on_the_ball_keep_their_digits():
    # Every projection divides by a thousand or more: the product of all is below any number.
    model = model_of("relu")
    X, y, weights = data()
    rule = FunctionalGradient(7, 1, 1e-2, "full")
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        descent = descended(model, X, y, weights, rule, 1e-8, 300)
    W, batches = draws(model, weights, rule, 300)
    expected = printed(model, X, y[0], W, batches, rule, 1e-8)
    assert_close(in_paper_units(model, descent.average[0], W), expected.average)


def test_reports_the_loss_of_every_batch_and_leaves_its_inputs():
    model = model_of("relu")
    X, y, weights = data()
    copies = X.copy(), y.copy(), weights.copy()
    reported = []
    descent = Descent(weighting_of(model), FunctionalGradient(9, max_norm=None), 0.1, 1, SEED)
    descent.run(X, y, weights, 12, lambda step, loss: reported.append((step, loss)))
    _, batches = draws(model, weights, FunctionalGradient(9), 12)
    assert [step for step, _ in reported] == list(range(1, 13))
    # The first iterate is zero.
    assert np.isclose(reported[0][1], np.mean(y[0, batches[0]] ** 2))
    for now, before in zip((X, y, weights), copies, strict=True):
        np.testing.assert_array_equal(now, before)

"""Learning from rows to a function: what follows from the seed, paths, restarts, interruptions."""

from __future__ import annotations

import dataclasses
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from kernlens._result import Status
from kernlens._rows import canonical_rows
from kernlens.fits.column_screening import relevant_columns
from kernlens.fits.tuned_ridge import Tuned
from kernlens.kernels.radial import make_radial_kernel
from kernlens.methods.hkrr import learner as hyper_kernel_learning
from kernlens.methods.hkrr import stages as hyper_kernel_stages
from kernlens.methods.hkrr.learner import N_STARTS, RESTARTS, HyperKernelLearner
from kernlens.methods.hkrr.options import Centers
from kernlens.methods.hkrr.plan import APPROACH, KeptSettings, LearningPlan
from kernlens.methods.hkrr.problem import HyperKernelProblem
from kernlens.methods.hkrr.stages import FOLDS, Stages
from kernlens.penalties.operator_ball import project_on_ball
from reference import hkrr
from reference.bkernn_problems import LOSSES
from reference.hkrr_problems import near_truth, planted_map, planted_rows, subspace_gap

BASE = LearningPlan(
    n_components=(2,),
    alphas=(1e-3,),
    centers=Centers(15),
    refit_centers=None,
    n_random=3,
    subspace=False,
    max_iter=30,
    tol=1e-6,
)
#: With nothing given: everything is searched for.
AUTOMATIC = dataclasses.replace(
    BASE, n_components=None, alphas=None, refit_centers=30, subspace=True
)
PLANS = {
    "approach": BASE,
    "leverage": dataclasses.replace(BASE, centers=Centers(15, "leverage")),
    "subspace": dataclasses.replace(BASE, n_random=0, subspace=True),
    "given map": dataclasses.replace(BASE, given=near_truth(2)),
    "several alphas": dataclasses.replace(BASE, alphas=(1e-3, 0.1, 1e-2)),
    "several widths": dataclasses.replace(BASE, n_components=(1, 3, 2)),
    "refit": dataclasses.replace(BASE, refit_centers=30),
    "automatic": AUTOMATIC,
}


class Recording(HyperKernelProblem):
    """Writes down the alpha, start and end of every minimisation."""

    @property
    def by_squares(self):
        problem = super().by_squares
        object.__setattr__(problem, "calls", self.calls)
        return problem

    def minimize(self, objective, start, **options):
        result = super().minimize(objective, start, **options)
        self.calls.append((objective.fitter.alpha, start.W, result.solution.W))
        return result


def problem_of(loss="squared", kind=HyperKernelProblem, **options):
    problem = kind(make_radial_kernel("gaussian"), LOSSES[loss], **options)
    if kind is Recording:
        object.__setattr__(problem, "calls", [])
    return problem


def learner(plan=BASE, loss="squared", seed=0, n=60, problem=None, **options):
    rows = planted_rows(loss, n=n, noise=0.1)
    return HyperKernelLearner(problem or problem_of(loss), rows, plan, seed, **options)


@cache
def outcome(name):
    """A learner with the plan of that name and what it learned, computed once."""
    made = learner(PLANS[name])
    return made, made.learn()


@pytest.mark.parametrize("name", PLANS)
def test_the_same_seed_gives_the_same_result(name):
    first, second = outcome(name)[1], learner(PLANS[name]).learn()
    for field in dataclasses.fields(first):
        a, b = getattr(first, field.name), getattr(second, field.name)
        if isinstance(a, np.ndarray | float):
            np.testing.assert_array_equal(a, b)
    assert first.history == second.history
    for part in ("B", "Z", "coefficients", "intercept"):
        np.testing.assert_array_equal(getattr(first.function, part), getattr(second.function, part))
    if first.search is not None:
        np.testing.assert_array_equal(first.search.losses, second.search.losses)


def test_another_seed_gives_other_centres_and_starts():
    first, second = outcome("approach")[1], learner(seed=1).learn()
    assert not np.array_equal(first.function.Z, second.function.Z)
    assert not np.allclose(first.W, second.W)


@pytest.mark.parametrize("name", PLANS)
def test_the_function_is_the_best_on_its_centres(name):
    """The last fit recomputed with a dense solve on all rows."""
    made, learned = outcome(name)
    rows, B = made.rows, learned.scale * learned.W
    K = hkrr.kernel_matrix("gaussian", B, rows.X, learned.function.Z)
    Kzz = hkrr.center_matrix("gaussian", B, learned.function.Z, 1e-10)
    a, c = hkrr.ridge_coefficients(K, Kzz, rows.y, rows.weights, learned.refit_alpha)
    data = (rows.y, rows.weights, learned.refit_alpha)
    lowest = hkrr.fixed_kernel_objective("squared", K, Kzz, a, c, *data)
    value = hkrr.fixed_kernel_objective(
        "squared", K, Kzz, learned.function.coefficients, learned.function.intercept, *data
    )
    assert value == pytest.approx(lowest, rel=1e-6)
    decision = learned.function.coefficients @ K.T + learned.function.intercept[:, None]
    np.testing.assert_allclose(decision, a @ K.T + c[:, None], atol=1e-5)
    assert np.mean((decision - rows.y) ** 2) < 0.3 * np.var(rows.y)


def test_centres_are_distinct_rows_and_as_many_as_asked_for():
    for name, number in (("approach", 15), ("leverage", 15), ("refit", 30), ("automatic", 30)):
        made, learned = outcome(name)
        Z = learned.function.Z
        assert Z.shape == (number, 4) and len(np.unique(Z, axis=0)) == number
        assert all((row == made.rows.X).all(axis=1).any() for row in Z)


@pytest.mark.parametrize("loss", ["squared", "logistic", "multinomial"])
def test_a_given_alpha_is_approached_from_above(loss):
    problem = problem_of(loss, Recording)
    made = learner(loss=loss, problem=problem)
    learned = made.learn()
    # Several starts settle at the largest alpha, then one path goes down.
    alphas = [alpha for alpha, _, _ in problem.calls]
    n_settled = len(alphas) - len(APPROACH)
    assert alphas[:n_settled] == [APPROACH[0] * 1e-3] * N_STARTS
    assert alphas[n_settled:] == [factor * 1e-3 for factor in APPROACH]
    assert learned.alpha == learned.refit_alpha == 1e-3
    assert learned.scale == 1.0 and learned.search is None
    # Every step starts where the one before ended, the first from a map of median distance 1.
    for (_, _, end), (_, start, _) in pairwise(problem.calls[n_settled:]):
        np.testing.assert_array_equal(start, end)
    images = made.rows.X @ problem.calls[0][1].T
    distances = [np.linalg.norm(a - b) for i, a in enumerate(images) for b in images[:i]]
    assert np.median(distances) == pytest.approx(1.0, rel=1e-9)
    np.testing.assert_array_equal(learned.W, problem.calls[-1][2])


def test_the_learned_value_is_the_objective_at_the_learned_map():
    made, learned = outcome("approach")
    objective = made.problem.objective(made.rows, learned.function.Z, 1e-3)
    # The centres of the last fit are those of the learning here: same rows, same number.
    assert learned.objective == pytest.approx(objective.at(learned.W).value, rel=1e-9)
    assert learned.objective == pytest.approx(learned.history[-1], rel=1e-6)


def test_the_planted_direction_is_learned():
    for name in ("approach", "automatic"):
        made = learner(PLANS[name], n=200)
        learned = made.learn()
        truth = planted_map(1, 4)
        assert subspace_gap(learned.directions.components[:1], truth) < 0.1
        np.testing.assert_allclose(
            learned.directions.components @ learned.directions.components.T,
            np.eye(len(learned.W)),
            atol=1e-10,
        )
        assert np.all(np.diff(learned.directions.importances) <= 0)


def test_directions_are_those_of_the_dense_average_outer_product():
    made = learner(PLANS["refit"], n=30)
    learned = made.learn()
    case = hkrr.Problem(
        "squared",
        made.rows.X,
        learned.function.Z,
        made.rows.y,
        made.rows.weights,
        learned.scale * learned.W,
        learned.function.coefficients,
        learned.function.intercept,
        learned.refit_alpha,
        1e-10,
    )
    dense = hkrr.average_outer_product(case, "gaussian")
    rebuilt = (
        learned.directions.components.T
        @ np.diag(learned.directions.importances**2)
        @ learned.directions.components
    )
    np.testing.assert_allclose(rebuilt, dense, atol=1e-4 * np.abs(dense).max())


# -- choice of settings ---------------------------------------------------------------------------


def test_the_best_of_several_alphas_is_chosen():
    """In the middle, as the function is first too flat and then follows the noise."""
    plan = dataclasses.replace(BASE, alphas=(1e-9, 3.0, 1e-2, 1e-8))
    made = HyperKernelLearner(problem_of(), planted_rows(n=60, noise=0.7), plan, 0)
    learned = made.learn()
    record = learned.search
    assert record.settings["alpha"].tolist() == [3.0, 1e-2, 1e-8, 1e-9]
    assert record.chosen == np.argmin(record.losses)
    assert learned.alpha == record.settings["alpha"][record.chosen] == 1e-2


def test_of_several_widths_the_best_is_chosen_and_the_widest_is_tried_first():
    made, learned = outcome("several widths")
    visited = made.searched.visited
    widths = list(dict.fromkeys(setting.n_components for setting in visited))
    assert widths == [3, 2, 1]
    # The alpha is given: of the settings with it, the one that predicts best.
    final = [setting for setting in visited if setting.alpha == 1e-3]
    best = min(final, key=lambda setting: setting.loss)
    assert learned.alpha == 1e-3 and len(learned.W) == best.n_components
    assert final[learned.search.chosen] is best


def test_widths_beyond_the_columns_are_cut():
    learned = learner(dataclasses.replace(BASE, n_components=(9,))).learn()
    assert learned.W.shape == (4, 4)


@pytest.mark.parametrize(("gain", "plain"), [(-np.inf, True), (1.0, False)])
def test_the_plain_map_wins_or_loses_by_its_held_out_loss(monkeypatch, gain, plain):
    monkeypatch.setattr(hyper_kernel_learning, "PLAIN_GAIN", gain)
    made = learner(AUTOMATIC)
    learned = made.learn()
    assert (learned.status is Status.PLAIN) == plain
    if plain:
        np.testing.assert_allclose(learned.W, learned.W[0, 0] * np.eye(4), atol=1e-15)
        assert learned.directions.importances.shape == (4,)


@pytest.mark.parametrize(("gain", "plain"), [(-np.inf, True), (1.0, False)])
def test_with_a_given_width_the_plain_map_needs_a_clear_gain(monkeypatch, gain, plain):
    monkeypatch.setattr(hyper_kernel_learning, "PLAIN_GAIN", -np.inf)
    monkeypatch.setattr(hyper_kernel_learning, "GIVEN_GAIN", gain)
    learned = learner(PLANS["refit"]).learn()
    assert (learned.status is Status.PLAIN) == plain
    assert learned.W.shape == ((4, 4) if plain else (2, 4))


def test_a_map_of_too_few_rows_gives_way_to_the_plain_one():
    # The sum of all squares is no function of one direction.
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 4))
    rows = canonical_rows(X, np.sum(X**2, axis=1)[None], np.ones(150))
    plan = dataclasses.replace(BASE, n_components=(1,), refit_centers=60)
    learned = HyperKernelLearner(problem_of(), rows, plan, 0).learn()
    assert learned.status is Status.PLAIN and learned.W.shape == (4, 4)


# -- columns that are left out, and constants ------------------------------------------------------


def few_of_many(n=200, n_columns=40, noise=0.1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, n_columns))
    y = np.abs(X[:, 3]) + 0.5 * X[:, 7] + noise * rng.standard_normal(n)
    return canonical_rows(X, (y - y.mean())[None], np.ones(n))


SCREENED = dataclasses.replace(AUTOMATIC, screen=True)


def test_columns_that_do_not_matter_are_left_out():
    made = HyperKernelLearner(problem_of(), few_of_many(), SCREENED, 0)
    learned = made.learn()
    assert learned.screened
    assert set(np.flatnonzero(learned.W.any(axis=0))) >= {3, 7}
    assert np.count_nonzero(learned.W.any(axis=0)) < 10
    assert learned.directions.components.shape[1] == 40
    held = few_of_many(seed=1)
    error = np.mean((learned.function.decision(held.X) - held.y) ** 2)
    assert error < 0.15 * held.y.var()
    parts = made.left_out(learned)
    assert np.mean((parts.decision - parts.y) ** 2) < 0.2 * parts.y.var()


def test_without_a_gain_no_column_is_left_out(monkeypatch):
    monkeypatch.setattr(hyper_kernel_learning, "SCREEN_GAIN", 1.0)
    learned = HyperKernelLearner(problem_of(), few_of_many(n=80), SCREENED, 0).learn()
    assert not learned.screened and learned.W.any(axis=0).all()


def test_every_part_leaves_out_columns_of_its_own():
    """Rows that are held out have no say in which columns are used."""
    rows = few_of_many(n=90)
    screened = HyperKernelLearner(problem_of(), rows, SCREENED, 0).screened()
    for (train, test), split in zip(screened.folds(), screened.splits(), strict=True):
        kept = relevant_columns(rows.take(train))
        np.testing.assert_array_equal(split.train.X, rows.X[train] * kept)
        np.testing.assert_array_equal(split.test.X, rows.X[test] * kept)
    np.testing.assert_array_equal(screened.used, relevant_columns(rows))
    np.testing.assert_array_equal(screened.rows.X, rows.X * screened.used)


def test_what_was_left_out_stays_out_when_a_fit_goes_on():
    rows = few_of_many()
    learned = HyperKernelLearner(problem_of(), rows, SCREENED, 0).learn()
    kept = KeptSettings(learned.alpha, Tuned(learned.scale, learned.refit_alpha, np.nan))
    plan = dataclasses.replace(SCREENED, start=learned.W, kept=kept)
    again = HyperKernelLearner(problem_of(), rows, plan, 0).learn()
    assert again.screened
    np.testing.assert_array_equal(again.W.any(axis=0), learned.W.any(axis=0))


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_noise_leaves_hardly_more_than_a_constant(loss):
    rng = np.random.default_rng(0)
    y = rng.standard_normal(150) if loss == "squared" else rng.integers(0, 2, 150).astype(float)
    rows = canonical_rows(rng.standard_normal((150, 12)), y[None], np.ones(150))
    learned = HyperKernelLearner(problem_of(loss), rows, AUTOMATIC, 0).learn()
    assert learned.status is Status.CONSTANT
    values = learned.function.decision(rng.standard_normal((50, 12)))
    assert np.ptp(values) < 0.01


@pytest.mark.parametrize("loss", ["logistic", "multinomial"])
def test_maps_of_classes_are_learned_by_squares(loss):
    made, by_squares = learner(loss=loss), learner(loss=loss, problem=problem_of("squared"))
    learned, expected = made.learn(), by_squares.learn()
    np.testing.assert_array_equal(learned.W, expected.W)
    assert learned.history == expected.history
    rows = made.rows
    K = hkrr.kernel_matrix("gaussian", learned.W, rows.X, learned.function.Z)
    Kzz = hkrr.center_matrix("gaussian", learned.W, learned.function.Z, 1e-10)
    data = (rows.y, rows.weights, learned.refit_alpha)
    a, c = hkrr.polished_coefficients(loss, K, Kzz, *data)
    best = hkrr.fixed_kernel_objective(loss, K, Kzz, a, c, *data)
    function = learned.function
    found = hkrr.fixed_kernel_objective(
        loss, K, Kzz, function.coefficients, function.intercept, *data
    )
    assert found == pytest.approx(best, rel=1e-7)


# -- restarts -------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_init", [1, N_STARTS, N_STARTS + 2])
def test_an_approach_settles_from_the_best_of_the_starts(n_init):
    problem = problem_of(kind=Recording)
    plan = dataclasses.replace(BASE, n_random=n_init)
    learned = learner(plan, problem=problem).learn()
    firsts = [start for _, start, _ in problem.calls[: -len(APPROACH)]]
    assert len(firsts) == min(n_init, N_STARTS)
    assert len({start.tobytes() for start in firsts}) == len(firsts)
    assert learned.alpha == 1e-3 and learned.W.shape == (2, 4)


@pytest.mark.parametrize(
    ("stuck", "n_init", "n_rounds"),
    [
        (1.0, N_STARTS * (RESTARTS + 3), RESTARTS + 1),
        (1.0, N_STARTS + 1, 2),
        (1.0, 1, 1),
        (-np.inf, N_STARTS * (RESTARTS + 3), 1),
    ],
)
def test_a_search_that_is_stuck_starts_again(monkeypatch, stuck, n_init, n_rounds):
    """A share of 1 that nothing reaches, and one that everything does."""
    monkeypatch.setattr(hyper_kernel_learning, "STUCK", stuck)
    plan = dataclasses.replace(PLANS["several alphas"], n_random=n_init)
    learned = learner(plan, n=30).learn()
    record = learned.search
    assert np.sum(record.settings["alpha"] == 0.1) == n_rounds
    # Attempts tell settings apart that were tried twice, and the curve is that of one of them.
    tried = list(zip(*record.settings.values(), strict=True))
    assert len(set(tried)) == len(tried)
    assert ("attempt" in record.settings) == (n_rounds > 1)
    assert np.all(np.diff(record.curve("alpha")[0]) > 0)


def test_an_approach_goes_on_from_the_lowest_of_its_starts(monkeypatch):
    """Two starts that cannot be left, maps to zero, around a good one."""
    starts = [np.zeros((2, 4)), near_truth(2), np.zeros((2, 4))]
    monkeypatch.setattr(Stages, "first_maps", lambda self, split: starts)
    problem = problem_of(kind=Recording)
    learned = learner(problem=problem).learn()
    ends = [end for _, _, end in problem.calls[: -len(APPROACH)]]
    assert [bool(end.any()) for end in ends] == [False, True, False]
    np.testing.assert_array_equal(problem.calls[-len(APPROACH)][1], ends[1])
    assert learned.W.any()


# -- splits ---------------------------------------------------------------------------------------


def rows_with_repeated_x(n=40, d=3):
    """Every other X comes twice, with another target."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    X = np.vstack([X, X[::2]])
    return canonical_rows(X, rng.standard_normal((1, len(X))), np.ones(len(X)))


def keys(rows):
    return {(x.tobytes(), y.tobytes()) for x, y in zip(rows.X, rows.y.T, strict=True)}


@pytest.mark.parametrize("centers", ["uniform", "leverage"])
def test_splits_share_no_row_and_no_x(centers):
    rows = rows_with_repeated_x()
    plan = dataclasses.replace(BASE, centers=Centers(15, centers))
    splits = Stages(problem_of(), rows, plan, 0).splits()
    assert len(splits) == FOLDS[0][1]
    tested = []
    for split in splits:
        train, test = keys(split.train), keys(split.test)
        assert not train & test and train | test == keys(rows)
        assert not set(split.train.group) & set(split.test.group)
        assert not {x.tobytes() for x in split.train.X} & {x.tobytes() for x in split.test.X}
        assert {z.tobytes() for z in split.Z} <= {x.tobytes() for x in split.train.X}
        assert len(np.unique(split.Z, axis=0)) == len(split.Z) == plan.centers.number
        tested += list(test)
    assert len(tested) == len(set(tested)) == len(rows.X)


def test_many_rows_are_split_once(monkeypatch):
    monkeypatch.setattr(hyper_kernel_stages, "FOLDS", ((20, 5), (30, 3)))
    assert len(learner(n=20).splits()) == 5
    assert len(learner(n=30).splits()) == 3
    (split,) = learner(n=60).splits()
    assert len(split.train.X) == 45 and len(split.test.X) == 15
    monkeypatch.setattr(hyper_kernel_stages, "SEARCH_ROWS", 40)
    (split,) = learner(n=60).splits()
    assert len(split.train.X) + len(split.test.X) == 40


def test_strata_are_spread_evenly():
    stages = learner(loss="logistic", n=61)
    strata = stages.rows.y[0].astype(int)
    splits = dataclasses.replace(stages, strata=strata).splits()
    for split in splits:
        for label in (0, 1):
            share = np.sum(strata == label) / len(splits)
            assert abs(np.sum(split.test.y[0] == label) - share) < 1
        assert not keys(split.train) & keys(split.test)


def test_a_single_row_is_trained_and_scored_on():
    rows = canonical_rows(np.ones((1, 3)), np.ones((1, 1)), np.ones(1))
    (split,) = Stages(problem_of(), rows, BASE, 0).splits()
    assert len(split.train.X) == len(split.test.X) == len(split.Z) == 1


# -- interruptions --------------------------------------------------------------------------------


class Interrupted(HyperKernelProblem):
    """Raises at the watched point of the given number."""

    def minimize(self, objective, start, *, watch=None, **options):
        def counting(point):
            watch(point)
            self.seen.append((objective.fitter.alpha, point))
            if len(self.seen) == self.at:
                raise KeyboardInterrupt

        return super().minimize(objective, start, watch=counting, **options)


@pytest.mark.parametrize("name", ["approach", "several alphas", "automatic"])
@pytest.mark.parametrize("at", [1, 7, 20])
def test_an_interrupted_learner_keeps_its_lowest_point(name, at):
    problem = problem_of(kind=Interrupted)
    object.__setattr__(problem, "seen", [])
    object.__setattr__(problem, "at", at)
    made = learner(PLANS[name], problem=problem)
    with pytest.raises(KeyboardInterrupt):
        made.learn()
    assert len(problem.seen) == at
    learned = made.finish_interrupted()
    assert learned.status is Status.INTERRUPTED
    kept = made._seen
    assert kept.value <= min(point.value for _, point in problem.seen)
    # Searches start with more components than are wanted: the strongest ones are kept.
    width = min(len(kept.W), made.widths[0])
    _, values, right = np.linalg.svd(kept.W, full_matrices=False)
    expected = (right[:width].T * values[:width] ** 2) @ right[:width]
    np.testing.assert_allclose(learned.W.T @ learned.W, expected, atol=1e-12)
    given = made.plan.given_alpha
    assert len(learned.W) == width
    assert learned.alpha == (made._seen_alpha if given is None else given)
    assert np.isfinite(learned.function.coefficients).all() and learned.refit_alpha == learned.alpha


def test_interrupted_before_anything_was_learned():
    made = learner()
    learned = made.finish_interrupted()
    assert learned.status is Status.INTERRUPTED
    np.testing.assert_array_equal(learned.W, made.first_map())
    assert learned.W.shape == (2, 4) and np.isfinite(learned.directions.importances).all()


# -- other parts ----------------------------------------------------------------------------------


def test_learning_goes_on_from_a_map():
    made, learned = outcome("approach")
    kept = KeptSettings(1e-3, Tuned(1.3, 1e-2, np.nan), outcome("several widths")[1].search)
    plan = dataclasses.replace(BASE, alphas=None, start=learned.W, kept=kept)
    again = dataclasses.replace(made, plan=plan).learn()
    assert again.search is kept.search
    assert again.scale == 1.3 and again.refit_alpha == 1e-2 and again.alpha == 1e-3
    assert again.objective <= learned.objective * (1 + 1e-9)
    np.testing.assert_array_equal(again.function.Z, learned.function.Z)


def test_maps_stay_in_the_ball():
    for name in ("approach", "several widths", "given map"):
        made = learner(PLANS[name])
        radius = 0.7 * float(np.linalg.norm(made.first_map(), 2))
        made = dataclasses.replace(made, problem=problem_of(radius=radius))
        learned = made.learn()
        visited = [] if made.searched is None else made.searched.visited
        norms = [np.linalg.norm(B, 2) for setting in visited for B in setting.maps]
        assert max([np.linalg.norm(learned.W, 2), *norms]) <= radius * (1 + 1e-9)
        assert np.linalg.norm(project_on_ball(learned.W, radius) - learned.W) < 1e-9 * radius


def test_stages_are_reported():
    counts = {}

    def stage(name):
        def count(iteration, value):
            counts[name] = counts.get(name, 0) + 1

        return count

    learned = learner(PLANS["several alphas"], stage=stage).learn()
    assert set(counts) == {"choosing settings", "learning the map"}
    assert counts["learning the map"] == learned.n_iter


def test_settings_carry_one_map_for_every_fold():
    for setting in outcome("several widths")[0].searched.visited:
        shapes = {B.shape for B in setting.maps}
        assert len(setting.maps) == FOLDS[0][1] and shapes == {(setting.n_components, 4)}


def test_inputs_are_left_alone():
    made = learner(AUTOMATIC)
    arrays = (made.rows.X, made.rows.y, made.rows.weights)
    kept = [array.copy() for array in arrays]
    made.learn()
    for array, copy in zip(arrays, kept, strict=True):
        np.testing.assert_array_equal(array, copy)


# -- rows that were left out ----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["approach", "several widths", "refit", "given map"])
def test_left_out_rows_are_predicted_by_a_fit_without_them(name):
    made, learned = outcome(name)
    found = made.left_out(learned)
    # Every row is left out once, with its own target and weight.
    assert found.decision.shape == made.rows.y.shape
    np.testing.assert_array_equal(np.sort(found.y[0]), np.sort(made.rows.y[0]))
    error = np.mean((found.decision - found.y) ** 2)
    assert error < 0.5 * np.var(found.y)
    # Other targets of the first part change the fits of the others, not its own predictions.
    _, test = made.folds()[0]
    y = made.rows.y.copy()
    y[:, test] = 100.0
    rows = dataclasses.replace(made.rows, y=y)
    other = dataclasses.replace(made, rows=rows).left_out(learned)
    first = slice(0, int(test.sum()))
    np.testing.assert_array_equal(other.decision[:, first], found.decision[:, first])
    assert np.abs(other.decision[:, first.stop :] - found.decision[:, first.stop :]).max() > 1e-3


def test_left_out_rows_have_the_settings_of_the_fit():
    made, learned = outcome("refit")
    train, test = made.folds()[0]
    part = dataclasses.replace(
        made,
        rows=made.rows.take(train),
        plan=made.plan.with_settings(learned.alpha, len(learned.W)),
    )
    again = part.learn_again(learned)
    assert (again.alpha, again.refit_alpha, again.scale) == (
        learned.alpha,
        learned.refit_alpha,
        learned.scale,
    )
    assert again.W.shape == learned.W.shape
    expected = again.function.decision(made.rows.X[test])
    np.testing.assert_array_equal(made.left_out(learned).decision[:, : int(test.sum())], expected)


@pytest.mark.parametrize("loss", ["logistic", "multinomial"])
def test_left_out_rows_of_classes(loss):
    made = learner(dataclasses.replace(BASE, alphas=(1e-2,)), loss=loss, n=61)
    y = made.rows.y
    made.strata = y[0].astype(int) if loss == "logistic" else y.argmax(axis=0)
    found = made.left_out(made.learn())
    assert found.decision.shape == y.shape
    if loss == "logistic":
        right = (found.decision[0] > 0) == (found.y[0] > 0)
    else:
        right = found.decision.argmax(axis=0) == found.y.argmax(axis=0)
    assert np.mean(right) > 0.7


def test_the_plain_map_is_left_out_as_a_plain_map(monkeypatch):
    monkeypatch.setattr(hyper_kernel_learning, "PLAIN_GAIN", -np.inf)
    made = learner(AUTOMATIC)
    learned = made.learn()
    assert learned.status is Status.PLAIN
    part = dataclasses.replace(made, rows=made.rows.take(made.folds()[0][0]))
    again = part.learn_again(learned)
    np.testing.assert_allclose(again.W, again.W[0, 0] * np.eye(4), atol=1e-15)
    assert made.left_out(learned).decision.shape == made.rows.y.shape


def test_a_single_row_cannot_be_left_out():
    rows = canonical_rows(np.ones((1, 3)), np.ones((1, 1)), np.ones(1))
    made = HyperKernelLearner(problem_of(), rows, BASE, 0)
    found = made.left_out(made.finish_interrupted())
    assert found.decision.shape == found.y.shape == (1, 0) and found.weights.shape == (0,)


def test_a_bound_of_the_norm_fixes_the_radius_once():
    plan = dataclasses.replace(BASE, max_norm=3.0)
    made = learner(plan)
    assert made.problem.radius == 2.0 * np.linalg.norm(made.first_map(), ord=2)
    learned = made.learn()
    assert learned.unit == 3.0 / made.problem.radius
    assert np.linalg.norm(learned.unit * learned.W, ord=2) <= 3.0 * (1 + 1e-9)
    assert outcome("approach")[1].unit == 1.0

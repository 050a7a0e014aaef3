"""From rows to a fitted RegFeaL: which settings are tried on what, who wins, what a refit sees."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from kernlens import RegFeaLRegressor
from kernlens._result import Status
from kernlens.datasets import make_two_sines
from kernlens.features.hermite_indices import GeometricSequence
from kernlens.fits.held_out import Split
from kernlens.fits.projected_ridge import ProjectedRidge
from kernlens.fits.tuned_ridge import DECADES
from kernlens.kernels.radial import make_radial_kernel
from kernlens.losses import SquaredLoss
from kernlens.methods.regfeal import search as setting_search
from kernlens.methods.regfeal.descent import DescentRule
from kernlens.methods.regfeal.directions import WeightedDirections
from kernlens.methods.regfeal.learner import HermiteLearner
from kernlens.methods.regfeal.plan import HermitePlan, HermiteProblem, Setting
from kernlens.methods.regfeal.refits import (
    MIDDLE_ALPHA,
    ProjectedKernelRefit,
    Refit,
    draw_centers,
)
from reference import regfeal
from reference.regfeal_problems import rows_of

SETTINGS = tuple(
    Setting(GeometricSequence(rho), alpha) for rho in (0.1, 0.5) for alpha in (0.01, 0.1, 1.0, 10.0)
)
PLAN = HermitePlan(
    structure="features",
    r=0.33,
    settings=SETTINGS,
    rule=None,
    last_rule=None,
    max_directions=3,
    descent=DescentRule(max_iter=4, tol=1e-4),
    learn_rows=None,
    refit=None,
)
N_FOLDS = 3


@dataclass
class RecordingRefit(Refit):
    """A refit with a given loss that writes down what it is asked."""

    loss: float
    asked: list = field(default_factory=list)
    tuned: list = field(default_factory=list)
    fitted: list = field(default_factory=list)

    def held_out(self, split, B, *, quick):
        self.asked.append((split, B, quick))
        return self.loss

    def through_one(self, splits, B, tuned):
        assert tuned == "tuned"
        return 1.0

    def tune(self, splits, maps):
        self.tuned.append((list(splits), list(maps)))
        return "tuned"

    def fit(self, rows, B, tuned):
        assert tuned == "tuned"
        self.fitted.append((rows, B))
        return "refitted"


@pytest.fixture
def short_search(monkeypatch):
    """Five settings in the second round, three finalists."""
    monkeypatch.setattr(setting_search, "SECOND_ROUND", 5)
    monkeypatch.setattr(setting_search, "FINALISTS", 3)


def planted_rows(n=45, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.sin(1.5 * X @ np.full(d, 1 / np.sqrt(d))) + 0.1 * rng.standard_normal(n)
    return rows_of(X, (y - y.mean()) / y.std(), rng.uniform(0.5, 2.0, n))


def splits_of(rows):
    parts = [(rows.take(train), rows.take(test)) for train, test in rows.folds(N_FOLDS)]
    return [Split(train, test, draw_centers(train, 20, 0)) for train, test in parts]


def learner_of(rows, plan=PLAN, splits=None, **options):
    problem = HermiteProblem(SquaredLoss(), plan, n_jobs=1)
    splits = splits_of(rows) if splits is None else splits
    return HermiteLearner(problem, rows, splits, **options)


def lengths(learned):
    return [len(one.directions) for one in learned.tried]


# The search


@pytest.mark.usefixtures("short_search")
@pytest.mark.parametrize("structure", ["features", "variables", "none"])
def test_every_setting_is_tried_and_the_best_ones_on_all_splits(structure):
    rows = planted_rows()
    learned = learner_of(rows, replace(PLAN, structure=structure)).learn()
    tried = [(one.setting.sequence.rho, one.setting.alpha) for one in learned.tried]
    assert sorted(tried) == sorted((one.sequence.rho, one.alpha) for one in SETTINGS)
    # All finalists go to two splits, and one or two of them to the third.
    finalists = learned.tried[:3]
    assert lengths(learned)[3:] == [1] * 5
    to_the_end = [one for one in finalists if len(one.directions) == N_FOLDS]
    assert 1 <= len(to_the_end) <= 2
    assert all(len(one.directions) == 2 for one in finalists if one not in to_the_end)
    assert learned.setting == min(to_the_end, key=lambda one: one.loss).setting
    # The others come in the order of what they did on the first split.
    losses = [one.loss for one in learned.tried[3:]]
    assert losses == sorted(losses)
    assert all(np.isinf(one.refit_loss) for one in learned.tried)


@pytest.mark.usefixtures("short_search")
def test_luck_on_the_first_split_is_not_enough():
    # All other splits are hard: settings that were not tried there have the lowest losses.
    rows = planted_rows()
    splits = splits_of(rows)

    class Lucky(RecordingRefit):
        def held_out(self, split, B, *, quick):
            return 0.1 if split is splits[0] else 100.0

    learned = learner_of(rows, replace(PLAN, refit=Lucky(0.0), own=False), splits).learn()
    losses = [one.loss for one in learned.tried]
    assert max(losses[3:]) == 0.1 < min(losses[:3])
    assert learned.setting in [one.setting for one in learned.tried[:3]]


def test_held_out_losses_of_kernel_ridge_are_those_of_its_formula():
    rows = planted_rows()
    splits = splits_of(rows)
    plan = replace(PLAN, structure="none", settings=SETTINGS[:4])
    learned = learner_of(rows, plan, splits).learn()
    # So few settings all go to two splits at least.
    assert max(lengths(learned)) == N_FOLDS and min(lengths(learned)) == 2
    for one in learned.tried:
        rho, alpha = one.setting.sequence.rho, one.setting.alpha
        losses = []
        for split in splits[: len(one.directions)]:
            train, test = split.train, split.test
            p, n = train.weights / train.weights.sum(), len(train.X)
            K = regfeal.mehler(train.X, train.X, rho) / alpha
            border = np.ones((n, 1))
            A = np.block([[K + np.diag(1 / p), border], [border.T, np.zeros((1, 1))]])
            a = np.linalg.solve(A, np.append(train.y[0], 0.0))
            f = regfeal.mehler(test.X, train.X, rho) / alpha @ a[:-1] + a[-1]
            losses.append(np.average(0.5 * (test.y[0] - f) ** 2, weights=test.weights))
        assert one.own_loss == pytest.approx(np.mean(losses), rel=1e-3)


def test_scored_predictions_are_clipped():
    rows = planted_rows()
    plan = replace(PLAN, settings=SETTINGS[:2])
    inside = (np.array([0.3]), np.array([0.3]))
    for one in learner_of(rows, plan, bounds=inside).learn().tried:
        expected = np.mean(
            [
                np.average(0.5 * (split.test.y[0] - 0.3) ** 2, weights=split.test.weights)
                for split in splits_of(rows)
            ]
        )
        assert one.own_loss == pytest.approx(expected, rel=1e-12)


def test_one_setting_without_a_refit_needs_no_search():
    rows = planted_rows()
    learned = learner_of(rows, replace(PLAN, settings=SETTINGS[:1]), splits=[]).learn()
    assert learned.tried == ()
    assert learned.setting == SETTINGS[0]
    assert learned.history[-1] < learned.history[0]


def test_learning_goes_on_from_the_best_start():
    # The directions of the splits and those of a plain fit are compared on all rows.
    rows = planted_rows()
    learner = learner_of(rows, replace(PLAN, settings=SETTINGS[:3]))
    learned = learner.learn()
    winner = next(one for one in learned.tried if one.setting == learned.setting)
    objective = learner.problem.objective(rows, learned.setting)
    values = [objective.at(directions).value for directions in winner.directions]
    assert learned.history[0] <= min(values) * (1 + 1e-12)
    assert learned.history[-1] <= learned.history[0]


def test_given_directions_are_where_it_starts():
    rows = planted_rows()
    start = WeightedDirections(np.eye(4)[:, [2]], np.ones(1), 0.33)
    plan = replace(
        PLAN, settings=SETTINGS[:1], start=start, descent=replace(PLAN.descent, max_iter=0)
    )
    learned = learner_of(rows, plan, splits=[]).learn()
    np.testing.assert_array_equal(learned.weighted.R, start.R)
    assert learned.status == Status.CONVERGED


def test_fewer_rows_to_learn_from():
    rows = planted_rows()
    plan = replace(PLAN, settings=SETTINGS[:1], learn_rows=30)
    learned = learner_of(rows, plan, splits=[]).learn()
    alone = learner_of(rows.take(slice(0, 30)), replace(plan, learn_rows=None), splits=[]).learn()
    np.testing.assert_array_equal(learned.weighted.R, alone.weighted.R)


def test_stages_are_reported():
    steps = []

    def report(stage):
        return lambda iteration, value: steps.append(stage)

    learner_of(planted_rows(), replace(PLAN, settings=SETTINGS[:2]), stage=report).learn()
    assert set(steps) == {"choosing settings", "learning directions"}
    assert steps[-1] == "learning directions"


def test_interrupted_before_anything_was_reached():
    rows = planted_rows()
    learner = learner_of(rows)
    learned = learner.finish_interrupted()
    assert learned.status == Status.INTERRUPTED
    assert learned.setting == SETTINGS[0]
    point = learner.problem.objective(rows, SETTINGS[0], last=True).at(
        WeightedDirections.equal(4, 0.33)
    )
    np.testing.assert_allclose(learned.function.decision(rows.X), point.decision, rtol=1e-8)


# The refit


@pytest.mark.usefixtures("short_search")
def test_a_refit_is_looked_at_quickly_first_and_thoroughly_later():
    rows, refit = planted_rows(), RecordingRefit(0.0)
    splits = splits_of(rows)
    learned = learner_of(rows, replace(PLAN, refit=refit, own=False), splits).learn()
    assert [quick for _, _, quick in refit.asked] == [True] * 8 + [False] * (5 + 3 + 2)
    assert all(split is splits[0] for split, _, _ in refit.asked[:13])
    assert all(np.isinf(one.own_loss) and one.loss == 0.0 for one in learned.tried)


@pytest.mark.parametrize(("loss", "kept"), [(-1.0, "refitted"), (np.inf, None)])
def test_a_refit_is_kept_if_it_predicts_better(loss, kept):
    refit = RecordingRefit(loss)
    plan = replace(PLAN, settings=SETTINGS[:2], refit=refit)
    learned = learner_of(planted_rows(), plan).learn()
    assert learned.refitted == (kept is not None)
    assert (learned.function == "refitted") == learned.refitted
    assert len(refit.fitted) == (kept is not None)


def test_a_refit_is_tuned_on_maps_that_have_not_seen_the_scored_rows():
    rows = planted_rows()
    splits = splits_of(rows)
    other = [replace(s, test=replace(s.test, y=s.test.y[:, ::-1] + 7.0)) for s in splits]
    maps = []
    for used in (splits, other):
        refit = RecordingRefit(0.0)
        plan = replace(PLAN, settings=SETTINGS[1:2], refit=refit, own=False)
        learned = learner_of(rows, plan, used).learn()
        ((given, found),) = refit.tuned
        ((all_rows, B),) = refit.fitted
        assert all_rows is rows
        assert given == list(used)
        np.testing.assert_array_equal(B, learned.weighted.projection())
        for W, directions in zip(found, learned.tried[0].directions, strict=True):
            np.testing.assert_array_equal(W, directions.projection())
        maps.append(found)
    for one, same in zip(*maps, strict=True):
        np.testing.assert_array_equal(one, same)
    assert not np.array_equal(maps[0][0], maps[0][1])


def kernel_refit(n_centers=45):
    problem = ProjectedRidge(make_radial_kernel("gaussian"), SquaredLoss(), n_jobs=1)
    return ProjectedKernelRefit(problem, n_centers, 0)


@pytest.mark.parametrize("seed", range(4))
def test_a_thorough_look_finds_at_least_as_good_a_refit(seed):
    rows = planted_rows(seed=seed)
    B = np.random.default_rng(seed).standard_normal((2, 4))
    for split in splits_of(rows):
        quick, thorough = (kernel_refit().held_out(split, B, quick=q) for q in (True, False))
        assert thorough <= quick
        # The size of the map is found by the refit itself.
        assert kernel_refit().held_out(split, 30.0 * B, quick=True) == pytest.approx(quick)


def test_the_kernel_refit_is_kernel_ridge_on_the_projected_rows():
    rows = planted_rows()
    B = np.full((1, 4), 0.5)
    refit = kernel_refit()
    fitted = refit.fit(rows, B, refit.tune(splits_of(rows), [B] * N_FOLDS))
    np.testing.assert_allclose(fitted.B / fitted.B[0, 0], B / B[0, 0])
    found = fitted.decision(rows.X)[0]
    z, p = rows.X @ fitted.B[0], rows.weights / rows.weights.sum()
    K = np.exp(-0.5 * np.subtract.outer(z, z) ** 2)
    gaps = []
    for alpha in MIDDLE_ALPHA * 10.0**DECADES:
        border = np.ones((45, 1))
        A = np.block([[K + np.diag(alpha / p), border], [border.T, np.zeros((1, 1))]])
        a = np.linalg.solve(A, np.append(rows.y[0], 0.0))
        gaps.append(np.abs(K @ a[:-1] + a[-1] - found).max())
    assert np.sort(gaps)[0] < 1e-4 < 1e-3 < np.sort(gaps)[1]


# Rows that were left out


@pytest.mark.parametrize("structure", ["features", "variables", "none"])
def test_rows_are_predicted_by_fits_without_them(structure):
    rows = planted_rows()
    splits = splits_of(rows)
    plan = replace(PLAN, structure=structure, settings=SETTINGS[:2])
    learner = learner_of(rows, plan, splits)
    learned = learner.learn()
    left = learner.left_out(learned)
    parts = np.cumsum([len(split.test.X) for split in splits])[:-1]
    decisions = np.split(left.decision, parts, axis=1)
    for split, decision in zip(splits, decisions, strict=True):
        alone = replace(plan, settings=(learned.setting,))
        function = learner_of(split.train, alone, splits=[]).learn().function
        np.testing.assert_array_equal(decision, function.decision(split.test.X))
    np.testing.assert_array_equal(left.y, np.hstack([split.test.y for split in splits]))
    assert len(left.weights) == len(rows.X)


def test_targets_of_left_out_rows_do_not_matter():
    rows, changed = planted_rows(), planted_rows()
    refit = kernel_refit()
    plan = replace(PLAN, settings=SETTINGS[1:2], refit=refit, own=False)
    learner = learner_of(rows, plan)
    learned = learner.learn()
    assert learned.refitted
    splits = splits_of(rows)
    other = [replace(s, test=replace(s.test, y=s.test.y + 7.0)) for s in splits]
    again = learner_of(changed, plan, other).left_out(learned)
    left = learner.left_out(learned)
    np.testing.assert_array_equal(again.decision, left.decision)
    # They are worse predicted than rows that were seen, and better than by their mean.
    error = np.average((left.decision - left.y)[0] ** 2, weights=left.weights)
    seen = np.average((learned.function.decision(rows.X) - rows.y)[0] ** 2, weights=rows.weights)
    assert seen < error < 0.8


def test_a_plain_fit_is_plain_without_the_rows_left_out():
    rng = np.random.default_rng(0)
    rows = rows_of(rng.standard_normal((60, 4)), rng.standard_normal(60))
    learner = learner_of(rows)
    learned = learner.learn()
    assert learned.status == Status.PLAIN
    assert learned.search.settings["plain"][learned.search.chosen]
    split = splits_of(rows)[0]
    point = learner.problem.objective(split.train, learned.setting, last=True).at(
        WeightedDirections.equal(4, 0.33)
    )
    expected = point.function.decision(split.test.X)
    np.testing.assert_array_equal(
        learner.left_out(learned).decision[:, : len(split.test.X)], expected
    )


def test_nothing_can_be_left_out_of_too_few_rows():
    rows = planted_rows()
    learner = learner_of(rows, replace(PLAN, settings=SETTINGS[:2]), splits=[])
    left = learner.left_out(learner.learn())
    assert left.decision.shape == left.y.shape == (1, 0) and len(left.weights) == 0


# The record of a search


def test_the_record_has_what_was_tried_and_what_was_chosen():
    learned = learner_of(planted_rows()).learn()
    record = learned.search
    assert list(record.settings) == ["alpha", "rho"]
    assert record.settings["alpha"][record.chosen] == learned.setting.alpha
    assert record.settings["rho"][record.chosen] == learned.setting.rho
    np.testing.assert_array_equal(record.losses, [one.loss for one in learned.tried])
    alphas, losses = record.curve("alpha")
    np.testing.assert_array_equal(alphas, [0.01, 0.1, 1.0, 10.0])
    assert losses[list(alphas).index(learned.setting.alpha)] == record.losses[record.chosen]


def test_the_loss_through_one_map_is_the_lowest_mean_over_the_grid_of_alpha():
    rows, refit = planted_rows(), kernel_refit()
    splits, B = splits_of(rows), np.full((1, 4), 0.5)
    tuned = refit.tune(splits, [B] * N_FOLDS)
    losses = [refit.through_one([split], B, tuned) for split in splits]
    assert np.mean(losses) <= refit.through_one(splits, B, tuned) <= tuned.loss + 1e-12
    # The size of the map says nothing.
    assert refit.through_one(splits, 30.0 * B, tuned) == pytest.approx(
        refit.through_one(splits, B, tuned)
    )


class PrefersShort(RecordingRefit):
    """A refit whose held-out loss grows with every map that it is asked about."""

    def through_one(self, splits, B, tuned):
        self.maps = [*getattr(self, "maps", []), B]
        return float(len(self.maps))


def test_a_descent_ends_early_where_the_refit_then_predicts_clearly_better():
    rows, refit = planted_rows(), PrefersShort(0.0)
    plan = replace(PLAN, settings=SETTINGS[1:2], refit=refit, own=False)
    learner = learner_of(rows, plan)
    learned = learner.learn()
    assert learned.status is Status.EARLY and learned.n_short == setting_search.FIRST_ITER
    assert learned.n_iter <= setting_search.FIRST_ITER
    np.testing.assert_array_equal(refit.fitted[0][1], refit.maps[0])
    # Directions of other rows are learned for as long.
    again = learner._directions_again(learned)
    np.testing.assert_array_equal(again.R, learned.weighted.R)


def test_directions_that_a_longer_descent_loses_are_kept():
    drawn = make_two_sines(1000, 10, structure="variables", random_state=36)
    model = RegFeaLRegressor(structure="variables", n_directions=2, random_state=0)
    model.fit(drawn.X[:200], drawn.y[:200])
    assert model.status_ == Status.EARLY.value
    assert len(model.projection_) == 2
    # The noise leaves .786; through the first direction alone it is .37.
    assert model.score(drawn.X_test, drawn.y_test) > 0.74

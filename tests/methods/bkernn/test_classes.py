"""Classes by squares first: what is learned by which loss, and how long particles are made."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kernlens import BKerNNClassifier
from kernlens._rows import canonical_rows
from kernlens.kernels.one_dimensional import make_kernel
from kernlens.losses import HuberLoss, LogisticLoss, MultinomialLoss, SquaredLoss
from kernlens.methods.bkernn import learner as particle_learning
from kernlens.methods.bkernn.classes import best_factor, stretched
from kernlens.methods.bkernn.objective import ParticleProblem, ReducedObjective
from kernlens.penalties import make_penalty

ALPHA = 0.01


def case(n_classes, kernel="brownian", penalty="feature"):
    rng = np.random.default_rng(n_classes)
    X = rng.standard_normal((80, 3))
    numbers = np.digitize(X[:, 0] + 0.3 * rng.standard_normal(80), np.arange(1 - n_classes / 2, 9))
    one_hot = np.eye(n_classes)[np.minimum(numbers, n_classes - 1)].T
    loss = LogisticLoss() if n_classes == 2 else MultinomialLoss()
    y = one_hot[1:] if n_classes == 2 else one_hot
    rows = canonical_rows(X, y, rng.uniform(0.5, 2.0, 80))
    problem = ParticleProblem(make_kernel(kernel), loss, make_penalty(penalty, s=1.0))
    return problem, rows, 0.3 * rng.standard_normal((4, 3))


def test_only_losses_of_classes_are_learned_by_squares():
    problem, *_ = case(2)
    for loss in (LogisticLoss(), MultinomialLoss()):
        assert isinstance(replace(problem, loss=loss).learning.loss, SquaredLoss)
    for loss in (SquaredLoss(), HuberLoss(0.5)):
        numbers = replace(problem, loss=loss)
        assert numbers.learning is numbers


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("penalty", ["feature", "variable", "basic"])
def test_factor_is_the_minimum_along_the_length_for_the_same_function(n_classes, penalty):
    problem, rows, W = case(n_classes, penalty=penalty)
    objective = problem.objective(rows, ALPHA, tol=1e-10)
    point = objective.at(W)

    def along(c):
        # Coefficients a / c on particles c W are the same function.
        operator = objective.smooth.at(c * W).operator
        dual = point.fit.dual / c
        value = objective.smooth.fitter.objective(dual, point.fit.intercept, operator.matvec(dual))
        return value + ALPHA * problem.penalty.value(c * W)

    factor = best_factor(problem, point)
    around = [along(factor * other) for other in (0.9, 1.0, 1.1)]
    assert around[1] < min(around[0], around[2])
    # Symmetric in the logarithm: c and 1 / c times the best cost the same.
    assert along(2 * factor) == pytest.approx(along(factor / 2), rel=1e-9)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_stretched_particles_are_lower_and_settled(n_classes):
    problem, rows, W = case(n_classes)
    objective = problem.objective(rows, ALPHA, tol=1e-9)
    plain = objective.at(W)
    for unit in (0.01, 1.0, 100.0):
        end = stretched(problem, rows, unit * W, ALPHA, tol=1e-9)
        assert objective.value(end) <= objective.value(plain) * (1 + 1e-9)
        square = 0.5 * float(np.vdot(end.fit.dual, end.fit.kernel_dual))
        assert problem.penalty.value(end.W) == pytest.approx(square, rel=0.25)
        # The shape is that of before.
        np.testing.assert_allclose(end.W / np.linalg.norm(end.W), W / np.linalg.norm(W), atol=1e-12)


@pytest.mark.parametrize("kernel", ["exponential", "gaussian"])
def test_kernels_that_do_not_grow_with_particles_keep_them(kernel):
    problem, rows, W = case(2, kernel)
    np.testing.assert_array_equal(stretched(problem, rows, W, ALPHA, tol=1e-6).W, W)


def test_dead_particles_stay_dead():
    problem, rows, W = case(2)
    assert not stretched(problem, rows, 0.0 * W, ALPHA, tol=1e-6).W.any()


def test_last_steps_are_of_the_loss_of_classes(monkeypatch):
    losses = []
    evaluate = ReducedObjective.at

    def noted(self, W, **options):
        losses.append(type(self.fitter.loss))
        return evaluate(self, W, **options)

    monkeypatch.setattr(ReducedObjective, "at", noted)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    y = (np.abs(X[:, 0]) > 0.7).astype(int)
    options = {"alpha": 0.01, "n_particles": 5, "n_directions": 1, "random_state": 0, "n_jobs": 1}
    model = BKerNNClassifier(**options).fit(X, y)
    first_of_classes = losses.index(LogisticLoss)
    assert set(losses[:first_of_classes]) == {SquaredLoss}
    assert set(losses[first_of_classes:]) == {LogisticLoss}
    steps = particle_learning.CLASS_ITER + particle_learning.POLISH_ITER
    assert 0 < model.n_iter_ <= steps
    assert model.status_ == "converged"
    assert model.objective_ <= model.objective_history_[0]


@pytest.mark.parametrize("n_classes", [2, 4])
def test_directions_are_counted_with_the_steps_by_squares_of_a_fit(n_classes, monkeypatch):
    seen = []
    steps = particle_learning.factored_lbfgs

    def counting(objective, start, **options):
        seen.append((type(objective.smooth.fitter.loss), options["max_iter"]))
        return steps(objective, start, **options)

    problem, rows, W = case(n_classes)
    plan = particle_learning.ParticlePlan({"feature": problem}, fresh=W, alpha=ALPHA)
    made = particle_learning.ParticleLearner(plan, rows)
    learned = made.learn()
    monkeypatch.setattr(particle_learning, "factored_lbfgs", counting)
    found = made.directions_on(rows, None, learned)
    assert seen == [(SquaredLoss, particle_learning.CLASS_SQUARES_ITER)]
    np.testing.assert_allclose(
        found.components @ found.components.T, np.eye(len(found.components)), atol=1e-10
    )

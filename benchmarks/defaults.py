"""Defaults on awkward data, their seconds, and the size of a model: before and after.

``python -m benchmarks defaults`` prints every line; ``--only NAME ...`` some of them, and
``--families NAME ...`` for some families only. The column "start" has the figures from which the
work on the defaults began, as they were listed then; they were measured once, on other draws of the
same description. Fits are out of the box with ``random_state=0`` on one core; seconds are CPU time.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from sklearn.metrics import roc_auc_score

from benchmarks.awkward import PROBLEMS, Problem, Wanted
from benchmarks.default_costs import COSTS
from benchmarks.rivals import FAMILIES, others, ours, spent, warm_up
from benchmarks.tables import print_row

WIDTHS = (20, 10, 20, 10)
#: How much worse than a linear model or the constant a default may be.
LOSS = 0.05


def run(arguments: Sequence[str] = ()) -> None:
    """Print the lines that are asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks defaults")
    names = [*PROBLEMS, *COSTS]
    listed = ", ".join(names)
    parser.add_argument(
        "--only", nargs="+", choices=names, default=names, metavar="NAME", help=listed
    )
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=FAMILIES)
    parser.add_argument("--seeds", type=int, default=1, help="draws of each problem (default: 1)")
    given = parser.parse_args(arguments)
    print(f"one core; seeds 0 to {given.seeds - 1} of the data, one fit each, random_state 0")
    families = tuple(given.families)
    for name in given.only:
        if name in COSTS:
            COSTS[name](name, families)
            continue
        for seed in range(given.seeds):
            compare(name, PROBLEMS[name](seed), families, seed)


def compare(name: str, problem: Problem, families: tuple[str, ...], seed: int) -> None:
    """Print the scores of one problem and whether the wanted ones are reached."""
    warm_up(families, problem.classes)
    print(f"\n-- {name}, seed {seed}: {problem.text}")
    print_row("", problem.measure, "start", "CPU s", widths=WIDTHS)
    models = others(problem.classes)
    for family in families:
        models[family] = ours(family, problem.classes, **problem.settings.get(family, {}))
    scores = {}
    for label, model in models.items():
        seconds, _ = spent(lambda model=model: model.fit(*problem.train))
        scores[label] = measured(model, problem)
        start = problem.start.get(label, "")
        print_row(label, f"{scores[label]:.3f}", start, f"{seconds:.2f}", widths=WIDTHS)
    floor = max(scores["ridge"], scores["constant"]) - LOSS
    held = [family for family in families if scores[family] < floor]
    print(f"none more than {LOSS} below ridge or the constant: {said(not held)} {' '.join(held)}")
    for wanted in problem.wanted:
        print(f"wanted {wanted}: {said(reached(wanted, scores))}")


def measured(model, problem: Problem) -> float:
    """Score of a fitted model on the test rows, in the measure of the problem."""
    X, y = problem.test
    if problem.measure != "AUC":
        return float(model.score(X, y))
    if hasattr(model, "predict_proba"):
        return float(roc_auc_score(y, model.predict_proba(X)[:, 1]))
    return float(roc_auc_score(y, model.decision_function(X)))


def reached(wanted: Wanted, scores: dict[str, float]) -> bool | None:
    """Whether a wanted score is reached; None if that is for families that were not asked."""
    reach = [scores[family] >= wanted.least for family in wanted.by if family in scores]
    if len(reach) < len(wanted.by) and not (wanted.best and any(reach)):
        return None
    return any(reach) if wanted.best else all(reach)


def said(holds: bool | None) -> str:
    """A word for the table."""
    return "not asked of all" if holds is None else "yes" if holds else "NO"

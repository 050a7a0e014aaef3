"""What the demonstration says. Plain ASCII: some terminals have nothing else."""

from __future__ import annotations

from pathlib import Path

from kernlens._version import __version__
from kernlens.cli.demo.models import OURS
from kernlens.cli.demo.study import DemoStudy
from kernlens.inspection import DirectionSummary, ScoreComparison

#: Columns named per direction.
N_COLUMNS = 5
#: Directions printed.
N_DIRECTIONS = 5


def opening_text(folder: Path) -> str:
    """What is going to happen."""
    return (
        f"kernlens {__version__} demo: two data sets, about a minute.\n"
        f"Pictures, models and a page go to the folder {folder}."
    )


def study_text(done: DemoStudy) -> str:
    """Scores, directions and files of one data set."""
    name = done.problem.name
    parts = [
        _scores(done),
        _verdict(done.comparison),
        "",
        _directions(done.directions, done.model.n_features_in_),
    ]
    if done.recovery is not None:
        parts.append(
            f"Feature learning score: {done.recovery:.3f} (1: the true directions, 0: orthogonal "
            "to them)"
        )
    parts += ["", f"Wrote {name}.png and {name}.skops."]
    return "\n".join(parts)


def closing_text(folder: Path, name: str) -> str:
    """How to load a model back, and what to do next."""
    return f"""
Load a model back (nothing of the file is run):

    import kernlens
    model = kernlens.load({str(folder / f"{name}.skops")!r})

Next, with your own X and y:

    from kernlens import BKerNNRegressor    # or BKerNNClassifier
    from kernlens.plotting import DirectionsDisplay
    model = BKerNNRegressor(verbose=True).fit(X, y)
    print(model.directions_frame())    # loadings by column
    display = DirectionsDisplay.from_estimator(model, X, y)
    display.figure_.savefig("directions.png")
    model.transform(X)    # the learned features, for any other model

If few columns matter rather than few mixtures of them, try penalty="variable"."""


def _scores(done: DemoStudy) -> str:
    n_folds = len(done.comparison.scores[OURS])
    title = f"R2, the same {n_folds} folds for all"
    width = max(len(title), *(len(name) + 2 for name in done.contenders))
    lines = [f"{title:<{width}}    mean    std   tuned on the training rows"]
    for name, contender in done.contenders.items():
        scores = done.comparison.scores[name]
        numbers = f"{scores.mean():7.3f}  {scores.std(ddof=1):5.3f}"
        lines.append(f"{f'  {name}':<{width}} {numbers}   {contender.tuning}")
    return "\n".join(lines)


def _verdict(comparison: ScoreComparison) -> str:
    """Say who is ahead, and only if the folds agree on it."""
    rival = comparison.best_of_others(OURS)
    gain, error = comparison.difference(OURS, rival)
    versus = f"{OURS} minus {rival}: {gain:+.3f}, standard error {error:.3f}."
    if gain > 2 * error:
        return f"{versus}\n{OURS} predicts better here."
    if gain < -2 * error:
        judgement = f"{OURS} predicts worse here: for prediction alone, prefer the other."
    else:
        judgement = f"{OURS} predicts no better here: the difference is within the noise."
    return f"{versus}\n{judgement}\nWhat it adds is the description below."


def _directions(summary: DirectionSummary, n_features: int) -> str:
    found = len(summary.component_importances)
    if found == 0:
        return f"Learned no direction in {n_features} columns: none predicts better than the mean."
    lines = [
        f"Learned {_count(found, 'direction')} in {n_features} columns: importance, then the "
        "largest loadings\n(weights of columns per standard deviation)"
    ]
    for direction, importance in enumerate(summary.component_importances[:N_DIRECTIONS]):
        weights = "  ".join(
            f"{weight:+.2f} {name}" for name, weight in summary.strongest(direction, N_COLUMNS)
        )
        lines.append(f"  {direction + 1}  {importance:4.0%}   {weights}")
    if found > N_DIRECTIONS:
        lines.append(f"  and {found - N_DIRECTIONS} more")
    return "\n".join(lines)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"

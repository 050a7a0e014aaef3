"""What the demonstration computes on one data set, and the files it writes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sklearn.model_selection import KFold
from tqdm.auto import tqdm

from kernlens.cli._models import save_model
from kernlens.cli._output import replacing
from kernlens.cli.demo.models import Contender, make_bkernn, make_contenders
from kernlens.cli.demo.problems import DemoProblem
from kernlens.inspection import (
    DirectionSummary,
    ScoreComparison,
    compare_scores,
    summarize_directions,
)
from kernlens.methods.bkernn import BKerNNRegressor
from kernlens.metrics import feature_learning_score

N_FOLDS = 5


@dataclass(frozen=True, eq=False)
class DemoStudy:
    """Results on one data set.

    Attributes
    ----------
    problem : DemoProblem
    contenders : dict of str to Contender
    comparison : ScoreComparison
        R^2 of every contender on the same folds.
    model : BKerNNRegressor
        Fitted on all rows.
    directions : DirectionSummary
    recovery : float or None
        Feature learning score against the true directions, where they are known.
    """

    problem: DemoProblem
    contenders: dict[str, Contender]
    comparison: ScoreComparison
    model: BKerNNRegressor
    directions: DirectionSummary
    recovery: float | None


def study_problem(problem: DemoProblem, seed: int, *, show_progress: bool) -> DemoStudy:
    """Compare, fit on all rows, and describe what was learned."""
    contenders = make_contenders(seed)
    with tqdm(
        total=N_FOLDS * len(contenders),
        desc="Cross-validation",
        unit=" fits",
        leave=False,
        disable=not show_progress,
    ) as bar:
        comparison = compare_scores(
            {name: contender.model for name, contender in contenders.items()},
            problem.X,
            problem.y,
            cv=KFold(N_FOLDS, shuffle=True, random_state=seed),
            progress=lambda name: bar.update(),
        )
    model = make_bkernn(seed, verbose=show_progress).fit(problem.X, problem.y)
    recovery = None
    if problem.components is not None:
        recovery = feature_learning_score(problem.components, model.components_)
    directions = summarize_directions(model, feature_names=problem.feature_names)
    return DemoStudy(problem, contenders, comparison, model, directions, recovery)


def save_files(done: DemoStudy, folder: Path) -> None:
    """Write picture and model."""
    # Other commands draw nothing, and do not wait until what draws is there.
    from matplotlib.figure import Figure

    from kernlens.plotting import DirectionsDisplay
    from kernlens.plotting.directions import FIGURE_SIZE

    problem = done.problem
    figure = Figure(figsize=FIGURE_SIZE, dpi=150)
    DirectionsDisplay.from_estimator(
        done.model,
        problem.X,
        problem.y,
        feature_names=problem.feature_names,
        title=problem.title,
        figure=figure,
    )
    with replacing(folder / f"{problem.name}.png") as picture:
        figure.savefig(picture)
    # A loaded model should not start drawing progress bars.
    save_model(done.model.set_params(verbose=False), folder / f"{problem.name}.skops")

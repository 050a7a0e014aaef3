"""The directions, which columns make them, and how sure they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from kernlens._array import FloatArray
from kernlens.inspection.direction_summary import summarize_directions
from kernlens.inspection.subspace_comparison import compare_subspaces
from kernlens.model_selection.auto.trials import feature_learner
from kernlens.model_selection.stability import REPRODUCIBLE, SubspaceStability
from kernlens.reporting.subject import Subject, unwrapped
from kernlens.tables.reading import names_of

#: Directions, and columns of each of them, that a page shows.
MOST_DIRECTIONS = 6
MOST_COLUMNS = 15
#: Columns that the table of importances shows.
MOST_IMPORTANCES = 30


def directions_of(subject: Subject, n_resamples: int | None) -> dict[str, Any]:
    """Loadings of the strongest columns of every direction."""
    named = names_of(subject.X) is not None
    found = summarize_directions(subject.model, feature_names=None if named else subject.names)
    stability = getattr(subject.model, "stability_", None)
    if n_resamples:
        stability = resampled_stability(subject, n_resamples)
    return directions_table(found, stability)


def directions_table(found: Any, stability: Any) -> dict[str, Any]:
    """The same for a :class:`DirectionSummary`, with intervals if there are any."""
    n_directions, n_columns = found.loadings.shape
    shown = min(n_directions, MOST_DIRECTIONS)
    return {
        "n_directions": n_directions,
        "n_shown": shown,
        "n_columns": n_columns,
        "standardized": found.standardized,
        "stability": _of_folds(stability),
        "directions": [_direction(found, stability, place) for place in range(shown)],
    }


def _direction(found: Any, stability: Any, place: int) -> dict[str, Any]:
    strongest = found.strongest(place, MOST_COLUMNS)
    number = {name: column for column, name in enumerate(found.feature_names)}
    bounds = None if stability is None else stability.intervals[:, place]
    columns = []
    for name, weight in strongest:
        # A column of no weight says nothing, unless all others are shown as well.
        if weight == 0.0:
            continue
        entry: dict[str, Any] = {"name": name, "loading": weight, "low": None, "high": None}
        if bounds is not None:
            entry["low"], entry["high"] = bounds[:, number[name]]
        columns.append(entry)
    weights = found.loadings[place]
    return {
        "number": place + 1,
        "importance": found.component_importances[place],
        "columns": columns,
        "n_not_shown": int(np.count_nonzero(weights)) - len(columns),
        # Loadings have length 1, so that this is the share of what is shown.
        "share_shown": sum(weight**2 for _, weight in strongest),
        "reproducibility": None if stability is None else stability.reproducibility[place],
        "angle": None if stability is None else float(np.median(stability.angles[:, place])),
    }


def _of_folds(stability: Any) -> dict[str, Any] | None:
    if stability is None:
        return None
    return {
        "method": getattr(stability, "method", "folds"),
        "n_resamples": len(stability.angles),
        "coverage": getattr(stability, "coverage", 0.9),
        "reproducible_from": REPRODUCIBLE,
    }


class ResampledStability:
    """A :class:`SubspaceStability` as the fits of folds of an automatic estimator are read."""

    def __init__(self, fitted: SubspaceStability) -> None:
        self.method = str(fitted.method)
        self.coverage = float(fitted.coverage)
        self.angles: FloatArray = fitted.angles_
        self.intervals: FloatArray = fitted.intervals_
        self.reproducibility: FloatArray = fitted.reproducibility_


def resampled_stability(subject: Subject, n_resamples: int) -> ResampledStability | None:
    """Fit the learner again to resamples of the rows; None without directions."""
    inside = unwrapped(subject, subject.X)
    if inside.model.n_directions_ == 0:
        return None
    learner = subject.model
    while isinstance(learner, Pipeline):
        learner = learner.steps[-1][1]
    found = SubspaceStability(
        clone(learner),
        n_resamples=n_resamples,
        n_directions=int(inside.model.n_directions_),
        random_state=subject.seed,
    ).fit(inside.rows, subject.y, subject.weights)
    return ResampledStability(found)


def columns_table(subject: Subject) -> dict[str, Any]:
    """Importances of the columns of the user, the largest first."""
    model = subject.model
    if hasattr(model, "table_"):
        own = names_of(subject.X) is not None
        names = model.table_.columns_.names if own else subject.names
        shares = model.feature_importances_
    else:
        inside = unwrapped(subject, None)
        names, shares = inside.feature_names, inside.model.feature_importances_
    return importances_table(names, np.asarray(shares))


def importances_table(names: Any, shares: FloatArray) -> dict[str, Any]:
    """The largest importances with their names."""
    order = np.argsort(-shares, kind="stable")[:MOST_IMPORTANCES]
    shown = [{"name": str(names[place]), "importance": shares[place]} for place in order]
    return {"columns": shown, "n_columns": len(shares), "n_not_shown": len(shares) - len(shown)}


def agreement_of(model: Any) -> dict[str, Any] | None:
    """Angles between what the members of an automatic estimator have found."""
    names, learners = [], []
    for name, member in zip(
        getattr(model, "member_names_", ()), getattr(model, "members_", ()), strict=True
    ):
        learner = feature_learner(member)
        if learner is not None and learner.n_directions_ > 0:
            names.append(name)
            learners.append(learner)
    if len(learners) < 2:
        return None
    found = compare_subspaces(learners, names)
    return {
        "names": found.names,
        "n_directions": found.n_directions,
        "largest_angles": found.largest_angles,
        "agreement": found.agreement,
    }

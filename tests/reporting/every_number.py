"""Every number of a summary, computed again from the model, its rows and public functions.

Names, and the order in which columns and candidates are shown, are taken from the summary; numbers
are not.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
from sklearn import metrics
from sklearn.calibration import calibration_curve

from kernlens.inspection import (
    average_derivatives,
    compare_subspaces,
    direction_profile,
    summarize_directions,
    surface_profile,
)

N_DRAWS, TAILS, SEED = 400, [5.0, 95.0], 0


class EveryNumber:
    """The numbers of the summary of a model with rows held out, by their paths."""

    def __init__(self, summary: dict[str, Any], fit: tuple[Any, ...]) -> None:
        self.s = summary
        self.model, self.X, self.y, self.X_test, self.y_test = fit
        self.classes = list(getattr(self.model, "classes_", []))
        self.table = pd.DataFrame(self.X)
        if not hasattr(self.X, "columns"):
            self.table.columns = [f"x{k}" for k in range(self.X.shape[1])]
        self.inside, self.rows = self.model, self.X
        self.names = list(self.table.columns)
        if hasattr(self.model, "table_"):
            self.inside, self.rows = (
                self.model._for_prepared_rows(),
                self.model.table_.transform(self.X),
            )
            self.names = list(self.model.table_.get_feature_names_out())
        self.rows = np.asarray(self.rows, dtype=np.float64)
        self.found: dict[str, list[float]] = {}

    def add(self, path: str, *values: Any) -> None:
        """Numbers at a path; those that are not finite are not in the summary."""
        flat = np.concatenate([np.ravel(np.asarray(v, dtype=np.float64)) for v in values])
        self.found.setdefault(path, []).extend(flat[np.isfinite(flat)].tolist())

    def all(self) -> dict[str, list[float]]:
        """Everything."""
        self.add(".format", 1)
        self.add(".made.seed", self.model.get_params()["random_state"])
        self.add(".made.page_seed", SEED)
        self._scores()
        self._data()
        self._directions()
        self._curves()
        self._derivatives()
        self._what_if()
        if self.classes:
            self._classes()
        else:
            self._regression()
        if hasattr(self.model, "leaderboard_"):
            self._board()
            self._agreement()
        return self.found

    def _agreement(self) -> None:
        """Angles between members that have found a direction, if there are several."""
        named = zip(self.model.members_, self.model.member_names_, strict=True)
        learners = {name: member for member, name in named if member.n_directions_ > 0}
        if len(learners) < 2:
            return
        found = compare_subspaces(list(learners.values()), list(learners))
        self.add(".agreement.n_directions[]", found.n_directions)
        self.add(".agreement.largest_angles[][]", found.largest_angles)
        self.add(".agreement.agreement[][]", found.agreement)

    def outputs(self, model: Any, rows: Any) -> Any:
        """What is shown of rows: predictions, or probabilities of all classes."""
        return (
            model.predict_proba(rows) if self.classes else np.asarray(model.predict(rows))[:, None]
        )

    def _score(self, key: str, rows: Any, prediction: Any, shares: Any) -> float:
        y = np.asarray(self.y_test)[rows]
        if key == "log_loss":
            return metrics.log_loss(y, shares[rows], labels=self.classes)
        if key == "auc":
            return metrics.roc_auc_score(y, shares[rows], multi_class="ovr", labels=self.classes)
        of = {
            "r2": metrics.r2_score,
            "mae": metrics.mean_absolute_error,
            "rmse": metrics.root_mean_squared_error,
            "accuracy": metrics.accuracy_score,
            "balanced_accuracy": metrics.balanced_accuracy_score,
        }[key]
        return of(y, prediction[rows])

    def _scores(self) -> None:
        n, y = len(self.y_test), np.asarray(self.y)
        self.add(".scores.n_rows", n)
        self.add(".scores.coverage", 0.9)
        prediction = np.asarray(self.model.predict(self.X_test))
        shares = self.model.predict_proba(self.X_test) if self.classes else None
        if self.classes:
            counts = np.array([np.sum(y == label) for label in self.classes])
            constant = np.full(n, self.classes[int(counts.argmax())])
            even = np.tile(counts / len(y), (n, 1))
        else:
            constant, even = np.full(n, y.mean()), None
            self.add(".scores.constant.prediction", y.mean())
        rng = np.random.default_rng(SEED)
        draws = [rng.integers(0, n, n) for _ in range(N_DRAWS)]
        for one in self.s["scores"]["scores"]:
            key, every = one["key"], np.arange(n)
            self.add(".scores.scores[].value", self._score(key, every, prediction, shares))
            self.add(f".scores.constant.scores.{key}", self._score(key, every, constant, even))
            if key in ("balanced_accuracy", "auc"):
                continue
            drawn = [self._score(key, rows, prediction, shares) for rows in draws]
            low, high = np.percentile(drawn, TAILS)
            self.add(".scores.scores[].low", low)
            self.add(".scores.scores[].high", high)

    def _data(self) -> None:
        kinds = {one["name"]: one["kind"] for one in self.s["data"]["columns"]}
        gaps = self.table.isna().mean()
        self.add(".data.n_rows", len(self.table))
        self.add(".data.n_rows_looked_at", len(self.table))
        self.add(".data.n_test_rows", len(self.y_test))
        self.add(".data.n_columns", self.table.shape[1])
        self.add(".data.n_not_shown", 0)
        self.add(".data.n_weak", getattr(getattr(self.model, "table_", None), "n_weak_", 0))
        self.add(".data.n_with_missing", np.sum(gaps > 0.0))
        self.add(".data.share_missing", gaps.mean())
        for kind, number in pd.Series(kinds).value_counts().items():
            self.add(f".data.kinds.{kind}", number)
        for name, kind in kinds.items():
            there = self.table[name].dropna()
            self.add(".data.columns[].missing", gaps[name])
            self.add(".data.columns[].n_levels", there.nunique())
            if kind == "category":
                counts = there.value_counts()
                names = [one["name"] for one in self._column(name)["levels"]]
                self.add(".data.columns[].levels[].count", [counts[level] for level in names])
            elif kind != "date":
                self._spread(".data.columns[]", there.astype(float))
        self._target()

    def _column(self, name: str) -> dict[str, Any]:
        return next(one for one in self.s["data"]["columns"] if one["name"] == name)

    def _spread(self, path: str, values: Any) -> None:
        self.add(f"{path}.quartiles[]", np.quantile(values, [0.0, 0.25, 0.5, 0.75, 1.0]))
        self.add(f"{path}.mean", np.mean(values))
        self.add(f"{path}.histogram[]", np.histogram(values, bins=16)[0])

    def _target(self) -> None:
        self.add(".data.target.n_classes", len(self.classes))
        if self.classes:
            names = [one["name"] for one in self.s["data"]["target"]["classes"]]
            counts = pd.Series(self.y).value_counts()
            self.add(".data.target.classes[].count", [counts[name] for name in names])
            return
        self._spread(".data.target", self.y)
        self.add(".data.target.standard_deviation", np.std(np.asarray(self.y)))

    def _directions(self) -> None:
        given = summarize_directions(self.model)
        stability = getattr(self.model, "stability_", None)
        found, n_columns = self.s["directions"], len(self.names)
        n_directions = self.model.n_directions_
        self.add(".directions.n_directions", n_directions)
        self.add(".directions.n_shown", n_directions)
        self.add(".directions.n_columns", n_columns)
        if stability is not None:
            self.add(".directions.stability.n_resamples", len(stability.angles))
            self.add(".directions.stability.coverage", 0.9)
            self.add(".directions.stability.reproducible_from", 0.6)
        for place, one in enumerate(found["directions"]):
            loadings, path = given.loadings[place], ".directions.directions[]"
            columns = [self.names.index(column["name"]) for column in one["columns"]]
            self.add(f"{path}.number", place + 1)
            self.add(f"{path}.importance", self.model.component_importances_[place])
            self.add(f"{path}.columns[].loading", loadings[columns])
            self.add(f"{path}.n_not_shown", np.count_nonzero(loadings) - len(columns))
            self.add(f"{path}.share_shown", np.sum(loadings[columns] ** 2))
            if stability is not None:
                self.add(f"{path}.columns[].low", stability.intervals[0, place, columns])
                self.add(f"{path}.columns[].high", stability.intervals[1, place, columns])
                self.add(f"{path}.angle", np.median(stability.angles[:, place]))
                self.add(f"{path}.reproducibility", stability.reproducibility[place])
        shares = dict(zip(self.table.columns, self.model.feature_importances_, strict=True))
        shown = [one["name"] for one in self.s["columns"]["columns"]]
        self.add(".columns.columns[].importance", [shares[name] for name in shown])
        self.add(".columns.n_columns", self.table.shape[1])
        self.add(".columns.n_not_shown", 0)

    def _targets(self) -> list[Any]:
        return (self.classes[1:] if len(self.classes) == 2 else self.classes) or [None]

    def _curves(self) -> None:
        for place in range(2 if len(self.classes) > 2 else 4)[: self.model.n_directions_]:
            for label in self._targets():
                one = direction_profile(
                    *(self.model, self.X, self.y), direction=place, target=label, n_points=41
                )
                self.add(".profiles[].direction", place + 1)
                for name in ("grid", "mean", "low", "high", "positions", "observed"):
                    self.add(f".profiles[].{name}[]", getattr(one, name))
        if self.model.n_directions_ < 2:
            return
        for label in self._targets():
            surface = surface_profile(
                *(self.model, self.X, self.y), target=label, n_points=17, max_rows=30, reach=None
            )
            self.add(".surfaces[].first[]", surface.grid[0])
            self.add(".surfaces[].second[]", surface.grid[1])
            self.add(".surfaces[].mean[][]", surface.mean.T)
            self.add(".surfaces[].positions[][]", surface.positions)

    def _derivatives(self) -> None:
        found = self.s["derivatives"]
        shown = [self.names.index(one["name"]) for one in found["columns"]]
        scale = np.asarray(self.inside.scale_)
        if found["method"] == "gradient":
            given = average_derivatives(self.model, self.X)
            mean, size = (
                np.atleast_2d(given.mean * scale),
                np.atleast_2d(given.root_mean_square * scale),
            )
        else:
            slopes = []
            for column in range(len(scale)):
                step = 0.25 * scale[column] * np.eye(len(scale))[column]
                after = self.outputs(self.inside, self.rows + step)
                slopes.append((after - self.outputs(self.inside, self.rows - step)) / 0.5)
            mean = np.mean(slopes, axis=1).T
            size = np.sqrt(np.mean(np.square(slopes), axis=1)).T
        self.add(".derivatives.n_rows", len(self.rows))
        self.add(".derivatives.n_not_shown", len(scale) - len(shown))
        self.add(".derivatives.n_outputs_not_shown", 0)
        for column in shown:
            self.add(".derivatives.columns[].scale", scale[column])
            self.add(".derivatives.columns[].mean[]", mean[:, column])
            self.add(".derivatives.columns[].root_mean_square[]", size[:, column])

    def _what_if(self) -> None:
        shown = self.outputs(self.model, self.X)
        order = np.argsort(shown[:, -1], kind="stable")
        rows = order[np.linspace(0, len(order) - 1, 5).round().astype(int)]
        self.add(".what_if.rows[].row", rows + 1)
        self.add(".what_if.rows[].prediction[]", shown[rows])
        for slider in self.s["what_if"]["columns"]:
            self._column_slider(slider["name"], slider["kind"], rows)
        moved, z = self.rows, np.asarray(self.inside.transform(self.rows))
        centered = z - z.mean(axis=0)
        slopes = np.linalg.lstsq(centered, moved - moved.mean(axis=0), rcond=None)[0]
        for place in range(min(3, z.shape[1])):
            grid = np.quantile(z[:, place], np.linspace(0.02, 0.98, 21))
            path = ".what_if.directions[]"
            self.add(f"{path}.number", place + 1)
            self.add(f"{path}.n_ordered", 21)
            self.add(f"{path}.values[]", grid)
            self.add(f"{path}.own[]", z[rows, place])
            for row in rows:
                self.add(f"{path}.own_value[]", np.argmin(np.abs(grid - z[row, place])))
                there = moved[row] + np.outer(grid - z[row, place], slopes[place])
                self.add(f"{path}.predictions[][][]", self.outputs(self.inside, there))

    def _column_slider(self, name: str, kind: str, rows: Any) -> None:
        column, path = self.table[name], ".what_if.columns[]"
        there = column.dropna()
        if kind == "category":
            values = sorted(there.unique())
        else:
            ordered = there.sort_values()
            places = np.linspace(0.01, 0.99, 21) * (len(ordered) - 1)
            values = list(pd.unique(ordered.iloc[places.round().astype(int)]))
        self.add(f"{path}.n_ordered", 0 if kind == "category" else len(values))
        tried = [*values, *([None] if column.isna().any() else [])]
        for row in rows:
            own = column.iloc[row]
            if pd.isna(own):
                nearest = len(values)
            elif kind == "category":
                nearest = values.index(own)
            else:
                apart = [
                    abs(value - own) if kind != "boolean" else value != own for value in values
                ]
                nearest = int(np.argmin(apart))
            self.add(f"{path}.own_value[]", nearest)
            changed = self.table.iloc[np.full(len(tried), row)].reset_index(drop=True)
            changed[name] = pd.Series(tried).astype(column.dtype)
            as_given = changed if hasattr(self.X, "columns") else changed.to_numpy()
            self.add(f"{path}.predictions[][][]", self.outputs(self.model, as_given))

    def _classes(self) -> None:
        y, n = np.asarray(self.y_test), len(self.y_test)
        named = np.asarray(self.model.predict(self.X_test))
        shares = self.model.predict_proba(self.X_test)
        counts = metrics.confusion_matrix(y, named, labels=self.classes)
        self.add(".classes.n_rows", n)
        self.add(".classes.n_classes", len(self.classes))
        self.add(".classes.n_classes_not_shown", 0)
        self.add(".classes.confusion.counts[][]", counts)
        for one in self.s["classes"]["most_confused"]:
            pair = [self.classes.index(one[name]) for name in ("observed", "predicted")]
            self.add(".classes.most_confused[].count", counts[tuple(pair)])
        for one in self.s["classes"]["by_class"]:
            place = self.classes.index(one["name"])
            right = counts[place, place]
            self.add(".classes.by_class[].n_rows", counts[place].sum())
            self.add(".classes.by_class[].recall", right / counts[place].sum())
            self.add(".classes.by_class[].precision", right / counts[:, place].sum())
        self.add(
            ".classes.auc",
            metrics.roc_auc_score(y, shares, multi_class="ovr", labels=self.classes),
        )
        for one in self.s["classes"]["roc"]:
            own = shares[:, self.classes.index(one["class"])]
            wrong, right, _ = metrics.roc_curve(y == one["class"], own)
            self.add(".classes.roc[].false_positive_rate[]", wrong)
            self.add(".classes.roc[].true_positive_rate[]", right)
            self.add(".classes.roc[].auc", metrics.roc_auc_score(y == one["class"], own))
        observed, said = calibration_curve(
            y == named, shares.max(axis=1), n_bins=10, strategy="quantile"
        )
        self.add(".classes.calibration.observed[]", observed)
        self.add(".classes.calibration.predicted[]", said)

    def _regression(self) -> None:
        y, prediction = np.asarray(self.y_test), self.model.predict(self.X_test)
        self.add(".regression.n_rows", len(y))
        self.add(".regression.n_shown", len(y))
        self.add(".regression.observed[]", y)
        self.add(".regression.predicted[]", prediction)
        left = y - prediction
        path = ".regression.residuals"
        self.add(f"{path}.quartiles[]", np.quantile(left, [0.0, 0.25, 0.5, 0.75, 1.0]))
        counts, edges = np.histogram(left, bins=len(self.s["regression"]["residuals"]["counts"]))
        self.add(f"{path}.counts[]", counts)
        self.add(f"{path}.edges[]", edges)
        if not hasattr(self.model, "predict_interval"):
            return
        self.add(".regression.intervals.n_rows", len(y))
        for coverage in (0.5, 0.8, 0.9, 0.95):
            low, high = self.model.predict_interval(self.X_test, coverage).T
            path = ".regression.intervals.levels[]"
            self.add(f"{path}.coverage", coverage)
            self.add(f"{path}.observed", np.mean((y >= low) & (y <= high)))
            self.add(f"{path}.width", np.mean(high - low))

    def _board(self) -> None:
        given = self.model.leaderboard_.set_index("candidate")
        self.add(".model.seconds", self.model.seconds_)
        self.add(".leaderboard.coverage", 0.9)
        for one in self.s["leaderboard"]["rows"]:
            row, path = given.loc[one["name"]], ".leaderboard.rows[]"
            bound = 1.6448536269514722 * row["standard_error"]
            self.add(f"{path}.score", row["score"])
            self.add(f"{path}.standard_error", row["standard_error"])
            self.add(f"{path}.low", row["score"] - bound)
            self.add(f"{path}.high", row["score"] + bound)
            for name in ("first_look", "seconds", "weight"):
                self.add(f"{path}.{name}", row[name])


def numbers_of(value: Any, path: str = "") -> dict[str, list[float]]:
    """All numbers below a value, by their paths, in their order."""
    if isinstance(value, dict):
        pairs = [numbers_of(one, f"{path}.{key}") for key, one in value.items()]
    elif isinstance(value, list):
        pairs = [numbers_of(one, f"{path}[]") for one in value]
    else:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return {path: [float(value)]} if is_number else {}
    found: dict[str, list[float]] = {}
    for key, numbers in chain.from_iterable(one.items() for one in pairs):
        found.setdefault(key, []).extend(numbers)
    return found

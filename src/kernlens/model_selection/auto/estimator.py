"""What the automatic regressor and classifier share: the way from a table to a stack."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Sequence
from contextlib import ExitStack
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from kernlens._array import FloatArray
from kernlens._execution import effective_n_jobs, map_blocks, single_threaded_blas, working
from kernlens._parameters import Parameters, check_parameters
from kernlens._progress import make_display
from kernlens._reports import FitProgress, Look
from kernlens._result import Status
from kernlens._validation import check_magnitude, check_spread
from kernlens.base.contract import FeatureLearnerMixin
from kernlens.base.estimates import EstimatesMixin, FitShape, slowness
from kernlens.base.fit_data import Memory
from kernlens.base.saved import SavedMixin
from kernlens.blocks.dask_workers import Workers
from kernlens.blocks.lazily import lazy_on_dask
from kernlens.model_selection.auto.agreement import FoldStability, agreed, stability_of
from kernlens.model_selection.auto.budget import Budget
from kernlens.model_selection.auto.candidates import MANY_ROWS, MOST_DIRECTIONS, Candidate
from kernlens.model_selection.auto.kept import PagesMixin, kept_of
from kernlens.model_selection.auto.leaderboard import STACK, Leaderboard, Row, told
from kernlens.model_selection.auto.race import Race
from kernlens.model_selection.auto.scores import Score
from kernlens.model_selection.auto.splits import Rows, Split, chosen_rows, prepared
from kernlens.model_selection.auto.stacking import Stack, Stacker, Weigh
from kernlens.model_selection.auto.trials import (
    Found,
    Trial,
    feature_learner,
    fitted,
    fitted_there,
    is_fitted,
    learner_of,
    predicted,
    speechless,
)
from kernlens.subspace import rising_signs
from kernlens.tables.preprocessor import TablePreprocessor

#: Share of the budget after which fits to all rows are asked to stop, unless they have not had
#: this many times the seconds of a fit to a split.
LAST_CALL = 1.1
LONGER = 3.0
#: Prepared columns at most: where there are more, the others say less of the target.
MOST_COLUMNS = 1000
#: Counting directions takes about as long as this many fits.
COUNTING = 4.0
#: Rows that say along which way of a direction the prediction rises.
ROWS_FOR_SIGNS = 1000


@lazy_on_dask("transform")
class BaseAutoLens(EstimatesMixin, FeatureLearnerMixin, PagesMixin, SavedMixin):
    """A portfolio of candidates within a time budget, and a stack of the best of them."""

    _parameters: ClassVar[Parameters]
    _scores: ClassVar[dict[str, Score]]
    bounds_: tuple[float, float]
    #: Tells the time in seconds.
    _clock = staticmethod(time.monotonic)

    # What regressor and classifier say

    @abstractmethod
    def _portfolio(self, y: FloatArray) -> list[Candidate]:
        """What is tried."""

    @abstractmethod
    def _weigh(self, score: Score) -> Weigh:
        """How shares of a stack are chosen."""

    @abstractmethod
    def _keep_errors(self, stack: Stack, stacker: Stacker) -> Stack:
        """Learn from rows left out what intervals or probabilities need."""

    # The way of a fit

    def _fit_table(
        self,
        X: Any,
        y: FloatArray,
        labels: Any,
        weights: FloatArray | None,
        groups: Any,
        rows: Rows | None,
        n_classes: int | None,
    ) -> None:
        """Fit checked targets.

        Parameters
        ----------
        X : table
        y : ndarray of shape (n_rows,)
            Targets, or numbers of classes.
        labels : ndarray of shape (n_rows,)
            What the table is prepared with: targets or labels.
        weights : ndarray of shape (n_rows,) or None
            Positive for all rows.
        groups : array-like of shape (n_rows,) or None
        rows : list of (train, test) or None
            Splits that the user has chosen.
        n_classes : int or None
        """
        budget = Budget(float(self.time_budget), self._clock)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        score = self._score
        task = "regression" if n_classes is None else "classification"
        table = TablePreprocessor(task=task, max_columns=MOST_COLUMNS, random_state=seed)
        with ExitStack() as stack:
            stack.enter_context(working())
            stack.enter_context(single_threaded_blas())
            whole = clone(table)
            Z = np.asarray(whole.fit_transform(X, labels), dtype=np.float64)
            check_magnitude(Z, "X")
            check_spread(Z, "X")
            if rows is None:
                # Equal rows have equal content only without the folds of `fit_transform`.
                content = np.asarray(whole.transform(X), dtype=np.float64)
                rows = chosen_rows(self.cv, content, y, groups, n_classes is not None)
            splits = prepared(rows, table, X, labels)
            workers = Workers.of_joblib()
            race = Race(
                self._portfolio(y),
                splits,
                y,
                weights,
                n_classes,
                score,
                budget,
                self._n_threads(workers),
                seed,
                self._teller(stack, budget),
                workers,
            )
            self.status_ = Status.CONVERGED.value
            self.table_ = whole
            with speechless():
                try:
                    race.run()
                except KeyboardInterrupt:
                    budget.cancel()
                    if not self._finished(race):
                        raise
                    self.status_ = Status.INTERRUPTED.value
                chosen = self._conclude(race, Z, budget)
            places, _ = _left_out_rows(race.splits)
            self._kept = kept_of(X, labels, weights, places, chosen.crossed, seed)

    def _n_threads(self, workers: Workers | None) -> int | None:
        """How many fits there are at a time; a thread of ours waits for each one elsewhere."""
        all_cores = self.n_jobs is None or self.n_jobs < 0
        return workers.n_threads if workers is not None and all_cores else self.n_jobs

    def _finished(self, race: Race) -> list[Trial]:
        """Candidates that may be members."""
        return [one for one in race.eligible if one.candidate.ours or self.include_trees]

    def _teller(self, stack: ExitStack, budget: Budget) -> Any:
        """What outcomes are reported to."""
        listeners: list[Any] = []
        if self.verbose:
            display = make_display(type(self).__name__)
            stack.callback(display.close)
            listeners.append(lambda p: display.show(p.stage, p.iteration, p.objective))
        if self.callback is not None:
            listeners.append(self.callback)

        def tell(stage: str, number: int, best: float) -> None:
            look = Look(lambda: None)
            record = FitProgress(type(self).__name__, stage, number, best, look)
            # As every callback of this library: one that returns True ends the fit.
            answers = [listener(record) for listener in listeners]
            if any(answer is True for answer in answers):
                self.status_ = Status.STOPPED.value
                budget.end()

        return tell

    def _conclude(self, race: Race, Z: FloatArray, budget: Budget) -> Stack:
        """Choose the members, fit them to all rows, and keep what people ask for."""
        trials = self._finished(race)
        if not trials:
            reasons = [f"{one.candidate.name}: {one.error}" for one in race.trials if one.error]
            raise ValueError("No candidate could be fitted. " + "; ".join(reasons[:3]))
        stacker = self._stacker(race, trials)
        chosen = stacker.best() if self.ensemble else stacker.best_single()
        chosen = self._keep_errors(chosen, stacker)
        members = [trials[place] for place in chosen.members]
        budget.resume()
        chosen = self._fit_members(race, members, chosen, stacker, Z)
        members = [trials[place] for place in chosen.members]
        self.member_names_ = [trial.candidate.name for trial in members]
        self.member_weights_ = chosen.shares
        self._keep_directions(race, members, chosen, stacker, Z)
        self._keep_board(race, trials, chosen, stacker)
        return chosen

    def _stacker(self, race: Race, trials: Sequence[Trial]) -> Stacker:
        """Predictions of the rows that some split has left out."""
        places, fold = _left_out_rows(race.splits)
        predictions = np.array([_joined(trial, len(race.splits)) for trial in trials])
        weights = np.ones(len(places)) if race.weights is None else race.weights[places]
        return Stacker(
            predictions, race.y[places], weights, fold, self._weigh(race.score), race.score
        )

    def _fit_members(
        self, race: Race, members: Sequence[Trial], chosen: Stack, stacker: Stacker, Z: FloatArray
    ) -> Stack:
        """Fit the members to all rows, and return the stack of those that are there in the end."""
        budget = race.budget
        expected = max(race.seconds_of_a_fit(trial) for trial in members)
        latest = max(LAST_CALL * budget.seconds, budget.spent + LONGER * expected)
        stop = budget.ends_after(latest)
        seconds = race.seconds_of_a_fit(members[0])
        count = self.n_directions == "auto" and COUNTING * seconds < budget.left
        width = min(MOST_DIRECTIONS, Z.shape[1])
        models: dict[int, Any] = {}

        def fit(number: int) -> None:
            directions: int | str = "auto" if count and number == 0 else width
            model = members[number].candidate.make(directions, race.seed)
            models[chosen.members[number]] = model
            # Somebody must be there at the end, however late it is.
            if race.workers is None:
                fitted(model, Z, race.y, race.weights, stop if number else None)
                return
            models[chosen.members[number]] = race.workers.run(
                fitted_there,
                model,
                *map(race.workers.sent, (Z, race.y, race.weights)),
                wanted=lambda: not budget.cancelled,
                seconds=latest - budget.spent if number else None,
            )

        try:
            map_blocks(fit, range(len(members)), n_jobs=race.n_jobs)
        except KeyboardInterrupt:
            # A member that was being fitted has kept its best state, if it had any.
            there = [place for place in chosen.members if is_fitted(models.get(place))]
            if not there:
                raise
            self.status_ = Status.INTERRUPTED.value
            chosen = self._keep_errors(stacker.of(there), stacker)
        self.members_ = [models[place] for place in chosen.members]
        return chosen

    def _keep_directions(
        self, race: Race, members: Sequence[Trial], chosen: Stack, stacker: Stacker, Z: FloatArray
    ) -> None:
        shares = chosen.shares
        names = tuple(str(name) for name in self.table_.get_feature_names_out())
        learners = [feature_learner(model) for model in self.members_]
        found = [
            (Found(names, one.loadings_, one.component_importances_), share)
            for one, share in zip(learners, shares, strict=True)
            if one is not None and one.n_directions_ > 0
        ]
        weights = np.ones(len(Z)) if race.weights is None else race.weights
        self.mean_ = np.average(Z, axis=0, weights=weights)
        spread = np.sqrt(np.average(np.square(Z - self.mean_), axis=0, weights=weights))
        self.scale_ = np.where(spread > 0.0, spread, 1.0)
        number = self._number(learners)
        if self.n_directions == "auto" and not stacker.beats_a_constant(chosen):
            number = 0
        if not found:
            empty = np.zeros((0, len(names)))
            self._store_directions(empty, np.zeros(0), np.zeros(len(names)), 0, self.scale_)
            self.stability_: FoldStability | None = None
        else:
            whole = agreed([one for one, _ in found], np.array([s for _, s in found]), names)
            rows = ((Z - self.mean_) / self.scale_)[:ROWS_FOR_SIGNS]
            values = np.atleast_2d(self._values(Z[:ROWS_FOR_SIGNS]).T)
            loadings = whole.loadings * rising_signs(whole.loadings, rows, values)[:, None]
            importances = self._importances(learners, shares, len(names))
            self._store_directions(loadings, whole.importances, importances, number, self.scale_)
            folds = _folds_of(race, members, shares, names)
            self.stability_ = stability_of(self.loadings_, names, folds)
        self.output_importances_ = self.feature_importances_
        self.feature_importances_ = self.table_.sum_by_source(self.output_importances_)

    def _number(self, learners: Sequence[FeatureLearnerMixin | None]) -> int | str:
        """Directions to keep: as given, or as the heaviest member has counted them."""
        if self.n_directions != "auto":
            return int(self.n_directions)
        first = learners[0]
        counted = first is not None and first.get_params().get("n_directions") == "auto"
        return int(first.n_directions_) if first is not None and counted else "auto"

    def _importances(
        self, learners: Sequence[FeatureLearnerMixin | None], shares: FloatArray, n_columns: int
    ) -> FloatArray:
        total = np.zeros(n_columns)
        for one, share in zip(learners, shares, strict=True):
            if one is not None:
                total += share * one.feature_importances_
        return total

    def _keep_board(
        self, race: Race, trials: Sequence[Trial], chosen: Stack, stacker: Stacker
    ) -> None:
        shares = dict(zip(self.member_names_, self.member_weights_, strict=True))
        everything = self._stacker(race, race.finished)
        scores = {
            trial.candidate.name: race.score.with_error(everything.y, one, everything.weights)
            for trial, one in zip(race.finished, everything.predictions, strict=True)
        }
        rows = [_row(trial, scores, shares) for trial in race.trials]
        value, error = race.score.with_error(stacker.y, chosen.prediction, stacker.weights)
        nothing = float("nan")
        final = Row(STACK, value, error, nothing, race.budget.spent, nothing, "", "stack")
        if len(chosen.members) > 1:
            rows.append(final)
        self._board = Leaderboard.of(rows, race.score.title)
        self.best_score_ = value
        self.seconds_ = race.budget.spent
        table = self.table_
        self.explanation_ = told(
            self._board, final, self.n_directions_, table.left_out_, len(race.y), table.n_weak_
        )

    # What a fit will need

    def _memory_for(self, shape: FitShape) -> Memory:
        """As many fits as there are threads, of the candidate that needs most."""
        # Each is made for a few rows of a target that every candidate suits.
        few = np.exp(np.arange(9.0))
        needs = [
            learner._memory_for(replace(shape, n_columns=learner._n_inputs(shape.n_columns)))
            for candidate in self._portfolio(few)
            if candidate.ours and (candidate.many_rows or shape.n_rows <= MANY_ROWS)
            for learner in [learner_of(candidate.make(MOST_DIRECTIONS, 0))]
        ]
        most = max(need.n_bytes for need in needs)
        return Memory(most * effective_n_jobs(self.n_jobs), "lower n_jobs, or fit on fewer rows")

    def _seconds_for(self, shape: FitShape) -> float:
        # The budget is in seconds of this machine already.
        return float(self.time_budget) / slowness()

    # What people ask for

    @property
    def leaderboard_(self) -> Any:
        """All candidates as a data frame: score, standard error, seconds, weight in the stack."""
        check_is_fitted(self)
        return self._board.to_frame()

    def transform(self, X: Any) -> Any:
        """Project on the directions.

        Parameters
        ----------
        X : data frame, Arrow table or array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_directions_)
            ``(Z - mean_) @ components_.T`` of the prepared rows ``Z = table_.transform(X)``.
        """
        check_is_fitted(self)
        return self._projected(self._prepared(X))

    def directions_frame(self) -> Any:
        """Return the directions as a data frame, for the prepared columns.

        Returns
        -------
        pandas.DataFrame
            As that of the other estimators, with a row for every column of ``table_.transform(X)``
            and `output_importances_`.
        """
        check_is_fitted(self)
        return self._frame_of(
            [str(name) for name in self.table_.get_feature_names_out()],
            self.loadings_,
            self.output_importances_,
        )

    def columns_frame(self) -> Any:
        """Return the directions as a data frame, for the columns of the user.

        Returns
        -------
        pandas.DataFrame
            As `directions_frame`, with a row for every column given to `fit` and
            `feature_importances_`. A column of many prepared ones has no sign: entries are the
            shares that it has in a direction, sums of squared loadings. Needs pandas to be
            installed.
        """
        check_is_fitted(self)
        shares = self.table_.sum_by_source(np.square(self.loadings_))
        return self._frame_of(self.table_.columns_.names, shares, self.feature_importances_)

    def _prepared(self, X: Any) -> FloatArray:
        rows: FloatArray = np.asarray(self.table_.transform(X), dtype=np.float64)
        return rows

    def _for_prepared_rows(self) -> Self:
        """The same model for rows that are prepared already, all of whose columns are numbers."""
        inner = copy(self)
        rows = np.vstack([self.mean_, self.mean_ + self.scale_])
        inner.table_ = TablePreprocessor().fit(rows)
        inner.feature_importances_ = self.output_importances_
        return inner

    def _values(self, Z: FloatArray) -> FloatArray:
        """The mean of the members for prepared rows."""
        n_classes = len(self.classes_) if hasattr(self, "classes_") else None
        parts = [predicted(model, Z, n_classes) for model in self.members_]
        if n_classes is None:
            # As rows left out were, whose weights these are.
            parts = [part.clip(*self.bounds_) for part in parts]
        total: FloatArray = np.tensordot(self.member_weights_, np.array(parts), axes=1)
        return total

    @property
    def _score(self) -> Score:
        """What candidates are compared by."""
        name = next(iter(self._scores)) if self.scoring == "auto" else str(self.scoring)
        return self._scores[name]

    @property
    def n_features_in_(self) -> int:
        """Columns of the table given to `fit`."""
        return int(self.table_.n_features_in_)

    @property
    def feature_names_in_(self) -> Any:
        """Their names, if they have names."""
        return self.table_.feature_names_in_

    def _check_parameters(self) -> None:
        check_parameters(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = TablePreprocessor().__sklearn_tags__().input_tags
        tags.transformer_tags.preserves_dtype = ["float64"]
        # The clock decides how much is tried.
        tags.non_deterministic = True
        return tags


def _left_out_rows(splits: Sequence[Split]) -> tuple[Any, Any]:
    """Places of all rows left out, split after split, and the number of their split."""
    places = np.concatenate([split.test for split in splits])
    fold = np.concatenate([np.full(len(split.test), k) for k, split in enumerate(splits)])
    return places, fold


def _joined(trial: Trial, n_splits: int) -> FloatArray:
    joined: FloatArray = np.concatenate([trial.outcomes[k].prediction for k in range(n_splits)])
    return joined


def _folds_of(
    race: Race, members: Sequence[Trial], shares: FloatArray, names: Sequence[str]
) -> list[Found]:
    """The agreed directions of every fold."""
    folds = []
    for number in range(len(race.splits)):
        outcomes = [trial.outcomes[number] for trial in members]
        found = [one.found for one in outcomes if one.found is not None]
        own = [s for one, s in zip(outcomes, shares, strict=True) if one.found is not None]
        folds.append(agreed(found, np.array(own), names))
    return folds


def _row(trial: Trial, scores: dict[str, tuple[float, float]], shares: dict[str, float]) -> Row:
    nothing = float("nan")
    name = trial.candidate.name
    value, error = scores.get(name, (nothing, nothing))
    look = trial.first_score
    seconds = trial.seconds or (0.0 if trial.look is None else trial.look[1])
    note = trial.error
    if not note and name not in scores:
        note = "no time" if trial.look is None else "others looked better, or no time"
    weight = float(shares.get(name, 0.0))
    return Row(name, value, error, look, seconds, weight, note, trial.candidate.kind)

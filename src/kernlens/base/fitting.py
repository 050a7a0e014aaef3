"""The one way of a fit, from checked arrays to a fitted model, whatever the family.

    rows -> columns and targets -> plan -> memory -> learner -> function -> attributes

A family says how each step goes for it; progress, threads of BLAS, interruptions and warnings are
seen to here.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from kernlens._array import BoolArray, FloatArray, IntArray
from kernlens._execution import inside_worker, single_threaded_blas, working
from kernlens._invariance import leading_digits
from kernlens._parameters import Parameters, check_parameters
from kernlens._progress import make_display
from kernlens._reports import FitProgress, Listener, Reporter, StopRequested
from kernlens._result import Status
from kernlens._rows import CanonicalRows, canonical_rows
from kernlens._validation import check_enough_rows, check_memory
from kernlens._warnings import warn
from kernlens.base.arrays import class_numbers, validated
from kernlens.base.block_fitting import BlockFittingMixin
from kernlens.base.callbacks import CallbackSupportMixin
from kernlens.base.columns import Columns
from kernlens.base.contract import FeatureLearnerMixin
from kernlens.base.direction_counting import counted_directions
from kernlens.base.estimates import EstimatesMixin, FitShape
from kernlens.base.fit_data import Fit, FitData, Memory, Stage
from kernlens.base.function import FittedFunction
from kernlens.base.learner import Learned, Learner
from kernlens.base.linear_fitting import LinearPartMixin
from kernlens.base.linear_part import Line, plain_inputs
from kernlens.base.saved import SavedMixin
from kernlens.base.targets import Targets
from kernlens.base.units import order_to_learn_in, rows_to_learn_from
from kernlens.blocks.lazily import lazy_on_dask
from kernlens.blocks.moments import Moments
from kernlens.fits.linear_ridge import LinearRidge
from kernlens.losses import Loss
from kernlens.subspace import rising_signs

#: Steeper slopes count as this, so that sums of their squares do not overflow.
STEEPEST = 1e150

#: Rows that say along which way of a direction the prediction rises.
ROWS_FOR_SIGNS = 1000

#: Share of the range of a feature that is the digits which learners do not see.
ROUNDING = 1e-6


@lazy_on_dask("gradient", "extrapolating")
class FittingMixin(
    LinearPartMixin,
    BlockFittingMixin,
    EstimatesMixin,
    FeatureLearnerMixin,
    CallbackSupportMixin,
    SavedMixin,
):
    """Fit and prediction of every family; `_plan`, `_learner` and the like are the family's own."""

    #: Whether BLAS keeps to one thread in fits and predictions, because our own threads work.
    _single_threaded_blas: ClassVar[bool] = True
    #: Layout of the inputs of the learner, by rows or by columns.
    _order: ClassVar[Literal["C", "F"]] = "C"
    #: Precisions that X is kept in; any other becomes the first of them.
    _precisions: ClassVar[list[type]] = [np.float64]
    #: Names of fitted attributes that only some fits leave; every fit begins without them.
    _optional: ClassVar[tuple[str, ...]] = ()

    #: What the arguments of the constructor may be, and mean.
    _parameters: ClassVar[Parameters]

    mean_: FloatArray
    scale_: FloatArray
    inputs_: IntArray
    feature_range_: FloatArray

    def _check_parameters(self) -> None:
        """Refuse arguments that are out of range, each in one sentence, before any work."""
        check_parameters(self)
        if self._line_always and not self._line_allowed:
            raise ValueError(
                "linear_part=True has no bounds of predictions; give truncate='auto' or None."
            )

    # What a family says

    @abstractmethod
    def _plan(self, data: FitData) -> Any:
        """What is asked of the learner, from the parameters and the data."""

    def _memory(self, data: FitData, plan: Any) -> Memory:
        """What the fit needs, by the formula of the documentation."""
        return self._memory_for(FitShape.of(data))

    @abstractmethod
    def _learner(self, data: FitData, plan: Any, stage: Stage | None) -> Learner[Any]:
        """The learner of one fit."""

    @property
    @abstractmethod
    def _function(self) -> FittedFunction:
        """The fitted function, from fitted attributes."""

    def _store(self, data: FitData, plan: Any, learned: Any) -> None:
        """Keep what is the family's own, beside what every fitted model has."""

    def _measure_columns(self, rows: CanonicalRows) -> Columns:
        return Columns.of(rows.X, rows.weights, bool(self.standardize), order=self._order)

    def _measure_targets(self, rows: CanonicalRows) -> Targets:
        """How targets are used; as they are unless the estimator says otherwise."""
        return Targets.as_they_are(len(rows.y))

    def _targets_of(self, moments: Moments) -> Targets:
        """The same for all rows of a table, whose moments are known."""
        return Targets.as_they_are(len(moments.mean))

    def _calibrate(self, learner: Learner[Any], learned: Any) -> None:
        """What a classifier learns from rows that were left out; other estimators learn nothing."""

    def _leave_uncalibrated(self) -> None:
        """What takes the place of a calibration that was interrupted."""

    # The way of a fit

    def _fit_encoded(self, X: FloatArray, y: FloatArray, weights: FloatArray, loss: Loss) -> None:
        """Fit on checked arrays.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
        y : ndarray of shape (n_targets, n_samples)
            Numbers; for a classifier one-hot rows, or +1 and -1.
        weights : ndarray of shape (n_samples,)
        loss : Loss
        """
        self._fit_data(self._prepare(X, y, weights, loss))

    def _fit_data(self, data: FitData) -> None:
        """Fit on rows in the units of the fit."""
        ridge = self._ridge_beside(data)
        if ridge is not None and self._line_always:
            data = self._without_line(data, ridge)
        self._learn_planned(data, self._checked_plan(data), ridge=ridge)

    def _checked_plan(self, data: FitData) -> Any:
        plan = self._plan(data)
        shape = FitShape.of(data)
        check_memory(self._memory(data, plan).n_bytes, lambda limit: self._advice(shape, limit))
        return plan

    def _learn_planned(
        self,
        data: FitData,
        plan: Any,
        *,
        ridge: LinearRidge | None = None,
        calibrated: bool = False,
    ) -> None:
        """Learn what is planned, and turn the outcome into fitted attributes.

        With `ridge`, its line may come beside the function, as held-out rows want it. With
        `calibrated`, an interruption of the calibration loses the fit.
        """
        with self._fitting() as reporter:
            fit = self._learn_as_planned(data, plan, reporter)
            if ridge is not None and data.linear is None:
                fit = self._beside_ridge(fit, ridge, reporter)
            data, learner, learned = fit.data, fit.learner, fit.learned
            if calibrated:
                self._calibrate(learner, learned)
            else:
                learned = self._calibrate_or_keep(learner, learned)
            line = self._line(data, learned)
            learned = self._count_or_keep(data, learner, learned, line)
            learned, line = self._from_all_rows(fit, learned, line)
            self._store_fit(data, fit.plan, learned, line)
            if reporter is not None:
                reporter.conclude(learned.n_iter, learned.objective, self._copy)
        _warn_of_the_end(learned.status)

    def _learn_as_planned(self, data: FitData, plan: Any, reporter: Reporter | None) -> Fit:
        learner = self._learner(data, plan, reporter)
        if reporter is not None:
            reporter.take = lambda: self._so_far(data, plan, learner)
        return Fit(data, plan, learner, _learn_or_keep(learner, reporter))

    def _so_far(self, data: FitData, plan: Any, learner: Learner[Any]) -> Any:
        """The model that an interruption would leave now, as one of its own; None without any."""
        learned = learner.so_far()
        if learned is None:
            return None
        model = self._copy()
        model._leave_uncalibrated()
        model._store_fit(data, plan, learned)
        return model

    def _copy(self) -> Self:
        """Another model with the same attributes, which has nothing to do with this fit."""
        model = type(self).__new__(type(self))
        model.__dict__.update(self.__dict__)
        model.__dict__.pop("_fit_tasks", None)
        return model

    def _count_or_keep(
        self, data: FitData, learner: Learner[Any], learned: Any, line: Line | None
    ) -> Any:
        """Count the directions that predict; an interruption leaves it to their importances."""
        if line is not None:
            learned = replace(learned, directions=line.joined(learned.directions))
        automatic = isinstance(self.n_directions, str)
        if automatic and not learned.directions.importances.any():
            return _nothing_found(learned)
        if self.n_directions != "auto" or learned.status is Status.INTERRUPTED:
            return learned
        try:
            number = counted_directions(learner, data.rows, data.strata, learned, line)
        except KeyboardInterrupt:
            return replace(learned, status=Status.INTERRUPTED)
        if number == 0:
            return _nothing_found(learned)
        return replace(learned, directions=replace(learned.directions, n_relevant=number))

    def _calibrate_or_keep(self, learner: Learner[Any], learned: Any) -> Any:
        """Calibrate; the first interruption leaves the fit as it is, uncalibrated."""
        try:
            self._calibrate(learner, learned)
        except KeyboardInterrupt:
            if learned.status is Status.INTERRUPTED:
                raise
            self._leave_uncalibrated()
            return replace(learned, status=Status.INTERRUPTED)
        return learned

    def _prepare(self, X: FloatArray, y: FloatArray, weights: FloatArray, loss: Loss) -> FitData:
        check_enough_rows(int(np.count_nonzero(weights)), type(self).__name__)
        written = canonical_rows(X, y, weights)
        rows, _ = written.with_relative_weights()
        columns, targets = self._measure_columns(rows), self._measure_targets(rows)
        # Folds, starts and samples follow an order of rows and columns that says nothing of units.
        order = order_to_learn_in(rows, columns, targets)
        # Measured again: sums in the order in which rows were written have other last digits.
        rows, unit = written.in_order(order.rows).with_relative_weights()
        del written
        columns = self._measure_columns(rows).in_order(order.columns)
        return self._data_of(rows, columns, self._measure_targets(rows), unit, loss)

    def _data_of(
        self, rows: CanonicalRows, columns: Columns, targets: Targets, unit: float, loss: Loss
    ) -> FitData:
        """What is learned from, of rows of the user in the order that they are learned in."""
        by_class = is_classifier(self) and not loss.quadratic
        strata = class_numbers(rows.y) if by_class else None
        learned_from = rows_to_learn_from(rows, columns, targets)
        if columns.limit is None:
            plain = learned_from.X[:, : columns.n_varying]
        else:
            plain = leading_digits(plain_inputs(columns, rows.X))
        loss = loss.in_units_of(float(np.mean(targets.scale)))
        data = FitData(learned_from, columns, targets, loss, strata, unit, self.random_state)
        return replace(data, plain=plain if columns.n_varying else None)

    @contextmanager
    def _fitting(self) -> Iterator[Reporter | None]:
        """What iterations report to, if anybody listens, and BLAS on one thread, if better."""
        with ExitStack() as stack:
            stack.enter_context(working())
            stack.enter_context(self._blas())
            listeners = self._listeners(stack)
            yield Reporter(type(self).__name__, listeners) if listeners else None

    def _listeners(self, stack: ExitStack) -> list[Listener]:
        """Who is told of iterations; what they need is given back at the end of `stack`."""
        listeners: list[Listener] = []
        if self.verbose:
            display = make_display(type(self).__name__)
            stack.callback(display.close)

            def show(progress: FitProgress) -> None:
                display.show(progress.stage, progress.iteration, progress.objective)

            listeners.append(show)
        if self.callback is not None:
            listeners.append(self.callback)
        tasks = getattr(self, "_fit_tasks", None)
        return listeners if tasks is None else [*listeners, tasks]

    def _blas(self) -> AbstractContextManager[None]:
        """The threads that BLAS may use: one beside our own, or in a worker beside others."""
        one = self._single_threaded_blas or inside_worker()
        return single_threaded_blas() if one else nullcontext()

    def _store_fit(
        self, data: FitData, plan: Any, learned: Learned, line: Line | None = None
    ) -> None:
        """Turn an outcome into fitted attributes."""
        for name in ("alpha_search_", *self._optional):
            self.__dict__.pop(name, None)
        self._store_units(data.columns, data.targets)
        self._store_linear(data)
        self._function_kind = learned.function.kind
        for name, value in learned.function.arrays().items():
            setattr(self, name, value)
        self.alpha_ = learned.alpha
        self.objective_ = learned.objective
        self.objective_history_ = np.asarray(learned.history, dtype=np.float64)
        self.n_iter_ = learned.n_iter
        self.status_ = learned.status.value
        if learned.search is not None:
            self.alpha_search_ = learned.search.as_dict()
        self._store_learned_directions(data, learned, line)
        self._store(data, plan, learned)

    def _store_units(self, columns: Columns, targets: Targets) -> None:
        self.mean_, self.scale_ = columns.mean, columns.scale
        self.inputs_, self._limit, self._bias = columns.used, columns.limit, columns.bias
        self._target_mean, self._target_scale = targets.mean, targets.scale
        self._target_bounds = targets.bounds

    def _store_learned_directions(self, data: FitData, learned: Learned, line: Line | None) -> None:
        columns, found = data.columns, learned.directions
        kept = self.n_directions
        if isinstance(kept, str) and found.n_relevant is not None:
            kept = found.n_relevant
        # Rows are in the order of a hash: the first of them are a random sample.
        inputs = data.rows.X[:ROWS_FOR_SIGNS]
        with self._blas():
            values = learned.function.decision(inputs)
        if line is not None:
            values = values + line.values[:, : len(inputs)]
        signs = rising_signs(found.components, inputs, values)
        self._store_directions(
            columns.embed(found.components * signs[:, None]),
            found.importances,
            columns.embed(found.of_inputs[None])[0],
            kept,
            columns.scale,
            n_columns=max(1, columns.n_varying),
        )
        self._store_feature_range(data)

    def _store_feature_range(self, data: FitData) -> None:
        """Keep the range of the learned features of the rows."""
        self.feature_range_ = np.zeros((2, self.n_directions_))
        if data.plain is None or not self.n_directions_:
            return
        loadings = self.loadings_[:, data.columns.used]
        if data.found is not None:
            self._store_range_of_all(data, loadings)
        else:
            features = data.plain @ loadings.T
            self.feature_range_[:] = features.min(axis=0), features.max(axis=0)

    # The fitted model

    @property
    def _columns(self) -> Columns:
        return Columns(self.mean_, self.scale_, self.inputs_, self._limit, self._bias, self._order)

    @property
    def _targets(self) -> Targets:
        return Targets(self._target_mean, self._target_scale, self._target_bounds)

    def _checked_rows(self, X: ArrayLike) -> FloatArray:
        check_is_fitted(self)
        rows: FloatArray = validated(self, X, reset=False, dtype=self._precisions)
        return rows

    def _decision(self, X: ArrayLike) -> FloatArray:
        """Decision values, (n_targets, n_samples)."""
        return self._decision_of(self._checked_rows(X))

    def _decision_gradient(self, X: ArrayLike) -> FloatArray:
        """Gradients of the decision values, (n_targets, n_samples, n_features)."""
        return self._gradient_of(self._checked_rows(X).astype(np.float64, copy=False))

    def _decision_of(self, rows: FloatArray) -> FloatArray:
        inputs, linear = self._columns.apply(rows), self._linear
        if linear is not None:
            inputs = linear.confine(inputs)
        with self._blas():
            values = self._function.decision(inputs)
        values = self._targets.restore(values)
        if linear is None:
            return values
        return values + linear.values(plain_inputs(self._columns, rows))

    def _gradient_of(self, rows: FloatArray) -> FloatArray:
        columns, linear = self._columns, self._linear
        inputs, function = columns.apply(rows), self._function
        if linear is not None:
            inputs = linear.confine(inputs)
        with self._blas():
            slopes, values = function.gradient(inputs), function.decision(inputs)
        if linear is None:
            return self._targets.gradient(values, columns.gradient(rows, slopes))
        plain = plain_inputs(columns, rows)
        slopes = columns.gradient(rows, linear.kernel_gradient(plain, slopes))
        beside = replace(columns, limit=None).gradient(rows, linear.gradient(plain))
        return self._targets.gradient(values, slopes) + beside

    def gradient(self, X: ArrayLike) -> FloatArray:
        """Gradient of the prediction, in closed form.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_features), or (n_samples, n_targets, n_features)
            Derivatives of `predict` of a regressor, or of `decision_function` of a classifier, in
            the columns of X. Where the function has a kink it is the mean of both sides, and
            where predictions are cut off at the range of the targets it is zero.
        """
        gradients = self._decision_gradient(X)
        if self._one_function:
            return gradients[0]
        return np.ascontiguousarray(gradients.transpose(1, 0, 2))

    def sensitivity(self, X: ArrayLike) -> FloatArray:
        """Mean squared partial derivatives: how much the prediction varies along every column.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to average over.

        Returns
        -------
        ndarray of shape (n_features,), or (n_targets, n_features)
            ``(1/n) sum_i (d f(x_i) / d x_j)^2``, in the units of the target and of X.
        """
        slopes = self._decision_gradient(X).clip(-STEEPEST, STEEPEST)
        squares = np.mean(np.square(slopes), axis=1)
        return squares[0] if self._one_function else squares

    def extrapolating(self, X: ArrayLike) -> BoolArray:
        """Say which rows lie outside the training rows, where predictions are a guess.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of bool of shape (n_samples,)
            Whether a learned feature, a column of `transform`, is outside its range over the
            training rows, `feature_range_`; after `partial_fit`, over those of the last batch.
            Nowhere, if there is no learned feature.
        """
        rows = self._checked_rows(X).astype(np.float64, copy=False)
        low, high = self.feature_range_
        slack = ROUNDING * (high - low)
        features = plain_inputs(self._columns, rows) @ self.loadings_[:, self.inputs_].T
        return np.asarray(((features < low - slack) | (features > high + slack)).any(axis=1))

    @property
    def _one_function(self) -> bool:
        """Whether there is one decision value per row, which then has no axis of its own."""
        return len(self._target_mean) == 1 and getattr(self, "_single_target", True)


def _learn_or_keep(learner: Learner[Any], reporter: Reporter | None = None) -> Any:
    """Learn, or keep the best state so far if somebody interrupts or asks to stop."""
    try:
        learned = learner.learn()
    except StopRequested:
        assert reporter is not None
        reporter.finish()
        learned = learner.finish_interrupted()
    except KeyboardInterrupt:
        return learner.finish_interrupted()
    # Iterations that keep their state themselves take a request for an interruption.
    stopped = reporter is not None and reporter.stopped
    if stopped and learned.status is Status.INTERRUPTED:
        return replace(learned, status=Status.STOPPED)
    return learned


def _nothing_found(learned: Any) -> Any:
    """The same without a direction: none predicts, or the function is a constant."""
    directions = replace(learned.directions, n_relevant=0)
    # That somebody ended the fit has to reach the caller, whatever was found by then.
    ended = learned.status in (Status.INTERRUPTED, Status.STOPPED)
    status = learned.status if ended else Status.NOTHING
    return replace(learned, directions=directions, status=status)


def _warn_of_the_end(status: Status) -> None:
    if status is Status.MAX_ITER:
        warn(f"The fit {status.value}.", ConvergenceWarning)
    if status is Status.LASSO:
        warn(f"The fit ended early: {status.value}.", ConvergenceWarning)
    if status in (Status.NOTHING, Status.CONSTANT, Status.PLAIN):
        warn(f"The fit found that {status.value}.", UserWarning)

"""A callback hears of every iteration, sees the model so far, and can end a fit."""

from __future__ import annotations

import dataclasses
import logging
import pickle
import threading

import numpy as np
import pytest
from sklearn.base import clone, is_classifier

from families import ESTIMATORS, decision, family_of, light
from kernlens import (
    BKerNNRegressor,
    FitProgress,
    HKRRRegressor,
    KernelLaplacianRegressor,
    RegFeaLRegressor,
    RKHSWeightingRegressor,
)
from kernlens._progress import LOGGER, Bar, LogLines, make_display
from kernlens._reports import Reporter, StopRequested
from kernlens._result import Status

every = pytest.mark.parametrize("estimator", ESTIMATORS)


def sample(estimator, n=40):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 3))
    y = np.abs(X[:, 0] + X[:, 1]) + 0.1 * rng.standard_normal(n)
    return X, ((y > 1).astype(int) if is_classifier(estimator()) else y)


def choosing(estimator, **options):
    """An estimator whose fit has something to choose, and so reports iterations on the way."""
    more = {
        "RKHSWeighting": {"alpha": [1e-3, 1e-2], "instantiation": "auto"},
        "RandomKitchenSinks": {"alpha": [1e-3, 1e-2], "base": "auto"},
        "KernelLaplacian": {"mu": [0.01, 0.1]},
        "BrownianKernelRidge": {"alpha": [1e-3, 1e-2]},
    }
    return light(estimator, **{**more.get(family_of(estimator).name, {}), **options})


class Recorder:
    """Keeps what it is told, and asks to stop at a given call."""

    def __init__(self, stop_at=None):
        self.records = []
        self.stop_at = stop_at

    def __call__(self, progress):
        self.records.append(progress)
        return len(self.records) - 1 == self.stop_at


@every
def test_iterations_are_told_and_nothing_changes(estimator):
    X, y = sample(estimator)
    recorder = Recorder()
    told = choosing(estimator, callback=recorder).fit(X, y)
    np.testing.assert_array_equal(decision(told, X), decision(choosing(estimator).fit(X, y), X))
    records = recorder.records
    assert len(records) > 1
    for record in records:
        assert isinstance(record, FitProgress)
        assert record.estimator == estimator.__name__
        assert np.isfinite(record.objective)
        assert record.iteration >= 0
    assert [record.stage for record in records].count("fitted") == 1
    last = records[-1]
    assert (last.stage, last.objective) == ("fitted", told.objective_)
    assert last.iteration == told.n_iter_


@every
def test_a_look_at_the_model_on_the_way_changes_nothing(estimator):
    X, y = sample(estimator)
    models = []

    def look(progress):
        if len(models) < 6 or progress.stage == "fitted":
            models.append(progress.model())

    looked = choosing(estimator, callback=look).fit(X, y)
    plain = choosing(estimator).fit(X, y)
    np.testing.assert_array_equal(decision(looked, X), decision(plain, X))
    np.testing.assert_array_equal(looked.components_, plain.components_)
    np.testing.assert_array_equal(decision(models[-1], X), decision(plain, X))
    seen = [model for model in models if model is not None]
    assert len(seen) > 1
    for model in seen:
        assert model is not looked
        assert type(model) is estimator
        assert np.isfinite(decision(model, X)).all()
        assert np.isfinite(model.score(X, y))
        np.testing.assert_allclose(model.feature_importances_.sum(), 1.0)
        assert model.transform(X).shape == (len(X), model.n_directions_)


@every
@pytest.mark.parametrize("at", ["first", "middle", "last"])
def test_returning_true_ends_the_fit_with_the_best_so_far(estimator, at):
    X, y = sample(estimator)
    recorder = Recorder()
    choosing(estimator, callback=recorder).fit(X, y)
    n_before_the_end = len(recorder.records) - 1
    stop_at = {"first": 0, "middle": n_before_the_end // 2, "last": n_before_the_end - 1}[at]
    stopping = Recorder(stop_at)
    model = choosing(estimator, callback=stopping).fit(X, y)
    assert model.status_ == Status.STOPPED.value
    assert "stopped by the callback" in model.status_
    # What was asked for, and the word of the end.
    assert len(stopping.records) == stop_at + 2
    assert np.isfinite(decision(model, X)).all()
    assert model.transform(X).shape == (len(X), model.n_directions_)


@pytest.mark.parametrize("estimator", [e for e in ESTIMATORS if family_of(e).iterative])
def test_directions_are_counted_also_after_a_stop(estimator):
    X, y = sample(estimator)
    model = choosing(estimator, callback=Recorder(3), n_directions="auto").fit(X, y)
    assert model.status_ in (Status.STOPPED.value, Status.NOTHING.value)
    assert 0 <= model.n_directions_ <= 3


def test_a_stop_is_honoured_within_a_solve_and_a_descent():
    X, y = sample(KernelLaplacianRegressor)
    options = {"solver": "cg", "metric": "euclidean", "callback": Recorder(0)}
    stopped = light(KernelLaplacianRegressor, **options).fit(X, y)
    assert (stopped.status_, stopped.n_iter_) == (Status.STOPPED.value, 1)
    options = {"solver": "sfgd", "correlation": 0.1, "alpha": 0.1, "callback": Recorder(4)}
    stopped = light(RKHSWeightingRegressor, **options).fit(X, y)
    assert (stopped.status_, stopped.n_iter_) == (Status.STOPPED.value, 5)


@every
@pytest.mark.parametrize("error", [ValueError("mine"), FloatingPointError("mine"), OSError("mine")])
def test_an_exception_reaches_the_user_and_leaves_the_old_model(estimator, error):
    X, y = sample(estimator)
    model = choosing(estimator).fit(X, y)
    before = decision(model, X)

    def fail(progress):
        raise error

    model.set_params(callback=fail)
    with pytest.raises((type(error), RuntimeError), match="mine"):
        model.fit(-2.0 * X, y)
    np.testing.assert_array_equal(decision(model, X), before)


def test_threads_call_one_at_a_time_and_all_of_them_stop():
    X, y = sample(RegFeaLRegressor)
    threads, inside, overlaps = set(), [], []

    def callback(progress):
        overlaps.append(bool(inside))
        inside.append(None)
        threads.add(threading.get_ident())
        if len(overlaps) == 3:
            assert np.isfinite(progress.model().predict(X)).all()
        inside.pop()
        return len(overlaps) == 8

    options = {"alpha": "auto", "n_jobs": 2, "callback": callback}
    model = light(RegFeaLRegressor, **options).fit(X, y)
    assert model.status_ == Status.STOPPED.value
    assert len(threads - {threading.get_ident()}) >= 1
    # Eight calls, and the word of the end.
    assert overlaps == [False] * 9


def test_stop_iteration_asks_to_stop():
    def stop(progress):
        raise StopIteration

    X, y = sample(BKerNNRegressor)
    assert light(BKerNNRegressor, callback=stop).fit(X, y).status_ == Status.STOPPED.value


def test_only_true_asks_to_stop():
    X, y = sample(BKerNNRegressor)
    for answer in ("yes", 1, [1], np.ones(3), None, False, np.False_):
        model = light(BKerNNRegressor, callback=lambda progress, a=answer: a).fit(X, y)
        assert model.status_ != Status.STOPPED.value
    model = light(BKerNNRegressor, callback=lambda progress: np.True_).fit(X, y)
    assert model.status_ == Status.STOPPED.value


def test_a_record_is_frozen_can_be_kept_and_lets_go_of_the_fit():
    recorder = Recorder()
    light(HKRRRegressor, callback=recorder).fit(*sample(HKRRRegressor))
    record = recorder.records[0]
    with pytest.raises(dataclasses.FrozenInstanceError):
        record.objective = 0.0
    with pytest.raises(RuntimeError, match="call it in the callback"):
        record.model()
    kept = pickle.loads(pickle.dumps(record))
    assert kept == record
    with pytest.raises(RuntimeError, match="call it in the callback"):
        kept.model()


def test_errors_and_importances_along_the_iterations_can_be_recorded():
    X, y = sample(BKerNNRegressor, n=120)
    errors, importances = [], []

    def record(progress):
        if progress.stage == "Algorithm 1":
            model = progress.model()
            errors.append(np.mean((model.predict(X[80:]) - y[80:]) ** 2))
            importances.append(model.feature_importances_)

    model = light(BKerNNRegressor, optimizer="plain", max_iter=20, callback=record)
    model.fit(X[:80], y[:80])
    assert len(errors) == 20
    assert errors[-1] < 0.8 * errors[0]
    # The first two columns matter, and the fit finds out.
    assert importances[-1][:2].sum() > importances[0][:2].sum()
    np.testing.assert_array_equal(importances[-1], model.feature_importances_)


@every
def test_a_callback_is_cloned_and_checked(estimator):
    def callback(progress):
        return None

    assert clone(estimator(callback=callback)).callback is callback
    X, y = sample(estimator)
    with pytest.raises(ValueError, match=r"^callback must be a function or None, got 3\.$"):
        light(estimator, callback=3).fit(X, y)


def test_batches_call_back_too():
    recorder = Recorder()
    X, y = sample(RKHSWeightingRegressor)
    model = light(RKHSWeightingRegressor, callback=recorder)
    model.partial_fit(X, y).partial_fit(X[::-1], y[::-1])
    assert [record.stage for record in recorder.records].count("fitted") == 2


def test_reports_while_a_listener_works_and_after_a_stop():
    heard = []

    def listener(progress):
        heard.append(progress.iteration)
        reporter("nested")(100, 0.0)  # as a look at the state does
        return progress.iteration == 2

    reporter = Reporter("Name", [listener])
    report = reporter("stage")
    report(1, 0.5)
    with pytest.raises(StopRequested):
        report(2, 0.5)
    with pytest.raises(StopRequested):  # another thread, that has not heard of it
        report(3, 0.5)
    reporter.finish()
    report(4, 0.5)
    assert heard == [1, 2]
    assert reporter.stopped


# What `verbose` shows


class Terminal:
    """An error stream that somebody watches."""

    def __init__(self):
        self.text = ""

    def isatty(self):
        return True

    def write(self, text):
        self.text += text

    def flush(self):
        pass


def test_a_terminal_has_a_bar_and_other_streams_a_log(monkeypatch):
    monkeypatch.setattr("sys.stderr", Terminal())
    bar = make_display("Name")
    assert isinstance(bar, Bar)
    bar.close()
    monkeypatch.setattr("sys.stderr.isatty", lambda: False, raising=False)
    assert isinstance(make_display("Name"), LogLines)
    monkeypatch.setattr("sys.stderr", None)  # as under pythonw
    assert isinstance(make_display("Name"), LogLines)


def test_verbose_writes_lines_to_the_log(caplog, capsys):
    X, y = sample(BKerNNRegressor)
    with caplog.at_level(logging.INFO, logger="kernlens"):
        light(BKerNNRegressor, verbose=True).fit(X, y)
    assert {record.name for record in caplog.records} == {"kernlens"}
    assert {record.levelname for record in caplog.records} == {"INFO"}
    lines = [record.getMessage() for record in caplog.records]
    assert lines[0].startswith("BKerNNRegressor: approaching alpha, step 1, objective ")
    assert "BKerNNRegressor: fitted, step " in lines[-1]
    # One line a stage, because none takes ten seconds.
    stages = [line.split(",")[0] for line in lines]
    assert len(set(stages)) == len(stages) == 3
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


def test_lines_of_a_long_stage_are_seconds_apart(monkeypatch, caplog):
    clock = iter([0.0, 4.0, 9.9, 10.1, 12.0, 13.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    lines = LogLines("Name")
    with caplog.at_level(logging.INFO, logger="kernlens"):
        for step in range(5):
            lines.show("one", step, 0.5)
        lines.show("two", 0, 0.25)
    assert [record.getMessage() for record in caplog.records] == [
        "Name: one, step 1, objective 0.5",
        "Name: one, step 4, objective 0.5",
        "Name: two, step 6, objective 0.25",
    ]


def test_without_a_log_lines_go_to_the_error_stream(monkeypatch, capsys):
    monkeypatch.setattr(LOGGER, "hasHandlers", lambda: False)
    LogLines("Name").show("stage", 1, 0.5)
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "Name: stage, step 1, objective 0.5\n")
    monkeypatch.setattr("sys.stderr", None)
    LogLines("Name").show("stage", 1, 0.5)

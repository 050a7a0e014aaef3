"""The fuzz harness: cases can be had again, and what is planted is found and made small."""

from __future__ import annotations

import io
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pandas
import pytest
from sklearn.base import BaseEstimator

import fuzz.__main__ as command
import kernlens
from fuzz.cases import Case, draw_case
from fuzz.check import run
from fuzz.estimators import estimator_of, parameters_of, public_names
from fuzz.forms import FORMS
from fuzz.minimize import Minimizer
from fuzz.outcomes import KINDS, Finding, Outcome
from fuzz.refusals import is_sentence
from fuzz.report import Report
from fuzz.runner import Worker, run_all
from fuzz.spelling import SMALL, lines_of, spell
from kernlens._parameters import argument_names


def planted(name: str, n: int = 12, d: int = 3, **parameters) -> Case:
    """A case of a toy, with new rows of every size."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((n, d)), rng.standard_normal(n)
    rows = np.concatenate([X[:2], np.full((1, d), 1e300)])
    return Case(f"fuzz_toys:{name}", 0, 0, parameters, X, y, np.ones(n), rows)


def kinds(outcome: Outcome) -> set[str]:
    return {finding.kind for finding in outcome.findings}


@pytest.fixture(scope="module")
def worker():
    with Worker(time_limit=3.0) as one:
        yield one


# Cases


def test_all_public_estimators_are_drawn():
    assert len(public_names()) == 25
    assert all(issubclass(estimator_of(name), BaseEstimator) for name in public_names())


@pytest.mark.parametrize("name", public_names())
def test_a_case_follows_from_name_number_and_seed(name):
    for number in range(10):
        first, again = draw_case(name, number, seed=3), draw_case(name, number, seed=3)
        assert pickle.dumps(first) == pickle.dumps(again)
    assert pickle.dumps(draw_case(name, 0, seed=4)) != pickle.dumps(draw_case(name, 0, seed=3))


@pytest.mark.parametrize("name", public_names())
def test_every_parameter_is_drawn_and_most_values_are_valid(name):
    cases = [draw_case(name, number) for number in range(150)]
    names = argument_names(estimator_of(name))
    assert {key for case in cases for key in case.parameters} == set(names)
    bad = 0
    for case in cases:
        for key, value in case.parameters.items():
            try:
                # A kernel of one's own is tried out by its kind.
                with np.errstate(all="ignore"):
                    parameters_of(name)[key].kind.check(key, value)
            except Exception:
                bad += 1
    assert 0 < bad <= 0.15 * len(cases)


def test_new_rows_are_finite_and_of_the_columns_of_X():
    for number in range(100):
        case = draw_case("HKRRRegressor", number)
        assert np.isfinite(case.rows).all()
        assert case.rows.shape[1] == case.X.shape[1]


@pytest.mark.parametrize("form", FORMS)
def test_a_form_and_its_text_are_the_same(form):
    values = np.array([[0.5, -2.0], [3.0, 1.0]])
    names = {"np": np, "pd": pandas, "values": values.copy()}
    names["locked"] = lambda array: (array.setflags(write=False), array)[1]
    made, told = FORMS[form].make(values), eval(FORMS[form].text.format("values"), names)
    assert type(made) is type(told)
    np.testing.assert_array_equal(np.asarray(made), np.asarray(told))
    if isinstance(made, np.ndarray):
        assert made.dtype == told.dtype
        assert made.flags.writeable == told.flags.writeable


# Findings


@pytest.mark.parametrize(
    ("toy", "kind"),
    [
        ("RaisesLinAlgError", "foreign exception"),
        ("CallsMin", "foreign exception"),
        ("CallsNumpy", "foreign exception"),
        ("CallsOtherEstimator", "foreign exception"),
        ("SaysNoSentence", "foreign exception"),
        ("RefusesRows", "refused a new row"),
        ("ReturnsNaN", "not finite"),
        ("ReturnsColumn", "wrong shape"),
        ("IsNotOrthonormal", "wrong value"),
        ("ChangesX", "input changed"),
        ("ChangesParameter", "parameter changed"),
        ("ChangesList", "parameter changed"),
        ("KeepsHalfAFit", "failed fit changed the model"),
        ("Rises", "history rises"),
        ("Warns", "RuntimeWarning"),
    ],
)
def test_a_planted_fault_is_found(toy, kind):
    parameters = {"values": [0.0]} if toy == "ChangesList" else {"alpha": 1.0}
    outcome = run(planted(toy, **parameters))
    assert kinds(outcome) == {kind}
    assert kind in KINDS


def test_a_sound_estimator_is_fitted_and_a_sentence_is_a_refusal():
    assert run(planted("Sound")).state == "fitted"
    assert run(planted("Sound")).findings == ()
    for toy in ("Refuses", "ChecksX"):
        refused = run(planted(toy))
        assert (refused.state, refused.findings) == ("refused", ())


def test_batches_are_tried_and_looked_at_beside_the_fit():
    outcome = run(planted("LosesItsMeanInBatches"))
    assert outcome.state == "fitted"
    (found,) = (one for one in outcome.findings if one.kind == "not finite")
    assert found.where.count("partial_fit") == 2
    assert found.where.endswith(".predict(X)")
    lines = lines_of(planted("LosesItsMeanInBatches"), found)
    names: dict = {}
    exec(lines, names)
    assert np.isnan(names["found"]).all()
    assert kinds(run(planted("RaisesInBatches"))) == {"foreign exception"}


def test_a_crash_and_a_hang_are_found_and_the_next_case_runs(worker):
    crash = worker.run(planted("Crashes"))
    assert crash.state == "crash"
    assert crash.findings[0].exception == "SIGSEGV"
    assert crash.findings[0].where == "model.fit(X, y, ...)"
    assert "model.predict(rows)" in worker.run(planted("CrashesLater")).findings[0].where
    hang = worker.run(planted("Sleeps"))
    assert hang.state == "hang"
    assert hang.findings[0].line == "fuzz_toys.py in fit"
    assert 2.5 < hang.seconds < 30.0
    assert worker.run(planted("Sound")).state == "fitted"


def test_a_worker_without_a_parent_ends_by_itself():
    command_line = [sys.executable, "-m", "fuzz.worker", "0.01"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    given = pickle.dumps(planted("Sleeps"))
    ended = subprocess.run(
        command_line, input=given, env=environment, capture_output=True, timeout=60.0
    )
    assert ended.returncode == -signal.SIGALRM


def test_a_worker_finds_what_this_process_does(worker):
    for name in ("RKHSWeightingRegressor", "KernelLaplacianClassifier"):
        case = draw_case(name, 5)
        here, there = run(case), worker.run(case)
        assert (here.state, here.findings) == (there.state, there.findings)


def test_workers_side_by_side_run_every_case():
    toys = [planted("Sound"), planted("Crashes"), planted("ReturnsNaN"), planted("Refuses")]
    ended = [(case.estimator, outcome.state) for case, outcome in run_all(toys, 2, 20.0)]
    states = {"Sound": "fitted", "Crashes": "crash", "ReturnsNaN": "fitted", "Refuses": "refused"}
    assert sorted(ended) == sorted((f"fuzz_toys:{toy}", end) for toy, end in states.items())


def test_workers_end_when_the_run_is_left():
    before = set(threading.enumerate())
    toys = [planted("Sound")] + [planted("Sleeps")] * 3
    run_so_far = run_all(toys, 2, 50.0)
    assert next(run_so_far)[1].state == "fitted"
    start = time.monotonic()
    run_so_far.close()
    assert time.monotonic() - start < 30.0
    assert set(threading.enumerate()) == before


def test_sentences():
    assert is_sentence("alpha must be positive.", ["alpha"])
    assert is_sentence("This fit needs 3 GiB.", [])
    assert not is_sentence("alpha must be positive", ["alpha"])
    assert not is_sentence("could not convert string to float.", ["alpha"])


# Minimiser


def test_a_planted_finding_is_made_small_and_its_lines_show_it():
    case = planted("FailsRarely", n=40, d=6, alpha=9.0, beta=3.0, values=[1.0])
    case.X[17, 4] = 1234.5678
    finding = run(case).findings[0]
    small, seen = Minimizer(run).minimize(case, finding)
    assert seen.signature == finding.signature
    assert small.parameters == {"alpha": 9.0}
    assert small.X.shape[0] <= 2
    assert small.X.shape[1] == 1
    assert small.weights is None
    lines = lines_of(small, seen)
    assert len(lines.splitlines()) <= 7
    with pytest.raises(np.linalg.LinAlgError, match="did not converge"):
        exec(lines, {})


def test_the_minimizer_keeps_to_its_budget():
    tries = []

    def count(case: Case) -> Outcome:
        tries.append(case)
        return Outcome("fitted")

    case = planted("FailsRarely", n=40, d=6, alpha=9.0)
    finding = Finding("foreign exception", "model.fit(X, y)")
    assert Minimizer(count, tries=5).minimize(case, finding) == (case, finding)
    assert len(tries) == 5


def test_lines_show_what_was_looked_at():
    case = planted("ReturnsNaN")
    small, finding = Minimizer(run).minimize(case, run(case).findings[0])
    names: dict[str, object] = {}
    exec(lines_of(small, finding), names)
    assert np.isnan(names["found"]).all()


@pytest.mark.parametrize("name", public_names())
def test_lines_of_a_drawn_case_make_it_again(name):
    for number in range(12):
        case = draw_case(name, number)
        text = lines_of(case, Finding("not finite", "model.predict(rows)"))
        # Everything up to the model itself.
        lines = [line for line in text.splitlines() if "model.fit" not in line]
        names: dict[str, object] = {}
        exec("\n".join(line for line in lines if not line.startswith("found")), names)
        np.testing.assert_array_equal(np.asarray(names["X"]), np.asarray(case.formed()[0]))
        again = names["model"].get_params(deep=False)
        for parameter, value in case.parameters.items():
            assert spell(again[parameter]) == spell(value)


def test_large_arrays_are_parts_of_the_drawn_ones():
    case = next(
        case for case in (draw_case("HKRRRegressor", k) for k in range(99)) if case.X.size > SMALL
    )
    assert "case.X" in lines_of(case, Finding("hang", "model.fit(X, y, ...)"))


# Report and command line


def test_findings_are_grouped_and_logged():
    log = io.StringIO()
    report = Report(log)
    for number in range(3):
        case = planted("ReturnsNaN")
        report.add(Case(case.estimator, number, *list(vars(case).values())[2:]), run(case))
    assert len(report.groups) == 1
    assert "3 cases" in report.text()
    entries = [json.loads(line) for line in log.getvalue().splitlines()]
    assert [entry["number"] for entry in entries] == [0, 1, 2]
    assert entries[0]["kind"] == "not finite"


@pytest.mark.parametrize(("toy", "code"), [("Sound", 0), ("ReturnsNaN", 1)])
def test_the_exit_code_says_whether_something_was_found(toy, code, monkeypatch, capsys):
    case = planted(toy)
    monkeypatch.setattr(command, "run_all", lambda *options: [(case, run(case))])
    assert command.main(["--tries", "0"]) == code
    assert kernlens.__version__ in capsys.readouterr().out


def test_an_interruption_prints_what_was_found(monkeypatch, capsys):
    def interrupted(*options):
        case = planted("ReturnsNaN")
        yield case, run(case)
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "run_all", interrupted)
    assert command.main([]) == 1
    assert "not finite" in capsys.readouterr().out

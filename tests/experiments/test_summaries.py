"""Tables: means, standard errors, and published numbers beside them."""

from __future__ import annotations

import csv
import math
from importlib import resources

import numpy as np
import pytest

from experiments.tiny import rows_like
from kernlens.experiments.progress import Progress
from kernlens.experiments.registry import EXPERIMENTS
from kernlens.experiments.summaries import Mean, TableForm, cells_of, header, met, summarize

FORM = TableForm(
    by=("mechanism", "method"),
    scores=("r2",),
    published="bkernn_experiment3.csv",
    known_as={"ours": "basic"},
)


def rows(*values, method="ours"):
    return [
        {"mechanism": "few features", "method": method, "seed": seed, "r2": value}
        for seed, value in enumerate(values)
    ]


def test_means_and_standard_errors():
    values = (0.1, 0.4, 0.35)
    (line,) = summarize(rows(*values), FORM)
    mean = line.means["r2"]
    assert mean.value == pytest.approx(np.mean(values))
    assert mean.error == pytest.approx(np.std(values, ddof=1) / math.sqrt(3))
    assert mean.n == 3
    # Figure 2 of the paper, basic penalty, few features.
    assert (mean.published, mean.published_spread) == (0.7829, 0.0147)
    assert cells_of(line, FORM) == [
        *("few features", "ours", "3", "0.2833", "0.0928", "0.7829", "0.0147")
    ]
    assert len(header(FORM)) == 7


def test_a_method_of_ours_alone_has_no_published_number():
    (line,) = summarize(rows(0.5, method="other"), FORM)
    assert line.means["r2"].published is None
    assert cells_of(line, FORM)[-3:] == ["", "", ""]


def test_published_means_are_met_within_their_spread_or_beaten():
    assert Mean(0.77, 0.01, 5, 0.7829, 0.0147).meets(lower=False)
    assert Mean(0.90, 0.01, 5, 0.7829, 0.0147).meets(lower=False)
    assert not Mean(0.76, 0.01, 5, 0.7829, 0.0147).meets(lower=False)
    assert not Mean(0.90, 0.01, 5, 0.7829, 0.0147).meets(lower=True)
    # Without a published spread, two standard errors of ours; without either, no answer.
    assert Mean(0.77, 0.01, 5, 0.7829).meets(lower=False)
    assert not Mean(0.76, 0.01, 5, 0.7829).meets(lower=False)
    assert Mean(0.76, math.nan, 1, 0.7829).meets(lower=False) is None
    # What was published is rounded.
    assert not Mean(0.1704, 0.001, 5, 0.170, 0.0).meets(lower=True)
    assert Mean(0.1704, 0.001, 5, 0.170, 0.0).meets(lower=True, rounding=0.0005)
    n_met, n_all, missed = met(summarize([*rows(0.7, 0.7), *rows(0.9, method="x")], FORM), FORM)
    assert (n_met, n_all) == (0, 1)
    assert missed == ["mechanism few features, method ours: r2 0.700, published 0.783"]


@pytest.mark.parametrize(
    "name", [name for name, one in EXPERIMENTS.items() if one.table.published is not None]
)
def test_published_numbers_cite_their_paper_and_are_found(name):
    form = EXPERIMENTS[name].table
    assert form.published is not None
    path = resources.files("kernlens.experiments") / "published" / form.published
    first, *lines = path.read_text("utf-8").splitlines()
    assert first.startswith(f"# {EXPERIMENTS[name].paper.citation.rstrip('.')}, ")
    facts = list(csv.DictReader(lines))
    rows = rows_like(name, EXPERIMENTS[name].scales["full"], lambda: 0.0)
    found = summarize(rows, form)
    known = [line for line in found if line.means[form.scores[0]].published is not None]
    # Every published line is beside one of ours.
    spelled = {
        tuple(
            form.known_as[line.labels["method"]] if key == "method" else str(line.labels[key])
            for key in form.by
        )
        for line in known
    }
    assert spelled == {tuple(fact[key] for key in form.by) for fact in facts}


def test_the_time_left_follows_the_pace_of_each_method(capsys):
    from kernlens.experiments.journal import Finished

    slow, fast = ({"method": name, "seed": 0} for name in ("slow", "fast"))
    todo = [slow, fast, {**slow, "seed": 1}, {**fast, "seed": 1}, {**fast, "seed": 2}]
    progress = Progress(n_jobs=2)
    progress.begin(EXPERIMENTS["bkernn-1"], 3, todo)
    progress.finished(Finished(slow, [], 100.0, "no"))
    progress.finished(Finished(fast, [], 10.0, "no"))
    assert progress.seconds_left() == pytest.approx((100 + 10 + 10) / 2)
    said = capsys.readouterr().err
    assert "8 cells, 3 finished before" in said
    assert "a cell failed (no)" in said

"""Runs of experiments: each gives its files, goes on where it stopped, and gives them again."""

from __future__ import annotations

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

from experiments.tiny import TINY, Silent, make_data, rows_like, run_tiny, tiny
from kernlens.experiments.claims import FAILS, HOLDS, UNCLEAR
from kernlens.experiments.contract import Measured, key_of
from kernlens.experiments.data import DataFolder
from kernlens.experiments.journal import Journal
from kernlens.experiments.page import write_pages
from kernlens.experiments.registry import EXPERIMENTS
from kernlens.experiments.results import reproduce
from kernlens.experiments.runner import run_cells
from kernlens.experiments.summaries import header


def test_every_experiment_has_a_tiny_version():
    assert set(TINY) == set(EXPERIMENTS)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_gives_table_figure_and_verdicts(name, tmp_path):
    data = make_data(tmp_path / "data")
    outcome, _ = run_tiny(name, tmp_path / name, data)
    assert [one.failure for one in outcome.collected.failures] == []
    with (tmp_path / name / "table.csv").open() as file:
        lines = list(csv.reader(file))
    assert lines[0] == header(outcome.experiment.table)
    assert len(lines) == 1 + len(outcome.lines) > 1
    assert (tmp_path / name / "figure.png").read_bytes().startswith(b"\x89PNG")
    result = json.loads((tmp_path / name / "result.json").read_text())
    assert [claim["text"] for claim in result["claims"]] == [
        claim.text for claim in EXPERIMENTS[name].claims
    ]
    assert {claim["outcome"] for claim in result["claims"]} <= {HOLDS, FAILS, UNCLEAR}
    for claim in result["claims"]:
        assert claim["rule"]
        assert claim["evidence"]
    assert set(result["versions"]) > {"kernlens", "numpy"}
    assert result["cores"] >= 1
    assert "NaN" not in (tmp_path / name / "result.json").read_text()


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_cells_are_plain_values_and_all_different(name):
    one = EXPERIMENTS[name]
    for scale, settings in one.scales.items():
        cells = one.cells(settings)
        assert len({key_of(cell) for cell in cells}) == len(cells) > 0, scale
        assert [json.loads(key_of(cell)) for cell in cells] == cells
        assert all({"method", "seed"} <= set(cell) for cell in cells)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_quick_cell_has_the_same_claims_as_a_full_one(name):
    """Comparisons name settings that both scales have: none is empty in either."""
    one = EXPERIMENTS[name]
    rng = np.random.default_rng(0)
    for scale, settings in one.scales.items():
        rows = rows_like(name, settings, rng.uniform)
        for claim in one.claims:
            for evidence in claim.judge(rows).evidence:
                # Single starts of the toy, and fits without noise, have no chance in them.
                least = 1 if name in ("hkrr-4", "laplacian-4") else 2
                assert evidence.n >= least, (scale, claim.text, evidence.text)


@pytest.mark.parametrize("name", ["bkernn-3", "weightings-figures-5-6"])
def test_a_second_run_gives_the_same_table_to_the_last_digit(name, tmp_path):
    """Also where what several cells share is kept by each process."""
    first, _ = run_tiny(name, tmp_path / "one")
    second, watcher = run_tiny(name, tmp_path / "two", n_jobs=2)
    assert len(watcher.ran) == len(first.collected.finished)
    tables = [(tmp_path / name / "table.csv").read_bytes() for name in ("one", "two")]
    assert tables[0] == tables[1]
    assert first.verdicts == second.verdicts


def test_a_run_goes_on_where_it_stopped(tmp_path):
    folder = tmp_path / "run"
    whole, _ = run_tiny("bkernn-3", tmp_path / "whole")

    class Stopped(Silent):
        def finished(self, one):
            super().finished(one)
            if len(self.ran) == 5:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reproduce(tiny("bkernn-3"), "quick", folder, DataFolder(), 1, Stopped())
    # A crash in the middle of a line leaves a part of it.
    with (folder / "cells.jsonl").open("a") as file:
        file.write('{"cell": {"n"')
    outcome, watcher = run_tiny("bkernn-3", folder)
    assert watcher.n_done == 5
    assert len(watcher.ran) == len(outcome.collected.finished) - 5
    assert (folder / "table.csv").read_bytes() == (tmp_path / "whole/table.csv").read_bytes()
    assert outcome.verdicts == whole.verdicts
    again, watcher = run_tiny("bkernn-3", folder)
    assert watcher.ran == []
    assert again.verdicts == whole.verdicts


def measure_or_fail(cell, data):
    if cell["method"] == "basic" and cell["seed"] == 1:
        raise ValueError("no\nluck")
    return Measured({"r2": float("nan") if cell["method"] == "variable" else 0.5})


def test_a_cell_that_fails_is_named_and_tried_again(tmp_path):
    one = replace(tiny("bkernn-3"), run=measure_or_fail)
    collected = run_cells(one, "quick", tmp_path, DataFolder(), 1, Silent())
    assert sorted({failed.failure for failed in collected.failures}) == [
        "ValueError: no luck",
        "ValueError: r2 is not finite",
    ]
    watcher = Silent()
    run_cells(one, "quick", tmp_path, DataFolder(), 1, watcher)
    assert len(watcher.ran) == len(collected.failures) == 3


def test_results_of_another_version_are_not_taken(tmp_path):
    run_tiny("bkernn-3", tmp_path)
    path = tmp_path / "cells.jsonl"
    version = Journal(path).read()
    assert version
    path.write_text(path.read_text().replace('"version": "', '"version": "0.0.0.'))
    assert Journal(path).read() == {}


def test_missing_data_sets_are_named_and_not_replaced(tmp_path):
    outcome, _ = run_tiny("bkernn-6", tmp_path / "run", make_data(tmp_path / "data"))
    assert outcome.collected.missing == ["bkernn_exp6/pol"]
    assert {row["dataset"] for row in outcome.rows} == {"abalone"}
    page = write_pages(tmp_path, ["bkernn-6"])
    assert not page.read_text().count("bkernn_exp6/pol")
    (tmp_path / "run").rename(tmp_path / "bkernn-6")
    assert "bkernn_exp6/pol" in write_pages(tmp_path, ["bkernn-6"]).read_text()
    nothing, _ = run_tiny("bkernn-6", tmp_path / "none")
    assert nothing.rows == []
    assert len(nothing.collected.missing) == 2
    assert {verdict.outcome for verdict in nothing.verdicts} == {UNCLEAR}

"""``kernlens fit --dask``: the fit of the library on a cluster that is there only meanwhile."""

from __future__ import annotations

import csv
import json

import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster

import kernlens
from kernlens.cli import main

METHOD = ["--method", "kitchen-sinks", "--set", "n_random_features=30"]


@pytest.fixture(scope="module")
def cluster():
    """Workers that are threads: files and fits are the same, and nothing has to be started."""
    with (
        LocalCluster(n_workers=2, processes=False, protocol="tcp", dashboard_address=None) as one,
        Client(one),
    ):
        yield one.scheduler_address


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.standard_normal((900, 3)), columns=["a", "b", "c"])
    table["y"] = table["a"] + 0.1 * rng.standard_normal(900)
    table["kind"] = np.where(table["a"] + table["b"] > 0.0, "high", "low")
    table["word"] = "some"
    for number in range(3):
        part = table[300 * number : 300 * (number + 1)]
        part.to_parquet(folder / f"{number}.parquet", row_group_size=100)
    return folder


def run(capsys, *words):
    code = main(["fit", *map(str, words)])
    out = capsys.readouterr()
    return code, out.out, out.err


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_a_fit_on_a_scheduler_writes_model_predictions_and_directions(
    capsys, cluster, files, tmp_path
):
    folder = tmp_path / "out"
    words = [f"{files}/*.parquet", "--target", "y", "--ignore", "kind", "--dask", cluster]
    code, out, err = run(capsys, *words, *METHOD, "--out", folder)
    assert code == 0
    assert "R2 on" in out and "dashboard: http" in err and "left out: 'word'" in err
    predictions = rows_of(folder / "predictions.csv")
    observed, predicted = (
        np.array([float(row[key]) for row in predictions]) for key in ("observed", "predicted")
    )
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["columns"] == ["a", "b", "c"]
    assert summary["n_held_out"] == len(observed) and 100 < len(observed) < 300
    expected = 1.0 - np.mean((observed - predicted) ** 2) / np.var(observed)
    assert summary["score"]["value"] == pytest.approx(expected) and expected > 0.8
    model = kernlens.load(folder / "model.skops")
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    assert len(rows_of(folder / "directions.csv")) >= 3


def test_classes_are_seen_and_json_is_printed(capsys, cluster, files, tmp_path):
    words = [files, "--target", "kind", "--ignore", "y,word", "--dask", cluster, "--json"]
    code, out, _ = run(capsys, *words, *METHOD, "--out", tmp_path / "out")
    summary = json.loads(out)
    assert code == 0 and summary["task"] == "classification"
    assert summary["score"]["name"] == "accuracy" and summary["score"]["value"] > 0.8
    model = kernlens.load(tmp_path / "out" / "model.skops")
    assert list(model.classes_) == ["high", "low"]


def test_the_same_words_give_the_same_files(capsys, cluster, files, tmp_path):
    found = []
    for name in ("one", "other"):
        words = [files, "--target", "y", "--ignore", "kind,word", "--dask", cluster, "--quiet"]
        assert run(capsys, *words, *METHOD, "--out", tmp_path / name) == (0, "", "")
        found.append((tmp_path / name / "predictions.csv").read_text())
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--method", "auto"], "--method auto does not learn from blocks of rows; with --dask"),
        (["--method", "mars"], "--method mars does not learn from blocks of rows; with --dask"),
        ([*METHOD, "--cv", "3"], "--cv looks at all rows at once"),
        ([*METHOD, "--groups", "a"], "--groups looks at all rows at once"),
        ([*METHOD, "--weight", "d"], "--weight names 'd', which is no column"),
        ([*METHOD, "--set", "n_random_features=0"], "n_random_features"),
    ],
)
def test_what_blocks_have_not_is_refused_in_one_sentence(
    capsys, cluster, files, tmp_path, words, sentence
):
    common = [files, "--target", "y", "--dask", cluster, "--out", tmp_path / "out", "--quiet"]
    code, _, err = run(capsys, *common, *words)
    assert code == 1 and sentence in err and len(err.strip().splitlines()) == 1


def test_other_files_and_silent_schedulers_are_refused(capsys, cluster, tmp_path, monkeypatch):
    (tmp_path / "x.csv").write_text("a,y\n1,2\n")
    words = ["--target", "y", *METHOD, "--out", tmp_path / "out", "--quiet"]
    code, _, err = run(capsys, tmp_path / "x.csv", "--dask", cluster, *words)
    assert code == 1 and "reads Parquet files" in err
    code, _, err = run(capsys, tmp_path / "none-*.parquet", "--dask", cluster, *words)
    assert code == 1 and "there is no file" in err
    monkeypatch.setattr("kernlens.cli.fit.on_cluster.PATIENCE", 1)
    code, _, err = run(capsys, tmp_path / "x.parquet", "--dask", "tcp://127.0.0.1:9", *words)
    assert code == 1 and "no scheduler of Dask answers at tcp://127.0.0.1:9" in err


def test_a_place_that_is_none_is_a_wrong_command_line(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["fit", "x.parquet", "--target", "y", "--dask", "there"])
    assert ended.value.code == 2
    assert "expected local, local:WORKERS or tcp://HOST:PORT" in capsys.readouterr().err

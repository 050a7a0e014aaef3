"""What is done with a saved model: predict, transform, report, info; methods and completion."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import kernlens
from kernlens.cli import _models, main
from kernlens.cli._csv import CsvWriter


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table with codes that look like numbers, and a model of it."""
    folder = tmp_path_factory.mktemp("model")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "name": [f"n{k}" for k in range(90)],
            "size": rng.normal(size=90).round(3),
            "code": rng.choice(["007", "7", "12"], 90),
        }
    )
    frame["y"] = (frame["size"] + 2.0 * (frame["code"] == "007")).round(4)
    frame.to_csv(folder / "table.csv", index=False)
    options = ["--target", "y", "--method", "rkhs-weighting", "--test", "0", "--quiet"]
    assert main(["fit", str(folder / "table.csv"), *options, "--out", str(folder / "out")]) == 0
    return folder


@pytest.fixture
def model(folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(folder)
    return "out/model.skops"


def test_blocks_give_what_the_whole_gives(
    model: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = pd.read_csv(folder / "table.csv", dtype={"code": str})
    expected = kernlens.load(folder / model).predict(frame[["name", "size", "code"]])
    for size in (7, 89, 20_000):
        monkeypatch.setattr(_models, "BLOCK_ROWS", size)
        assert main(["predict", model, "table.csv", "--keep", "name", "-o", "p.csv"]) == 0
        found = pd.read_csv("p.csv")
        np.testing.assert_allclose(found["prediction"], expected, rtol=1e-9)
        assert found["name"].tolist() == frame["name"].tolist()
        assert found["row"].tolist() == [*range(1, 91)]


@pytest.mark.parametrize("ending", ["parquet", "feather", "jsonl", "tsv", "csv.gz"])
def test_every_format_predicts_the_same(
    ending: str, model: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = pd.read_csv(folder / "table.csv", dtype={"code": str})
    path = tmp_path / f"t.{ending}"
    if ending == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    elif ending in ("parquet", "feather"):
        getattr(frame, f"to_{ending}")(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if ending == "tsv" else ",")
    outputs = []
    for name in ("table.csv", str(path)):
        assert main(["predict", model, name, "--quiet"]) == 0
        outputs.append(pd.read_csv(io.StringIO(capsys.readouterr().out)))
    pd.testing.assert_frame_equal(*outputs)


def test_transform_is_that_of_the_model(model: str, folder: Path) -> None:
    assert main(["transform", model, "table.csv", "-o", "t.csv"]) == 0
    found = pd.read_csv("t.csv").drop(columns="row")
    frame = pd.read_csv(folder / "table.csv", dtype={"code": str}).drop(columns="y")
    np.testing.assert_allclose(found, kernlens.load(folder / model).transform(frame), rtol=1e-9)
    assert list(found.columns) == [f"direction {k + 1}" for k in range(found.shape[1])]


def test_a_page_of_new_rows(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    arguments = ["report", model, "table.csv", "--target", "y", "--held-out", "-o", str(page)]
    assert main(arguments) == 0
    assert capsys.readouterr().out == f"{page}\n"
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert main(arguments) == 1
    assert "--force" in capsys.readouterr().err


def test_info_says_what_a_model_needs(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", model]) == 0
    out = capsys.readouterr().out
    assert "RKHSWeightingRegressor" in out and "name (category, left out: identifier)" in out
    assert main(["info", model, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [column["name"] for column in found["columns"]] == ["name", "size", "code"]
    assert found["predicts"] == "numbers" and found["bytes"] > 1000


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["predict", "{model}", "lacking.csv"], "no column 'size', which the model needs; names"),
        (["predict", "{model}", "table.csv", "--interval", "0.9"], "has no intervals"),
        (["predict", "{model}", "table.csv", "--proba"], "leave out --proba"),
        (["predict", "{model}", "table.csv", "--keep", "nam"], "'name'"),
        (["predict", "{model}", "table.csv", "-o", "table.csv"], "cannot be written as well"),
        (["predict", "{model}", "table.csv", "-o", "out"], "there is a folder"),
        (["predict", "table.csv", "table.csv"], "not a model file of kernlens"),
        (["predict", "out", "table.csv"], "out/model.skops"),
        (["predict", "nothing.skops", "table.csv"], "cannot be read"),
        (["predict", "{model}", "tabel.csv"], "names like it are 'table.csv'"),
        (["report", "{model}", "table.csv", "--target", "why", "-o", "new.html"], "no column"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    arguments: list[str], says: str, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("lacking.csv").write_text("name,sizes,code\nn1,2,7\n")
    assert main([one.replace("{model}", model) for one in arguments]) == 1
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and says in err
    assert Path("table.csv").read_text().startswith("name,")


def test_a_failure_in_a_later_block_leaves_the_old_file(
    model: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = Path("table.csv").read_text().splitlines()
    Path("broken.csv").write_text("\n".join([*lines, "a,1,7,3,too,many"]) + "\n")
    Path("old.csv").write_text("old")
    monkeypatch.setattr(_models, "BLOCK_ROWS", 20)
    assert main(["predict", model, "broken.csv", "-o", "old.csv"]) == 1
    assert f"Line {len(lines) + 1} of broken.csv has 6 cells" in capsys.readouterr().err
    assert Path("old.csv").read_text() == "old"
    assert not list(Path().glob(".kernlens-*"))


def test_methods_are_listed_with_their_settings(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["methods"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("auto ") and max(map(len, out.splitlines())) <= 80
    assert main(["methods", "--json"]) == 0
    names = [one["name"] for one in json.loads(capsys.readouterr().out)]
    for name in names:
        assert main(["methods", name, "--json"]) == 0
        settings = json.loads(capsys.readouterr().out)
        assert settings and all(one["text"] for one in settings)
    assert main(["methods", "rfm"]) == 0
    assert "alpha=auto" in capsys.readouterr().out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_names_all_commands(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(word in script for word in ("fit", "predict", "methods", "time-budget"))
    if shell == "bash":
        assert subprocess.run(["bash", "-n"], input=script, text=True).returncode == 0


def test_cells_of_text_are_no_formulas_and_numbers_have_all_digits() -> None:
    stream = io.StringIO()
    writer = CsvWriter(stream)
    writer.write({"=a": ["-x", None, "fine"], "b": np.array([-0.1, np.nan, 1 / 3])})
    rows = list(csv.reader(io.StringIO(stream.getvalue())))
    assert rows == [["'=a", "b"], ["'-x", "-0.1"], ["", ""], ["fine", repr(1 / 3)]]


def test_a_reader_of_predictions_who_leaves_is_no_failure(model: str, folder: Path) -> None:
    program = f"import sys; from kernlens.cli import main; sys.exit(main(['predict', {model!r}, "
    command = [sys.executable, "-c", program + "'table.csv', '--quiet']))"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 141

"""``kernlens fit``: what it writes, what it holds out, and what it says of tables it cannot use."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import r2_score, roc_auc_score

import kernlens
from kernlens._reports import FITTED, FitProgress, Look
from kernlens.cli import main
from kernlens.cli._talk import Progress
from kernlens.cli.fit import study, text

FILES = [
    "directions.csv",
    "leaderboard.csv",
    "model.skops",
    "predictions.csv",
    "report.html",
    "summary.json",
]
KINDS = ("observed", "predicted")
QUICK = ["--method", "rkhs-weighting", "--time-budget", "5", "--n-jobs", "1"]


def write(path: Path, header: list[str], rows: Any, delimiter: str = ",") -> Path:
    with open(path, "w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, delimiter=delimiter)
        writer.writerow(header)
        writer.writerows(rows)
    return path


def read(path: Path) -> list[dict[str, str]]:
    with open(path, encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def mixed_rows(n_rows: int = 60) -> list[list[Any]]:
    """Numbers, a category, dates, gaps; y depends on the first two."""
    rng = np.random.default_rng(0)
    rows = []
    for place in range(n_rows):
        size, color = round(rng.normal(), 3), rng.choice(["red", "green"])
        day = f"2024-{1 + place % 12:02d}-{1 + place % 28:02d}"
        y = round(size**2 + (color == "red") + 0.05 * rng.normal(), 4)
        rows.append([size if place % 9 else "", color, day, place % 5, y])
    return rows


HEADER = ["size", "color", "day", "part", "y"]


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write(tmp_path / "table.csv", HEADER, mixed_rows())


def fit(*arguments: str, code: int = 0) -> None:
    assert main(["fit", *arguments]) == code


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The last sentence on the error stream of a fit that is refused; nothing is printed."""
    assert main(["fit", *arguments]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    return err.splitlines()[-1]


def test_a_table_becomes_a_page_a_model_and_tables(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fit("table.csv", "--target", "y", *QUICK)
    out, err = capsys.readouterr()
    folder = Path("kernlens-table")
    assert sorted(path.name for path in folder.iterdir()) == FILES
    assert out.splitlines()[-1] == f"The page: {folder / 'report.html'}"
    assert "R2" in out and "12 held-out rows" in out
    assert max(map(len, out.splitlines())) <= 100
    assert all(line.startswith("kernlens: ") for line in err.splitlines())
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["made"]["command"].startswith("kernlens fit table.csv --target y")
    assert summary["scores"]["where"] == "test"
    assert summary["title"] == "Predicting y"
    # What only those who wait want to know is no warning of the page.
    assert "12 held out" in err and not any("held out." in one for one in summary["warnings"])


def test_the_model_has_not_seen_the_rows_of_the_predictions(table: Path) -> None:
    fit("table.csv", "--target", "y", "--out", "out", *QUICK, "--quiet")
    predictions = read(Path("out/predictions.csv"))
    assert len(predictions) == 12
    rows = read(table)
    for one in predictions:
        assert rows[int(one["row"]) - 1]["y"] == pytest.approx(float(one["observed y"])) or float(
            rows[int(one["row"]) - 1]["y"]
        ) == float(one["observed y"])
    kept = [
        row
        for number, row in enumerate(rows, 1)
        if str(number) not in {one["row"] for one in predictions}
    ]
    write(Path("kept.csv"), HEADER, [list(row.values()) for row in kept])
    fit("kept.csv", "--target", "y", "--test", "0", "--out", "alone", *QUICK, "--quiet")
    assert not Path("alone/predictions.csv").exists()
    write(
        Path("held.csv"), HEADER, [list(rows[int(one["row"]) - 1].values()) for one in predictions]
    )
    assert main(["predict", "alone/model.skops", "held.csv", "-o", "alone.csv", "--quiet"]) == 0
    again = [float(row["prediction"]) for row in read(Path("alone.csv"))]
    np.testing.assert_allclose(again, [float(one["predicted y"]) for one in predictions])


def test_the_saved_model_predicts_what_the_file_says(table: Path) -> None:
    fit("table.csv", "--target", "y", "--out", "out", *QUICK, "--quiet")
    assert main(["predict", "out/model.skops", "table.csv", "-o", "all.csv", "--quiet"]) == 0
    everything = read(Path("all.csv"))
    for one in read(Path("out/predictions.csv")):
        assert everything[int(one["row"]) - 1]["prediction"] == one["predicted y"]
    assert type(kernlens.load("out/model.skops")).__name__ == "Pipeline"


def test_auto_writes_intervals_and_a_leaderboard_of_all(table: Path) -> None:
    fit("table.csv", "--target", "y", "--out", "out", "--time-budget", "3", "--quiet")
    board = read(Path("out/leaderboard.csv"))
    assert {"candidate", "score", "weight"} <= set(board[0]) and len(board) > 5
    one = read(Path("out/predictions.csv"))[0]
    assert float(one["90% interval from"]) < float(one["90% interval to"])
    arguments = ["predict", "out/model.skops", "table.csv", "--interval", "0.5", "-o", "p.csv.gz"]
    assert main([*arguments, "--quiet"]) == 0
    assert Path("p.csv.gz").read_bytes()[:2] == b"\x1f\x8b"


def test_classes_have_probabilities(table: Path) -> None:
    fit("table.csv", "--target", "color", "--out", "out", *QUICK, "--quiet")
    for one in read(Path("out/predictions.csv")):
        shares = [float(one["probability of green"]), float(one["probability of red"])]
        assert sum(shares) == pytest.approx(1.0)
        assert one["predicted color"] == ("green" if shares[0] > 0.5 else "red")
    assert main(["predict", "out/model.skops", "table.csv", "--proba", "-o", "p.csv"]) == 0
    assert list(read(Path("p.csv"))[0]) == [
        *("row", "prediction", "probability of green", "probability of red")
    ]


def test_folds_hold_out_every_row_once_and_the_model_learns_from_all(table: Path) -> None:
    fit("table.csv", "--target", "y", "--cv", "3", "--out", "out", *QUICK, "--quiet")
    assert [int(row["row"]) for row in read(Path("out/predictions.csv"))] == [*range(1, 61)]
    summary = json.loads(Path("out/summary.json").read_text())
    assert [fold["n_rows"] for fold in summary["cross_validation"]] == [20, 20, 20]
    assert any("one of 3 parts" in sentence for sentence in summary["warnings"])
    # The page scores what the file has: rows predicted by fits that had not seen them.
    rows = read(Path("out/predictions.csv"))
    observed, predicted = ([float(r[f"{what} y"]) for r in rows] for what in KINDS)
    assert (summary["scores"]["where"], summary["scores"]["n_rows"]) == ("left_out", 60)
    assert summary["scores"]["scores"][0]["value"] == pytest.approx(r2_score(observed, predicted))


@pytest.mark.parametrize("order", [[], ["--time", "day"]])
def test_folds_of_classes_are_scored_by_their_probabilities(
    table: Path, order: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    fit("table.csv", "--target", "color", "--cv", "2", "--out", "out", *order, *QUICK)
    summary = json.loads(Path("out/summary.json").read_text())
    rows = read(Path("out/predictions.csv"))
    shares = [float(row["probability of red"]) for row in rows]
    expected = roc_auc_score([row["observed color"] == "red" for row in rows], shares)
    found = {one["key"]: one["value"] for one in summary["scores"]["scores"]}
    assert found["auc"] == pytest.approx(expected)
    assert "Note: Fits that left out one of 2 parts" in capsys.readouterr().out


def test_groups_stay_together(table: Path) -> None:
    for options, n_rows in ((["--test", "0.4"], 24), (["--cv", "5"], 60)):
        fit(
            "table.csv",
            "--target",
            "y",
            "--groups",
            "part",
            *options,
            "--out",
            "out",
            "--force",
            *QUICK,
            "--quiet",
        )
        held_out = [int(one["row"]) for one in read(Path("out/predictions.csv"))]
        assert abs(len(held_out) - n_rows) <= 12
        parts = {(row - 1) % 5 for row in held_out}
        assert len(held_out) == 12 * len(parts)
    assert "part" not in read(Path("out/directions.csv"))[0]


def test_later_rows_are_held_out_whatever_their_order(table: Path) -> None:
    fit("table.csv", "--target", "y", "--time", "day", "--out", "out", *QUICK, "--quiet")
    rows = read(table)
    held_out = {int(one["row"]) for one in read(Path("out/predictions.csv"))}
    later = {rows[row - 1]["day"] for row in held_out}
    earlier = {row["day"] for number, row in enumerate(rows, 1) if number not in held_out}
    assert min(later) > max(earlier)
    assert not any("day" in row["column"] for row in read(Path("out/directions.csv")))


def test_json_is_the_summary_and_quiet_is_silent(
    table: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    fit("table.csv", "--target", "y", "--out", "out", *QUICK, "--quiet", "--json")
    out, err = capfd.readouterr()
    printed = json.loads(out)
    assert err == "" and printed["folder"] == "out" and sorted(printed["files"]) == FILES
    saved = json.loads(Path("out/summary.json").read_text())
    assert {key: printed[key] for key in saved} == saved
    fit("table.csv", "--target", "y", "--out", "other", *QUICK, "--quiet")
    assert capfd.readouterr() == ("", "")


def test_a_folder_with_files_is_replaced_with_force_only(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("out").mkdir()
    Path("out/mine.txt").write_text("mine")
    assert "--force" in refused(capsys, "table.csv", "--target", "y", "--out", "out", *QUICK)
    assert [path.name for path in Path("out").iterdir()] == ["mine.txt"]
    fit("table.csv", "--target", "y", "--out", "out", "--force", *QUICK, "--quiet")
    assert Path("out/mine.txt").read_text() == "mine"
    assert sorted(path.name for path in Path("out").iterdir()) == sorted([*FILES, "mine.txt"])


def test_a_fit_that_is_refused_leaves_no_empty_folder(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "no file" in refused(capsys, "absent.csv", "--target", "y", "--out", "new/inner")
    assert not Path("new").exists()
    Path("mine").mkdir()
    refused(capsys, "table.csv", "--target", "z", "--out", "mine/inner")
    assert list(Path("mine").iterdir()) == []


def test_all_directions_are_counted_that_are_not_printed() -> None:
    columns = [{"name": "size", "loading": 1.0}]
    shown = [{"number": k + 1, "importance": 0.1, "columns": columns} for k in range(6)]
    of_ten = {"directions": {"n_directions": 10, "directions": shown}}
    assert text._directions(of_ten).splitlines()[-1] == "  and 7 more"
    three = {"directions": {"n_directions": 3, "directions": shown[:3]}}
    assert "more" not in text._directions(three)


def test_files_of_an_earlier_run_are_not_left_beside_a_new_model(
    table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit("table.csv", "--target", "y", "--out", "out", *QUICK, "--quiet")

    def pressed(*arguments: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("kernlens.cli.fit.summary_of", pressed)
    again = ["table.csv", "--target", "y", "--out", "out", "--force", *QUICK, "--quiet"]
    fit(*again, code=130)
    assert [path.name for path in Path("out").iterdir()] == ["model.skops"]


def test_a_fit_that_ends_late_was_not_ended_early() -> None:
    progress = Progress(0.0, quiet=True, ends=True)
    look = Look(lambda: None)
    assert not progress(FitProgress("Any", FITTED, 1, 0.0, look))
    assert not progress.stopped
    assert progress(FitProgress("Any", "learning", 1, 0.0, look))
    assert progress.stopped


def test_settings_reach_the_method_and_wrong_ones_are_sentences(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fit("table.csv", "--target", "y", "--out", "out", *QUICK, "--set", "alpha=0.01,0.1", "--quiet")
    assert kernlens.load("out/model.skops")[-1].alpha == [0.01, 0.1]
    options = ["table.csv", "--target", "y", "--out", "new", "--method"]
    assert "'alpha'" in refused(capsys, *options, "rkhs-weighting", "--set", "alfa=3")
    said = refused(capsys, *options, "rfm", "--set", "alpha=-1")
    assert "--set alpha=-1: alpha must be" in said
    said = refused(capsys, *options, "rfm", "--set", "alpha=1e-30")
    assert "at least 1e-12" in said
    assert "use --seed" in refused(capsys, *options, "rfm", "--set", "random_state=1")
    assert "NAME=VALUE" in refused(capsys, *options, "rfm", "--set", "alpha")
    assert "'bkernn'" in refused(capsys, *options, "bkern")
    said = refused(capsys, "table.csv", "--target", "color", "--out", "new", "--method", "mars")
    assert "numbers only" in said


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--target", "Y"], "names like it are 'y'"),
        (["--target", "y", "--groups", "prt"], "'part'"),
        (["--target", "y", "--ignore", "size,colour"], "'color'"),
        (["--target", "y", "--weight", "y"], "both name 'y'"),
        (["--target", "y", "--weight", "color"], "not numbers"),
        (["--target", "y", "--weight", "size"], "row 1"),
        (["--target", "y", "--time", "color"], "neither numbers nor dates"),
        (["--target", "y", "--time", "day", "--groups", "part"], "one of them"),
        (["--target", "color", "--task", "regression"], "row 1 has"),
        (["--target", "y", "--ignore", "size,color,day,part"], "only column"),
        (["--target", "day"], "dates"),
    ],
)
def test_wrong_columns_are_one_sentence(
    options: list[str], says: str, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert says in refused(capsys, "table.csv", *options, *QUICK)


NUMBERS = [[round(np.sin(k), 3), round(np.cos(3 * k), 3)] for k in range(40)]


@pytest.mark.parametrize(
    ("header", "rows", "says"),
    [
        (["a", "b", "y"], [[*row, 5] for row in NUMBERS], "is '5' in all rows"),
        (["a", "b", "y"], [[*row, 0.5] for row in NUMBERS], "is 0.5 in all rows"),
        (["a", "b", "y"], [[*row, ""] for row in NUMBERS], "no value in any row"),
        (["a", "b", "y"], [[*row, f"n{k}"] for k, row in enumerate(NUMBERS)], "identifier"),
        (["a", "b", "y"], [[*row, row[0]] for row in NUMBERS[:3]], "at least 8"),
        (["a", "b", "y"], [[1, 2, 3]], "at least 8"),
        (["a", "b", "y"], [], "no value"),
        (["y"], [[row[0]] for row in NUMBERS], "only column"),
        (["a", "b", "y"], [["", "", row[0]] for row in NUMBERS], "No column of the table is left"),
        (
            ["a", "b", "y"],
            [[*row, "x" * 300 + str(k % 2)] for k, row in enumerate(NUMBERS)],
            "free text",
        ),
    ],
)
def test_tables_that_say_nothing_are_one_sentence(
    header: list[str],
    rows: list[list[Any]],
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "t.csv", header, rows)
    assert says in refused(capsys, "t.csv", "--target", "y", *QUICK)


def test_rows_without_a_target_and_classes_of_one_row_are_left_out_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    labels = ["yes", "no", "no", "", "yes"] * 8
    labels[0] = "perhaps"
    rows = [[*row, label] for row, label in zip(NUMBERS, labels, strict=True)]
    write(tmp_path / "t.csv", ["a", "b", "y"], rows)
    fit("t.csv", "--target", "y", "--out", "out", *QUICK)
    said = capsys.readouterr().err
    assert "8 rows were without a value of 'y'" in said or "8 rows" in said
    assert "'perhaps'" in said
    assert kernlens.load("out/model.skops").classes_.tolist() == ["no", "yes"]
    summary = json.loads(Path("out/summary.json").read_text())
    assert any("'perhaps'" in sentence for sentence in summary["warnings"])


def test_negative_weights_name_the_row_and_good_ones_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [[*row, row[0], 1 + k % 3] for k, row in enumerate(NUMBERS)]
    write(tmp_path / "t.csv", ["a", "b", "y", "w"], rows)
    fit("t.csv", "--target", "y", "--weight", "w", "--out", "out", *QUICK, "--quiet")
    rows[6][3] = -2
    write(tmp_path / "t.csv", ["a", "b", "y", "w"], rows)
    said = refused(capsys, "t.csv", "--target", "y", "--weight", "w", "--out", "new", *QUICK)
    assert "-2 in row 7" in said


def test_ctrl_c_keeps_the_folds_that_are_done(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def pressed(*arguments: Any) -> Any:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return trained(*arguments)

    trained = study.train
    monkeypatch.setattr(study, "train", pressed)
    fit("table.csv", "--target", "y", "--cv", "3", "--out", "out", *QUICK, "--quiet", code=130)
    assert sorted(path.name for path in Path("out").iterdir()) == FILES
    assert len(read(Path("out/predictions.csv"))) == 20


def test_ctrl_c_before_anything_is_there_leaves_no_files(
    table: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def pressed(*arguments: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(study, "train", pressed)
    fit("table.csv", "--target", "y", "--out", "out", *QUICK, code=130)
    assert not Path("out").exists()
    assert capsys.readouterr().err.endswith("kernlens: interrupted.\n")


def test_text_of_the_data_is_no_formula_and_no_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    bad = ['=cmd|"/c calc"!A1', "<script>alert(1)</script>", "@y"]
    labels = ["=1+1", "+x", "-y</script><script>alert(2)</script>"]
    rows = [[*row, labels[k % 3]] for k, row in enumerate(NUMBERS)]
    name = "<img src=x onerror=alert(3)>.csv"
    write(tmp_path / name, bad, rows)
    fit(name, "--target", "@y", "--out", "out", *QUICK, "--quiet")
    for path in Path("out").glob("*.csv"):
        with open(path, encoding="utf-8", newline="") as stream:
            for row in csv.reader(stream):
                for cell in row:
                    starts = cell.startswith(("=", "+", "@"))
                    assert not starts and not re.match(r"-[^\d.]", cell), (path, cell)
    page = Path("out/report.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page and "<img src=x" not in page


def test_a_thousand_columns_and_repeated_and_empty_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    values = np.random.default_rng(0).normal(size=(30, 300)).round(3)
    header = ["x", "x", "", "y", "y", *(f"c{k}" for k in range(295))]
    write(tmp_path / "t.csv", header, values.tolist())
    fit("t.csv", "--target", "y", "--out", "out", *QUICK)
    said = capsys.readouterr().err
    assert "'x (2)'" in said and "'column 3'" in said and "Two columns are named 'y'" in said

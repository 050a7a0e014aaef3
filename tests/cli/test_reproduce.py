"""``kernlens reproduce``: lists, runs, goes on, and fails in one sentence."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from experiments.tiny import TINY, tiny
from kernlens.cli import main
from kernlens.experiments import registry

NAME = "bkernn-3"


@pytest.fixture(autouse=True)
def tiny_experiments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "EXPERIMENTS", {name: tiny(name) for name in TINY})


def test_the_list_names_every_experiment_with_its_paper(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "--list"]) == 0
    out = capsys.readouterr().out
    for name, one in registry.EXPERIMENTS.items():
        assert re.search(rf"^{name} +{one.paper.name}, ", out, re.MULTILINE)


def test_a_run_says_verdicts_and_writes_a_page_that_a_second_one_extends(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "new" / "folder"
    words = ["--quick", "--out", str(out), "--n-jobs", "1"]
    assert main(["reproduce", NAME, *words]) == 0
    said = capsys.readouterr()
    for claim in registry.EXPERIMENTS[NAME].claims:
        assert " ".join(claim.text.split()[:4]) in said.out
    assert said.out.splitlines()[-1] == f"The page: {out / 'index.html'}"
    assert f"{NAME}: 13 cells" in said.err
    page = (out / "index.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "<script" not in page
    assert f'src="{NAME}/figure.png"' in page
    assert "quick setting" in page
    for row in (out / NAME / "table.csv").read_text().splitlines()[1:]:
        for cell in row.split(","):
            assert f"<td>{cell}</td>" in page.replace("&#39;", "'")
    assert main(["reproduce", NAME, "bkernn-2", *words]) == 0
    said = capsys.readouterr()
    assert f"{NAME}: 13 cells, 13 finished before" in said.err
    assert {"index.html", "summary.md", NAME, "bkernn-2"} == {path.name for path in out.iterdir()}
    text = (out / "summary.md").read_text(encoding="utf-8")
    for name in (NAME, "bkernn-2"):
        for claim in registry.EXPERIMENTS[name].claims:
            assert f"| {name} | {claim.text} |" in text


def test_quiet_says_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = ["reproduce", "bkernn-6", "--out", str(tmp_path), "--quiet"]
    assert main(words) == 0
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "name an experiment, or 'all'"),
        (["bkern-3"], "no experiment 'bkern-3'; names like it are 'bkernn-"),
        ([NAME, "--data-dir", "nowhere"], "--data-dir nowhere is no folder"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(
    words: list[str],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["reproduce", *words]) == 1
    said = capsys.readouterr().err
    assert sentence in said
    assert len(said.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_said_before_any_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert main(["reproduce", NAME, "--out", str(tmp_path / "file")]) == 1
    assert "choose another one with --out" in capsys.readouterr().err

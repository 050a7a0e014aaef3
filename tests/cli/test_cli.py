"""The command line: what it prints, what it writes, how it fails.

The demonstration runs here on small data; only the data are replaced.
"""

from __future__ import annotations

import argparse
import io
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import kernlens
from kernlens import cli
from kernlens._progress import LOGGER
from kernlens.cli import demo, main
from kernlens.cli._errors import CommandError
from kernlens.cli._output import printing, replacing
from kernlens.cli.demo import models, page, study
from kernlens.cli.demo.problems import DemoProblem, make_problems
from kernlens.cli.demo.text import _directions, _verdict
from kernlens.datasets import make_absolute_sum_of_sines
from kernlens.inspection import DirectionSummary, ScoreComparison

SMALL_PARTICLES = 6


def small_problems(seed: int) -> tuple[DemoProblem, ...]:
    data = make_absolute_sum_of_sines(45, 3, n_relevant=1, random_state=seed)
    names = ("age", "size", "weight")
    known = DemoProblem("known", "Known", "One direction.", data.X, data.y, names, data.components)
    line = data.X @ [1.0, 2.0, 0.0]
    return known, DemoProblem("line", "Line", "A straight line.", data.X, line, names, None)


@pytest.fixture(scope="module")
def demo_run(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """One run of the demonstration, with what went to both streams."""
    folder = tmp_path_factory.mktemp("demo") / "new" / "folder"
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(demo, "make_problems", small_problems)
        patch.setattr(study, "N_FOLDS", 2)
        patch.setattr(models, "N_PARTICLES", SMALL_PARTICLES)
        patch.setattr(page, "SECONDS", 1.0)
        # A process of its own has set up no log.
        patch.setattr(LOGGER, "hasHandlers", lambda: False)
        assert main(["demo", "--output", str(folder)]) == 0
    return SimpleNamespace(folder=folder, out=out.getvalue(), err=err.getvalue())


def test_demo_writes_pictures_models_and_its_text(demo_run: SimpleNamespace) -> None:
    written = sorted(path.name for path in demo_run.folder.iterdir())
    assert written == [
        *("known.png", "known.skops", "line.png", "line.skops"),
        *("patients", "patients.csv", "summary.txt"),
    ]
    assert demo_run.out.splitlines()[-1] == (
        f"The page: {demo_run.folder / 'patients' / 'report.html'}"
    )
    assert (demo_run.folder / "patients" / "report.html").is_file()
    assert (demo_run.folder / "known.png").read_bytes().startswith(b"\x89PNG")
    assert (demo_run.folder / "summary.txt").read_text(encoding="utf-8") == demo_run.out


def test_demo_says_what_a_stranger_needs(demo_run: SimpleNamespace) -> None:
    out = demo_run.out
    assert out.isascii()
    assert max(len(line) for line in out.splitlines() if str(demo_run.folder) not in line) <= 80
    for name in ("BKerNN", "ridge regression", "kernel ridge (Gaussian)"):
        assert len(re.findall(rf"^  {re.escape(name)} +-?\d\.\d{{3}}", out, re.MULTILINE)) == 2
    assert len(re.findall(r"Feature learning score: \d\.\d{3}", out)) == 1
    assert re.search(r"^  1 +\d+%   [+-]\d\.\d\d (age|size|weight)", out, re.MULTILINE)
    assert kernlens.__version__ in out


def test_demo_shows_progress_on_stderr_only(demo_run: SimpleNamespace) -> None:
    assert "Cross-validation" in demo_run.err
    assert "BKerNNRegressor: choosing alpha" in demo_run.err
    assert "steps" not in demo_run.out


def test_the_printed_lines_load_the_model(demo_run: SimpleNamespace) -> None:
    block = re.search(r"^    import kernlens\n(?:    .*\n)+", demo_run.out, re.MULTILINE)
    assert block is not None
    names: dict[str, object] = {}
    exec(re.sub(r"^    ", "", block[0], flags=re.MULTILINE), names)
    assert type(names["model"]).__name__ == "BKerNNRegressor"


def test_loaded_models_predict_the_same(demo_run: SimpleNamespace) -> None:
    for problem in small_problems(0):
        path = demo_run.folder / f"{problem.name}.skops"
        loaded = kernlens.load(path)
        fitted = models.make_bkernn(0).set_params(n_particles=SMALL_PARTICLES)
        fitted.fit(problem.X, problem.y)
        fresh = np.random.default_rng(1).normal(size=(20, 3))
        np.testing.assert_array_equal(loaded.predict(fresh), fitted.predict(fresh))
        np.testing.assert_array_equal(loaded.transform(fresh), fitted.transform(fresh))
        assert loaded.get_params() == fitted.get_params()


def test_quiet_prints_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "make_problems", lambda seed: small_problems(seed)[1:])
    monkeypatch.setattr(study, "N_FOLDS", 2)
    monkeypatch.setattr(page, "SECONDS", 1.0)
    assert main(["demo", "--quiet", "--output", str(tmp_path), "--seed", "3"]) == 0
    assert capfd.readouterr() == ("", "")
    assert (tmp_path / "summary.txt").read_text(encoding="utf-8").startswith("kernlens ")


def test_real_problems_have_their_names_and_their_truth() -> None:
    sines, diabetes = make_problems(0)
    assert sines.components is not None
    projected = sines.X @ sines.components.T
    np.testing.assert_allclose(sines.y, np.abs(np.sin(projected).sum(axis=1)), atol=1e-12)
    assert (len(sines.X), len(diabetes.X)) == (300, 442)
    assert sines.description.startswith("300 rows, 10 columns")
    assert diabetes.description.startswith("442 patients, 10 columns")
    for problem in (sines, diabetes):
        assert problem.X.shape == (len(problem.y), len(problem.feature_names))
    assert not np.array_equal(make_problems(1)[0].X, sines.X)


def test_directions_are_told_by_their_loadings_and_none_is_told_as_well() -> None:
    loadings = np.array([[0.6, -0.8], [0.8, 0.6]])
    two = DirectionSummary(("a", "b"), loadings, np.array([0.9, 0.1]), np.array([0.5, 0.5]))
    lines = _directions(two, 2).splitlines()
    assert lines[-2:] == ["  1   90%   -0.80 b  +0.60 a", "  2   10%   +0.80 a  +0.60 b"]
    none = DirectionSummary(("a", "b"), np.empty((0, 2)), np.empty(0), np.array([0.5, 0.5]))
    assert "none predicts better than the mean" in _directions(none, 2)


@pytest.mark.parametrize(
    ("ours", "says"),
    [
        ([0.9, 0.91, 0.92], "predicts better"),
        ([0.5, 0.9, 0.4], "predicts no better"),
        ([0.1, 0.11, 0.12], "predicts worse"),
    ],
)
def test_the_verdict_follows_the_folds(ours: list[float], says: str) -> None:
    others = {"ridge": np.array([0.2, 0.2, 0.2]), "kernel": np.array([0.6, 0.61, 0.6])}
    text = _verdict(ScoreComparison({"BKerNN": np.array(ours), **others}))
    assert says in text
    assert text.startswith("BKerNN minus kernel: ")


def test_a_file_in_the_way_of_the_folder_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "taken").write_text("")
    assert main(["demo", "--output", str(tmp_path / "taken" / "folder")]) == 1
    streams = capsys.readouterr()
    assert streams.out == ""
    assert streams.err.count("\n") == 1
    assert "cannot write to the folder" in streams.err
    assert "--output" in streams.err


@pytest.mark.parametrize(
    "arguments",
    [["unknown"], ["demo", "--seed", "-1"], ["demo", "--seed", "x"], ["demo", "--bad"]],
)
def test_a_wrong_command_line_exits_with_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exit_info:
        main(arguments)
    assert exit_info.value.code == 2
    assert "usage: kernlens" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code"), [(CommandError("no such thing."), 1), (KeyboardInterrupt(), 130)]
)
def test_failures_of_a_command_become_exit_codes(
    error: BaseException,
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(arguments: argparse.Namespace) -> int:
        raise error

    monkeypatch.setattr(demo, "run", fail)
    assert main(["demo"]) == code
    assert capsys.readouterr().err.startswith("kernlens: ")


def test_a_reader_who_has_left_ends_the_command_without_a_word() -> None:
    # Python itself flushes the standard output once more at its end.
    program = "import sys; from kernlens.cli import demo, main; demo.run = lambda _: {}; {}"
    late = program.format("(print('x'), sys.stdout.flush(), 0)[2]", "sys.exit(main(['demo']))")
    command = [sys.executable, "-c", "import time; time.sleep(0.5); " + late]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 141


def test_a_full_standard_output_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(arguments: argparse.Namespace) -> int:
        with printing():
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(demo, "run", fail)
    assert main(["demo"]) == 1
    said = "kernlens: cannot write to the standard output (No space left on device).\n"
    assert capsys.readouterr().err == said


def test_a_folder_in_the_way_of_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "sines.png").mkdir()
    with (
        pytest.raises(CommandError, match=r"sines\.png: there is a folder of that name\.$"),
        replacing(tmp_path / "sines.png") as part,
    ):
        part.write_text("picture")
    assert (tmp_path / "sines.png").is_dir()


@pytest.mark.parametrize("module", ["kernlens", "kernlens.cli"])
def test_the_modules_are_programs(module: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", module, "--version"], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, f"kernlens {kernlens.__version__}\n")


def test_help_names_every_subcommand(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["--help"], *([_name(module), "--help"] for module in cli.SUBCOMMANDS)):
        with pytest.raises(SystemExit) as exit_info:
            main(arguments)
        assert exit_info.value.code == 0
        out = capsys.readouterr().out
        assert all(_name(module) in out for module in cli.SUBCOMMANDS if len(arguments) == 1)
        assert ("--output DIR" in out) == (arguments[0] == "demo")


@pytest.mark.parametrize("arguments", [[], ["help"]])
def test_without_a_command_and_with_help_the_help_is_printed(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("usage: kernlens ")
    assert all(name in captured.out for name in ("help", *map(_name, cli.SUBCOMMANDS)))
    assert captured.err == ""


def test_help_explains_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", "demo"]) == 0
    assert "--output DIR" in capsys.readouterr().out
    with pytest.raises(SystemExit) as exit_info:
        main(["help", "nothing"])
    assert exit_info.value.code == 2


@pytest.mark.parametrize("name", ["fit", "predict", "transform", "report", "info", "completion"])
def test_examples_of_the_help_are_commands_on_one_line(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["help", name]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 100
    examples = [line for line in out.splitlines() if re.match(rf"  .*kernlens {name} ", line)]
    assert examples
    for line in examples:
        words = shlex.split(line.partition(" > ")[0].partition(f"kernlens {name} ")[2])
        assert cli.make_parser().parse_args([name, *words])


def _name(module: object) -> str:
    return getattr(module, "__name__", "").rpartition(".")[2]


def test_commands_do_not_wait_for_what_draws_and_writes_pages() -> None:
    # scikit-learn imports pandas, which imports pyarrow where there is one.
    code = (
        "import sys, sklearn.base; before = set(sys.modules); import kernlens.cli; "
        "ours = set(sys.modules) - before; "
        "assert not {'matplotlib', 'jinja2', 'skops', 'pyarrow'} & ours"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)

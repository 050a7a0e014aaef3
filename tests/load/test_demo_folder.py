"""The folder of ``kernlens demo``: a link, a file, read-only, on a full disk, interrupted."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure

from kernlens import BKerNNRegressor, cli
from kernlens.cli import _output, demo
from kernlens.cli.demo import models, study
from kernlens.cli.demo.problems import DemoProblem

NAMES = ("line.png", "line.skops", "summary.txt")
OLD = b"what was here before"


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """One small data set, and few particles."""
    X = np.random.default_rng(0).standard_normal((30, 2))
    line = DemoProblem("line", "Line", "A straight line.", X, X[:, 0], ("a", "b"), None)
    monkeypatch.setattr(demo, "make_problems", lambda seed: (line,))
    monkeypatch.setattr(study, "N_FOLDS", 2)
    monkeypatch.setattr(models, "N_PARTICLES", 4)
    # What `fit` does with a folder has tests of its own.
    monkeypatch.setattr(demo, "fit_patients", lambda *arguments: SimpleNamespace(text=""))


@pytest.fixture
def folder(tmp_path):
    """A folder with files of an earlier run."""
    made = tmp_path / "earlier"
    made.mkdir()
    for name in NAMES:
        (made / name).write_bytes(OLD)
    return made


def run(folder):
    return cli.main(["demo", "--quiet", "--force", "--output", str(folder)])


def check_nothing_lost(folder, names=NAMES):
    assert sorted(path.name for path in folder.iterdir()) == sorted(NAMES)
    assert all((folder / name).read_bytes() == OLD for name in names)


def check_one_sentence(capfd, reason):
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("kernlens: ") and err.count("\n") == 1
    assert reason in err


def test_files_of_a_folder_are_replaced_with_force_only(folder, capfd):
    assert cli.main(["demo", "--quiet", "--output", str(folder)]) == cli.EXIT_FAILED
    check_one_sentence(capfd, "choose another one with --output, or replace the files in it with")
    check_nothing_lost(folder)


def test_a_link_to_a_folder_is_a_folder(folder, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(folder)
    assert run(link) == 0
    assert sorted(path.name for path in folder.iterdir()) == sorted(NAMES)
    assert all((folder / name).read_bytes() != OLD for name in NAMES)


def test_a_file_that_is_a_link_is_replaced_and_not_followed(folder, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(OLD)
    (folder / "line.png").unlink()
    (folder / "line.png").symlink_to(elsewhere)
    assert run(folder) == 0
    assert elsewhere.read_bytes() == OLD
    assert (folder / "line.png").read_bytes() != OLD


def test_a_link_to_nothing(tmp_path, capfd):
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "nothing")
    assert run(link) == cli.EXIT_FAILED
    check_one_sentence(capfd, "choose another one with --output")


def test_a_file_instead_of_a_folder(tmp_path, capfd):
    file = tmp_path / "file"
    file.write_bytes(OLD)
    assert run(file) == cli.EXIT_FAILED
    check_one_sentence(capfd, "File exists")
    assert file.read_bytes() == OLD


def test_a_folder_that_is_read_only(folder, capfd, monkeypatch):
    """Rights do not stop the superuser, so the refusal is the system's, made here."""

    def refuse(*arguments, **options):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(_output.tempfile, "TemporaryFile", refuse)
    assert run(folder) == cli.EXIT_FAILED
    check_one_sentence(capfd, os.strerror(errno.EROFS))
    check_nothing_lost(folder)


def begun(path):
    with open(path, "wb") as file:
        file.write(b"a part")


def partly(path):
    begun(path)
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def stop(path):
    begun(path)
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("step", "lost"),
    [("picture", NAMES), ("model", NAMES[1:]), ("summary", NAMES[2:])],
)
@pytest.mark.parametrize("fault", [partly, stop])
def test_a_full_disk_or_ctrl_c_while_a_file_is_written(
    step, lost, fault, folder, capfd, monkeypatch
):
    if step == "picture":
        monkeypatch.setattr(Figure, "savefig", lambda self, path: fault(path))
    elif step == "model":
        monkeypatch.setattr(Path, "write_bytes", lambda self, content: fault(self))
    else:
        write = Path.write_text

        def written(self, *arguments, **options):
            return fault(self) if self.name == "summary.txt" else write(self, *arguments, **options)

        monkeypatch.setattr(Path, "write_text", written)
    code = run(folder)
    if fault is partly:
        assert code == cli.EXIT_FAILED
        check_one_sentence(capfd, os.strerror(errno.ENOSPC))
    else:
        assert code == cli.EXIT_INTERRUPTED
        check_one_sentence(capfd, "interrupted")
    check_nothing_lost(folder, lost)


def test_ctrl_c_in_a_fit_ends_the_demonstration(folder, capfd, monkeypatch):
    def pressed(self, *arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(BKerNNRegressor, "_learner", pressed)
    assert run(folder) == cli.EXIT_INTERRUPTED
    check_one_sentence(capfd, "interrupted")
    check_nothing_lost(folder)

"""The documentation shows what happens: its examples run and print what it says."""

from __future__ import annotations

import contextlib
import io
import re
from itertools import pairwise
from pathlib import Path

import pytest
from matplotlib import pyplot

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
GUIDE = sorted((ROOT / "docs" / "guide").glob("*.md"))
PAGES = [README, *GUIDE]
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)


def blocks(page: Path) -> list[tuple[str, str]]:
    """Language and text of every block of code."""
    text = page.read_text(encoding="utf-8")
    return re.findall(r"^```(\w+)\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)


@every_page
def test_examples_run_and_print_what_is_shown(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    found = blocks(page)
    for (language, text), (following, shown) in pairwise([*found, ("", "")]):
        if language != "python":
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(text, names)
        assert printed.getvalue() == (shown if following == "text" else "")
    pyplot.close("all")


def test_the_guide_has_a_page_for_every_family_and_an_example_on_most() -> None:
    rooms = {path.parent.name for path in (ROOT / "src/kernlens/methods").glob("*/regressor.py")}
    assert rooms <= {page.stem for page in GUIDE}
    assert {"choosing", "saving", "limits"} <= {page.stem for page in GUIDE}
    for page in PAGES:
        assert page.stem == "limits" or any(language == "python" for language, _ in blocks(page))


def test_the_readme_is_short_and_its_two_commands_stand_alone_on_their_lines() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 100
    assert "".join(text for language, text in blocks(README) if language == "sh").splitlines() == [
        "python -m pip install . && kernlens demo",
        'python -m pip install ".[test]" && python -m pytest',
    ]


@pytest.mark.parametrize(
    "page",
    [*PAGES, ROOT / "docs/architecture.md", ROOT / "CONTRIBUTING.md"],
    ids=lambda page: page.stem,
)
def test_every_link_to_a_file_leads_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text(encoding="utf-8"))
    missing = [target for target in targets if not (page.parent / target).is_file()]
    assert missing == []


@every_page
def test_no_page_sends_users_inside(page: Path) -> None:
    text = page.read_text(encoding="utf-8").partition("## Notation")[0]
    assert re.findall(r"kernlens\.(optim|methods|fits|base|linalg)\b", text) == []


@every_page
def test_public_names_on_a_page_can_be_imported(page: Path) -> None:
    text = page.read_text(encoding="utf-8").partition("## Notation")[0]
    for module, name in re.findall(r"`(kernlens(?:\.[a-z_]+)?)\.([A-Z]\w+)", text):
        imported = __import__(module, fromlist=[name])
        assert name in imported.__all__, f"{module}.{name}"


def test_the_map_of_the_tree_names_what_exists_and_misses_no_module() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    tree = page.partition("## The tree\n")[2].partition("A room,")[0]
    named = re.findall(r"^  ([\w/.]+)  ", tree, flags=re.MULTILINE)
    package = ROOT / "src" / "kernlens"
    assert [name for name in named if not (package / name).exists()] == []
    modules = {path.name for path in package.iterdir() if path.suffix == ".py"}
    modules |= {path.parent.name for path in package.glob("*/__init__.py")}
    assert modules == {name.split("/")[0] for name in named}
    outside = re.findall(r"^([a-z]+)/  ", tree, flags=re.MULTILINE)
    assert [name for name in outside if not (ROOT / name).is_dir()] == []


def test_every_room_has_the_files_that_the_page_promises() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = page.partition("has the same files in every family:")[2].partition("The shared")[0]
    promised = {"parameters.py", "estimator.py", "plan.py", "learner.py", "function.py"}
    assert promised <= set(re.findall(r"`(\w+\.py)`", table))
    for room in (ROOT / "src" / "kernlens" / "methods").iterdir():
        # Rooms of transformers that predict nothing have no regressor.
        if (room / "regressor.py").exists():
            files = {path.name for path in room.iterdir()}
            assert promised <= files, room.name
            assert files & {"objective.py", "solvers", "kernel.py", "forward.py"}, room.name

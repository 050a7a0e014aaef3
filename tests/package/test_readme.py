"""The README shows what happens: its example runs and prints what it says."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, flags=re.DOTALL | re.MULTILINE)


def test_python_blocks_run_and_print_what_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    example, saving = blocks("python")
    (shown,) = blocks("text")
    names: dict[str, object] = {}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(example, names)
    assert printed.getvalue() == shown
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(saving, names)
    trusted = re.search(r"trusted=(\[.*?\])", saving)
    assert trusted is not None
    assert printed.getvalue().strip().replace("'", '"') == trusted[1]


def test_the_two_commands_stand_alone_on_their_lines() -> None:
    lines = "".join(blocks("sh")).splitlines()
    assert lines == [
        "python -m pip install . && kernlens demo",
        'python -m pip install ".[test]" && python -m pytest',
    ]


def test_every_link_to_a_file_leads_somewhere() -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)\)", README)
    assert targets
    missing = [target for target in targets if not (ROOT / target).is_file()]
    assert missing == []


def test_the_map_of_the_tree_names_what_exists_and_misses_no_module() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    tree = page.partition("## The tree\n")[2].partition("## Layers")[0]
    named = re.findall(r"^  ([\w/.]+)  ", tree, flags=re.MULTILINE)
    package = ROOT / "src" / "kernlens"
    assert [name for name in named if not (package / name).exists()] == []
    modules = {path.name for path in package.iterdir() if path.suffix == ".py"}
    modules |= {path.parent.name for path in package.glob("*/__init__.py")}
    assert modules == {name.split("/")[0] for name in named}
    outside = re.findall(r"^([a-z]+)/  ", tree, flags=re.MULTILINE)
    assert [name for name in outside if not (ROOT / name).is_dir()] == []

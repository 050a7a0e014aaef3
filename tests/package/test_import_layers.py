"""Imports inside the package go downwards only.

The sources are read, not run, so imports inside functions and under ``TYPE_CHECKING`` count too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "kernlens"

# Highest first. A module may import from any layer below its own, never from its own or above.
LAYERS = (
    ("__main__",),
    ("cli",),
    ("reporting", "experiments"),
    ("plotting", "persistence", "onnx_export"),
    ("inspection", "model_selection"),
    ("methods", "tables"),
    ("base", "metrics", "datasets"),
    ("fits",),
    ("optim",),
    ("linalg",),
    ("kernels", "penalties", "losses", "features", "subspace", "blocks"),
    ("_parameters",),
    # Every other top-level ``_*`` module, and beneath them what all of them may use.
    ("_*",),
    ("_array", "_hash", "_machine", "_sized", "_version"),
)
DEPTH = {name: depth for depth, layer in enumerate(LAYERS) for name in layer}
PRIVATE_LAYERS = range(DEPTH["_parameters"], len(LAYERS))
#: Nothing of the numerics belongs into these.
IMPORT_ONLY_PRIVATE = {"metrics", "datasets"}

Module = tuple[str, ...]


def depth_of(component: str) -> int | None:
    """Depth of a top-level name, 0 at the top, or None if it has no place."""
    if component in DEPTH:
        return DEPTH[component]
    return DEPTH["_*"] if component.startswith("_") else None


def module_of(path: Path, package: Path) -> Module:
    module = path.relative_to(package.parent).with_suffix("").parts
    return module[:-1] if module[-1] == "__init__" else module


def is_module(module: Module, package: Path) -> bool:
    path = package.parent.joinpath(*module)
    return path.is_dir() or path.with_name(f"{path.name}.py").is_file()


def imported_modules(path: Path, package: Path) -> Iterator[tuple[int, Module]]:
    """Line and target of every import in a file that stays inside the package.

    ``from a import b`` targets the module ``a.b`` if there is one, and otherwise ``a``.
    """
    home = module_of(path, package)
    if path.name != "__init__.py":
        home = home[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        targets: list[Module] = []
        if isinstance(node, ast.Import):
            targets = [tuple(alias.name.split(".")) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            origin = home[: len(home) - node.level + 1] if node.level else ()
            origin += tuple(node.module.split(".")) if node.module else ()
            named = [(*origin, alias.name) for alias in node.names]
            targets = [target if is_module(target, package) else origin for target in named]
        for target in targets:
            if target[:1] == (package.name,):
                yield node.lineno, target


def room_breach(importer: Module, target: Module) -> str | None:
    """Say what is wrong with an import from one file of ``methods`` to another."""
    if len(importer) == 2:
        return "is in methods/__init__.py, which stays empty: the package root re-exports"
    if len(target) == 2:
        return "goes through methods/__init__.py, which holds nothing"
    return None if target[2] == importer[2] else "goes from one room to another"


def breach(importer: Module, target: Module) -> str | None:
    """Say which rule an import breaks, or None."""
    if len(target) == 1:
        return "imports the package root"
    if len(importer) == 1:  # the root re-exports everything
        return None
    above, below = depth_of(importer[1]), depth_of(target[1])
    if above is None or below is None:
        return None  # reported once, as a module without a place
    if importer[1] == target[1]:
        return room_breach(importer, target) if importer[1] == "methods" else None
    if above == below:
        return "goes sideways, to a sibling in the same layer"
    if above > below:
        return "goes upwards"
    if importer[1] in IMPORT_ONLY_PRIVATE and below not in PRIVATE_LAYERS:
        return f"is not allowed: {importer[1]} imports only _* modules"
    return None


def find_breaches(package: Path) -> list[str]:
    """One sentence per breach, in the order of the files."""
    breaches = []
    for path in sorted(package.rglob("*.py")):
        importer = module_of(path, package)
        place = path.relative_to(package.parent).as_posix()
        if len(importer) > 1 and depth_of(importer[1]) is None:
            breaches.append(f"{place}: {importer[1]} has no place in LAYERS")
        for line, target in imported_modules(path, package):
            reason = breach(importer, target)
            if reason is not None:
                breaches.append(f"{place}:{line}: import of {'.'.join(target)} {reason}")
    return breaches


def write_package(folder: Path, sources: dict[str, str]) -> Path:
    """A small package named kernlens: what ``sources`` says, and empty files to import from."""
    package = folder / "kernlens"
    empty = [
        *("_execution", "_result", "_array", "_validation", "base/__init__", "base/contract"),
        *("losses", "metrics", "cli/__init__", "kernels/__init__", "kernels/radial", "fits/ridge"),
        *("linalg/cg", "optim/lbfgs", "methods/__init__", "methods/hkrr/__init__"),
        *("methods/hkrr/learner", "methods/bkernn/__init__", "methods/bkernn/solver"),
    ]
    for name, source in ({f"{name}.py": "" for name in empty} | sources).items():
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
    return package


def test_the_package_keeps_its_layers() -> None:
    assert (PACKAGE / "__init__.py").is_file()
    breaches = find_breaches(PACKAGE)
    assert not breaches, "\n".join(breaches)


@pytest.mark.parametrize(
    ("file", "source", "reason"),
    [
        ("linalg/cg.py", "from kernlens.optim import lbfgs", "upwards"),
        ("linalg/cg.py", "from ..optim.lbfgs import solve", "upwards"),
        ("linalg/cg.py", "import kernlens.optim.lbfgs as v", "upwards"),
        ("linalg/cg.py", "def f():\n    from .. import optim", "upwards"),
        ("linalg/cg.py", "if TYPE_CHECKING:\n    from ..base import A", "upwards"),
        ("optim/lbfgs.py", "from kernlens.fits import ridge", "upwards"),
        ("fits/ridge.py", "from kernlens.methods.hkrr.learner import L", "upwards"),
        ("base/contract.py", "from kernlens.methods.hkrr.learner import L", "upwards"),
        ("kernels/__init__.py", "from ..linalg import cg", "upwards"),
        ("_execution.py", "from .kernels.radial import f", "upwards"),
        ("_array.py", "from ._execution import f", "upwards"),
        ("cli/__init__.py", "from .. import __main__", "upwards"),
        ("_execution.py", "from . import _result", "sibling"),
        ("kernels/radial.py", "from ..losses import f", "sibling"),
        ("metrics.py", "from .base import A", "sibling"),
        ("metrics.py", "from .linalg.cg import solve", "only _* modules"),
        ("methods/hkrr/learner.py", "from ..bkernn import B", "one room"),
        ("methods/hkrr/learner.py", "from .. import bkernn", "one room"),
        ("methods/bkernn/solver.py", "from ..hkrr.learner import H", "one room"),
        ("methods/bkernn/__init__.py", "from kernlens.methods import hkrr", "one room"),
        ("methods/hkrr/learner.py", "from .. import BKerNNRegressor", "methods/__init__.py"),
        ("methods/__init__.py", "from .hkrr import H", "stays empty"),
        ("cli/__init__.py", "import kernlens", "package root"),
        ("cli/__init__.py", "import kernlens as kl", "package root"),
        ("cli/__init__.py", "from kernlens import __version__", "package root"),
        ("kernels/radial.py", "def f():\n    from .. import __version__", "package root"),
        ("__main__.py", "from kernlens import *", "package root"),
        ("helpers.py", "", "no place in LAYERS"),
    ],
)
def test_a_breach_is_found(tmp_path: Path, file: str, source: str, reason: str) -> None:
    package = write_package(tmp_path, {"__main__.py": "", file: source})
    (found,) = find_breaches(package)
    assert found.startswith(f"kernlens/{file}:")
    assert reason in found


def test_allowed_imports_pass(tmp_path: Path) -> None:
    package = write_package(
        tmp_path,
        {
            "__init__.py": "from .methods.bkernn import B\nfrom kernlens import cli",
            "__main__.py": "from kernlens.cli import main",
            "cli/__init__.py": "from kernlens import metrics\nimport numpy.kernlens",
            "base/contract.py": "from .. import _result\nfrom kernlens.fits.ridge import rows",
            "methods/bkernn/__init__.py": "from .solver import solve\nfrom ...base import c",
            "methods/hkrr/learner.py": "import kernlens.optim.lbfgs\nfrom ...metrics import score",
            "kernels/linear.py": "from . import radial\nfrom .. import _execution",
            "linalg/cg.py": "from ..kernels import f\nfrom ..losses import g",
            "_parameters.py": "from ._validation import check",
            "_execution.py": "from ._array import FloatArray",
        },
    )
    assert find_breaches(package) == []

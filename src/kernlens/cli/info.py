"""``kernlens info``: what is in the file of a model."""

from __future__ import annotations

import argparse
import json
import os
from typing import Any

from kernlens._parameters import argument_names
from kernlens._table import shortened
from kernlens.cli._arguments import HelpWithExamples, add_file, examples
from kernlens.cli._models import column_names, load_model, preparation_of
from kernlens.cli._output import printing
from kernlens.inspection.direction_summary import summarize_directions

#: Columns and directions that are printed.
N_COLUMNS = 20
N_DIRECTIONS = 5
N_WEIGHTS = 4


def add_parser(subparsers: argparse._SubParsersAction) -> argparse.ArgumentParser:
    """Describe the arguments."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "info",
        help="say what is in the file of a model",
        description="Print what kind of model a file has, the columns it needs, its settings and "
        "its directions. Nothing of the file is run.",
        epilog=examples("kernlens info kernlens-houses/model.skops"),
        formatter_class=HelpWithExamples,
    )
    add_file(parser, "model", "file of a model that 'kernlens fit' or kernlens.save wrote")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Load and print."""
    model = load_model(arguments.model)
    found = described(model) | {"bytes": os.path.getsize(arguments.model)}
    with printing():
        print(json.dumps(found) if arguments.json else _text(arguments.model, found), flush=True)
    return 0


def described(model: Any) -> dict[str, Any]:
    """A model in plain values."""
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    table = preparation_of(model)
    names = column_names(model)
    kinds = dict(zip(table.columns_.names, table.columns_.kinds, strict=True)) if table else {}
    left_out = table.left_out_ if table else {}
    classes = getattr(model, "classes_", None)
    own = type(last)()
    return {
        "model": type(last).__name__,
        "predicts": None
        if not hasattr(model, "predict")
        else "numbers"
        if classes is None
        else "classes",
        "classes": None if classes is None else [str(label) for label in classes.tolist()],
        "columns": [
            {"name": name, "kind": kinds.get(name, "number"), "left_out": left_out.get(name)}
            for name in names or [f"x{place}" for place in range(model.n_features_in_)]
        ],
        "settings": {
            name: repr(getattr(last, name))
            for name in argument_names(type(last))
            if getattr(last, name) != getattr(own, name)
        },
        "explanation": getattr(last, "explanation_", None),
        "directions": _directions(model),
    }


def _directions(model: Any) -> list[dict[str, Any]]:
    try:
        found = summarize_directions(model)
    except (ValueError, AttributeError):
        return []
    return [
        {
            "importance": float(share),
            "weights": [
                {"column": name, "loading": weight}
                for name, weight in found.strongest(place, N_WEIGHTS)
            ],
        }
        for place, share in enumerate(found.component_importances)
    ]


def _text(path: str, found: dict[str, Any]) -> str:
    size = found["bytes"]
    shown = f"{size / 2**20:.1f} MB" if size >= 2**20 else f"{max(1, round(size / 1024))} kB"
    lines = [f"{path}: {found['model']}, {shown}"]
    if found["predicts"]:
        classes = found["classes"] or []
        more = " ..." if len(classes) > 10 else ""
        listed = ": " + ", ".join(map(repr, classes[:10])) + more if classes else ""
        lines.append(f"Predicts {found['predicts']}{listed}.")
    if found["settings"]:
        lines.append(
            "Settings: " + ", ".join(f"{k}={v}" for k, v in found["settings"].items()) + "."
        )
    columns = found["columns"]
    n_unused = sum(column["left_out"] is not None for column in columns)
    unused = f", {n_unused} of them left out of the model" if n_unused else ""
    lines.append(f"Needs {len(columns)} column{'' if len(columns) == 1 else 's'}{unused}:")
    for column in columns[:N_COLUMNS]:
        note = f", left out: {column['left_out']}" if column["left_out"] else ""
        lines.append(f"  {shortened(column['name'], 40)} ({column['kind']}{note})")
    if len(columns) > N_COLUMNS:
        lines.append(f"  and {len(columns) - N_COLUMNS} more")
    if found["directions"]:
        lines.append("Directions: importance, and the largest weights per standard deviation")
    for place, one in enumerate(found["directions"][:N_DIRECTIONS], start=1):
        weights = "  ".join(
            f"{weight['loading']:+.2f} {shortened(weight['column'])}" for weight in one["weights"]
        )
        lines.append(f"  {place}  {one['importance']:4.0%}   {weights}")
    if len(found["directions"]) > N_DIRECTIONS:
        lines.append(f"  and {len(found['directions']) - N_DIRECTIONS} more")
    return "\n".join(lines)

"""``kernlens methods``: what `fit` can do, and the settings of a method."""

from __future__ import annotations

import argparse
import json
import textwrap

from kernlens._parameters import argument_names
from kernlens.cli._methods import METHODS, OWN_OPTIONS, Method, method_named
from kernlens.cli._output import printing

WIDTH = 80


def add_parser(subparsers: argparse._SubParsersAction) -> argparse.ArgumentParser:
    """Describe the arguments."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "methods",
        help="list the methods of fit, or the settings of one of them",
        description="List the methods of 'kernlens fit --method', or the settings of one of them "
        "for --set.",
    )
    names = [method.name for method in METHODS]
    parser.add_argument("name", nargs="?", metavar="NAME", choices=names, help="a method")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Print."""
    if arguments.name is None:
        text = _as_json() if arguments.json else _as_text()
    else:
        method = method_named(arguments.name)
        text = json.dumps(_settings(method)) if arguments.json else _settings_text(method)
    with printing():
        print(text, flush=True)
    return 0


def _as_json() -> str:
    return json.dumps(
        [
            {"name": one.name, "text": one.text, "classes": one.classifier is not None}
            for one in METHODS
        ]
    )


def _as_text() -> str:
    width = max(len(one.name) for one in METHODS)
    lines = []
    for one in METHODS:
        text = one.text + ("" if one.classifier is not None else " (numbers only)")
        lines += textwrap.wrap(
            text,
            WIDTH,
            initial_indent=f"{one.name:<{width}}  ",
            subsequent_indent=" " * (width + 2),
        )
    return "\n".join([*lines, "", "'kernlens methods NAME' lists the settings of one."])


def _settings(method: Method) -> list[dict[str, str]]:
    """Settings of the regressor, and those that only the classifier has."""
    found: dict[str, dict[str, str]] = {}
    for estimator in (method.regressor, method.classifier):
        if estimator is None:
            continue
        for name in argument_names(estimator):
            if name not in OWN_OPTIONS:
                one = estimator._parameters[name]  # type: ignore[attr-defined]
                text = " ".join(one.text.split()).replace("``", "").replace(":class:", "")
                found.setdefault(
                    name,
                    {"name": name, "type": one.type, "default": repr(one.default), "text": text},
                )
    return list(found.values())


def _settings_text(method: Method) -> str:
    lines = [f"{method.name}: {method.text}", ""]
    for one in _settings(method):
        lines.append(f"{one['name']}={one['default'].strip(chr(39))}   ({one['type']})")
        lines.append(textwrap.indent(textwrap.fill(one["text"], WIDTH - 4), "    "))
    return "\n".join(lines)

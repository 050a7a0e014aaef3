"""``kernlens completion``: a script that completes commands in a shell."""

from __future__ import annotations

import argparse

import shtab

from kernlens.cli._arguments import HelpWithExamples, examples
from kernlens.cli._output import printing

SHELLS = ("bash", "zsh", "fish")


def add_parser(subparsers: argparse._SubParsersAction) -> argparse.ArgumentParser:
    """Describe the arguments."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        "completion",
        help="print a script that completes commands in a shell",
        description="Print a script that completes the commands and options of kernlens.",
        epilog=examples(
            "kernlens completion bash > ~/.local/share/bash-completion/completions/kernlens",
            "kernlens completion zsh > ~/.zfunc/_kernlens    # in a folder of $fpath",
            "kernlens completion fish > ~/.config/fish/completions/kernlens.fish",
        ),
        formatter_class=HelpWithExamples,
    )
    parser.add_argument("shell", choices=SHELLS, help="which shell")
    return parser


def run(arguments: argparse.Namespace) -> int:
    """Print the script."""
    with printing():
        print(shtab.complete(arguments.parser, arguments.shell), flush=True)
    return 0

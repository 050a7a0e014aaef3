"""The command line: parse, call, print.

A subcommand is a module with ``add_parser(subparsers)``, which describes its arguments, and
``run(arguments)``, which does the work and returns the exit code. ``SUBCOMMANDS`` lists them.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress

from kernlens._version import __version__
from kernlens.cli import (
    completion,
    demo,
    fit,
    info,
    methods,
    predict,
    report,
    reproduce,
    transform,
)
from kernlens.cli._errors import CommandError
from kernlens.cli._output import printing

SUBCOMMANDS = (fit, predict, transform, report, info, methods, demo, reproduce, completion)

EXIT_FAILED = 1  # argparse itself exits with 2 on a wrong command line
EXIT_INTERRUPTED = 130  # 128 + SIGINT, as shells have it
EXIT_PIPE = 141  # 128 + SIGPIPE


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    argv : sequence of str or None
        Arguments after the name of the program; by default those of the process.

    Returns
    -------
    int
        Exit code: 0, 1 if the command failed, 130 if interrupted, 141 if nobody reads what is
        printed any longer. A wrong command line exits with 2.
    """
    for stream in (sys.stdout, sys.stderr):
        # A name that a terminal has no letters for is no reason to fail.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    words = list(sys.argv[1:] if argv is None else argv)
    arguments = make_parser().parse_args(words)
    # The page of a fit says how it was made.
    arguments.words = words
    run: Callable[[argparse.Namespace], int] = arguments.run
    try:
        return run(arguments)
    except CommandError as error:
        print(f"kernlens: {error}", file=sys.stderr)
        return EXIT_FAILED
    except KeyboardInterrupt:
        print("kernlens: interrupted.", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        _leave_the_pipe()
        return EXIT_PIPE


def _leave_the_pipe() -> None:
    """Send what is still to be printed nowhere: Python flushes it once more at its end."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def make_parser() -> argparse.ArgumentParser:
    """The parser of the program, with every subcommand."""
    parser = argparse.ArgumentParser(
        prog="kernlens",
        description="Find the few hidden linear features a target depends on, and predict with "
        "them, using kernels.",
        epilog="'kernlens help COMMAND' explains a command. First steps: 'kernlens demo', then "
        "'kernlens fit your.csv --target COLUMN'.",
    )
    parser.add_argument("--version", action="version", version=f"kernlens {__version__}")
    # Without a command there is the help.
    parser.set_defaults(run=_show_help, parser=parser, command=None)
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND")
    for module in SUBCOMMANDS:
        subparser = module.add_parser(subparsers)
        subparser.set_defaults(run=module.run, parser=parser)
    explained = dict(subparsers.choices)
    helper = subparsers.add_parser("help", help="print this help, or that of a command")
    helper.add_argument("command", nargs="?", choices=[*explained], help="what to explain")
    helper.set_defaults(run=_show_help, commands=explained)
    return parser


def _show_help(arguments: argparse.Namespace) -> int:
    named = arguments.command
    parser: argparse.ArgumentParser = arguments.commands[named] if named else arguments.parser
    with printing():
        parser.print_help(sys.stdout)
    return 0

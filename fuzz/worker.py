"""A process that runs cases one at a time: pickled cases come in, pickled outcomes go out.

``python -m fuzz.worker SECONDS`` is started by the runner. A little before the time limit, and when
the process is killed by a signal of its own, the stack goes to the standard error.
"""

from __future__ import annotations

import faulthandler
import os
import pickle
import resource
import signal
import sys
from typing import BinaryIO

#: Share of the time limit after which the stack is written.
NEARLY = 0.9
#: Bytes of a worker's address space: a wrong estimate of memory must not stop the machine.
MEMORY = 16 * 2**30


def serve(cases: BinaryIO, outcomes: BinaryIO, time_limit: float) -> None:
    """Answer until there are no more cases."""
    from fuzz.check import run

    pickle.dump("ready", outcomes)
    outcomes.flush()
    while True:
        try:
            case = pickle.load(cases)
        except EOFError:
            return
        faulthandler.dump_traceback_later(NEARLY * time_limit)
        # If the parent is gone, nobody else ends a case without end.
        signal.alarm(int(2.0 * time_limit) + 2)
        outcome = run(case)
        signal.alarm(0)
        faulthandler.cancel_dump_traceback_later()
        pickle.dump(outcome, outcomes)
        outcomes.flush()


def main() -> None:
    """Keep the pipes to ourselves, so that nothing a fit prints gets into them."""
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    outcomes = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    serve(sys.stdin.buffer, outcomes, float(sys.argv[1]))


if __name__ == "__main__":
    main()

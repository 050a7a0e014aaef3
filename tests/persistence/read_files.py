"""Loads every file of a folder, with little memory and time, and says how each of them ends.

Run as a program, with a folder that has ``whole.skops`` and ``rows.npy``. Prints one line of JSON:
outcomes by file, and what else happened: modules imported, code run, processes started.
"""

from __future__ import annotations

import json
import resource
import signal
import sys
import warnings
from pathlib import Path

import numpy as np

import kernlens
from kernlens.persistence.trusted import estimators_of_sklearn

#: Seconds of the processor for one file, and bytes that all of them may add.
LONGEST = 5.0
MOST_BYTES = 2**29
#: What Python reports of itself that a model file must not bring about.
WATCHED = {
    *("exec", "import", "pickle.find_class", "marshal.loads", "ctypes.dlopen", "socket.connect"),
    *("os.system", "os.exec", "os.fork", "os.posix_spawn", "os.remove", "subprocess.Popen"),
}


def seen(model, X):
    """What a model predicts, and the names of its attributes, as a text."""
    return [np.asarray(model.predict(X)).tolist(), sorted(vars(model))]


def outcome(path, X, expected):
    try:
        model = kernlens.load(path)
    except kernlens.ModelFileError as error:
        sentence = str(error)
        plain = sentence.isprintable() and len(sentence) < 400 and sentence.endswith(".")
        return "refused" if plain else f"refused with {sentence[:400]!r}"
    return "equal" if seen(model, X) == expected else "another model"


def main(folder):
    X = np.load(folder / "rows.npy")
    expected = seen(kernlens.load(folder / "whole.skops"), X)
    # scikit-learn looks for its estimators in modules of its own, whatever a file says.
    estimators_of_sklearn()
    happened, watching = set(), False

    def watch(event, arguments):
        if watching and event in WATCHED:
            happened.add(f"{event} {str(arguments)[:80]}")

    sys.addaudithook(watch)
    with open("/proc/self/statm") as sizes:
        used = int(sizes.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MOST_BYTES,) * 2)
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    outcomes = {}
    for path in sorted(folder.glob("*.tampered")):
        signal.setitimer(signal.ITIMER_PROF, LONGEST)
        print(path.name, file=sys.stderr, flush=True)
        watching = True
        outcomes[path.stem] = outcome(path, X, expected)
        watching = False
    print(json.dumps({"outcomes": outcomes, "happened": sorted(happened)}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

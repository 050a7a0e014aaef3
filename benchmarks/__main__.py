"""Benchmarks of kernlens.

``python -m benchmarks`` prints every table, ``python -m benchmarks NAME`` one of them. What counts
are the ratios within one run; the machine and the seeds are printed first. What follows a first
option goes to the benchmark: ``python -m benchmarks defaults --only trend``.
"""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import sys

import numba
import numpy
import scipy
import sklearn

import kernlens

#: Name -> what it shows; each is a module of this folder with a function ``run()``.
BENCHMARKS = {
    "agreement": "same objective and predictions as the slow oracle",
    "algorithm1": "plain Algorithm 1 against a direct compiled implementation",
    "optimizers": "objective reached by the default optimiser and by plain Algorithm 1, equal time",
    "growth": "fit time at 10,000 and 100,000 rows",
    "prediction": "prediction of 1,000,000 rows against evaluating the kernel",
    "million": "fit of 1,000,000 rows: minutes and memory",
    "memory": "peak of every estimator's fit beside the formula of its docstring",
    "hkrr_accuracy": "HKRR: gradients and solve against differences and exact arithmetic",
    "hkrr_dataset1": "HKRR: data set 1 of the paper, both optimisers, 25 and 200 centres",
    "hkrr_scale": "HKRR: 100,000 rows, memory, growth, against Nystroem + Ridge and RFM",
    "hkrr_real": "HKRR: five real data sets against tuned kernel ridge regression",
    "regfeal_cost": "RegFeaL: the whole grid against the paper followed literally, growth, memory",
    "classical": "MAVE and OPG: Experiment 1 of the RegFeaL paper; --fixed, --first, --seeds",
    "few_values": "MAVE, OPG and SIR along a column of few values",
    "rfm_against_xrfm": "RFM: accuracy and time beside xrfm, boosting and SVC; --sets, --splits",
    "mars": "MARS: seconds and R2 beside the textbook and mars-earth, if that is installed",
    "weightings_mixture": "RKHS weightings: mixed alphas against the best one, on other data",
    "laplacian_labels": "kernel Laplacian: few labels, beside graph methods and kernel ridge",
    "laplacian_scale": "kernel Laplacian: 105,000 unknowns, 100,000 points, dense solve",
    "weightings_speed": "RKHS weightings: time on adults against kitchen sinks and scikit-learn",
    "defaults": "defaults on awkward data, their seconds, the size of a model; --only, --families",
    "autolens": "AutoLens beside tuned rivals in equal time; --sets, --seconds, --file, ...",
    "stability_coverage": "how often intervals of SubspaceStability contain planted entries",
    "scaling": "tables in blocks on two worker processes: memory, speed, bytes; --part, --rows",
    "direction_counts": "how often the number of directions is right; --families, --seeds, ...",
}
#: Those whose ``run`` takes arguments.
WITH_ARGUMENTS = (
    "autolens",
    "classical",
    "defaults",
    "direction_counts",
    "rfm_against_xrfm",
    "scaling",
)


def main() -> None:
    """Run the benchmarks named on the command line, all of them by default."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    given = sys.argv[1:]
    options = [place for place, word in enumerate(given) if word.startswith("-")]
    first = options[0] if options and options[0] > 0 else len(given)
    names = parser.parse_args(given[:first]).names or list(BENCHMARKS)
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"unknown benchmark {unknown[0]!r}; choose among {', '.join(BENCHMARKS)}")
    if given[first:] and (len(names) > 1 or names[0] not in WITH_ARGUMENTS):
        parser.error(f"arguments are for one of {', '.join(WITH_ARGUMENTS)}")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    print(
        f"kernlens {kernlens.__version__} | Python {platform.python_version()} | {cores} cores | "
        f"numpy {numpy.__version__}, scipy {scipy.__version__}, "
        f"scikit-learn {sklearn.__version__}, numba {numba.__version__}"
    )
    for name in names:
        print(f"\n== {name}: {BENCHMARKS[name]}", flush=True)
        run = importlib.import_module(f"benchmarks.{name}").run
        run(given[first:]) if name in WITH_ARGUMENTS else run()


if __name__ == "__main__":
    main()

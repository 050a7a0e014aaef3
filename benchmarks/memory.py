"""Memory that a fit adds to a process of its own, beside the formula of its docstring (Linux only).

``python -m benchmarks memory`` measures every estimator at 20,000 and 100,000 rows of 20 columns;
``python -m benchmarks.memory 20000 HKRRRegressor`` one of them at one size, with exit code 1 if a
peak is more than `MOST` times its formula. A small fit with the same settings comes first in every
process, so that compiled code, thread pools and the buffers of BLAS are there already; what counts
is the peak above what the process then has, with the data. Settings that are not the defaults are
printed: they make a fit shorter, and leave out the search for alpha.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass

from benchmarks.tables import print_row

#: A peak may be so many times its formula.
MOST = 1.5
SIZES = (20_000, 100_000)
#: Seconds for one fit.
LONGEST = 1500
WIDTHS = (30, 10, 12, 12, 8, 9)

_SCRIPT = """
import sys


def kilobytes(name):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(name))


n = int(sys.argv[1])
{prepare}
before = kilobytes("VmRSS")
with open("/proc/self/clear_refs", "w") as reset:
    reset.write("5")
{fit}
print(1024 * (kilobytes("VmHWM") - before))
"""

_PREPARE = """
import time
import warnings

import numpy as np
from sklearn.base import is_classifier

import kernlens
from kernlens.base import fitting
from kernlens.methods.kernel_laplacian import spectral
from kernlens.methods.sdr import estimator as finders

warnings.simplefilter("ignore")
formulas = []


def record(n_bytes, advice):
    formulas.append(n_bytes)


fitting.check_memory = spectral.check_memory = finders.check_memory = record
model = kernlens.{name}({settings})
if "random_state" in model.get_params():
    model.set_params(random_state=0)


def draw(n):
    X = np.random.default_rng(0).standard_normal((n, 20))
    y = np.abs(X[:, 0] + X[:, 1]) + 0.1 * X[:, 2]
    return X, (y > 1.0 if is_classifier(model) else y)


model.fit(*draw(300))
X, y = draw(n)
start = time.process_time()
"""

_FIT = """
model.fit(X, y)
print(time.process_time() - start, formulas[-1])
"""


def bytes_added(prepare: str, fit: str, n: int) -> float:
    """Peak that the code `fit` adds after `prepare`, in bytes; both may use the number n."""
    return float(_output(prepare, fit, n))


def _output(prepare: str, fit: str, n: int) -> str:
    command = [sys.executable, "-c", _SCRIPT.format(prepare=prepare, fit=fit), str(n)]
    return subprocess.run(
        command, check=True, capture_output=True, text=True, timeout=LONGEST
    ).stdout


@dataclass(frozen=True)
class Case:
    """An estimator, and settings that are not its defaults, as they are written in Python."""

    name: str
    settings: str = ""

    def measure(self, n: int) -> tuple[float, float, float]:
        """Seconds of CPU, bytes by the formula, and bytes at the peak."""
        numbers = _output(_PREPARE.format(name=self.name, settings=self.settings), _FIT, n)
        seconds, formula, peak = map(float, numbers.split())
        return seconds, formula, peak


_PARTICLES = "alpha=1e-3, max_iter=10"
_MAPS = "alpha=1e-3, init=2, max_iter=5"
_POLYNOMIALS = "alpha=0.1, rho=0.3, max_iter=5"

CASES = (
    Case("BKerNNRegressor", _PARTICLES),
    Case("BKerNNClassifier", _PARTICLES),
    Case("HKRRRegressor", _MAPS),
    Case("HKRRClassifier", _MAPS),
    Case("RegFeaLRegressor", _POLYNOMIALS),
    Case("RegFeaLClassifier", _POLYNOMIALS),
    Case("RKHSWeightingRegressor"),
    Case("RKHSWeightingClassifier"),
    Case("RandomKitchenSinksRegressor"),
    Case("RandomKitchenSinksClassifier"),
    Case("MARSRegressor", "degree=2"),
    Case("KernelLaplacianRegressor"),
    Case("KernelLaplacianClassifier"),
    Case("KernelLaplacianEmbedding"),
    Case("KernelLaplacianClustering"),
    Case("RFMRegressor"),
    Case("RFMClassifier"),
    Case("BrownianKernelRidge"),
    Case("SIR"),
    Case("SAVE"),
    Case("DirectionalRegression"),
    Case("PHD"),
    Case("OPG", "n_directions=2"),
    Case("MAVE", "n_directions=2"),
)


def run(names: list[str] | None = None, sizes: tuple[int, ...] = SIZES) -> bool:
    """Print the table of some estimators, all by default; return whether all peaks are in order."""
    print_row("estimator", "rows", "formula MB", "peak MB", "ratio", "CPU s", widths=WIDTHS)
    kept = True
    for case in CASES:
        if names and case.name not in names:
            continue
        for n in sizes:
            seconds, formula, peak = case.measure(n)
            kept &= peak <= MOST * formula
            print_row(
                case.name,
                f"{n:,}",
                f"{formula / 1e6:.0f}",
                f"{peak / 1e6:.0f}",
                f"{peak / formula:.2f}",
                f"{seconds:.0f}",
                widths=WIDTHS,
            )
        print(f"    {case.settings or 'defaults'}", flush=True)
    print("within" if kept else "MORE THAN", f"{MOST} times the formula")
    return kept


if __name__ == "__main__":
    chosen = [word for word in sys.argv[1:] if not word.isdecimal()]
    rows = tuple(int(word) for word in sys.argv[1:] if word.isdecimal())
    sys.exit(0 if run(chosen, rows or SIZES) else 1)

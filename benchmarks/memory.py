"""Memory that a fit adds to a process of its own (Linux only)."""

from __future__ import annotations

import subprocess
import sys

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


def bytes_added(prepare: str, fit: str, n: int) -> float:
    """Peak that the code `fit` adds after `prepare`, in bytes; both may use the number n."""
    command = [sys.executable, "-c", _SCRIPT.format(prepare=prepare, fit=fit), str(n)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

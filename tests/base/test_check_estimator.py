"""scikit-learn's own checks, on every public estimator: none left out, none expected to fail."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from families import ESTIMATORS, PUBLIC, UNSUPERVISED, family_of

#: Skips itself unless SciPy was imported with SCIPY_ARRAY_API=1, as the subprocess below does.
ARRAY_API = "check_array_api_input"


def cases(estimators):
    """One case per estimator and check."""
    found = []
    for estimator in estimators:
        settings = ",".join(
            f"{name}={value}"
            for name, value in estimator.get_params().items()
            if value != type(estimator)().get_params()[name]
        )
        seen: dict[str, int] = {}
        for copy, check in estimator_checks_generator(estimator):
            name = check.func.__name__
            seen[name] = seen.get(name, 0) + 1
            if name != ARRAY_API:
                label = f"{type(estimator).__name__}({settings})-{name}-{seen[name]}"
                found.append(pytest.param(copy, check, id=label))
    return found


def light_variants():
    for estimator in ESTIMATORS:
        for settings in family_of(estimator).checked_settings(estimator):
            yield estimator(**settings)


@pytest.mark.parametrize(("estimator", "check"), cases(estimator() for estimator in PUBLIC))
def test_default_parameters(estimator, check):
    check(estimator)


@pytest.mark.parametrize(("estimator", "check"), cases(light_variants()))
def test_other_parameters(estimator, check):
    check(estimator)


def light_settings(estimator):
    return {} if estimator in UNSUPERVISED else family_of(estimator).light


SCRIPT = """
import json, sys, warnings
from sklearn.utils.estimator_checks import check_estimator, estimator_checks_generator
import kernlens

warnings.simplefilter("ignore")
name, light = sys.argv[1], json.loads(sys.argv[2])
estimator = getattr(kernlens, name)
for copy, check in estimator_checks_generator(estimator()):
    if check.func.__name__ == "check_array_api_input":
        check(copy)
results = check_estimator(estimator(**light), on_fail=None, on_skip=None)
print(json.dumps([[r["check_name"], r["status"], str(r["exception"])] for r in results]))
"""


@pytest.mark.parametrize("estimator", PUBLIC)
def test_every_check_passes_and_none_is_skipped(estimator):
    finished = subprocess.run(
        [sys.executable, "-c", SCRIPT, estimator.__name__, json.dumps(light_settings(estimator))],
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr[-3000:]
    results = json.loads(finished.stdout)
    assert [result for result in results if result[1] != "passed"] == []
    names = [name for name, *_ in results]
    assert ARRAY_API in names
    assert len(names) > 40

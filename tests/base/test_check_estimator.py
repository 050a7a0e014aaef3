"""scikit-learn's own checks, on every public estimator: none skipped, none expected to fail.

Every check runs on settings that make a fit quick, and on the defaults of the families that are
quick. The other defaults, and variants, get the checks whose outcome can depend on how a fit goes;
all others (tags, pickling, names, shapes, wrong input) see the same code whatever the settings.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from unittest import SkipTest

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from families import ESTIMATORS, FINDERS, PUBLIC, UNSUPERVISED, family_of

#: Skips itself unless SciPy was imported with SCIPY_ARRAY_API=1, as the subprocess below does.
ARRAY_API = "check_array_api_input"
#: Checks of what is learned, whose outcome depends on the settings.
OF_THE_FIT = {
    "check_estimators_dtypes",
    "check_fit2d_1feature",
    "check_fit2d_1sample",
    "check_fit_idempotent",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_regressors_int",
    "check_sample_weight_equivalence_on_dense_data",
}
#: Those that a search of settings could spoil.
OF_A_SEARCH = {
    "check_fit_idempotent",
    "check_methods_sample_order_invariance",
    "check_sample_weight_equivalence_on_dense_data",
}
#: Families whose default fits take a tenth of a second or more, a hundred times an estimator.
SLOW = ("BKerNN", "HKRR", "RegFeaL", "OPG", "MAVE")


def cases(estimators, only=None):
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
            if name != ARRAY_API and (only is None or name in only):
                label = f"{type(estimator).__name__}({settings})-{name}-{seen[name]}"
                found.append(pytest.param(copy, check, id=label))
    return found


def light(estimator):
    return estimator() if estimator in UNSUPERVISED else estimator(**family_of(estimator).light)


def variants():
    for estimator in (*ESTIMATORS, *FINDERS):
        for settings in family_of(estimator).checked_settings(estimator):
            yield estimator(**settings)


def is_slow(estimator):
    return estimator.__name__.startswith(SLOW)


def run(estimator, check):
    try:
        check(estimator)
    except SkipTest as skipped:
        pytest.fail(f"The check skipped itself: {skipped}")


@pytest.mark.parametrize(("estimator", "check"), cases(map(light, PUBLIC)))
def test_every_check(estimator, check):
    run(estimator, check)


@pytest.mark.parametrize(
    ("estimator", "check"), cases(estimator() for estimator in PUBLIC if not is_slow(estimator))
)
def test_quick_defaults(estimator, check):
    run(estimator, check)


@pytest.mark.parametrize(
    ("estimator", "check"),
    cases((estimator() for estimator in PUBLIC if is_slow(estimator)), OF_A_SEARCH),
)
def test_slow_defaults(estimator, check):
    run(estimator, check)


@pytest.mark.parametrize(("estimator", "check"), cases(variants(), OF_THE_FIT))
def test_variants(estimator, check):
    run(estimator, check)


def test_the_checks_of_the_fit_are_checks():
    names = {check.func.__name__ for e in PUBLIC for _, check in estimator_checks_generator(e())}
    assert names >= OF_THE_FIT | OF_A_SEARCH
    assert len(names) > 60


SCRIPT = """
import json, sys, warnings
from sklearn.utils.estimator_checks import estimator_checks_generator
import kernlens

warnings.simplefilter("ignore")
seen = []
for name, settings in json.loads(sys.argv[1]).items():
    for estimator, check in estimator_checks_generator(getattr(kernlens, name)(**settings)):
        if check.func.__name__ == "check_array_api_input":
            check(estimator)
            seen.append(name)
print(json.dumps(seen))
"""


def test_arrays_of_other_libraries_in_the_mode_of_the_array_api():
    settings = {e.__name__: {} if e in UNSUPERVISED else family_of(e).light for e in PUBLIC}
    finished = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(settings)],
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr[-3000:]
    assert json.loads(finished.stdout) == list(settings)

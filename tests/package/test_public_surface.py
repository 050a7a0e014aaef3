"""What users may import, where it says it comes from, and what importing costs."""

from __future__ import annotations

import importlib
import inspect
import io
import json
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest
import skops.io
from sklearn.base import is_classifier

import kernlens
from families import ESTIMATORS, PUBLIC, family_of, light

MODULES = [
    "kernlens",
    *(
        f"kernlens.{name}"
        for name in (
            *("datasets", "features", "inspection", "kernels", "losses", "metrics"),
            *("model_selection", "penalties", "plotting", "reporting"),
        )
    ),
]


PUBLIC_CLASSES = [
    pytest.param(module, name, id=f"{module.__name__}.{name}")
    for module in map(importlib.import_module, MODULES)
    for name in module.__all__
    if inspect.isclass(getattr(module, name))
]


@pytest.mark.parametrize(("module", "name"), PUBLIC_CLASSES)
def test_a_public_class_belongs_to_the_module_it_is_imported_from(module, name):
    public = getattr(module, name)
    # A class may be public in two places: then it belongs to the first of them.
    home = next(m for m in MODULES if getattr(importlib.import_module(m), name, None) is public)
    assert public.__module__ == home
    assert pickle.loads(pickle.dumps(public)) is public


@pytest.mark.parametrize("module", MODULES)
def test_all_that_is_promised_is_there(module):
    public = importlib.import_module(module)
    assert len(set(public.__all__)) == len(public.__all__)
    for name in public.__all__:
        assert hasattr(public, name)


def test_every_estimator_belongs_to_the_package():
    assert {estimator.__module__ for estimator in PUBLIC} == {"kernlens"}


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("objects", [False, True])
def test_a_saved_model_names_public_types_only(estimator, objects):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 4))
    y = X[:, 0] > 0 if is_classifier(estimator()) else X[:, 0] + X[:, 1]
    options = family_of(estimator).objects if objects else {}
    file = io.BytesIO()
    skops.io.dump(light(estimator, **options).fit(X, y), file)
    for name in skops.io.get_untrusted_types(data=file.getvalue()):
        module, _, attribute = name.rpartition(".")
        assert module in MODULES, name
        assert attribute in importlib.import_module(module).__all__, name


SCRIPT = """
import json, sys
import sklearn.base, sklearn.utils.validation  # which loads pandas itself where it is installed
before = set(sys.modules)
import kernlens
print(json.dumps([name for name in sys.argv[1:] if name in set(sys.modules) - before]))
"""


def test_importing_the_package_loads_nothing_that_a_fit_does_not_need():
    unwanted = ["jinja2", "contourpy", "matplotlib", "pandas", "polars", "skops", "torch", "dask"]
    finished = subprocess.run(
        [sys.executable, "-c", SCRIPT, *unwanted], capture_output=True, text=True, check=True
    )
    assert json.loads(finished.stdout) == []


def test_no_text_for_users_sends_them_inside():
    for estimator in PUBLIC:
        pages = [
            estimator.__doc__,
            *(getattr(method, "__doc__", None) for method in vars(estimator).values()),
        ]
        for page in filter(None, pages):
            # Classes are named by the module that exports them, not by the file they are in.
            for module in re.findall(r"(kernlens(?:\.[a-z_]+)*)\.[A-Z]\w+", page):
                assert module in MODULES, f"{estimator.__name__} mentions {module}"
    assert "methods" not in kernlens.__all__

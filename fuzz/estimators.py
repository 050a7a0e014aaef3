"""The estimators under test, by name."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from sklearn.base import BaseEstimator, is_classifier, is_regressor

import kernlens
from kernlens._parameters import Parameters
from kernlens.methods.sdr.estimator import SubspaceFinder

FAMILIES = (
    "BKerNN",
    "HKRR",
    "RegFeaL",
    "RFM",
    "RKHSWeighting",
    "RandomKitchenSinks",
    "KernelLaplacian",
    "MARS",
    "AutoLens",
)
#: Families with one target, whose predictions have no second axis.
FLAT = ("AutoLens",)


def public_names() -> list[str]:
    """Names of all public estimators that learn features."""
    public = ((name, getattr(kernlens, name)) for name in kernlens.__all__)
    return [
        name
        for name, one in public
        if isinstance(one, type)
        and issubclass(one, BaseEstimator)
        and one is not kernlens.TablePreprocessor
    ]


def estimator_of(name: str) -> Any:
    """The class of a name: one of kernlens, or ``module:Class`` of any other module."""
    module, _, cls = name.rpartition(":")
    return getattr(importlib.import_module(module) if module else kernlens, cls)


def own_files(name: str) -> set[str]:
    """Files that count as ours: toy estimators of tests are, too."""
    return {getattr(sys.modules[estimator_of(name).__module__], "__file__", "")}


def family_of(name: str) -> str:
    """The family that a name belongs to, or the name itself."""
    return next((family for family in FAMILIES if name.startswith(family)), name)


def parameters_of(name: str) -> Parameters:
    """The constructor arguments of an estimator, as data."""
    parameters: Parameters = getattr(estimator_of(name), "_parameters", {})
    return parameters


def task_of(name: str) -> str:
    """What an estimator learns: "classes", "numbers", "directions", "clusters" or "coordinates"."""
    model = estimator_of(name)()
    if is_classifier(model):
        return "classes"
    if is_regressor(model):
        return "numbers"
    if isinstance(model, SubspaceFinder):
        return "directions"
    return "clusters" if hasattr(model, "fit_predict") else "coordinates"

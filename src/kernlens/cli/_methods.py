"""The methods that `fit` knows, by name."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from kernlens._parameters import Parameters, argument_names
from kernlens.cli._errors import CommandError, near
from kernlens.methods.bkernn import BKerNNClassifier, BKerNNRegressor
from kernlens.methods.brownian_ridge import BrownianKernelRidge
from kernlens.methods.hkrr import HKRRClassifier, HKRRRegressor
from kernlens.methods.kernel_laplacian import (
    KernelLaplacianClassifier,
    KernelLaplacianRegressor,
)
from kernlens.methods.mars import MARSRegressor
from kernlens.methods.regfeal import RegFeaLClassifier, RegFeaLRegressor
from kernlens.methods.rfm import RFMClassifier, RFMRegressor
from kernlens.methods.rkhs_weightings import (
    RandomKitchenSinksClassifier,
    RandomKitchenSinksRegressor,
    RKHSWeightingClassifier,
    RKHSWeightingRegressor,
)
from kernlens.model_selection.auto import AutoLensClassifier, AutoLensRegressor

AUTO = "auto"
#: Settings that --set has not, and what to do instead.
OWN_OPTIONS = {
    "time_budget": "use --time-budget",
    "random_state": "use --seed",
    "n_jobs": "use --n-jobs",
    "verbose": "use --quiet",
    "callback": "it is a function",
    "cv": "the folds inside a fit follow from the rows, --groups and --time",
    "warm_start": "there is no fit before",
    "include_trees": "models with trees inside cannot be saved",
}


@dataclass(frozen=True)
class Method:
    """What a name of a method stands for.

    Attributes
    ----------
    name : str
    regressor, classifier : type or None
    text : str
        One line.
    """

    name: str
    regressor: type | None
    classifier: type | None
    text: str

    def estimator(self, task: str) -> type:
        """The class for "regression" or "classification"."""
        found = self.regressor if task == "regression" else self.classifier
        if found is None:
            able = [one.name for one in METHODS if one.classifier is not None]
            raise CommandError(
                f"--method {self.name} predicts numbers only, and the target has classes; choose "
                f"one of {', '.join(able)}."
            )
        return found


METHODS = (
    Method(
        AUTO,
        AutoLensRegressor,
        AutoLensClassifier,
        "tries the families below within the time budget and averages the best",
    ),
    Method(
        "rfm",
        RFMRegressor,
        RFMClassifier,
        "recursive feature machines: one map of the columns, learned from gradients",
    ),
    Method(
        "bkernn",
        BKerNNRegressor,
        BKerNNClassifier,
        "Brownian kernels on learned projections: few noisy rows, few directions",
    ),
    Method("hkrr", HKRRRegressor, HKRRClassifier, "one kernel and its map: thousands of rows"),
    Method(
        "regfeal",
        RegFeaLRegressor,
        RegFeaLClassifier,
        "Hermite polynomials with penalised derivatives: few columns that matter",
    ),
    Method(
        "rkhs-weighting",
        RKHSWeightingRegressor,
        RKHSWeightingClassifier,
        "random features weighted by a function: little time",
    ),
    Method(
        "kitchen-sinks",
        RandomKitchenSinksRegressor,
        RandomKitchenSinksClassifier,
        "random features and ridge regression, to compare with",
    ),
    Method(
        "kernel-laplacian",
        KernelLaplacianRegressor,
        KernelLaplacianClassifier,
        "functions of small gradient along the shape of the rows",
    ),
    Method(
        "brownian-ridge",
        BrownianKernelRidge,
        None,
        "kernel ridge regression that learns no features, to compare with",
    ),
    Method("mars", MARSRegressor, None, "sums of hinges of columns, which print as a formula"),
)
_BY_NAME = {method.name: method for method in METHODS}


def method_named(name: str) -> Method:
    """The method of a name, however it is written."""
    plain = name.lower().replace("_", "-")
    if plain not in _BY_NAME:
        raise CommandError(f"there is no method {name!r}{near(plain, list(_BY_NAME))}.")
    return _BY_NAME[plain]


def settings_of(estimator: type, given: list[str]) -> dict[str, Any]:
    """Values of NAME=VALUE, checked as the constructor checks them.

    Parameters
    ----------
    estimator : type
        With its arguments as data.
    given : list of str
    """
    parameters: Parameters = estimator._parameters  # type: ignore[attr-defined]
    allowed = [name for name in argument_names(estimator) if name not in OWN_OPTIONS]
    settings: dict[str, Any] = {}
    for one in given:
        name, equals, text = one.partition("=")
        name = name.strip()
        if not equals:
            raise CommandError(f"--set needs NAME=VALUE, got {one!r}.")
        if name in OWN_OPTIONS and name in argument_names(estimator):
            raise CommandError(f"--set cannot set {name!r}: {OWN_OPTIONS[name]}.")
        if name not in allowed:
            raise CommandError(
                f"{estimator.__name__} has no setting {name!r}{near(name, allowed)}."
            )
        value = value_of(text)
        try:
            parameters[name].kind.check(name, value)
        except ValueError as error:
            raise CommandError(f"--set {one}: {error}") from error
        settings[name] = value
    return settings


def value_of(text: str) -> Any:
    """A number, truth value, None, list or word.

    Examples
    --------
    >>> [value_of(text) for text in ("0.1", "3", "true", "none", "1e-3,0.1", "laplace")]
    [0.1, 3, True, None, [0.001, 0.1], 'laplace']
    """
    text = text.strip()
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return [value_of(part) for part in text.split(",")] if "," in text else text
    return list(value) if isinstance(value, tuple) else value

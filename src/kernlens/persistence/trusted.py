"""Which types a model may be made of.

These are kernlens' own, the estimators of scikit-learn that skops trusts by itself, and plain data.
Functions, methods, partial functions and the callables of `operator` are none of them, whatever
skops thinks of them: a model needs none, and they have been ways to run code from a file
(CVE-2025-54412, CVE-2025-54413, CVE-2025-54886).
"""

from __future__ import annotations

from functools import cache
from types import ModuleType

import numpy as np

from kernlens import features, kernels, losses, penalties
from kernlens.methods import (
    bkernn,
    brownian_ridge,
    hkrr,
    kernel_laplacian,
    mars,
    regfeal,
    rfm,
    rkhs_weightings,
    sdr,
)
from kernlens.model_selection.auto import AutoLensClassifier, AutoLensRegressor
from kernlens.model_selection.auto.logarithm import LogarithmTransformer
from kernlens.optim.backtracking import StepRule
from kernlens.tables import TablePreprocessor

#: Modules whose public classes may be part of a model.
_HOMES: tuple[ModuleType, ...] = (
    *(bkernn, brownian_ridge, hkrr, kernel_laplacian, mars),
    *(regfeal, rfm, rkhs_weightings, sdr),
    *(features, kernels, losses, penalties),
)
#: Further classes that may be part of a model.
_MORE = (AutoLensClassifier, AutoLensRegressor, LogarithmTransformer, StepRule, TablePreprocessor)

#: What a key of a dictionary may be made by.
KEYS = frozenset({"builtins.str", "builtins.int", "builtins.float", "builtins.bool"})

#: Scalars of NumPy: numbers, truth values and text. Not `void`, which makes as many bytes as it is
#: told to, nor `object_`.
SCALARS = frozenset(
    f"numpy.{kind.__name__}" for kind in np.sctypeDict.values() if np.dtype(kind).kind in "biufU"
)

#: Types by the loader of skops that makes them; :func:`may_be_object` has those of "ObjectNode".
DATA = {
    "DictNode": frozenset({"builtins.dict", "collections.OrderedDict"}),
    "ListNode": frozenset({"builtins.list"}),
    "TupleNode": frozenset({"builtins.tuple"}),
    "SetNode": frozenset({"builtins.set"}),
    "SliceNode": frozenset({"builtins.slice"}),
    "JsonNode": frozenset({"builtins.str"}),
    "NdArrayNode": frozenset({"numpy.ndarray"}) | SCALARS,
    "TypeNode": KEYS | SCALARS,
}


@cache
def own_types() -> tuple[str, ...]:
    """The names of kernlens' classes that may be part of a model, as files have them."""
    classes: set[type] = set(_MORE)
    for home in _HOMES:
        named = (getattr(home, name) for name in home.__all__)
        classes.update(thing for thing in named if isinstance(thing, type))
    return tuple(sorted(f"{known.__module__}.{known.__name__}" for known in classes))


@cache
def estimators_of_sklearn() -> frozenset[str]:
    """The names of scikit-learn's estimators, which skops trusts as well."""
    from sklearn.utils import all_estimators

    names = (f"{known.__module__}.{known.__name__}" for _, known in all_estimators())
    return frozenset(name for name in names if name.startswith("sklearn."))


def may_be_object(name: str) -> bool:
    """Whether an object of this type may be part of a model."""
    return name in own_types() or (name.startswith("sklearn.") and name in estimators_of_sklearn())

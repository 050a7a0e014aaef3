"""Values and cases as Python that makes them again."""

from __future__ import annotations

import importlib
import re
from dataclasses import fields, is_dataclass
from fractions import Fraction
from inspect import isroutine
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from fuzz.arrays import Array
from fuzz.cases import Case, draw_case
from fuzz.forms import FORMS
from fuzz.objects import CALLBACKS, COSINES
from fuzz.outcomes import Finding

#: Entries up to which an array is written out.
SMALL = 60
#: Where the names in a case are imported from.
HOMES = (
    "kernlens",
    "kernlens.kernels",
    "kernlens.penalties",
    "kernlens.losses",
    "sklearn.ensemble",
    "sklearn.kernel_ridge",
    "sklearn.linear_model",
    "sklearn.model_selection",
    "sklearn.neighbors",
    "fuzz.objects",
    "fractions",
)
LOCKED = "locked = lambda values: (values.setflags(write=False), values)[1]"


def spell(value: Any) -> str:
    """Python that gives an equal value; names of kernlens are taken as imported."""
    if value is COSINES or repr(value) == repr(COSINES):
        return "COSINES"
    if isinstance(value, np.ndarray):
        return _spell_array(value)
    if isinstance(value, list | tuple):
        inner = ", ".join(map(spell, value))
        if isinstance(value, list):
            return f"[{inner}]"
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, type) or isroutine(value):
        return str(value.__name__)
    if is_dataclass(value):
        inner = ", ".join(f"{one.name}={spell(getattr(value, one.name))}" for one in fields(value))
        return f"{type(value).__name__}({inner})"
    if isinstance(value, np.generic) and not isinstance(value, float | str):
        return f"np.{type(value).__name__}({value.item()!r})"
    if isinstance(value, str | bytes | bool | int | complex | Fraction | range | dict | None):
        return str(repr(str(value))) if isinstance(value, np.str_) else repr(value)
    if isinstance(value, float):
        return _spell_float(float(value))
    if isinstance(value, BaseEstimator):
        return re.sub(r"\s+", " ", repr(value))
    return f"{type(value).__name__}()"


def _spell_float(value: float) -> str:
    if np.isfinite(value):
        return repr(value)
    return "np.nan" if np.isnan(value) else "np.inf" if value > 0 else "-np.inf"


def _spell_array(values: Array) -> str:
    text = spell(values.tolist())
    if values.size == 0:
        return f"np.empty({values.shape})"
    return f"np.array({text}, dtype=object)" if values.dtype == object else f"np.array({text})"


def imports_of(text: str, estimator: str) -> list[str]:
    """The imports that a piece of Python needs."""
    module, _, cls = estimator.rpartition(":")
    found = set(re.findall(r"\b[A-Z]\w+", re.sub(r"'[^']*'", "", text))) - {cls}
    found |= {function.__name__ for function in CALLBACKS if function.__name__ in text}
    lines = [f"from {module or 'kernlens'} import {cls}"]
    for name in sorted(found):
        home = _home_of(name)
        if home:
            lines.append(f"from {home} import {name}")
    if "pd." in text:
        lines.append("import pandas as pd")
    return ["import numpy as np", *sorted(lines)]


def _home_of(name: str) -> str:
    """The module that a user imports a name from; empty if it is none of those in a case."""
    for home in HOMES:
        if hasattr(importlib.import_module(home), name):
            return home
    return ""


def lines_of(case: Case, finding: Finding) -> str:
    """A few lines of Python that show a finding; `found` is what was looked at last."""
    drawn = draw_case(case.estimator, case.number, case.seed) if _is_large(case) else None
    body = [] if drawn is None else [_draw_line(case)]
    given = {"X": (case.X, case.form), "y": (case.y, case.target_form)}
    if case.weights is not None:
        given["weights"] = (case.weights, case.target_form)
    if "rows" in finding.where:
        given["rows"] = (case.rows, "frame" if case.form == "frame" else "array")
    for name, (values, form) in given.items():
        body.extend(_array_lines(name, values, form, drawn))
    options = ", ".join(f"{name}={spell(value)}" for name, value in case.parameters.items())
    body.append(f"model = {case.estimator.rpartition(':')[2]}({options})")
    body.extend(_calls(case, finding))
    text = "\n".join(body)
    first = imports_of(text, case.estimator)
    if drawn is not None:
        first.append("from fuzz.cases import draw_case")
    return "\n".join([*first, *([LOCKED] if "locked(" in text else []), text])


def _calls(case: Case, finding: Finding) -> list[str]:
    where, _, note = finding.where.partition("  #")
    weights = "" if case.weights is None else ", sample_weight=weights"
    y = "" if case.y is None else ", y"
    fit = f"model.fit(X{y}{weights})"
    if not where.startswith("model.") or where.startswith("model.fit(X"):
        return [f"found = {fit}  # {finding.kind}"]
    if case.y is None:
        where = where.replace(", y)", ")")
    return [fit, f"found = {where}  # {finding.kind}{note}"]


def _is_large(case: Case) -> bool:
    return any(values is not None and values.size > SMALL for values in (case.X, case.y))


def _draw_line(case: Case) -> str:
    return f"case = draw_case({case.estimator!r}, {case.number}, seed={case.seed})"


def _array_lines(name: str, values: Any, form: str, drawn: Case | None) -> list[str]:
    if values is None:
        return []
    text = FORMS[form].text
    if drawn is None or values.size <= SMALL:
        source = spell(values)
    else:
        source = _part_of(name, values, drawn)
    if text == "{}":
        return [f"{name} = {source}"]
    return [f"{name} = {source}", f"{name} = {text.format(name)}"]


def _part_of(name: str, values: Array, drawn: Case) -> str:
    """The array as a part of the drawn one, if it is one; else written out all the same."""
    whole = getattr(drawn, name)
    if whole is None or whole.ndim != values.ndim or values.dtype != whole.dtype:
        return spell(values)
    if values.shape == whole.shape and _same(values, whole):
        return f"case.{name}"
    rows = _positions(values, whole)
    if rows is not None:
        return f"case.{name}[{rows}]"
    if values.ndim == 2:
        columns = _positions(values[: len(whole)].T, whole[: len(values)].T)
        if columns is not None:
            return f"case.{name}[: {len(values)}][:, {columns}]"
    return spell(values)


def _positions(values: Array, whole: Array) -> list[int] | None:
    """Where the rows of an array are in another, if all of them are."""
    if values.shape[1:] != whole.shape[1:]:
        return None
    found = [next((i for i, row in enumerate(whole) if _same(row, one)), -1) for one in values]
    return None if -1 in found else found


def _same(one: Any, other: Any) -> bool:
    return bool(np.asarray(one).tobytes() == np.asarray(other).tobytes())

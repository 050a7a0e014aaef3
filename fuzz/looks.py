"""What is looked at in a fitted model, and what is asked of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from fuzz.arrays import Array

#: Judges what was found: nothing, or the kind of a finding and what is wrong.
Verdict = tuple[str, str] | None


@dataclass(frozen=True)
class Look:
    """One thing that a fitted model offers.

    Attributes
    ----------
    text : str
        Python with the names model, X, y, weights and rows.
    judge : callable
        Given what was found, returns a verdict.
    """

    text: str
    judge: Callable[[Any], Verdict]


def shaped(shape: tuple[int | None, ...], further: Callable[[Array], str] | None = None) -> Any:
    """A judge of numbers: of some shape, finite, and without a further complaint."""

    def judge(found: Any) -> Verdict:
        values = np.asarray(found)
        known = tuple(n if m is None else m for m, n in zip(shape, values.shape, strict=False))
        if values.shape != known or len(shape) != values.ndim:
            return "wrong shape", f"{values.shape} instead of {shape}"
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            bad = values[~np.isfinite(values)]
            return "not finite", f"{bad.size} of {values.size} entries, such as {bad.flat[0]}"
        complaint = further(values) if further is not None else ""
        return ("wrong value", complaint) if complaint else None

    return judge


def shares(values: Array) -> str:
    """Complaint about shares that are negative or have another sum than 1."""
    if values.size and (values.min() < 0.0 or abs(values.sum() - 1.0) > 1e-6):
        return f"shares from {values.min()} with sum {values.sum()}"
    return ""


def probabilities(values: Array) -> str:
    """Complaint about rows that are not probabilities."""
    off = np.abs(values.sum(axis=1) - 1.0).max(initial=0.0)
    if values.min(initial=0.0) < 0.0 or off > 1e-6:
        return f"probabilities from {values.min()}, sums off by {off}"
    return ""


def logarithms(values: Array) -> str:
    """Complaint about rows that are not logarithms of probabilities."""
    return probabilities(np.exp(values)) or ("above 0" if values.max(initial=0.0) > 0.0 else "")


def orthonormal(values: Array) -> str:
    """Complaint about rows that are not orthonormal."""
    off = np.abs(values @ values.T - np.eye(len(values))).max(initial=0.0)
    return f"rows are off orthonormal by {off:.1e}" if off > 1e-6 else ""


def within(allowed: Array) -> Callable[[Array], str]:
    """Complaint about labels that are not among some."""

    def complain(values: Array) -> str:
        strange = set(values.tolist()) - set(np.asarray(allowed).tolist())
        return f"{sorted(map(str, strange))} are not among the labels" if strange else ""

    return complain


def falling(found: Any) -> Verdict:
    """Judge a history, which must not rise by more than rounding."""
    verdict = shaped((None,))(found)
    values = np.asarray(found, dtype=float)
    if verdict is not None or values.size < 2:
        return verdict
    rise = float(np.max(np.diff(values)))
    if rise > 1e-9 * float(np.max(np.abs(values))):
        return "history rises", f"by {rise:.3g} of {np.max(np.abs(values)):.3g}"
    return None


def numbers(found: Any) -> Verdict:
    """Judge numbers of which some may be infinite, but none NaN."""
    values = np.asarray(list(found.values()) if isinstance(found, dict) else found)
    return ("not finite", f"{found}") if np.isnan(values).any() else None


def looks_at(model: Any, task: str, sizes: dict[str, int], monotone: bool) -> Iterator[Look]:
    """What to look at.

    Parameters
    ----------
    model : fitted estimator
    task : str
        What it learns.
    sizes : dict
        Numbers of rows of "X" and of "rows", and "targets", 0 for a y without a second axis.
    monotone : bool
        Whether its history must not rise.
    """
    yield from _attributes(model, monotone)
    for name in ("X", "rows"):
        yield from _calls(model, task, name, sizes[name], sizes["targets"])
    if getattr(model, "instantiation_", "custom") != "custom":
        yield from _weight_function(model)


def _attributes(model: Any, monotone: bool) -> Iterator[Look]:
    d = model.n_features_in_
    # Directions of the automatic mode are those of the table that it has prepared.
    columns = len(getattr(model, "output_importances_", range(d)))
    kept = getattr(model, "n_directions_", None)
    judges: dict[str, Any] = {
        "components_": shaped((kept, columns)),
        "loadings_": shaped((kept, columns), orthonormal),
        "component_importances_": shaped((kept,), shares),
        "feature_importances_": shaped((d,), shares),
        "objective_": shaped(()),
        "objective_history_": falling if monotone else shaped((None,)),
        "alpha_": shaped(()),
        "eigenvalues_": shaped((None,)),
        "cluster_centers_": shaped((None, None)),
        "inertia_": shaped(()),
    }
    for name, judge in judges.items():
        if hasattr(model, name):
            yield Look(f"model.{name}", judge)


def _weight_function(model: Any) -> Iterator[Look]:
    """What an RKHS weighting says of its weight function; bounds may be infinite."""
    if not hasattr(model, "weight_function"):
        return
    yield Look("model.operator_constants()", numbers)
    for kind in ("rkhs", "l2", *(("sfgd",) if model.solver_ == "sfgd" else ())):
        for form in ("corrected", "printed", *(("clipped",) if kind != "sfgd" else ())):
            yield Look(f"model.generalization_bound(kind={kind!r}, form={form!r})", numbers)
    yield Look("model.weight_space().directions", shaped((None, None), orthonormal))
    W = "model.weights_" if hasattr(model, "weights_") else None
    if W is not None:
        k = len(model.intercept_)
        shape = (len(model.weights_), k) if k > 1 else (len(model.weights_),)
        yield Look(f"model.weight_function({W}, normalized=True)", shaped(shape))
        yield Look(f"model.weight_function({W})", numbers)


def _calls(model: Any, task: str, name: str, n: int, n_targets: int) -> Iterator[Look]:
    outputs: tuple[int, ...] = (n_targets,) if n_targets else ()
    if task == "classes":
        k = len(model.classes_)
        outputs = (k,) if k > 2 else ()
        yield Look(f"model.predict({name})", shaped((n,), within(model.classes_)))
        yield Look(f"model.predict_proba({name})", shaped((n, k), probabilities))
        yield Look(f"model.predict_log_proba({name})", shaped((n, k), logarithms))
        yield Look(f"model.decision_function({name})", shaped((n, *outputs)))
    elif task == "numbers":
        yield Look(f"model.predict({name})", shaped((n, *outputs)))
    elif task == "clusters":
        labels = within(np.arange(len(model.cluster_centers_)))
        yield Look(f"model.predict({name})", shaped((n,), labels))
        if name == "X":
            yield Look("model.labels_", shaped((n,), labels))
    d = model.n_features_in_
    if hasattr(model, "transform"):
        width = getattr(model, "n_directions_", getattr(model, "n_components", None))
        yield Look(f"model.transform({name})", shaped((n, width)))
    if hasattr(model, "gradient"):
        yield Look(f"model.gradient({name})", shaped((n, *outputs, d)))
    if hasattr(model, "sensitivity"):
        yield Look(f"model.sensitivity({name})", shaped((*outputs, d)))

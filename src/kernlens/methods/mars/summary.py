"""A fitted spline as text and as a table, in the units of the user."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernlens._array import BoolArray, FloatArray
from kernlens._table import Table
from kernlens.base.tabular import Tabular

#: Digits of coefficients, and of a knot beyond the size of its column's deviation.
DIGITS = 4
#: More of them say nothing of a double.
ALL_DIGITS = 17
#: Coefficients of a smaller share of the largest one are rounding.
ROUNDING = 1e-13
#: Columns that the text names at most.
MOST_NAMES = 12


@dataclass(frozen=True, repr=False)
class SplineSummary(Tabular):
    """The terms of a spline.

    Attributes
    ----------
    terms : tuple of str
        Such as ``h(x1 - 0.32) * h(0.5 - x2)``; h(u) is max(u, 0). The first is ``1``.
    coef : ndarray of shape (n_targets, n_terms)
        In the units of X and y.
    gcv, rsq, grsq : float
        Generalised cross-validation error for targets of standard deviation 1, R2 of the training
        rows, and the R2 that the former stands for.
    n_tried : int
        Terms before the pruning.
    columns : tuple of str
        Columns of the terms, most important first.
    digits : int
        Of the text.
    """

    terms: tuple[str, ...]
    coef: FloatArray
    gcv: float
    rsq: float
    grsq: float
    n_tried: int
    columns: tuple[str, ...]
    digits: int = DIGITS

    def formula(self, target: int = 0) -> str:
        """The function of one target on one line."""
        return " ".join(self._parts(target))

    def _parts(self, target: int) -> list[str]:
        parts: list[str] = []
        for name, value in zip(self.terms, self.coef[target], strict=True):
            if value == 0.0 and name != "1":
                continue
            size = f"{abs(value):.{self.digits}g}"
            text = size if name == "1" else f"{size} * {name}"
            if not parts:
                parts.append(f"-{text}" if value < 0 else text)
            else:
                parts.append(f"{'-' if value < 0 else '+'} {text}")
        return parts

    def _table(self) -> Table:
        names = ["term", *_coefficient_names(len(self.coef))]
        return Table(names, [list(self.terms), *self.coef])

    def __str__(self) -> str:
        several = len(self.coef) > 1
        lines = []
        for target in range(len(self.coef)):
            first, *others = self._parts(target)
            lines.append((f"y{target} = " if several else "y = ") + first)
            lines.extend(f"    {part}" for part in others)
        named = ", ".join(self.columns[:MOST_NAMES]) or "none"
        more = ", ..." if len(self.columns) > MOST_NAMES else ""
        noun = "term" if len(self.terms) == 1 else "terms"
        return "\n".join(
            [
                *lines,
                f"{len(self.terms)} {noun} of {self.n_tried}; R2 {self.rsq:.3f}, "
                f"by generalised cross-validation {self.grsq:.3f}",
                f"columns, most important first: {named}{more}",
            ]
        )


def _coefficient_names(n_targets: int) -> list[str]:
    return ["coef"] if n_targets == 1 else [f"coef{target}" for target in range(n_targets)]


def summarize(model: Any, names: Sequence[str], digits: int = DIGITS) -> SplineSummary:
    """The terms of a fitted model, whose columns have `names`."""
    mean, scale = model.mean_, model.scale_
    coef = np.where(_is_rounding(model.coef_), 0.0, model.coef_) * model._target_scale[:, None]
    coef[:, 0] += model._target_mean
    with np.errstate(over="ignore"):
        coef = coef / units_of_terms(model)
    if not np.isfinite(coef).all():
        raise ValueError("The coefficients overflow in the units of X; rescale its columns.")
    texts: list[str] = []
    seen: set[int] = set()
    for term, columns in enumerate(columns_of_terms(model)):
        factors = []
        for place, column in enumerate(columns):
            knot = float(mean[column] + scale[column] * model.knots_[term, place])
            sign = int(model.signs_[term, place])
            factors.append(factor_text(names[column], knot, float(scale[column]), sign, digits))
        seen.update(columns)
        texts.append(" * ".join(factors) or "1")
    ranked = sorted(seen, key=lambda column: (-model.gcv_importances_[column], column))
    return SplineSummary(
        tuple(texts),
        coef,
        model.gcv_,
        model.rsq_,
        model.grsq_,
        len(model.gcv_path_),
        tuple(names[column] for column in ranked),
        digits,
    )


def _is_rounding(coef: FloatArray) -> BoolArray:
    """Coefficients of a target that has no such term: several targets share their terms."""
    sizes = np.abs(coef)
    small: BoolArray = sizes < ROUNDING * sizes.max(axis=1, keepdims=True)
    return small


def columns_of_terms(model: Any) -> list[list[int]]:
    """Columns of X that the factors of every term have."""
    return [[int(model.inputs_[one]) for one in row if one >= 0] for row in model.term_inputs_]


def units_of_terms(model: Any) -> FloatArray:
    """What terms of standardised columns are multiplied by in the units of X, (n_terms,)."""
    with np.errstate(over="ignore", under="ignore"):
        return np.array([np.prod(model.scale_[columns]) for columns in columns_of_terms(model)])


def factor_text(name: str, knot: float, unit: float, sign: int, digits: int = DIGITS) -> str:
    """One factor, with the digits of the knot that a column of this deviation shows.

    Examples
    --------
    >>> factor_text("x1", 0.5, 1.0, 1), factor_text("x1", -2012.25, 2.0, -1)
    ('h(x1 - 0.5)', 'h(-2012.25 - x1)')
    >>> factor_text("x1", 1e-9, 1.0, 1), factor_text("x1", 1e-9, 1.0, 0)
    ('h(x1)', 'x1')
    """
    if digits < ALL_DIGITS and abs(knot) < unit * 10.0 ** -(digits + 2):
        # Columns that begin at zero: what is left is rounding.
        return name if sign == 0 else f"h({'-' if sign < 0 else ''}{name})"
    above = np.log10(max(abs(knot) / unit, 1.0)) if unit > 0.0 else 0.0
    value = f"{abs(knot):.{int(min(ALL_DIGITS, digits + np.ceil(above)))}g}"
    if sign < 0:
        return f"h({'-' if knot < 0 else ''}{value} - {name})"
    inner = f"{name} {'+' if knot < 0 else '-'} {value}"
    return f"({inner})" if sign == 0 else f"h({inner})"

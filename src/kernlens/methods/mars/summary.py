"""A fitted spline as text and as a table, in the units of the user."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernlens._array import FloatArray
from kernlens._table import Table
from kernlens.base.tabular import Tabular

#: Digits of coefficients, and of a knot beyond the size of its column's deviation.
DIGITS = 4


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
    """

    terms: tuple[str, ...]
    coef: FloatArray
    gcv: float
    rsq: float
    grsq: float

    def formula(self, target: int = 0) -> str:
        """The function of one target on one line."""
        parts: list[str] = []
        for name, value in zip(self.terms, self.coef[target], strict=True):
            size = f"{abs(value):.{DIGITS}g}"
            text = size if name == "1" else f"{size} * {name}"
            if not parts:
                parts.append(f"-{text}" if value < 0 else text)
            else:
                parts.append(f"{'-' if value < 0 else '+'} {text}")
        return " ".join(parts)

    def _table(self) -> Table:
        names = ["term", *_coefficient_names(len(self.coef))]
        return Table(names, [list(self.terms), *self.coef])

    def __str__(self) -> str:
        several = len(self.coef) > 1
        lines = [
            (f"y{target} = " if several else "y = ") + self.formula(target)
            for target in range(len(self.coef))
        ]
        lines.append(
            f"{len(self.terms)} terms, R2 {self.rsq:.3f}, "
            f"by generalised cross-validation {self.grsq:.3f}"
        )
        return "\n".join(lines)


def _coefficient_names(n_targets: int) -> list[str]:
    return ["coef"] if n_targets == 1 else [f"coef{target}" for target in range(n_targets)]


def summarize(model: Any, names: Sequence[str]) -> SplineSummary:
    """The terms of a fitted model, whose columns have `names`."""
    used, mean, scale = model.inputs_, model.mean_, model.scale_
    coef = model.coef_ * model._target_scale[:, None]
    coef[:, 0] += model._target_mean
    texts = []
    for term, row in enumerate(model.term_inputs_):
        factors = []
        for place in range(int(np.sum(row >= 0))):
            column = used[row[place]] if len(used) else 0
            knot = mean[column] + scale[column] * model.knots_[term, place]
            coef[:, term] /= scale[column]
            sign = int(model.signs_[term, place])
            factors.append(factor_text(str(names[column]), float(knot), float(scale[column]), sign))
        texts.append(" * ".join(factors) or "1")
    return SplineSummary(tuple(texts), coef, model.gcv_, model.rsq_, model.grsq_)


def factor_text(name: str, knot: float, unit: float, sign: int) -> str:
    """One factor, with the digits of the knot that a column of this deviation shows.

    Examples
    --------
    >>> factor_text("x1", 0.5, 1.0, 1), factor_text("x1", -2012.25, 2.0, -1)
    ('h(x1 - 0.5)', 'h(-2012.25 - x1)')
    """
    above = np.log10(max(abs(knot) / unit, 1.0)) if unit > 0.0 else 0.0
    value = f"{abs(knot):.{int(np.clip(DIGITS + np.ceil(above), DIGITS, 17))}g}"
    if sign < 0:
        return f"h({'-' if knot < 0 else ''}{value} - {name})"
    inner = f"{name} {'+' if knot < 0 else '-'} {value}"
    return f"({inner})" if sign == 0 else f"h({inner})"

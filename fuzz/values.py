"""Values of parameters, drawn by the kinds that the families list them with."""

from __future__ import annotations

from fractions import Fraction
from functools import singledispatch
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from fuzz.draws import Generator, chance, count, pick, positive
from fuzz.objects import (
    CALLBACKS,
    OBJECTS,
    Setting,
    draw_constraint,
    draw_matrix,
    draw_smooth_kernel,
)
from kernlens import RandomMaps
from kernlens import _parameters as kinds
from kernlens.kernels.derivatives import DIFFERENTIABLE_KERNELS
from kernlens.methods.hkrr.parameters import FirstMaps, Limits
from kernlens.methods.kernel_laplacian.parameters import (
    DifferentiableKernel,
    MissingLabel,
)
from kernlens.methods.mars.parameters import ColumnGroups, SomeColumns
from kernlens.methods.rkhs_weightings.parameters import Correlation
from kernlens.methods.sdr.parameters import Shrinkage
from kernlens.model_selection.auto.parameters import Folds

#: What is no value of nearly any parameter.
ODD_VALUES: tuple[Any, ...] = (
    "a", b"auto", {}, {"a": 1}, (), [[]], [None], object, 1j, np.nan, -np.inf, 10**30, -1,
    Fraction(1, 3), np.float32(0.5), np.array("auto"), np.array([1.0, np.nan]), np.ones((2, 2, 2)),
    np.str_("auto"), [1e-3, "auto"], [[1e-3]], range(3),
)  # fmt: skip


@singledispatch
def draw_value(kind: kinds.Kind, rng: Generator, setting: Setting) -> Any:
    """A valid value of a kind; of ordinary size unless the setting is wild."""
    raise TypeError(f"No way to draw a value of the kind {type(kind).__name__}.")


def draw_bad_value(kind: kinds.Kind, rng: Generator) -> Any:
    """A value that is most likely refused."""
    listed = kind.bad_values()
    return pick(rng, listed if listed and chance(rng, 0.6) else ODD_VALUES)


@draw_value.register
def _(kind: kinds.Anything, rng: Generator, setting: Setting) -> Any:
    return int(rng.integers(4))


@draw_value.register
def _(kind: kinds.Flag, rng: Generator, setting: Setting) -> Any:
    return chance(rng, 0.5)


@draw_value.register
def _(kind: kinds.Count, rng: Generator, setting: Setting) -> Any:
    if kind.words and chance(rng, 0.3):
        return pick(rng, kind.words)
    return count(rng, kind.least, kind.least + 8, setting.wild)


@draw_value.register
def _(kind: kinds.Positive, rng: Generator, setting: Setting) -> Any:
    return min(max(kind.smallest, positive(rng, setting.wild)), kind.largest)


@draw_value.register
def _(kind: kinds.NonNegative, rng: Generator, setting: Setting) -> Any:
    return 0.0 if chance(rng, 0.2) else min(positive(rng, setting.wild), kind.largest)


@draw_value.register
def _(kind: kinds.Between, rng: Generator, setting: Setting) -> Any:
    if kind.words and chance(rng, 0.1):
        return pick(rng, kind.words)
    width = kind.high - kind.low
    if setting.wild:
        step = pick(rng, (1e-300, 1e-15, 1e-6, 1e-2))
        near = pick(rng, (kind.low + step * width, kind.high - max(step, 1e-15) * width))
        return float(near)
    return float(round(kind.low + width * rng.uniform(0.02, 0.98), 3))


@draw_value.register
def _(kind: kinds.Choice, rng: Generator, setting: Setting) -> Any:
    return pick(rng, kind.words)


@draw_value.register
def _(kind: kinds.Regularization, rng: Generator, setting: Setting) -> Any:
    if chance(rng, 0.08):
        return pick(rng, kind.words)
    return min(max(kind.smallest, positive(rng, setting.wild)), kind.largest)


@draw_value.register
def _(kind: kinds.Jobs, rng: Generator, setting: Setting) -> Any:
    return pick(rng, (1,) * 17 + (2, -1, None))


@draw_value.register
def _(kind: kinds.Verbosity, rng: Generator, setting: Setting) -> Any:
    return pick(rng, (False,) * 18 + (True, 2))


@draw_value.register
def _(kind: kinds.ClassWeight, rng: Generator, setting: Setting) -> Any:
    if chance(rng, 0.6):
        return pick(rng, (None, "balanced", {}))
    # Labels of the forms that y is drawn in, some of which a case does not have.
    labels = pick(rng, ((0,), (1, 2), (0, 1, 2), (-1, 1), ("class e",), ("class d", "class e")))
    return {label: positive(rng, setting.wild) for label in labels}


@draw_value.register
def _(kind: kinds.Function, rng: Generator, setting: Setting) -> Any:
    return pick(rng, (None,) * 17 + CALLBACKS)


@draw_value.register
def _(kind: kinds.Optional, rng: Generator, setting: Setting) -> Any:
    return None if chance(rng, 0.4) else draw_value(kind.kind, rng, setting)


@draw_value.register
def _(kind: kinds.AutoFlag, rng: Generator, setting: Setting) -> Any:
    return pick(rng, ("auto", True, False))


@draw_value.register
def _(kind: kinds.Or, rng: Generator, setting: Setting) -> Any:
    # RegFeaL's first directions are arrays and lists, of which no type says how they are drawn.
    draw = OBJECTS.get(kind.types[0])
    if not chance(rng, 0.4):
        return draw_value(kind.kind, rng, setting)
    if draw is None:
        rows = int(rng.integers(1, setting.n_columns + 2))
        return draw_matrix(rng, rows, setting.n_columns, setting.wild)
    return draw(rng, setting)


@draw_value.register
def _(kind: kinds.Listed, rng: Generator, setting: Setting) -> Any:
    if chance(rng, 0.7):
        return draw_value(kind.kind, rng, setting)
    drawn = [draw_value(kind.kind, rng, setting) for _ in range(int(rng.integers(1, 4)))]
    numbers = [value for value in drawn if not isinstance(value, str)] or [1.0]
    # Counts stay counts, and ones beyond 64 bits stay Python's.
    if chance(rng, 0.3) and all(isinstance(number, float) for number in numbers):
        return np.array(numbers)
    return numbers if isinstance(drawn[0], float) or len(numbers) > 1 else drawn[0]


@draw_value.register
def _(kind: FirstMaps, rng: Generator, setting: Setting) -> Any:
    drawn = pick(rng, ("word", "number", "maps", "matrix"))
    if drawn == "word":
        return pick(rng, FirstMaps.scalar.words)
    if drawn == "matrix":
        rows = int(rng.integers(1, setting.n_columns + 2))
        return draw_matrix(rng, rows, setting.n_columns, setting.wild)
    number = int(rng.integers(1, 4))
    return number if drawn == "number" else RandomMaps(number)


@draw_value.register
def _(kind: Limits, rng: Generator, setting: Setting) -> Any:
    return None if chance(rng, 0.5) else draw_constraint(rng, setting)


@draw_value.register
def _(kind: kinds.Truncation, rng: Generator, setting: Setting) -> Any:
    return pick(rng, ("auto", None, positive(rng, setting.wild)))


@draw_value.register
def _(kind: Correlation, rng: Generator, setting: Setting) -> Any:
    between = kinds.Between(0.0, 1.0, words=("auto",))
    return draw_value(kinds.Listed(between), rng, setting)


@draw_value.register
def _(kind: kinds.Automatic, rng: Generator, setting: Setting) -> Any:
    return "auto" if chance(rng, 0.3) else draw_value(kind.kind, rng, setting)


@draw_value.register
def _(kind: DifferentiableKernel, rng: Generator, setting: Setting) -> Any:
    if chance(rng, 0.6):
        return pick(rng, DIFFERENTIABLE_KERNELS)
    return draw_smooth_kernel(rng, setting)


@draw_value.register
def _(kind: MissingLabel, rng: Generator, setting: Setting) -> Any:
    return pick(rng, ("auto", "auto", None, -1, 0, "class a"))


@draw_value.register
def _(kind: Shrinkage, rng: Generator, setting: Setting) -> Any:
    return pick(rng, ("auto", 0.0, 1.0, 1e-3, 0.3, 1e-12 if setting.wild else 0.1))


@draw_value.register
def _(kind: Folds, rng: Generator, setting: Setting) -> Any:
    # Pairs of the user may have places that are not there, which are refused.
    pairs = [([0, 1, 2, 3], [4, 5]), ([2, 3, 4, 5], [0, 1, 3])]
    return pick(rng, (None, 2, 3, 10**9, KFold(), pairs, [([True, False] * 5, [0])]))


@draw_value.register
def _(kind: SomeColumns, rng: Generator, setting: Setting) -> Any:
    if chance(rng, 0.7):
        return draw_value(kinds.AutoFlag(), rng, setting)
    return _some_columns(rng, setting)


@draw_value.register
def _(kind: ColumnGroups, rng: Generator, setting: Setting) -> Any:
    return [_some_columns(rng, setting) for _ in range(int(rng.integers(0, 4)))]


def _some_columns(rng: Generator, setting: Setting) -> list[int]:
    # Now and then one that is not there, which is refused.
    most = setting.n_columns + int(chance(rng, 0.05))
    return [int(column) for column in np.flatnonzero(rng.random(most) < 0.5)]

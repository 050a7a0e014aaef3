"""Rows in the order and in the units of a fit, which say nothing of those of the user."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kernlens._invariance import (
    InvariantOrder,
    centered_digits,
    invariant_order,
    leading_digits,
)
from kernlens._rows import CanonicalRows
from kernlens.base.columns import Columns
from kernlens.base.targets import Targets


def order_to_learn_in(rows: CanonicalRows, columns: Columns, targets: Targets) -> InvariantOrder:
    """An order of rows in the units of the user, and of inputs, that says nothing of units."""
    # In double precision: single digits round otherwise, and would give another order.
    inputs = columns.apply(rows.X.astype(np.float64, copy=False))[:, : columns.n_varying]
    return invariant_order(inputs, targets.apply(rows.y), rows.weights)


def rows_to_learn_from(rows: CanonicalRows, columns: Columns, targets: Targets) -> CanonicalRows:
    """Rows in the units of a fit, with the digits that do not depend on those of the user."""
    return replace(
        rows,
        X=leading_digits(columns.apply(rows.X)),
        y=centered_digits(targets.apply(rows.y).T, rows.weights).T,
    )

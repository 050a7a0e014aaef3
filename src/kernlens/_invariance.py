"""What does not depend on how a table is written: an order of rows and columns, and leading digits.

Folds, subsamples and random starts follow the order of rows and columns; learners see the leading
digits only. A fit is then the same for rows and columns in any order, and for columns and targets
in any unit: a change of units changes the last digits of standardised values, which a descent that
is ended early magnifies until they are all that is seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernlens._array import FloatArray
from kernlens._hash import mix

#: Content is rounded to this share of its size before it is hashed.
STEPS = 2.0**20
LARGEST_STEP = 2**62
#: Binary digits that learners see of a value.
DIGITS = 26
#: The last digit of values that are small beside their column is that of this share of its size.
SMALL = 2.0**-12


@dataclass(frozen=True)
class InvariantOrder:
    """An order of rows and columns that depends on what they say, not on how they are written.

    Attributes
    ----------
    rows : ndarray of int of shape (n_rows,)
    columns : ndarray of int of shape (n_columns,)
    """

    rows: NDArray[np.intp]
    columns: NDArray[np.intp]


def invariant_order(inputs: FloatArray, targets: FloatArray) -> InvariantOrder:
    """Order rows and columns by hashes of their rounded content.

    The hash of a row is a sum over columns, and that of a column a sum over rows, so that neither
    depends on the order of the other. Content is rounded to a millionth of a column's root mean
    square: a change of units changes its last digits. Rows that agree to that precision are ordered
    by their value in the first column, and rows with the same inputs by their targets.

    Parameters
    ----------
    inputs : ndarray of shape (n_rows, n_columns)
        Centred columns.
    targets : ndarray of shape (n_targets, n_rows)
        Not a number where a target is missing. Their sign is not looked at.
    """
    n_rows, n_columns = inputs.shape
    of_inputs = np.zeros(n_rows, dtype=np.uint64)
    for column in inputs.T:
        code = _code(column)
        of_inputs += mix(code ^ code.sum(dtype=np.uint64))
    of_targets = np.zeros(n_rows, dtype=np.uint64)
    for target in np.abs(targets):
        code = _code(target)
        of_targets += mix(code ^ code.sum(dtype=np.uint64))
    both = of_inputs ^ mix(of_targets)
    keys = [mix(_code(column) ^ both).sum(dtype=np.uint64) for column in inputs.T]
    columns = np.argsort(np.array(keys, dtype=np.uint64), kind="stable")
    ties = [inputs[:, columns[0]]] if n_columns else []
    rows = np.lexsort((targets[0], of_targets, *ties, of_inputs))
    return InvariantOrder(rows, columns)


def _code(values: FloatArray) -> NDArray[np.uint64]:
    """A hash of every value, rounded."""
    known = np.nan_to_num(values.astype(np.float64), nan=0.0)
    largest = float(np.abs(known).max(initial=0.0)) or 1.0
    size = largest * float(np.sqrt(np.mean(np.square(known / largest)))) or 1.0
    steps = np.rint(known / size * STEPS).clip(-LARGEST_STEP, LARGEST_STEP).astype(np.int64)
    steps[np.isnan(values)] = -LARGEST_STEP
    return mix(steps.view(np.uint64))


def leading_digits(values: FloatArray) -> FloatArray:
    """Round to the digits that a change of units leaves alone.

    The error is at most 2^-27, a hundred-millionth, of a value, or of 2^-12 of the size of its
    column if that is larger. Values keep their precision.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns)
        Centred columns; they may have NaN where a value is missing.
    """
    sizes = np.sqrt(np.nanmean(np.square(values, dtype=np.float64), axis=0))
    # A size that was divided by itself is 1 up to rounding: no power of two may begin there.
    least = SMALL * np.exp2(np.floor(np.log2(np.where(sizes > 0.0, sizes, 1.0)) + 0.5))
    _, exponents = np.frexp(np.maximum(np.abs(values), least))
    steps = exponents - DIGITS
    return np.ldexp(np.rint(np.ldexp(values, -steps)), steps).astype(values.dtype, copy=False)

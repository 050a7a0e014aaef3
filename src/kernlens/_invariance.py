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
#: Values that are rounded at a time.
BLOCK_ENTRIES = 2**18
#: A column whose mean is not more than this is centred, up to the rounding of sums.
CENTRED = 1e-12


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


def invariant_order(inputs: FloatArray, targets: FloatArray, weights: FloatArray) -> InvariantOrder:
    """Order columns by their mean size, and rows by hashes of their rounded content.

    Columns of one size are ordered by a hash as well. The hash of a row is a sum over columns, and
    that of a column a sum over rows, so that neither depends on the order of the other. Content is
    rounded to a millionth of a column's root mean square: a change of units changes its last
    digits. Rows that agree to that precision are ordered by their value in the first column, and
    rows with the same inputs by their targets.

    Random starts follow the order of columns. A mean hardly moves when one row is changed, so that
    the start stays the same; a hash of all rows would be another one.

    Parameters
    ----------
    inputs : ndarray of shape (n_rows, n_columns)
        Centred columns.
    targets : ndarray of shape (n_targets, n_rows)
        Not a number where a target is missing. Their sign is not looked at.
    weights : ndarray of shape (n_rows,)
        Non-negative, not all zero.
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
    hashes = [mix(_code(column) ^ both).sum(dtype=np.uint64) for column in inputs.T]
    sizes = [np.rint(_mean_size(column, weights) * STEPS) for column in inputs.T]
    columns = np.lexsort((np.array(hashes, dtype=np.uint64), np.array(sizes)))
    ties = [inputs[:, columns[0]]] if n_columns else []
    # Classes of the same size have the same hash.
    rows = np.lexsort((*targets[::-1], of_targets, *ties, of_inputs))
    return InvariantOrder(rows, columns)


def _code(values: FloatArray) -> NDArray[np.uint64]:
    """A hash of every value, rounded."""
    steps = np.rint(_in_units_of_their_size(values) * STEPS)
    steps = steps.clip(-LARGEST_STEP, LARGEST_STEP).astype(np.int64)
    steps[np.isnan(values)] = -LARGEST_STEP
    return mix(steps.view(np.uint64))


def _mean_size(values: FloatArray, weights: FloatArray) -> float:
    return float(np.average(np.abs(_in_units_of_their_size(values)), weights=weights))


def _in_units_of_their_size(values: FloatArray) -> FloatArray:
    """Values over their root mean square; zero where they are missing."""
    known = np.nan_to_num(values.astype(np.float64), nan=0.0)
    largest = float(np.abs(known).max(initial=0.0)) or 1.0
    size = largest * float(np.sqrt(np.mean(np.square(known / largest)))) or 1.0
    return known / size


def leading_digits(values: FloatArray) -> FloatArray:
    """Round to the digits that a change of units leaves alone.

    The error is at most 2^-27, a hundred-millionth, of a value, or of 2^-12 of the size of its
    column if that is larger. Values keep their precision.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns)
        Centred columns; they may have NaN where a value is missing.
    """
    sizes = _root_mean_squares(values)
    # A size that was divided by itself is 1 up to rounding: no power of two may begin there.
    least = SMALL * np.exp2(np.floor(np.log2(np.where(sizes > 0.0, sizes, 1.0)) + 0.5))
    rounded = np.empty_like(values)
    # A few rows at a time: there are six arrays of them on the way.
    n_rows = max(1, BLOCK_ENTRIES // max(1, values.shape[1]))
    for start in range(0, len(values), n_rows):
        rows = slice(start, start + n_rows)
        _, exponents = np.frexp(np.maximum(np.abs(values[rows]), least))
        steps = exponents - DIGITS
        rounded[rows] = np.ldexp(np.rint(np.ldexp(values[rows], -steps)), steps)
    return rounded


def _root_mean_squares(values: FloatArray) -> FloatArray:
    """Sizes of columns; missing values do not count."""
    squares = np.square(values, dtype=np.float64)
    missing = np.isnan(squares)
    squares[missing] = 0.0
    known = len(values) - np.count_nonzero(missing, axis=0)
    return np.asarray(np.sqrt(squares.sum(axis=0) / known))


def centered_digits(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Leading digits of columns; those that are centred are centred again.

    The mean that rounding leaves would else be that of all predictions.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns)
        NaN where a value is missing.
    weights : ndarray of shape (n_rows,)
    """
    rounded = leading_digits(values)
    missing = np.isnan(values)
    shares = np.where(missing, 0.0, weights[:, None])
    shares /= shares.sum(axis=0)
    before, after = (np.sum(shares * np.where(missing, 0.0, v), axis=0) for v in (values, rounded))
    return rounded - np.where(np.abs(before) <= CENTRED, after, 0.0)

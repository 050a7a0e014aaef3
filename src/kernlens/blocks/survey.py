"""What one pass over a table tells: moments, sums of weights, and a sample of its rows.

The sample has the distinct rows with the lowest hashes of their content, and all of their weight.
It is the same however the table is cut into blocks, and a row twice is a row of twice the weight,
as everywhere. Every distinct row has the same chance to be in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from kernlens._array import FloatArray, IntArray
from kernlens._rows import CanonicalRows, canonical_rows, content_hash
from kernlens._sized import Sized
from kernlens._validation import SMALLEST_SPREAD
from kernlens.blocks.block import Block, check_block
from kernlens.blocks.moments import Moments
from kernlens.blocks.table import BlockTable


@dataclass(frozen=True)
class Survey(Sized):
    """What is known of a table.

    Attributes
    ----------
    n_rows : int
        Rows of positive weight.
    squares : float
        Sum of the squares of the weights.
    largest : float
        The largest weight.
    columns, targets : Moments
    sample : CanonicalRows
        The rows of the sample, in the units of the table.
    complete : bool
        Whether the sample has all rows.
    """

    n_rows: int
    squares: float
    largest: float
    columns: Moments
    targets: Moments
    sample: CanonicalRows
    complete: bool

    @property
    def weight_unit(self) -> float:
        """What weights are divided by, so that they sum to the effective number of rows."""
        return self.squares / self.columns.total

    @property
    def n_effective(self) -> float:
        """The effective number of rows, ``(sum w)^2 / sum w^2`` (Kish, 1965)."""
        return self.columns.total / self.weight_unit


def survey(table: BlockTable, n_sample: int) -> Survey:
    """Look at a table of encoded blocks, and draw as many distinct rows, or all."""
    found = table.fold(survey_block, partial(merge_surveys, n_sample=n_sample), n_sample)
    _check_spread(found.columns, "X")
    _check_spread(found.targets, "y")
    return found


def survey_block(block: Block, n_sample: int) -> Survey:
    """Survey of a block with targets (n_targets, n_rows)."""
    check_block(block)
    weights = block.weights
    rows = canonical_rows(block.X, block.y, weights, hash_rows=content_hash)
    return Survey(
        int(np.count_nonzero(weights)),
        float(weights @ weights),
        float(weights.max(initial=0.0)),
        Moments.of(block.X, weights),
        Moments.of(block.y.T, weights),
        rows.take(slice(n_sample)),
        len(rows.X) <= n_sample,
    )


def merge_surveys(one: Survey, other: Survey, n_sample: int) -> Survey:
    """Survey of both; the lowest rows of both are among the lowest of each."""
    parts = one.sample, other.sample
    rows = canonical_rows(
        np.concatenate([part.X for part in parts]),
        np.concatenate([part.y for part in parts], axis=1),
        np.concatenate([part.weights for part in parts]),
        hash_rows=content_hash,
    )
    return Survey(
        one.n_rows + other.n_rows,
        one.squares + other.squares,
        max(one.largest, other.largest),
        one.columns.merged(other.columns),
        one.targets.merged(other.targets),
        rows.take(slice(n_sample)),
        one.complete and other.complete and len(rows.X) <= n_sample,
    )


def fold_of(X: FloatArray, n_folds: int) -> IntArray:
    """Number of the fold of every row, (n_rows,), by its content; copies are in one fold."""
    # The low digits: the high ones say whether a row is in the sample.
    return (content_hash(X) % np.uint64(n_folds)).astype(np.intp)


def _check_spread(moments: Moments, name: str) -> None:
    spread = moments.high - moments.low
    small = (spread > 0.0) & (spread < SMALLEST_SPREAD)
    if small.any():
        raise ValueError(
            f"{name} must vary by more than {SMALLEST_SPREAD:.0e} or not at all, but column "
            f"{int(np.argmax(small))} varies by {float(spread[small][0]):.3g}; multiply it by a "
            "constant."
        )

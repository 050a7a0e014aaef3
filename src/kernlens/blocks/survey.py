"""What one pass over a table tells: moments, sums of weights, and a sample of its rows.

The sample has the distinct rows with the lowest hashes of their content, and all of their weight.
It is the same however the table is cut into blocks, and a row twice is a row of twice the weight,
as everywhere. Every distinct row has the same chance to be in it.

Where some rows have no targets, at least half of the sample are rows that have them, or all of
these if they are fewer: one row in a thousand would be nearly nothing to learn from.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from kernlens._array import BoolArray, FloatArray, IntArray
from kernlens._rows import CanonicalRows, canonical_rows, content_hash, has_target
from kernlens._sized import Sized
from kernlens._validation import SMALLEST_SPREAD
from kernlens.blocks.block import Block, check_block, labeled_rows
from kernlens.blocks.moments import Moments
from kernlens.blocks.table import BlockTable


@dataclass(frozen=True)
class Survey(Sized):
    """What is known of a table.

    Attributes
    ----------
    n_rows : int
        Rows of positive weight.
    n_labeled : int
        Those of them that have targets.
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
    n_labeled: int
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


def survey(table: BlockTable, n_sample: int, gaps: bool = False) -> Survey:
    """Look at a table of encoded blocks, and draw as many distinct rows, or all.

    With `gaps`, rows may be without targets.
    """
    merge = partial(merge_surveys, n_sample=n_sample)
    found = table.fold(survey_block, merge, n_sample, gaps)
    if gaps and found.n_labeled == 0:
        raise ValueError(
            "y is NaN for every row of positive weight, which means that no row is labelled; give "
            "at least one target."
        )
    _check_spread(found.columns, "X")
    _check_spread(found.targets, "y")
    sample = found.sample.take(_both_kinds(found.sample, n_sample))
    complete = found.complete and len(sample.X) == len(found.sample.X)
    return replace(found, sample=sample, complete=complete)


def survey_block(block: Block, n_sample: int, gaps: bool = False) -> Survey:
    """Survey of a block with targets (n_targets, n_rows)."""
    check_block(block, gaps)
    weights, labeled = block.weights, labeled_rows(block)
    rows = canonical_rows(block.X, block.y, weights, hash_rows=content_hash)
    kept = _first_of_each(rows, n_sample)
    return Survey(
        int(np.count_nonzero(weights)),
        int(np.count_nonzero(labeled.weights)),
        float(weights @ weights),
        float(weights.max(initial=0.0)),
        Moments.of(block.X, weights),
        Moments.of(labeled.y.T, labeled.weights),
        rows.take(kept),
        bool(kept.all()),
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
    kept = _first_of_each(rows, n_sample)
    return Survey(
        one.n_rows + other.n_rows,
        one.n_labeled + other.n_labeled,
        one.squares + other.squares,
        max(one.largest, other.largest),
        one.columns.merged(other.columns),
        one.targets.merged(other.targets),
        rows.take(kept),
        one.complete and other.complete and bool(kept.all()),
    )


def _first_of_each(rows: CanonicalRows, n_sample: int) -> BoolArray:
    """Which rows may be in the sample: the first of those with targets, and of those without."""
    missing = ~has_target(rows.y)
    found: BoolArray = np.where(missing, np.cumsum(missing), np.cumsum(~missing)) <= n_sample
    return found


def _both_kinds(rows: CanonicalRows, n_sample: int) -> BoolArray:
    """Which of these rows are the sample, half of them with targets if there are as many."""
    missing = ~has_target(rows.y)
    n_missing = int(missing.sum())
    n_labeled = min(len(missing) - n_missing, max(n_sample - n_missing, -(-n_sample // 2)))
    first = np.where(missing, np.cumsum(missing), np.cumsum(~missing))
    found: BoolArray = first <= np.where(missing, n_sample - n_labeled, n_labeled)
    return found


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

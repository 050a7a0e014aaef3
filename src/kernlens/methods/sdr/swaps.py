"""Directions exchanged for those of other methods, where columns have few values.

Along a column of two values every neighbour has the same one once the bandwidth is small: lines
have no slope there, and minimum average variance loses the direction. The outer product of
gradients, sliced means and directional moments see it. Their directions come in where lines along
them predict rows that were left out clearly better.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from kernlens._array import FloatArray
from kernlens.methods.sdr.gradients import GradientDirections
from kernlens.methods.sdr.inverse_regression import DirectionalMoments, SlicedMeans
from kernlens.methods.sdr.local_linear import (
    LocalMoments,
    LocalProblem,
    find_bandwidth,
    gaussian_weights,
    moments_of_weights,
)
from kernlens.methods.sdr.minimum_variance import LINE_RIDGE, final_share
from kernlens.methods.sdr.slices import Slices, automatic_n_slices
from kernlens.methods.sdr.whitening import Whitening
from kernlens.subspace import leading_directions

#: Columns with more values are no trouble, and those of few rows have few.
MOST_VALUES, ROWS_PER_VALUE = 10, 5
#: Rows that are looked at, and anchors among them, at most.
MOST_ROWS, MOST_ANCHORS = 1000, 300
#: Directions are exchanged one after another, at most so many.
MOST_SWAPS = 3
#: Length of what a direction has beyond the others, if it is new.
LEAST_NEW = 0.5
#: Standard errors, and share of the error, that an exchange has to gain.
STANDARD_ERRORS, LEAST_GAIN = 2.0, 0.02
#: Share of the weight that all rows have where slopes are measured, however far they are.
FAR_SHARE = 1e-3


def has_few_values(inputs: FloatArray) -> bool:
    """Whether a column of rows (n_rows, d) has at most ten values, each of several rows."""
    some = inputs[:MOST_ROWS]
    most = min(MOST_VALUES, len(some) // ROWS_PER_VALUE)
    return any(len(np.unique(column)) <= most for column in some.T)


def with_swaps(
    problem: LocalProblem, found: GradientDirections, start: GradientDirections
) -> GradientDirections:
    """Exchange directions while that predicts rows clearly better.

    Parameters
    ----------
    problem : LocalProblem
    found : GradientDirections
        The k directions of minimum average variance.
    start : GradientDirections
        Those of the outer product of gradients.

    Returns
    -------
    GradientDirections
        `found` if nothing is better; else k directions, and the mean squared slopes along them.

    Notes
    -----
    A comparison costs O(a n (k + t) k) with a anchors, 300 at most, n rows, 1000 at most, and t
    targets; there are about k of them for every direction of another method that is new.
    """
    share = final_share(problem)
    some = problem.first(MOST_ROWS)
    some = replace(some, n_anchors=min(MOST_ANCHORS, some.n_anchors))
    weights = some.weights[: some.n_anchors]
    weights = weights / weights.sum()
    basis, k = found.directions, len(found.directions)
    others = [start.directions[:k], *_sliced_directions(problem, k)]
    errors = left_out_errors(some, basis, share)
    for _ in range(MOST_SWAPS):
        best, lowest = basis, errors
        for candidate in _candidates(basis, others):
            of_candidate = left_out_errors(some, candidate, share)
            if weights @ of_candidate < weights @ lowest:
                best, lowest = candidate, of_candidate
        if not _is_clear(errors - lowest, weights, float(weights @ errors)):
            break
        basis, errors = best, lowest
    if basis is found.directions:
        return found
    return _principal(some, basis, share)


def left_out_errors(problem: LocalProblem, basis: FloatArray, share: float) -> FloatArray:
    """Squared errors at the anchors (n_anchors,) of lines along a basis without the anchor's row.

    Predictions stay within the range of the targets.
    """
    anchors = np.arange(problem.n_anchors)
    along, kernel = _kernel(problem, basis, share)
    kernel[anchors, anchors] = 0.0
    total = kernel.sum(axis=1, keepdims=True)
    # A row that is far from all others is predicted by their mean.
    kernel = np.where(total > 0.0, kernel / np.where(total > 0.0, total, 1.0), _shares(problem))
    levels, _ = _moments(along, kernel).lines(LINE_RIDGE)
    levels = levels.clip(problem.targets.min(axis=1), problem.targets.max(axis=1))
    errors: FloatArray = np.sum(np.square(problem.targets.T[anchors] - levels), axis=1)
    return errors


def _kernel(
    problem: LocalProblem, basis: FloatArray, share: float
) -> tuple[LocalProblem, FloatArray]:
    """The rows along a basis, and their weights at every anchor (n_anchors, n_rows)."""
    along = replace(problem, inputs=problem.inputs @ basis.T)
    rows, m = along.inputs, along.n_anchors
    width = find_bandwidth(rows, along.weights, m, share)
    return along, gaussian_weights(rows[:m], rows, width) * along.weights


def _moments(problem: LocalProblem, kernel: FloatArray) -> LocalMoments:
    m = problem.n_anchors
    return moments_of_weights(problem, kernel, problem.inputs[:m], problem.weights[:m])


def _shares(problem: LocalProblem) -> FloatArray:
    shares: FloatArray = problem.weights / problem.weights.sum()
    return shares


def _sliced_directions(problem: LocalProblem, k: int) -> Iterator[FloatArray]:
    """Directions of sliced means and of directional moments, at most k of each."""
    weights = problem.weights
    whitening = Whitening.of(problem.inputs, weights, "auto")
    whitened = whitening.apply(problem.inputs)
    for kind, most in ((SlicedMeans, 10), (DirectionalMoments, 5)):
        number = automatic_n_slices(float(weights.sum()), most)
        slices = [Slices.of(target, weights, number) for target in problem.targets]
        candidate = kind(slices)
        kept = min(k, candidate.most_directions(whitening.rank))
        yield whitening.directions(candidate.spectrum(whitened, weights).vectors[:, :kept])


def _candidates(basis: FloatArray, others: list[FloatArray]) -> Iterator[FloatArray]:
    """Bases (k, d) of other methods, and `basis` with one direction exchanged."""
    for other in others:
        if len(other) == len(basis):
            yield other
        for direction in other:
            left = direction - (basis @ direction) @ basis
            if np.linalg.norm(left) < LEAST_NEW:
                continue
            for place in range(len(basis)):
                kept = np.delete(basis, place, axis=0)
                new = direction - (kept @ direction) @ kept
                yield np.insert(kept, place, new / np.linalg.norm(new), axis=0)


def _is_clear(gains: FloatArray, weights: FloatArray, error: float) -> bool:
    """Whether errors fell by more than chance, and by a share that matters."""
    mean = float(weights @ gains)
    deviation = float(np.sqrt(np.square(weights) @ np.square(gains - mean)))
    return mean > max(STANDARD_ERRORS * deviation, LEAST_GAIN * error)


def _principal(problem: LocalProblem, basis: FloatArray, share: float) -> GradientDirections:
    """The directions of a subspace in the order of the slopes along them.

    All rows have a small weight, so that there is a slope where neighbours have one value.
    """
    along, kernel = _kernel(problem, basis, share)
    kernel /= kernel.sum(axis=1, keepdims=True)
    kernel = (1.0 - FAR_SHARE) * kernel + FAR_SHARE * _shares(problem)
    moments = _moments(along, kernel)
    _, slopes = moments.lines(LINE_RIDGE * FAR_SHARE)
    product = np.einsum("j,jtk,jtl->kl", moments.importance, slopes, slopes)
    vectors, squares = leading_directions(product / moments.importance.sum())
    return GradientDirections(vectors @ basis, squares)

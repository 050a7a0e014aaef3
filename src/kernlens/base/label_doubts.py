"""Labels that are not quite believed, so that probabilities learned from few of them are modest.

A handful of labels that were left out is often predicted without a mistake, and the likelihood then
asks for probabilities 0 and 1. As Platt (1999) has it, a label of a class with N of them holds with
probability (N + 1) / (N + 2) only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.floating]


def with_doubts(
    scores: FloatArray, y: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Every row once with its label, and once with each of the others, of a small weight.

    Parameters
    ----------
    scores : ndarray of shape (n_targets, n_samples)
    y : ndarray of shape (n_targets, n_samples)
        Labels +1 and -1; two classes have one row, of the second.
    weights : ndarray of shape (n_samples,)

    Returns
    -------
    scores, y : ndarray of shape (n_targets, n_classes n_samples)
    weights : ndarray of shape (n_classes n_samples,)
    """
    n_classes = max(2, len(y))
    numbers = (y[0] > 0.0).astype(np.intp) if len(y) == 1 else y.argmax(axis=0)
    # Rows of one weight count as they are, and rows of hardly any weight hardly.
    relative = weights / weights.max()
    unit = relative @ relative / relative.sum()
    counts = np.bincount(numbers, weights=relative, minlength=n_classes) / unit
    doubts = 1.0 / (counts[numbers] + 2.0)
    labels = [y]
    shares = [weights * (1.0 - doubts)]
    for step in range(1, n_classes):
        other = (numbers + step) % n_classes
        rows = np.arange(n_classes)[-len(y) :, None]
        labels.append(np.where(other == rows, 1.0, -1.0))
        shares.append(weights * doubts / (n_classes - 1))
    return np.tile(scores, n_classes), np.hstack(labels), np.concatenate(shares)

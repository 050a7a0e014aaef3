"""Directions of the input space that a matrix of particles uses, most important first."""

from __future__ import annotations

import numpy as np

from kernlens.penalties.contract import FloatArray
from kernlens.penalties.groupings import VARIABLES
from kernlens.penalties.svd import thin_svd


def principal_directions(W: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the right singular vectors of W (r, d) and singular values / sqrt(m) (r,).

    They are the eigenvectors of (1/m) sum_j w_j w_j^T and the roots of its eigenvalues;
    r = min(m, d).
    """
    _, S, Vt = thin_svd(W)
    return Vt, S / np.sqrt(W.shape[0])


def coordinate_directions(W: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return unit coordinate vectors (d, d) by decreasing column norm / sqrt(m) (d,).

    Equal columns keep their order.
    """
    norms = VARIABLES.magnitudes(np.asarray(W, dtype=np.float64)) / np.sqrt(W.shape[0])
    order = np.argsort(-norms, kind="stable")
    return np.eye(W.shape[1])[order], norms[order]

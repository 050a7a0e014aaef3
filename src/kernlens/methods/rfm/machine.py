"""One recursive feature machine: kernel ridge and the average gradient outer product in turn.

    f = argmin_f  sum_i w_i (y_i - f(x_i))^2 + alpha |f|^2      with the kernel k(L x, L x')
    M = mean of grad f grad f^T over the rows
    L = (M / largest eigenvalue of M)^(1/2)       or, for a diagonal map,  (M_jj / max M_jj)^(1/2)

Radhakrishnan, Beaglehole, Pandit and Belkin, "Mechanism for feature learning in neural networks and
backpropagation-free machine learning models", Science 383 (2024), Algorithm 1. Only distances
matter to a radial kernel, so that any root L of M will do; products over axes have diagonal maps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kernlens._array import FloatArray
from kernlens._execution import split_range
from kernlens._rows import CanonicalRows
from kernlens.linalg.kernel_blocks import BLOCK_ENTRIES
from kernlens.methods.rfm.forms import Form
from kernlens.methods.rfm.kernel import Term
from kernlens.methods.rfm.ranks import Ranks

#: Eigenvalues below this share of the largest are rounding.
ROUNDING = 1e-14


@dataclass(frozen=True)
class Machine:
    """What kind of machine.

    Attributes
    ----------
    name : str
        What users read.
    form : Form
    full : bool
        Whether L is a matrix; else a diagonal.
    ranked : bool
        Whether columns stand beside their ranks.
    """

    name: str
    form: Form
    full: bool
    ranked: bool


@dataclass
class Course:
    """A machine on its way: some rows, and the map as it is.

    Attributes
    ----------
    machine : Machine
    inputs : ndarray of shape (n_rows, d)
        Rows, beside their ranks if the machine uses them.
    weights : ndarray of shape (n_rows,)
    width : float
        In units of the distances of the rows before anything is learned.
    map : ndarray of shape (p, d) or (d,)
        L, without the width.
    unit : float
        These units.
    """

    machine: Machine
    inputs: FloatArray
    weights: FloatArray
    width: float
    map: FloatArray
    unit: float

    @classmethod
    def start(
        cls, machine: Machine, rows: CanonicalRows, ranks: Ranks | None, width: float
    ) -> Course:
        """All columns alike."""
        inputs = rows.X
        if machine.ranked:
            assert ranks is not None
            inputs = ranks.beside(rows.X)
        unit = machine.form.unit(_spreads(inputs, rows.weights)) or 1.0
        return cls(machine, inputs, rows.weights, width, np.ones(inputs.shape[1]), unit)

    @property
    def term(self) -> Term:
        """The kernel with the map as it is."""
        machine = self.machine
        return Term(machine.form, self.map / (self.width * self.unit), machine.ranked)

    def update(self, centers: FloatArray, coefficients: FloatArray) -> None:
        """Learn the map from a function.

        Parameters
        ----------
        centers : ndarray of shape (n_centers, d)
            Inputs of the centres of the function.
        coefficients : ndarray of shape (n_targets, n_centers)
        """
        term = self.term
        others = term.images(centers)
        # All pairs at once would be the largest matrices of a fit.
        parts = [
            term.gradient(term.images(self.inputs[rows]), others, coefficients)
            for rows in split_range(len(self.inputs), max(64, BLOCK_ENTRIES // len(centers)))
        ]
        learned = learned_map(np.concatenate(parts, axis=1), self.weights, self.machine.full)
        if learned is not None:
            self.map = learned


def learned_map(gradients: FloatArray, weights: FloatArray, full: bool) -> FloatArray | None:
    """A root of the average gradient outer product over its largest eigenvalue, or its diagonal's.

    Parameters
    ----------
    gradients : ndarray of shape (n_targets, n_rows, d)
    weights : ndarray of shape (n_rows,)
    full : bool
        Whether a matrix is wanted; else a diagonal.

    Returns
    -------
    ndarray of shape (p, d) or (d,), or None
        None where the function is flat, and says nothing about columns.
    """
    largest = float(np.abs(gradients).max(initial=0.0))
    if not 0.0 < largest < np.inf:
        return None
    # In units of the largest slope: squares of the slopes themselves may overflow or vanish.
    scaled = gradients / largest * np.sqrt(weights / weights.sum())[:, None]
    flat = scaled.reshape(-1, gradients.shape[2])
    if not full:
        lengths = np.sqrt(np.square(flat).sum(axis=0))
        return lengths / lengths.max()
    if flat.shape[1] <= len(flat):
        values, vectors = np.linalg.eigh(flat.T @ flat)
    else:
        # The same eigenvalues, and fewer of them that are zero.
        values, sides = np.linalg.eigh(flat @ flat.T)
        vectors = flat.T @ sides / np.sqrt(np.maximum(values, ROUNDING * values[-1]))
    kept = values > ROUNDING * values[-1]
    roots = np.sqrt(values[kept] / values[-1])
    root: FloatArray = (roots * vectors[:, kept]).T[::-1].copy()
    return root


def _spreads(inputs: FloatArray, weights: FloatArray) -> FloatArray:
    """Standard deviations of columns (n_rows, d), (d,); of columns of any size."""
    centered = inputs - np.average(inputs, axis=0, weights=weights)
    largest = np.abs(centered).max(axis=0)
    largest[largest == 0.0] = 1.0
    mean_squares = np.average(np.square(centered / largest), axis=0, weights=weights)
    spreads: FloatArray = largest * np.sqrt(mean_squares)
    return spreads

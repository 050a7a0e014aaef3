"""The kernel of a machine, and the mixture of those of several machines.

k(x, x') = sum_m b_m k_m(L_m x, L_m x')      with weights b_m >= 0 of sum 1
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kernlens._array import FloatArray
from kernlens._geometry import with_finite_squares
from kernlens._lazy import lazy
from kernlens._rows import CanonicalRows
from kernlens.fits.nystrom_fit import NystromFitter
from kernlens.linalg.kernel_blocks import KernelBlock, KernelBlocks
from kernlens.losses import Loss
from kernlens.methods.rfm.forms import Form
from kernlens.methods.rfm.ranks import Ranks

#: Images of all terms, (n, p) each.
Images = tuple[FloatArray, ...]


@dataclass(frozen=True)
class Term:
    """The kernel of one machine.

    Attributes
    ----------
    form : Form
    map : ndarray of shape (p, d) or (d,)
        L over the width, a matrix or the diagonal of one; d counts ranks as well, if they are used.
    ranked : bool
        Whether columns stand beside their ranks.
    weight : float
        The share of this kernel in the sum of all.
    """

    form: Form
    map: FloatArray
    ranked: bool
    weight: float = 1.0

    def images(self, X: FloatArray) -> FloatArray:
        """Images of rows (n, d), (n, p)."""
        return with_finite_squares(X * self.map if self.map.ndim == 1 else X @ self.map.T)

    def gradient(self, U: FloatArray, V: FloatArray, coefficients: FloatArray) -> FloatArray:
        """Gradients of ``sum_j a_tj k(x, z_j)`` in the d inputs of the map, (n_targets, n, d).

        `U` and `V` are images of rows and centres.
        """
        gradients = self.form.gradient(U, V, coefficients)
        if self.map.ndim == 1:
            return gradients * self.map
        return gradients @ self.map


@dataclass(frozen=True)
class MixedKernel:
    """A weighted sum of the kernels of machines.

    Attributes
    ----------
    terms : tuple of Term
    ranks : Ranks or None
        For the terms that use ranks.
    """

    terms: tuple[Term, ...]
    ranks: Ranks | None

    def images(self, X: FloatArray) -> Images:
        """What the terms look at, for rows (n, n_inputs)."""
        beside = None
        images = []
        for term in self.terms:
            if term.ranked and beside is None:
                assert self.ranks is not None
                beside = self.ranks.beside(X)
            images.append(term.images(X if not term.ranked or beside is None else beside))
        return tuple(images)

    def between(self, images: Images, others: Images) -> FloatArray:
        """Kernel matrix (n, m) of images."""
        parts = zip(self.terms, images, others, strict=True)
        total = None
        for term, U, V in parts:
            matrix = term.form.matrix(U, V)
            matrix *= term.weight
            total = matrix if total is None else np.add(total, matrix, out=total)
        assert total is not None
        return total

    def among(self, X: FloatArray) -> FloatArray:
        """Kernel matrix (n, n) of rows, exactly symmetric, with the diagonal 1."""
        images = self.images(X)
        K = self.between(images, images)
        K += K.T
        K *= 0.5
        np.fill_diagonal(K, 1.0)
        return K

    def matrix(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """Kernel matrix (n, m) of rows and centres."""
        return self.between(self.images(X), self.images(Z))

    def gradient(
        self,
        X: FloatArray,
        others: Images,
        coefficients: FloatArray,
        reach: FloatArray | None = None,
    ) -> FloatArray:
        """Gradients of ``sum_j a_tj k(x, z_j)`` in the inputs, (n_targets, n, n_inputs).

        `others` are the images of the centres; `reach` is that of :meth:`Ranks.pull`.
        """
        total = np.zeros((len(coefficients), *X.shape))
        for term, U, V in zip(self.terms, self.images(X), others, strict=True):
            gradient = term.weight * term.gradient(U, V, coefficients)
            if term.ranked:
                assert self.ranks is not None
                gradient = self.ranks.pull(X, gradient, reach)
            total += gradient
        return total

    def reweighted(self, weights: FloatArray) -> MixedKernel:
        """The same terms with other shares (n_terms,); terms of no weight are left out."""
        pairs = zip(self.terms, weights, strict=True)
        kept = tuple(replace(term, weight=float(share)) for term, share in pairs if share > 0.0)
        return replace(self, terms=kept)


class MixedBlocks(KernelBlocks):
    """A mixed kernel of rows against centres, one block of rows at a time.

    Parameters
    ----------
    mixed : MixedKernel
    X : ndarray of shape (n_samples, n_inputs)
    Z : ndarray of shape (n_centers, n_inputs)
    n_jobs : int or None
    """

    def __init__(
        self, mixed: MixedKernel, X: FloatArray, Z: FloatArray, n_jobs: int | None = None
    ) -> None:
        self.mixed, self.X, self.Z, self.n_jobs = mixed, X, Z, n_jobs
        self.images_of_centers = mixed.images(Z)

    @lazy
    def center_kernel(self) -> tuple[FloatArray, FloatArray]:
        """Values of the centres among themselves, (n_centers, n_centers), and no slopes."""
        return self.mixed.among(self.Z), np.empty((len(self.Z), 0))

    def _block(self, rows: slice) -> KernelBlock:
        values = self.mixed.between(self.mixed.images(self.X[rows]), self.images_of_centers)
        return KernelBlock(rows, self.X[rows], values, np.empty((len(values), 0)))


@dataclass(frozen=True)
class MixedRidge:
    """Fits on centres with mixed kernels, by one loss.

    Attributes
    ----------
    loss : Loss
    n_jobs : int or None
    """

    loss: Loss
    n_jobs: int | None = None

    def fitter(self, rows: CanonicalRows, alpha: float) -> NystromFitter:
        """The minimisation over the coefficients on `rows`."""
        return NystromFitter(self.loss, rows.y, rows.weights, alpha)

    def blocks(self, kernel: MixedKernel, X: FloatArray, Z: FloatArray) -> MixedBlocks:
        """The kernel between rows and centres, in blocks."""
        return MixedBlocks(kernel, X, Z, self.n_jobs)

    def matrix(self, kernel: MixedKernel, X: FloatArray, Z: FloatArray) -> FloatArray:
        """The same as one matrix, (n_rows, n_centers)."""
        return kernel.matrix(X, Z)

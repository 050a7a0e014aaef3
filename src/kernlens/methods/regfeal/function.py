"""The functions that a fit of RegFeaL can end with: two of its own, and two of a refit.

All are functions of the inputs x of a fit, of which they look at ``R^T x`` or ``B x`` only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import is_classifier

from kernlens._array import FloatArray
from kernlens._execution import split_range
from kernlens.features.hermite import HermiteFeatures
from kernlens.features.hermite_indices import DegreeSequence
from kernlens.fits.projected_function import ProjectedKernelFunction
from kernlens.kernels.hermite import HermiteKernel

#: Rows whose features exist at once.
ROWS_PER_BLOCK = 4096
#: Decision values are cut off at so many units of the fit. Far from all rows learned from, a
#: polynomial, or a kernel that grows like all of them together, would overflow.
LARGEST_DECISION = 1e50
#: Smallest probability that a refit may give to a class.
SMALLEST_PROBABILITY = 1e-12


def cut_off(decision: FloatArray) -> FloatArray:
    """Decision values (n_targets, n_rows) of a limited size."""
    return np.clip(decision, -LARGEST_DECISION, LARGEST_DECISION, out=decision)


def slopes_within(slopes: FloatArray, decision: FloatArray) -> FloatArray:
    """Gradients (n_targets, n_rows, n_inputs), zero where decision values are cut off."""
    beyond = np.abs(decision) >= LARGEST_DECISION
    if beyond.any():
        slopes[beyond] = 0.0
    return slopes


@dataclass(frozen=True)
class KernelFunction:
    """``f_t(x) = sum_i dual_ti k(z_i, R^T x) + intercept_t`` with the kernel of all polynomials.

    Attributes
    ----------
    kernel : HermiteKernel
    R : ndarray of shape (n_inputs, n_directions)
    Z : ndarray of shape (n_rows, n_directions)
        Rows that were learned from, in the coordinates ``R^T x``.
    dual : ndarray of shape (n_targets, n_rows)
    intercept : ndarray of shape (n_targets,)
    """

    kind: ClassVar[str] = "hermite_kernel"

    kernel: HermiteKernel
    R: FloatArray
    Z: FloatArray
    dual: FloatArray
    intercept: FloatArray

    def decision(self, X: FloatArray) -> FloatArray:
        """Values at the rows of X, (n_targets, n_rows)."""
        Z = X @ self.R
        parts = [
            self.dual @ self.kernel.matrix(self.Z, Z[rows])
            for rows in split_range(len(Z), ROWS_PER_BLOCK)
        ]
        return cut_off(np.concatenate(parts, axis=1) + self.intercept[:, None])

    def gradient(self, X: FloatArray) -> FloatArray:
        """Gradients at the rows of X, (n_targets, n_rows, n_inputs)."""
        slopes = self.kernel.gradients(self.Z, self.dual, X @ self.R) @ self.R.T
        return slopes_within(slopes, self.decision(X))

    def derivatives(self, X: FloatArray, slopes: FloatArray) -> tuple[FloatArray, FloatArray]:
        """M_f in the coordinates ``R^T x``, and ``sum_t slopes_ti grad f_t`` in them at the rows.

        X must be the rows that were learned from, and the function a minimum.
        """
        # At the minimum the dual coefficients are the slopes of the loss: one pass gives both.
        return self.kernel.derivatives(self.Z, self.dual)

    def arrays(self) -> dict[str, Any]:
        """Rows and coefficients; the directions are attributes of every fit."""
        return {"support_": self.Z, "dual_coef_": self.dual, "intercept_": self.intercept}


@dataclass(frozen=True)
class PolynomialFunction:
    """``f_t(x) = sum_alpha coefficients_t,alpha H_alpha(R^T x) + intercept_t``.

    Attributes
    ----------
    features : HermiteFeatures
    R : ndarray of shape (n_inputs, n_directions)
    coefficients : ndarray of shape (n_targets, n_indices)
    intercept : ndarray of shape (n_targets,)
    sequence : DegreeSequence
        c_k, which the norm of the function and M_f depend on.
    """

    kind: ClassVar[str] = "polynomial"

    features: HermiteFeatures
    R: FloatArray
    coefficients: FloatArray
    intercept: FloatArray
    sequence: DegreeSequence

    def decision(self, X: FloatArray) -> FloatArray:
        """Values at the rows of X, (n_targets, n_rows)."""
        Z = X @ self.R
        parts = [
            self.coefficients @ self.features.matrix(Z[rows]).T
            for rows in split_range(len(Z), ROWS_PER_BLOCK)
        ]
        return cut_off(np.concatenate(parts, axis=1) + self.intercept[:, None])

    def gradient(self, X: FloatArray) -> FloatArray:
        """Gradients at the rows of X, (n_targets, n_rows, n_inputs)."""
        Z, keys = X @ self.R, self.features.derivative
        slopes = np.stack([keys.gradients(row, Z) @ self.R.T for row in self.coefficients])
        return slopes_within(slopes, self.decision(X))

    def derivatives(self, X: FloatArray, slopes: FloatArray) -> tuple[FloatArray, FloatArray]:
        """M_f in the coordinates ``R^T x``, and ``sum_t slopes_ti grad f_t`` in them at rows X."""
        Z, keys = X @ self.R, self.features.derivative
        M = keys.outer_product(self.coefficients, self.sequence(self.features.degrees))
        pull = np.zeros(Z.shape)
        for row, slope in zip(self.coefficients, slopes, strict=True):
            pull += slope[:, None] * keys.gradients(row, Z)
        return M, pull

    def arrays(self) -> dict[str, Any]:
        """Multi-indices and coefficients; the directions are attributes of every fit."""
        return {
            "indices_": self.features.indices,
            "coef_": self.coefficients,
            "intercept_": self.intercept,
        }


#: A function that RegFeaL learns directions with.
HermiteFunction = KernelFunction | PolynomialFunction


@dataclass(frozen=True)
class RefittedKernelFunction(ProjectedKernelFunction):
    """A Gaussian kernel on projected rows."""

    kind: ClassVar[str] = "projected_kernel"

    def arrays(self) -> dict[str, Any]:
        """Map, centres and coefficients."""
        return {
            "projection_": self.B,
            "support_": self.Z,
            "dual_coef_": self.coefficients,
            "intercept_": self.intercept,
        }


@dataclass(frozen=True)
class EstimatorFunction:
    """A fitted estimator of another package, or of this one, on projected rows.

    Attributes
    ----------
    B : ndarray of shape (n_directions, n_inputs)
    estimator : object
    n_classes : int or None
        Classes, if it is a classifier that may not have seen all of them; None if it has.
    """

    kind: ClassVar[str] = "estimator"

    B: FloatArray
    estimator: Any
    n_classes: int | None = None

    def decision(self, X: FloatArray) -> FloatArray:
        """Predictions, or log-odds from probabilities, (n_targets, n_rows)."""
        rows = X @ self.B.T
        if not is_classifier(self.estimator):
            predicted = np.asarray(self.estimator.predict(rows), dtype=np.float64)
            return np.atleast_2d(predicted.T)
        odds = np.log(np.clip(self._probabilities(rows), SMALLEST_PROBABILITY, 1.0)).T
        return odds[1:] - odds[:1] if len(odds) == 2 else odds

    def gradient(self, X: FloatArray) -> FloatArray:
        """Gradients (n_targets, n_rows, n_inputs), by the estimator's own method `gradient`."""
        own = getattr(self.estimator, "gradient", None)
        if own is None:
            raise NotImplementedError(
                f"refit={self.estimator!r} has no method gradient; choose refit=None, 'kernel', or "
                "an estimator of kernlens, whose predictions have gradients."
            )
        rows = X @ self.B.T
        slopes: FloatArray = np.asarray(own(rows), dtype=np.float64)
        slopes = slopes[None] if slopes.ndim == 2 else slopes.transpose(1, 0, 2)
        if is_classifier(self.estimator):
            slopes = self._of_log_odds(slopes, rows)
        return slopes @ self.B

    def arrays(self) -> dict[str, Any]:
        """The map and the estimator, which has the constant."""
        return {"projection_": self.B, "refit_": self.estimator, "intercept_": np.zeros(1)}

    def _probabilities(self, rows: FloatArray) -> FloatArray:
        """Probabilities of all classes, (n_rows, n_classes); zero for those never seen."""
        seen: FloatArray = self.estimator.predict_proba(rows)
        if self.n_classes is None:
            return seen
        probabilities = np.zeros((len(rows), self.n_classes))
        probabilities[:, self.estimator.classes_] = seen
        return probabilities

    def _of_log_odds(self, slopes: FloatArray, rows: FloatArray) -> FloatArray:
        """From the gradients of scores, whose softmax are probabilities, to those of log-odds."""
        if len(slopes) == 1:
            slopes = np.concatenate([np.zeros_like(slopes), slopes])
        if self.n_classes is not None:
            full = np.zeros((self.n_classes, *slopes.shape[1:]))
            full[self.estimator.classes_] = slopes
            slopes = full
        probabilities = self._probabilities(rows).T
        logs = slopes - np.einsum("cn,cnk->nk", probabilities, slopes)
        logs *= (probabilities > SMALLEST_PROBABILITY)[..., None]
        return logs[1:] - logs[:1] if len(logs) == 2 else logs

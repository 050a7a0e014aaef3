"""Regression with random features of any kind: targets, batches, truncation."""

from __future__ import annotations

from typing import Self

from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if

from kernlens._array import FloatArray
from kernlens._validation import check_flag
from kernlens.base.arrays import (
    PRECISIONS,
    check_batch_arrays,
    check_fit_arrays,
    regression_targets,
)
from kernlens.base.contract import all_or_nothing
from kernlens.base.predictions import DecisionRegressorMixin
from kernlens.base.standardisation import Standardisation
from kernlens.fits.held_out import Bounds
from kernlens.methods.rkhs_weightings.stream import StreamingRandomFeatures, can_stream


class RandomFeatureRegressor(DecisionRegressorMixin, StreamingRandomFeatures):
    """Stands left of the base class that says which features there are."""

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the function and its directions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets; several share weights and settings, each divided by its standard deviation so
            that all count alike.
        sample_weight : array-like of shape (n_samples,) or None
            Non-negative weights; a weight of 2 is the row repeated.

        Returns
        -------
        self
        """
        X, y, weights = check_fit_arrays(
            self, X, y, sample_weight, dtype=PRECISIONS, multi_output=True, y_numeric=True
        )
        targets = regression_targets(y)
        self._single_target = y.ndim == 1
        self._fit_encoded(X, targets, weights)
        return self

    @available_if(can_stream)
    @all_or_nothing
    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn from a batch of rows on top of those before, without keeping any.

        The units of columns and targets, the kind of features, and their weights follow from the
        first batch, which should be a fair sample of some thousand rows; `alpha` is chosen
        anew with every batch.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets.
        sample_weight : array-like of shape (n_samples,) or None
            Non-negative weights.

        Returns
        -------
        self
        """
        X, y, weights = check_batch_arrays(
            self, X, y, sample_weight, dtype=PRECISIONS, multi_output=True, y_numeric=True
        )
        targets = regression_targets(y)
        if self._going_on and len(targets) != len(self.intercept_):
            raise ValueError(
                f"y has {len(targets)} targets and those before had {len(self.intercept_)}; give "
                "the same ones in every call."
            )
        self._single_target = y.ndim == 1
        self._partial_fit_encoded(X, targets, weights)
        return self

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_flag("truncate", self.truncate)

    def _target_units(self, y: FloatArray, weights: FloatArray) -> Standardisation:
        # Every target counts alike, whatever its unit, and any unit gives the same fit.
        return Standardisation.of(y.T, weights, True)

    def _bounds(self, seen: Bounds) -> Bounds | None:
        return seen if self.truncate else None

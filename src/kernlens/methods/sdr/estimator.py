"""What all methods for sufficient dimension reduction share: the way from arrays to directions."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from kernlens._array import FloatArray, IntArray
from kernlens._execution import single_threaded_blas
from kernlens._parameters import Parameters, check_parameters
from kernlens._validation import check_memory
from kernlens._warnings import warn
from kernlens.base.arrays import check_fit_arrays
from kernlens.base.block_arrays import remember_columns
from kernlens.base.block_data import Surveyed
from kernlens.base.contract import FeatureLearnerMixin, all_or_nothing
from kernlens.base.estimates import EstimatesMixin, FitShape
from kernlens.base.saved import SavedMixin
from kernlens.blocks import as_blocks, is_blocks
from kernlens.blocks.survey import survey
from kernlens.blocks.table import BlockTable
from kernlens.methods.sdr.data import (
    EncodedTargets,
    ReductionData,
    encode_table,
    encode_targets,
)
from kernlens.subspace import rising_signs


@dataclass(frozen=True)
class FoundDirections:
    """Directions among the inputs of a fit.

    Attributes
    ----------
    directions : ndarray of shape (k, n_inputs)
        Orthonormal rows, most important first.
    importances : ndarray of shape (k,)
        Non-negative, decreasing.
    """

    directions: FloatArray
    importances: FloatArray


class SubspaceFinder(EstimatesMixin, FeatureLearnerMixin, SavedMixin):
    """Fit of a transformer that finds directions and predicts nothing."""

    _learns_from_blocks: ClassVar[bool] = True
    _parameters: ClassVar[Parameters]
    #: Rows of a table that are looked at one by one.
    _sample_rows: ClassVar[int] = 10_000

    categorical: Any
    mean_: FloatArray
    scale_: FloatArray
    inputs_: IntArray

    @abstractmethod
    def _find(self, data: ReductionData) -> FoundDirections:
        """Find the directions that are kept, and store what is the method's own."""

    def _check_parameters(self) -> None:
        check_parameters(self)

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find the directions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), Dask collection or RowBlocks
            Rows. With :class:`~kernlens.RowBlocks` there is no other argument.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets, numbers or labels; several share their directions.
        sample_weight : array-like of shape (n_samples,) or None
            Non-negative weights, of which the ratios matter: a weight twice as large is the row
            repeated.

        Returns
        -------
        self
        """
        if is_blocks(X):
            self._check_parameters()
            return self._fit_table(as_blocks(X, y, sample_weight))
        X, y, weights = check_fit_arrays(self, X, y, sample_weight, multi_output=True)
        targets = encode_targets(y, weights, self.categorical, type(self).__name__)
        return self._fit_rows(X, targets, weights)

    def _fit_rows(self, X: FloatArray, targets: EncodedTargets, weights: FloatArray) -> Self:
        self._check_memory(FitShape(len(X), X.shape[1], len(targets.values)))
        # Products are small, and threads of BLAS spin between them, for seconds on a busy machine.
        with single_threaded_blas():
            data = ReductionData.of(X, targets, weights, type(self).__name__)
            self._store_found(data, self._find(data))
        return self

    def _fit_table(self, table: BlockTable) -> Self:
        """Fit the sample of a table, and what sums over its blocks add to it."""
        remember_columns(self, table)
        table, n_classes = encode_table(table, self.categorical, type(self).__name__)
        found = Surveyed(table, survey(table, self._sample_rows))
        rows = found.survey.sample
        if found.survey.complete:
            return self._fit_rows(
                rows.X, EncodedTargets(rows.y, n_classes is not None), rows.weights
            )
        self._check_memory(FitShape(len(rows.X), rows.X.shape[1], len(rows.y)))
        with single_threaded_blas():
            data = ReductionData.of_table(found, n_classes)
            self._store_found(data, self._find(data))
        return self

    def _check_memory(self, shape: FitShape) -> None:
        n_bytes = self._memory_for(shape).n_bytes
        check_memory(n_bytes, lambda limit: self._advice(shape, limit))

    def _store_found(self, data: ReductionData, found: FoundDirections) -> None:
        columns, rows = data.columns, data.rows
        self.mean_, self.scale_, self.inputs_ = columns.mean, columns.scale, columns.used
        # Their weighted sums are zero, so that these are weighted covariances.
        signs = rising_signs(found.directions, rows.X, rows.weights * data.responses())
        directions = found.directions * signs[:, None]
        of_inputs = found.importances @ np.square(directions)
        self._store_directions(
            columns.embed(directions),
            found.importances,
            columns.embed(of_inputs[None])[0],
            len(directions),
            columns.scale,
        )
        if not len(directions):
            name = type(self).__name__
            warn(f"The fit of {name} found no direction; n_directions_ is 0.", UserWarning)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags

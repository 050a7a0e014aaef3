"""The directions that the members agree on, and how much they vary between the folds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kernlens._array import FloatArray
from kernlens._table import Table
from kernlens.base.tabular import Tabular
from kernlens.model_selection.auto.trials import Found
from kernlens.model_selection.subspace_variation import (
    aligned_with,
    angles_to,
    jackknife_interval,
    orthonormal_rows,
    reproducibility,
)


def agreed(found: Sequence[Found], shares: FloatArray, names: Sequence[str]) -> Found:
    """The main directions of several fits, weighted by their shares.

    They are the eigenvectors of ``sum_m share_m L_m^T diag(importances_m) L_m``, with the loadings
    L_m of every member: directions that heavy members find important come first.

    Parameters
    ----------
    found : sequence of Found
        Of every member.
    shares : ndarray of shape (n_members,)
        Positive.
    names : sequence of str
        Columns of the result; a member may lack some.
    """
    total = np.zeros((len(names), len(names)))
    for one, share in zip(found, shares, strict=True):
        rows = in_columns(one, names)
        total += share * (rows.T * one.importances) @ rows
    values, vectors = np.linalg.eigh(total)
    order = np.argsort(-values, kind="stable")
    return Found(tuple(names), vectors.T[order], values[order].clip(0.0))


def in_columns(found: Found, names: Sequence[str]) -> FloatArray:
    """Loadings in the order of other columns, zero for those that a fit did not have."""
    place = {name: column for column, name in enumerate(found.names)}
    rows = np.zeros((len(found.loadings), len(names)))
    for column, name in enumerate(names):
        if name in place:
            rows[:, column] = found.loadings[:, place[name]]
    return rows


@dataclass(frozen=True, repr=False)
class FoldStability(Tabular):
    """How much the agreed directions vary between folds.

    Attributes
    ----------
    names : tuple of str
        Columns.
    loadings : ndarray of shape (k, n_columns)
        Agreed directions of all rows.
    angles : ndarray of shape (n_folds, k)
        Degrees between every direction and the subspace of every fold.
    intervals : ndarray of shape (2, k, n_columns)
        Bounds of the loadings.
    reproducibility : ndarray of shape (k,)
        Share of the squared length of every direction that is not noise, as that of
        :class:`~kernlens.model_selection.SubspaceStability` with folds.
    """

    names: tuple[str, ...]
    loadings: FloatArray
    angles: FloatArray
    intervals: FloatArray
    reproducibility: FloatArray

    def _table(self) -> Table:
        k, n_columns = self.loadings.shape
        low, high = (bound.ravel() for bound in self.intervals)
        return Table(
            ["direction", "column", "loading", "low", "high"],
            [
                np.repeat(np.arange(k) + 1, n_columns),
                [*self.names] * k,
                self.loadings.ravel(),
                low,
                high,
            ],
        )


def stability_of(
    loadings: FloatArray, names: Sequence[str], folds: Sequence[Found], coverage: float = 0.9
) -> FoldStability | None:
    """Compare directions of all rows (k, n_columns) with those of every fold; None for one fold."""
    n_folds, k = len(folds), len(loadings)
    if n_folds < 2 or k == 0:
        return None
    spans = [orthonormal_rows(in_columns(one, names)[:k]) for one in folds]
    samples = np.array([aligned_with(loadings, rows) for rows in spans])
    angles = np.degrees([angles_to(loadings, rows) for rows in spans])
    bounds = jackknife_interval(loadings, samples, coverage, [n_folds]).clip(-1.0, 1.0)
    return FoldStability(tuple(names), loadings, angles, bounds, reproducibility(angles, [n_folds]))

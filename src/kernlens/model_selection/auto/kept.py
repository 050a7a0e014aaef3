"""What an automatic estimator remembers of its rows, so that it can write a page by itself."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from kernlens._array import FloatArray
from kernlens._pages import head_of_page, write_page
from kernlens.tables.reading import take_rows

#: Rows of the table that are remembered, at most and, of a table with many columns, at least; and
#: how many values they should have together.
MOST_ROWS, FEWEST_ROWS = 1000, 50
MOST_VALUES = 200_000


@dataclass(frozen=True, eq=False)
class Kept:
    """Some rows, and the predictions of those that were left out.

    Attributes
    ----------
    X : table
        A sample of the rows, as the user gave them.
    targets : ndarray
        Their targets or labels.
    sample_weight : ndarray or None
        Their weights.
    y : ndarray of shape (n_left_out,)
        Targets or labels of all rows left out.
    prediction : ndarray of shape (n_left_out,) or (n_left_out, n_classes)
        Predictions or probabilities of fits without them.
    weights : ndarray of shape (n_left_out,) or None
    n_rows : int
        Rows of the fit.
    """

    X: Any
    targets: NDArray[Any]
    sample_weight: FloatArray | None
    y: NDArray[Any]
    prediction: FloatArray
    weights: FloatArray | None
    n_rows: int


def kept_of(
    X: Any,
    targets: NDArray[Any],
    weights: FloatArray | None,
    places: NDArray[np.intp],
    prediction: FloatArray,
    seed: int,
) -> Kept:
    """Remember what a page needs.

    Parameters
    ----------
    X : table
    targets : ndarray of shape (n_rows,)
        Targets, or labels as the user has them.
    weights : ndarray of shape (n_rows,) or None
    places : ndarray of int of shape (n_left_out,)
        Rows that were left out, in the order of `prediction`.
    prediction : ndarray of shape (n_left_out,) or (n_left_out, n_classes)
    seed : int
    """
    n_rows = len(targets)
    number = min(MOST_ROWS, n_rows, max(FEWEST_ROWS, MOST_VALUES // X.shape[1]))
    rows = np.sort(np.random.default_rng(seed).choice(n_rows, number, replace=False))
    return Kept(
        take_rows(X, rows),
        targets[rows],
        None if weights is None else weights[rows],
        targets[places],
        prediction,
        None if weights is None else weights[places],
        n_rows,
    )


class PagesMixin(BaseEstimator):
    """A page about the fit, and its head in notebooks."""

    _kept: Kept

    def report(self, path: str | os.PathLike[str] = "report.html", **options: Any) -> Path:
        """Write a page about the fit: one file of HTML that opens without a network.

        As :func:`kernlens.report`, with what the fit remembers: the predictions of rows that were
        left out, and a sample of at most 1000 rows for the pictures. Files of saved models have no
        rows in them, since models are passed on where data must not be: for a loaded model give the
        rows to :func:`kernlens.report`.

        Parameters
        ----------
        path : str or path-like, default="report.html"
            Where.
        **options
            Keywords of :func:`kernlens.report`: `X_test`, `y_test`, `target_name`, `context` and
            the others.

        Returns
        -------
        Path
            The file.
        """
        check_is_fitted(self)
        kept = getattr(self, "_kept", None)
        if kept is None:
            raise ValueError(
                "A model that was saved and loaded remembers no rows: pass them, as "
                "kernlens.report(model, X, y, path)."
            )
        options.setdefault("sample_weight", kept.sample_weight)
        return write_page(self, kept.X, kept.targets, path, **options)

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes without rows of the user, which no file must have."""
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_kept", None)
        return state

    def _html_head(self) -> str:
        return head_of_page(self)

    @property
    def _repr_html_(self) -> Callable[[], str]:
        """The head of the page in a notebook; before a fit the diagram of scikit-learn."""
        return self._html_head if hasattr(self, "member_names_") else super()._repr_html_

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        found: dict[str, str] = super()._repr_mimebundle_(**options)
        if hasattr(self, "member_names_") and "text/html" in found:
            found["text/html"] = self._html_head()
        return found

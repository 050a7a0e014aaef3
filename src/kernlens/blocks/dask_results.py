"""What a fitted model says of a collection of Dask, as another collection.

Nothing is computed here but two rows, which show the shape and the type of an answer. The model is
one task, so that it is sent once and workers pass it on; rows stay where they are.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernlens._execution import as_worker

#: Where the names of columns of answers are found.
NAMES = {
    "decision_function": "classes_",
    "predict_proba": "classes_",
    "predict_log_proba": "classes_",
    "gradient": "feature_names_in_",
}
#: Columns of an interval.
BOUNDS = ["low", "high"]


@dataclass(frozen=True)
class Answer:
    """A method of a model, to be called with some rows.

    Attributes
    ----------
    method : str
    args : tuple
    options : dict
        Its other arguments.
    shape : tuple of int
        Of what it says of one row.
    dtype : dtype
    columns : list or None
        Names of columns of a data frame; None for a series.
    """

    method: str
    args: tuple[Any, ...]
    options: dict[str, Any]
    shape: tuple[int, ...] = ()
    dtype: Any = np.float64
    columns: list[Any] | None = None

    def of_rows(self, rows: Any, model: Any) -> NDArray[Any]:
        """The answer of a model, as an array whose first axis are the rows."""
        if len(rows) == 0:
            return np.empty((0, *self.shape), dtype=self.dtype)
        with as_worker():
            found = getattr(model, self.method)(_by_place(rows, model), *self.args, **self.options)
        return np.asarray(found)

    def of_frame(self, rows: Any, model: Any) -> Any:
        """The answer of a model as a series or a data frame with the index of the rows."""
        import pandas

        values = self.of_rows(rows, model)
        if self.columns is None:
            return pandas.Series(values, index=rows.index, name=self.method)
        return pandas.DataFrame(values, index=rows.index, columns=self.columns)


def collection_of(
    model: Any, method: str, X: Any, args: tuple[Any, ...], options: dict[str, Any]
) -> Any:
    """What ``model.method(X, *args, **options)`` is, partition by partition.

    Parameters
    ----------
    model : estimator
        As it is now: a fit that comes later does not change the answer.
    method : str
    X : dask.array.Array or dask.dataframe.DataFrame
    args : tuple
    options : dict
    """
    from dask.delayed import delayed

    of_arrays = hasattr(X, "chunks")
    few = np.ones((2, int(X.shape[1])), dtype=X.dtype) if of_arrays else X._meta_nonempty
    answer = Answer(method, args, options)
    # The same complaints as of arrays, about names, numbers of columns, or a model without a fit.
    example = answer.of_rows(few, model)
    answer = Answer(method, args, options, example.shape[1:], example.dtype)
    sent = delayed(copy(model), pure=False, traverse=False, name=_name(model))
    if of_arrays:
        return _array(answer, X, sent)
    if example.ndim == 1:
        return X.map_partitions(answer.of_frame, sent, meta=answer.of_frame(few, model).iloc[:0])
    if example.ndim == 2:
        columns = _columns(model, method, X, example.shape[1])
        answer = Answer(method, args, options, example.shape[1:], example.dtype, columns)
        return X.map_partitions(answer.of_frame, sent, meta=answer.of_frame(few, model).iloc[:0])
    return _stacked(answer, X, sent)


def _array(answer: Answer, X: Any, sent: Any) -> Any:
    import dask.array

    X = X.rechunk({1: -1})
    n_axes = 1 + len(answer.shape)
    return dask.array.map_blocks(
        answer.of_rows,
        X,
        model=sent,
        chunks=(X.chunks[0], *((length,) for length in answer.shape)),
        drop_axis=[1] if n_axes == 1 else None,
        new_axis=[2] if n_axes == 3 else None,
        dtype=answer.dtype,
        meta=np.empty((0,) * n_axes, dtype=answer.dtype),
    )


def _stacked(answer: Answer, X: Any, sent: Any) -> Any:
    """An array with three axes: there are no such data frames."""
    import dask.array
    from dask.delayed import delayed

    parts = [
        dask.array.from_delayed(
            delayed(answer.of_rows, pure=False)(part, sent),
            shape=(np.nan, *answer.shape),
            dtype=answer.dtype,
        )
        for part in X.to_delayed()
    ]
    return dask.array.concatenate(parts, allow_unknown_chunksizes=True)


def _columns(model: Any, method: str, X: Any, n_columns: int) -> list[Any]:
    """Names of the columns of an answer; numbers where there are none."""
    if method == "transform":
        return list(model.get_feature_names_out())
    names = getattr(model, NAMES.get(method, ""), None)
    if names is None and method == "gradient":
        names = X.columns
    if names is None and method == "predict_interval":
        names = BOUNDS
    return list(range(n_columns)) if names is None else list(names)


def _by_place(rows: Any, model: Any) -> Any:
    """Rows as an array for a model that has learned no names, which takes columns by place."""
    named = hasattr(rows, "columns") and hasattr(model, "feature_names_in_")
    if named or not hasattr(rows, "dtypes"):
        return rows
    numbers = all(getattr(dtype, "kind", "O") in "biuf" for dtype in rows.dtypes)
    return rows.to_numpy() if numbers else rows


def _name(model: Any) -> str:
    from uuid import uuid4

    return f"{type(model).__name__}-{uuid4().hex}"

"""Predictions for collections of Dask: what estimators say of it, without knowing Dask."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from kernlens.blocks.dask_table import is_dask

Estimator = TypeVar("Estimator", bound=type)


def lazy_on_dask(*methods: str) -> Callable[[Estimator], Estimator]:
    """Let methods of a class, whose first argument is X, take collections of Dask.

    They then return collections that nobody has computed yet, with the partitions of X. A
    decorator of classes: it goes around whatever a class has wrapped its methods in, as
    scikit-learn does with `transform` to make data frames.
    """

    def taught(cls: Estimator) -> Estimator:
        for name in methods:
            setattr(cls, name, _lazy(vars(cls)[name]))
        return cls

    return taught


def _lazy(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def of_rows_or_collection(self: Any, X: Any, *args: Any, **options: Any) -> Any:
        if not is_dask(X):
            return method(self, X, *args, **options)
        from kernlens.blocks.dask_results import collection_of

        return collection_of(self, method.__name__, X, args, options)

    return of_rows_or_collection

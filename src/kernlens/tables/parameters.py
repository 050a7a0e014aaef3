"""Constructor arguments of the preprocessor of tables, as data."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kernlens._parameters import RANDOM_STATE, Choice, Count, Kind, Optional, Parameter, Parameters


class Names(Kind):
    """None, or a list of names of columns."""

    def check(self, name: str, value: Any) -> None:
        if value is not None and not isinstance(value, list | tuple | set | frozenset):
            raise ValueError(f"{name} must be None or a list of names of columns, got {value!r}.")

    def bad_values(self) -> tuple[Any, ...]:
        return (3, "id", True)


TABLE: Parameters = {
    "task": Parameter(
        Choice(("auto", "regression", "classification")),
        "auto",
        '{"auto", "regression", "classification"}',
        """What y is, for encodings by the target. ``"auto"`` takes text, truth values and at most
        10 different whole numbers for classes, and other numbers for numbers.""",
    ),
    "max_levels": Parameter(
        Count(),
        10,
        "int",
        """Levels of a category that get a column each; one with more is encoded by the mean of the
        target. Without y, the `max_levels` most frequent levels get a column.""",
        search=(5, 40),
    ),
    "imputation": Parameter(
        Choice(("median", "mean")),
        "median",
        '{"median", "mean"}',
        "What stands for missing numbers and dates, taken from the rows of the fit.",
        search=("mean",),
    ),
    "n_folds": Parameter(
        Count(least=2),
        5,
        "int",
        """Folds of `fit_transform`: the mean of the target that a training row gets for its level
        is that of the other folds.""",
    ),
    "max_columns": Parameter(
        Optional(Count()),
        None,
        "int or None",
        """Columns that come out, at most. Where there would be more, those are kept that say most
        of y, each for itself: polynomials of degree 4 in their ranks are fitted to y, on at most
        3000 rows, and compared by F-tests. None, or no y, keeps all.""",
    ),
    "keep": Parameter(
        Names(),
        None,
        "list of str or None",
        "Columns that are never left out as identifiers or free text.",
    ),
    "random_state": replace(RANDOM_STATE, text="Seed of the folds."),
}

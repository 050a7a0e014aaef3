"""What happens to one row when one of its columns, or its place along one direction, changes."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from kernlens._array import FloatArray, IntArray
from kernlens.inspection._response import make_response
from kernlens.inspection.direction_profile import natural_moves
from kernlens.reporting.data_profile import Read, read_table
from kernlens.reporting.responses import looked_at, response_name
from kernlens.reporting.subject import CLASSES, DIRECTIONS, Subject, unwrapped
from kernlens.tables.reading import as_frame, take_rows

#: Rows to choose from, columns with a slider, and values of a slider.
N_ROWS = 5
MOST_COLUMNS = 6
MOST_DIRECTIONS = 3
N_VALUES = 21
MOST_LEVELS = 12


def what_if_of(subject: Subject, columns: list[str]) -> dict[str, Any] | None:
    """Predictions of a few rows with one thing changed at a time; None without predictions.

    Parameters
    ----------
    subject : Subject
    columns : list of str
        Columns of X, the most important first.
    """
    if subject.kind == DIRECTIONS:
        return None
    predict = _Prediction(subject)
    rows = subject.rows
    values = predict(rows)
    chosen = _spread_rows(values[:, -1] if subject.kind == CLASSES else values[:, 0])
    read = read_table(rows, subject.names)
    sliders: list[dict[str, Any]] = []
    for name in columns:
        if name in subject.names and len(sliders) < MOST_COLUMNS:
            slider = _column_slider(predict, rows, read, subject.names.index(name), chosen)
            if slider is not None:
                sliders.append(slider)
    return {
        "outputs": predict.names,
        "rows": [
            {"row": int(subject.sample[place]) + 1, "prediction": values[place]} for place in chosen
        ],
        "columns": sliders,
        "directions": _direction_sliders(subject, rows, chosen),
    }


class _Prediction:
    """All numbers that are shown of a row, (n_rows, n_outputs)."""

    def __init__(self, subject: Subject) -> None:
        self._responses = [
            make_response(subject.model, subject.targets, label) for label in looked_at(subject)
        ]
        self.names = [response_name(subject, label) for label in looked_at(subject)]

    def __call__(self, rows: Any) -> FloatArray:
        return np.column_stack([one.predict(rows) for one in self._responses])


def _spread_rows(values: FloatArray) -> IntArray:
    """Rows from the lowest prediction to the highest."""
    order = np.argsort(values, kind="stable")
    return order[np.unique(np.linspace(0, len(order) - 1, N_ROWS).round().astype(np.intp))]


def _column_slider(
    predict: _Prediction, rows: Any, read: list[Read], column: int, chosen: IntArray
) -> dict[str, Any] | None:
    """A slider over values that some row has, so that they are of the right type."""
    donors, labels = read[column].values_to_try(N_VALUES, MOST_LEVELS)
    if len(donors) < 2:
        return None
    tried = np.repeat(chosen, len(donors))
    changed = with_column(rows, tried, column, np.tile(donors, len(chosen)))
    found = predict(changed).reshape(len(chosen), len(donors), -1)
    own = [read[column].nearest(int(place), donors) for place in chosen]
    return {
        "name": read[column].name,
        "kind": read[column].kind,
        "values": labels,
        # Values in an order come first; categories have none, and what is missing has no place.
        "n_ordered": _n_ordered(read[column], donors),
        "own_value": own,
        "own_text": [read[column].shown(int(place)) for place in chosen],
        "predictions": found,
    }


def _n_ordered(one: Read, donors: IntArray) -> int:
    return int(np.count_nonzero(~one.column.missing[donors])) if one.is_numeric else 0


def with_column(rows: Any, places: IntArray, column: int, donors: IntArray) -> Any:
    """Rows at `places`, with the column as the rows at `donors` have it."""
    changed, others = take_rows(rows, places), take_rows(rows, donors)
    frame = as_frame(changed)
    if isinstance(frame, nw.DataFrame):
        name = frame.columns[column]
        # By position: a pandas Series brings an index that has nothing to do with these rows.
        donor = as_frame(others).select(name).to_native()
        if hasattr(donor, "reset_index"):
            changed, donor = changed.reset_index(drop=True), donor.reset_index(drop=True)
        frame = nw.from_native(changed, eager_only=True)
        return frame.with_columns(nw.from_native(donor, eager_only=True)[name]).to_native()
    changed = np.array(changed)
    changed[:, column] = np.asarray(others)[:, column]
    return changed


def _direction_sliders(subject: Subject, rows: Any, chosen: IntArray) -> list[dict[str, Any]]:
    inside = unwrapped(subject, rows)
    shown = min(int(inside.model.n_directions_), MOST_DIRECTIONS)
    if shown == 0:
        return []
    points = np.asarray(inside.rows, dtype=np.float64)
    z = np.asarray(inside.model.transform(inside.rows), dtype=np.float64)
    moves = natural_moves(points, z)
    responses = [
        make_response(inside.model, subject.targets, label) for label in looked_at(subject)
    ]
    sliders = []
    for place in range(shown):
        grid = np.quantile(z[:, place], np.linspace(0.02, 0.98, N_VALUES))
        if np.ptp(grid) == 0.0:
            continue
        steps = grid - z[chosen, place][:, None]
        moved = points[chosen][:, None, :] + steps[:, :, None] * moves[place]
        flat = moved.reshape(-1, points.shape[1])
        found = np.column_stack([one.predict(flat) for one in responses])
        own = z[chosen, place]
        sliders.append(
            {
                "number": place + 1,
                "values": grid,
                "n_ordered": N_VALUES,
                "own_value": [int(np.argmin(np.abs(grid - value))) for value in own],
                "own": own,
                "predictions": found.reshape(len(chosen), N_VALUES, -1),
            }
        )
    return sliders

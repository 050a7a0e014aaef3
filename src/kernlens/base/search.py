"""What a search of settings saw: the same record, however a family searches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernlens._array import FloatArray

#: Keys of the plain form that are not settings.
RESERVED = ("loss", "chosen", "searched")


@dataclass(frozen=True)
class SearchRecord:
    """Settings that were tried, and their losses on rows that were held out.

    Attributes
    ----------
    settings : dict of str to ndarray of shape (n_tried,)
        Values of every setting that was searched, by name. Together they tell the tries apart.
    losses : ndarray of shape (n_tried,)
        Mean losses on held-out rows.
    chosen : int
        Position of the try whose settings the fit has.
    notes : dict of str to ndarray of shape (n_tried,)
        What else is known of every try, such as a setting in other units.
    """

    settings: Mapping[str, NDArray[Any]]
    losses: FloatArray
    chosen: int
    notes: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    def curve(self, name: str) -> tuple[NDArray[Any], FloatArray]:
        """Values of one setting in increasing order, and their losses.

        The other settings are those of the chosen try.
        """
        same = np.ones(len(self.losses), dtype=bool)
        for other, values in self.settings.items():
            if other != name:
                same &= values == values[self.chosen]
        values, losses = self.settings[name][same], self.losses[same]
        order = np.argsort(values, kind="stable")
        return values[order], losses[order]

    def as_dict(self) -> dict[str, Any]:
        """Plain arrays, to be kept by a fitted model: `settings`, `notes`, `loss`, `chosen`."""
        return {
            **self.settings,
            **self.notes,
            "loss": np.asarray(self.losses),
            "chosen": int(self.chosen),
            "searched": list(self.settings),
        }

    def with_alpha_times(self, factor: float) -> SearchRecord:
        """The record in other units of alpha, such as those of another number of rows."""
        return replace(self, settings={**self.settings, "alpha": factor * self.settings["alpha"]})

    @classmethod
    def of_dict(cls, plain: Mapping[str, Any]) -> SearchRecord:
        """The record that :meth:`as_dict` has written down."""
        searched = list(plain["searched"])
        others = [name for name in plain if name not in (*searched, *RESERVED)]
        return cls(
            {name: np.asarray(plain[name]) for name in searched},
            np.asarray(plain["loss"]),
            int(plain["chosen"]),
            {name: np.asarray(plain[name]) for name in others},
        )

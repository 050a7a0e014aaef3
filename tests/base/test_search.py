"""One record of a search, whatever was searched."""

from __future__ import annotations

import numpy as np

from kernlens.base.search import SearchRecord

RECORD = SearchRecord(
    {
        "alpha": np.array([1.0, 0.1, 0.01, 1.0, 0.1]),
        "ratio": np.array([2.0, 2.0, 2.0, 5.0, 5.0]),
    },
    np.array([3.0, 1.0, 2.0, 0.5, 9.0]),
    1,
    {"mu": np.array([2.0, 0.2, 0.02, 5.0, 0.5])},
)


def test_a_curve_keeps_the_other_settings_at_the_chosen_ones():
    values, losses = RECORD.curve("alpha")
    np.testing.assert_array_equal(values, [0.01, 0.1, 1.0])
    np.testing.assert_array_equal(losses, [2.0, 1.0, 3.0])
    values, losses = RECORD.curve("ratio")
    np.testing.assert_array_equal(values, [2.0, 5.0])
    np.testing.assert_array_equal(losses, [1.0, 9.0])


def test_the_plain_form_is_read_back():
    plain = RECORD.as_dict()
    assert plain["chosen"] == 1 and plain["searched"] == ["alpha", "ratio"]
    again = SearchRecord.of_dict(plain)
    assert again.settings.keys() == RECORD.settings.keys()
    assert again.notes.keys() == {"mu"}
    np.testing.assert_array_equal(again.losses, RECORD.losses)
    for name in ("alpha", "ratio"):
        np.testing.assert_array_equal(again.curve(name), RECORD.curve(name))


def test_words_are_settings_too():
    record = SearchRecord(
        {"alpha": np.array([1.0, 2.0]), "base": np.array(["relu", "sign"])}, np.ones(2), 1
    )
    np.testing.assert_array_equal(record.curve("alpha")[0], [2.0])

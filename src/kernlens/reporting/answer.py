"""The answer in plain words, made of the numbers of a summary and of nothing else."""

from __future__ import annotations

import math
from typing import Any

from kernlens.reporting.formats import counted, fixed, number, percent, word

#: Columns that the answer names, and the share of importance from which on one is named.
MOST_NAMED = 5
LEAST_SHARE = 0.02
PLACES = {
    "test": "{} held-out rows",
    "left_out": "{} rows that were left out in turn",
    "training": "the {} rows it learned from",
}


#: What is said of a model that is not shown to predict.
MEANS_NOTHING = (
    "All that follows describes what the model made of the rows it learned from. It is not shown "
    "to say anything about other rows, and may be noise."
)


def answer_of(summary: dict[str, Any]) -> dict[str, Any]:
    """Paragraphs of the answer, the first of which says how well the model predicts.

    Parameters
    ----------
    summary : dict
        Plain, with its other parts.

    Returns
    -------
    dict
        ``predicts`` (True, False, or None where it cannot be said) and ``parts``, each with a
        ``topic`` and a ``text``.
    """
    better = predicts(summary)
    parts = [
        ("How well it predicts", _how_well(summary)),
        ("What that means", MEANS_NOTHING if better is False else ""),
        ("Beside simpler models", _beside(summary)),
        ("How many directions", _how_many(summary)),
        ("Which columns", _which(summary)),
        ("How sure the directions are", _how_sure(summary)),
    ]
    return {
        "predicts": better,
        "parts": [{"topic": topic, "text": text} for topic, text in parts if text],
    }


def predicts(summary: dict[str, Any]) -> bool | None:
    """Whether rows that were not learned from are predicted better than by a constant, surely."""
    scores = summary.get("scores")
    if scores is None:
        return _board_predicts(summary.get("leaderboard"))
    if scores["where"] == "training":
        return None
    by_key = {one["key"]: one for one in scores["scores"]}
    if "r2" in by_key:
        low = by_key["r2"]["low"]
        return None if low is None else low > 0.0
    accuracy, loss = by_key["accuracy"], by_key.get("log_loss")
    constant = scores["constant"]["scores"]
    if loss is not None and loss["high"] is not None and constant.get("log_loss") is not None:
        return bool(loss["high"] < constant["log_loss"])
    low = accuracy["low"]
    return None if low is None else low > constant["accuracy"]


def _board_predicts(board: Any) -> bool | None:
    if board is None or board["score_name"] != "R2":
        return None
    final = _row(board, board["final"])
    return None if final is None or final["low"] is None else final["low"] > 0.0


def _how_well(summary: dict[str, Any]) -> str:
    scores = summary.get("scores")
    if scores is None:
        return _from_board(summary.get("leaderboard"))
    by_key = {one["key"]: one for one in scores["scores"]}
    place = PLACES[scores["where"]].format(number(scores["n_rows"]))
    if scores["n_rows"] == 1:
        place = place.replace("rows", "row")
    target = summary["data"]["target"]["name"]
    constant = scores["constant"]["scores"]
    if "accuracy" in by_key:
        return _of_classes(by_key, constant, scores, place)
    return _of_numbers(by_key, constant, scores, place, target, predicts(summary))


def _of_numbers(
    by_key: dict[str, Any],
    constant: dict[str, Any],
    scores: dict[str, Any],
    place: str,
    target: str,
    better: bool | None,
) -> str:
    r2, mae = by_key["r2"], by_key["mae"]
    miss = (
        f"Predictions miss by {number(mae['value'])} on average, where the mean of all rows misses "
        f"by {number(constant['mae'])}."
    )
    if r2["value"] is None:
        return f"There is no spread of {target} on {place} that could be explained. {miss}"
    interval = _interval(r2, scores["coverage"], percent)
    if better is False:
        return (
            f"On {place} it explains {percent(r2['value'])} of the variance of {target}{interval}: "
            f"it is not shown to predict better than a constant. {miss}"
        )
    share = percent(r2["value"])
    return f"It explains {share} of the variance of {target} on {place}{interval}. {miss}"


def _of_classes(
    by_key: dict[str, Any], constant: dict[str, Any], scores: dict[str, Any], place: str
) -> str:
    accuracy, loss = by_key["accuracy"], by_key.get("log_loss")
    label = scores["constant"]["prediction"]
    text = (
        f"It names the right class for {percent(accuracy['value'])} of {place}"
        f"{_interval(accuracy, scores['coverage'], percent)}, where always naming “{label}” is "
        f"right for {percent(constant['accuracy'])}."
    )
    if loss is not None:
        text += (
            f" The log loss of its probabilities is {fixed(loss['value'], 3)}"
            f"{_interval(loss, scores['coverage'], _three)}; that of the "
            f"shares of the classes is {fixed(constant.get('log_loss'), 3)}."
        )
    return text


def _interval(score: dict[str, Any], coverage: float, shown: Any) -> str:
    if score["low"] is None or score["high"] is None:
        return ""
    return f" ({percent(coverage)} interval {shown(score['low'])} to {shown(score['high'])})"


def _three(value: float) -> str:
    return fixed(value, 3)


def _from_board(board: Any) -> str:
    if board is None:
        return ""
    final = _row(board, board["final"])
    if final is None:
        return ""
    return (
        f"On rows that were left out in turn, {board['score_name']} is "
        f"{fixed(final['score'], 3)}{_interval(final, board['coverage'], _three)}."
    )


def _with_bounds(row: dict[str, Any]) -> str:
    if row["low"] is None:
        return fixed(row["score"], 3)
    return f"{fixed(row['score'], 3)} ({fixed(row['low'], 3)} to {fixed(row['high'], 3)})"


def _row(board: dict[str, Any], name: str | None) -> dict[str, Any] | None:
    found = next((row for row in board["rows"] if row["name"] == name), None)
    return found if found is None or found["score"] is not None else None


def _beside(summary: dict[str, Any]) -> str:
    """A straight line and gradient boosting, on the same rows left out."""
    board = summary.get("leaderboard")
    if board is None:
        return ""
    final = _row(board, board["final"])
    if final is None:
        return ""
    others = []
    for name, text in ((board["line"], "a straight line"), (board["trees"], "gradient boosting")):
        row = _row(board, name)
        if row is not None:
            others.append(f"{text} {_with_bounds(row)}, which is {_judged(final, row)}")
    if not others:
        return ""
    return (
        f"On rows that were left out in turn, {board['score_name']} is {_with_bounds(final)}; "
        f"{'; '.join(others)}. Higher is better."
    )


def _judged(final: dict[str, Any], row: dict[str, Any]) -> str:
    errors = [one["standard_error"] for one in (final, row)]
    if None in errors:
        return "worse" if row["score"] < final["score"] else "as good or better"
    apart = final["score"] - row["score"]
    if abs(apart) <= math.hypot(*errors):
        return "about as good"
    return "worse" if apart > 0.0 else "better"


def _how_many(summary: dict[str, Any]) -> str:
    found = summary.get("directions")
    if found is None:
        return ""
    count = found["n_directions"]
    if count == 0:
        return "No direction was kept: none predicts rows left out better than a constant."
    columns = f"of the {counted(found['n_columns'], 'column')}"
    weak = summary["data"].get("n_weak", 0)
    kept = "was kept" if count == 1 else "were kept"
    if weak:
        # What is said of the columns comes last, so that the sentence can be read.
        columns, all_of_them = "", number(found["n_columns"] + weak)
        kept += (
            f", made of the {number(found['n_columns'])} of {all_of_them} prepared columns that "
            "say most of the target"
        )
    if count == 1:
        return f"One mixture {kept}." if weak else f"One mixture {columns} matters."
    share = percent(found["directions"][0]["importance"])
    text = f"{word(count).capitalize()} mixtures {columns}".rstrip()
    return f"{text} {kept}; the first has {share} of the importance."


def _which(summary: dict[str, Any]) -> str:
    columns = (summary.get("columns") or {"columns": []})["columns"]
    named = [one for one in columns if one["importance"] >= LEAST_SHARE][:MOST_NAMED]
    if not named or not (summary.get("directions") or {"n_directions": 0})["n_directions"]:
        return ""
    text = ", ".join(f"{one['name']} ({percent(one['importance'])})" for one in named)
    share = sum(one["importance"] for one in named)
    rest = "" if share > 0.995 else f"; all others have {percent(1.0 - share)}"
    return f"Shares of the importance: {text}{rest}."


def _how_sure(summary: dict[str, Any]) -> str:
    found = summary.get("directions")
    if found is None or not found["n_directions"]:
        return ""
    stability = found["stability"]
    if stability is None:
        return (
            "How much the directions depend on these very rows was not measured: their bars have "
            "no intervals."
        )
    how = (
        f"When the fit sees {counted(stability['n_resamples'], 'resample')} of the rows"
        if stability["method"] == "bootstrap"
        else f"When {counted(stability['n_resamples'], 'part')} of the rows are left out in turn"
    )
    sure: list[str] = []
    unsure: list[str] = []
    for one in found["directions"]:
        clear = one["reproducibility"] is not None
        clear = clear and one["reproducibility"] >= stability["reproducible_from"]
        text = f"direction {one['number']} by {fixed(one['angle'], 0)}°"
        (sure if clear else unsure).append(text)
    parts = []
    if sure:
        parts.append(f"{how}, {_listed(sure)} (median) away from what was found: reproducible.")
    if unsure:
        begin = "Not reproducible" if sure else f"{how}, no direction is reproducible"
        parts.append(
            f"{begin}: {_listed(unsure)}. The weights of such a direction should not be read."
        )
    return " ".join(parts)


def _listed(texts: list[str]) -> str:
    first = texts[0].replace(" by ", " turns by ")
    return ", ".join([first, *texts[1:]])

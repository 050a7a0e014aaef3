"""A page written to a file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kernlens._atomic import replacing
from kernlens._pages import register
from kernlens.reporting.page import render, render_head
from kernlens.reporting.summary import summarize, summarize_head


def report(
    model: Any,
    X: Any,
    y: Any = None,
    path: str | os.PathLike[str] = "report.html",
    *,
    X_test: Any = None,
    y_test: Any = None,
    left_out: Any = None,
    sample_weight: Any = None,
    feature_names: Sequence[str] | None = None,
    target_name: str | None = None,
    context: Mapping[str, Any] | None = None,
    stability: int | None = None,
    random_state: int = 0,
) -> Path:
    """Write a page about a fitted model: one file of HTML that opens without a network.

    The answer comes first, in words with numbers and their uncertainty; then come directions,
    curves, predictions, the data and how the page was made. A file of the same name is replaced
    when the new one is whole.

    Parameters
    ----------
    model : fitted estimator of kernlens, or fitted Pipeline that ends with one
        Regressor, classifier, finder of directions, embedding or clustering.
    X : table or array-like of shape (n_samples, n_features)
        Rows it was fitted to.
    y : array-like of shape (n_samples,) or None
        Their targets, if it learned from some.
    path : str or path-like, default="report.html"
        Where.
    X_test, y_test : the same, or None
        Rows it has not seen, which tell how well it predicts; without them the page says what it
        is judged by.
    left_out : array-like of shape (n_samples,) or (n_samples, n_classes), or None
        Instead of test rows: predictions of the rows of `X` by fits that had not seen them, as
        ``cross_val_predict`` gives them, and probabilities for classes.
    sample_weight : array-like of shape (n_samples,) or None
        Weights of the rows of `X`.
    feature_names : sequence of str or None
        Names of the columns of an array; those of a data frame are known.
    target_name : str or None
        Name of the target; by default that of a Series, or y.
    context : dict or None
        What only the caller knows: ``command``, ``data_file``, ``seed``, ``warnings`` (a list of
        sentences), ``left_out`` (a dict of columns that were not passed on, and why), ``title``
        and ``rows_read``.
    stability : int or None
        Number of resamples that the learner is fitted again to, for intervals of its directions.
    random_state : int, default=0
        Seed of the rows that pictures show and of intervals of scores.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    ValueError
        If the rows do not fit the model, or there are several targets.
    OSError
        If the file cannot be written; what was there before is then still there.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import kernlens
    >>> from kernlens.datasets import make_absolute_sum_of_sines
    >>> data = make_absolute_sum_of_sines(100, 4, n_relevant=1, random_state=0)
    >>> model = kernlens.RKHSWeightingRegressor(random_state=0).fit(data.X, data.y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = kernlens.report(model, data.X, data.y, Path(folder) / "report.html")
    ...     page.read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    summary = summarize(
        model,
        X,
        y,
        X_test=X_test,
        y_test=y_test,
        left_out=left_out,
        sample_weight=sample_weight,
        feature_names=feature_names,
        target_name=target_name,
        context=context,
        stability=stability,
        random_state=random_state,
    )
    # Half a pair of surrogates, which a name of a file may have, is no text that can be written.
    content = render(summary).encode("utf-8", errors="replace")
    goal = Path(path)
    with replacing(goal) as part:
        part.write_bytes(content)
    return goal


def _head(model: Any) -> str:
    return render_head(summarize_head(model))


register(report, _head)

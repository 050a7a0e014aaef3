"""Scores and numbers of directions along a path in alpha, drawn."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, MaxNLocator
from numpy.typing import ArrayLike

from kernlens.model_selection import RegularizationPath, regularization_path
from kernlens.plotting._one_panel import PanelDisplay
from kernlens.plotting._style import BAR, CHOSEN, DATA, TEXT, tidy


class RegularizationPathDisplay(PanelDisplay):
    """Cross-validated scores with their standard errors along alpha, and numbers of directions.

    Make one with :meth:`from_estimator`, or from a path with :meth:`from_path`.

    Parameters
    ----------
    path : RegularizationPath

    Attributes
    ----------
    figure_ : matplotlib.figure.Figure or SubFigure
    ax_ : matplotlib.axes.Axes
    """

    _size: ClassVar[tuple[float, float]] = (5.0, 3.4)

    def __init__(self, path: RegularizationPath) -> None:
        self.path = path

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: ArrayLike, y: ArrayLike, *, ax: Axes | None = None, **options: Any
    ) -> RegularizationPathDisplay:
        """Fit along a path and draw it.

        Parameters
        ----------
        estimator : feature learner
            As in :func:`regularization_path`; it need not be fitted.
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        ax : matplotlib.axes.Axes or None
            Where to draw; by default a new figure of pyplot.
        **options
            Other arguments of :func:`regularization_path`.

        Returns
        -------
        RegularizationPathDisplay
        """
        return cls.from_path(regularization_path(estimator, X, y, **options), ax=ax)

    @classmethod
    def from_path(
        cls, path: RegularizationPath, *, ax: Axes | None = None
    ) -> RegularizationPathDisplay:
        """Draw a path that was computed before.

        Parameters
        ----------
        path : RegularizationPath
        ax : matplotlib.axes.Axes or None
            Where to draw; by default a new figure of pyplot.

        Returns
        -------
        RegularizationPathDisplay
        """
        return cls(path).plot(ax=ax)

    def _draw(self, ax: Axes) -> None:
        path, n_splits = self.path, self.path.scores.shape[1]
        errors = path.scores.std(axis=1, ddof=1) / np.sqrt(n_splits) if n_splits > 1 else None
        counts = ax.twinx()
        counts.step(path.alphas, path.n_directions, where="mid", color=BAR, linewidth=1.5)
        counts.set_ylim(0.0, max(1, int(path.n_directions.max())) * 1.1)
        counts.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))
        counts.set_ylabel("directions", fontsize=9, color=DATA)
        counts.tick_params(labelsize=8, color=TEXT, labelcolor=DATA)
        counts.spines[["top", "left"]].set_visible(False)
        # Scores are drawn above the counts, on a background that lets these through.
        ax.set_zorder(counts.get_zorder() + 1)
        ax.patch.set_visible(False)
        ax.errorbar(
            path.alphas, path.mean_scores, errors, fmt="o-", color=TEXT, markersize=5, capsize=2
        )
        ax.axvline(path.best_alpha, color=CHOSEN, linestyle="--", zorder=1)
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(LogLocator(numticks=6))
        with_error = "score, ± standard error" if errors is not None else "score"
        tidy(ax, f"Best alpha: {path.best_alpha:.2g}", "alpha", f"held-out {with_error}")

"""Pictures of what a model says of itself: importances, spectrum, convergence, choice of alpha."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, NullFormatter

from kernlens.inspection import (
    AlphaSearch,
    Convergence,
    DirectionSummary,
    Spectrum,
    alpha_search,
    convergence,
    spectrum,
    summarize_directions,
)
from kernlens.plotting._one_panel import PanelDisplay
from kernlens.plotting._style import BAR, DATA, FIT, TEXT, label, tidy
from kernlens.plotting.panels import draw_alpha_search, draw_shares

#: Letters of the status of a fit that have a place in a title.
IN_TITLE = 44
#: Bars of a spectrum.
MOST_VALUES = 20


class ImportancesDisplay(PanelDisplay):
    """Importances of the columns, the largest on top.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    summary : DirectionSummary

    Attributes
    ----------
    figure_ : matplotlib.figure.Figure or SubFigure
    ax_ : matplotlib.axes.Axes
    """

    def __init__(self, summary: DirectionSummary) -> None:
        self.summary = summary

    @classmethod
    def from_estimator(
        cls, model: Any, *, feature_names: Sequence[str] | None = None, ax: Axes | None = None
    ) -> ImportancesDisplay:
        """Draw `feature_importances_` of a fitted model.

        Parameters
        ----------
        model : fitted feature learner, or fitted Pipeline that ends with one
        feature_names : sequence of str or None
            Names of the columns; by default those seen in `fit`, or x0, x1, ...
        ax : matplotlib.axes.Axes or None
            Where to draw; by default a new figure of pyplot.

        Returns
        -------
        ImportancesDisplay
        """
        return cls(summarize_directions(model, feature_names=feature_names)).plot(ax=ax)

    def _draw(self, ax: Axes) -> None:
        shares = self.summary.feature_importances
        order = np.argsort(-shares, kind="stable")
        names = [self.summary.feature_names[column] for column in order]
        draw_shares(ax, names, shares[order], "Columns")


class SpectrumDisplay(PanelDisplay):
    """Eigenvalues, or importances of directions, as bars; those that are kept stand out.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    spectrum : Spectrum

    Attributes
    ----------
    figure_ : matplotlib.figure.Figure or SubFigure
    ax_ : matplotlib.axes.Axes
    """

    def __init__(self, spectrum: Spectrum) -> None:
        if len(spectrum.values) == 0:
            raise ValueError("The model kept no direction: there is no spectrum to draw.")
        self.spectrum = spectrum

    @classmethod
    def from_estimator(cls, model: Any, *, ax: Axes | None = None) -> SpectrumDisplay:
        """Draw the spectrum of a fitted model.

        Parameters
        ----------
        model : fitted feature learner, or fitted Pipeline that ends with one
        ax : matplotlib.axes.Axes or None
            Where to draw; by default a new figure of pyplot.

        Returns
        -------
        SpectrumDisplay
        """
        return cls(spectrum(model)).plot(ax=ax)

    def _draw(self, ax: Axes) -> None:
        found = self.spectrum
        values = found.values[:MOST_VALUES]
        places = np.arange(1, len(values) + 1)
        kept = places <= found.n_directions
        ax.bar(places, values, width=0.7, color=np.where(kept, FIT, BAR))
        # At least five places, so that one or two bars do not become slabs.
        ax.set_xlim(0.4, max(len(values), 5) + 0.6)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=10))
        total = len(found.values)
        some = f" (first {len(values)} of {total})" if total > len(values) else ""
        title = "Eigenvalues" if found.name == "eigenvalue" else "Directions"
        if not kept.all():
            title += f", {found.n_directions} kept"
        what = "number" if found.name == "eigenvalue" else "direction"
        tidy(ax, f"{title}{some}", what, found.name)


class ConvergenceDisplay(PanelDisplay):
    """The objective of a fit, iteration by iteration.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    convergence : Convergence

    Attributes
    ----------
    figure_ : matplotlib.figure.Figure or SubFigure
    ax_ : matplotlib.axes.Axes
    """

    def __init__(self, convergence: Convergence) -> None:
        self.convergence = convergence

    @classmethod
    def from_estimator(cls, model: Any, *, ax: Axes | None = None) -> ConvergenceDisplay:
        """Draw `objective_history_` of a fitted model.

        Parameters
        ----------
        model : fitted feature learner, or fitted Pipeline that ends with one
            Fitted with iterations; a direct solve has nothing to follow.
        ax : matplotlib.axes.Axes or None
            Where to draw; by default a new figure of pyplot.

        Returns
        -------
        ConvergenceDisplay
        """
        return cls(convergence(model)).plot(ax=ax)

    def _draw(self, ax: Axes) -> None:
        values = self.convergence.objective
        marker = "o" if len(values) <= 30 else ""
        places = np.arange(len(values))
        ax.plot(places, values, color=DATA, linewidth=1.8, marker=marker, markersize=4)
        # A few large steps at the start would hide all others on a linear axis.
        if values.min() > 0 and values.max() > 10 * values.min():
            ax.set_yscale("log")
            ax.yaxis.set_minor_formatter(NullFormatter())
        else:
            ax.ticklabel_format(axis="y", useOffset=False)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=7))
        status = self.convergence.status.split(";")[0]
        title = label(status[:1].upper() + status[1:], IN_TITLE)
        tidy(ax, title, "iteration of the last stage", "objective")


class AlphaSearchDisplay(PanelDisplay):
    """Held-out loss of every alpha that was tried, and the chosen one.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    search : AlphaSearch

    Attributes
    ----------
    figure_ : matplotlib.figure.Figure or SubFigure
    ax_ : matplotlib.axes.Axes
    """

    def __init__(self, search: AlphaSearch) -> None:
        self.search = search

    @classmethod
    def from_estimator(cls, model: Any, *, ax: Axes | None = None) -> AlphaSearchDisplay:
        """Draw the choice of alpha of a fitted model.

        Parameters
        ----------
        model : fitted feature learner, or fitted Pipeline that ends with one
            Fitted with several values of alpha, ``"auto"`` for example.
        ax : matplotlib.axes.Axes or None
            Where to draw; by default a new figure of pyplot.

        Returns
        -------
        AlphaSearchDisplay
        """
        search = alpha_search(model)
        if search is None:
            raise ValueError("This model has not chosen among values of alpha: nothing to draw.")
        return cls(search).plot(ax=ax)

    def _draw(self, ax: Axes) -> None:
        draw_alpha_search(ax, self.search)
        ax.tick_params(labelcolor=TEXT)

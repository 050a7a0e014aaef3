"""The picture of the README: what BKerNN learns on data with three hidden directions.

Run from anywhere; writes ``docs/images/directions.png``.
"""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from kernlens import BKerNNRegressor
from kernlens.datasets import make_absolute_sum_of_sines
from kernlens.plotting import DirectionsDisplay

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "directions.png"


def main() -> None:
    """Fit the model of the README's example and draw it."""
    data = make_absolute_sum_of_sines(300, 10, random_state=0)
    model = BKerNNRegressor(random_state=0).fit(data.X, data.y)
    figure = Figure(figsize=(11.0, 6.8), dpi=120)
    DirectionsDisplay.from_estimator(
        model,
        data.X,
        data.y,
        title="y = |sin a + sin b + sin c|, with a, b, c hidden mixtures of ten columns",
        figure=figure,
    )
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    # Without the version of matplotlib, the same picture is the same file.
    figure.savefig(PICTURE, metadata={"Software": None})


if __name__ == "__main__":
    main()

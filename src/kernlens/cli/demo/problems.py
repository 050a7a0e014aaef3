"""The data sets of the demonstration; both come without network."""

from __future__ import annotations

from dataclasses import dataclass

from sklearn.datasets import load_diabetes

from kernlens._array import FloatArray
from kernlens.datasets import make_absolute_sum_of_sines


@dataclass(frozen=True, eq=False)
class DemoProblem:
    """A regression problem to show.

    Attributes
    ----------
    name : str
        Of the files.
    title, description : str
        What the reader is told.
    X, y : ndarray of shape (n_samples, n_features) and (n_samples,)
    feature_names : tuple of str
    components : ndarray of shape (k, n_features) or None
        The true directions, where they are known.
    """

    name: str
    title: str
    description: str
    X: FloatArray
    y: FloatArray
    feature_names: tuple[str, ...]
    components: FloatArray | None


def make_problems(seed: int) -> tuple[DemoProblem, ...]:
    """Data with known directions first, then measured ones."""
    return _sines(seed), _diabetes()


def _sines(seed: int) -> DemoProblem:
    data = make_absolute_sum_of_sines(300, 10, random_state=seed)
    return DemoProblem(
        name="sines",
        title="Three hidden directions (synthetic)",
        description="300 rows, 10 columns, y = |sin a + sin b + sin c|, where a, b and c are\n"
        "three orthogonal mixtures of all the columns. No noise.",
        X=data.X,
        y=data.y,
        feature_names=tuple(f"x{column}" for column in range(data.X.shape[1])),
        components=data.components,
    )


def _diabetes() -> DemoProblem:
    data = load_diabetes()
    return DemoProblem(
        name="diabetes",
        title="Diabetes (measured data, part of scikit-learn)",
        description="442 patients, 10 columns (age, sex, body mass index, blood pressure, six\n"
        "blood serum values s1 to s6); y is the progression of the disease after a year.",
        X=data.data,
        y=data.target,
        feature_names=tuple(data.feature_names),
        components=None,
    )

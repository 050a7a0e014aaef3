"""Sequential tests of the number of directions: by the chi-squared law, or by permutations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import chi2

from kernlens._array import FloatArray, IntArray
from kernlens._table import Table
from kernlens.base.tabular import Tabular
from kernlens.methods.sdr.candidate import Candidate, Spectrum

#: More directions are not tested for.
MOST_DIRECTIONS = 10
#: Permutations look at this many rows at most.
MOST_ROWS = 5000


@dataclass(frozen=True, repr=False)
class DimensionTest(Tabular):
    """Tests that there are at most 0, 1, 2, ... directions, up to the first that is not rejected.

    Attributes
    ----------
    method : str
        ``"chi2"`` or ``"permutation"``.
    level : float
        Hypotheses with a smaller p-value are rejected.
    n_directions : int
        The first number that is not rejected; the largest that was looked at if all are.
    dimension : ndarray of int of shape (n_tests,)
        The number of directions of every hypothesis.
    statistic : ndarray of shape (n_tests,)
    degrees_of_freedom : ndarray of shape (n_tests,)
        Of the chi-squared law; NaN for permutations.
    p_value : ndarray of shape (n_tests,)
    """

    method: str
    level: float
    n_directions: int
    dimension: IntArray
    statistic: FloatArray
    degrees_of_freedom: FloatArray
    p_value: FloatArray

    def _table(self) -> Table:
        return Table(
            ["directions", "statistic", "degrees of freedom", "p-value"],
            [self.dimension, self.statistic, self.degrees_of_freedom, self.p_value],
            caption=(
                f"{self.method} test, level {self.level:g}: {self.n_directions} directions; each "
                "line tests that there are no more"
            ),
        )

    def as_dict(self) -> dict[str, Any]:
        """Plain values, to be kept by a fitted model."""
        return dict(vars(self))

    @classmethod
    def of_dict(cls, plain: Mapping[str, Any]) -> DimensionTest:
        """The test that :meth:`as_dict` has written down."""
        return cls(**plain)


#: From a number of directions to a statistic, degrees of freedom and a p-value.
OneTest = Callable[[int], tuple[float, float, float]]


def sequential_test(test: OneTest, method: str, level: float, most: int) -> DimensionTest:
    """Test 0, 1, ... directions until a test does not reject, for fewer than `most`."""
    found: list[tuple[float, float, float]] = []
    number = min(most, MOST_DIRECTIONS)
    for k in range(number):
        found.append(test(k))
        if found[-1][2] > level:
            number = k
            break
    columns = np.array(found, dtype=np.float64).reshape(-1, 3).T
    return DimensionTest(method, float(level), number, np.arange(len(found)), *columns)


def chi_squared_test(candidate: Candidate, spectrum: Spectrum, moments: Any) -> OneTest | None:
    """The test by the chi-squared law; None where there is no theory.

    Parameters
    ----------
    candidate : Candidate
    spectrum : Spectrum
        Of its matrix.
    moments : object
        What the matrix follows from.
    """
    if candidate.chi_squared(0, spectrum, moments) is None:
        return None

    def test(k: int) -> tuple[float, float, float]:
        found = candidate.chi_squared(k, spectrum, moments)
        assert found is not None
        p_value = float(chi2.sf(found.statistic, found.degrees)) if found.degrees > 0 else 1.0
        return found.statistic, float(found.degrees), p_value

    return test


def permutation_test(
    candidate: Candidate,
    whitened: FloatArray,
    weights: FloatArray,
    n_permutations: int,
    seed: int,
) -> OneTest:
    """The test by permutations (Cook and Yin, 2001).

    If k directions are enough and the other coordinates do not depend on them, then rows of these
    others can change places. The statistic is n times the largest of the eigenvalues after the
    first k, and the p-value is the share of permutations, the identity among them, that have as
    large a one. The paper takes the sum of these eigenvalues, in which one direction is lost among
    many columns.

    Parameters
    ----------
    candidate : Candidate
    whitened : ndarray of shape (n_rows, rank)
    weights : ndarray of shape (n_rows,)
    n_permutations : int
    seed : int

    Notes
    -----
    Every permutation costs as much as the candidate matrix and its eigenvalues.
    """
    spectrum = candidate.spectrum(whitened, weights)
    n = float(weights.sum())

    def test(k: int) -> tuple[float, float, float]:
        # Every test has the same permutations, whichever tests were made before.
        rng = np.random.default_rng([seed, k])
        coordinates = whitened @ spectrum.vectors
        observed = spectrum.values[k]
        n_as_large = 1
        for _ in range(n_permutations):
            order = rng.permutation(len(weights))
            moved = _moved(coordinates, order, k, weights)
            # What differs by rounding is as large.
            found = np.linalg.eigvalsh(candidate.matrix(moved, weights))[-1 - k]
            n_as_large += found >= observed * (1.0 - 1e-9)
        return n * observed, np.nan, n_as_large / (n_permutations + 1.0)

    return test


def _moved(coordinates: FloatArray, order: Any, k: int, weights: FloatArray) -> FloatArray:
    """Rows with the coordinates after the first k of others, uncorrelated with the first again."""
    first, rest = coordinates[:, :k], coordinates[order, k:]
    shares = weights / weights.sum()
    rest = rest - shares @ rest
    if k:
        gram = (first.T * shares) @ first
        slopes = np.linalg.lstsq(gram, (first.T * shares) @ rest, rcond=1e-12)[0]
        rest = rest - first @ slopes
    return np.hstack([first, rest])

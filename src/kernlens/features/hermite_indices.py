"""Multi-indices alpha of Hermite polynomials: how they are stored, listed, ordered and sampled.

A function is a sum over alpha in N^k, alpha != 0, and its norm weighs every term by

    (lam + mu alpha . 1/eta) / c_{|alpha|}        (RegFeaL, equations (3.2) and (3.4)),

so the kernel (3.6) is a sum of H_alpha(x) H_alpha(x') times the inverse, ``w(alpha)``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, log

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from kernlens._array import FloatArray
from kernlens.features._best_first import best_first

IntArray = NDArray[np.integer]

#: Mass of the degrees that a sampler leaves out, and the largest degree it ever considers.
LEFT_OUT = 1e-9
LARGEST_DEGREE = 4000


class DegreeSequence(ABC):
    """The sequence c_k > 0 that smooths a function by the degrees of its terms."""

    #: Degree beyond which c_k is zero, None if there is none.
    largest: int | None

    @abstractmethod
    def log(self, degrees: IntArray) -> FloatArray:
        """Logarithm of c_k for degrees k within `largest`."""

    def __call__(self, degrees: IntArray) -> FloatArray:
        """c_k for degrees k within `largest`."""
        values: FloatArray = np.exp(self.log(degrees))
        return values


@dataclass(frozen=True)
class GeometricSequence(DegreeSequence):
    """``c_k = rho^k`` with 0 < rho < 1."""

    rho: float
    largest = None

    def log(self, degrees: IntArray) -> FloatArray:
        values: FloatArray = np.asarray(degrees) * np.log(self.rho)
        return values


@dataclass(frozen=True)
class TruncatedSequence(DegreeSequence):
    """``c_k = 1`` up to degree M and 0 beyond."""

    largest: int

    def log(self, degrees: IntArray) -> FloatArray:
        return np.zeros(np.shape(degrees))


@dataclass(frozen=True)
class Smoothness:
    """The penalty of one term: ``(lam + mu alpha . 1/eta) / c_{|alpha|}``.

    Attributes
    ----------
    eta : ndarray of shape (n_directions,)
        Positive; large where the function may vary.
    lam, mu : float
        lam >= 0, mu >= 0, not both zero.
    sequence : DegreeSequence
    """

    eta: FloatArray
    lam: float
    mu: float
    sequence: DegreeSequence

    def cost(self, dense: IntArray) -> FloatArray:
        """``lam + mu alpha . 1/eta`` for rows alpha (n_indices, n_directions)."""
        return self.lam + self.mu * (dense @ (1.0 / self.eta))

    def weight(self, dense: IntArray) -> FloatArray:
        """``w(alpha) = c / (lam + mu alpha . 1/eta)``, (n_indices,)."""
        return self.sequence(dense.sum(axis=1)) / self.cost(dense)


def count_indices(n_directions: int, degree: int) -> int:
    """Number of alpha with 1 <= |alpha| <= degree (the paper counts alpha = 0, too)."""
    return comb(degree + n_directions, n_directions) - 1


def enumerate_indices(n_directions: int, degree: int) -> IntArray:
    """All alpha with 1 <= |alpha| <= degree, low degrees first, (n_indices, n_directions)."""
    indices = np.zeros((count_indices(n_directions, degree), n_directions), dtype=np.int32)
    # Of the last direction alone; then each one before is put in front, degree by degree.
    sizes: list[IntArray] = [np.full((1, 1), size, dtype=np.int32) for size in range(degree + 1)]
    for _ in range(1, n_directions):
        sizes = [_with_one_more(sizes[: size + 1]) for size in range(degree + 1)]
    if degree > 0:
        np.concatenate(sizes[1:], out=indices)
    return indices


def _with_one_more(rest: Sequence[IntArray]) -> IntArray:
    """Exponents of degree k in one more variable, from those of the others of degree 0, ..., k."""
    size = len(rest) - 1
    lengths = [len(part) for part in rest]
    first = np.repeat(np.arange(size, -1, -1, dtype=np.int32), lengths)
    return np.column_stack([first, np.concatenate(rest)])


def best_first_indices(smoothness: Smoothness, n_indices: int) -> IntArray:
    """The `n_indices` alphas of largest weight, in order; fewer if there are not so many.

    Of the same weight, lower degrees come first, and then those with larger exponents in front.
    """
    eta = smoothness.eta
    order = np.argsort(-eta, kind="stable")
    # An index is found after one of every lower degree.
    limit = min(smoothness.sequence.largest or LARGEST_DEGREE, n_indices)
    log_c = np.broadcast_to(smoothness.sequence.log(np.arange(limit + 1)), limit + 1)
    found = best_first(smoothness.mu / eta[order], smoothness.lam, log_c.copy(), n_indices)
    indices = np.zeros((len(found), len(eta)), dtype=np.int32)
    indices[:, order] = found
    return indices


def sample_indices(
    smoothness: Smoothness, n_samples: int, split: int, random: np.random.RandomState
) -> tuple[IntArray, FloatArray]:
    """Distinct sampled alphas, and weights that make the sum over them unbiased for the kernel.

    For ``c_k = rho^k`` the paper's group sampling (Section 3.3): the `split` directions of largest
    eta form one group, the others another; with eta replaced by its smallest value in the first and
    its largest in the second, the degrees in the groups have a known law (the printed binomial
    coefficient of the first group has d_2 for d_1), and alpha is uniform given them. For
    ``c_k = 1{k <= M}`` alpha is uniform (the constant is one less than printed: alpha = 0 is not
    drawn).

    Parameters
    ----------
    smoothness : Smoothness
    n_samples : int
        Draws; repeated ones are merged.
    split : int
        Size of the first group, from 1 to n_directions.
    random : RandomState
    """
    n_directions = len(smoothness.eta)
    if smoothness.sequence.largest is not None:
        degree = smoothness.sequence.largest
        drawn = _uniform_up_to(degree, n_directions, n_samples, random)
        log_proposal = np.full(len(drawn), -log(count_indices(n_directions, degree)))
    else:
        drawn, log_proposal = _group_sample(smoothness, n_samples, split, random)
    distinct, first, counts = np.unique(drawn, axis=0, return_index=True, return_counts=True)
    # In logarithms: the probability of one alpha among very many underflows.
    log_weight = smoothness.sequence.log(distinct.sum(axis=1)) - np.log(smoothness.cost(distinct))
    return distinct, np.exp(log_weight - log_proposal[first]) * counts / n_samples


def largest_gap(shares: FloatArray) -> int:
    """Number of values above the largest gap between sorted `shares`; all if they are equal."""
    ordered = np.sort(shares)[::-1]
    gaps = ordered[:-1] - ordered[1:]
    if len(gaps) == 0 or gaps.max() <= 1e-12 * ordered[0]:
        return len(shares)
    return int(np.argmax(gaps)) + 1


def _group_sample(
    smoothness: Smoothness, n_samples: int, split: int, random: np.random.RandomState
) -> tuple[IntArray, FloatArray]:
    """Draws (n_samples, n_directions) and the logarithm of the probability of each."""
    order = np.argsort(-smoothness.eta, kind="stable")
    groups: list[IntArray] = [order[:split], order[split:]]
    rounded = smoothness.eta.copy()
    rounded[groups[0]] = smoothness.eta[groups[0]].min()
    if len(groups[1]):
        rounded[groups[1]] = smoothness.eta[groups[1]].max()
    law, log_terms = _degree_law(smoothness, rounded, groups)
    pairs = random.choice(law.size, size=n_samples, p=law.ravel())
    drawn = np.zeros((n_samples, len(order)), dtype=np.int32)
    degrees = np.unravel_index(pairs, law.shape)
    for group, degree in zip(groups, degrees, strict=True):
        if len(group):
            drawn[:, group] = _uniform_of_degree(degree, len(group), random)
    return drawn, np.log(law.ravel()[pairs]) - log_terms.ravel()[pairs]


def _degree_law(
    smoothness: Smoothness, rounded: FloatArray, groups: list[IntArray]
) -> tuple[FloatArray, FloatArray]:
    """Probabilities of the degrees in the two groups, and logs of the numbers of alphas of each."""
    largest = 32
    while True:
        ranges = [np.arange(largest + 1) if len(group) else np.arange(1) for group in groups]
        counts = [_log_count(k, len(group)) for k, group in zip(ranges, groups, strict=True)]
        log_terms = counts[0][:, None] + counts[1][None, :]
        cost = np.full(log_terms.shape, smoothness.lam)
        for axis, (k, group) in enumerate(zip(ranges, groups, strict=True)):
            if len(group):
                shape = (-1, 1) if axis == 0 else (1, -1)
                cost = cost + smoothness.mu * (k / rounded[group[0]]).reshape(shape)
        degree = ranges[0][:, None] + ranges[1][None, :]
        with np.errstate(divide="ignore"):
            log_mass = log_terms + smoothness.sequence.log(degree) - np.log(cost)
        log_mass[0, 0] = -np.inf
        law = np.exp(log_mass - log_mass.max())
        law /= law.sum()
        edge = law[-1, :].sum() + (law[:, -1].sum() if len(groups[1]) else 0.0)
        if edge < LEFT_OUT or largest >= LARGEST_DEGREE:
            return law, log_terms
        largest = min(2 * largest, LARGEST_DEGREE)


def _log_count(degrees: IntArray, n_directions: int) -> FloatArray:
    """Logarithm of the number of alphas of every degree in so many directions."""
    if n_directions == 0:
        return np.zeros(len(degrees))
    values: FloatArray = (
        gammaln(degrees + n_directions) - gammaln(n_directions) - gammaln(degrees + 1.0)
    )
    return values


def _uniform_of_degree(
    degrees: IntArray, n_directions: int, random: np.random.RandomState
) -> IntArray:
    """One alpha for every degree, uniform among those of that degree.

    A multinomial whose probabilities are uniform on the simplex is uniform on the alphas.
    """
    shares = random.dirichlet(np.ones(n_directions), size=len(degrees))
    generator = np.random.default_rng(random.randint(np.iinfo(np.int32).max))
    drawn: IntArray = generator.multinomial(degrees, shares).astype(np.int32)
    return drawn


def _uniform_up_to(
    degree: int, n_directions: int, n_samples: int, random: np.random.RandomState
) -> IntArray:
    """Alphas with 1 <= |alpha| <= degree, uniform: the slack is one more direction."""
    kept: list[IntArray] = []
    missing = n_samples
    while missing:
        drawn = _uniform_of_degree(np.full(missing, degree), n_directions + 1, random)[:, :-1]
        kept.append(drawn[drawn.any(axis=1)])
        missing -= len(kept[-1])
    return np.concatenate(kept)

"""Multi-indices: lists, the best first, and samples with the law that makes them unbiased."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from scipy.stats import chi2

from kernlens.features.hermite import HermiteFeatures
from kernlens.features.hermite_indices import (
    LARGEST_DEGREE,
    GeometricSequence,
    Smoothness,
    TruncatedSequence,
    best_first_indices,
    count_indices,
    enumerate_indices,
    largest_gap,
    sample_indices,
)
from reference import regfeal

ETAS = {
    "spread": (0.05, 0.6, 0.2),
    "equal": (0.3, 0.3, 0.3),
    "tied": (0.4, 0.1, 0.4, 0.1),
    "tiny": (0.9, 1e-4, 1e-9),
    "two": (0.2, 0.7),
    "one": (0.5,),
}
PENALTIES = [(0.1, 1.0), (0.0, 0.5), (0.3, 0.0), (5.0, 0.01)]


def as_tuples(indices):
    return [tuple(int(k) for k in alpha) for alpha in indices]


@pytest.mark.parametrize("d", [1, 2, 3, 5])
@pytest.mark.parametrize("degree", [1, 2, 4])
def test_enumeration_lists_every_index_once_low_degrees_first(d, degree):
    indices = enumerate_indices(d, degree)
    assert len(indices) == count_indices(d, degree) == comb(degree + d, d) - 1
    assert sorted(as_tuples(indices)) == sorted(regfeal.all_indices(d, degree))
    assert np.all(np.diff(indices.sum(axis=1)) >= 0)


@pytest.mark.parametrize("sequence", [GeometricSequence(0.6), TruncatedSequence(4)])
def test_sequences_are_their_formulas(sequence):
    degrees = np.arange(1, 5)
    expected = 0.6**degrees if sequence.largest is None else np.ones(4)
    np.testing.assert_allclose(sequence(degrees), expected, rtol=1e-14)
    np.testing.assert_allclose(np.exp(sequence.log(degrees)), expected, rtol=1e-14)


@pytest.mark.parametrize("penalties", PENALTIES)
def test_weights_are_the_formula(penalties):
    smoothness = Smoothness(np.array(ETAS["spread"]), *penalties, GeometricSequence(0.7))
    indices = regfeal.all_indices(3, 4)
    expected = [regfeal.weight(a, smoothness.eta, *penalties, lambda k: 0.7**k) for a in indices]
    np.testing.assert_allclose(smoothness.weight(np.array(indices)), expected, rtol=1e-13)
    np.testing.assert_allclose(
        smoothness.weight(np.array(indices)) * smoothness.cost(np.array(indices)),
        0.7 ** np.sum(indices, axis=1),
        rtol=1e-13,
    )


@pytest.mark.parametrize("name", ETAS)
@pytest.mark.parametrize("penalties", PENALTIES)
@pytest.mark.parametrize("sequence", [GeometricSequence(0.5), TruncatedSequence(5)])
def test_best_first_equals_sorting_all(name, penalties, sequence):
    eta = np.array(ETAS[name])
    smoothness = Smoothness(eta, *penalties, sequence)
    n_indices = 40
    degree = 5 if sequence.largest else {1: 40, 2: 25, 3: 25, 4: 9}[len(eta)]
    expected = np.array(
        regfeal.best_indices(eta, *penalties, lambda k: sequence(np.array(k)), degree, n_indices)
    )
    if sequence.largest is None:
        # No index of a higher degree is among the best.
        lam, mu = penalties
        assert expected[-1] >= 0.5 ** (degree + 1) / (lam + mu * (degree + 1) / eta.max())
    indices = best_first_indices(smoothness, n_indices)
    found = smoothness.weight(indices)
    assert len(set(as_tuples(indices))) == len(indices) == len(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-11)
    assert np.all(found[1:] <= found[:-1] * (1 + 1e-11))


@pytest.mark.parametrize("name", ["spread", "one", "tied"])
def test_best_first_ends_when_there_are_no_more(name):
    eta = np.array(ETAS[name])
    indices = best_first_indices(Smoothness(eta, 0.1, 1.0, TruncatedSequence(3)), 1000)
    assert sorted(as_tuples(indices)) == sorted(regfeal.all_indices(len(eta), 3))


def test_best_first_follows_the_directions_however_they_are_ordered():
    eta = np.array(ETAS["spread"])
    order = [2, 0, 1]
    one = best_first_indices(Smoothness(eta, 0.1, 1.0, GeometricSequence(0.5)), 30)
    other = best_first_indices(Smoothness(eta[order], 0.1, 1.0, GeometricSequence(0.5)), 30)
    np.testing.assert_array_equal(other, one[:, order])


@pytest.mark.parametrize(
    ("name", "split"), [("spread", 1), ("spread", 2), ("spread", 3), ("tied", 2), ("one", 1)]
)
@pytest.mark.parametrize("penalties", [(0.1, 1.0), (0.0, 0.5), (0.3, 0.0)])
def test_sampled_weights_are_the_counts_over_the_listed_law(name, split, penalties):
    rho, n_samples = 0.3, 400
    eta = np.array(ETAS[name])
    smoothness = Smoothness(eta, *penalties, GeometricSequence(rho))
    _, of_alpha = regfeal.degree_law(eta, *penalties, rho, split, 10)
    indices, weight = sample_indices(smoothness, n_samples, split, np.random.RandomState(1))
    assert len(set(as_tuples(indices))) == len(indices)
    assert np.all(indices.sum(axis=1) > 0)
    # weight = w(alpha) count / (n q(alpha)): what is left over must be the whole numbers drawn.
    proposal = np.array([of_alpha.get(alpha, np.nan) for alpha in as_tuples(indices)])
    known = ~np.isnan(proposal)
    counts = weight[known] * n_samples * proposal[known] / smoothness.weight(indices[known])
    np.testing.assert_allclose(counts, np.rint(counts), rtol=1e-3)
    assert np.rint(counts).min() >= 1
    assert n_samples - 5 <= np.rint(counts).sum() <= n_samples


def frequencies_fit(observed, expected):
    """Chi-square test at one in a million; cells expected less than 5 times are put together."""
    frequent = expected >= 5.0
    observed = np.append(observed[frequent], observed[~frequent].sum())
    expected = np.append(expected[frequent], expected[~frequent].sum())
    keep = expected > 0.5
    statistic = np.sum((observed[keep] - expected[keep]) ** 2 / expected[keep])
    return statistic < chi2.ppf(1 - 1e-6, max(1, keep.sum() - 1))


def drawn_counts(smoothness, n_samples, split, proposal):
    indices, weight = sample_indices(smoothness, n_samples, split, np.random.RandomState(3))
    counts = dict.fromkeys(proposal, 0.0)
    for alpha, value in zip(as_tuples(indices), weight, strict=True):
        if alpha in counts:
            exact = smoothness.weight(np.array([alpha]))[0]
            counts[alpha] = float(np.rint(value * n_samples * proposal[alpha] / exact))
    return counts


@pytest.mark.parametrize(("name", "split"), [("spread", 1), ("spread", 2), ("two", 2)])
def test_group_sampling_has_the_listed_law(name, split):
    eta, n_samples = np.array(ETAS[name]), 40_000
    smoothness = Smoothness(eta, 0.1, 1.0, GeometricSequence(0.4))
    of_degrees, of_alpha = regfeal.degree_law(eta, 0.1, 1.0, 0.4, split, 12)
    counts = drawn_counts(smoothness, n_samples, split, of_alpha)
    expected = n_samples * np.array(list(of_alpha.values()))
    assert frequencies_fit(np.array(list(counts.values())), expected)
    assert not frequencies_fit(np.array(list(counts.values()))[::-1], expected)
    order = np.argsort(-eta)
    pairs = dict.fromkeys(of_degrees, 0.0)
    for alpha, count in counts.items():
        parts = np.array(alpha)[order]
        pairs[int(parts[:split].sum()), int(parts[split:].sum())] += count
    expected = n_samples * np.array(list(of_degrees.values()))
    assert frequencies_fit(np.array(list(pairs.values())), expected)


def test_first_group_of_three_and_second_of_one_counts_with_d1():
    # The printed binomial has d_2 - 1 below in both groups: for d_1 = 3, d_2 = 1 it would count one
    # alpha of every degree in the first group where there are many.
    eta = np.array([0.5, 0.5, 0.5, 0.1])
    of_degrees, of_alpha = regfeal.degree_law(eta, 0.1, 1.0, 0.4, 3, 12)
    pairs = [pair for pair in of_degrees if sum(pair) <= 4]
    mass = np.array([regfeal.group_mass(*pair, 3, 1, 0.5, 0.1, 0.1, 1.0, 0.4) for pair in pairs])
    law = np.array([of_degrees[pair] for pair in pairs])
    np.testing.assert_allclose(law / law.sum(), mass / mass.sum(), rtol=1e-10)
    smoothness = Smoothness(eta, 0.1, 1.0, GeometricSequence(0.4))
    counts = drawn_counts(smoothness, 40_000, 3, of_alpha)
    first = np.zeros(13)
    for alpha, count in counts.items():
        first[sum(alpha[:3])] += count
    marginal, printed = np.zeros(13), np.zeros(13)
    for (k1, _), value in of_degrees.items():
        marginal[k1] += value
        printed[k1] += value / comb(k1 + 2, 2)
    assert frequencies_fit(first, 40_000 * marginal)
    assert not frequencies_fit(first, 40_000 * printed / printed.sum())


@pytest.mark.parametrize(("name", "degree"), [("two", 4), ("spread", 3), ("one", 5)])
def test_truncated_sampling_is_uniform(name, degree):
    eta, n_samples = np.array(ETAS[name]), 20_000
    smoothness = Smoothness(eta, 0.1, 1.0, TruncatedSequence(degree))
    expected = regfeal.all_indices(len(eta), degree)
    counts = drawn_counts(smoothness, n_samples, 1, dict.fromkeys(expected, 1 / len(expected)))
    assert sum(counts.values()) == n_samples
    share = np.full(len(expected), n_samples / len(expected))
    assert frequencies_fit(np.array(list(counts.values())), share)


@pytest.mark.parametrize(
    ("sequence", "split"),
    [(GeometricSequence(0.4), 1), (GeometricSequence(0.4), 3), (TruncatedSequence(4), 2)],
)
@pytest.mark.parametrize("name", ["spread", "equal"])
def test_sampled_kernel_is_unbiased(sequence, split, name):
    rng = np.random.default_rng(0)
    Z = 0.7 * rng.standard_normal((3, 3))
    eta = np.array(ETAS[name])
    smoothness = Smoothness(eta, 0.1, 1.0, sequence)
    indices = regfeal.all_indices(3, sequence.largest or 20)
    H = regfeal.design(indices, Z)
    exact = (H * smoothness.weight(np.array(indices))) @ H.T
    kernels = []
    for seed in range(300):
        drawn, weight = sample_indices(smoothness, 50, split, np.random.RandomState(seed))
        H = regfeal.design(drawn, Z)
        kernels.append((H * weight) @ H.T)
    error = np.std(kernels, axis=0, ddof=1) / np.sqrt(len(kernels))
    assert np.all(np.abs(np.mean(kernels, axis=0) - exact) < 5 * error)
    # A bound that wide would still notice a bias of the size of the constants' errata.
    assert np.all(np.diag(error) < 0.1 * np.diag(exact))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("split", [1, 10, 500])
def test_many_directions_neither_overflow_nor_underflow(split):
    # Without mu every weight is the sum of all, ((1 - rho)^-d - 1) / lam, over the draws.
    eta = np.r_[np.full(10, 0.1), np.full(490, 0.001)]
    smoothness = Smoothness(eta, 2.0, 0.0, GeometricSequence(0.5))
    indices, weight = sample_indices(smoothness, 60, split, np.random.RandomState(0))
    assert len(indices) == 60
    np.testing.assert_allclose(weight, 2.0**500 / 2 / 60, rtol=1e-6)
    # The degree has the negative binomial law of mean 500 and variance 1000.
    assert abs(indices.sum(axis=1).mean() - 500) < 5 * np.sqrt(1000 / 60)


def test_samples_depend_on_the_seed_only():
    smoothness = Smoothness(np.array(ETAS["spread"]), 0.1, 1.0, GeometricSequence(0.5))
    one = sample_indices(smoothness, 50, 2, np.random.RandomState(5))
    same = sample_indices(smoothness, 50, 2, np.random.RandomState(5))
    other = sample_indices(smoothness, 50, 2, np.random.RandomState(6))
    np.testing.assert_array_equal(one[0], same[0])
    np.testing.assert_array_equal(one[1], same[1])
    assert as_tuples(one[0]) != as_tuples(other[0])


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        ([0.5, 0.45, 0.05], 2),
        ([0.05, 0.5, 0.45], 2),
        ([0.8, 0.1, 0.1], 1),
        ([0.25, 0.25, 0.25, 0.25], 4),
        ([1 / 3 + 1e-16, 1 / 3, 1 / 3 - 1e-16], 3),
        ([1.0], 1),
    ],
)
def test_largest_gap(shares, expected):
    assert largest_gap(np.array(shares)) == expected


def test_inputs_stay_as_they_are():
    eta = np.array(ETAS["spread"])
    before = eta.copy()
    smoothness = Smoothness(eta, 0.1, 1.0, GeometricSequence(0.5))
    best_first_indices(smoothness, 20)
    sample_indices(smoothness, 20, 2, np.random.RandomState(0))
    largest_gap(eta)
    np.testing.assert_array_equal(eta, before)


def test_logarithms_of_numbers_beyond_all_floats_are_taken():
    # 4000 degrees of 120 directions: more indices than 1e308.
    smoothness = Smoothness(np.ones(120), 1.0, 1.0, TruncatedSequence(4000))
    indices, weights = sample_indices(smoothness, 8, 1, np.random.RandomState(0))
    assert len(indices) == len(weights) and np.all(weights > 0.0)


@pytest.mark.parametrize("split", [1, 2])
def test_degrees_that_are_drawn_can_be_evaluated(split):
    """As rho goes to 1 all degrees are alike, and there is a largest one."""
    smoothness = Smoothness(np.ones(2), 1.0, 1e-12, GeometricSequence(0.999999999))
    indices, weight = sample_indices(smoothness, 4000, split, np.random.RandomState(0))
    assert 0.9 * LARGEST_DEGREE < indices.max() <= LARGEST_DEGREE
    assert np.isfinite(weight).all()
    features = HermiteFeatures(indices[np.argsort(-indices.max(axis=1))[:5]])
    assert np.isfinite(features.matrix(np.zeros((3, 2)))).all()

"""Means of the target: the test of levels, the shrinkage and the folds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import f_oneway

from kernlens.tables.target_means import (
    LEVEL,
    balanced_folds,
    cross_encode,
    differ,
    encode,
    encode_target,
    fit_encoders,
    shrinkage,
)


def noise(seed, n=200, n_levels=60):
    rng = np.random.default_rng(seed)
    return rng.integers(0, n_levels, n), rng.standard_normal(n)


def test_levels_are_tested_by_analysis_of_variance():
    answers = []
    for seed in range(60):
        codes, y = noise(seed, n_levels=8)
        y = y + 0.1 * codes
        groups = [y[codes == code] for code in np.unique(codes)]
        expected = f_oneway(*groups).pvalue < LEVEL
        assert differ(codes, y[:, None]) == expected
        answers.append(expected)
    assert 0 < sum(answers) < 60


def test_noise_is_taken_for_a_signal_as_seldom_as_the_level_says():
    taken = sum(differ(noise(seed)[0], noise(seed)[1][:, None]) for seed in range(400))
    # Four standard deviations of a binomial count above its mean.
    assert taken < 400 * LEVEL + 4 * np.sqrt(400 * LEVEL)


def test_levels_of_one_row_each_say_nothing():
    assert not differ(np.arange(30), np.arange(30.0)[:, None])


def test_levels_that_say_all():
    codes = np.repeat(np.arange(12), 5)
    assert differ(codes, codes[:, None].astype(float))
    assert shrinkage(codes, codes.astype(float)) == 0.0


def test_shrinkage_is_that_of_the_variances_that_made_the_rows():
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(2000), 5)
    y = 0.5 * rng.standard_normal(2000)[codes] + 2.0 * rng.standard_normal(len(codes))
    assert shrinkage(codes, y) == pytest.approx(2.0**2 / 0.5**2, rel=0.25)


def test_means_are_those_of_the_formula():
    codes, y = noise(3, n_levels=6)
    y = y + codes
    m = shrinkage(codes, y)
    found = encode(fit_encoders(codes[:, None], y[:, None]), np.arange(7)[:, None])[:, 0]
    for code in range(6):
        rows = codes == code
        expected = (y[rows].sum() + m * y.mean()) / (rows.sum() + m)
        assert found[code] == pytest.approx(expected)
    assert found[6] == pytest.approx(y.mean())


def test_folds_hide_the_own_target():
    crossed, plain = [], []
    for seed in range(40):
        codes, y = noise(seed)
        codes, T = codes[:, None], y[:, None]
        own = encode(fit_encoders(codes, T), codes)[:, 0]
        other = cross_encode(codes, T, 5, seed)[:, 0]
        plain.append(np.corrcoef(own, y)[0, 1])
        crossed.append(np.corrcoef(other, y)[0, 1])
    assert np.mean(plain) > 0.4
    assert np.mean(crossed) < 0.02


def test_levels_seen_once_get_one_number():
    codes = np.arange(40)[:, None]
    T = np.random.default_rng(0).standard_normal((40, 1))
    np.testing.assert_allclose(cross_encode(codes, T, 5, 0), T.mean())


def test_folds_are_balanced():
    codes, y = noise(0)
    folds = balanced_folds(y[:, None], codes[:, None], 5, 0)
    assert np.bincount(folds).tolist() == [40] * 5
    means = [y[folds == fold].mean() for fold in range(5)]
    assert np.ptp(means) < 0.1


def test_targets_and_their_names():
    T, names = encode_target(["b", "a", "c"], "auto")
    assert T.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1]] and names == ["=a", "=b", "=c"]
    T, names = encode_target([True, False], "auto")
    assert T.tolist() == [[1.0], [0.0]] and names == [""]
    T, names = encode_target([[1.5, 2.0], [3.0, 4.0]], "auto")
    assert T.tolist() == [[1.5, 2.0], [3.0, 4.0]] and names == [" 0", " 1"]
    assert encode_target([0, 1, 2], "regression")[0].tolist() == [[0.0], [1.0], [2.0]]
    assert encode_target(np.array([0.5, 2.5], object), "auto")[0].tolist() == [[0.5], [2.5]]


@pytest.mark.parametrize(
    ("y", "task", "sentence"),
    [
        ([1.0, np.nan], "auto", r"^y has missing values; leave their rows out\.$"),
        ([1.0, 1e200], "auto", r"^y has values as large as 1e\+200, whose squares overflow"),
        (["a", "b"], "regression", r"^y must be numbers with task='regression', got 'a'; give"),
    ],
)
def test_bad_targets_are_refused_in_a_sentence(y, task, sentence):
    with pytest.raises(ValueError, match=sentence):
        encode_target(y, task)

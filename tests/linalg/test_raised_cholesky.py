"""Cholesky factors with a jitter that is as small as it can be, and an end."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import LinAlgError

from kernlens.linalg.raised_cholesky import raised_cholesky


def matrix_with(eigenvalues, seed=0):
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((len(eigenvalues),) * 2))[0]
    return (Q * eigenvalues) @ Q.T


def test_a_positive_matrix_is_factored_as_it_is():
    A = matrix_with([1.0, 2.0, 3.0])
    for lower in (False, True):
        factor, jitter = raised_cholesky(A, 0.0, 1e-15, lower=lower)
        assert jitter == 0.0
        product = factor @ factor.T if lower else factor.T @ factor
        np.testing.assert_allclose(product, A, rtol=1e-13)
    assert raised_cholesky(A, 0.5, 1e-15)[1] == 0.5


@pytest.mark.parametrize("least", [-1e-9, -1e-4, -2.0])
def test_the_first_of_ten_times_larger_jitters_that_works_is_taken(least):
    A = matrix_with([least, 1.0, 2.0])
    before = A.copy()
    factor, jitter = raised_cholesky(A, 0.0, 1e-12)
    assert -least < jitter <= 10.1 * -least
    assert np.log10(jitter) == pytest.approx(np.round(np.log10(jitter)), abs=1e-9)
    np.testing.assert_allclose(factor.T @ factor, A + jitter * np.eye(3), atol=1e-12)
    np.testing.assert_array_equal(A, before)


@pytest.mark.parametrize("entry", [np.nan, np.inf])
def test_what_is_no_number_has_an_end(entry):
    A = np.eye(3)
    A[1, 1] = entry
    with pytest.raises(LinAlgError, match="not finite"):
        raised_cholesky(A, 0.0, 1e-15)


def test_zeros_have_an_end():
    with pytest.raises(LinAlgError):
        raised_cholesky(np.zeros((2, 2)), 0.0, 0.0)
    assert raised_cholesky(np.zeros((2, 2)), 1e-3, 1e-15)[1] == 1e-3

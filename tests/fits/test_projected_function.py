"""The function behind a linear map: values against the formula, gradients against differences."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens.base.function import FittedFunction
from kernlens.fits.projected_function import ProjectedKernelFunction
from kernlens.kernels.radial import RADIAL_KERNELS, make_radial_kernel
from kernlens.linalg import kernel_blocks

NAMES = list(RADIAL_KERNELS)


def function_of(kernel="gaussian", n_targets=2, n_components=2, n_jobs=1):
    random = np.random.RandomState(3)
    return ProjectedKernelFunction(
        0.6 * random.normal(size=(n_components, 4)),
        random.normal(size=(7, 4)),
        random.normal(size=(n_targets, 7)),
        random.normal(size=n_targets),
        make_radial_kernel(kernel),
        n_jobs,
    )


def rows(n=9):
    return np.random.RandomState(4).normal(size=(n, 4))


def differences(function, X, step=1e-5):
    columns = []
    for shift in step * np.eye(X.shape[1]):
        columns.append((function.decision(X + shift) - function.decision(X - shift)) / (2 * step))
    return np.stack(columns, axis=-1)


def test_it_is_a_fitted_function():
    function = function_of()
    assert isinstance(function, FittedFunction)
    assert function.kind == "projected_kernel"
    assert function.arrays() == {}


@pytest.mark.parametrize("kernel", NAMES)
def test_decision_is_the_formula(kernel):
    function, X = function_of(kernel), rows()
    moves = (X[:, None] - function.Z) @ function.B.T
    K = function.kernel.profile(np.sum(moves**2, axis=2))
    expected = function.coefficients @ K.T + function.intercept[:, None]
    np.testing.assert_allclose(function.decision(X), expected, rtol=1e-11)


@pytest.mark.parametrize("kernel", NAMES)
@pytest.mark.parametrize("n_targets", [1, 3])
@pytest.mark.parametrize("n_components", [1, 2, 4])
def test_gradient_is_the_limit_of_differences(kernel, n_targets, n_components):
    function, X = function_of(kernel, n_targets, n_components), rows()
    gradient = function.gradient(X)
    assert gradient.shape == (n_targets, len(X), 4)
    np.testing.assert_allclose(gradient, differences(function, X), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("kernel", [name for name in NAMES if name != "laplace"])
def test_gradient_at_the_centres_themselves(kernel):
    function = function_of(kernel)
    X = function.Z.copy()
    np.testing.assert_allclose(function.gradient(X), differences(function, X), rtol=1e-4, atol=1e-4)


def test_a_kink_adds_nothing_to_the_gradient_at_its_own_place():
    function = function_of("laplace")
    X = function.Z[:1]
    others = ProjectedKernelFunction(
        function.B,
        function.Z[1:],
        function.coefficients[:, 1:],
        function.intercept,
        function.kernel,
    )
    np.testing.assert_allclose(function.gradient(X), others.gradient(X), rtol=1e-10)


def test_many_blocks_and_threads_give_the_same(monkeypatch):
    X = rows(500)
    whole = function_of().gradient(X), function_of().decision(X)
    monkeypatch.setattr(kernel_blocks, "BLOCK_ENTRIES", 100)
    monkeypatch.setattr(kernel_blocks, "HELD_ENTRIES", 0)
    parts = function_of(n_jobs=2).gradient(X), function_of(n_jobs=2).decision(X)
    for left, right in zip(whole, parts, strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-12, atol=1e-13)


def test_far_rows_have_finite_values_and_no_slope():
    X = np.full((1, 4), 1e100)
    for kernel in NAMES:
        function = function_of(kernel)
        assert np.isfinite(function.decision(X)).all()
        np.testing.assert_allclose(function.gradient(X), 0.0, atol=1e-50)

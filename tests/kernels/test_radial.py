"""Radial kernels: textbook formulas, derivatives, limits, and what a user's kernel must satisfy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from kernlens.kernels.radial import (
    RADIAL_KERNELS,
    GaussianKernel,
    GeneralizedLaplaceKernel,
    LaplaceKernel,
    RadialKernel,
    RationalQuadraticKernel,
    check_radial_kernel,
    make_radial_kernel,
)
from reference import hkrr

NAMES = list(RADIAL_KERNELS)


class CauchyKernel(RadialKernel):
    """1 / (1 + s), written as a user would."""

    def profile(self, s):
        return 1 / (1 + s)

    def derivative(self, s):
        return -1 / (1 + s) ** 2


class SpoiledKernel(CauchyKernel):
    """A Cauchy kernel that one method spoils."""

    def __init__(self, profile=None, derivative=None):
        if profile is not None:
            self.profile = profile
        if derivative is not None:
            self.derivative = derivative


def squared_distances(seed=0, shape=(6, 7)):
    return np.random.default_rng(seed).uniform(0.01, 9.0, shape)


@pytest.mark.parametrize("name", NAMES)
def test_profile_is_the_textbook_formula(name):
    s = squared_distances()
    s[0, 0] = 0.0
    expected = hkrr.KERNEL[name](np.sqrt(s))
    np.testing.assert_allclose(make_radial_kernel(name).profile(s), expected, rtol=1e-14)


@pytest.mark.parametrize("q", [0.3, 0.7, 1.0, 1.5, 2.0])
def test_generalized_laplace_is_the_exponential_of_a_power(q):
    s = squared_distances()
    s[0, 0] = 0.0
    kernel = GeneralizedLaplaceKernel(q)
    np.testing.assert_allclose(kernel.profile(s), np.exp(-(np.sqrt(s) ** q)), rtol=1e-14)
    assert kernel.derivative(s)[0, 0] == 0.0
    check_radial_kernel(kernel)


def test_generalized_laplace_has_both_limits():
    s = squared_distances()
    plain, general = LaplaceKernel(), GeneralizedLaplaceKernel(1.0)
    np.testing.assert_allclose(general.derivative(s), plain.derivative(s), rtol=1e-13)
    np.testing.assert_allclose(
        GeneralizedLaplaceKernel(2.0).derivative(s), 2.0 * GaussianKernel().derivative(2.0 * s)
    )


@pytest.mark.parametrize("a", [0.3, 1.0, 2.5, 40.0])
def test_rational_quadratic_is_the_power_for_every_a(a):
    s = squared_distances()
    expected = (1 + s / (2 * a)) ** (-a)
    np.testing.assert_allclose(RationalQuadraticKernel(a).profile(s), expected, rtol=1e-13)


@pytest.mark.parametrize("kernel", [*NAMES, RationalQuadraticKernel(0.3), CauchyKernel()])
def test_derivative_is_that_of_the_profile(kernel):
    kernel = make_radial_kernel(kernel)
    s = squared_distances()
    h = 1e-5 * s
    numerical = (kernel.profile(s + h) - kernel.profile(s - h)) / (2 * h)
    np.testing.assert_allclose(kernel.derivative(s), numerical, rtol=1e-6)


@pytest.mark.parametrize(
    "kernel", [*(name for name in NAMES if name != "laplace"), RationalQuadraticKernel(0.3)]
)
def test_second_derivative_is_that_of_the_derivative(kernel):
    kernel = make_radial_kernel(kernel)
    s = squared_distances()
    h = 1e-5 * s
    numerical = (kernel.derivative(s + h) - kernel.derivative(s - h)) / (2 * h)
    np.testing.assert_allclose(kernel.second_derivative(s), numerical, rtol=1e-6)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "laplace"])
def test_second_derivative_at_zero_is_the_one_sided_slope_or_zero(name):
    kernel = make_radial_kernel(name)
    zero = np.zeros((1, 1))
    with np.errstate(all="raise"):
        second = kernel.second_derivative(zero)[0, 0]
    if kernel.twice_smooth_at_zero:
        slopes = (kernel.derivative(zero + h) - kernel.derivative(zero) for h in (1e-6, 1e-8))
        rough, fine = (slope[0, 0] / h for slope, h in zip(slopes, (1e-6, 1e-8), strict=True))
        assert second == pytest.approx(fine, rel=1e-3)
        assert abs(second - fine) < abs(second - rough) + 1e-7
    else:
        # Like 1 / r beside zero.
        assert second == 0.0
        near = kernel.second_derivative(np.array([[1e-12, 4e-12]]))[0]
        assert near[0] == pytest.approx(2 * near[1], rel=1e-5) and near[0] > 1e5


def test_a_kernel_without_a_second_derivative_says_so():
    with pytest.raises(NotImplementedError):
        CauchyKernel().second_derivative(squared_distances())


def test_a_point_is_its_own_neighbour_for_second_derivatives():
    U = 100.0 + np.random.default_rng(0).standard_normal((20, 3))
    kernel = make_radial_kernel("matern32")
    np.testing.assert_array_equal(np.diag(kernel.distances(U, U, twice=True)), 0.0)
    assert np.diag(kernel.distances(U, U)).max() > 1e-13
    np.testing.assert_allclose(
        kernel.distances(U, U[:4], twice=True), cdist(U, U[:4]) ** 2, rtol=1e-12
    )


@pytest.mark.parametrize("name", [name for name in NAMES if name != "laplace"])
def test_derivative_at_zero_is_the_one_sided_slope(name):
    kernel = make_radial_kernel(name)
    assert kernel.smooth_at_zero
    zero, h = np.zeros((1, 1)), 1e-10
    slope = (kernel.profile(zero + h) - 1.0) / h
    # Only as precise as the profile near 1, and Matern-3/2 has a term in s^(3/2).
    np.testing.assert_allclose(kernel.derivative(zero), slope, rtol=1e-4)


def test_laplace_has_slope_zero_at_zero_and_a_large_one_beside_it():
    kernel = LaplaceKernel()
    assert not kernel.smooth_at_zero
    with np.errstate(all="raise"):
        slopes = kernel.derivative(np.array([[0.0, 1e-12]]))
    assert slopes[0, 0] == 0.0
    assert slopes[0, 1] == pytest.approx(-0.5e6, rel=1e-5)


@pytest.mark.parametrize("kernel", [*NAMES, RationalQuadraticKernel(0.3), CauchyKernel()])
def test_both_at_once_are_both_one_by_one(kernel):
    kernel = make_radial_kernel(kernel)
    s = squared_distances()
    s[0, 0] = 0.0
    values, slopes = kernel.profile_and_derivative(s)
    np.testing.assert_array_equal(values, kernel.profile(s))
    np.testing.assert_array_equal(slopes, kernel.derivative(s))


@pytest.mark.parametrize("name", NAMES)
def test_profile_decreases_from_one_to_zero(name):
    values = make_radial_kernel(name).profile(np.array([[0.0, 1e-3, 0.1, 1.0, 10.0, 1e8]]))
    assert values[0, 0] == 1.0
    assert np.all(np.diff(values) < 0)
    assert 0.0 <= values[0, -1] < 1e-7


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("d", [1, 4])
def test_distances_are_those_of_cdist(name, d):
    rng = np.random.default_rng(0)
    U, V = rng.standard_normal((9, d)), rng.standard_normal((5, d))
    s = make_radial_kernel(name).distances(U, V)
    np.testing.assert_allclose(s, cdist(U, V) ** 2, rtol=1e-12, atol=1e-13)
    assert np.all(make_radial_kernel(name).distances(1e3 + U, 1e3 + U) >= 0.0)


def test_a_point_is_its_own_neighbour_for_laplace():
    U = 100.0 + np.random.default_rng(0).standard_normal((20, 3))
    s = LaplaceKernel().distances(U, U)
    np.testing.assert_array_equal(np.diag(s), 0.0)
    np.testing.assert_array_equal(np.diag(LaplaceKernel().distances(U * (1 + 1e-14), U)), 0.0)
    assert np.all(np.diag(LaplaceKernel().distances(U + 1e-7, U)) > 0.0)
    # One matrix product would not do: its rounding is the square of a distance of 1e-6.
    assert np.diag(GaussianKernel().distances(U, U)).max() > 1e-13


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("d", [1, 3])
def test_matrices_are_symmetric_and_positive_semi_definite(name, d):
    kernel = make_radial_kernel(name)
    for seed in range(5):
        U = np.random.default_rng(seed).standard_normal((25, d))
        U[-1] = U[0]
        K = kernel.matrix(U, U)
        np.testing.assert_allclose(K, K.T, rtol=0, atol=1e-14)
        np.testing.assert_allclose(K, hkrr.kernel_matrix(name, np.eye(d), U, U), atol=1e-13)
        assert np.linalg.eigvalsh(K)[0] > -1e-13


def test_rational_quadratic_becomes_gaussian():
    s = squared_distances()
    gaussian = GaussianKernel().profile_and_derivative(s)
    errors = []
    for a in (1e2, 1e4, 1e6):
        wide = RationalQuadraticKernel(a).profile_and_derivative(s)
        errors.append(max(np.abs(w - g).max() for w, g in zip(wide, gaussian, strict=True)))
    # The first term left out is s^2 / (8 a) exp(-s / 2).
    assert np.all(np.array(errors) < 0.5 / np.array([1e2, 1e4, 1e6]))
    np.testing.assert_allclose(np.divide(errors[:-1], errors[1:]), 100.0, rtol=0.1)


@pytest.mark.parametrize("a", [0.0, -1.0, np.inf, np.nan])
def test_rational_quadratic_refuses_other_exponents(a):
    with pytest.raises(ValueError, match="a must be a positive finite number"):
        RationalQuadraticKernel(a)


@pytest.mark.parametrize("kernel", [*NAMES, RationalQuadraticKernel(0.01), CauchyKernel()])
def test_good_kernels_pass_the_check(kernel):
    check_radial_kernel(make_radial_kernel(kernel))


def test_a_subclass_works():
    U = np.random.default_rng(0).standard_normal((8, 2))
    kernel = CauchyKernel()
    assert make_radial_kernel(kernel) is kernel
    np.testing.assert_allclose(kernel.matrix(U, U[:3]), 1 / (1 + cdist(U, U[:3]) ** 2), rtol=1e-12)
    values, slopes = kernel.profile_and_derivative(squared_distances())
    np.testing.assert_allclose(slopes, -(values**2), rtol=1e-14)


def infinite_at_zero(s):
    with np.errstate(divide="ignore"):
        return -0.5 * np.exp(-np.sqrt(s)) / np.sqrt(s)


@pytest.mark.parametrize(
    ("spoiled", "sentence"),
    [
        (
            {"profile": lambda s: np.exp(-np.sqrt(s)), "derivative": infinite_at_zero},
            "no finite derivative at zero; return 0 there and set smooth_at_zero = False",
        ),
        ({"derivative": lambda s: 1 / (1 + s) ** 2}, r"at s = 1 it gives 0.25, .* give -0.25"),
        # The derivative in the distance r instead of its square.
        ({"derivative": lambda s: -2 * np.sqrt(s) / (1 + s) ** 2}, "respect to the squared"),
        ({"profile": lambda s: (1 / (1 + s)).ravel()}, r"shape of their argument \(1, 4\)"),
        ({"derivative": lambda s: -1.0}, r"shape of their argument \(1, 4\), .* and \(\)"),
        (
            {"profile": lambda s: 3 / (1 + s), "derivative": lambda s: -3 / (1 + s) ** 2},
            "must be 1 at zero, got 3; divide it by that",
        ),
        (
            {"profile": lambda s: np.where(s > 2, np.nan, 1 / (1 + s))},
            "must be finite for every s >= 0",
        ),
    ],
)
def test_bad_kernels_are_refused_with_a_sentence(spoiled, sentence):
    with pytest.raises(ValueError, match=sentence) as refusal:
        check_radial_kernel(SpoiledKernel(**spoiled))
    message = str(refusal.value)
    assert message.startswith("SpoiledKernel") and message.endswith(".")


@pytest.mark.parametrize("name", NAMES)
def test_inputs_are_left_alone(name):
    kernel = make_radial_kernel(name)
    s, U = squared_distances(), np.random.default_rng(1).standard_normal((5, 2))
    kept_s, kept_U = s.copy(), U.copy()
    kernel.profile(s)
    kernel.derivative(s)
    kernel.profile_and_derivative(s)
    kernel.distances(U, U)
    kernel.matrix(U, U[:2])
    np.testing.assert_array_equal(s, kept_s)
    np.testing.assert_array_equal(U, kept_U)

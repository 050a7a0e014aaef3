"""Derivatives of kernels, against formulas for one pair of points and finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens.kernels.derivatives import (
    DIFFERENTIABLE_KERNELS,
    check_differentiable_kernel,
    make_derivatives,
)
from kernlens.kernels.dot_product import (
    DOT_PRODUCT_KERNELS,
    DotProductKernel,
    ExponentialDotKernel,
    PolynomialKernel,
)
from kernlens.kernels.radial import (
    RADIAL_KERNELS,
    LaplaceKernel,
    RadialKernel,
    RationalQuadraticKernel,
)
from reference import kernel_laplacian as oracle


class CauchyKernel(RadialKernel):
    """1 / (1 + s), written as a user would."""

    def profile(self, s):
        return 1 / (1 + s)

    def derivative(self, s):
        return -1 / (1 + s) ** 2

    def second_derivative(self, s):
        return 2 / (1 + s) ** 3


class CoshKernel(DotProductKernel):
    """cosh(t), written as a user would."""

    def profile(self, t):
        return np.cosh(t)

    def derivative(self, t):
        return np.sinh(t)

    def second_derivative(self, t):
        return np.cosh(t)


CASES = {name: (name, oracle.KERNELS[name]) for name in DIFFERENTIABLE_KERNELS} | {
    "rational 0.3": (RationalQuadraticKernel(0.3), oracle.rational_quadratic(0.3)),
    "degree 1": (PolynomialKernel(1, 0.5), oracle.polynomial(1, 0.5)),
    "degree 2": (PolynomialKernel(2, 0.0), oracle.polynomial(2, 0.0)),
    "cauchy": (CauchyKernel(), oracle.cauchy()),
    "cosh": (CoshKernel(), oracle.cosh_dot()),
}
every_kernel = pytest.mark.parametrize("case", CASES)


def points(n=7, m=5, d=3, shared=2, seed=0):
    """X and Z, of which the first few are the same."""
    rng = np.random.default_rng(seed)
    X, Z = 0.7 * rng.standard_normal((n, d)), 0.7 * rng.standard_normal((m, d))
    Z[:shared] = X[:shared]
    return X, Z


def frames(n, d, r=2, seed=1):
    return np.random.default_rng(seed).standard_normal((n, r, d))


def coefficients(m, d, t=2, seed=2):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((t, m)), rng.standard_normal((t, m, d))


def differences(function, x, h=1e-5):
    """Central differences along every coordinate, stacked last."""
    steps = h * np.eye(len(x))
    return np.stack([(function(x + e) - function(x - e)) / (2 * h) for e in steps], axis=-1)


def test_the_table_names_every_kernel_but_laplace():
    assert set(DIFFERENTIABLE_KERNELS) == {*RADIAL_KERNELS, *DOT_PRODUCT_KERNELS} - {"laplace"}


@every_kernel
def test_the_formulas_of_pairs_are_derivatives(case):
    _, pair = CASES[case]
    (x, *_), (*_, z) = points()
    np.testing.assert_allclose(
        pair.slope(x, z), differences(lambda u: pair.value(u, z), x), atol=1e-9
    )
    twice = differences(lambda v: pair.slope(x, v), z)
    np.testing.assert_allclose(pair.mixed(x, z), twice, atol=1e-9)


@every_kernel
def test_values_are_those_of_pairs(case):
    kernel, pair = CASES[case]
    X, Z = points()
    derivatives = make_derivatives(kernel)
    # sqrt(s) of a rounded distance: 1e-16 in s is 1e-8 in r, which the profile flattens.
    np.testing.assert_allclose(derivatives.matrix(X, Z), oracle.values(pair, X, Z), atol=2e-15)
    diagonal = [pair.value(x, x) for x in X]
    np.testing.assert_allclose(derivatives.diagonal(X), diagonal, rtol=1e-14)


@every_kernel
def test_slopes_and_mixed_slopes_are_those_of_pairs(case):
    kernel, pair = CASES[case]
    X, Z = points()
    T, S = frames(len(X), 3), frames(len(Z), 3, r=4)
    derivatives = make_derivatives(kernel)
    expected = np.einsum("nrd,ndm->nrm", T, oracle.slopes(pair, X, Z))
    np.testing.assert_allclose(derivatives.slopes(X, T, Z), expected, atol=2e-14)
    expected = np.einsum("nrd,ndme,mqe->nrmq", T, oracle.mixed(pair, X, Z), S)
    np.testing.assert_allclose(derivatives.mixed_slopes(X, T, Z, S), expected, atol=5e-14)


@every_kernel
def test_functions_of_atoms_and_their_gradients_are_sums_over_pairs(case):
    kernel, pair = CASES[case]
    X, Z = points()
    c, B = coefficients(*Z.shape)
    at_X, gradients = oracle.of_atoms(pair, X, Z)
    stacked = np.hstack([c, B.reshape(len(B), -1)])
    derivatives = make_derivatives(kernel)
    np.testing.assert_allclose(derivatives.evaluate(X, Z, c, B), stacked @ at_X.T, atol=2e-14)
    values, slopes = derivatives.value_and_gradient(X, Z, c, B)
    np.testing.assert_allclose(values, stacked @ at_X.T, atol=2e-14)
    expected = np.einsum("nda,ta->tnd", gradients, stacked)
    np.testing.assert_allclose(slopes, expected, atol=5e-14)


@every_kernel
def test_functions_of_atoms_are_sums_of_slopes(case):
    kernel, _ = CASES[case]
    X, Z = points()
    c, B = coefficients(*Z.shape)
    derivatives = make_derivatives(kernel)
    every, others = (
        np.broadcast_to(np.eye(3), (len(X), 3, 3)),
        np.broadcast_to(np.eye(3), (5, 3, 3)),
    )
    # grad_z k(x, z) is the gradient in the first argument of k(z, x).
    expected = c @ derivatives.matrix(X, Z).T
    expected += np.einsum("tmd,mdn->tn", B, derivatives.slopes(Z, others, X))
    np.testing.assert_allclose(derivatives.evaluate(X, Z, c, B), expected, atol=2e-14)
    slopes = np.einsum("tm,ndm->tnd", c, derivatives.slopes(X, every, Z))
    slopes += np.einsum("tme,ndme->tnd", B, derivatives.mixed_slopes(X, every, Z, others))
    np.testing.assert_allclose(derivatives.value_and_gradient(X, Z, c, B)[1], slopes, atol=5e-14)


@every_kernel
def test_gradients_are_differences_of_values(case):
    kernel, _ = CASES[case]
    X, Z = points(shared=0)
    c, B = coefficients(*Z.shape)
    derivatives = make_derivatives(kernel)
    numerical = np.stack(
        [differences(lambda u: derivatives.evaluate(u[None], Z, c, B)[:, 0], x) for x in X], axis=1
    )
    slopes = derivatives.value_and_gradient(X, Z, c, B)[1]
    np.testing.assert_allclose(slopes, numerical, atol=2e-8)


@every_kernel
def test_none_is_zero(case):
    kernel, _ = CASES[case]
    X, Z = points()
    c, B = coefficients(*Z.shape)
    derivatives = make_derivatives(kernel)
    for given, full in (((c, None), (c, 0 * B)), ((None, B), (0 * c, B))):
        values, slopes = derivatives.value_and_gradient(X, Z, *given)
        expected, gradients = derivatives.value_and_gradient(X, Z, *full)
        np.testing.assert_allclose(values, expected, atol=1e-14)
        np.testing.assert_allclose(slopes, gradients, atol=1e-14)
        evaluated = derivatives.evaluate(X, Z, *given)
        np.testing.assert_allclose(evaluated, expected, atol=1e-14)


@every_kernel
def test_energy_is_the_sum_of_products_of_slopes(case):
    kernel, pair = CASES[case]
    X, Z = points(n=9)
    weights = np.random.default_rng(3).uniform(0.2, 2.0, len(X))
    derivatives = make_derivatives(kernel)
    found = derivatives.energy(X, weights, Z)
    np.testing.assert_allclose(
        found, oracle.energy(oracle.slopes(pair, X, Z), weights), rtol=1e-12, atol=1e-13
    )
    every = np.broadcast_to(np.eye(3), (len(X), 3, 3))
    slopes = derivatives.slopes(X, every, Z)
    expected = np.einsum("n,ndi,ndj->ij", weights, slopes, slopes)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


@every_kernel
def test_the_gram_matrix_of_values_and_derivatives_is_positive_semi_definite(case):
    kernel, _ = CASES[case]
    derivatives = make_derivatives(kernel)
    X, _ = points(n=8)
    every = np.broadcast_to(np.eye(3), (len(X), 3, 3))
    D = derivatives.slopes(X, every, X).reshape(-1, len(X))
    Q = derivatives.mixed_slopes(X, every, X, every).reshape(len(D), -1)
    gram = np.block([[derivatives.matrix(X, X), D.T], [D, Q]])
    np.testing.assert_allclose(gram, gram.T, atol=1e-13)
    sizes = np.linalg.eigvalsh(gram)
    assert sizes[0] > -1e-13 * sizes[-1]


@pytest.mark.parametrize("shift", [0.0, 30.0])
def test_matern32_is_exact_at_its_own_points(shift):
    # Distances by one matrix product would give errors of 1e-8 there.
    derivatives = make_derivatives("matern32")
    X = shift + np.random.default_rng(0).standard_normal((6, 4))
    T = frames(6, 4)
    found = derivatives.mixed_slopes(X, T, X, T)
    for i in range(6):
        np.testing.assert_allclose(found[i, :, i], 3 * T[i] @ T[i].T, rtol=0, atol=2e-13)
    B = np.random.default_rng(1).standard_normal((1, 1, 4))
    _, gradient = derivatives.value_and_gradient(X[:1], X[:1], None, B)
    np.testing.assert_allclose(gradient[0], 3 * B[0], rtol=0, atol=1e-12)
    with np.errstate(all="raise"):
        derivatives.mixed_slopes(X, T, X, T)


def test_matern32_has_a_continuous_mixed_derivative():
    derivatives = make_derivatives("matern32")
    z = np.array([[0.3, -0.2, 1.0]])
    every = np.eye(3)[None]
    for step in (1e-3, 1e-5, 1e-7):
        found = derivatives.mixed_slopes(z + step, every, z, every)[0, :, 0]
        # 3 (I - sqrt(3) r e e^T) exp(-sqrt(3) r): linear in the distance.
        assert np.abs(found - 3 * np.eye(3)).max() < 20 * step


@pytest.mark.parametrize("degree", [1, 2, 3, 5])
@pytest.mark.parametrize("constant", [0.0, 2.0])
def test_polynomials_of_the_inner_product(degree, constant):
    kernel = PolynomialKernel(degree, constant)
    # 0 in a base of 0 included.
    t = np.array([[-2.5, -1.0, 0.0, 0.5, 3.0]])
    p = np.polynomial.Polynomial([constant, 1.0]) ** degree
    np.testing.assert_allclose(kernel.profile(t), p(t), rtol=1e-13)
    np.testing.assert_allclose(kernel.derivative(t), p.deriv()(t), rtol=1e-13)
    np.testing.assert_allclose(kernel.second_derivative(t), p.deriv(2)(t), rtol=1e-13)
    assert kernel.second_derivative(t).shape == t.shape


def test_degree_one_is_the_linear_kernel_and_a_constant():
    X, Z = points()
    c, B = coefficients(*Z.shape)
    line, shifted = make_derivatives("linear"), make_derivatives(PolynomialKernel(1, 2.0))
    apart = 2.0 * c.sum(axis=1)[:, None]
    np.testing.assert_allclose(
        shifted.evaluate(X, Z, c, B), line.evaluate(X, Z, c, B) + apart, atol=1e-13
    )


def test_exponential_dot_does_not_overflow():
    kernel = ExponentialDotKernel()
    with np.errstate(all="raise"):
        values = kernel.profile(np.array([[1e5, 700.0, 500.0, -1e3 / 2]]))
    assert np.all(np.isfinite(values)) and values[0, 2] == np.exp(500.0)


@pytest.mark.parametrize("degree", [0, -1, 1.5, 2.0, 1001, 10**30])
def test_polynomials_refuse_other_degrees(degree):
    with pytest.raises(ValueError, match="degree must be an integer of at least 1"):
        PolynomialKernel(degree)


@pytest.mark.parametrize("constant", [-0.1, np.inf, np.nan])
def test_polynomials_refuse_other_constants(constant):
    with pytest.raises(ValueError, match="constant must be a finite number of at least 0"):
        PolynomialKernel(2, constant)


@every_kernel
def test_good_kernels_pass_the_check(case):
    kernel, _ = CASES[case]
    names = {**RADIAL_KERNELS, **DOT_PRODUCT_KERNELS}
    check_differentiable_kernel(names[kernel]() if isinstance(kernel, str) else kernel)


class WithoutSecond(RadialKernel):
    def profile(self, s):
        return 1 / (1 + s)

    def derivative(self, s):
        return -1 / (1 + s) ** 2


class WrongSecond(CauchyKernel):
    def second_derivative(self, s):
        return -2 / (1 + s) ** 3


class FlatSecond(CauchyKernel):
    def second_derivative(self, s):
        return (2 / (1 + s) ** 3).ravel()


class WrongFirst(CauchyKernel):
    def derivative(self, s):
        return -2 / (1 + s) ** 2

    def second_derivative(self, s):
        return 4 / (1 + s) ** 3


class InfiniteSecond(RadialKernel):
    """Matern-3/2 without a word about its second derivative at zero."""

    def profile(self, s):
        return (1 + np.sqrt(3 * s)) * np.exp(-np.sqrt(3 * s))

    def derivative(self, s):
        return -1.5 * np.exp(-np.sqrt(3 * s))

    def second_derivative(self, s):
        with np.errstate(divide="ignore"):
            return 2.25 / np.sqrt(3 * s) * np.exp(-np.sqrt(3 * s))


class WrongSecondDot(CoshKernel):
    def second_derivative(self, t):
        return np.sinh(t)


class WrongFirstDot(CoshKernel):
    """The derivatives of sinh: consistent with each other, not with the profile."""

    def derivative(self, t):
        return np.cosh(t)

    def second_derivative(self, t):
        return np.sinh(t)


@pytest.mark.parametrize(
    ("kernel", "sentence"),
    [
        (LaplaceKernel(), "is not differentiable enough: .* use 'matern32' or a smoother kernel"),
        (WithoutSecond(), "has no method second_derivative, which a penalty on gradients needs"),
        (WrongSecond(), "second_derivative is not the derivative of derivative"),
        (FlatSecond(), "second_derivative"),
        (WrongFirst(), "derivative is not that of profile"),
        (InfiniteSecond(), "second_derivative"),
        (WrongSecondDot(), "second_derivative is not the derivative of derivative"),
        (WrongFirstDot(), "derivative is not that of profile"),
    ],
    ids=lambda case: type(case).__name__,
)
def test_other_kernels_are_refused_with_a_sentence(kernel, sentence):
    with pytest.raises(ValueError, match=sentence) as refusal:
        check_differentiable_kernel(kernel)
    message = str(refusal.value)
    assert message.startswith(type(kernel).__name__) and message.endswith(".")


@every_kernel
def test_inputs_are_left_alone(case):
    kernel, _ = CASES[case]
    X, Z = points()
    c, B = coefficients(*Z.shape)
    T, S, weights = frames(len(X), 3), frames(len(Z), 3), np.ones(len(X))
    given = [X, Z, c, B, T, S, weights]
    kept = [array.copy() for array in given]
    derivatives = make_derivatives(kernel)
    derivatives.matrix(X, Z)
    derivatives.evaluate(X, Z, c, B)
    derivatives.value_and_gradient(X, Z, c, B)
    derivatives.slopes(X, T, Z)
    derivatives.mixed_slopes(X, T, Z, S)
    derivatives.energy(X, weights, Z)
    for array, before in zip(given, kept, strict=True):
        np.testing.assert_array_equal(array, before)

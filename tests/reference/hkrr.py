"""Obvious, slow HKRR: the oracle of the kernels, the fit on Nyström centres and its gradients.

Everything is dense, in plain loops over rows and centres, and one formula per function. Kernels are
functions of the distance r as in textbooks, not of the squared distance as in the package.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.optimize import minimize

from reference.bkernn import LOSS

#: k(u, v) as a function of r = |u - v|, length scale 1 (rational quadratic with a = 1).
KERNEL = {
    "gaussian": lambda r: np.exp(-(r**2) / 2),
    "matern32": lambda r: (1 + np.sqrt(3) * r) * np.exp(-np.sqrt(3) * r),
    "matern52": lambda r: (1 + np.sqrt(5) * r + 5 * r**2 / 3) * np.exp(-np.sqrt(5) * r),
    "rational_quadratic": lambda r: 1 / (1 + r**2 / 2),
    "laplace": lambda r: np.exp(-r),
}


def kernel_matrix(kernel, B, X, Z):
    """k(B x_i, B z_j), (len(X), len(Z))."""
    out = np.empty((len(X), len(Z)))
    for i, x in enumerate(X):
        for j, z in enumerate(Z):
            out[i, j] = KERNEL[kernel](np.linalg.norm(B @ (x - z)))
    return out


def center_matrix(kernel, B, Z, jitter):
    """K_zz + jitter I."""
    return kernel_matrix(kernel, B, Z, Z) + jitter * np.eye(len(Z))


def objective(kernel, loss, B, a, c, X, Z, y, weights, alpha, jitter):
    """L(B, a, c); half of (5) for the squared loss, which is 1/2 |y - f|^2 here."""
    K, Kzz = kernel_matrix(kernel, B, X, Z), center_matrix(kernel, B, Z, jitter)
    return fixed_kernel_objective(loss, K, Kzz, a, c, y, weights, alpha)


def fixed_kernel_objective(loss, K, Kzz, a, c, y, weights, alpha):
    """L for given matrices, Kzz with its jitter."""
    data_fit = 0.0
    for i in range(len(K)):
        data_fit += weights[i] * LOSS[loss](y[:, i], a @ K[i] + c)[0]
    norm = 0.0
    for coefficients in a:
        norm += coefficients @ Kzz @ coefficients
    return data_fit / sum(weights) + alpha / 2 * norm


def coefficient_gradients(loss, K, Kzz, a, c, y, weights, alpha):
    """Gradient of L in a (T, p) and c (T,), row by row."""
    in_a, in_c = alpha * a @ Kzz, np.zeros(len(c))
    for i in range(len(K)):
        slope = weights[i] / sum(weights) * LOSS[loss](y[:, i], a @ K[i] + c)[1]
        in_a = in_a + np.outer(slope, K[i])
        in_c = in_c + slope
    return in_a, in_c


def coefficient_hessian(loss, K, Kzz, a, c, y, weights, alpha):
    """Hessian of L in the rows (a_t, c_t) one after another, square of size T (p + 1)."""
    T, p = a.shape
    ridge = np.zeros((p + 1, p + 1))
    ridge[:p, :p] = alpha * Kzz
    out = np.kron(np.eye(T), ridge)
    for i in range(len(K)):
        row = np.append(K[i], 1.0)
        curvature = LOSS[loss](y[:, i], a @ K[i] + c)[2]
        out = out + weights[i] / sum(weights) * np.kron(curvature, np.outer(row, row))
    return out


def minimize_coefficients(loss, K, Kzz, y, weights, alpha, intercept=True):
    """Lowest L over a and c, by SciPy's trust region with the exact Hessian; a (T, p), c (T,)."""
    T, p = len(y), len(Kzz)
    free = np.tile(np.append(np.ones(p, dtype=bool), intercept), T)
    data = (y, weights, alpha)

    def unpack(theta):
        full = np.zeros(T * (p + 1))
        full[free] = theta
        return full.reshape(T, p + 1)[:, :p], full.reshape(T, p + 1)[:, p]

    def value(theta):
        return fixed_kernel_objective(loss, K, Kzz, *unpack(theta), *data)

    def gradient(theta):
        in_a, in_c = coefficient_gradients(loss, K, Kzz, *unpack(theta), *data)
        return np.column_stack([in_a, in_c]).ravel()[free]

    def hessian(theta):
        return coefficient_hessian(loss, K, Kzz, *unpack(theta), *data)[np.ix_(free, free)]

    options = {"gtol": 1e-11, "maxiter": 500}
    end = minimize(
        value,
        np.zeros(free.sum()),
        jac=gradient,
        hess=hessian,
        method="trust-exact",
        options=options,
    )
    return end.fun, *unpack(end.x)


def polished_coefficients(loss, K, Kzz, y, weights, alpha):
    """Minimising a, c to rounding: Newton steps after `minimise_coefficients`.

    A direction without curvature, a constant added to all classes, is left alone.
    """
    _, a, c = minimize_coefficients(loss, K, Kzz, y, weights, alpha)
    for _ in range(3):
        gradient = np.column_stack(coefficient_gradients(loss, K, Kzz, a, c, y, weights, alpha))
        hessian = coefficient_hessian(loss, K, Kzz, a, c, y, weights, alpha)
        step = np.linalg.lstsq(hessian, gradient.ravel(), rcond=1e-12)[0].reshape(gradient.shape)
        a, c = a - step[:, :-1], c - step[:, -1]
    return a, c


def reduced_objective(K, Kzz, y, weights, alpha):
    """(7) with weights, for one target row y (n,), no intercept and the paper's scale: twice H."""
    total = sum(weights)
    moments = K.T @ (weights * y)
    inverse = np.linalg.inv(K.T @ np.diag(weights) @ K + alpha * total * Kzz)
    return (y @ (weights * y) - moments @ inverse @ moments) / total


def ridge_coefficients(K, Kzz, y, weights, alpha):
    """Minimising a (T, p) and c (T,) for the squared loss, by least squares on one tall matrix."""
    p = len(Kzz)
    root = np.sqrt(weights)[:, None]
    values, vectors = np.linalg.eigh(Kzz)
    norm = np.sqrt(alpha * sum(weights) * np.maximum(values, 0.0))[:, None] * vectors.T
    tall = np.block([[root * K, root], [norm, np.zeros((p, 1))]])
    targets = np.vstack([root * y.T, np.zeros((p, len(y)))])
    solved = np.linalg.lstsq(tall, targets, rcond=None)[0].T
    return solved[:, :p], solved[:, p]


def held_out_loss(kernel, loss, B, train, test, Z, alpha, jitter=1e-10, bounds=None):
    """Weighted mean loss on `test` of the best function on `train`; both have X, y, weights."""
    K, Kzz = kernel_matrix(kernel, B, train.X, Z), center_matrix(kernel, B, Z, jitter)
    solve = ridge_coefficients
    if loss != "squared":

        def solve(*data):
            return polished_coefficients(loss, *data)

    a, c = solve(K, Kzz, train.y, train.weights, alpha)
    total = 0.0
    for k, y, weight in zip(
        kernel_matrix(kernel, B, test.X, Z), test.y.T, test.weights, strict=True
    ):
        decision = a @ k + c
        if bounds is not None:
            decision = np.minimum(np.maximum(decision, bounds[0]), bounds[1])
        total += weight * LOSS[loss](y, decision)[0]
    return total / sum(test.weights)


def solve_exactly(K, Kzz, y, weights, alpha, intercept=False):
    """The solution a (T, p), c (T,) of (6) and its predictions (T, n), in rational arithmetic.

    The floating-point entries are taken as exact numbers, so that nothing but the last conversion
    rounds. An intercept is one more column, of ones, without a penalty.
    """
    rows = [[Fraction(float(k)) for k in row] + [Fraction(int(intercept))] for row in K]
    w = [Fraction(float(weight)) for weight in weights]
    ridge = Fraction(float(alpha)) * sum(w)
    p = len(Kzz)
    matrix = [[_weighted_product(rows, rows, w, j, k) for k in range(p + 1)] for j in range(p + 1)]
    for j in range(p):
        for k in range(p):
            matrix[j][k] += ridge * Fraction(float(Kzz[j, k]))
    if not intercept:
        matrix[p][p] = Fraction(1)
    targets = [[Fraction(float(value)) for value in column] for column in y.T]
    rhs = [[_weighted_product(rows, targets, w, j, t) for t in range(len(y))] for j in range(p + 1)]
    solution = _eliminate(matrix, rhs)
    predictions = [
        [sum(r * s[t] for r, s in zip(row, solution, strict=True)) for row in rows]
        for t in range(len(y))
    ]
    solved = np.array(solution, dtype=float).T
    return solved[:, :p], solved[:, p], np.array(predictions, dtype=float)


def _weighted_product(left, right, w, j, k):
    return sum(weight * a[j] * b[k] for weight, a, b in zip(w, left, right, strict=True))


def _eliminate(matrix, rhs):
    """Gauss and Jordan on lists of fractions; any non-zero pivot will do, as nothing rounds."""
    n = len(matrix)
    rows = [matrix[i] + rhs[i] for i in range(n)]
    for j in range(n):
        pivot = next(i for i in range(j, n) if rows[i][j] != 0)
        rows[j], rows[pivot] = rows[pivot], rows[j]
        rows[j] = [value / rows[j][j] for value in rows[j]]
        for i in range(n):
            if i != j and rows[i][j] != 0:
                factor = rows[i][j]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[j], strict=True)]
    return [row[n:] for row in rows]


@dataclass(frozen=True)
class Problem:
    """Data of a fit, with a map B and coefficients a, c that are not optimal."""

    loss: str
    X: np.ndarray
    Z: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    B: np.ndarray
    a: np.ndarray
    c: np.ndarray
    alpha: float
    jitter: float

    def objective(self, kernel, B=None, a=None, c=None):
        B = self.B if B is None else B
        a = self.a if a is None else a
        c = self.c if c is None else c
        data = (self.X, self.Z, self.y, self.weights)
        return objective(kernel, self.loss, B, a, c, *data, self.alpha, self.jitter)

    def kernels(self, kernel, B=None):
        """K and K_zz + jitter."""
        B = self.B if B is None else B
        K = kernel_matrix(kernel, B, self.X, self.Z)
        return K, center_matrix(kernel, B, self.Z, self.jitter)


def problem(
    loss="squared", *, n=24, p=6, d=3, k=2, n_targets=None, alpha=0.02, jitter=1e-10, seed=0
):
    """Random rows with weights; the first centres are rows, the last are not."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    Z = np.vstack([X[: p - 2], rng.standard_normal((2, d))])
    B = rng.standard_normal((k, d)) / np.sqrt(d)
    T = n_targets or {"squared": 2, "logistic": 1, "multinomial": 3}[loss]
    signal = np.sin(2 * X @ rng.standard_normal((d, T))) + 0.3 * rng.standard_normal((n, T))
    if loss == "logistic":
        y = (signal.T > 0).astype(float)
    elif loss == "multinomial":
        y = np.eye(T)[np.argmax(signal, axis=1)].T
    else:
        y = signal.T.copy()
    weights = rng.uniform(0.3, 2.0, n)
    a, c = rng.standard_normal((T, p)), rng.standard_normal(T)
    return Problem(loss, X, Z, y, weights, B, a, c, alpha, jitter)


def central_differences(function, at, h=1e-5):
    """Gradient of a scalar function of an array, entry by entry."""
    out = np.empty(at.shape)
    for index in np.ndindex(*at.shape):
        move = np.zeros(at.shape)
        move[index] = h
        out[index] = (function(at + move) - function(at - move)) / (2 * h)
    return out


def fitted_function(case, kernel, target):
    """The function x -> f_t(x) of a problem's map and coefficients, written out."""

    def function(x):
        value = case.c[target]
        for coefficient, z in zip(case.a[target], case.Z, strict=True):
            value += coefficient * KERNEL[kernel](np.linalg.norm(case.B @ (x - z)))
        return value

    return function


def average_outer_product(case, kernel):
    """sum_i w_i grad f grad f^T / sum w over rows and targets, by finite differences, (d, d)."""
    total = np.zeros((case.X.shape[1],) * 2)
    for x, weight in zip(case.X, case.weights, strict=True):
        for target in range(len(case.y)):
            slope = central_differences(fitted_function(case, kernel, target), x)
            total += weight * np.outer(slope, slope)
    return total / case.weights.sum()


def map_gradient(kernel, loss, B, a, c, X, Z, y, weights, alpha):
    """Gradient of L in B, pair by pair: phi'(s) 2 B (u - v) (u - v)^T times its weight."""
    K = kernel_matrix(kernel, B, X, Z)
    out = np.zeros(B.shape)
    for i, x in enumerate(X):
        slope = weights[i] / sum(weights) * LOSS[loss](y[:, i], a @ K[i] + c)[1]
        for j, z in enumerate(Z):
            out += (slope @ a[:, j]) * kernel_gradient_in_map(kernel, B, x - z)
    for j, u in enumerate(Z):
        for k, v in enumerate(Z):
            out += alpha / 2 * (a[:, j] @ a[:, k]) * kernel_gradient_in_map(kernel, B, u - v)
    return out


def kernel_gradient_in_map(kernel, B, difference):
    """Gradient in B of k(|B difference|): k'(r) / r B difference difference^T, 0 where r = 0."""
    r = np.linalg.norm(B @ difference)
    if r == 0.0:
        return np.zeros(B.shape)
    # An imaginary step differentiates without cancellation.
    slope = KERNEL[kernel](r + 1e-30j).imag / 1e-30
    return slope / r * np.outer(B @ difference, difference)


def clip_singular_values(B, radius):
    """The paper's projection on the ball of the operator norm."""
    U, values, Vt = np.linalg.svd(B, full_matrices=False)
    return U @ np.diag([min(value, radius) for value in values]) @ Vt


def armijo(function, x, gradient, project, s, rho, delta, c, s_max=np.inf):
    """Inner loop of Algorithms 3 and 4 with the corrected test: the new x and its step size.

    The printed s_max bounds the step before its first contraction; here it bounds the step.
    """
    s = min(s / delta, s_max)
    while True:
        new = project(x - s * gradient)
        if function(new) <= function(x) - c / s * np.sum((new - x) ** 2):
            return new, s
        s = rho * s


def algorithm_3(
    case, kernel, radius, s, n_iter, rho=0.5, delta=0.5, c=1e-4, s_max=np.inf, reduced=False
):
    """VarPro: the maps B^0, B^1, ... and the step sizes.

    Steps are tested at the coefficients of the step before, as printed, or, if `reduced`, each at
    its own best coefficients.
    """
    data = (case.y, case.weights, case.alpha)
    B, maps, sizes = case.B, [case.B], []

    def tested(B, a, b):
        if reduced:
            a, b = polished_coefficients(case.loss, *case.kernels(kernel, B), *data)
        return case.objective(kernel, B, a, b)

    for _ in range(n_iter):
        a, b = polished_coefficients(case.loss, *case.kernels(kernel, B), *data)
        gradient = map_gradient(kernel, case.loss, B, a, b, case.X, case.Z, *data)
        B, s = armijo(
            lambda B, a=a, b=b: tested(B, a, b),
            B,
            gradient,
            lambda B: clip_singular_values(B, radius),
            s,
            rho,
            delta,
            c,
            s_max,
        )
        maps.append(B)
        sizes.append(s)
    return maps, sizes


def algorithm_4(case, kernel, radius, s, n_iter, n_coefficient_steps, rho=0.5, delta=0.5, c=1e-4):
    """Alternating gradient descent, corrected: a list of (B, a, c), the start first.

    `s` are the first step sizes, of the map and of the coefficients. The test of a step in the
    coefficients is made at the new map, and the last of these steps is kept.
    """
    data = (case.y, case.weights, case.alpha)
    B, p, rule = case.B, len(case.Z), (rho, delta, c)
    theta = np.column_stack([case.a, case.c])
    map_size, coefficient_size = s
    points = [(B, case.a, case.c)]
    for _ in range(n_iter):
        a, b = theta[:, :p], theta[:, p]
        gradient = map_gradient(kernel, case.loss, B, a, b, case.X, case.Z, *data)
        B, map_size = armijo(
            lambda B, a=a, b=b: case.objective(kernel, B, a, b),
            B,
            gradient,
            lambda B: clip_singular_values(B, radius),
            map_size,
            *rule,
        )
        matrices = case.kernels(kernel, B)
        for _ in range(n_coefficient_steps):
            a, b = theta[:, :p], theta[:, p]
            gradient = np.column_stack(coefficient_gradients(case.loss, *matrices, a, b, *data))
            theta, coefficient_size = armijo(
                lambda t, m=matrices: fixed_kernel_objective(
                    case.loss, *m, t[:, :p], t[:, p], *data
                ),
                theta,
                gradient,
                lambda t: t,
                coefficient_size,
                *rule,
            )
        points.append((B, theta[:, :p], theta[:, p]))
    return points

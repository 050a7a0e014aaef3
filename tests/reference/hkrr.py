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


def centre_matrix(kernel, B, Z, jitter):
    """K_zz + jitter I."""
    return kernel_matrix(kernel, B, Z, Z) + jitter * np.eye(len(Z))


def objective(kernel, loss, B, a, c, X, Z, y, weights, alpha, jitter):
    """L(B, a, c); half of (5) for the squared loss, which is 1/2 |y - f|^2 here."""
    K, Kzz = kernel_matrix(kernel, B, X, Z), centre_matrix(kernel, B, Z, jitter)
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


def minimise_coefficients(loss, K, Kzz, y, weights, alpha, intercept=True):
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


def reduced_objective(K, Kzz, y, weights, alpha):
    """(7) with weights, for one target row y (n,), no intercept and the paper's scale: twice H."""
    total = sum(weights)
    moments = K.T @ (weights * y)
    inverse = np.linalg.inv(K.T @ np.diag(weights) @ K + alpha * total * Kzz)
    return (y @ (weights * y) - moments @ inverse @ moments) / total


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
        return K, centre_matrix(kernel, B, self.Z, self.jitter)


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

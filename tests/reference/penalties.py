"""Obvious, slow penalties and proximal operators: the oracle of kernlens.penalties."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numpy as np
import scipy.linalg
import scipy.optimize


def basic_l2(W, s):
    m, d = W.shape
    return sum(math.sqrt(sum(W[j, a] ** 2 for a in range(d))) for j in range(m)) / (2 * m)


def basic_l1(W, s):
    m, d = W.shape
    return sum(abs(W[j, a]) for j in range(m) for a in range(d)) / (2 * m)


def variable(W, s):
    m, d = W.shape
    return 0.5 * sum(math.sqrt(sum(W[j, a] ** 2 for j in range(m)) / m) for a in range(d))


def concave_variable(W, s):
    m, d = W.shape
    norms = [math.sqrt(sum(W[j, a] ** 2 for j in range(m)) / m) for a in range(d)]
    return sum(math.log(1 + s * norm) for norm in norms) / (2 * s)


def feature(W, s):
    return 0.5 * np.trace(root_second_moment(W))


def concave_feature(W, s):
    root = root_second_moment(W)
    return np.linalg.slogdet(np.eye(len(root)) + s * root)[1] / (2 * s)


def root_second_moment(W):
    """(1/m W^T W)^(1/2), or the smaller W W^T that has the same non-zero eigenvalues."""
    m, d = W.shape
    gram = W.T @ W if m >= d else W @ W.T
    return np.real(scipy.linalg.sqrtm(gram / m))


OMEGA = {
    "basic": basic_l2,
    "basic_l1": basic_l1,
    "variable": variable,
    "feature": feature,
    "concave_variable": concave_variable,
    "concave_feature": concave_feature,
}


def scalar_objective(u, rho, tau, c):
    """(rho - u)^2 / 2 + (tau / c) log(1 + c u)."""
    return (rho - u) ** 2 / 2 + tau / c * np.log1p(c * u)


def scalar_prox_by_grid(rho, tau, c, n_grid=1001, n_halvings=60):
    """Minimise the scalar objective on [0, rho]: a grid, then bisection of the derivative.

    The minimiser is at most rho, since the objective increases beyond. A grid can miss the better
    of two nearly equal basins, so 0 is always compared at the end.
    """
    nodes = rho[:, None] * np.linspace(0.0, 1.0, n_grid)
    best = np.argmin(scalar_objective(nodes, rho[:, None], tau[:, None], c[:, None]), axis=1)
    rows = np.arange(len(rho))
    low = nodes[rows, np.maximum(best - 1, 0)]
    high = nodes[rows, np.minimum(best + 1, n_grid - 1)]
    for _ in range(n_halvings):
        middle = (low + high) / 2
        rising = middle - rho + tau / (1 + c * middle) > 0
        low, high = np.where(rising, low, middle), np.where(rising, middle, high)
    at_zero = scalar_objective(np.zeros_like(rho), rho, tau, c)
    at_root = scalar_objective(high, rho, tau, c)
    # A strict descent at 0 rules 0 out, however small the gain is next to rounding.
    return np.where((tau >= rho) & (at_zero <= at_root), 0.0, high)


def scalar_branch(rho, tau, c):
    """The case, 1 to 4, of each scalar problem."""
    delta = (1 + c * rho) ** 2 - 4 * c * tau
    return np.where(
        rho > tau,
        1,
        np.where(c * tau <= 1, 2, np.where((delta <= 0) | (c * rho <= 1), 3, 4)),
    )


def larger_root_in_decimal(rho, tau, c):
    """Larger root of c u^2 + (1 - c rho) u + (tau - rho), with 60 digits."""
    with localcontext() as context:
        context.prec = 60
        rho, tau, c = Decimal(rho), Decimal(tau), Decimal(c)
        delta = (1 - c * rho) ** 2 - 4 * c * (tau - rho)
        return float(((c * rho - 1) + delta.sqrt()) / (2 * c))


def matrix_prox_by_search(W, weight, omega, starts):
    """Smallest 1/2 |W - U|^2 + weight * omega(U) found by local descent from the starts."""

    def objective(flat):
        U = flat.reshape(W.shape)
        return 0.5 * np.sum((W - U) ** 2) + weight * omega(U)

    best = np.inf
    for start in starts:
        for method in ("BFGS", "Powell"):
            found = scipy.optimize.minimize(objective, start.ravel(), method=method)
            best = min(best, found.fun)
    return best

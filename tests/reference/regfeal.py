"""RegFeaL from its definitions: sums over multi-indices, quadrature, least squares, brute force.

Multi-indices are tuples, a function is a dictionary from multi-indices to its coefficients, and
nothing here is fast. `c` is a function of the degree. Corrections to the paper are those of the
package: Omega^2 in Lemmas 3.1 to 3.3, d_1 in the law of the degrees, sqrt(w) in the features.
"""

from __future__ import annotations

from itertools import product
from math import comb, factorial

import numpy as np
from numpy.polynomial.hermite_e import HermiteE, hermegauss
from scipy.optimize import minimize


def hermite(k, z):
    """h_k of (2.1): orthonormal for the standard normal law."""
    return HermiteE.basis(k)(np.asarray(z, dtype=float)) / np.sqrt(float(factorial(k)))


def feature(alpha, Z):
    """H_alpha at the rows of Z."""
    values = np.ones(len(Z))
    for a, k in enumerate(alpha):
        values = values * hermite(k, Z[:, a])
    return values


def design(indices, Z):
    """H_alpha at the rows of Z, one column for each of `indices`."""
    largest = int(np.max(indices))
    table = [[hermite(k, column) for k in range(largest + 1)] for column in Z.T]
    columns = []
    for alpha in indices:
        values = np.ones(len(Z))
        for a, k in enumerate(alpha):
            values = values * table[a][k]
        columns.append(values)
    return np.array(columns).T


def all_indices(d, degree):
    """All alpha with 1 <= |alpha| <= degree, as tuples."""
    return [alpha for alpha in product(range(degree + 1), repeat=d) if 1 <= sum(alpha) <= degree]


def indices_of_degree(d, degree):
    """All alpha with |alpha| = degree, as tuples, for d >= 1."""
    if d == 1:
        return [(degree,)]
    return [
        (first, *rest)
        for first in range(degree + 1)
        for rest in indices_of_degree(d - 1, degree - first)
    ]


def weight(alpha, eta, lam, mu, c):
    """w(alpha) of (3.6)."""
    return c(sum(alpha)) / (lam + mu * sum(k / e for k, e in zip(alpha, eta, strict=True)))


def best_indices(eta, lam, mu, c, degree, n_indices):
    """The largest weights among all alpha up to a degree, by sorting all of them."""
    return sorted(
        (weight(alpha, eta, lam, mu, c) for alpha in all_indices(len(eta), degree)), reverse=True
    )[:n_indices]


def kernel(Z, others, eta, lam, mu, rho, degree):
    """(3.6) as a plain sum over all alpha up to a degree."""
    total = np.zeros((len(Z), len(others)))
    for size in range(1, degree + 1):
        indices = indices_of_degree(len(eta), size)
        w = np.array([weight(alpha, eta, lam, mu, lambda k: rho**k) for alpha in indices])
        total += (design(indices, Z) * w) @ design(indices, others).T
    return total


def mehler(Z, others, rho):
    """``sum_alpha rho^|alpha| H_alpha(z) H_alpha(z') - 1``, closed."""
    total = np.ones((len(Z), len(others)))
    for x, y in zip(Z.T, others.T, strict=True):
        inner = 2 * rho * np.outer(x, y) - rho**2 * np.add.outer(x**2, y**2)
        total = total * np.exp(inner / (2 * (1 - rho**2))) / np.sqrt(1 - rho**2)
    return total - 1.0


def values(function, Z):
    """A function at the rows of Z."""
    return sum(value * feature(alpha, Z) for alpha, value in function.items())


def gradient(function, Z, step=1e-5):
    """Gradient of a function at the rows of Z by central differences."""
    columns = []
    for a in range(Z.shape[1]):
        shift = step * np.eye(Z.shape[1])[a]
        columns.append((values(function, Z + shift) - values(function, Z - shift)) / (2 * step))
    return np.array(columns).T


def outer_product(function, c):
    """M_f by the sum (2.10)."""
    d = len(next(iter(function)))
    M = np.zeros((d, d))

    def raised(alpha, a):
        return tuple(k + (b == a) for b, k in enumerate(alpha))

    degree = max(sum(alpha) for alpha in function)
    for alpha in [(0,) * d, *all_indices(d, degree)]:
        for a in range(d):
            for b in range(d):
                pair = function.get(raised(alpha, a), 0.0) * function.get(raised(alpha, b), 0.0)
                scale = np.sqrt((alpha[a] + 1) * (alpha[b] + 1))
                M[a, b] += scale * pair / c(sum(alpha) + 1)
    return M


def gauss_hermite(d, n_nodes):
    """Nodes (n_nodes^d, d) and weights of an integral over the standard normal law."""
    nodes, weights = hermegauss(n_nodes)
    weights = weights / weights.sum()
    Z = np.array(list(product(nodes, repeat=d)))
    return Z, np.array([np.prod(w) for w in product(weights, repeat=d)])


def outer_product_by_quadrature(function, n_nodes=12):
    """M_f for c = 1: the mean of grad f grad f^T under the standard normal law."""
    Z, w = gauss_hermite(len(next(iter(function))), n_nodes)
    G = gradient(function, Z)
    return (G.T * w) @ G


def expand(f, d, degree, n_nodes=12):
    """Coefficients of a polynomial, by orthogonality and quadrature."""
    Z, w = gauss_hermite(d, n_nodes)
    return {alpha: float(w @ (f(Z) * feature(alpha, Z))) for alpha in all_indices(d, degree)}


def omega_zero_square(function, c):
    """Omega_0(f)^2."""
    return sum(value**2 / c(sum(alpha)) for alpha, value in function.items())


def omega(function, r, c, rotate):
    """Omega_feat with `rotate`, Omega_var without."""
    M = outer_product(function, c)
    D = np.linalg.eigvalsh(M) if rotate else np.diag(M)
    return float(np.sum(np.maximum(D, 0.0) ** (r / 2)) ** (1 / r))


def ridge(H, w, y, weights):
    """Minimise ``sum_i p_i (y_i - H_i b - c)^2 / 2 + sum_j b_j^2 / w_j / 2``, p = weights / sum.

    As one least-squares problem. Returns b, c and the minimum.
    """
    root = np.sqrt(weights / weights.sum())
    rows = np.column_stack([H, np.ones(len(H))]) * root[:, None]
    penalty = np.column_stack([np.diag(1 / np.sqrt(w)), np.zeros(len(w))])
    A = np.vstack([rows, penalty])
    target = np.concatenate([root * y, np.zeros(len(w))])
    solution = np.linalg.lstsq(A, target, rcond=None)[0]
    residual = target - A @ solution
    return solution[:-1], solution[-1], 0.5 * residual @ residual


def best_eta(u, r):
    """The minimum of Lemma 3.1, ``sum_a u_a / eta_a`` with |eta|_{r/(2-r)} = 1, and its eta.

    By numerical minimisation over the logarithms of ``eta^(r/(2-r))``.
    """

    def eta_of(logs):
        shares = np.exp(logs - logs.max())
        return (shares / shares.sum()) ** ((2 - r) / r)

    # The logarithm of the value: its scale changes over orders of magnitude with r.
    found = minimize(
        lambda logs: np.log(np.sum(u / eta_of(logs))),
        np.zeros(len(u)),
        method="BFGS",
        options={"gtol": 1e-9},
    )
    return float(np.exp(found.fun)), eta_of(found.x)


def degree_law(eta, lam, mu, rho, split, degree):
    """Law of the degrees in two groups, and of alpha, by listing all alpha up to a degree.

    The `split` largest eta are replaced by the least of them, the others by their largest.
    """
    order = sorted(range(len(eta)), key=lambda a: -eta[a])
    first, second = order[:split], order[split:]
    rounded = list(eta)
    for a in first:
        rounded[a] = min(eta[b] for b in first)
    for a in second:
        rounded[a] = max(eta[b] for b in second)
    mass = {
        alpha: weight(alpha, rounded, lam, mu, lambda k: rho**k)
        for alpha in all_indices(len(eta), degree)
    }
    total = sum(mass.values())
    of_alpha = {alpha: value / total for alpha, value in mass.items()}
    of_degrees: dict[tuple[int, int], float] = {}
    for alpha, value in of_alpha.items():
        pair = (sum(alpha[a] for a in first), sum(alpha[a] for a in second))
        of_degrees[pair] = of_degrees.get(pair, 0.0) + value
    return of_degrees, of_alpha


def group_mass(k1, k2, d1, d2, eta1, eta2, lam, mu, rho):
    """What the paper's law of the degrees is proportional to, with d_1 in its first binomial."""
    count = comb(k1 + d1 - 1, d1 - 1) * comb(k2 + d2 - 1, d2 - 1)
    return count * rho ** (k1 + k2) / (lam + mu * (k1 / eta1 + k2 / eta2))

"""Kernel Laplacian regression from its definition: kernels of two points, loops over pairs, and one
least-squares problem for the whole objective

    (1/Wl) sum_L w_i (f(x_i) + c - y_i)^2 + (mu/W) sum_i w_i |T_i grad f(x_i)|^2 + alpha |f|_H^2.

Nothing here is fast, and nothing uses what the package exploits: that derivatives of kernels are
profiles times outer products, that values of unlabelled points need no atom, Schur complements.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np


class PairKernel(NamedTuple):
    """k(x, z), its gradient in x, and the matrix of d^2 k / dx_p dz_q, of two points."""

    value: Callable
    slope: Callable
    mixed: Callable


def gaussian():
    def value(x, z):
        return np.exp(-np.sum((x - z) ** 2) / 2)

    def slope(x, z):
        return -(x - z) * value(x, z)

    def mixed(x, z):
        return (np.eye(len(x)) - np.outer(x - z, x - z)) * value(x, z)

    return PairKernel(value, slope, mixed)


def matern32():
    def scaled(x, z):
        return np.sqrt(3) * np.linalg.norm(x - z)

    def value(x, z):
        return (1 + scaled(x, z)) * np.exp(-scaled(x, z))

    def slope(x, z):
        return -3 * (x - z) * np.exp(-scaled(x, z))

    def mixed(x, z):
        if np.all(x == z):
            return 3 * np.eye(len(x))
        direction = (x - z) / np.linalg.norm(x - z)
        shape = np.eye(len(x)) - scaled(x, z) * np.outer(direction, direction)
        return 3 * shape * np.exp(-scaled(x, z))

    return PairKernel(value, slope, mixed)


def matern52():
    def scaled(x, z):
        return np.sqrt(5) * np.linalg.norm(x - z)

    def value(x, z):
        return (1 + scaled(x, z) + scaled(x, z) ** 2 / 3) * np.exp(-scaled(x, z))

    def slope(x, z):
        return -5 / 3 * (x - z) * (1 + scaled(x, z)) * np.exp(-scaled(x, z))

    def mixed(x, z):
        shape = (1 + scaled(x, z)) * np.eye(len(x)) - 5 * np.outer(x - z, x - z)
        return 5 / 3 * shape * np.exp(-scaled(x, z))

    return PairKernel(value, slope, mixed)


def rational_quadratic(a=1.0):
    def base(x, z):
        return 1 + np.sum((x - z) ** 2) / (2 * a)

    def value(x, z):
        return base(x, z) ** -a

    def slope(x, z):
        return -(x - z) * base(x, z) ** (-a - 1)

    def mixed(x, z):
        bend = (a + 1) / a * np.outer(x - z, x - z) / base(x, z)
        return (np.eye(len(x)) - bend) * base(x, z) ** (-a - 1)

    return PairKernel(value, slope, mixed)


def cauchy():
    """1 / (1 + |x - z|^2): the same as rational quadratic with a = 1 at another scale."""

    def value(x, z):
        return 1 / (1 + np.sum((x - z) ** 2))

    def slope(x, z):
        return -2 * (x - z) * value(x, z) ** 2

    def mixed(x, z):
        k = value(x, z)
        return 2 * k**2 * np.eye(len(x)) - 8 * k**3 * np.outer(x - z, x - z)

    return PairKernel(value, slope, mixed)


def linear():
    return PairKernel(lambda x, z: x @ z, lambda x, z: z, lambda x, z: np.eye(len(x)))


def polynomial(degree=3, constant=1.0):
    def value(x, z):
        return (x @ z + constant) ** degree

    def slope(x, z):
        return degree * (x @ z + constant) ** (degree - 1) * z

    def mixed(x, z):
        base = x @ z + constant
        matrix = degree * base ** (degree - 1) * np.eye(len(x))
        if degree > 1:
            matrix = matrix + degree * (degree - 1) * base ** (degree - 2) * np.outer(z, x)
        return matrix

    return PairKernel(value, slope, mixed)


def exponential_dot():
    def value(x, z):
        return np.exp(x @ z)

    def slope(x, z):
        return value(x, z) * z

    def mixed(x, z):
        return value(x, z) * (np.eye(len(x)) + np.outer(z, x))

    return PairKernel(value, slope, mixed)


def cosh_dot():
    """cosh(<x, z>): even powers only."""

    def value(x, z):
        return np.cosh(x @ z)

    def slope(x, z):
        return np.sinh(x @ z) * z

    def mixed(x, z):
        return np.sinh(x @ z) * np.eye(len(x)) + np.cosh(x @ z) * np.outer(z, x)

    return PairKernel(value, slope, mixed)


KERNELS = {
    "gaussian": gaussian(),
    "matern32": matern32(),
    "matern52": matern52(),
    "rational_quadratic": rational_quadratic(),
    "linear": linear(),
    "polynomial": polynomial(),
    "exponential_dot": exponential_dot(),
}


def values(kernel, X, Z):
    """k(x_i, z_j), (n, m)."""
    return np.array([[kernel.value(x, z) for z in Z] for x in X])


def slopes(kernel, X, Z):
    """Gradients in x of k(x_i, z_j), (n, d, m)."""
    return np.array([np.transpose([kernel.slope(x, z) for z in Z]) for x in X])


def mixed(kernel, X, Z):
    """d^2 k / dx_p dz_q at (x_i, z_j), (n, d, m, d)."""
    pairs = np.array([[kernel.mixed(x, z) for z in Z] for x in X])
    return pairs.transpose(0, 2, 1, 3)


def of_atoms(kernel, X, Z):
    """Values (n, A) and gradients (n, d, A) of all A = m (d + 1) atoms of points Z.

    First the functions k(., z_j), then their derivatives in the coordinates of z_1, z_2, ...
    """
    along_z = slopes(kernel, Z, X).transpose(2, 0, 1).reshape(len(X), -1)
    twice = mixed(kernel, X, Z).reshape(*X.shape, -1)
    at_X = np.hstack([values(kernel, X, Z), along_z])
    return at_X, np.concatenate([slopes(kernel, X, Z), twice], axis=2)


def gram_of_atoms(kernel, Z):
    """Inner products of all atoms of Z: their values and derivatives at Z themselves."""
    at_Z, gradients = of_atoms(kernel, Z, Z)
    return np.vstack([at_Z, gradients.reshape(-1, gradients.shape[2])])


def local_frames(X, weights, n_neighbors):
    """tau (x_j - x_i) of the nearest other points, one (k, d) matrix per point."""
    frames = []
    for i, x in enumerate(X):
        nearest = sorted((np.linalg.norm(z - x), j) for j, z in enumerate(X) if j != i)
        frames.append(np.array([X[j] - x for _, j in nearest[:n_neighbors]]))
    sizes = [np.sum(T**2) for T in frames]
    mean = sum(w * size for w, size in zip(weights, sizes, strict=True)) / sum(weights)
    return [np.sqrt(X.shape[1] / mean) * T for T in frames]


@dataclass(frozen=True)
class Problem:
    """Points (n, d), labelled rows by the number of their point, targets (t, n_labeled)."""

    X: np.ndarray
    weights: np.ndarray
    labeled: np.ndarray
    y: np.ndarray
    label_weights: np.ndarray
    mu: float
    alpha: float
    frames: list | None = None
    #: Wl; the sum of the weights of the labelled rows unless it is given.
    total: float | None = None
    #: W, likewise.
    points_total: float | None = None

    @property
    def weight_of_points(self):
        return self.weights.sum() if self.points_total is None else self.points_total

    def without(self, row):
        """One labelled row gone, with its gradient; Wl and W are kept."""
        kept = np.arange(len(self.labeled)) != row
        weights = self.weights.astype(float)
        point = self.labeled[row]
        weights[point] = max(weights[point] - self.label_weights[row], 0.0)
        return replace(
            self,
            weights=weights,
            points_total=self.weights.sum(),
            labeled=self.labeled[kept],
            y=self.y[:, kept],
            label_weights=self.label_weights[kept],
            total=self.label_weights.sum(),
        )

    def terms(self, fitted, gradients, squared_norms):
        """Objective of values (t, n_labeled), gradients (t, n, d) and squared norms (t,)."""
        total = self.label_weights.sum() if self.total is None else self.total
        data = np.sum(self.label_weights * (fitted - self.y) ** 2) / total
        energy = 0.0
        for i, weight in enumerate(self.weights):
            T = np.eye(self.X.shape[1]) if self.frames is None else self.frames[i]
            energy += weight * np.sum((gradients[:, i] @ T.T) ** 2)
        penalty = self.mu * energy / self.weight_of_points + self.alpha * np.sum(squared_norms)
        return data + penalty


@dataclass(frozen=True)
class Solution:
    """f + c of the minimiser: coordinates (t, q), intercepts (t,), and what evaluates them."""

    coordinates: np.ndarray
    intercept: np.ndarray
    evaluate: Callable
    objective: float

    def values(self, X):
        """(t, n)."""
        return self.coordinates @ self.evaluate(X)[0].T + self.intercept[:, None]

    def gradients(self, X):
        """(t, n, d)."""
        return np.einsum("ndq,tq->tnd", self.evaluate(X)[1], self.coordinates)


def minimize(problem, evaluate):
    """Minimise over functions with orthonormal coordinates, all three terms as squared rows.

    `evaluate` gives values (n, q) and gradients (n, d, q) of the basis at any points.
    """
    at_X, gradients = evaluate(problem.X)
    P = at_X[problem.labeled]
    q = P.shape[1]
    total = problem.label_weights.sum() if problem.total is None else problem.total
    root = np.sqrt(problem.label_weights / total)
    rows = [root[:, None] * np.column_stack([P, np.ones(len(P))])]
    for i, gradient in enumerate(gradients):
        T = np.eye(problem.X.shape[1]) if problem.frames is None else problem.frames[i]
        size = np.sqrt(problem.mu * problem.weights[i] / problem.weight_of_points)
        rows.append(np.column_stack([size * T @ gradient, np.zeros(len(T))]))
    rows.append(np.column_stack([np.sqrt(problem.alpha) * np.eye(q), np.zeros(q)]))
    A = np.vstack(rows)
    targets = np.zeros((len(A), len(problem.y)))
    targets[: len(P)] = (root * problem.y).T
    found = np.linalg.lstsq(A, targets, rcond=None)[0]
    coordinates, intercept = found[:-1].T, found[-1]
    fitted = coordinates @ P.T + intercept[:, None]
    objective = problem.terms(
        fitted, np.einsum("ndq,tq->tnd", gradients, coordinates), np.sum(coordinates**2, axis=1)
    )
    return Solution(coordinates, intercept, evaluate, objective)


def _orthonormal(gram, atoms):
    """The evaluation of functions with orthonormal coordinates in the span of some atoms."""
    sizes, vectors = np.linalg.eigh(gram)
    kept = sizes > 1e-15 * sizes[-1]
    root = vectors[:, kept] / np.sqrt(sizes[kept])
    seen = {}

    def evaluate(X):
        # Fits without one row after another ask for the same points.
        if X.tobytes() not in seen:
            at_X, gradients = atoms(X)
            seen[X.tobytes()] = at_X @ root, gradients @ root
        return seen[X.tobytes()]

    return evaluate


def span(kernel, Z):
    """All atoms, values and derivatives, of some points."""
    return _orthonormal(gram_of_atoms(kernel, Z), lambda X: of_atoms(kernel, X, Z))


def span_of_centers(kernel, centers):
    """Functions k(., z_j) only."""

    def atoms(X):
        return values(kernel, X, centers), slopes(kernel, X, centers)

    return _orthonormal(values(kernel, centers, centers), atoms)


def minimize_over_span(kernel, problem):
    """Over all atoms, values and derivatives, of all points, labelled or not."""
    return minimize(problem, span(kernel, problem.X))


def minimize_over_centers(kernel, problem, centers):
    """Over functions k(., z_j) of some centres only."""
    return minimize(problem, span_of_centers(kernel, centers))


def minimize_over_waves(problem, frequencies, phases):
    """Over random Fourier features, whose coefficients have the Euclidean norm."""
    return minimize(problem, lambda X: waves(X, frequencies, phases))


def waves(X, frequencies, phases):
    """sqrt(2 / D) cos(omega_j . x + b_j), (n, D), and their gradients, (n, d, D)."""
    size = np.sqrt(2 / len(phases))
    at_X = np.empty((len(X), len(phases)))
    gradients = np.empty((*X.shape, len(phases)))
    for i, x in enumerate(X):
        for j, (omega, b) in enumerate(zip(frequencies, phases, strict=True)):
            at_X[i, j] = size * np.cos(omega @ x + b)
            gradients[i, :, j] = -size * np.sin(omega @ x + b) * omega
    return at_X, gradients


def energy(gradients, weights, frames=None):
    """sum_i w_i <T_i grad_j, T_i grad_l>, (q, q), of gradients (n, d, q)."""
    total = np.zeros((gradients.shape[2], gradients.shape[2]))
    for i, weight in enumerate(weights):
        measured = gradients[i] if frames is None else frames[i] @ gradients[i]
        total += weight * measured.T @ measured
    return total


def kernel_ridge(K, y, weights, alpha):
    """Duals (t, n) and intercepts (t,) of (1/W) sum w_i (K a + c - y)_i^2 + alpha a^T K a."""
    n = len(K)
    ones = np.ones((n, 1))
    shift = alpha * weights.sum() * np.diag(1 / weights)
    system = np.block([[K + shift, ones], [ones.T, np.zeros((1, 1))]])
    found = np.linalg.solve(system, np.vstack([y.T, np.zeros((1, len(y)))]))
    return found[:n].T, found[n]

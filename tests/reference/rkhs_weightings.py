"""RKHS weightings from their definitions: integrals by quadrature and sampling, plain solutions.

Everything is in the paper's parameters: sigma of the law of the weights, gamma of the kernel, and
features E_w[K(u, w) phi(w, x)] without any rescaling. Nothing here is fast. Corrections to the
paper are those of the package: sqrt 8 in RWExpSign and sigma^2 u / (2 gamma^2) in RWExpRelu
(Table 3), Phi / T in the normal equations (25) of random kitchen sinks.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.polynomial.legendre import leggauss
from scipy.special import erf, ndtr
from scipy.stats import multivariate_normal

NAMES = ("sign", "exp_sign", "relu", "exp_relu", "stumps")
#: Where integrals are cut off, in standard deviations: 1e-18 is left out.
CUT = 9.0


@dataclass(frozen=True)
class Instantiation:
    """(W, phi, K, p) of Table 2; weights are rows, for stumps (column, threshold)."""

    name: str
    n: int
    sigma: float
    gamma: float

    @property
    def exponential(self):
        return self.name.startswith("exp")

    @property
    def ramp(self):
        return self.name.endswith("relu")

    @property
    def stumps(self):
        return self.name == "stumps"

    @property
    def correlation(self):
        """Of a coordinate of u and of w under the density proportional to K(u, w) p(u) p(w)."""
        if self.exponential:
            return self.sigma**2 / (2 * self.gamma**2)
        return self.sigma**2 / (self.sigma**2 + self.gamma**2)

    @property
    def variance(self):
        """Of a coordinate of u under that density."""
        if self.exponential:
            return self.sigma**2 / (1 - self.correlation**2)
        ratio = self.sigma**2 / self.gamma**2
        return self.sigma**2 * (1 + ratio) / (1 + 2 * ratio)

    @property
    def log_mass(self):
        """log E_u E_w K(u, w)."""
        if self.exponential:
            return -self.n / 2 * np.log(1 - self.correlation**2)
        one = -0.5 * np.log1p(2 * self.sigma**2 / self.gamma**2)
        return one - np.log(self.n) if self.stumps else self.n * one

    @property
    def log_unit(self):
        """Logarithm of what the package divides the implicit kernel by, when sigma is 1."""
        return self.log_mass + (np.log(self.variance / self.sigma**2) if self.ramp else 0.0)

    def sample(self, n_weights, rng):
        """Draws from p."""
        if self.stumps:
            thresholds = self.sigma * rng.standard_normal(n_weights)
            return np.column_stack([rng.integers(self.n, size=n_weights), thresholds])
        return self.sigma * rng.standard_normal((n_weights, self.n))

    def base(self, W, X):
        """phi(w_t, x_i), one row for each x_i."""
        values = np.empty((len(X), len(W)))
        for i, x in enumerate(X):
            if self.stumps:
                values[i] = np.sign(x[W[:, 0].astype(int)] - W[:, 1])
            else:
                values[i] = np.maximum(0.0, W @ x) if self.ramp else np.sign(W @ x)
        return values

    def kernel(self, U, W):
        """K(u, w), one row for each u."""
        values = np.empty((len(U), len(W)))
        for i, u in enumerate(U):
            if self.stumps:
                near = np.exp(-((u[1] - W[:, 1]) ** 2) / (2 * self.gamma**2))
                values[i] = np.where(u[0] == W[:, 0], near, 0.0)
            elif self.exponential:
                values[i] = np.exp(W @ u / (2 * self.gamma**2))
            else:
                values[i] = np.exp(-np.sum((W - u) ** 2, axis=1) / (2 * self.gamma**2))
        return values


def with_correlation(name, n, sigma, r):
    """The instantiation whose gamma gives this correlation."""
    gamma = sigma / np.sqrt(2 * r) if name.startswith("exp") else sigma * np.sqrt((1 - r) / r)
    return Instantiation(name, n, float(sigma), float(gamma))


def table_features(model, U, X):
    """Table 3, corrected: E_w[K(u_t, w) phi(w, x_i)] in closed form, one row for each x_i."""
    s, g, n = model.sigma, model.gamma, model.n
    total = s**2 + g**2
    zeta = s * g / np.sqrt(total)
    if model.stumps:
        gap = X[:, U[:, 0].astype(int)] - s**2 / total * U[:, 1]
        return zeta / (s * n) * np.exp(-(U[:, 1] ** 2) / (2 * total)) * erf(gap / (2**0.5 * zeta))
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    inner = (X / np.where(norms > 0, norms, 1.0)) @ U.T
    squares = np.sum(U**2, axis=1)
    if model.exponential:
        factor, width, z = np.exp(s**2 * squares / (8 * g**4)), s, s / (2 * g**2) * inner
    else:
        factor = (1 + s**2 / g**2) ** (-n / 2) * np.exp(-squares / (2 * total))
        width, z = zeta, s**2 / total * inner / zeta
    if model.ramp:
        return width * norms * factor * (np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) + z * ndtr(z))
    return factor * erf(z / np.sqrt(2))


# Integrals -----------------------------------------------------------------------------------


def _line(model, kink=0.0):
    """Nodes of a coordinate of w and logarithms of weight times density; panels end at the kink."""
    deviation = np.sqrt(max(model.variance, model.sigma**2))
    width = 1.5 * (model.sigma if model.exponential else min(model.sigma, model.gamma))
    limit = CUT * deviation
    points, shares = leggauss(16)
    nodes, weights = [], []
    kink = float(np.clip(kink, -limit, limit))
    for lo, hi in ((-limit, kink), (kink, limit)):
        edges = np.linspace(lo, hi, 1 + max(1, int(np.ceil((hi - lo) / width))))
        for a, b in pairwise(edges):
            nodes.append((a + b) / 2 + (b - a) / 2 * points)
            weights.append((b - a) / 2 * shares)
    w = np.concatenate(nodes)
    with np.errstate(divide="ignore"):
        log_shares = np.log(np.concatenate(weights))
    return w, log_shares - (w / model.sigma) ** 2 / 2 - np.log(model.sigma * np.sqrt(2 * np.pi))


def _log_kernel(model, u, w):
    """Logarithm of the factor of K(u, w) of one coordinate, (n_u, n_w)."""
    if model.exponential:
        return np.outer(u, w) / (2 * model.gamma**2)
    return -((u[:, None] - w) ** 2) / (2 * model.gamma**2)


def _frame(x):
    """Orthonormal rows of one or two dimensions, the first along x."""
    e = x / np.linalg.norm(x)
    return e[None, :] if len(x) == 1 else np.array([e, [-e[1], e[0]]])


def features(model, U, X):
    """E_w[K(u_t, w) phi(w, x_i)] by quadrature, one row for each x_i; n = 1, 2 unless stumps.

    The axes are turned so that x is along the first: phi has its kink at 0 of that one, and the
    integral over the other is a smooth one.
    """
    values = np.zeros((len(X), len(U)))
    for i, x in enumerate(X):
        if model.stumps:
            for t, (j, b) in enumerate(U):
                w, log_p = _line(model, x[int(j)])
                terms = np.exp(_log_kernel(model, np.array([b]), w)[0] + log_p)
                values[i, t] = terms @ np.sign(x[int(j)] - w) / model.n
        elif np.any(x):
            w, log_p = _line(model)
            turned = U @ _frame(x).T
            phi = np.maximum(0.0, w * np.linalg.norm(x)) if model.ramp else np.sign(w)
            values[i] = np.exp(_log_kernel(model, turned[:, 0], w) + log_p) @ phi
            for across in turned[:, 1:].T:
                values[i] *= np.exp(_log_kernel(model, across, w) + log_p).sum(axis=1)
    return values


def implicit_kernel(model, X, Z):
    """K_X of (63), E_u E_w[K(u, w) phi(u, x) phi(w, z)], by quadrature over u and over w."""
    values = np.zeros((len(X), len(Z)))
    for i, x in enumerate(X):
        if model.stumps:
            for j in range(model.n):
                b, log_p = _line(model, x[j])
                U = np.column_stack([np.full(len(b), j), b])
                signs = np.exp(log_p) * np.sign(x[j] - b)
                values[i] += features(model, U, Z) @ signs / model.n
        elif np.any(x):
            frame = _frame(x)
            w, log_p = _line(model)
            grids = np.meshgrid(*[w] * model.n, indexing="ij")
            turned = np.column_stack([grid.ravel() for grid in grids])
            logs = sum(np.meshgrid(*[log_p] * model.n, indexing="ij")).ravel()
            first = turned[:, 0] * np.linalg.norm(x)
            phi = np.maximum(0.0, first) if model.ramp else np.sign(first)
            values[i] = features(model, turned @ frame, Z) @ (np.exp(logs) * phi)
    return values


def square_gram(model, W):
    """Q = E_w[K(w_i, w) K(w_j, w)] by quadrature, a product over the coordinates."""
    w, log_p = _line(model)
    coordinates = W[:, 1:] if model.stumps else W
    values = np.ones((len(W), len(W)))
    for column in coordinates.T:
        logs = _log_kernel(model, column, w)
        for i in range(len(W)):
            for j in range(len(W)):
                values[i, j] *= np.exp(logs[i] + logs[j] + log_p).sum()
    if model.stumps:
        values = np.where(W[:, :1] == W[:, 0], values / model.n, 0.0)
    return values


def orthant(h, k, r):
    """S(h, k; r) = E[sign(h - A) sign(k - B)] through the distribution function of two normals."""
    joint = multivariate_normal(np.zeros(2), [[1.0, r], [r, 1.0]]).cdf([h, k])
    return 4 * joint - 2 * ndtr(h) - 2 * ndtr(k) + 1


# Sampling ------------------------------------------------------------------------------------


def _mean(draws):
    return draws.mean(axis=0), draws.std(axis=0, ddof=1) / np.sqrt(len(draws))


def sampled_features(model, U, X, n_draws, rng):
    """Mean and standard error of K(u_t, w) phi(w, x_i), one row for each x_i."""
    W = model.sample(n_draws, rng)
    return _mean(np.einsum("td,id->dit", model.kernel(U, W), model.base(W, X)))


def sampled_kernel(model, X, Z, n_draws, rng):
    """Mean and standard error of K(u, w) phi(u, x) phi(w, z) over independent pairs."""
    U, W = model.sample(n_draws, rng), model.sample(n_draws, rng)
    if model.stumps:
        log_K = -((U[:, 1] - W[:, 1]) ** 2) / (2 * model.gamma**2)
        K = np.where(U[:, 0] == W[:, 0], np.exp(log_K), 0.0)
    elif model.exponential:
        K = np.exp(np.sum(U * W, axis=1) / (2 * model.gamma**2))
    else:
        K = np.exp(-np.sum((U - W) ** 2, axis=1) / (2 * model.gamma**2))
    return _mean(np.einsum("d,id,jd->dij", K, model.base(U, X), model.base(W, Z)))


def sampled_square_gram(model, W, n_draws, rng):
    """Mean and standard error of K(w_i, w) K(w_j, w)."""
    K = model.kernel(W, model.sample(n_draws, rng))
    return _mean(np.einsum("id,jd->dij", K, K))


# Solutions -----------------------------------------------------------------------------------


def objective(a, Phi, G, y, lam):
    """(46) with the squared loss: mean of squares plus lam a^T G a."""
    return np.mean((Phi @ a - y) ** 2) + lam * a @ G @ a


def least_squares(Phi, G, y, lam):
    """Coefficients a of Algorithm 4: (80), (Phi^T Phi + m lam G) a = Phi^T y, as it stands."""
    return np.linalg.lstsq(Phi.T @ Phi + len(y) * lam * G, Phi.T @ y, rcond=None)[0]


def kitchen_sinks(Phi, y, lam):
    """Coefficients a of f = Phi a / T for the penalty lam |a|^2 / T: (25), corrected."""
    m, T = Phi.shape
    return np.linalg.solve(Phi.T @ Phi / T + m * lam * np.eye(T), Phi.T @ y)


def kernel_ridge(K, K_new, y, lam):
    """Values K_new (K + m lam I)^{-1} y; K_new has one row for each new point."""
    return K_new @ np.linalg.solve(K + len(y) * lam * np.eye(len(y)), y)


def squared_loss_slope(predictions, y):
    """Derivative of (f - y)^2 in f."""
    return 2 * (predictions - y)


@dataclass(frozen=True)
class Descent:
    """Iterates alpha^(0), ..., alpha^(T) of Algorithm 3, as coefficients of K(w_s, .)."""

    iterates: list[np.ndarray]
    norms: list[float]

    @property
    def average(self):
        return np.mean(self.iterates, axis=0)

    @property
    def last(self):
        return self.iterates[-1]


def descend(
    base,
    Phi,
    G,
    y,
    lam,
    batches,
    *,
    bound=np.inf,
    halved=False,
    n_features=1,
    slope=squared_loss_slope,
):
    """Algorithm 3 as printed, with the features of all weights computed beforehand.

    Parameters
    ----------
    base, Phi : ndarray of shape (m, T * n_features)
        phi(w_s, x_i) and E_w[K(w_s, w) phi(w, x_i)].
    G : ndarray of shape (T * n_features, T * n_features)
    batches : list of T integer arrays
        Rows of every step, repetitions allowed.
    bound : float
        B_H.
    halved : bool
        Steps 1 / (2 lam t) and not 1 / (lam t).
    n_features : int
        Weights of every step; its gradient is the mean over them.
    """
    a = np.zeros(len(G))
    iterates, norms = [a.copy()], [0.0]
    for t, batch in enumerate(batches, start=1):
        eta = 1 / (2 * lam * t) if halved else 1 / (lam * t)
        slopes = slope(Phi[batch] @ a, y[batch])
        gradient = 2 * lam * a
        for s in range((t - 1) * n_features, t * n_features):
            gradient[s] += np.mean(slopes * base[batch, s]) / n_features
        a = a - eta * gradient
        norm = np.sqrt(max(a @ G @ a, 0.0))
        if norm > bound:
            a = a * (bound / norm)
        iterates.append(a.copy())
        norms.append(float(np.sqrt(max(a @ G @ a, 0.0))))
    return Descent(iterates, norms)

"""Obvious, slow BKerNN: the oracle of the fast sums, the solvers and the particle steps.

Everything is dense and uses the kernels as the paper defines them, the Brownian one as
``(|a| + |b| - |a - b|) / 2`` and not as the ``-|a - b| / 2`` of the package. The convex problem in
(dual, intercept) is solved in closed form for the squared loss, and otherwise by Newton's method on
``f = K^{1/2} v + c`` with an explicit Hessian, which ends with a check of its own gradient.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reference.penalties import OMEGA, scalar_prox_by_grid

KERNEL = {
    "brownian": lambda a, b: (np.abs(a) + np.abs(b) - np.abs(a - b)) / 2,
    "exponential": lambda a, b: np.exp(-np.abs(a - b) / 2),
    "gaussian": lambda a, b: np.exp(-((a - b) ** 2) / 2),
}
#: Derivative of the kernel in w_j along x_i - x_i', as a function of the projected difference.
SLOPE = {
    "brownian": lambda u: -np.sign(u) / 2,
    "exponential": lambda u: -np.sign(u) * np.exp(-np.abs(u) / 2) / 2,
    "gaussian": lambda u: -u * np.exp(-(u**2) / 2),
}


def kernel_matrix(name, W, X, Z):
    """K (len(X), len(Z)), the mean over the particles."""
    total = np.zeros((len(X), len(Z)))
    for w in W:
        total += KERNEL[name]((X @ w)[:, None], (Z @ w)[None, :])
    return total / len(W)


# Losses of one row: value, gradient (T,), Hessian (T, T); y and f are (T,)


def squared(y, f):
    return 0.5 * np.sum((y - f) ** 2), f - y, np.eye(len(f))


def huber(y, f, delta=1.0):
    size = np.abs(y - f)
    value = np.where(size <= delta, size**2 / 2, delta * size - delta**2 / 2).sum()
    return value, np.clip(f - y, -delta, delta), np.diag((size <= delta).astype(float))


def logistic(y, f):
    sign = 2 * y[0] - 1
    p = 1 / (1 + np.exp(-f))
    return np.log1p(np.exp(-sign * f[0])), p - y, np.diag(p * (1 - p))


def multinomial(y, f):
    p = np.exp(f - f.max())
    p /= p.sum()
    return -np.log(p[np.argmax(y)]), p - y, np.diag(p) - np.outer(p, p)


LOSS = {"squared": squared, "huber": huber, "logistic": logistic, "multinomial": multinomial}


def summed_loss(name, y, f, weights):
    """Weighted mean loss, gradient (T, n) and Hessian blocks (n, T, T)."""
    rows = [LOSS[name](y[:, i], f[:, i]) for i in range(y.shape[1])]
    share = weights / weights.sum()
    value = sum(s * row[0] for s, row in zip(share, rows, strict=True))
    gradient = np.array([s * row[1] for s, row in zip(share, rows, strict=True)]).T
    hessian = np.array([s * row[2] for s, row in zip(share, rows, strict=True)])
    return value, gradient, hessian


@dataclass(frozen=True)
class OracleFit:
    value: float
    dual: np.ndarray
    intercept: np.ndarray
    decision: np.ndarray


def fit(kernel, loss, W, X, y, weights, alpha):
    """Minimise over dual (T, n) and intercept (T,)."""
    K = kernel_matrix(kernel, W, X, X)
    solve = closed_form if loss == "squared" else newton
    dual, intercept = solve(loss, K, y, weights, alpha)
    decision = dual @ K + intercept[:, None]
    value = summed_loss(loss, y, decision, weights)[0] + alpha / 2 * np.sum((dual @ K) * dual)
    return OracleFit(value, dual, intercept, decision)


def closed_form(loss, K, y, weights, alpha):
    """Lemma 7 with weights: a bordered system, so that no centring is involved at all.

    Stationarity is ``w (K a + c - y) / Wt + alpha a = 0`` and ``sum_i a_i = 0``.
    """
    n, total = len(K), weights.sum()
    system = np.zeros((n + 1, n + 1))
    system[:n, :n] = weights[:, None] * K + alpha * total * np.eye(n)
    system[:n, n] = weights
    system[n, :n] = 1.0
    solution = np.linalg.solve(system, np.vstack([(weights * y).T, np.zeros(len(y))]))
    return solution[:n].T, solution[n]


def newton(loss, K, y, weights, alpha, max_iter=300):
    """Damped Newton on (v, c) with f = v R^T + c and K = R R^T."""
    eigenvalues, vectors = np.linalg.eigh(K)
    kept = eigenvalues > 1e-14 * eigenvalues[-1]
    # Design of one target: its values on the rows are design @ (v_t, c_t).
    design = np.column_stack([vectors[:, kept] * np.sqrt(eigenvalues[kept]), np.ones(len(K))])
    n_targets, width = len(y), design.shape[1]
    ridge = np.tile(np.append(np.full(width - 1, alpha), 0.0), n_targets)
    theta = np.zeros(n_targets * width)

    def evaluate(theta):
        f = theta.reshape(n_targets, width) @ design.T
        value, slope, blocks = summed_loss(loss, y, f, weights)
        gradient = (slope @ design).ravel() + ridge * theta
        return value + 0.5 * np.sum(ridge * theta**2), gradient, blocks

    value, gradient, blocks = evaluate(theta)
    for _ in range(max_iter):
        hessian = np.einsum("ia,ist,ib->satb", design, blocks, design)
        hessian = hessian.reshape(theta.size, theta.size) + np.diag(ridge)
        # A trace of curvature for constants that have none: all rows on Huber's straight parts,
        # or a constant shared by the classes.
        hessian += 1e-9 * alpha * np.eye(theta.size)
        direction = -np.linalg.solve(hessian, gradient)
        step = 1.0
        while step > 1e-12:
            trial = evaluate(theta + step * direction)
            better = trial[0] <= value + 1e-4 * step * gradient @ direction
            if better or np.linalg.norm(trial[1]) < 0.5 * np.linalg.norm(gradient):
                break
            step /= 2
        if np.linalg.norm(gradient) < 1e-13 and np.linalg.norm(trial[1]) >= np.linalg.norm(
            gradient
        ):
            break
        theta = theta + step * direction
        value, gradient, blocks = trial
    assert np.linalg.norm(gradient) < 1e-12, "the oracle has not found the minimum"
    coefficients = theta.reshape(n_targets, width)
    if loss == "multinomial":
        # A constant shared by the classes changes nothing: the intercepts of least norm.
        coefficients[:, -1] -= coefficients[:, -1].mean()
    slope = summed_loss(loss, y, coefficients @ design.T, weights)[1]
    return -slope / alpha, coefficients[:, -1]


def predict(kernel, W, X, solution, X_new):
    """Decision values (T, len(X_new)) by the kernel expansion."""
    return solution.dual @ kernel_matrix(kernel, W, X, X_new) + solution.intercept[:, None]


def gradient(kernel, W, X, dual, alpha):
    """Lemma 8, the double sum over rows: dG/dw_j, (m, d)."""
    out = np.zeros(W.shape)
    for j, w in enumerate(W):
        for i in range(len(X)):
            for k in range(len(X)):
                slope = SLOPE[kernel](w @ (X[i] - X[k]))
                out[j] -= alpha / (2 * len(W)) * (dual[:, i] @ dual[:, k]) * slope * (X[i] - X[k])
    return out


def omega(penalty, W, s):
    """Omega(W); of singular values directly, as the root of a singular matrix has but 8 digits."""
    if not penalty.endswith("feature"):
        return OMEGA[penalty](W, s)
    rho = np.linalg.svd(W, compute_uv=False) / np.sqrt(len(W))
    return np.sum(np.log1p(s * rho)) / (2 * s) if penalty.startswith("concave") else rho.sum() / 2


def prox(penalty, W, step, s):
    """Lemma 9 (corrected) for ``step * Omega``, scalar thresholds by search on a grid."""
    m = len(W)
    if penalty in ("basic", "basic_l1"):
        size = np.abs(W) if penalty == "basic_l1" else np.linalg.norm(W, axis=1, keepdims=True)
        return np.maximum(size - step / (2 * m), 0) / size * W
    tau, c = step / (2 * np.sqrt(m)), s / np.sqrt(m)
    feature = penalty.endswith("feature")
    U, rho, Vt = np.linalg.svd(W, full_matrices=False)
    if not feature:
        rho = np.linalg.norm(W, axis=0)
    if penalty.startswith("concave"):
        new = scalar_prox_by_grid(rho, np.full_like(rho, tau), np.full_like(rho, c))
    else:
        new = np.maximum(rho - tau, 0)
    return (U * new) @ Vt if feature else W * (new / rho)


def algorithm_1(penalty, W, X, y, alpha, *, n_iter, kernel="brownian", step=500.0, s=1.0):
    """Algorithm 1 of BKerNN for the squared loss and equal weights: all W and F on the way."""
    weights = np.ones(len(X))

    def at(W):
        return fit(kernel, "squared", W, X, y, weights, alpha)

    current = at(W)
    path, objectives = [W], [current.value + alpha * omega(penalty, W, s)]
    for _ in range(n_iter):
        slope = gradient(kernel, W, X, current.dual, alpha)
        step *= 1.5
        while True:
            new = prox(penalty, W - step * slope, step * alpha, s)
            mapping = (W - new) / step
            trial = at(new)
            bound = current.value - step * np.sum(slope * mapping)
            if trial.value <= bound + step / 2 * np.sum(mapping**2):
                break
            step /= 2
        W, current = new, trial
        path.append(W)
        objectives.append(current.value + alpha * omega(penalty, W, s))
    return path, objectives

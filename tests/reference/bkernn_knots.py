"""Obvious, slow fit of functions with few knots: dense matrices, kernels as the paper has them.

    min_{b, c} (1/W) sum_i w_i loss(y_i, f(x_i)) + (alpha/2) m sum_j b_j^T K_j b_j,
    f(x) = c + sum_j sum_k b_jk kappa(w_j . x, t_jk)

for knots t_j of m particles: equation (10) of BKerNN for fixed particles, among functions that are
kernels at the knots. It is solved by Newton's method with a pseudo-inverse of the whole Hessian. Of
the Brownian kernel the coefficients of every particle sum to zero, as they do at rows, where the
unpenalised constant sees to it: functions then have no bend at the origin.
"""

from __future__ import annotations

import numpy as np

from reference.bkernn import KERNEL, summed_loss

#: Singular values of a Hessian below this share of the largest are rounding.
ROUNDING = 1e-13


def features(kernel, W, knots, X):
    """Kernels at all knots, (n, m n_knots)."""
    parts = [KERNEL[kernel]((X @ w)[:, None], t[None, :]) for w, t in zip(W, knots, strict=True)]
    return np.hstack(parts)


def norms(kernel, knots, n_particles):
    """The matrix of the squared norm."""
    m, n_knots = knots.shape
    out = np.zeros((m, n_knots, m, n_knots))
    for j, t in enumerate(knots):
        out[j, :, j] = n_particles * KERNEL[kernel](t[:, None], t[None, :])
    return out.reshape(m * n_knots, -1)


def allowed(kernel, knots):
    """Coefficients that may be combined, as columns (m n_knots, p)."""
    one = np.eye(knots.shape[1])
    if kernel == "brownian":
        one = np.diff(one, axis=0).T
    return np.kron(np.eye(len(knots)), one)


def fit(kernel, loss, W, knots, X, y, weights, alpha, n_particles=None):
    """Coefficients (T, m n_knots), constants (T,) and the objective."""
    n_particles = n_particles or len(W)
    B = allowed(kernel, knots)
    Z = np.hstack([features(kernel, W, knots, X) @ B, np.ones((len(X), 1))])
    N = np.zeros((Z.shape[1],) * 2)
    N[:-1, :-1] = B.T @ norms(kernel, knots, n_particles) @ B
    T, p = len(y), Z.shape[1]
    a = np.zeros((T, p))

    def objective(a):
        value, slope, curvature = summed_loss(loss, y, a @ Z.T, weights)
        return value + 0.5 * alpha * np.einsum("tp,pq,tq->", a, N, a), slope, curvature

    for _ in range(60):
        value, slope, curvature = objective(a)
        gradient = (slope @ Z + alpha * a @ N).ravel()
        hessian = np.einsum("nts,np,nq->tpsq", curvature, Z, Z, optimize=True)
        hessian += alpha * np.einsum("ts,pq->tpsq", np.eye(T), N)
        step = np.linalg.pinv(hessian.reshape(T * p, -1), rcond=ROUNDING) @ gradient
        size = 1.0
        while objective(a - size * step.reshape(T, p))[0] > value and size > 1e-10:
            size /= 2
        a = a - size * step.reshape(T, p)
        if np.abs(step).max() <= 1e-13 * np.abs(a).max():
            break
    return a[:, :-1] @ B.T, a[:, -1], objective(a)[0]


def predict(kernel, W, knots, coefficients, constants, X):
    return coefficients @ features(kernel, W, knots, X).T + constants[:, None]

"""The alpha of a last fit by a loss of classes, against fits and losses computed one by one."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens._rows import canonical_rows
from kernlens.fits.held_out import Split
from kernlens.fits.projected_ridge import ProjectedRidge
from kernlens.fits.tuned_alpha import ALPHAS, DOUBTS, PATIENCE, doubted, tune_alpha
from kernlens.kernels.radial import make_radial_kernel
from reference import hkrr
from reference.bkernn_problems import LOSSES

B = np.array([[0.7, 0.2, 0.0], [0.0, -0.3, 0.5]])


def splits_of(n_classes=2, noise=0.5, n=60):
    rng = np.random.default_rng(n_classes)
    X = rng.standard_normal((n, 3))
    edges = [0.0] if n_classes == 2 else [-0.5, 0.5]
    labels = np.digitize(X[:, 0] + noise * rng.standard_normal(n), edges)
    one_hot = np.eye(n_classes)[labels].T
    rows = canonical_rows(X, one_hot[1:] if n_classes == 2 else one_hot, rng.uniform(0.5, 2.0, n))
    return [
        Split(rows.take(train), rows.take(test), rows.X[train][:12])
        for train, test in rows.folds(2)
    ]


def slow_loss(loss, split, alpha):
    """Held-out loss of the oracle's fit, each label exchanged for another with a small weight."""
    train, test = split.train, split.test
    K = hkrr.kernel_matrix("gaussian", B, train.X, split.Z)
    Kzz = hkrr.center_matrix("gaussian", B, split.Z, 1e-10)
    a, c = hkrr.polished_coefficients(loss, K, Kzz, train.y, train.weights, alpha)
    f = a @ hkrr.kernel_matrix("gaussian", B, test.X, split.Z).T + c[:, None]
    doubt = DOUBTS / (train.weights.sum() + test.weights.sum() + 1.0)
    if loss == "logistic":
        scores = np.vstack([np.zeros(f.shape[1]), f])
        labels = (test.y[0] > 0.5).astype(int)
    else:
        scores, labels = f, test.y.argmax(axis=0)
    logs = scores - np.log(np.exp(scores).sum(axis=0))
    total = 0.0
    for i, label in enumerate(labels):
        others = [logs[k, i] for k in range(len(logs)) if k != label]
        total -= test.weights[i] * ((1.0 - doubt) * logs[label, i] + doubt * np.mean(others))
    return total / test.weights.sum()


@pytest.mark.parametrize(("loss", "n_classes"), [("logistic", 2), ("multinomial", 3)])
def test_the_alpha_is_the_best_along_the_path(loss, n_classes):
    splits = splits_of(n_classes)
    ridge = ProjectedRidge(make_radial_kernel("gaussian"), LOSSES[loss])
    alpha, lowest = tune_alpha(ridge, splits, [B, B])
    losses = [
        np.mean([slow_loss(loss, split, tried) for split in splits])
        for tried in ALPHAS[: ALPHAS.index(alpha) + PATIENCE + 1]
    ]
    assert alpha == ALPHAS[int(np.argmin(losses))]
    assert lowest == pytest.approx(min(losses), rel=1e-2)


def test_classes_without_a_mistake_do_not_ask_for_the_smallest_alpha():
    # Classes far apart: the loss without doubt falls along the whole path.
    splits = splits_of(noise=0.0)
    for split in splits:
        for part in (split.train, split.test):
            part.X[:, 0] += 4.0 * (2.0 * part.y[0] - 1.0)
        split.Z[:] = split.train.X[:12]
    ridge = ProjectedRidge(make_radial_kernel("gaussian"), LOSSES["logistic"])
    alpha, lowest = tune_alpha(ridge, splits, [B, B])
    assert ALPHAS[-1] < alpha
    # Half a label of sixty in doubt costs at least its entropy.
    doubt = DOUBTS / (sum(split.test.weights.sum() for split in splits) + 1.0)
    assert lowest > -doubt * np.log(doubt)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_doubted_labels_are_shares(n_classes):
    test = splits_of(n_classes)[0].test
    found = doubted(test, 99.0)
    np.testing.assert_array_equal(found.X, test.X)
    assert np.all((found.y > 0.0) & (found.y < 1.0))
    np.testing.assert_allclose(found.y.max(axis=0), np.where(test.y.any(axis=0), 0.995, 0.005))
    if n_classes == 3:
        np.testing.assert_allclose(found.y.sum(axis=0), 1.0)

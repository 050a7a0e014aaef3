"""Tuning of the last fit: every loss it compares, recomputed with dense solves."""

from __future__ import annotations

import numpy as np
import pytest

from kernlens.fits import tuned_ridge as hyper_kernel_refit
from kernlens.fits.projected_ridge import ProjectedRidge
from kernlens.fits.tuned_ridge import Tuned, settle_refit, tune_refit
from kernlens.kernels.radial import make_radial_kernel
from reference import hkrr
from reference.bkernn_problems import LOSSES
from reference.hkrr_problems import near_truth, planted_rows, splits_of

BOUNDS = {"squared": (np.array([-0.9]), np.array([0.9])), "logistic": None, "multinomial": None}


@pytest.fixture
def small_grid(monkeypatch):
    """Few enough settings for dense solves of all of them."""
    monkeypatch.setattr(hyper_kernel_refit, "DECADES", np.array([-2.0, -1.0, 0.0, 1.0]))
    monkeypatch.setattr(hyper_kernel_refit, "MAX_SCALE_STEPS", 3)


def setting(loss, n=48, seed=0):
    rows = planted_rows(loss, n=n, noise=0.3, seed=seed)
    ridge = ProjectedRidge(make_radial_kernel("gaussian"), LOSSES[loss])
    return ridge, splits_of(rows, n_centers=10)


def dense_table(loss, splits, maps, alpha, bounds):
    """Mean held-out loss for every factor SCALE_STEP^k, k as the key, and every alpha."""
    most = hyper_kernel_refit.MAX_SCALE_STEPS
    table = {}
    for k in range(-most, most + 1):
        scale = hyper_kernel_refit.SCALE_STEP**k
        table[k] = np.array(
            [
                np.mean(
                    [
                        hkrr.held_out_loss(
                            "gaussian",
                            loss,
                            scale * B,
                            split.train,
                            split.test,
                            split.Z,
                            alpha * 10.0**decade,
                            bounds=bounds,
                        )
                        for split, B in zip(splits, maps, strict=True)
                    ]
                )
                for decade in hyper_kernel_refit.DECADES
            ]
        )
    return table


def walk(table):
    """Up from the middle while it helps, then down; the best factor and place of alpha."""
    most = hyper_kernel_refit.MAX_SCALE_STEPS
    best = 0
    for sign in (1, -1):
        for step in range(1, most + 1):
            if table[sign * step].min() >= table[best].min():
                break
            best = sign * step
    return best, int(np.argmin(table[best]))


#: Maps shorter, about as long, and longer than they should be: the best factor is on either side.
@pytest.mark.parametrize("length", [0.2, 1.0, 5.0])
@pytest.mark.parametrize(("loss", "seed"), [("squared", 0), ("squared", 1), ("logistic", 0)])
def test_the_best_of_what_is_tried_is_returned(small_grid, length, loss, seed):
    ridge, splits = setting(loss, n=48 if loss == "squared" else 30, seed=seed)
    alpha, bounds = 0.01, BOUNDS[loss]
    maps = [length * near_truth(2), length * near_truth(2, size=0.3)]
    tuned = tune_refit(ridge, splits, maps, alpha, bounds)
    table = dense_table(loss, splits, maps, alpha, bounds)
    k, j = walk(table)
    assert tuned.scale == pytest.approx(hyper_kernel_refit.SCALE_STEP**k, rel=1e-12)
    assert tuned.alpha == pytest.approx(alpha * 10.0 ** hyper_kernel_refit.DECADES[j], rel=1e-12)
    assert tuned.loss == pytest.approx(table[k][j], rel=1e-7 if loss == "squared" else 1e-4)
    assert tuned.loss <= table[0].min() * (1 + 1e-4)


def test_factors_up_and_down_are_found(small_grid):
    ridge, splits = setting("squared")
    scales = [
        tune_refit(ridge, splits, [length * near_truth(1)] * 2, 0.01, None).scale
        for length in (0.1, 8.0)
    ]
    assert scales[0] > 1.0 > scales[1]


def test_tuning_again_from_the_tuned_map_changes_nothing():
    ridge, splits = setting("squared")
    maps = [near_truth(1)] * 2
    first = tune_refit(ridge, splits, maps, 0.01, None)
    second = tune_refit(ridge, splits, [first.scale * B for B in maps], 0.01, None)
    assert second.scale == 1.0
    assert second.loss == pytest.approx(first.loss, rel=1e-9)
    assert second.alpha == pytest.approx(first.alpha, rel=1e-12)


def test_with_multinomial_loss_the_loss_returned_is_the_held_out_one(small_grid):
    ridge, splits = setting("multinomial")
    maps = [near_truth(1)] * 2
    tuned = tune_refit(ridge, splits, maps, 0.1, None)
    by_hand = [
        hkrr.held_out_loss(
            "gaussian",
            "multinomial",
            tuned.scale * B,
            split.train,
            split.test,
            split.Z,
            tuned.alpha,
        )
        for split, B in zip(splits, maps, strict=True)
    ]
    assert tuned.loss == pytest.approx(np.mean(by_hand), rel=1e-4)


def test_noise_asks_for_more_regularisation():
    alphas = []
    for noise in (0.0, 1.0):
        rows = planted_rows(n=120, noise=noise)
        ridge = ProjectedRidge(make_radial_kernel("gaussian"), LOSSES["squared"])
        splits = splits_of(rows, n_centers=30)
        alphas.append(tune_refit(ridge, splits, [near_truth(1, size=0.0)] * 2, 1e-3, None).alpha)
    assert alphas[0] < alphas[1]


def test_inputs_are_left_alone(small_grid):
    ridge, splits = setting("squared")
    B = near_truth(2)
    kept = B.copy(), splits[0].train.X.copy(), splits[0].train.y.copy()
    tune_refit(ridge, splits, [B, B], 0.01, None)
    np.testing.assert_array_equal(B, kept[0])
    np.testing.assert_array_equal(splits[0].train.X, kept[1])
    np.testing.assert_array_equal(splits[0].train.y, kept[2])


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("size", [0.1, 1.0, 8.0])
def test_a_final_map_of_another_size_keeps_the_length_scale(loss, size):
    ridge, splits = setting(loss)
    B = 3.0 * near_truth(1)
    tuned = Tuned(0.5, 1e-3, np.nan)
    settled = settle_refit(ridge, splits, [B] * len(splits), size * B, tuned, 1e-3, BOUNDS[loss])
    tried = (0.5, 0.5 / size, 1.0)
    losses = {
        scale: np.mean(
            [
                hkrr.held_out_loss(
                    "gaussian",
                    loss,
                    scale * size * B,
                    split.train,
                    split.test,
                    split.Z,
                    1e-3,
                    bounds=BOUNDS[loss],
                )
                for split in splits
            ]
        )
        for scale in tried
    }
    lowest = min(losses.values())
    chosen = min(losses, key=lambda scale: abs(scale - settled.scale))
    assert settled.scale == pytest.approx(chosen)
    # What replaces another is clearly better, and nothing clearly better is left out.
    assert losses[chosen] <= lowest / (1.0 - hyper_kernel_refit.CLEAR_GAIN) * (1 + 1e-6)

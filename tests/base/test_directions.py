"""Directions in the units of the user."""

from __future__ import annotations

import numpy as np

from kernlens.base.contract import FeatureLearnerMixin


def test_directions_of_columns_of_very_different_units_are_orthonormal_within_their_columns():
    rng = np.random.default_rng(0)
    for n_used in (2, 3, 5):
        for _ in range(20):
            used = rng.permutation(7)[:n_used]
            components = np.zeros((2, 7))
            components[:, used] = np.linalg.qr(rng.standard_normal((n_used, 2)))[0].T
            scale = 10.0 ** rng.uniform(-12.0, 12.0, 7)
            model = FeatureLearnerMixin()
            model._store_directions(components, np.ones(2), np.ones(7), 2, scale)
            found = model.components_
            assert np.abs(found @ found.T - np.eye(2)).max() < 1e-12
            assert not np.delete(found, used, axis=1).any()

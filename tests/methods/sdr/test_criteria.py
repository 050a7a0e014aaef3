"""The criterion for the number of directions: its formula, its limit, and what a user reads."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from kernlens import PHD, SAVE, SIR, DirectionalRegression
from reference import sdr as reference

MODELS = [SIR(test="bic"), SAVE(test="bic"), DirectionalRegression(test="bic"), PHD(test="bic")]


def planted(n, d=6, seed=0, *, trend=True):
    """Two directions: of Li's (1991) example, whose means all move, or of a saddle."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    noise = rng.standard_normal(n)
    if trend:
        return X, X[:, 0] / (0.5 + (X[:, 1] + 1.5) ** 2) + 0.2 * noise
    return X, X[:, 0] * X[:, 1] + 0.3 * noise


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_the_criterion_is_the_formula(model):
    X, y = planted(300, 4)
    found = model.set_params(n_directions="auto").fit(X, y).dimension_criterion_
    values = model.eigenvalues_ / (2.0 if isinstance(model, DirectionalRegression) else 1.0)
    values = np.pad(values, (0, 4 - len(values)))
    expected = [reference.bayes_criterion(values, 300, k) for k in range(5)]
    np.testing.assert_allclose(found.criterion, expected[: len(found.criterion)], rtol=1e-8)
    assert model.n_directions_ == found.n_directions == int(np.argmax(expected))


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_planted_number_is_found_as_rows_grow(model):
    trend = isinstance(model, SIR)
    for seed in range(5):
        assert model.fit(*planted(2000, seed=seed, trend=trend)).n_directions_ == 2


@pytest.mark.parametrize("n", [200, 1000])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_noise_has_no_direction(model, n):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, 5))
        with pytest.warns(UserWarning, match="found no direction"):
            assert model.fit(X, rng.standard_normal(n)).n_directions_ == 0


def test_weights_are_repetitions():
    X, y = planted(200)
    weights = np.random.default_rng(1).integers(1, 4, 200)
    weighted = SIR(test="bic").fit(X, y, weights).dimension_criterion_
    repeated = SIR(test="bic").fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.criterion, repeated.dimension_criterion_.criterion)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_target_given_twice_changes_nothing(model):
    X, y = planted(300)
    once = model.fit(X, y).dimension_criterion_.criterion
    twice = model.fit(X, np.column_stack([y, y])).dimension_criterion_.criterion
    np.testing.assert_allclose(twice, once, rtol=1e-8)


def test_labels_and_several_targets_have_a_criterion():
    X, _ = planted(400)
    labels = np.where(X[:, 0] > 0.0, "high", "low")
    assert SIR(test="bic").fit(X, labels).n_directions_ == 1
    assert SIR(test="bic").fit(X, np.column_stack([X[:, 0], X[:, 1]])).n_directions_ == 2


def test_the_criterion_is_readable_survives_a_copy_and_replaces_the_test():
    X, y = planted(300)
    model = SIR(test="bic").fit(X, y)
    found = pickle.loads(pickle.dumps(model)).dimension_criterion_
    assert str(found).startswith(
        f"bic: {model.n_directions_} directions have the largest criterion"
    )
    assert list(found.to_frame().columns) == ["directions", "likelihood", "penalty", "criterion"]
    with pytest.raises(AttributeError, match="another test than 'bic'"):
        model.dimension_test_  # noqa: B018
    model.set_params(test="auto").fit(X, y)
    with pytest.raises(AttributeError, match="test='bic' on at least 15 rows"):
        model.dimension_criterion_  # noqa: B018

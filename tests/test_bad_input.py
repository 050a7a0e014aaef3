"""Bad input gives one clear sentence before any work; odd but valid input simply works."""

from __future__ import annotations

import re

import numpy as np
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError

from kernlens import BKerNNClassifier, BKerNNRegressor
from kernlens.losses import HuberLoss
from kernlens.optim.reduced_objective import ReducedObjective
from kernlens.penalties import FeaturePenalty

FAST = {"alpha": 0.02, "n_particles": 8, "max_iter": 5, "random_state": 0, "n_jobs": 1}
ESTIMATORS = [BKerNNRegressor, BKerNNClassifier]
both = pytest.mark.parametrize("estimator", ESTIMATORS)


def sample(estimator=BKerNNRegressor, n=40, d=3):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = np.abs(X[:, 0]) + 0.1 * rng.standard_normal(n)
    return X, (y if estimator is BKerNNRegressor else (y > 0.7).astype(int))


def with_entry(X, value):
    X = X.copy().astype(object if isinstance(value, str) else float)
    X[3, 1] = value
    return X


@pytest.fixture
def no_work(monkeypatch):
    """Fail if the objective is evaluated at all: complaints come before any work."""

    def evaluated(self, W, **options):
        raise AssertionError("work began before the input was refused")

    monkeypatch.setattr(ReducedObjective, "at", evaluated)


def refuses(model, X, y, match, sample_weight=None, error=ValueError):
    with pytest.raises(error, match=match) as caught:
        model.fit(X, y, sample_weight=sample_weight)
    assert str(caught.value).strip()


# Data


@both
@pytest.mark.parametrize(
    ("value", "match"),
    [
        (np.nan, "contains NaN"),
        (np.inf, "contains infinity"),
        (-np.inf, "contains infinity"),
        ("word", "could not convert string to float"),
        (1e300, "X has values as large as 1e\\+300, whose squares overflow; divide X by"),
        (-1e101, "X has values as large as 1e\\+101, whose squares overflow; divide X by"),
    ],
)
@pytest.mark.usefixtures("no_work")
def test_bad_entries_of_x(estimator, value, match):
    X, y = sample(estimator)
    refuses(estimator(**FAST), with_entry(X, value), y, match)


@both
@pytest.mark.parametrize(
    ("make", "match", "error"),
    [
        (scipy.sparse.csr_matrix, "Sparse data was passed", TypeError),
        (scipy.sparse.csr_array, "Sparse data was passed", TypeError),
        (lambda X: X * 1j, "Complex data not supported", ValueError),
        (lambda X: X[:, 0], "Expected 2D array, got 1D array", ValueError),
        (lambda X: X[:, :, None], "dim 3", ValueError),
        (lambda X: X[:, :0], r"0 feature\(s\)", ValueError),
    ],
)
@pytest.mark.usefixtures("no_work")
def test_bad_kinds_of_x(estimator, make, match, error):
    X, y = sample(estimator)
    refuses(estimator(**FAST), make(X), y, match, error=error)


@both
@pytest.mark.usefixtures("no_work")
def test_too_few_rows(estimator):
    X, y = sample(estimator)
    refuses(estimator(**FAST), X[:0], y[:0], r"0 sample\(s\)")
    refuses(estimator(**FAST), X[:1], y[:1], r"1 sample\(s\).* minimum of 2 is required")
    only = np.zeros(len(X))
    only[:1] = 1.0
    refuses(estimator(**FAST), X, y, "2 ", sample_weight=only)


@both
@pytest.mark.usefixtures("no_work")
def test_bad_lengths(estimator):
    X, y = sample(estimator)
    refuses(estimator(**FAST), X, y[:-1], "inconsistent numbers of samples")
    refuses(estimator(**FAST), X, None, "requires y to be passed")
    refuses(estimator(**FAST), X, y, "sample_weight.shape", sample_weight=np.ones(3))
    refuses(estimator(**FAST), X, y, "Sample weights must be 1D", sample_weight=np.ones((40, 2)))


@both
@pytest.mark.parametrize(
    ("value", "match"),
    [
        (-1.0, "Negative values"),
        (np.nan, "contains NaN"),
        (np.inf, "contains infinity"),
        # The sentence of scikit-learn where it has one, else ours.
        (0.0, "at least one non-zero number|give at least one a positive weight"),
    ],
)
@pytest.mark.usefixtures("no_work")
def test_bad_weights(estimator, value, match):
    X, y = sample(estimator)
    weights = np.full(len(X), 0.0 if value == 0.0 else 1.0)
    weights[3] = value
    refuses(estimator(**FAST), X, y, match, sample_weight=weights)


@pytest.mark.parametrize(
    ("value", "match"),
    [
        (np.nan, "Input y contains NaN"),
        (np.inf, "Input y contains infinity"),
        (1e300, "y has values as large as 1e\\+300, whose squares overflow; divide y by"),
    ],
)
@pytest.mark.usefixtures("no_work")
def test_bad_targets(value, match):
    X, y = sample()
    y[3] = value
    refuses(BKerNNRegressor(**FAST), X, y, match)
    refuses(BKerNNRegressor(**FAST), X, np.column_stack([y, y]), match)


@pytest.mark.usefixtures("no_work")
def test_targets_of_the_wrong_kind():
    X, y = sample()
    refuses(BKerNNRegressor(**FAST), X, ["word"] * len(X), "could not convert string to float")
    refuses(BKerNNRegressor(**FAST), X, np.zeros((len(X), 2, 2)), "dim 3")
    refuses(BKerNNClassifier(**FAST), X, y, "Unknown label type: continuous")
    refuses(BKerNNClassifier(**FAST), X, np.column_stack([y > 0, y > 1]), "1d array")


@pytest.mark.usefixtures("no_work")
def test_one_class():
    X, y = sample(BKerNNClassifier)
    match = "needs samples of at least 2 classes.* only one class"
    refuses(BKerNNClassifier(**FAST), X, np.zeros(len(X)), match)
    refuses(BKerNNClassifier(**FAST), X, ["a"] * len(X), match)
    refuses(BKerNNClassifier(**FAST), X, y, match, sample_weight=(y == 1).astype(float))


# Parameters


@both
@pytest.mark.parametrize(
    ("name", "value", "match"),
    [
        ("alpha", 0, "alpha must be a positive finite number, .*got 0."),
        ("alpha", -1.0, "alpha must be a positive finite number, .*got -1.0."),
        ("alpha", np.nan, "alpha must be a positive finite number, .*got nan."),
        ("alpha", np.inf, "alpha must be a positive finite number, .*got inf."),
        ("alpha", None, "alpha must be a positive finite number, .*got None."),
        ("alpha", True, "alpha must be a positive finite number, .*got True."),
        ("alpha", "cv", "alpha must be 'auto', 'heuristic' or a positive number, got 'cv'."),
        ("n_particles", 0, "n_particles must be an integer of at least 1, got 0."),
        ("n_particles", 2.5, "n_particles must be an integer of at least 1, got 2.5."),
        ("n_particles", True, "n_particles must be an integer of at least 1, got True."),
        ("n_directions", 0, "n_directions must be 'auto' or an integer of at least 1, got 0."),
        ("n_directions", "all", "n_directions must be 'auto' or an integer of at least 1"),
        ("max_iter", 0, "max_iter must be an integer of at least 1, got 0."),
        ("tol", -1e-3, "tol must be a finite number of at least 0, got -0.001."),
        ("tol", np.nan, "tol must be a finite number of at least 0, got nan."),
        ("kernel", "linear", "kernel must be one of 'brownian', .*, got 'linear'."),
        ("kernel", None, "kernel must be one of 'brownian', .*, got None."),
        ("optimizer", "adam", "optimizer must be one of 'auto', 'lbfgs', 'plain', got 'adam'."),
        ("penalty", "ridge", "penalty must be one of 'basic', .*, got 'ridge'."),
        ("penalty", None, "penalty must be one of 'basic', .*, got None."),
        ("penalty", FeaturePenalty, "penalty must be one of 'basic', .*, got <class"),
        ("init", "zeros", "init must be one of 'random', got 'zeros'."),
        ("init", np.ones((8, 2)), r"init must have shape .* = \(8, 3\), got \(8, 2\)."),
        ("init", np.ones((7, 3)), r"init must have shape .* = \(8, 3\), got \(7, 3\)."),
        ("init", np.full((8, 3), np.nan), "init has NaN or infinite entries; give finite"),
        ("n_jobs", "two", "n_jobs must be None or a non-zero integer, got 'two'."),
        ("n_jobs", 1.5, "n_jobs must be None or a non-zero integer, got 1.5."),
        ("n_jobs", 0, "n_jobs must be None or a non-zero integer, got 0."),
        ("standardize", "yes", "standardize must be True or False, got 'yes'."),
        ("warm_start", 1, "warm_start must be True or False, got 1."),
        ("random_state", "seed", "cannot be used to seed"),
    ],
)
@pytest.mark.usefixtures("no_work")
def test_bad_parameters(estimator, name, value, match):
    X, y = sample(estimator)
    refuses(estimator(**{**FAST, name: value}), X, y, match)


@pytest.mark.parametrize("loss", ["absolute", None, HuberLoss])
@pytest.mark.usefixtures("no_work")
def test_bad_loss(loss):
    X, y = sample()
    match = "loss must be one of 'squared', 'huber', got "
    refuses(BKerNNRegressor(**FAST, loss=loss), X, y, match)


@both
@pytest.mark.parametrize("name", ["alpha", "n_particles", "kernel", "penalty"])
def test_constructors_only_store(estimator, name):
    nonsense = object()
    assert getattr(estimator(**{name: nonsense}), name) is nonsense


@both
@pytest.mark.usefixtures("no_work")
def test_more_particles_than_memory(estimator):
    X, y = sample(estimator)
    match = "needs about .* GiB and the machine has .* GiB; lower n_particles or fit on fewer rows"
    refuses(estimator(n_particles=10**9), X, y, match, error=MemoryError)
    refuses(estimator(n_particles=10**9), X[:4], [0, 1, 0, 1], match, error=MemoryError)


@both
def test_a_failed_fit_can_be_repaired(estimator):
    X, y = sample(estimator)
    model = estimator(**{**FAST, "alpha": -1.0})
    with pytest.raises(ValueError, match="alpha"):
        model.fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)
    assert model.set_params(alpha=0.02).fit(X, y).score(X, y) > 0.5


# After fit


@both
def test_unfitted(estimator):
    X, _ = sample()
    model = estimator()
    for method in ("predict", "transform", "predict_proba", "decision_function"):
        if hasattr(model, method):
            with pytest.raises(NotFittedError, match=f"This {estimator.__name__} instance is not"):
                getattr(model, method)(X)
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        model.partial_functions()
    with pytest.raises(NotFittedError):
        model.get_feature_names_out()


@both
def test_other_columns_after_fit(estimator):
    X, y = sample(estimator)
    model = estimator(**FAST).fit(X, y)
    match = re.escape(f"X has 2 features, but {estimator.__name__} is expecting 3 features")
    for method in ("predict", "transform", "predict_proba", "decision_function"):
        if hasattr(model, method):
            with pytest.raises(ValueError, match=match):
                getattr(model, method)(X[:, :2])
            with pytest.raises(ValueError, match="contains NaN"):
                getattr(model, method)(with_entry(X, np.nan))
            with pytest.raises(TypeError, match="Sparse data was passed"):
                getattr(model, method)(scipy.sparse.csr_array(X))
            with pytest.raises(ValueError, match=r"0 sample\(s\)"):
                getattr(model, method)(X[:0])


@both
def test_warm_start_on_other_columns_starts_afresh(estimator):
    X, y = sample(estimator)
    model = estimator(**FAST, warm_start=True).fit(X, y).fit(X[:, :2], y)
    fresh = estimator(**FAST).fit(X[:, :2], y)
    np.testing.assert_array_equal(model.predict(X[:, :2]), fresh.predict(X[:, :2]))


@pytest.mark.parametrize("n_points", [0, 2.5, "many"])
def test_bad_number_of_grid_points(n_points):
    model = BKerNNRegressor(**FAST).fit(*sample())
    with pytest.raises(ValueError, match="n_points must be an integer of at least 1"):
        model.partial_functions(n_points)


# Odd but valid


@both
@pytest.mark.parametrize("alpha", [0.02, "auto"])
@pytest.mark.parametrize("constant", [0.0, 0.1, -1e6])
@pytest.mark.parametrize("standardize", [True, False])
def test_constant_columns_are_never_looked_at(estimator, alpha, constant, standardize):
    X, y = sample(estimator)
    wide = np.column_stack([X[:, 0], np.full(len(X), constant), X[:, 1:]])
    model = estimator(**{**FAST, "alpha": alpha, "standardize": standardize}).fit(wide, y)
    # Not exactly zero: the singular vectors of the particles mix their columns by rounding, and
    # the gradient has the rounding of sums with the constant in them.
    rounding = np.finfo(float).eps * (1.0 + abs(constant))
    assert model.feature_importances_[1] < 10 * rounding
    other = wide.copy()
    other[:, 1] = constant + 5.0
    method = "predict" if estimator is BKerNNRegressor else "decision_function"
    before, after = getattr(model, method)(wide), getattr(model, method)(other)
    np.testing.assert_allclose(after, before, atol=1e5 * rounding)


@both
@pytest.mark.parametrize("alpha", [0.02, "auto", "heuristic"])
@pytest.mark.parametrize("optimizer", ["auto", "plain"])
@pytest.mark.parametrize("constant", [0.0, 0.1])
def test_only_constant_columns_leave_the_best_constant(estimator, alpha, optimizer, constant):
    X, y = sample(estimator)
    flat = np.full_like(X, constant)
    model = estimator(**{**FAST, "alpha": alpha, "optimizer": optimizer}).fit(flat, y)
    if estimator is BKerNNRegressor:
        np.testing.assert_allclose(model.predict(X), y.mean(), rtol=1e-12)
    else:
        np.testing.assert_allclose(model.predict_proba(X)[:, 1], y.mean(), rtol=1e-6)
    assert model.transform(X).shape == (len(X), 1)
    np.testing.assert_allclose(model.feature_importances_.sum(), 1.0)


@both
def test_particles_that_start_at_zero_stay_there(estimator):
    X, y = sample(estimator)
    model = estimator(**FAST, init=np.zeros((8, 3))).fit(X, y)
    assert np.isfinite(model.objective_)
    assert np.ptp(model.predict(X)) == 0
    assert len(model.particles_) == 0


@both
@pytest.mark.parametrize("alpha", [0.02, "auto"])
def test_duplicate_columns_share(estimator, alpha):
    X, y = sample(estimator)
    twice = np.column_stack([X, X[:, 0]])
    model = estimator(**{**FAST, "alpha": alpha}).fit(twice, y)
    assert np.isfinite(model.predict(twice)).all()
    assert model.score(twice, y) > 0.8


@pytest.mark.parametrize("value", [0.0, 0.1, -3.3, 1e8, 1e-200])
@pytest.mark.parametrize("loss", ["squared", "huber"])
@pytest.mark.parametrize("alpha", [0.02, "auto", "heuristic"])
def test_constant_targets_are_predicted(value, loss, alpha):
    X, _ = sample(n=20)
    model = BKerNNRegressor(**{**FAST, "alpha": alpha, "loss": loss}).fit(X, np.full(20, value))
    np.testing.assert_allclose(model.predict(X), value, rtol=1e-9, atol=1e-300)
    assert np.isfinite(model.alpha_)
    assert model.alpha_ > 0


@both
@pytest.mark.parametrize("alpha", [0.02, "auto"])
def test_fewer_rows_than_columns(estimator, alpha):
    X, y = sample(estimator, n=12, d=40)
    model = estimator(**{**FAST, "alpha": alpha}).fit(X, y)
    assert np.isfinite(model.predict(X).astype(float)).all()
    assert model.components_.shape == (model.n_directions_, 40)


@both
@pytest.mark.parametrize("alpha", [0.02, "auto", "heuristic"])
def test_the_smallest_sets(estimator, alpha):
    model = estimator(**{**FAST, "alpha": alpha})
    for X in ([[0.0], [1.0]], [[0.0, 1.0], [0.0, 2.0]], [[1.0], [1.0]]):
        assert np.isfinite(model.fit(X, [0, 1]).predict(X)).all()


@both
def test_same_row_with_other_targets(estimator):
    X = np.repeat([[0.0, 1.0], [2.0, 3.0]], 6, axis=0)
    y = np.array([0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1])
    model = estimator(**{**FAST, "alpha": 1e-4}).fit(X, y)
    if estimator is BKerNNRegressor:
        np.testing.assert_allclose(model.predict(X[[0, 6]]), [5 / 6, 1 / 3], atol=0.02)
    else:
        np.testing.assert_allclose(model.predict_proba(X[[0, 6]])[:, 1], [5 / 6, 1 / 3], atol=0.02)


@both
@pytest.mark.parametrize("scale", [1e-90, 1e90])
def test_extreme_units_of_x(estimator, scale):
    X, y = sample(estimator)
    model = estimator(**FAST).fit(X * scale, y)
    np.testing.assert_allclose(
        model.predict(X * scale), estimator(**FAST).fit(X, y).predict(X), rtol=1e-8, atol=1e-8
    )


def test_extreme_units_of_y():
    X, y = sample()
    for scale in (1e-90, 1e90):
        model = BKerNNRegressor(**{**FAST, "alpha": "auto"}).fit(X, y * scale)
        assert model.score(X, y * scale) > 0.9


@both
def test_extreme_rows_to_predict(estimator):
    X, y = sample(estimator)
    model = estimator(**FAST).fit(X, y)
    far = np.array([[1e300, 0.0, 0.0], [-1e300, 1e300, 5.0]])
    assert np.isfinite(model.predict(far)).all()


@both
def test_a_row_of_tiny_weight_hardly_counts(estimator):
    X, y = sample(estimator)
    weights = np.ones(len(X))
    weights[0] = 1e-12
    tiny = estimator(**FAST).fit(X, y, sample_weight=weights)
    weights[0] = 0.0
    without = estimator(**FAST).fit(X, y, sample_weight=weights)
    method = "predict" if estimator is BKerNNRegressor else "decision_function"
    np.testing.assert_allclose(getattr(tiny, method)(X), getattr(without, method)(X), atol=1e-4)


@both
def test_lists_and_integers_are_arrays(estimator):
    X, y = sample(estimator)
    X = np.round(10 * X)
    y = np.round(10 * y) if estimator is BKerNNRegressor else y
    arrays = estimator(**FAST).fit(X, y, sample_weight=np.full(len(X), 2.0))
    lists = estimator(**FAST).fit(X.astype(int).tolist(), y.tolist(), sample_weight=[2] * len(X))
    np.testing.assert_array_equal(lists.predict(X.tolist()), arrays.predict(X))

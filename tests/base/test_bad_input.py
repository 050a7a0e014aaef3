"""Bad input gives one clear sentence before any work; odd but valid input simply works."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import NotFittedError

from families import ESTIMATORS, FAMILIES, decision, family_of, having, known, light
from kernlens import AutoLensClassifier, AutoLensRegressor

REGRESSORS = [estimator for estimator in ESTIMATORS if is_regressor(estimator())]
CLASSIFIERS = [estimator for estimator in ESTIMATORS if is_classifier(estimator())]
every = pytest.mark.parametrize("estimator", ESTIMATORS)
every_regressor = pytest.mark.parametrize("estimator", REGRESSORS)
every_classifier = pytest.mark.parametrize("estimator", CLASSIFIERS)


def sample(estimator, n=40, d=3):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = np.abs(X[:, 0]) + 0.1 * rng.standard_normal(n)
    return X, (y if is_regressor(estimator()) else (y > 0.7).astype(int))


def with_entry(X, value):
    X = X.copy().astype(object if isinstance(value, str) else float)
    X[3, 1] = value
    return X


@pytest.fixture
def no_work(monkeypatch):
    """Fail if the objective is evaluated at all: complaints come before any work."""

    def evaluated(self, *arguments, **options):
        raise AssertionError("work began before the input was refused")

    for family in FAMILIES:
        monkeypatch.setattr(family.objective, family.method, evaluated)


def refuses(model, X, y, match, sample_weight=None, error=ValueError):
    with pytest.raises(error, match=match) as caught:
        model.fit(X, y, sample_weight=sample_weight)
    assert str(caught.value).strip()


# Data


@every
@pytest.mark.parametrize(
    ("value", "match"),
    [
        (np.nan, "contains NaN"),
        (np.inf, "contains infinity"),
        (-np.inf, "contains infinity"),
        ("word", "has text, such as 'word', where numbers are needed"),
        (1e300, "X has values as large as 1e\\+300, whose squares overflow; divide X by"),
        (-1e101, "X has values as large as 1e\\+101, whose squares overflow; divide X by"),
    ],
)
@pytest.mark.usefixtures("no_work")
def test_bad_entries_of_x(estimator, value, match):
    X, y = sample(estimator)
    refuses(light(estimator), with_entry(X, value), y, match)


@every
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
    refuses(light(estimator), make(X), y, match, error=error)


@every
@pytest.mark.usefixtures("no_work")
def test_columns_of_dates(estimator):
    X, y = sample(estimator)
    table = pd.DataFrame(X).assign(day=pd.date_range("2020-01-01", periods=len(X)))
    refuses(light(estimator), table.rename(columns=str), y, "dates or durations beside numbers")


@every
@pytest.mark.usefixtures("no_work")
def test_too_few_rows(estimator):
    X, y = sample(estimator)
    refuses(light(estimator), X[:0], y[:0], r"0 sample\(s\)")
    refuses(light(estimator), X[:1], y[:1], r"1 sample\(s\).* minimum of 2 is required")
    only = np.zeros(len(X))
    only[:1] = 1.0
    refuses(light(estimator), X, y, "2 ", sample_weight=only)


@every
@pytest.mark.usefixtures("no_work")
def test_bad_lengths(estimator):
    X, y = sample(estimator)
    refuses(light(estimator), X, y[:-1], "inconsistent numbers of samples")
    refuses(light(estimator), X, None, "requires y to be passed")
    refuses(light(estimator), X, y, "sample_weight.shape", sample_weight=np.ones(3))
    refuses(light(estimator), X, y, "Sample weights must be 1D", sample_weight=np.ones((40, 2)))


@every
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
    refuses(light(estimator), X, y, match, sample_weight=weights)
    words = ["heavy"] * len(X)
    refuses(light(estimator), X, y, "sample_weight has text, such as 'heavy'", sample_weight=words)


@every_regressor
@pytest.mark.parametrize(
    ("value", "match"),
    [
        (np.inf, "Input y contains infinity"),
        (1e300, "y has values as large as 1e\\+300, whose squares overflow; divide y by"),
    ],
)
@pytest.mark.usefixtures("no_work")
def test_bad_targets(estimator, value, match):
    X, y = sample(estimator)
    y[3] = value
    refuses(light(estimator), X, y, match)
    refuses(light(estimator), X, np.column_stack([y, y]), match)


@pytest.mark.parametrize("estimator", [e for e in REGRESSORS if not family_of(e).semi_supervised])
@pytest.mark.usefixtures("no_work")
def test_missing_targets(estimator):
    X, y = sample(estimator)
    y[3] = np.nan
    refuses(light(estimator), X, y, "Input y contains NaN")
    # An object is a missing value once it is a number.
    objects = y.astype(object)
    objects[3] = None
    refuses(light(estimator), X, objects, "Input y contains NaN")


@every_regressor
@pytest.mark.usefixtures("no_work")
def test_integers_beyond_floating_point(estimator):
    X, y = sample(estimator)
    huge = y.astype(object)
    huge[3] = 10**400
    refuses(light(estimator), X, huge, "integers that are too large .* rescale them")


@every_regressor
@pytest.mark.usefixtures("no_work")
def test_targets_of_the_wrong_kind(estimator):
    X, _ = sample(estimator)
    refuses(light(estimator), X, ["word"] * len(X), "y has text, such as 'word', where numbers")
    refuses(light(estimator), X, np.zeros((len(X), 2, 2)), "dim 3")
    dates = pd.date_range("2020-01-01", periods=len(X))
    refuses(light(estimator), X, dates, "y has dates or durations; give numbers")


@every_classifier
@pytest.mark.usefixtures("no_work")
def test_labels_of_the_wrong_kind(estimator):
    X, _ = sample(estimator)
    refuses(light(estimator), X, X[:, 0], "Unknown label type: continuous")
    refuses(light(estimator), X, X[:, :2] > 0, "1d array")


@pytest.mark.parametrize("estimator", [*CLASSIFIERS, AutoLensClassifier])
@pytest.mark.parametrize(
    ("labels", "match"),
    [
        (["a", "b", None], r"^y has missing labels|^Input y contains NaN or None; give rows"),
        (["a", 1, "b"], r"^y mixes labels of several types; give all of one type\.$"),
        ([1, "a", "b"], r"^y mixes labels of several types; give all of one type\.$"),
    ],
)
@pytest.mark.usefixtures("no_work")
def test_labels_that_cannot_be_sorted(estimator, labels, match):
    X = np.random.default_rng(0).standard_normal((30, 2))
    y = np.array(labels * 10, dtype=object)
    refuses(estimator(), X, y, match)
    refuses(estimator(class_weight="balanced"), X, y, match)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("estimator", [*CLASSIFIERS, AutoLensClassifier])
@pytest.mark.usefixtures("no_work")
def test_huge_numbers_are_no_labels(estimator):
    X = np.random.default_rng(0).standard_normal((30, 2))
    refuses(estimator(), X, 1e300 * X[:, 0] / 3.0, "Unknown label type: continuous")


@pytest.mark.parametrize(
    "estimator",
    [*(one for one in REGRESSORS if not family_of(one).semi_supervised), AutoLensRegressor],
)
@pytest.mark.usefixtures("no_work")
def test_targets_of_text_are_named(estimator):
    X = np.random.default_rng(0).standard_normal((30, 2))
    refuses(
        estimator(), X, np.array(["a"] * 30), r"^y has text, such as 'a', where numbers are .*\.$"
    )


@pytest.mark.parametrize("estimator", [c for c in CLASSIFIERS if hasattr(c, "partial_fit")])
def test_labels_of_a_batch_that_cannot_be_sorted(estimator):
    X = np.random.default_rng(0).standard_normal((30, 2))
    with pytest.raises(ValueError, match=r"^y has missing labels"):
        light(estimator).partial_fit(X, ["a", "b", None] * 10, classes=["a", "b"])
    with pytest.raises(ValueError, match=r"^classes mixes labels of several types"):
        light(estimator).partial_fit(X, ["a"] * 30, classes=np.array(["a", 1], dtype=object))


@every_classifier
@pytest.mark.usefixtures("no_work")
def test_one_class(estimator):
    X, y = sample(estimator)
    match = "needs samples of at least 2 classes.* only one class"
    refuses(light(estimator), X, np.zeros(len(X)), match)
    refuses(light(estimator), X, ["a"] * len(X), match)
    refuses(light(estimator), X, y, match, sample_weight=(y == 1).astype(float))


# Parameters


BAD_PARAMETERS = (
    ("alpha", 0, "alpha must be 'auto'.* or a positive finite number, got 0."),
    ("alpha", -1.0, "alpha must be 'auto'.* or a positive finite number, got -1.0."),
    ("alpha", np.nan, "alpha must be 'auto'.* or a positive finite number, got nan."),
    ("alpha", np.inf, "alpha must be 'auto'.* or a positive finite number, got inf."),
    ("alpha", None, "alpha must be 'auto'.* or a positive finite number, got None."),
    ("alpha", "cv", "alpha must be 'auto'.* or a positive finite number, got 'cv'."),
    ("alpha", True, "alpha must be 'auto'.* or a positive finite number, got True."),
    ("n_directions", 0, "n_directions must be .*'auto' or an integer of at least 1, got 0."),
    ("n_directions", "all", "n_directions must be .*'auto' or an integer of at least 1"),
    ("n_jobs", "two", "n_jobs must be None or a non-zero integer, got 'two'."),
    ("n_jobs", 1.5, "n_jobs must be None or a non-zero integer, got 1.5."),
    ("n_jobs", 0, "n_jobs must be None or a non-zero integer, got 0."),
    ("standardize", "yes", "standardize must be True or False, got 'yes'."),
    ("random_state", "seed", "cannot be used to seed"),
)


@pytest.mark.parametrize(
    ("estimator", "name", "value", "match"),
    [(estimator, *bad) for bad in BAD_PARAMETERS for estimator in having(bad[0])],
)
@pytest.mark.usefixtures("no_work")
def test_bad_parameters(estimator, name, value, match):
    X, y = sample(estimator)
    refuses(light(estimator, **{name: value}), X, y, match)


@pytest.mark.parametrize("estimator", having("max_iter", "tol", "warm_start"))
@pytest.mark.parametrize(
    ("name", "value", "match"),
    [
        ("max_iter", 0, "max_iter must be an integer of at least 1, got 0."),
        ("tol", -1e-3, "tol must be a finite number of at least 0, got -0.001."),
        ("tol", np.nan, "tol must be a finite number of at least 0, got nan."),
        ("warm_start", 1, "warm_start must be True or False, got 1."),
    ],
)
@pytest.mark.usefixtures("no_work")
def test_bad_parameters_of_iterations(estimator, name, value, match):
    X, y = sample(estimator)
    refuses(light(estimator, **{name: value}), X, y, match)


@pytest.mark.parametrize("estimator", having("kernel", "optimizer"))
@pytest.mark.parametrize(
    ("name", "value", "match"),
    [
        ("kernel", "linear", "kernel must be one of '.*, got 'linear'."),
        ("kernel", None, "kernel must be one of '.*, got None."),
        ("optimizer", "adam", "optimizer must be one of 'auto', .*, got 'adam'."),
    ],
)
@pytest.mark.usefixtures("no_work")
def test_bad_kernels_and_optimizers(estimator, name, value, match):
    X, y = sample(estimator)
    refuses(light(estimator, **{name: value}), X, y, match)


@every
def test_constructors_only_store(estimator):
    for name in inspect.signature(estimator).parameters:
        nonsense = object()
        assert getattr(estimator(**{name: nonsense}), name) is nonsense


@every
def test_a_failed_fit_can_be_repaired(estimator):
    X, y = sample(estimator)
    model = light(estimator, n_directions=0)
    with pytest.raises(ValueError, match="n_directions"):
        model.fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)
    assert model.set_params(**family_of(estimator).light).fit(X, y).score(X, y) > 0.5


# After fit


@every
def test_unfitted(estimator):
    X, _ = sample(estimator)
    model = estimator()
    for method in ("predict", "transform", "predict_proba", "decision_function"):
        if hasattr(model, method):
            with pytest.raises(NotFittedError, match=f"This {estimator.__name__} instance is not"):
                getattr(model, method)(X)
    with pytest.raises(NotFittedError):
        model.get_feature_names_out()


@every
def test_other_columns_after_fit(estimator):
    X, y = sample(estimator)
    model = light(estimator).fit(X, y)
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


@pytest.mark.parametrize("estimator", having("warm_start"))
def test_warm_start_on_other_columns_starts_afresh(estimator):
    X, y = sample(estimator)
    model = light(estimator, warm_start=True).fit(X, y).fit(X[:, :2], y)
    fresh = light(estimator).fit(X[:, :2], y)
    np.testing.assert_array_equal(model.predict(X[:, :2]), fresh.predict(X[:, :2]))


# Odd but valid


@every
@pytest.mark.parametrize("constant", [0.0, 0.1, -1e6])
def test_constant_columns_are_never_looked_at(estimator, constant):
    X, y = sample(estimator)
    wide = np.column_stack([X[:, 0], np.full(len(X), constant), X[:, 1:]])
    model = light(estimator, standardize=False).fit(wide, y)
    assert model.feature_importances_[1] == 0.0
    other = wide.copy()
    other[:, 1] = constant + 5.0
    np.testing.assert_array_equal(decision(model, other), decision(model, wide))


@every
@pytest.mark.parametrize("alpha", [0.02, "auto"])
@pytest.mark.parametrize("constant", [0.0, 0.1])
def test_only_constant_columns_leave_the_best_constant(estimator, alpha, constant):
    X, y = sample(estimator)
    flat = np.full_like(X, constant)
    # The best constant of other losses is not the mean.
    for variant in family_of(estimator).variants:
        if not variant.get("fit_intercept", True):
            # Asked to have none; that of a regressor is the mean of its targets.
            continue
        settings = {**variant, **known(estimator, alpha=alpha)}
        check_best_constant(light(estimator, **settings).fit(flat, y), X, y)


def check_best_constant(model, X, y):
    if is_regressor(model):
        np.testing.assert_allclose(model.predict(X), y.mean(), rtol=1e-12)
    else:
        np.testing.assert_allclose(model.predict_proba(X)[:, 1], y.mean(), rtol=1e-6)
    automatic = isinstance(model.n_directions, str)
    assert model.transform(X).shape == (len(X), 0 if automatic else 1)
    assert ("n_directions_ is 0" in model.status_) == automatic
    np.testing.assert_allclose(model.feature_importances_.sum(), 1.0)


@every
@pytest.mark.parametrize("options", [{}, {"alpha": "auto"}])
def test_duplicate_columns_share(estimator, options):
    X, y = sample(estimator)
    twice = np.column_stack([X, X[:, 0]])
    model = light(estimator, **known(estimator, **options)).fit(twice, y)
    assert np.isfinite(model.predict(twice)).all()
    assert model.score(twice, y) > 0.8


@every_regressor
@pytest.mark.parametrize(
    ("value", "alpha"),
    [(0.0, 0.02), (-3.3, 0.02), (1e8, 0.02), (1e-200, 0.02), (0.1, "auto"), (1e-200, "auto")],
)
def test_constant_targets_are_predicted(estimator, value, alpha):
    X, _ = sample(estimator, n=20)
    for settings in family_of(estimator).settings(estimator):
        settings = {**settings, **known(estimator, alpha=alpha)}
        model = light(estimator, **settings).fit(X, np.full(20, value))
        np.testing.assert_allclose(model.predict(X), value, rtol=1e-9, atol=1e-300)
        assert np.isfinite(model.alpha_)
        assert model.alpha_ > 0 or not known(estimator, alpha=alpha)


@every
@pytest.mark.parametrize("alpha", [0.02, "auto"])
def test_fewer_rows_than_columns(estimator, alpha):
    X, y = sample(estimator, n=12, d=40)
    model = light(estimator, **known(estimator, alpha=alpha)).fit(X, y)
    assert np.isfinite(model.predict(X).astype(float)).all()
    assert model.components_.shape == (model.n_directions_, 40)


@every
@pytest.mark.parametrize("alpha", [0.02, "auto"])
def test_the_smallest_sets(estimator, alpha):
    for settings in family_of(estimator).settings(estimator):
        model = light(estimator, **{**settings, **known(estimator, alpha=alpha)})
        for X in ([[0.0], [1.0]], [[0.0, 1.0], [0.0, 2.0]], [[1.0], [1.0]]):
            assert np.isfinite(model.fit(X, [0, 1]).predict(X)).all()


@every
def test_same_row_with_other_targets(estimator):
    X = np.repeat([[0.0, 1.0], [2.0, 3.0]], 6, axis=0)
    y = np.array([0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1])
    model = light(estimator, **known(estimator, alpha=1e-4, pruning=None)).fit(X, y)
    if is_regressor(estimator()):
        np.testing.assert_allclose(model.predict(X[[0, 6]]), [5 / 6, 1 / 3], atol=0.02)
    else:
        np.testing.assert_allclose(model.predict_proba(X[[0, 6]])[:, 1], [5 / 6, 1 / 3], atol=0.02)


@every
@pytest.mark.parametrize("scale", [1e-90, 1e90])
def test_extreme_units_of_x(estimator, scale):
    X, y = sample(estimator)
    model = light(estimator, **family_of(estimator).undrawn)
    expected = model.fit(X, y).predict(X)
    found = model.fit(X * scale, y).predict(X * scale)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


@every_regressor
def test_extreme_units_of_y(estimator):
    X, y = sample(estimator)
    for scale in (1e-90, 1e90):
        model = light(estimator, **known(estimator, alpha="auto")).fit(X, y * scale)
        assert model.score(X, y * scale) > 0.9


@every
def test_extreme_rows_to_predict(estimator):
    X, y = sample(estimator)
    far = np.array([[1e300, 0.0, 0.0], [-1e300, 1e300, 5.0]])
    for settings in family_of(estimator).settings(estimator):
        model = light(estimator, **settings).fit(X, y)
        assert np.isfinite(decision(model, far)).all()


@every
def test_a_row_of_tiny_weight_hardly_counts(estimator):
    X, y = sample(estimator)
    weights = np.ones(len(X))
    weights[0] = 1e-12
    options = family_of(estimator).undrawn
    tiny = light(estimator, **options).fit(X, y, sample_weight=weights)
    weights[0] = 0.0
    without = light(estimator, **options).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(decision(tiny, X), decision(without, X), atol=1e-4)


@every
def test_lists_and_integers_are_arrays(estimator):
    X, y = sample(estimator)
    X = np.round(10 * X)
    y = np.round(10 * y) if is_regressor(estimator()) else y
    arrays = light(estimator).fit(X, y, sample_weight=np.full(len(X), 2.0))
    lists = light(estimator).fit(X.astype(int).tolist(), y.tolist(), sample_weight=[2] * len(X))
    np.testing.assert_array_equal(lists.predict(X.tolist()), arrays.predict(X))

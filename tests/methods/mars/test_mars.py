"""Multivariate adaptive regression splines against the textbook, and planted functions."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from families import inputs_of, targets_of
from kernlens import MARSRegressor
from kernlens._rows import CanonicalRows
from kernlens.methods.mars.exhaustive import best_subsets
from kernlens.methods.mars.forward import ForwardPass, friedman_endspan, friedman_minspan
from kernlens.methods.mars.learner import PRUNING_FOLDS, SplineLearner
from kernlens.methods.mars.plan import SplinePlan
from kernlens.methods.mars.pruning import prune
from reference import mars


def draw(kind, n=90, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * [1.0, 20.0, 0.3] + [0.0, 100.0, -4.0]
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    noise = 0.2 * rng.standard_normal(n)
    if kind == "additive":
        return X, np.abs(Z[:, 0]) + np.sin(2.0 * Z[:, 1]) + noise
    if kind == "ties":
        X[:, 0], X[:, 2] = np.round(Z[:, 0] * 2.0), (Z[:, 2] > 0.0).astype(float)
        return X, np.maximum(X[:, 0], 0.0) * (1.0 + X[:, 2]) + noise
    if kind == "targets":
        y = np.maximum(Z[:, 0], 0.0) * Z[:, 1] + noise
        return X, np.column_stack([y, 100.0 * Z[:, 2] ** 2 + 5.0 * y])
    return X, np.maximum(Z[:, 0] + 0.5, 0.0) * np.maximum(Z[:, 1], 0.0) + 0.5 * Z[:, 2] + noise


def terms_of(model):
    """Terms of a model as those of the oracle."""
    return [
        tuple(
            (int(c), float(t), int(s))
            for c, t, s in zip(inputs, knots, signs, strict=True)
            if c >= 0
        )
        for inputs, knots, signs in zip(model.term_inputs_, model.knots_, model.signs_, strict=True)
    ]


def for_textbook(model, options):
    """Options with columns as inputs of the model, in the words of the oracle."""
    place = {int(column): at for at, column in enumerate(model.inputs_)}
    options = dict(options)
    if "linear" in options:
        options["lines"] = [place[column] for column in options.pop("linear")]
    if "interactions" in options:
        given = options.pop("interactions")
        options["groups"] = [[place[column] for column in group] for group in given]
    return options


def weights_of(n, weighted):
    if not weighted:
        return None
    return np.random.default_rng(9).integers(1, 4, size=n).astype(float)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("additive", {}),
        ("additive", {"minspan": 1, "endspan": 0, "max_terms": 9}),
        ("product", {"degree": 2, "max_terms": 11}),
        ("product", {"degree": 3, "max_terms": 9, "minspan": 4, "endspan": 5}),
        ("targets", {"degree": 2, "max_terms": 9}),
        ("ties", {"degree": 2, "max_terms": 9, "minspan": 2, "endspan": 3}),
        ("product", {"degree": 2, "max_terms": 9, "linear": [1]}),
        ("product", {"degree": 3, "max_terms": 9, "interactions": [[1, 2], [0, 2]]}),
        ("targets", {"degree": 2, "max_terms": 9, "new_column_penalty": 3.0}),
    ],
)
def test_the_model_is_that_of_the_textbook(kind, options, weighted):
    X, y = draw(kind)
    weights = weights_of(len(X), weighted)
    model = MARSRegressor(n_directions=1, fast_k=None, **options).fit(X, y, weights)
    used = np.ones(len(X)) if weights is None else weights
    relative = used * used.sum() / (used @ used)
    inputs, targets = inputs_of(model, X), targets_of(model, y, weights)
    terms, coef, errors = mars.fit(
        inputs, targets, relative, model.alpha_, **for_textbook(model, options)
    )
    ours = terms_of(model)
    assert [[(c, s) for c, _, s in term] for term in ours] == [
        [(c, s) for c, _, s in term] for term in terms
    ]
    for own, other in zip(ours, terms, strict=True):
        np.testing.assert_allclose([f[1] for f in own], [f[1] for f in other], rtol=1e-12)
    np.testing.assert_allclose(model.coef_, coef.T, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(model.gcv_path_ * len(targets), errors, rtol=1e-8)
    assert len(ours) > 2


def test_a_weight_is_a_repetition():
    X, y = draw("product")
    weights = weights_of(len(X), True)
    times = weights.astype(int)
    weighted = MARSRegressor(degree=2, n_directions=1).fit(X, y, weights)
    repeated = MARSRegressor(degree=2, n_directions=1).fit(X.repeat(times, 0), y.repeat(times))
    np.testing.assert_array_equal(weighted.knots_, repeated.knots_)
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-12)


def test_pruning_follows_least_squares():
    """Each subset of the path is a least squares fit, and small cases are near the best subset."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 3))
    y = np.maximum(X[:, 0], 0.0)[None] + 0.3 * rng.standard_normal((2, 60))
    weights = rng.uniform(0.5, 2.0, size=60)
    terms = mars.forward(X, y, weights, max_terms=9, threshold=1e-5)
    roots = np.sqrt(weights)[:, None]
    B = mars.basis(X, terms)
    pruned = prune(roots * B, roots * y.T, weights.sum(), 2.0)
    for subset, error in zip(pruned.subsets, pruned.rss, strict=True):
        assert subset[0] == 0
        expected = mars.least_squares(B[:, subset], y, weights)[1]
        np.testing.assert_allclose(error, expected, rtol=1e-10)
    for subset, found in zip(pruned.subsets, pruned.coefs, strict=True):
        coef = mars.least_squares(B[:, subset], y, weights)[0]
        np.testing.assert_allclose(found, coef, rtol=1e-8, atol=1e-10)
    least = mars.best_of_all(X, y, weights, terms, 2.0)
    np.testing.assert_allclose(pruned.gcv[pruned.best()], least, rtol=1e-9)


def test_planted_hinges_are_recovered():
    X = np.random.default_rng(2).uniform(-1.0, 1.0, size=(200, 4))
    # Knots are at rows: two of those in the middle.
    t, u = np.sort(X[:, 0])[100], np.sort(X[:, 2])[80]
    y = 3.0 + 2.0 * np.maximum(X[:, 0] - t, 0.0) - 4.0 * np.maximum(u - X[:, 2], 0.0)
    exact = {"minspan": 1, "threshold": 1e-12, "n_directions": 2}
    model = MARSRegressor(**exact).fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-6)
    new = np.random.default_rng(3).uniform(-3.0, 3.0, size=(50, 4))
    truth = 3.0 + 2.0 * np.maximum(new[:, 0] - t, 0.0) - 4.0 * np.maximum(u - new[:, 2], 0.0)
    np.testing.assert_allclose(model.predict(new), truth, atol=1e-5)
    assert set(np.flatnonzero(model.gcv_importances_)) == {0, 2}


def test_a_planted_product_is_recovered():
    X = np.random.default_rng(4).uniform(-1.0, 1.0, size=(300, 3))
    t, u = np.sort(X[:, 0])[150], np.sort(X[:, 1])[120]
    y = np.maximum(X[:, 0] - t, 0.0) * (1.0 + 5.0 * np.maximum(X[:, 1] - u, 0.0))
    model = MARSRegressor(degree=2, minspan=1, endspan=5, threshold=1e-12, n_directions=2)
    model.fit(X, y)
    assert model.score(X, y) > 1.0 - 1e-8
    additive = MARSRegressor(degree=1, n_directions=2).fit(X, y)
    assert additive.score(X, y) < 0.9


def test_a_line_is_a_line():
    X = np.random.default_rng(5).standard_normal((80, 3))
    y = 4.0 + 2.0 * X[:, 1]
    model = MARSRegressor(n_directions=1).fit(X, y)
    np.testing.assert_array_equal(model.signs_, [[0], [0]])
    np.testing.assert_allclose(model.predict(10.0 * X), 4.0 + 20.0 * X[:, 1], atol=1e-5)
    np.testing.assert_allclose(np.abs(model.loadings_), [[0.0, 1.0, 0.0]], atol=1e-12)
    hinges = MARSRegressor(n_directions=1, linear=False).fit(X, y)
    assert (hinges.signs_[1:] != 0).all()


def test_a_line_begins_at_the_rows_of_its_parent():
    """Lowest of the rows where the parent is positive: far ones where it is zero do not count."""
    rng = np.random.default_rng(10)
    X = rng.uniform(-1.0, 1.0, size=(300, 2))
    X[X[:, 0] < 0.0, 1] = -50.0
    hinge = np.maximum(X[:, 0], 0.0)
    y = 5.0 * hinge + hinge * X[:, 1]
    model = MARSRegressor(degree=2, penalty=0.0, minspan=1, threshold=0.01).fit(X, y)
    (second,) = np.flatnonzero((model.signs_[:, 1] == 0) & (model.term_inputs_[:, 1] >= 0))
    assert model.inputs_[model.term_inputs_[second, 1]] == 1
    assert -1.0 <= model.mean_[1] + model.scale_[1] * model.knots_[second, 1] <= -0.9
    assert model.score(X, y) > 0.999


def test_lines_only():
    X, y = draw("product")
    model = MARSRegressor(linear=True, degree=2, n_directions=1).fit(X, y)
    assert (model.signs_ == 0).all()
    assert model.score(X, y) > 0.3


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_gradients_are_those_of_differences(degree):
    X, y = draw("targets")
    model = MARSRegressor(degree=degree, n_directions=1, minspan=1, endspan=3).fit(X, y)
    new = X + 0.01 * np.random.default_rng(6).standard_normal(X.shape) * X.std(axis=0)
    slopes = model.gradient(new)
    for column, size in enumerate(X.std(axis=0)):
        step = np.zeros(3)
        step[column] = 1e-6 * size
        expected = (model.predict(new + step) - model.predict(new - step)) / (2.0 * step[column])
        np.testing.assert_allclose(slopes[:, :, column], expected, rtol=1e-5, atol=1e-5)


def test_units_change_nothing_but_the_text():
    X, y = draw("product")
    model = MARSRegressor(degree=2, n_directions=1).fit(X, y)
    other = MARSRegressor(degree=2, n_directions=1).fit(1000.0 * X + 7.0, 0.01 * y - 3.0)
    np.testing.assert_array_equal(model.knots_, other.knots_)
    np.testing.assert_array_equal(model.gcv_path_, other.gcv_path_)
    np.testing.assert_allclose(
        other.predict(1000.0 * X + 7.0), 0.01 * model.predict(X) - 3.0, rtol=1e-10
    )
    without = MARSRegressor(degree=2, n_directions=1, standardize=False).fit(X, y)
    np.testing.assert_allclose(without.predict(X), model.predict(X), rtol=1e-5, atol=1e-6)


def test_the_formula_is_the_function():
    """What is printed, with more digits, predicts as the model does."""
    import pandas as pd

    X, y = draw("product")
    frame = pd.DataFrame(X, columns=["size", "age", "depth"])
    model = MARSRegressor(degree=2, n_directions=1).fit(frame, y)
    summary = model.summary()
    table = model.to_frame()
    assert list(table.columns) == ["term", "coef"]
    names = {name: frame[name].to_numpy() for name in frame}

    def h(values):
        return np.maximum(values, 0.0)

    written = sum(
        coef * eval(term, {"h": h, **names})
        for term, coef in zip(table["term"], table["coef"], strict=True)
    )
    np.testing.assert_allclose(written, model.predict(frame), atol=2e-2)
    text = str(summary)
    assert text.startswith("y = ")
    assert f"{len(table)} terms of {len(model.gcv_path_)}; R2 {model.rsq_:.3f}" in text
    first, *others = text.splitlines()[: len(table)]
    assert " ".join([first.removeprefix("y = "), *map(str.strip, others)]) == summary.formula()
    exact = eval(model.summary(17).formula(), {"h": h, **names})
    np.testing.assert_allclose(exact, model.predict(frame), rtol=1e-9)
    importances = dict(zip(frame, model.gcv_importances_, strict=True))
    ranked = text.splitlines()[-1].removeprefix("columns, most important first: ").split(", ")
    assert ranked == sorted(ranked, key=lambda name: -importances[name])
    assert set(ranked) == {name for name in frame if any(name in t for t in table["term"])}
    for digits in (0, 18, 2.5):
        with pytest.raises(ValueError, match=r"digits must be"):
            model.summary(digits)
    total = model.term_values(frame) @ summary.coef[0]
    np.testing.assert_allclose(total, model.predict(frame), rtol=1e-10)
    np.testing.assert_allclose(model.rsq_, model.score(frame, y), rtol=1e-6)


def test_the_queue_changes_little():
    X, y = draw("product", n=200)
    every = MARSRegressor(degree=2, fast_k=None, n_directions=1).fit(X, y)
    few = MARSRegressor(degree=2, fast_k=3, n_directions=1).fit(X, y)
    assert few.score(X, y) > every.score(X, y) - 0.05
    threads = MARSRegressor(degree=2, fast_k=None, n_directions=1, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(every.coef_, threads.coef_)


def test_parents_that_were_not_looked_at_for_long_have_their_turn():
    X, y = draw("product", n=200)
    plan = SplinePlan(21, 2, 3.0, 0.0, None, None, 3, (False,) * 3)
    forward = ForwardPass(plan, X, np.atleast_2d(y), np.ones(200))
    for _ in range(4):
        assert forward.step()
    able = np.flatnonzero(forward.terms.degrees < 2)
    assert len(able) > 3
    seen = set()
    for turn in range(2 * len(able)):
        parents = forward._parents()
        assert len(parents) == 3
        seen.update(parents)
        forward.n_steps += 1
        for parent in parents:
            # The first ones always promise most.
            forward._drops[parent], forward._looked[parent] = 1.0 / (1 + parent), forward.n_steps
        assert turn or seen < set(able.tolist())
    assert seen == set(able.tolist())


def test_spans_are_friedmans():
    """Figures of equations 43 and 45 by hand."""
    assert friedman_endspan(10, 1) == int(3.0 + np.log2(200.0)) == 10
    assert friedman_minspan(10, 100) == int(np.log2(1000.0 / -np.log(0.95)) / 2.5) == 5


def test_terms_and_the_penalty_are_limits():
    X, y = draw("additive")
    assert len(MARSRegressor(max_terms=5, n_directions=1).fit(X, y).knots_) <= 5
    constant = MARSRegressor(penalty=1000.0, n_directions=1).fit(X, y)
    np.testing.assert_allclose(constant.predict(X), y.mean(), rtol=1e-8)
    full = MARSRegressor(penalty=0.0, n_directions=1).fit(X, y)
    assert full.n_effective_parameters_ == len(full.knots_)
    assert full.rsq_ >= MARSRegressor(n_directions=1).fit(X, y).rsq_


@pytest.mark.parametrize("threshold", [0.001, 0.03, 0.06, 0.1])
def test_the_number_of_terms_is_that_of_held_out_rows(threshold):
    X, y = draw("targets")
    X, y = X / X.std(axis=0), y.T / y.std(axis=0)[:, None]
    weights = weights_of(len(X), True)
    rows = CanonicalRows(X, y, weights, np.arange(len(X)))
    # Some folds end with fewer terms than all rows do.
    plan = SplinePlan(9, 2, 3.0, threshold, None, None, None, ("auto",) * 3, pruning="cv")
    learned = SplineLearner(plan, rows).learn()
    options = {"degree": 2, "max_terms": 9, "penalty": 3.0, "threshold": threshold}
    folds, n_sizes = rows.folds(PRUNING_FOLDS), len(learned.gcv_path)
    expected = mars.held_out_errors(X, y, weights, folds, n_sizes, **options)
    np.testing.assert_allclose(learned.cv_path, expected, rtol=1e-7)
    assert len(learned.function.terms) == 1 + np.argmin(expected)
    model = MARSRegressor(pruning="cv").fit(X, y.T)
    assert len(model.knots_) == 1 + np.argmin(model.cv_path_)
    assert not hasattr(model.set_params(pruning="gcv").fit(X, y.T), "cv_path_")


def test_pruning_by_number_and_none():
    X, y = draw("additive")
    whole = MARSRegressor(pruning=None).fit(X, y)
    assert len(whole.knots_) == len(whole.gcv_path_)
    for most in range(1, 6):
        model = MARSRegressor(pruning=most).fit(X, y)
        assert len(model.knots_) == 1 + np.argmin(model.gcv_path_[:most])
        np.testing.assert_array_equal(model.gcv_path_, whole.gcv_path_)


@pytest.mark.parametrize("seed", range(6))
def test_exhaustive_pruning_finds_the_best_subset_of_every_size(seed):
    rng = np.random.default_rng(seed)
    # Terms that stand in for one another: taking them away one by one goes wrong.
    B = rng.standard_normal((30, 9))
    B[:, 5:] = 0.2 * B[:, 5:] + B[:, 1:5] @ rng.standard_normal((4, 4))
    B[:, 0] = 1.0
    Y = B[:, 1:4].sum(axis=1)[:, None] + rng.standard_normal((30, 2))
    found = best_subsets(B, Y, 30.0, 2.0)
    for size, (subset, error) in enumerate(zip(found.subsets, found.rss, strict=True), start=1):
        every = (np.array([0, *some]) for some in combinations(range(1, 9), size - 1))
        least = min((mars.least_squares(B[:, some], Y.T, np.ones(30))[1], *some) for some in every)
        np.testing.assert_allclose(error, least[0], rtol=1e-9)
        np.testing.assert_array_equal(subset, least[1:])
        coef = mars.least_squares(B[:, subset], Y.T, np.ones(30))[0]
        np.testing.assert_allclose(found.coefs[size - 1], coef, atol=1e-9)
        np.testing.assert_allclose(found.gcv[size - 1], mars.gcv(error, size, np.ones(30), 2.0))
    greedy = prune(B, Y, 30.0, 2.0)
    assert len(greedy.rss) == len(found.rss)
    assert (found.rss <= greedy.rss * (1.0 + 1e-9)).all()
    if seed == 0:
        assert found.rss.sum() < 0.999 * greedy.rss.sum()


def test_exhaustive_pruning_is_never_worse_and_has_a_limit():
    X, y = draw("product", n=150)
    model = MARSRegressor(degree=2, pruning="exhaustive").fit(X, y)
    assert model.gcv_ <= MARSRegressor(degree=2).fit(X, y).gcv_ * (1.0 + 1e-9)
    assert model.gcv_ == model.gcv_path_.min()
    with pytest.raises(ValueError, match=r"^pruning='exhaustive' looks at all subsets of at most"):
        MARSRegressor(pruning="exhaustive", max_terms=26).fit(X, y)
    # As it comes it is fitted, with as many terms as there may be.
    wide = np.random.default_rng(0).standard_normal((60, 20))
    assert len(MARSRegressor(pruning="exhaustive").fit(wide, wide[:, 0]).gcv_path_) <= 25


def test_rounding_is_not_written_down():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, (300, 2)), rng.uniform(size=300)])
    Y = np.column_stack([X[:, 0] * X[:, 1], X[:, 2]])
    text = str(MARSRegressor(degree=2).fit(X, Y).summary())
    first, second = text.split("y1 = ")
    assert "* x0 * x1" in first or "* x1 * x0" in first
    assert "x2" not in first
    assert "x0" not in second.splitlines()[1]
    same = str(MARSRegressor().fit(X, np.ones(300)).summary())
    assert same.startswith("y = 1\n1 term of 1; R2 1.000, by generalised cross-validation 1.000")


def test_noise_leaves_one_term_and_no_direction():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((300, 4))
    with pytest.warns(UserWarning, match="n_directions_ is 0"):
        model = MARSRegressor().fit(X, rng.standard_normal(300))
    assert "\n1 term of" in str(model.summary())
    assert model.transform(X).shape == (300, 0)


def test_importances_are_drops_along_the_pruning():
    """Columns of a planted sum, of which one explains far more, by hand from subsets."""
    rng = np.random.default_rng(8)
    X = rng.uniform(-1.0, 1.0, size=(200, 3))
    y = 5.0 * np.abs(X[:, 1]) + np.abs(X[:, 2]) + 0.01 * rng.standard_normal(200)
    model = MARSRegressor().fit(X, y)
    for shares in (model.gcv_importances_, model.rss_importances_):
        np.testing.assert_allclose(shares.sum(), 1.0)
        assert shares[1] > shares[2] > 10.0 * shares[0]
    assert model.n_subsets_[1] >= model.n_subsets_[2] > model.n_subsets_[0]
    assert model.n_subsets_[1] == len(model.knots_) - 1


def test_spans_beyond_all_rows():
    X, y = draw("additive")
    middle = MARSRegressor(minspan=10**30, linear=False).fit(X, y)
    same = MARSRegressor(minspan=len(X), linear=False).fit(X, y)
    np.testing.assert_array_equal(middle.predict(X), same.predict(X))
    # The one knot of a column is the middle of its rows.
    assert (np.abs(middle.knots_[1:]) < 0.5).all()
    lines = MARSRegressor(endspan=10**30).fit(X, y)
    assert (lines.signs_ == 0).all()


def test_columns_by_name_are_columns_by_number():
    import pandas as pd

    X, y = draw("product")
    frame = pd.DataFrame(X, columns=["size", "age", "depth"])
    frame.insert(0, "same", 1.0)
    named = {"linear": ["age"], "interactions": [{"size", "same"}, ("age", "depth")]}
    numbered = {"linear": np.array([2]), "interactions": [[1, 0], [2, 3]]}
    one = MARSRegressor(degree=2, **named).fit(frame, y)
    other = MARSRegressor(degree=2, **numbered).fit(frame.to_numpy(), y)
    np.testing.assert_array_equal(one.predict(frame), other.predict(frame.to_numpy()))
    assert "h(age" not in str(one.summary())
    for options in ({"linear": ["x"]}, {"interactions": [["x"]]}, {"linear": [4]}):
        with pytest.raises(ValueError, match=r"has the column"):
            MARSRegressor(**options).fit(frame, y)


def test_coefficients_that_overflow_are_refused():
    X = np.random.default_rng(7).uniform(size=(200, 3))
    tiny, huge = 1e-98 * X, 1e99 * X.prod(axis=1)
    model = MARSRegressor(degree=3, threshold=1e-6).fit(tiny, huge)
    assert model.score(tiny, huge) > 0.99
    assert (model.term_inputs_ >= 0).sum(axis=1).max() == 3
    with pytest.raises(ValueError, match=r"overflow in the units of X"):
        model.summary()

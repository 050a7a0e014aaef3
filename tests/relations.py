"""What must change nothing: relations between two fits, for every estimator.

    python tests/relations.py [NAME ...]

prints the largest difference of predictions, scores, coordinates or clusters, over three problems
and all light variants of `families.py`, in standard deviations of the first fit's own values. The
tests run the same relations on fewer settings.
"""

from __future__ import annotations

import pickle
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import skops.io
from sklearn.base import BaseEstimator, clone, is_classifier

from families import FINDERS, PUBLIC, UNSUPERVISED, decision, family_of, seeded

Values = np.ndarray


@dataclass(frozen=True)
class Problem:
    """Rows to fit, and rows to predict.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Numbers, labels for a classifier.
    weights : ndarray of shape (n_samples,) or None
    rows : ndarray of shape (n_rows, n_features)
    """

    X: Any
    y: Any
    weights: Any
    rows: Any

    def fit(self, model: BaseEstimator) -> BaseEstimator:
        """Fit a model, whatever it learns."""
        return model.fit(self.X, self.y, sample_weight=self.weights)


@dataclass(frozen=True)
class Relation:
    """Two ways to the same values.

    Attributes
    ----------
    name : str
    other : callable
        Model (a clone, not fitted), problem and a fitted model -> values of the other way.
    applies : callable
        Class of an estimator -> whether it has this relation.
    tolerance : float
        Largest difference allowed; 0 means that every bit is the same.
    every_variant : bool
        Whether it holds for all settings; units matter where columns are not standardised or
        directions are given.
    """

    name: str
    other: Callable[[BaseEstimator, Problem, BaseEstimator], Values]
    applies: Callable[[type], bool] = lambda estimator: True
    tolerance: float = 0.0
    every_variant: bool = True


def values_of(model: BaseEstimator, rows: Any) -> Values:
    """What a fitted model says of rows."""
    if hasattr(model, "score"):
        return np.asarray(decision(model, rows))
    method = model.transform if hasattr(model, "transform") else model.predict
    return np.asarray(method(rows), dtype=np.float64)


# The relations ------------------------------------------------------------------------------------


def _refit(model, problem, fitted):
    return values_of(problem.fit(problem.fit(model)), problem.rows)


def _clone(model, problem, fitted):
    return values_of(problem.fit(clone(fitted)), problem.rows)


def _pickle(model, problem, fitted):
    return values_of(pickle.loads(pickle.dumps(fitted)), problem.rows)


def _skops(model, problem, fitted):
    stored = skops.io.dumps(fitted)
    trusted = skops.io.get_untrusted_types(data=stored)
    return values_of(skops.io.loads(stored, trusted=trusted), problem.rows)


def _two_threads(model, problem, fitted):
    return values_of(problem.fit(model.set_params(n_jobs=2)), problem.rows)


def _row_order(model, problem, fitted):
    order = np.random.default_rng(5).permutation(len(problem.X))
    moved = replace(problem, X=problem.X[order], y=problem.y[order], weights=problem.weights[order])
    return values_of(moved.fit(model), problem.rows)


def _repetition(model, problem, fitted):
    times = problem.weights.astype(int)
    repeated = replace(
        problem,
        X=np.repeat(problem.X, times, axis=0),
        y=np.repeat(problem.y, times),
        weights=None,
    )
    return values_of(repeated.fit(model), problem.rows)


def _rows_of_no_weight(model, problem, fitted):
    more = replace(
        problem,
        X=np.vstack([problem.X, 100.0 + problem.X[:5]]),
        y=np.concatenate([problem.y, problem.y[:5]]),
        weights=np.concatenate([problem.weights, np.zeros(5)]),
    )
    return values_of(more.fit(model), problem.rows)


def _weights_times(factor):
    def other(model, problem, fitted):
        return values_of(
            replace(problem, weights=factor * problem.weights).fit(model), problem.rows
        )

    return other


def _constant_weights(model, problem, fitted):
    plain = replace(problem, weights=None).fit(clone(model))
    alike = replace(problem, weights=np.full(len(problem.X), 0.37)).fit(model)
    return _as_if(fitted, problem, values_of(alike, problem.rows), values_of(plain, problem.rows))


def _one_row(model, problem, fitted):
    single = [values_of(fitted, row[None]) for row in problem.rows]
    return np.concatenate(single)


def _by_columns(model, problem, fitted):
    return values_of(replace(problem, X=np.asfortranarray(problem.X)).fit(model), problem.rows)


def _with_gaps(model, problem, fitted):
    wide = np.zeros((2 * len(problem.X), 2 * problem.X.shape[1]))
    wide[::2, ::2] = problem.X
    return values_of(replace(problem, X=wide[::2, ::2]).fit(model), problem.rows)


def _lists(model, problem, fitted):
    listed = replace(problem, X=problem.X.tolist(), y=problem.y.tolist())
    return values_of(listed.fit(model), problem.rows.tolist())


def _single_precision(model, problem, fitted):
    coarse = problem.X.astype(np.float32)
    exact = replace(problem, X=coarse.astype(np.float64)).fit(clone(model))
    found = replace(problem, X=coarse).fit(model)
    rows = problem.rows.astype(np.float32)
    return _as_if(
        fitted, problem, values_of(found, rows), values_of(exact, rows.astype(np.float64))
    )


def _as_if(fitted, problem, found, expected):
    """The values of the fitted model, moved by the difference of two others."""
    values = values_of(fitted, problem.rows)
    if found.shape != expected.shape:
        # Of no shape that a fit has, for there is no difference.
        return np.empty(0)
    if values.shape == found.shape:
        return values + (found - expected)
    # Without weights, another number of directions may be found than with them, or none.
    return values + np.abs(found - expected).max(initial=0.0)


def _label_names(model, problem, fitted):
    names = np.array(["a label", "b label", "c label"])
    return values_of(replace(problem, y=names[problem.y]).fit(model), problem.rows)


def _column_of_targets(model, problem, fitted):
    found = values_of(replace(problem, y=problem.y[:, None]).fit(model), problem.rows)
    return found[:, 0] if hasattr(model, "score") else found


def _learns_classes(estimator: type) -> bool:
    return is_classifier(estimator())


def _of_columns(change):
    """The relation of changing the columns of all rows."""

    def other(model, problem, fitted):
        changed = replace(problem, X=change(problem.X), rows=change(problem.rows))
        return values_of(changed.fit(model), changed.rows)

    return other


def _affine_targets(model, problem, fitted):
    found = values_of(replace(problem, y=1000.0 * problem.y - 7.0).fit(model), problem.rows)
    # Directions have no units of targets.
    return (found + 7.0) / 1000.0 if hasattr(model, "score") else found


def _learns_numbers(estimator: type) -> bool:
    return estimator not in UNSUPERVISED and not _learns_classes(estimator)


def _in_double_precision(estimator: type) -> bool:
    """Whether values do not depend on the precision of rows; finders keep that of features."""
    return not estimator.__name__.startswith(("RKHS", "RandomKitchen")) and estimator not in FINDERS


def _has_threads(estimator: type) -> bool:
    return "n_jobs" in estimator().get_params()


#: Columns in other units and from other origins.
UNITS = np.array([1e-3, 36.5, 0.7, 1234.5])
SHIFTS = np.array([3.7, -0.2, 11.0, 5.1])

RELATIONS = (
    Relation("fitted again", _refit),
    Relation("clone", _clone),
    Relation("pickle", _pickle),
    Relation("skops", _skops),
    Relation("two threads", _two_threads, applies=_has_threads),
    Relation("row order", _row_order),
    Relation("repetition", _repetition),
    Relation("rows of weight 0", _rows_of_no_weight),
    Relation("weights x 1e-4", _weights_times(1e-4)),
    Relation("weights x 7e80", _weights_times(7e80)),
    Relation("constant weights", _constant_weights),
    # Products of a matrix round otherwise than those of its rows, and the square root of that is
    # seen where a kernel has a cusp, at a training row.
    Relation("row by row", _one_row, tolerance=1e-7),
    Relation("by columns", _by_columns),
    Relation("with gaps", _with_gaps),
    Relation("lists", _lists),
    Relation("float32", _single_precision, applies=_in_double_precision),
    # Features of new rows are computed in their precision, 1.2e-7, with four digits to spare.
    Relation(
        "in float32",
        _single_precision,
        applies=lambda estimator: not _in_double_precision(estimator),
        tolerance=3e-4,
    ),
    # What is written otherwise has other last digits, of which learners see none.
    Relation("units", _of_columns(lambda X: X * UNITS), tolerance=1e-8, every_variant=False),
    Relation("shifts", _of_columns(lambda X: X + SHIFTS), tolerance=1e-8, every_variant=False),
    Relation(
        "column order",
        _of_columns(lambda X: X[:, [2, 0, 3, 1]]),
        tolerance=1e-8,
        every_variant=False,
    ),
    Relation(
        "constant column",
        _of_columns(lambda X: np.insert(X, 1, 3.3, axis=1)),
        tolerance=1e-8,
        every_variant=False,
    ),
    Relation(
        "1000 y - 7",
        _affine_targets,
        applies=_learns_numbers,
        tolerance=1e-8,
        every_variant=False,
    ),
    Relation("label names", _label_names, applies=_learns_classes),
    Relation("y as a column", _column_of_targets, applies=_learns_numbers),
)


# Problems -----------------------------------------------------------------------------------------


def problems(estimator: type) -> Iterator[Problem]:
    """A smooth problem, one on a lattice with repeated rows, and one with heavy tails."""
    for k, draw in enumerate((_normal, _lattice, _heavy)):
        rng = np.random.default_rng(k)
        X = draw(rng, 48)
        y = np.abs(X[:, 0] - X[:, 1]) + 0.1 * rng.standard_normal(48)
        if _learns_classes(estimator):
            y = np.digitize(y, np.quantile(y, [0.3, 0.7] if k else [0.5]))
        yield Problem(X, y, rng.integers(0, 4, 48).astype(float), draw(rng, 12))


def _normal(rng, n):
    return rng.standard_normal((n, 4))


def _lattice(rng, n):
    return rng.integers(0, 3, (n, 4)).astype(float)


def _heavy(rng, n):
    return rng.standard_t(1.5, (n, 4)) * np.array([1.0, 1e-3, 1e4, 1.0])


def difference(relation: Relation, model: BaseEstimator, problem: Problem) -> float:
    """Largest difference between both ways, in standard deviations of the values."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = problem.fit(clone(model))
        expected = values_of(fitted, problem.rows)
        found = relation.other(clone(model), problem, fitted)
    if found.shape != expected.shape:
        return np.inf
    # A transformer that finds no direction gives no values.
    if not expected.size:
        return 0.0
    return float(np.abs(found - expected).max() / (expected.std() or 1.0))


def models(estimator: type, all_variants: bool) -> Iterator[BaseEstimator]:
    """Quick settings of an estimator."""
    if estimator in UNSUPERVISED:
        yield estimator(random_state=0, n_jobs=1)
        return
    family = family_of(estimator)
    variants = family.settings(estimator) if all_variants else iter(())
    for settings in (family.light, *variants):
        yield estimator(**{**seeded(estimator), **settings})


def main(names: list[str]) -> int:
    """Print the table; 1 if a relation does not hold."""
    asked = [one for one in PUBLIC if not names or one.__name__ in names]
    worst: dict[tuple[str, type], float] = {}
    broken = []
    for estimator in asked:
        for relation in RELATIONS:
            if not relation.applies(estimator):
                continue
            found = [
                difference(relation, model, problem)
                for model in models(estimator, all_variants=relation.every_variant)
                for problem in problems(estimator)
            ]
            worst[relation.name, estimator] = max(found)
            if not max(found) <= relation.tolerance:
                broken.append(f"{estimator.__name__}: {relation.name}, {max(found):.2g}")
    for number, estimator in enumerate(asked):
        print(f"{number:2d} {estimator.__name__}")
    print(" " * 18 + "".join(f"{number:>9d}" for number in range(len(asked))))
    for relation in RELATIONS:
        cells = [worst.get((relation.name, estimator)) for estimator in asked]
        texts = ["" if cell is None else f"{cell:.1e}" if cell else "0" for cell in cells]
        print(relation.name.ljust(18) + "".join(text.rjust(9) for text in texts))
    print("\n".join(broken) or "All relations hold.")
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

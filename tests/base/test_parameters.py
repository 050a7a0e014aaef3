"""Constructor arguments as data: one table for checks, documentation and bad values."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.model_selection import KFold

from families import PUBLIC, UNSUPERVISED, family_of
from kernlens._parameters import (
    Anything,
    Between,
    Choice,
    Count,
    Flag,
    Function,
    Jobs,
    Listed,
    NonNegative,
    Optional,
    Or,
    Parameter,
    Positive,
    Regularization,
    argument_names,
)
from kernlens.model_selection.auto.parameters import Folds

KINDS = [
    Flag(),
    Count(),
    Count(words=("auto",), other="None", least=2),
    Positive(),
    NonNegative(),
    Between(0.0, 2.0),
    Choice(("one", "two"), other="a matrix"),
    Regularization(smallest=1e-10),
    Jobs(),
    Function(),
    Optional(Positive()),
    Or((np.ndarray,), Choice(("auto",))),
    Listed(Regularization()),
    Listed(Count(words=("auto",))),
    Folds(),
]
GOOD = [
    (Flag(), False),
    (Flag(), np.True_),
    (Count(), 3),
    (Count(), np.int64(1)),
    (Count(words=("auto",)), "auto"),
    (Positive(), 1e-300),
    (NonNegative(), 0),
    (Between(0.0, 1.0), 0.5),
    (Choice(("one",)), "one"),
    (Regularization(), "auto"),
    (Regularization(), np.float32(2.0)),
    (Jobs(), None),
    (Jobs(), -1),
    (Function(), None),
    (Function(), print),
    (Optional(Positive()), None),
    (Or((np.ndarray,), Choice(("auto",))), np.ones(2)),
    (Listed(Count()), [1, 2]),
    (Listed(Regularization()), np.array([0.1, 0.2])),
    (Anything(), ...),
    (Folds(), None),
    (Folds(), np.int64(2)),
    (Folds(), KFold()),
    (Folds(), [([0], [1])]),
    (Folds(), iter(())),
]


@pytest.mark.parametrize("kind", KINDS, ids=repr)
def test_bad_values_are_refused_in_one_sentence_with_the_name(kind):
    bad = kind.bad_values()
    assert len(bad) >= 3
    name = "n_jobs" if kind == Jobs() else "alpha"
    for value in bad:
        with pytest.raises(ValueError, match=rf"^{name} must be [^\n]*\.$"):
            kind.check(name, value)


def named(thing):
    """A name that is the same in every process: some values print where they are in memory."""
    return type(thing).__name__ if " object at 0x" in repr(thing) else repr(thing)


@pytest.mark.parametrize(("kind", "value"), GOOD, ids=named)
def test_good_values_pass(kind, value):
    kind.check("alpha", value)


def test_an_instance_can_be_looked_at_further():
    def refuse(value):
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        Or((np.ndarray,), Choice(("auto",)), refuse).check("init", np.ones(2))


def arguments():
    for estimator in PUBLIC:
        for name in argument_names(estimator):
            yield pytest.param(estimator, name, id=f"{estimator.__name__}-{name}")


@pytest.mark.parametrize(("estimator", "name"), list(arguments()))
def test_every_argument_is_described_checked_and_searchable(estimator, name):
    parameter = estimator._parameters[name]
    assert isinstance(parameter, Parameter)
    assert parameter.default == inspect.signature(estimator).parameters[name].default
    # The default, and all that is worth trying, may be given.
    for value in (parameter.default, *parameter.search):
        parameter.kind.check(name, value)
    assert parameter.text.strip().endswith(".")
    assert parameter.documentation(name) in inspect.getdoc(estimator)


@pytest.mark.parametrize(("estimator", "name"), list(arguments()))
def test_bad_values_are_refused_before_any_work(estimator, name):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 4))
    y = np.arange(12) % 2 if is_classifier(estimator()) else X[:, 0]
    light = {} if estimator in UNSUPERVISED else family_of(estimator).light
    for value in estimator._parameters[name].kind.bad_values():
        model = estimator(**{**light, name: value})
        # A kernel of the wrong kind is named by its class.
        with pytest.raises(ValueError, match=rf"(?s)^({name}|{type(value).__name__})\b.*\.$"):
            model.fit(X, y)
        assert not hasattr(model, "n_features_in_")


def test_a_family_has_something_to_search():
    for estimator in PUBLIC:
        if estimator not in UNSUPERVISED:
            assert any(p.search for p in estimator._parameters.values()), estimator.__name__

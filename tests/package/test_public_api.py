"""The public names, their signatures and their documentation."""

from __future__ import annotations

import ast
import inspect
import re

import numpy as np
import pytest
from sklearn.base import is_classifier, is_regressor

import kernlens
from families import ESTIMATORS, FAMILIES, PUBLIC, family_of, known, light

every = pytest.mark.parametrize("estimator", ESTIMATORS)
every_public = pytest.mark.parametrize("estimator", PUBLIC)


def documented(text, section):
    """Names of the entries of a numpydoc section."""
    body = re.search(rf"^ *{section}\n *-+\n(.*?)(?=^ *\w+\n *-+$|\Z)", text, re.M | re.S)
    assert body, f"no section {section}"
    indent = len(body.group(1)) - len(body.group(1).lstrip(" "))
    lines = [line for line in body.group(1).splitlines() if line.strip()]
    heads = [line for line in lines if len(line) - len(line.lstrip()) == indent]
    return [name.strip() for head in heads for name in head.split(" : ")[0].split(",")]


def fitted(estimator, **options):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 3))
    y = np.abs(X[:, 0]) > 0.7 if is_classifier(estimator()) else np.abs(X[:, 0])
    if "max_iter" in estimator().get_params():
        options["max_iter"] = 2
    return light(estimator, **options).fit(X, y)


def test_names_are_there_and_sorted_by_ruff():
    assert sum(len(family.estimators) for family in FAMILIES) == len(ESTIMATORS)
    assert len(set(kernlens.__all__)) == len(kernlens.__all__)
    for name in kernlens.__all__:
        assert hasattr(kernlens, name)
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.?\w+)?", kernlens.__version__)


@every_public
def test_every_parameter_is_by_name_and_documented_in_order(estimator):
    parameters = inspect.signature(estimator).parameters.values()
    assert all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in parameters)
    assert all(p.default is not inspect.Parameter.empty for p in parameters)
    assert documented(estimator.__doc__, "Parameters") == [p.name for p in parameters]


@every_public
def test_documented_defaults_are_the_defaults(estimator):
    for name, parameter in inspect.signature(estimator).parameters.items():
        head = re.search(rf"^ +{name} : .*default=(.*)$", estimator.__doc__, re.M)
        assert head, f"{name} has no documented default"
        assert ast.literal_eval(head.group(1)) == parameter.default


@every
@pytest.mark.parametrize("alpha", ["auto", 0.02])
def test_fitted_attributes_are_the_documented_ones(estimator, alpha):
    options = known(estimator, alpha=alpha)
    model = fitted(estimator, **options)
    public = {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}
    promised = set(documented(estimator.__doc__, "Attributes"))
    assert public <= promised
    # Some are only there when asked for.
    optional = family_of(estimator).optional | {"feature_names_in_", "alpha_search_"}
    assert promised - public <= optional
    assert ("alpha_search_" in public) == (options.get("alpha") == "auto")


@every
def test_documentation_of_the_contract(estimator):
    promised = set(documented(estimator.__doc__, "Attributes"))
    assert {
        "components_",
        "component_importances_",
        "feature_importances_",
        "n_directions_",
        "objective_history_",
        "n_iter_",
        "status_",
    } <= promised
    for section in ("Notes", "References", "Examples"):
        assert documented(estimator.__doc__, section)
    methods = [name for name in dir(estimator) if callable(getattr(estimator, name))]
    assert {"fit", "predict", "transform"} <= set(methods)
    for method in methods:
        assert method.startswith("_") or getattr(estimator, method).__doc__


@every
def test_the_kind_of_every_estimator_is_in_its_name(estimator):
    assert is_regressor(estimator()) == estimator.__name__.endswith(("Regressor", "Ridge"))
    assert is_classifier(estimator()) == estimator.__name__.endswith("Classifier")


@every
def test_fitted_numbers_are_python_numbers(estimator):
    model = fitted(estimator)
    assert type(model.n_iter_) is int
    assert type(model.n_directions_) is int
    assert type(model.alpha_) is float
    assert type(model.objective_) is float
    assert type(model.status_) is str
    assert model.objective_history_.ndim == 1


@pytest.mark.parametrize(
    "family",
    # Ridge regression and splines have no classifier.
    [family for family in FAMILIES if not family.name.endswith(("Ridge", "MARS"))],
    ids=lambda family: family.name,
)
def test_classifier_and_regressor_share_their_parameters(family):
    one, other = family.estimators
    regressor, classifier = (one, other) if is_regressor(one()) else (other, one)
    assert {classifier.__name__, regressor.__name__} == {
        f"{family.name}Classifier",
        f"{family.name}Regressor",
    }
    theirs = inspect.signature(regressor).parameters
    ours = inspect.signature(classifier).parameters
    only = {name for variant in family.regressor_only for name in variant}
    shared = [name for name in ours if name not in family.classifier_only]
    assert [name for name in theirs if name not in only] == shared
    for name in shared:
        assert ours[name].default == theirs[name].default


@every
def test_a_fit_touches_no_global_random_state(estimator):
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    fitted(estimator)
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002


def is_only_declared(member):
    return getattr(member, "__isabstractmethod__", False)


@every_public
def test_no_declaration_of_a_mixin_hides_a_method(estimator):
    """Mixins declare what others give; the order of the bases must not put that first."""
    for name in dir(estimator):
        found = [vars(owner)[name] for owner in estimator.__mro__ if name in vars(owner)]
        assert not (found and is_only_declared(found[0])), name

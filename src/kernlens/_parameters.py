"""Constructor arguments as data: what may be given, what is meant, and what is worth trying.

A family lists its arguments once, in ``methods/<family>/parameters.py``. The list gives the checks
of a fit their sentences, the documentation of regressor and classifier its text, and the tests
their bad values.
"""

from __future__ import annotations

import inspect
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from kernlens._validation import (
    check_alpha,
    check_between,
    check_choice,
    check_class_weight,
    check_count,
    check_flag,
    check_most,
    check_n_jobs,
    check_non_negative,
    check_positive,
    check_sequence,
    check_size,
)

Class = TypeVar("Class", bound=type)

#: Stands in the docstring of a class where the text of its parameters goes.
PLACE = "{parameters}"

NOT_NUMBERS = (None, "many", True, np.nan, np.inf)


def _beyond(smallest: float, largest: float) -> tuple[float, ...]:
    """Numbers beyond bounds, if there are bounds."""
    small = (smallest / 2.0,) if smallest > 0.0 else ()
    return (*small, largest * 2.0) if largest < np.inf else small


class Kind(ABC):
    """The values that an argument may have."""

    @abstractmethod
    def check(self, name: str, value: Any) -> None:
        """Raise a ValueError of one sentence unless `value` is allowed."""

    @abstractmethod
    def bad_values(self) -> tuple[Any, ...]:
        """Values that are refused, for tests."""


@dataclass(frozen=True)
class Anything(Kind):
    """What another place checks, such as scikit-learn or a later step of the fit."""

    def check(self, name: str, value: Any) -> None:
        pass

    def bad_values(self) -> tuple[Any, ...]:
        return ()


@dataclass(frozen=True)
class Flag(Kind):
    """True or False."""

    def check(self, name: str, value: Any) -> None:
        check_flag(name, value)

    def bad_values(self) -> tuple[Any, ...]:
        return (None, 1, "yes")


@dataclass(frozen=True)
class AutoFlag(Kind):
    """True, False or "auto"."""

    def check(self, name: str, value: Any) -> None:
        if not (isinstance(value, str) and value == "auto"):
            check_flag(name, value, other="'auto'")

    def bad_values(self) -> tuple[Any, ...]:
        return (None, 1, "yes")


@dataclass(frozen=True)
class Automatic(Kind):
    """The word "auto", or another kind."""

    kind: Kind

    def check(self, name: str, value: Any) -> None:
        if not isinstance(value, str) or value != "auto":
            self.kind.check(name, value)

    def bad_values(self) -> tuple[Any, ...]:
        return ("best", *self.kind.bad_values())


@dataclass(frozen=True)
class Count(Kind):
    """An integer within bounds, or one of some words; `other` is for the sentence."""

    words: tuple[str, ...] = ()
    other: str | None = None
    least: int = 1
    most: int | None = None

    def check(self, name: str, value: Any) -> None:
        check_count(name, value, words=self.words, other=self.other, least=self.least)
        if self.most is not None:
            check_most(name, value, self.most)

    def bad_values(self) -> tuple[Any, ...]:
        more = () if self.most is None else (self.most + 1,)
        return (self.least - 1, -3, 2.5, *more, *NOT_NUMBERS)


@dataclass(frozen=True)
class Positive(Kind):
    """A positive finite number; `other` names what else is allowed, for the sentence."""

    other: str | None = None
    smallest: float = 0.0
    largest: float = np.inf

    def check(self, name: str, value: Any) -> None:
        check_positive(name, value, other=self.other)
        check_size(name, value, self.smallest, self.largest)

    def bad_values(self) -> tuple[Any, ...]:
        return (0.0, -1.0, *_beyond(self.smallest, self.largest), *NOT_NUMBERS)


@dataclass(frozen=True)
class NonNegative(Kind):
    """A finite number of at least 0."""

    largest: float = np.inf

    def check(self, name: str, value: Any) -> None:
        check_non_negative(name, value)
        check_size(name, value, 0.0, self.largest)

    def bad_values(self) -> tuple[Any, ...]:
        return (-1e-3, *_beyond(0.0, self.largest), *NOT_NUMBERS)


@dataclass(frozen=True)
class Between(Kind):
    """A number strictly between two others, or one of some words; `advice` ends the sentence."""

    low: float
    high: float
    advice: str = ""
    words: tuple[str, ...] = ()

    def check(self, name: str, value: Any) -> None:
        if isinstance(value, str) and value in self.words:
            return
        check_between(name, value, self.low, self.high, self.advice)

    def bad_values(self) -> tuple[Any, ...]:
        return (self.low, self.high, self.low - 1.0, self.high + 1.0, *NOT_NUMBERS)


@dataclass(frozen=True)
class Choice(Kind):
    """One of some words; `other` names what else is allowed, for the sentence."""

    words: tuple[str, ...]
    other: str | None = None

    def check(self, name: str, value: Any) -> None:
        check_choice(name, value, self.words, other=self.other)

    def bad_values(self) -> tuple[Any, ...]:
        return (None, 3, "", self.words[0].upper() + "?", [self.words[0]])


@dataclass(frozen=True)
class Regularization(Kind):
    """A positive finite number from `smallest` to `largest`, or one of some words."""

    words: tuple[str, ...] = ("auto",)
    smallest: float = 0.0
    largest: float = np.inf

    def check(self, name: str, value: Any) -> None:
        check_alpha(value, self.words, smallest=self.smallest, largest=self.largest)

    def bad_values(self) -> tuple[Any, ...]:
        return (0.0, -1.0, "best", *_beyond(self.smallest, self.largest), *NOT_NUMBERS)


@dataclass(frozen=True)
class Jobs(Kind):
    """A number of threads."""

    def check(self, name: str, value: Any) -> None:
        check_n_jobs(value)

    def bad_values(self) -> tuple[Any, ...]:
        return (0, 1.5, "all", True)


@dataclass(frozen=True)
class Function(Kind):
    """Something that can be called, or None."""

    def check(self, name: str, value: Any) -> None:
        if value is not None and (not callable(value) or isinstance(value, type)):
            raise ValueError(f"{name} must be a function or None, got {value!r}.")

    def bad_values(self) -> tuple[Any, ...]:
        return (0, "print", [print], dict)


@dataclass(frozen=True)
class Verbosity(Kind):
    """True or False, or how much is shown as an integer of at least 0."""

    def check(self, name: str, value: Any) -> None:
        if isinstance(value, bool | np.bool_):
            return
        if not isinstance(value, int | np.integer) or value < 0:
            raise ValueError(
                f"{name} must be True, False or an integer of at least 0, got {value!r}."
            )

    def bad_values(self) -> tuple[Any, ...]:
        return (None, -1, 0.5, "yes")


@dataclass(frozen=True)
class ClassWeight(Kind):
    """None, "balanced", or a dictionary from labels to weights."""

    def check(self, name: str, value: Any) -> None:
        check_class_weight(name, value)

    def bad_values(self) -> tuple[Any, ...]:
        return ("even", 3, True, [1.0, 2.0], {0: -1.0}, {0: np.nan, 1: 1.0}, {0: "balanced"})


@dataclass(frozen=True)
class Optional(Kind):
    """None, or another kind."""

    kind: Kind

    def check(self, name: str, value: Any) -> None:
        if value is not None:
            self.kind.check(name, value)

    def bad_values(self) -> tuple[Any, ...]:
        return tuple(value for value in self.kind.bad_values() if value is not None)


@dataclass(frozen=True)
class Or(Kind):
    """An instance of some types, or another kind; `further` checks the instance."""

    types: tuple[type, ...]
    kind: Kind
    further: Callable[[Any], None] | None = None

    def check(self, name: str, value: Any) -> None:
        # A class has all the methods of its instances, which is enough for a protocol.
        if isinstance(value, self.types) and not isinstance(value, type):
            if self.further is not None:
                self.further(value)
        else:
            self.kind.check(name, value)

    def bad_values(self) -> tuple[Any, ...]:
        values = tuple(v for v in self.kind.bad_values() if not isinstance(v, self.types))
        return (*values, self.types[0])


@dataclass(frozen=True)
class Listed(Kind):
    """One value of another kind, or a non-empty list of them to choose from."""

    kind: Kind

    def check(self, name: str, value: Any) -> None:
        for one in check_sequence(name, value):
            self.kind.check(name, one)

    def bad_values(self) -> tuple[Any, ...]:
        values = self.kind.bad_values()
        return (*values, [], [values[0]])


@dataclass(frozen=True)
class Truncation(Kind):
    """None, "auto" or a positive number."""

    number = Positive(other="'auto' or None")

    def check(self, name: str, value: Any) -> None:
        if value is not None and not (isinstance(value, str) and value == "auto"):
            self.number.check(name, value)

    def bad_values(self) -> tuple[Any, ...]:
        return tuple(value for value in self.number.bad_values() if value is not None)


@dataclass(frozen=True)
class Parameter:
    """One argument of a constructor.

    Attributes
    ----------
    kind : Kind
        What may be given.
    default : object
        Also in the signature; a test compares them.
    type : str
        What may be given, in words of the documentation.
    text : str
        What it means, in sentences.
    search : tuple
        Values worth trying beside the default when settings are searched.
    """

    kind: Kind
    default: Any
    type: str
    text: str
    search: tuple[Any, ...] = ()

    def documentation(self, name: str) -> str:
        """Entry of a numpydoc section."""
        default = f'"{self.default}"' if isinstance(self.default, str) else repr(self.default)
        text = textwrap.indent(textwrap.fill(" ".join(self.text.split()), 92), "    ")
        return f"{name} : {self.type}, default={default}\n{text}"


Parameters = Mapping[str, Parameter]


def documented(cls: Class) -> Class:
    """Put the text of its parameters, in the order of its constructor, into a class's docstring."""
    if cls.__doc__ is not None:  # python -OO has none
        entries = (cls._parameters[name].documentation(name) for name in argument_names(cls))  # type: ignore[attr-defined]
        text = textwrap.indent("\n".join(entries), "    ").lstrip()
        cls.__doc__ = cls.__doc__.replace(PLACE, text)
    return cls


def argument_names(cls: type) -> list[str]:
    """Names of the arguments of a constructor, in order."""
    return [name for name in inspect.signature(cls).parameters if name != "self"]


def check_parameters(estimator: Any) -> None:
    """Check every argument of a constructor by its kind, in the order of the signature."""
    parameters: Parameters = estimator._parameters
    for name in argument_names(type(estimator)):
        parameters[name].kind.check(name, getattr(estimator, name))


# What every estimator has, with the same meaning.
STANDARDIZE = Parameter(
    Flag(),
    True,
    "bool",
    "Use ``(x - mean) / std`` of every column; False only centres them.",
)
N_DIRECTIONS = Parameter(
    Count(words=("auto",)),
    "auto",
    '"auto" or int',
    """Directions kept in `components_` and by `transform`. ``"auto"`` keeps as many as predict
    held-out rows: directions are learned again on two of three folds, of the first 2000 rows at
    most; kernel ridge on the first k coordinates predicts the third fold; the smallest k is taken
    whose errors are not clearly above the best ones (a paired one-sided test of 5 %, or one
    standard error where a quarter of the error is at stake), or above them by less than 2 % of
    what is explained, and 0 if the constant is within two standard errors. Fewer than 15 rows keep
    those with a share of at least ``min(0.1, 1 / n_features)`` of the importance. Predictions do
    not depend on it.""",
)
LINEAR_PART = Parameter(
    AutoFlag(),
    "auto",
    '"auto" or bool',
    """Whether a linear function, by ridge regression, stands beside the kernel's, which then learns
    what it leaves of the targets. ``"auto"`` adds it where ridge regression predicts rows left out
    better, by a tenth of the error (or no worse by that, where it leaves less than 1 % of the
    variance), and so does the sum of both. Where that is not so, slopes of
    ridge regression go on beyond the range of the training rows, for half the width of that range,
    along columns that have a trend: a correlation of at least 0.5 with the target, and outer
    quarters of rows that follow the slope by five standard errors. Losses other than the squared
    one and missing targets have none. False is the paper's function.""",
)
TRUNCATE = Parameter(
    Truncation(),
    "auto",
    '"auto", float or None',
    """``"auto"`` keeps what the kernel predicts within the range of its training targets: of what a
    linear part leaves of them, if there is one. A number M keeps predictions within [-M, M], and
    goes with no linear part; None leaves predictions as they are. Held-out rows are scored the same
    way.""",
)
CLASS_WEIGHT = Parameter(
    ClassWeight(),
    None,
    'dict, "balanced" or None',
    """Weights of the classes, which multiply those of their rows. ``"balanced"`` gives every class
    the same weight in all. A dictionary has labels as in y, and classes that it does not name have
    the weight 1. Probabilities are then those of data with such shares of classes.""",
    search=("balanced",),
)
WARM_START = Parameter(Flag(), False, "bool", "Start from the previous fit.")
N_JOBS = Parameter(
    Jobs(),
    None,
    "int or None",
    """Threads; None and -1 use all cores, and one inside a worker of joblib, so that a parallel
    search does not start more threads than there are cores. Results do not depend on it.""",
)
RANDOM_STATE = Parameter(
    Anything(), None, "int, RandomState or None", "Seed of everything that is drawn."
)
VERBOSE = Parameter(
    Verbosity(),
    False,
    "bool or int",
    """Show a progress bar, or write to the log ``"kernlens"`` where there is no terminal.""",
)
CALLBACK = Parameter(
    Function(),
    None,
    "callable or None",
    """Called after every iteration with a :class:`~kernlens.FitProgress`: stage, iteration,
    objective, and the model so far if it is asked for. If it returns True the fit ends with the
    best state so far. It may be called by another thread, one call at a time.""",
)

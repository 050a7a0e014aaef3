"""Options that are objects: the paper's ways to give width and regularisation, and the descent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernlens._validation import (
    LARGEST_VALUE,
    SMALLEST_SPREAD,
    check_between,
    check_choice,
    check_count,
    check_positive,
    check_sequence,
    check_size,
)
from kernlens.features.weightings import CustomWeighting

#: Functions of a smaller correlation are linear to the last digit.
SMALLEST_CORRELATION = 1e-12


def check_correlation(name: str, value: Any) -> None:
    """Refuse what is neither "auto" nor one or several numbers in (0, 1), or nearly 0."""
    for one in check_sequence(name, value):
        if not (isinstance(one, str) and one == "auto"):
            check_between(name, one, 0.0, 1.0, "; or 'auto'")
            check_size(name, one, SMALLEST_CORRELATION, 1.0)


@dataclass(frozen=True, kw_only=True)
class PaperWidth:
    """How wide the kernel K of the weights is, in the quantities of the paper.

    One of the first three gives the width of a named instantiation; without any of them the
    correlation does.

    Attributes
    ----------
    gamma : float or None
        The width of K itself.
    theta : float or None
        For ``"sign"`` and ``"relu"``: the norm theta, in (0, 1), that equation (67) asks for.
    kappa : float or None
        For ``"exp_sign"`` and ``"exp_relu"``: kappa, above 1, that equation (68) asks for.
    sigma : float
        Standard deviation of the weights, from 1e-100 to 1e100. It matters for the thresholds of
        stumps, for `gamma`, and for an alpha in the units of the paper.
    correlation : "auto", float or list of float
        As the argument of the estimators.

    Examples
    --------
    >>> from kernlens import PaperWidth
    >>> PaperWidth(theta=0.3)
    PaperWidth(gamma=None, theta=0.3, kappa=None, sigma=1.0, correlation='auto')
    """

    gamma: float | None = None
    theta: float | None = None
    kappa: float | None = None
    sigma: float = 1.0
    correlation: Any = "auto"

    def __post_init__(self) -> None:
        if isinstance(self.correlation, np.ndarray):
            # Arrays have no equality; numbers do.
            object.__setattr__(self, "correlation", self.correlation.tolist())
        check_positive("sigma", self.sigma)
        check_size("sigma", self.sigma, SMALLEST_SPREAD, LARGEST_VALUE)
        check_correlation("correlation", self.correlation)
        given = self._given
        if len(given) > 1 or (given and self.correlations is not None):
            raise ValueError(
                "give one of correlation, gamma, theta and kappa, and leave the others at 'auto' "
                "and None."
            )
        for name in given:
            check_positive(name, getattr(self, name), other="None")
        if self.theta is not None:
            check_between("theta", self.theta, 0.0, 1.0, " (equation (67))")
        if self.kappa is not None:
            check_between("kappa", self.kappa, 1.0, np.inf, " (equation (68))")

    @classmethod
    def of(cls, correlation: Any) -> PaperWidth:
        """The width that an argument `correlation` stands for."""
        return correlation if isinstance(correlation, cls) else cls(correlation=correlation)

    @property
    def _given(self) -> list[str]:
        return [name for name in ("gamma", "theta", "kappa") if getattr(self, name) is not None]

    @property
    def by_formula(self) -> bool:
        """Whether the correlation follows from gamma, theta or kappa."""
        return bool(self._given)

    @property
    def correlations(self) -> tuple[float, ...] | None:
        """Correlations that were given, None for the choice of the estimator."""
        if isinstance(self.correlation, str):
            return None
        return tuple(float(one) for one in check_sequence("correlation", self.correlation))

    def check_for(self, instantiation: str | CustomWeighting) -> None:
        """Refuse a width that does not belong to the instantiation."""
        custom = isinstance(instantiation, CustomWeighting)
        if custom and self.correlations is not None:
            raise ValueError(
                "correlation is for named instantiations; a CustomWeighting has its own kernel."
            )
        if self._given and (custom or instantiation == "auto"):
            raise ValueError(
                f"{self._given[0]} belongs to one instantiation; name it, as in "
                "instantiation='relu', or use correlation."
            )
        exponential = isinstance(instantiation, str) and instantiation.startswith("exp_")
        if self.theta is not None and (exponential or instantiation == "stumps"):
            raise ValueError(
                "theta is for instantiation='sign' and 'relu'; use kappa for the exponential "
                "kernel, gamma or correlation for stumps."
            )
        if self.kappa is not None and not exponential:
            raise ValueError(
                "kappa is for instantiation='exp_sign' and 'exp_relu'; use theta, gamma or "
                "correlation."
            )
        if exponential and self.gamma is not None and not self.gamma > np.sqrt(0.5) * self.sigma:
            raise ValueError(
                "gamma must be above sigma / sqrt(2) for the exponential kernel, got "
                f"gamma={self.gamma!r} with sigma={self.sigma!r}."
            )


@dataclass(frozen=True)
class PaperAlpha:
    """The paper's lambda as it is, for standardised targets, and not relative to the features.

    Attributes
    ----------
    value : float or list of float
        Positive. Several are chosen from by errors on rows left out.

    Examples
    --------
    >>> from kernlens import PaperAlpha
    >>> PaperAlpha([1e-4, 1e-3])
    PaperAlpha(value=[0.0001, 0.001])
    """

    value: Any

    def __post_init__(self) -> None:
        if isinstance(self.value, np.ndarray):
            # Arrays have no equality; numbers do.
            object.__setattr__(self, "value", self.value.tolist())
        if isinstance(self.value, str):
            raise ValueError(
                "PaperAlpha needs a number or a list of numbers; for a choice by the estimator "
                f"set alpha='auto', got {self.value!r}."
            )
        for one in check_sequence("value", self.value):
            check_positive("value", one)


def alphas_of(alpha: Any) -> tuple[float, ...] | None:
    """Different values that an argument `alpha` lists, None for the grid of the solver."""
    value = alpha.value if isinstance(alpha, PaperAlpha) else alpha
    values = check_sequence("alpha", value)
    if isinstance(values[0], str):
        return None
    return tuple(dict.fromkeys(float(one) for one in values))


@dataclass(frozen=True)
class FunctionalGradient:
    """How stochastic functional gradient descent (Algorithm 3) goes.

    Attributes
    ----------
    batch_size : int
        b, rows of a batch, drawn with replacement.
    features_per_step : int
        c, fresh weights in every step (Section 5.1.1).
    max_norm : float, "auto" or None
        B, radius of the ball, in units of the implicit kernel without its constant; ``"auto"`` is
        the root of the mean square of y over lambda, which the best function stays within; None
        for no projection.
    step : {"half", "full"}
        eta_t = 1/(2 lambda t) or the paper's 1/(lambda t). The objective is 2 lambda-strongly
        convex, for which the first is the usual choice.

    Examples
    --------
    >>> from kernlens import FunctionalGradient
    >>> FunctionalGradient(batch_size=20)
    FunctionalGradient(batch_size=20, features_per_step=1, max_norm='auto', step='half')
    """

    batch_size: int = 100
    features_per_step: int = 1
    max_norm: float | str | None = "auto"
    step: str = "half"

    def __post_init__(self) -> None:
        check_count("batch_size", self.batch_size)
        check_count("features_per_step", self.features_per_step)
        check_choice("step", self.step, ("half", "full"))
        if self.max_norm is not None and self.max_norm != "auto":
            check_positive("max_norm", self.max_norm, other="None, 'auto'")

"""What the two RKHS weighting estimators share: instantiations, weight function, bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from kernlens._array import FloatArray
from kernlens._validation import (
    check_between,
    check_choice,
    check_count,
    check_positive,
    check_sequence,
)
from kernlens.features.weightings import CustomWeighting
from kernlens.methods.rkhs_weightings.bounds import descent_bound, gap_bound
from kernlens.methods.rkhs_weightings.estimator import EXACT_ROWS
from kernlens.methods.rkhs_weightings.instantiations import (
    INSTANTIATIONS,
    AnyInstantiation,
    CustomInstantiation,
    Instantiation,
    correlation_of,
)
from kernlens.methods.rkhs_weightings.learner import SOLVERS
from kernlens.methods.rkhs_weightings.plan import WeightingPlan
from kernlens.methods.rkhs_weightings.solvers.functional_gradient import FunctionalGradient
from kernlens.methods.rkhs_weightings.stream import StreamingRandomFeatures

#: What "auto" tries.
AUTO_INSTANTIATIONS = ("relu", "sign", "stumps")
AUTO_CORRELATIONS = (0.05, 0.2, 0.6, 0.95)
#: Stochastic gradients are of size kappa / theta, which grows like exp(n r): r is about 1/n.
DESCENT_INSTANTIATIONS = ("relu", "stumps")
DESCENT_RATES = (0.3, 1.0, 3.0)


class BaseRKHSWeighting(StreamingRandomFeatures):
    """Everything of RKHS weightings that does not depend on the kind of target."""

    _kitchen_sinks = False

    def _check_parameters(self) -> None:
        self._check_shared_parameters()
        if not isinstance(self.instantiation, CustomWeighting):
            check_choice(
                "instantiation",
                self.instantiation,
                ("auto", *INSTANTIATIONS),
                other="a CustomWeighting",
            )
        if not isinstance(self.solver, FunctionalGradient):
            check_choice("solver", self.solver, ("auto", *SOLVERS), other="a FunctionalGradient")
        else:
            check_descent(self.solver)
        check_choice("penalty", self.penalty, ("rkhs", "l2"))
        if self.penalty == "l2" and self._solver_name in ("lasso", "sfgd"):
            raise ValueError(
                "penalty='l2' is for solver='least_squares' and 'exact'; set penalty='rkhs'."
            )
        for correlation in check_sequence("correlation", self.correlation):
            if not (isinstance(correlation, str) and correlation == "auto"):
                check_between("correlation", correlation, 0.0, 1.0, "; or 'auto'")
                if isinstance(self.instantiation, CustomWeighting):
                    raise ValueError(
                        "correlation is for named instantiations; a CustomWeighting has its own "
                        "kernel."
                    )
        self._check_widths()

    def _check_widths(self) -> None:
        """At most one way to say how wide the kernel of the weights is."""
        given = [name for name in ("gamma", "theta", "kappa") if getattr(self, name) is not None]
        if not given:
            return
        if len(given) > 1 or not isinstance(self.correlation, str):
            raise ValueError(
                "give one of correlation, gamma, theta and kappa, and leave the others at 'auto' "
                "and None."
            )
        name = given[0]
        check_positive(name, getattr(self, name), other="None")
        if not isinstance(self.instantiation, str) or self.instantiation == "auto":
            raise ValueError(
                f"{name} belongs to one instantiation; name it, as in instantiation='relu', or "
                "use correlation."
            )
        exponential = self.instantiation.startswith("exp_")
        if name == "theta":
            check_between("theta", self.theta, 0.0, 1.0, " (equation (67))")
            if exponential or self.instantiation == "stumps":
                raise ValueError(
                    "theta is for instantiation='sign' and 'relu'; use kappa for the exponential "
                    "kernel, gamma or correlation for stumps."
                )
        if name == "kappa":
            if not exponential:
                raise ValueError(
                    "kappa is for instantiation='exp_sign' and 'exp_relu'; use theta, gamma or "
                    "correlation."
                )
            check_between("kappa", self.kappa, 1.0, np.inf, " (equation (68))")
        if name == "gamma" and exponential and not self.gamma > np.sqrt(0.5) * self.sigma:
            raise ValueError(
                "gamma must be above sigma / sqrt(2) for the exponential kernel, got "
                f"gamma={self.gamma!r} with sigma={self.sigma!r}."
            )

    @property
    def _solver_name(self) -> str:
        return "sfgd" if isinstance(self.solver, FunctionalGradient) else str(self.solver)

    def _plan(self, n_rows: int, n_inputs: int, seed: int) -> WeightingPlan:
        solver = self._solver_name
        if solver == "auto":
            solver = "exact" if n_rows <= EXACT_ROWS else "least_squares"
        descent = self.solver if isinstance(self.solver, FunctionalGradient) else None
        return WeightingPlan(
            candidates=self._candidates(n_inputs, seed),
            alphas=self._given_alphas,
            mixed=bool(self.mix_alphas),
            solver=solver,
            penalty=self.penalty,
            kitchen_sinks=False,
            paper_units=self.alpha_unit == "paper",
            intercept=bool(self.fit_intercept),
            n_weights=int(self.n_random_features),
            descent=descent or FunctionalGradient(),
            seed=seed,
        )

    def _candidates(self, n_inputs: int, seed: int) -> tuple[AnyInstantiation, ...]:
        sigma = float(self.sigma)
        if isinstance(self.instantiation, CustomWeighting):
            rng = np.random.default_rng([seed, 1])
            self.instantiation.check()
            return (CustomInstantiation(self.instantiation.prepared(n_inputs, rng)),)
        descends = self._solver_name == "sfgd"
        names: tuple[str, ...] = (self.instantiation,)
        if self.instantiation == "auto":
            names = DESCENT_INSTANTIATIONS if descends else AUTO_INSTANTIATIONS
        correlations: tuple[float, ...] = AUTO_CORRELATIONS
        if not isinstance(self.correlation, str):
            given = check_sequence("correlation", self.correlation)
            correlations = tuple(float(correlation) for correlation in given)
        elif any(value is not None for value in (self.gamma, self.theta, self.kappa)):
            found = correlation_of(
                self.instantiation, n_inputs, sigma, self.gamma, self.theta, self.kappa
            )
            # At the limits of gamma the correlation rounds to 0 or 1.
            correlations = (float(np.clip(found, 1e-12, 1.0 - 1e-9)),)
        elif descends:
            return tuple(
                Instantiation(name, n_inputs, _descent_correlation(name, n_inputs, rate), sigma)
                for name in names
                for rate in DESCENT_RATES
            )
        elif self.penalty == "l2" and self._solver_name == "exact":
            # The kernel of L2(p) does not depend on it.
            correlations = AUTO_CORRELATIONS[2:3]
        return tuple(
            Instantiation(name, n_inputs, r, sigma) for name in names for r in correlations
        )

    @property
    def _instantiation(self) -> AnyInstantiation:
        if self._custom is not None:
            return CustomInstantiation(self._custom)
        n_inputs = self._columns.n_inputs
        return Instantiation(self.instantiation_, n_inputs, self.correlation_, self._sigma)

    # The weight function

    def weight_function(self, W: ArrayLike, *, normalized: bool = False) -> FloatArray:
        """The learned weight function alpha(w), with f(x) = intercept + E_w[alpha(w) phi(w, x)].

        Parameters
        ----------
        W : array-like of shape (n_weights, n_coordinates)
            Weights as in `weights_`: for standardised columns that vary and the bias, in units of
            `sigma`; for stumps pairs (j, b) of the number of such a column, that of the bias being
            the last, and a threshold. The law of w is N(0, I), for stumps j is uniform and b is
            N(0, sigma^2).
        normalized : bool, default=False
            Leave out a constant factor that may overflow in many dimensions.

        Returns
        -------
        ndarray of shape (n_weights,) or (n_weights, n_targets)
            In units of the standardised targets, or of labels +1 and -1.
        """
        check_is_fitted(self)
        points = np.asarray(W, dtype=np.float64)
        n_coordinates = self._weighting().sample(1, np.random.default_rng(0)).shape[1]
        if points.ndim != 2 or points.shape[1] != n_coordinates:
            raise ValueError(f"W must have shape (n_weights, {n_coordinates}), got {points.shape}.")
        values, log_constant = self._weight_values(points)
        if not normalized:
            with np.errstate(over="ignore"):
                factor = np.exp(log_constant)
            values = np.where(values == 0.0, 0.0, values * factor)
        return values[0] if len(values) == 1 else np.ascontiguousarray(values.T)

    def _weight_values(self, W: FloatArray) -> tuple[FloatArray, float]:
        """alpha at weights up to a constant, (n_targets, n_weights), and the constant's logarithm.

        The constant, in which the factors of high dimensions are, does not depend on W.
        """
        weighting = self._weighting()
        log_constant = -0.5 * weighting.log_unit
        if hasattr(self, "coef_"):
            logarithms = weighting.expectation(self.weights_)[1]
            smallest = float(logarithms.min())
            own = self.coef_ * np.exp(smallest - logarithms)
            values: FloatArray = own @ weighting.gram(self.weights_, W)
            log_constant -= smallest
        elif self._penalty == "l2":
            return self.dual_coef_ @ weighting.base(W).evaluate(self.support_), 0.0
        else:
            features, log_factors = weighting.expectation(W)
            values = (self.dual_coef_ @ features.evaluate(self.support_)) * np.exp(log_factors)
        return values * np.exp(weighting.log_rescaling(W)), log_constant

    # Bounds

    def operator_constants(self) -> dict[str, float]:
        """theta, kappa and tau of equations (51), (50) and (56), in the paper's units.

        For rows no longer than the longest training row. theta is exact: the norm of the operator
        that takes the weight function to its predictions.

        Returns
        -------
        dict of str to float
            In many dimensions theta may underflow to 0 and kappa overflow to inf.
        """
        check_is_fitted(self)
        instantiation, radius = self._instantiation, self._seen.radius
        if not isinstance(instantiation, Instantiation):
            raise ValueError(
                "the constants of a CustomWeighting are not known; choose a named instantiation."
            )
        unit = instantiation.log_unit()
        factor = instantiation.sigma if instantiation.ramp else 1.0
        # Rows of length zero have constants of zero.
        with np.errstate(over="ignore", divide="ignore"):
            theta = np.exp(0.5 * (np.log(instantiation.theta_squared(radius)) + unit))
            kappa = np.exp(0.5 * (instantiation.log_kappa_squared(radius) + unit))
            tau = factor * np.sqrt(instantiation.tau_squared(radius))
        return {"theta": float(theta), "kappa": float(kappa), "tau": float(tau)}

    def generalization_bound(
        self, delta: float = 0.05, kind: str = "rkhs", form: str = "corrected"
    ) -> float | FloatArray:
        """Bound on the difference of the expected and the training mean squared error.

        Parameters
        ----------
        delta : float, default=0.05
            Probability that the bound fails, in (0, 1); not used by ``kind="sfgd"``.
        kind : {"rkhs", "l2", "sfgd"}, default="rkhs"
            By the norm of alpha in the RKHS (Theorem 6.2), in L2(p) (Theorem 6.5), or for
            ``solver="sfgd"`` the expected excess over the best function of that norm
            (Theorem 6.7).
        form : {"corrected", "clipped", "printed"}, default="corrected"
            Corrected; corrected for predictions kept within the range of the targets; or as
            printed in the paper, with its bounds on theta, which is not always a bound.

        Returns
        -------
        float, or ndarray of shape (n_targets,) for several targets or classes
            In squared units of y; for labels +1 and -1. The sizes of rows and targets are those of
            the training rows; standardisation is taken as fixed beforehand.
        """
        check_is_fitted(self)
        check_between("delta", delta, 0.0, 1.0)
        check_choice("kind", kind, ("rkhs", "l2", "sfgd"))
        check_choice("form", form, ("corrected", "clipped", "printed"))
        if self._custom is not None:
            raise ValueError(
                "the constants of a CustomWeighting are not known; choose a named instantiation."
            )
        if kind == "sfgd" and self.solver_ != "sfgd":
            raise ValueError("kind='sfgd' is for solver='sfgd'; choose 'rkhs' or 'l2'.")
        if kind == "sfgd" and form == "clipped":
            raise ValueError("form='clipped' is for kind='rkhs' and 'l2'.")
        # Rows of length zero have constants of zero.
        with np.errstate(over="ignore", divide="ignore"):
            values = np.array(
                [self._bound(target, delta, kind, form) for target in range(len(self.intercept_))]
            )
        values = values * np.square(self._target_scale)
        return float(values[0]) if len(values) == 1 else values

    def _bound(self, target: int, delta: float, kind: str, form: str) -> float:
        instantiation, seen = self._instantiation, self._seen
        assert isinstance(instantiation, Instantiation)
        log_norm = self._log_norm(target, "l2" if kind == "l2" else "rkhs")
        if kind == "sfgd":
            log_norm = float(np.log(max(self._largest_norms[target], np.finfo(float).tiny)))
        if kind == "l2":
            log_size = 0.5 * np.log(instantiation.tau_squared(seen.radius))
        elif form == "printed":
            log_size = 0.5 * instantiation.log_printed_theta_squared(seen.radius)
        else:
            log_size = 0.5 * np.log(instantiation.theta_squared(seen.radius))
        reach = float(np.exp(log_size + log_norm)) + abs(float(self.intercept_[target]))
        largest = float(max(-seen.low[target], seen.high[target]))
        if kind != "sfgd":
            return gap_bound(reach, largest, seen.total, delta, form)
        penalty = float(np.log(self.alpha_)) + self.log_alpha_unit_
        return descent_bound(
            reach,
            float(np.exp(log_norm)),
            float(np.exp(0.5 * instantiation.log_kappa_squared(seen.radius))),
            float(np.exp(penalty - instantiation.log_unit())),
            largest,
            seen.total,
            self.n_iter_,
            self._half_steps,
            float(np.exp(penalty)) if form == "printed" else None,
        )

    def _log_norm(self, target: int, kind: str) -> float:
        """Logarithm of the norm of alpha in the RKHS or in L2(p), in units of the kernel."""
        if kind == self._penalty:
            return float(self._log_norms[target])
        weighting = self._weighting()
        if hasattr(self, "coef_"):
            logarithms = weighting.expectation(self.weights_)[1]
            own, shift = self.coef_[target], float(logarithms.min())
            own = own * np.exp(shift - logarithms)
            if kind == "rkhs":
                square, extra = own @ weighting.gram(self.weights_, self.weights_) @ own, 0.0
            else:
                log_products = weighting.log_square_gram(self.weights_)
                extra = float(np.max(np.diagonal(log_products)))
                square = own @ np.exp(log_products - extra) @ own
            return _log_root(square) - shift + 0.5 * extra
        if kind == "rkhs":
            # A fit in L2(p) is in general not in the RKHS.
            return np.inf
        instantiation = self._instantiation
        assert isinstance(instantiation, Instantiation)
        composed = instantiation.square_kernel()
        if composed is None:
            return np.inf
        kernel, log_factor = composed
        dual = self.dual_coef_[target]
        return _log_root(dual @ kernel.matrix(self.support_, self.support_) @ dual) + (
            0.5 * log_factor
        )


def check_descent(rule: FunctionalGradient) -> None:
    """Refuse options of stochastic descent that are out of range."""
    check_count("batch_size", rule.batch_size)
    check_count("features_per_step", rule.features_per_step)
    check_choice("step", rule.step, ("half", "full"))
    if rule.max_norm is not None and rule.max_norm != "auto":
        check_positive("max_norm", rule.max_norm, other="None, 'auto'")


def _descent_correlation(name: str, n_inputs: int, rate: float) -> float:
    """A correlation for which stochastic gradients are not much larger than their mean."""
    return rate / (1.0 + rate) if name == "stumps" else rate / (rate + n_inputs)


def _log_root(square: Any) -> float:
    """Logarithm of a square root, -inf at zero."""
    return 0.5 * float(np.log(square)) if square > 0.0 else -np.inf

"""The weight function of a fitted RKHS weighting, the constants of its operator, and bounds."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from kernlens._array import FloatArray, IntArray
from kernlens._validation import check_between, check_choice
from kernlens.base.columns import Columns
from kernlens.methods.rkhs_weightings.bounds import descent_bound, gap_bound
from kernlens.methods.rkhs_weightings.estimator import SeenRows
from kernlens.methods.rkhs_weightings.function import WeightedFunction
from kernlens.methods.rkhs_weightings.instantiations import AnyInstantiation, Instantiation
from kernlens.methods.rkhs_weightings.solvers import SOLVERS


@dataclass(frozen=True)
class WeightSpace:
    """Where the weights of a fitted model live.

    Attributes
    ----------
    columns : ndarray of shape (n_varying,)
        Numbers of the columns of X that the first inputs come from, the `inputs_` of the model; the
        bias is the last input.
    directions : ndarray of shape (n_directions_, n_inputs)
        The learned directions as orthonormal vectors among the inputs, without a share of the bias;
        none if no column varies.
    sigma : float
        Standard deviation of the thresholds of stumps; weights of other instantiations are in units
        of it.
    stumps : bool
        Whether weights are pairs (j, b) of the number of an input and a threshold, and not vectors
        of inputs.
    """

    columns: IntArray
    directions: FloatArray
    sigma: float
    stumps: bool


class WeightFunctionMixin:
    """What a fitted RKHS weighting says of its weight function.

    It stands left of a base class with the fitted function, its instantiation and its columns.
    """

    _function: WeightedFunction
    _columns: Columns
    _seen: SeenRows
    _sigma: float
    _largest_norms: FloatArray
    _half_steps: bool
    _target_scale: FloatArray
    components_: FloatArray
    intercept_: FloatArray
    solver_: str
    alpha_: float
    log_alpha_unit_: float
    n_iter_: int

    @property
    @abstractmethod
    def _instantiation(self) -> AnyInstantiation:
        """The instantiation of the fitted function."""

    def weight_space(self) -> WeightSpace:
        """Where weights live: which columns they belong to, and the learned directions there.

        Returns
        -------
        WeightSpace
        """
        check_is_fitted(self)
        columns = self._columns
        directions: FloatArray = np.zeros((0, columns.n_inputs))
        if columns.n_varying:
            directions = columns.select(self.components_ * columns.scale)
        stumps = self._instantiation.additive
        return WeightSpace(columns.used, directions, self._sigma, stumps)

    def weight_function(self, W: ArrayLike, *, normalized: bool = False) -> FloatArray:
        """The learned weight function alpha(w), with f(x) = intercept + E_w[alpha(w) phi(w, x)].

        Parameters
        ----------
        W : array-like of shape (n_weights, n_coordinates)
            Weights as in `weights_`: for standardised columns as in `inputs_` and the bias, in
            units of sigma; for stumps pairs (j, b) of the position of a column in `inputs_`, that
            of the bias being the last, and a threshold. The law of w is N(0, I), for stumps j is
            uniform and b is N(0, sigma^2).
        normalized : bool, default=False
            Leave out a constant factor that may overflow in many dimensions.

        Returns
        -------
        ndarray of shape (n_weights,) or (n_weights, n_targets)
            In units of the standardised targets, or of labels +1 and -1.
        """
        check_is_fitted(self)
        points = np.asarray(W, dtype=np.float64)
        drawn = self._instantiation.weighting().sample(1, np.random.default_rng(0))
        n_coordinates = drawn.shape[1]
        if points.ndim != 2 or points.shape[1] != n_coordinates:
            raise ValueError(f"W must have shape (n_weights, {n_coordinates}), got {points.shape}.")
        values, log_constant = self._function.weight_values(points)
        if not normalized:
            with np.errstate(over="ignore"):
                factor = np.exp(log_constant)
            values = np.where(values == 0.0, 0.0, values * factor)
        return values[0] if len(values) == 1 else np.ascontiguousarray(values.T)

    def operator_constants(self) -> dict[str, float]:
        """theta, kappa and tau of equations (51), (50) and (56), in the paper's units.

        They are for rows no longer than the longest training row. theta is exact: the norm of the
        operator that takes the weight function to its predictions.

        Returns
        -------
        dict of str to float
            In many dimensions theta may underflow to 0 and kappa overflow to inf.
        """
        check_is_fitted(self)
        instantiation, radius = self._named_instantiation, self._seen.radius
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
            In squared units of y; for labels +1 and -1; infinite where there is no bound or its
            numbers overflow. The sizes of rows and targets are those of the training rows;
            standardisation is taken as fixed beforehand.
        """
        check_is_fitted(self)
        check_between("delta", delta, 0.0, 1.0)
        check_choice("kind", kind, ("rkhs", "l2", "sfgd"))
        check_choice("form", form, ("corrected", "clipped", "printed"))
        instantiation = self._named_instantiation
        if kind == "sfgd" and not SOLVERS[self.solver_].descends:
            raise ValueError("kind='sfgd' is for solver='sfgd'; choose 'rkhs' or 'l2'.")
        if kind == "sfgd" and form == "clipped":
            raise ValueError("form='clipped' is for kind='rkhs' and 'l2'.")
        # Rows of length zero have constants of zero, and what overflows is no bound at all.
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            bounds = [
                self._descent_bound(instantiation, target, form)
                if kind == "sfgd"
                else self._gap_bound(instantiation, target, delta, kind, form)
                for target in range(len(self.intercept_))
            ]
            values = np.array(bounds) * np.square(self._target_scale)
        values[np.isnan(values)] = np.inf
        return float(values[0]) if len(values) == 1 else values

    @property
    def _named_instantiation(self) -> Instantiation:
        """The instantiation, whose constants are known."""
        instantiation = self._instantiation
        if not isinstance(instantiation, Instantiation):
            raise ValueError(
                "the constants of a CustomWeighting are not known; choose a named instantiation."
            )
        return instantiation

    def _gap_bound(
        self, instantiation: Instantiation, target: int, delta: float, kind: str, form: str
    ) -> float:
        seen = self._seen
        if kind == "l2":
            log_size = 0.5 * np.log(instantiation.tau_squared(seen.radius))
        else:
            log_size = _log_theta(instantiation, seen.radius, form)
        reach = self._reach(target, log_size + self._function.log_norm(target, kind))
        return gap_bound(reach, self._largest_target(target), seen.total, delta, form)

    def _descent_bound(self, instantiation: Instantiation, target: int, form: str) -> float:
        seen = self._seen
        log_norm = float(np.log(max(self._largest_norms[target], np.finfo(float).tiny)))
        penalty = float(np.log(self.alpha_)) + self.log_alpha_unit_
        return descent_bound(
            self._reach(target, _log_theta(instantiation, seen.radius, form) + log_norm),
            float(np.exp(log_norm)),
            float(np.exp(0.5 * instantiation.log_kappa_squared(seen.radius))),
            float(np.exp(penalty - instantiation.log_unit())),
            self._largest_target(target),
            seen.total,
            self.n_iter_,
            self._half_steps,
            float(np.exp(penalty)) if form == "printed" else None,
        )

    def _reach(self, target: int, log_size: float) -> float:
        """Largest size of the function that the norm of its weight function allows."""
        return float(np.exp(log_size)) + abs(float(self.intercept_[target]))

    def _largest_target(self, target: int) -> float:
        return float(max(-self._seen.low[target], self._seen.high[target]))


def _log_theta(instantiation: Instantiation, radius: float, form: str) -> float:
    """Logarithm of theta, or of the paper's bound on it."""
    if form == "printed":
        return 0.5 * instantiation.log_printed_theta_squared(radius)
    return 0.5 * float(np.log(instantiation.theta_squared(radius)))

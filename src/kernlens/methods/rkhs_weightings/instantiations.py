"""The five instantiations of the paper by name, with their implicit kernels and their constants.

Table 2 of the paper; theta, kappa and tau are those of equations (50), (51) and (56), theta exact
and not only bounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from kernlens._array import FloatArray
from kernlens._validation import check_between, check_choice, check_positive
from kernlens.features.weightings import (
    PreparedWeighting,
    RidgeWeighting,
    StumpWeighting,
    Weighting,
)
from kernlens.kernels.implicit import ImplicitKernel, RampKernel, SignKernel, StumpKernel

INSTANTIATIONS = ("sign", "exp_sign", "relu", "exp_relu", "stumps")
BASES = ("sign", "relu", "stumps")
#: Ratios of the widths of p and K with a larger logarithm all have the correlation 1.
LARGEST_LOG_RATIO = 500.0


@dataclass(frozen=True)
class Instantiation:
    """A named instantiation for rows of a given length.

    Attributes
    ----------
    name : str
        One of `INSTANTIATIONS`.
    n_inputs : int
        Columns, with that of the bias.
    correlation : float
        r, in (0, 1).
    sigma : float
        Standard deviation of the weights. Nothing depends on it for signs, and for ramps the unit
        of the weights alone.
    """

    name: str
    n_inputs: int
    correlation: float
    sigma: float = 1.0

    @property
    def ramp(self) -> bool:
        """Whether the base predictor is max(0, <w, x>)."""
        return self.name in ("relu", "exp_relu")

    @property
    def exponential(self) -> bool:
        """Whether the kernel of the weights is the exponential one."""
        return self.name.startswith("exp_")

    @property
    def jumps(self) -> bool:
        """Whether base predictors are steps, which have no slope."""
        return not self.ramp

    @property
    def additive(self) -> bool:
        """Whether base predictors are functions of single inputs."""
        return self.name == "stumps"

    def weighting(self) -> Weighting:
        """Sampler, base predictors, features and Gram matrices."""
        if self.additive:
            return StumpWeighting(self.n_inputs, self.correlation, self.sigma)
        return RidgeWeighting(self.ramp, self.exponential, self.n_inputs, self.correlation)

    def kernel(self, penalty: str = "rkhs") -> ImplicitKernel:
        """The implicit kernel, without its constant.

        For ``penalty="l2"`` it is E_w[phi(w, x) phi(w, x')], whose function space has the norm of
        alpha in L2(p).
        """
        r = 1.0 if penalty == "l2" else self.correlation
        if self.additive:
            scale = self.sigma if penalty == "l2" else self.sigma / np.sqrt(1.0 + r)
            return StumpKernel(r, float(scale))
        return RampKernel(r) if self.ramp else SignKernel(r)

    def log_unit(self, penalty: str = "rkhs") -> float:
        """Logarithm of the paper's K_X over the kernel of :meth:`kernel`."""
        unit = 0.0 if penalty == "l2" else self.weighting().log_unit
        return unit + 2.0 * float(np.log(self.sigma)) if self.ramp else unit

    def square_kernel(self) -> tuple[ImplicitKernel, float] | None:
        """Kernel of the norm of alpha = sum_i c_i psi(x_i) in L2(p), and a logarithm of its factor.

        psi(x) = E_w[phi(w, x) K(w, .)] and E_w[psi(x)(w) psi(x')(w)] is an implicit kernel again,
        that of the composed kernel E_w[K(u, w) K(w, v)], of another correlation. The factor is
        relative to the square of the unit of :meth:`kernel`. None if the norm is infinite.
        """
        r = self.correlation
        if self.exponential:
            diagonal, across, constant = 1.0 - r * r, r * r, 0.0
        else:
            diagonal, across = 1.0 + r / (1.0 - r * r), r * r / (1.0 - r * r)
            constant = 0.5 * float(np.log1p(-r) - np.log1p(r))
        determinant = diagonal**2 - across**2
        if diagonal <= 0.0 or determinant <= 0.0:
            return None
        composed, variance = across / diagonal, diagonal / determinant
        n_integrals = 1 if self.additive else self.n_inputs
        log_factor = n_integrals * (constant - 0.5 * float(np.log(determinant)))
        log_factor -= 2.0 * self.weighting().log_unit
        if self.additive:
            log_factor -= 2.0 * float(np.log(self.n_inputs))
            return StumpKernel(composed, self.sigma * float(np.sqrt(variance))), log_factor
        if self.ramp:
            return RampKernel(composed), log_factor + float(np.log(variance))
        return SignKernel(composed), log_factor

    def theta_squared(self, radius: float) -> float:
        """sup_x K_X(x, x) over rows no longer than `radius`, over the unit."""
        r = self.correlation
        if self.additive:
            return 1.0
        if not self.ramp:
            return 2.0 / np.pi * float(np.arcsin(r))
        angular = np.sqrt(1.0 - r * r) + r * (np.pi - np.arccos(r))
        return radius**2 / (2.0 * np.pi) * float(angular)

    def log_printed_theta_squared(self, radius: float) -> float:
        """Logarithm of the square of the bound on theta in Table 2, over the unit.

        That of RWExpRelu is not a bound; it has the exponent (1 - n)/2 for -(n + 1)/2.
        """
        r, n = self.correlation, self.n_inputs
        if self.additive:
            return 0.0
        if self.exponential:
            # 1 - sigma^2 / (2 gamma^2) = 1 - r
            log_power = (1.0 - n if self.ramp else -n) * float(np.log1p(-r))
        else:
            # 1 + 2 sigma^2 / gamma^2 = (1 + r) / (1 - r)
            base = float(np.log1p(r) - np.log1p(-r))
            log_power = 0.5 * (1.0 - n if self.ramp else -n) * base
        if self.ramp:
            log_power += 2.0 * float(np.log(radius)) - float(np.log(2.0 * np.pi))
        return log_power - self.weighting().log_unit

    def log_kappa_squared(self, radius: float) -> float:
        """Logarithm of the square of kappa (50), over the unit; infinite if kappa is."""
        r, n = self.correlation, self.n_inputs
        logarithm = -self.weighting().log_unit
        if self.ramp:
            logarithm += 2.0 * float(np.log(radius)) - float(np.log(2.0))
        if self.exponential:
            if r >= 0.5:
                return np.inf
            # sigma^2 / gamma^2 = 2 r
            logarithm -= (0.5 * n + (1.0 if self.ramp else 0.0)) * float(np.log1p(-2.0 * r))
        return logarithm

    def tau_squared(self, radius: float) -> float:
        """sup_x E_w[phi(w, x)^2] (56), for sigma = 1."""
        return 0.5 * radius**2 if self.ramp else 1.0


@dataclass(frozen=True)
class SampledKernel:
    """Implicit kernel of a user's instantiation, by its nodes: phi(x, W) M phi(W, x')."""

    prepared: PreparedWeighting
    square: bool = False

    def matrix(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        """Kernel of the rows of X with those of Z, (n_x, n_z)."""
        return self._mixed(X) @ self._base(Z).T

    def diagonal(self, X: FloatArray) -> FloatArray:
        """Kernel of every row with itself, (n_x,)."""
        return np.sum(self._mixed(X) * self._base(X), axis=1)

    def gradient(self, X: FloatArray, Z: FloatArray, dual: FloatArray) -> FloatArray:
        """Gradients at X of ``sum_j dual_kj k(z_j, x)``, by differences."""
        features = self.prepared.base(self.prepared.nodes)
        return features.gradient(X, dual @ self._mixed(Z))

    def _base(self, X: FloatArray) -> FloatArray:
        return self.prepared.base(self.prepared.nodes).evaluate(X)

    def _mixed(self, X: FloatArray) -> FloatArray:
        shares, nodes = self.prepared.shares, self.prepared.nodes
        if self.square:
            return self._base(X) * shares
        return ((self._base(X) * shares) @ self.prepared.gram(nodes, nodes)) * shares


@dataclass(frozen=True)
class CustomInstantiation:
    """A user's instantiation, with the nodes of its expectations."""

    prepared: PreparedWeighting
    name: str = "custom"
    correlation: float = float("nan")
    sigma: float = 1.0
    jumps: ClassVar[bool] = False
    additive: ClassVar[bool] = False

    def log_unit(self, penalty: str = "rkhs") -> float:
        """Nothing is divided."""
        return 0.0

    def weighting(self) -> Weighting:
        """Sampler, base predictors, features and Gram matrices."""
        return self.prepared

    def kernel(self, penalty: str = "rkhs") -> ImplicitKernel:
        """The implicit kernel by quadrature."""
        return SampledKernel(self.prepared, square=penalty == "l2")


#: What a learner can be asked to use.
AnyInstantiation = Instantiation | CustomInstantiation


def correlation_of(
    name: str,
    n_inputs: int,
    sigma: float,
    gamma: float | None,
    theta: float | None,
    kappa: float | None,
) -> float:
    """The correlation r of a kernel of width gamma, or of the gamma that theta or kappa ask for.

    Equations (67) and (68): gamma^2 = 2 sigma^2 / (theta^(-4/n) - 1) for the Gaussian kernel, and
    sigma^2 / (1 - kappa^(-4/n)) for the exponential one. Returns a value outside (0, 1) if there is
    no such instantiation.
    """
    if theta is not None:
        # 2 sigma^2 / gamma^2 = theta^(-4/n) - 1
        ratio = 0.5 * float(np.expm1(min(-4.0 * np.log(theta) / n_inputs, LARGEST_LOG_RATIO)))
    elif kappa is not None:
        ratio = -float(np.expm1(-4.0 * np.log(kappa) / n_inputs))
    else:
        assert gamma is not None
        # Nothing larger changes the correlation, and its square is still a number.
        ratio = min(float(sigma) / float(gamma), 1e100) ** 2
    if name.startswith("exp_"):
        return 0.5 * ratio
    return ratio / (1.0 + ratio)


def implicit_kernel(
    X: ArrayLike,
    Y: ArrayLike | None = None,
    *,
    instantiation: str = "relu",
    correlation: float = 0.5,
    sigma: float = 1.0,
) -> FloatArray | float:
    """The kernel of an RKHS weighting with infinitely many features, for any kernel method.

    It is K_X of equation (63), in closed form, without its constant factor; with the exponential
    kernel it is the same. A scikit-learn kernel function: ``SVC(kernel=implicit_kernel)``, or
    ``functools.partial`` of it.

    The factor does not matter where the regularisation is relative to the kernel: for
    ``solver="exact"`` it is `alpha` times the mean diagonal of the matrix, centred if there is a
    constant. The paper's lambda is `alpha_` times the exponential of `log_alpha_unit_`.

    Parameters
    ----------
    X : array-like of shape (n_x, n_features) or (n_features,)
        Rows. They are used as they are: standardise them, and add a constant column for functions
        that are not homogeneous.
    Y : array-like of shape (n_y, n_features) or (n_features,), or None
        Other rows; None for X itself.
    instantiation : {"relu", "sign", "stumps", "exp_relu", "exp_sign"}, default="relu"
        Base predictor.
    correlation : float, default=0.5
        r, in (0, 1]; at 1 the kernel of random kitchen sinks.
    sigma : float, default=1.0
        Standard deviation of the thresholds of stumps.

    Returns
    -------
    ndarray of shape (n_x, n_y), or float for two single rows

    Examples
    --------
    >>> from functools import partial
    >>> from kernlens import implicit_kernel
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> kernel = partial(implicit_kernel, instantiation="stumps", correlation=0.8)
    >>> bool(SVC(kernel=kernel).fit(X - X.mean(axis=0), y).score(X - X.mean(axis=0), y) > 0.9)
    True
    """
    check_choice("instantiation", instantiation, INSTANTIATIONS)
    check_positive("sigma", sigma)
    if correlation != 1:
        check_between("correlation", correlation, 0.0, 1.0, ", or 1")
    rows = np.asarray(X, dtype=np.float64)
    others = rows if Y is None else np.asarray(Y, dtype=np.float64)
    if not (np.isfinite(rows).all() and np.isfinite(others).all()):
        raise ValueError("X and Y must be finite; they contain NaN or infinity.")
    matrices = [np.atleast_2d(part) for part in (rows, others)]
    if matrices[0].shape[1] != matrices[1].shape[1] or max(rows.ndim, others.ndim) > 2:
        raise ValueError(
            f"X and Y must have the same columns, got shapes {rows.shape} and {others.shape}."
        )
    penalty = "l2" if correlation == 1 else "rkhs"
    made = Instantiation(instantiation, matrices[0].shape[1], float(correlation), float(sigma))
    kernel = made.kernel(penalty).matrix(*matrices)
    return float(kernel[0, 0]) if rows.ndim == others.ndim == 1 else kernel

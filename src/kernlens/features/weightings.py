"""Instantiations of RKHS weightings: what is drawn, the base predictor, the kernel on the weights.

f(x) = E_{w ~ p}[alpha(w) phi(w, x)] with alpha = sum_t a_t K(w_t, .) has the features
E_w[K(w_t, w) phi(w, x)] (paper, Tables 2 and 3, with the corrections of the docstrings below).

Units. Here w is drawn with standard deviation 1: that of the paper, sigma, is a factor of the
function for ramps and nothing at all for signs. What matters is the correlation r of two weights
under the density proportional to K(u, w) p(u) p(w): r = sigma^2 / (sigma^2 + gamma^2) for the
Gaussian kernel and sigma^2 / (2 gamma^2) for the exponential one. Features are divided by the root
of the constant that makes this a density, so that their limit is the implicit kernel without it:
no dimension makes them vanish or explode. What is left of a prefactor is returned as a logarithm.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kernlens._array import FloatArray
from kernlens._geometry import squared_distances, squared_lengths
from kernlens._validation import check_count
from kernlens.features.profiles import Profile, Ramp, SmoothRamp, SmoothStep, Step
from kernlens.features.random_maps import FeatureMap, RidgeMap, StumpMap

#: Steps of the differences that give the gradient of a user's features, relative to unit columns.
DIFFERENCE_STEP = 1e-5


class Weighting(Protocol):
    """An instantiation (W, phi, K, p)."""

    def sample(self, n_weights: int, rng: np.random.Generator) -> FloatArray:
        """Draw weights from p, (n_weights, n_coordinates)."""
        ...

    def base(self, W: FloatArray) -> FeatureMap:
        """phi(w_t, .), the features of random kitchen sinks."""
        ...

    def expectation(self, W: FloatArray) -> tuple[FeatureMap, FloatArray]:
        """Maps and logarithms of factors of the features E_w[K(w_t, w) phi(w, .)] / sqrt(unit)."""
        ...

    def gram(self, W: FloatArray, U: FloatArray) -> FloatArray:
        """K(w, u), (n_w, n_u); for the exponential kernel in rescaled coefficients."""
        ...

    def log_square_gram(self, W: FloatArray) -> FloatArray:
        """Logarithm of E_w[K(w_i, w) K(w_j, w)] / unit, for the norm of alpha in L2(p)."""
        ...

    def log_rescaling(self, W: FloatArray) -> FloatArray:
        """Logarithms of K(w_t, .) over what the coefficients belong to, (n_weights,)."""
        ...

    @property
    def log_unit(self) -> float:
        """Logarithm of the constant that the implicit kernel is divided by, for sigma = 1."""
        ...


@dataclass(frozen=True)
class RidgeWeighting:
    """Functions of <w, x> with w ~ N(0, I): signs or ramps, Gaussian or exponential kernel.

    With z = s <u, x/|x|> the features are, up to the factor exp(log prefactor),

        sign   erf(z / sqrt 2)        (RWSign, RWExpSign)
        ramp   |x| psi(z)             (RWRelu, RWExpRelu), psi(z) = phi(z) + z Phi(z)

    with s = r / sqrt(1 - r) for the Gaussian kernel and s = r for the exponential one. Table 3 has
    sqrt(8 pi) for sqrt 8 in RWExpSign, and sigma^2 under the root and u for sigma^2 u/(2 gamma^2)
    in RWExpRelu; these are the corrected forms.

    The exponential kernel exp(<u, w> / (2 gamma^2)) is used with the coefficients rescaled by
    exp(-|w_t|^2 / (4 gamma^2)), which makes its Gram matrix a Gaussian one of diagonal 1.

    Attributes
    ----------
    ramp : bool
        Whether phi is max(0, <w, x>) and not sign(<w, x>).
    exponential : bool
        Whether K is the exponential kernel and not the Gaussian one.
    n_inputs : int
    correlation : float
        r, in (0, 1).
    """

    ramp: bool
    exponential: bool
    n_inputs: int
    correlation: float

    def sample(self, n_weights: int, rng: np.random.Generator) -> FloatArray:
        """Draw weights, (n_weights, n_inputs)."""
        return rng.standard_normal((n_weights, self.n_inputs))

    def base(self, W: FloatArray) -> RidgeMap:
        """phi(w_t, .)."""
        profile: Profile = Ramp() if self.ramp else Step()
        return RidgeMap(W, profile, int(self.ramp))

    def expectation(self, W: FloatArray) -> tuple[RidgeMap, FloatArray]:
        """Features and the logarithms of their factors, (n_weights,)."""
        r = self.correlation
        steepness = r if self.exponential else r / np.sqrt(1.0 - r)
        damping = 0.5 * r * (1.0 - r) if self.exponential else 0.5 * r
        log_factors = 0.25 * self.n_inputs * _log_gap(r) - damping * squared_lengths(W)
        if self.ramp:
            log_factors += 0.5 * _log_gap(r)
        profile: Profile = SmoothRamp() if self.ramp else SmoothStep()
        return RidgeMap(steepness * W, profile, int(self.ramp)), log_factors

    def gram(self, W: FloatArray, U: FloatArray) -> FloatArray:
        """exp(-rate |w - u|^2), (n_w, n_u)."""
        r = self.correlation
        rate = 0.5 * r if self.exponential else 0.5 * r / (1.0 - r)
        matrix: FloatArray = np.exp(-rate * squared_distances(W, U))
        return matrix

    def log_square_gram(self, W: FloatArray) -> FloatArray:
        """Logarithm of E_w[K(w_i, w) K(w_j, w)] / unit, (n_weights, n_weights)."""
        r, size = self.correlation, squared_lengths(W)
        between = squared_distances(W, W)
        middle = 0.5 * (size[:, None] + size) - 0.25 * between
        if self.exponential:
            exponent = 2.0 * r * r * middle - 0.5 * r * (size[:, None] + size)
        else:
            exponent = -0.25 * r / (1.0 - r) * between - r / (1.0 + r) * middle
            exponent += 0.5 * self.n_inputs * (np.log1p(-r) - np.log1p(r))
        logarithm: FloatArray = exponent - self.log_unit
        return logarithm

    def log_rescaling(self, W: FloatArray) -> FloatArray:
        """|w|^2 / (4 gamma^2) for the exponential kernel, else 0."""
        return 0.5 * self.correlation * self.exponential * squared_lengths(W)

    @property
    def log_unit(self) -> float:
        """log N for signs and log(N v) for ramps."""
        r = self.correlation
        if self.exponential:
            normalizer, variance = -0.5 * self.n_inputs * _log_gap(r), -_log_gap(r)
        else:
            normalizer = 0.5 * self.n_inputs * float(np.log1p(-r) - np.log1p(r))
            variance = -float(np.log1p(r))
        return normalizer + variance if self.ramp else normalizer


@dataclass(frozen=True)
class StumpWeighting:
    """Decision stumps sign(x_j - b), j uniform and b ~ N(0, sigma^2): RWStumps.

    Weights are rows (j, b). Features: ``erf((x_j - r b) / (sqrt 2 zeta))`` with
    ``zeta^2 = sigma^2 (1 - r)``.

    Attributes
    ----------
    n_inputs : int
    correlation : float
        r, in (0, 1), of two thresholds of the same column.
    sigma : float
        Standard deviation of the thresholds.
    """

    n_inputs: int
    correlation: float
    sigma: float = 1.0

    def sample(self, n_weights: int, rng: np.random.Generator) -> FloatArray:
        """Draw weights, (n_weights, 2)."""
        columns = rng.integers(self.n_inputs, size=n_weights)
        return np.column_stack([columns, self.sigma * rng.standard_normal(n_weights)])

    def base(self, W: FloatArray) -> StumpMap:
        """phi(w_t, .)."""
        return StumpMap(W[:, 0].astype(np.intp), W[:, 1], 1.0, Step(), self.n_inputs)

    def expectation(self, W: FloatArray) -> tuple[StumpMap, FloatArray]:
        """Features and the logarithms of their factors, (n_weights,)."""
        r = self.correlation
        width = self.sigma * float(np.sqrt(1.0 - r))
        log_factors = 0.25 * _log_gap(r) - 0.5 * np.log(self.n_inputs)
        log_factors = log_factors - 0.5 * r * np.square(W[:, 1] / self.sigma)
        columns = W[:, 0].astype(np.intp)
        return StumpMap(columns, r * W[:, 1], width, SmoothStep(), self.n_inputs), log_factors

    def gram(self, W: FloatArray, U: FloatArray) -> FloatArray:
        """Gaussian kernel of the thresholds where the columns agree, (n_w, n_u)."""
        r = self.correlation
        rate = 0.5 * r / (1.0 - r) / self.sigma**2
        matrix = np.exp(-rate * np.square(W[:, 1:] - U[:, 1]))
        return np.where(W[:, :1] == U[:, 0], matrix, 0.0)

    def log_square_gram(self, W: FloatArray) -> FloatArray:
        """Logarithm of E_w[K(w_i, w) K(w_j, w)] / unit, (n_weights, n_weights)."""
        r, b = self.correlation, W[:, 1] / self.sigma
        between, middle = np.square(b[:, None] - b), np.square(0.5 * (b[:, None] + b))
        exponent = -0.25 * r / (1.0 - r) * between - r / (1.0 + r) * middle
        exponent += 0.5 * (np.log1p(-r) - np.log1p(r)) - np.log(self.n_inputs) - self.log_unit
        return np.where(W[:, :1] == W[:, 0], exponent, -np.inf)

    def log_rescaling(self, W: FloatArray) -> FloatArray:
        """Nothing is rescaled."""
        return np.zeros(len(W))

    @property
    def log_unit(self) -> float:
        """log of (1/n) (1 + 2 sigma^2 / gamma^2)^(-1/2)."""
        r = self.correlation
        return 0.5 * float(np.log1p(-r) - np.log1p(r)) - float(np.log(self.n_inputs))


@dataclass(frozen=True)
class CustomWeighting:
    """An instantiation of one's own, its expectations by quadrature or by Monte Carlo.

    Attributes
    ----------
    base_predictor : callable
        ``base_predictor(X, W)`` returns phi(w_t, x_i), (n_samples, n_weights).
    kernel : callable
        ``kernel(W, U)`` returns K(w, u), (n_w, n_u), positive semi-definite.
    sampler : callable
        ``sampler(n_weights, n_inputs, rng)`` draws weights, (n_weights, n_coordinates), with a
        numpy Generator.
    n_nodes : int
        Draws of the Monte Carlo rule.
    nodes : ndarray of shape (n_nodes, n_coordinates) or None
        Nodes of a quadrature rule for p; by default drawn from it.
    node_weights : ndarray of shape (n_nodes,) or None
        Their weights; by default equal. The sum should be 1.

    Notes
    -----
    X has standardised columns and, if `bias` is not 0, the bias as its last one. A feature costs
    O(n_samples n_nodes n_weights).

    Examples
    --------
    Cosines of random frequencies, with a Gaussian kernel on these:

    >>> import numpy as np
    >>> from kernlens import RKHSWeightingRegressor
    >>> from kernlens.features.weightings import CustomWeighting
    >>> from sklearn.metrics.pairwise import rbf_kernel
    >>> cosines = CustomWeighting(
    ...     base_predictor=lambda X, W: np.cos(X @ W.T),
    ...     kernel=rbf_kernel,
    ...     sampler=lambda n, d, rng: rng.standard_normal((n, d)),
    ... )
    >>> X = np.random.default_rng(0).standard_normal((200, 2))
    >>> model = RKHSWeightingRegressor(instantiation=cosines, n_random_features=50, random_state=0)
    >>> bool(model.fit(X, np.cos(X[:, 0])).score(X, np.cos(X[:, 0])) > 0.9)
    True
    """

    base_predictor: Callable[[FloatArray, FloatArray], FloatArray]
    kernel: Callable[[FloatArray, FloatArray], FloatArray]
    sampler: Callable[[int, int, np.random.Generator], FloatArray]
    n_nodes: int = 2000
    nodes: FloatArray | None = None
    node_weights: FloatArray | None = None

    def check(self) -> None:
        """Refuse parts that cannot be called or counted."""
        for name in ("base_predictor", "kernel", "sampler"):
            if not callable(getattr(self, name)):
                raise ValueError(f"{name} of a CustomWeighting must be a function.")
        check_count("n_nodes", self.n_nodes)

    def prepared(self, n_inputs: int, rng: np.random.Generator) -> PreparedWeighting:
        """Draw the nodes, if they are not given, and try the functions on a few of them."""
        nodes = self.nodes
        if nodes is None:
            nodes = np.asarray(self.sampler(self.n_nodes, n_inputs, rng), dtype=np.float64)
        shares = self.node_weights
        if shares is None:
            shares = np.full(len(nodes), 1.0 / len(nodes))
        nodes, shares = np.asarray(nodes, dtype=np.float64), np.asarray(shares, dtype=np.float64)
        if nodes.ndim != 2 or shares.shape != (len(nodes),):
            raise ValueError(
                "nodes of a CustomWeighting, or what its sampler returns, must have shape "
                f"(n_nodes, n_coordinates) and node_weights (n_nodes,), got {nodes.shape} and "
                f"{shares.shape}."
            )
        few = nodes[:3]
        tried = {
            "base_predictor(X, W)": (self.base_predictor(np.ones((2, n_inputs)), few), 2),
            "kernel(W, U)": (self.kernel(nodes[:2], few), len(nodes[:2])),
        }
        for name, (values, n_rows) in tried.items():
            values = np.asarray(values)
            numbers = values.dtype.kind in "biuf" and np.isfinite(values).all()
            if values.shape != (n_rows, len(few)) or not numbers:
                raise ValueError(
                    f"{name} of a CustomWeighting must return finite numbers of shape "
                    f"({n_rows}, {len(few)}) for {n_rows} and {len(few)} rows, got shape "
                    f"{values.shape} of {values.dtype}."
                )
        return PreparedWeighting(self, n_inputs, nodes, shares)


@dataclass(frozen=True)
class PreparedWeighting:
    """A :class:`CustomWeighting` with its nodes."""

    rule: CustomWeighting
    n_inputs: int
    nodes: FloatArray
    shares: FloatArray

    def sample(self, n_weights: int, rng: np.random.Generator) -> FloatArray:
        """Draw weights from p."""
        return np.asarray(self.rule.sampler(n_weights, self.n_inputs, rng), dtype=np.float64)

    def base(self, W: FloatArray) -> DifferencedMap:
        """phi(w_t, .)."""
        return DifferencedMap(self.rule.base_predictor, W, np.eye(len(W)))

    def expectation(self, W: FloatArray) -> tuple[DifferencedMap, FloatArray]:
        """Features, and zeros for the logarithms of factors."""
        mixed = self.shares[:, None] * self.gram(self.nodes, W)
        return DifferencedMap(self.rule.base_predictor, self.nodes, mixed), np.zeros(len(W))

    def gram(self, W: FloatArray, U: FloatArray) -> FloatArray:
        """K(w, u), (n_w, n_u)."""
        return np.asarray(self.rule.kernel(W, U), dtype=np.float64)

    def log_square_gram(self, W: FloatArray) -> FloatArray:
        """Logarithm of E_w[K(w_i, w) K(w_j, w)]; only of a kernel that is nowhere negative."""
        K = self.gram(self.nodes, W)
        if np.any(K < 0.0):
            raise ValueError(
                "penalty='l2' needs a kernel without negative values; choose penalty='rkhs'."
            )
        with np.errstate(divide="ignore"):
            return np.log((K * self.shares[:, None]).T @ K)

    def log_rescaling(self, W: FloatArray) -> FloatArray:
        """Nothing is rescaled."""
        return np.zeros(len(W))

    @property
    def log_unit(self) -> float:
        """Nothing is divided."""
        return 0.0


@dataclass(frozen=True)
class DifferencedMap:
    """Mixtures ``phi(W, x) M`` of a user's base predictors, with gradients by differences."""

    base_predictor: Callable[[FloatArray, FloatArray], FloatArray]
    nodes: FloatArray
    mixture: FloatArray

    def take(self, kept: NDArray[np.integer]) -> DifferencedMap:
        """Some of the features."""
        return DifferencedMap(self.base_predictor, self.nodes, self.mixture[:, kept])

    def evaluate(self, X: FloatArray) -> FloatArray:
        """Features of rows, (n_samples, T)."""
        values = np.asarray(self.base_predictor(X, self.nodes), dtype=np.float64)
        return values @ self.mixture

    def gradient(self, X: FloatArray, coefficients: FloatArray) -> FloatArray:
        """Gradients in x of ``sum_t c_t feature_t(x)`` by central differences."""
        mixed = self.mixture @ coefficients.T
        gradients = np.empty((len(coefficients), *X.shape))
        for column in range(X.shape[1]):
            step = np.zeros(X.shape[1])
            step[column] = DIFFERENCE_STEP
            higher = self.base_predictor(X + step, self.nodes) @ mixed
            lower = self.base_predictor(X - step, self.nodes) @ mixed
            gradients[:, :, column] = (higher - lower).T / (2.0 * DIFFERENCE_STEP)
        return gradients


def _log_gap(r: float) -> float:
    """log(1 - r^2)."""
    return float(np.log1p(-r * r))

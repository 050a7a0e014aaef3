"""The portfolio: what is tried, in which order.

Every family has its own search of settings, so that a candidate is a way to look at a table rather
than a point of a grid. Recursive feature machines with other maps, kernels, columns and targets
make the best stacks on small real tables, and come first; the other families are other opinions,
asked where they are ahead. The first candidate of this library is finished whatever the time:
it is a quick one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegressionCV, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PowerTransformer, StandardScaler

from kernlens._array import FloatArray
from kernlens.methods.bkernn.classifier import BKerNNClassifier
from kernlens.methods.bkernn.regressor import BKerNNRegressor
from kernlens.methods.brownian_ridge.regressor import BrownianKernelRidge
from kernlens.methods.hkrr.classifier import HKRRClassifier
from kernlens.methods.hkrr.regressor import HKRRRegressor
from kernlens.methods.kernel_laplacian.classifier import KernelLaplacianClassifier
from kernlens.methods.kernel_laplacian.regressor import KernelLaplacianRegressor
from kernlens.methods.mars.regressor import MARSRegressor
from kernlens.methods.rfm.classifier import RFMClassifier
from kernlens.methods.rfm.regressor import RFMRegressor
from kernlens.methods.rkhs_weightings.classifier import RKHSWeightingClassifier
from kernlens.methods.rkhs_weightings.regressor import RKHSWeightingRegressor
from kernlens.model_selection.auto.transforms import ClippedColumns, LogTarget

#: Directions that fits in folds keep; a number given is not counted, which takes three more fits.
MOST_DIRECTIONS = 10
#: Skewness from which on a transformed target is tried.
SKEWED = 0.5
#: More rows than this make the candidates that do not grow with them too slow.
MANY_ROWS = 20_000


@dataclass(frozen=True)
class Candidate:
    """One way to predict.

    Attributes
    ----------
    name : str
        What the leaderboard calls it.
    make : callable
        Number of directions, seed -> estimator, not fitted.
    kind : {"family", "line", "trees"}
        A family of this library, or what it is compared with.
    many_rows : bool
        Whether it is tried beyond `MANY_ROWS` rows.
    cost : float
        Seconds of a fit over those of a recursive feature machine, about.
    wave : int
        Candidates of a wave compete with each other, the quick ones first; those of later waves go
        on only if their first look is better than all that was finished before.
    suits : callable
        Targets of a regression -> whether it is tried.
    plain : str
        Name of the same candidate without a transform of the target: only if its score is worse may
        this one be a member. Empty if there is no such transform.
    """

    name: str
    make: Callable[[int | str, int], Any]
    kind: str = "family"
    many_rows: bool = True
    cost: float = 1.0
    wave: int = 0
    suits: Callable[[FloatArray], bool] = lambda y: True
    plain: str = ""

    @property
    def ours(self) -> bool:
        """Whether it is a feature learner of this library."""
        return self.kind == "family"


def skewness(y: FloatArray) -> float:
    """The third standardised moment, 0 for a constant."""
    deviations = y - y.mean()
    spread = float(np.sqrt(np.mean(deviations**2)))
    return float(np.mean((deviations / spread) ** 3)) if spread > 0.0 else 0.0


def _family(
    name: str,
    estimator: type,
    cost: float,
    many_rows: bool = True,
    wave: int = 0,
    **settings: Any,
) -> Candidate:
    def make(n_directions: int | str, seed: int) -> Any:
        return estimator(**settings, n_directions=n_directions, random_state=seed)

    return Candidate(name, make, many_rows=many_rows, cost=cost, wave=wave)


def _of_transformed(name: str, transformer: Callable[[], Any], suits: Any) -> Candidate:
    def make(n_directions: int | str, seed: int) -> Any:
        machine = RFMRegressor(n_directions=n_directions, random_state=seed)
        return TransformedTargetRegressor(machine, transformer=transformer())

    return Candidate(name, make, many_rows=False, suits=suits, plain="RFM")


def _of_clipped(name: str, estimator: type) -> Candidate:
    def make(n_directions: int | str, seed: int) -> Any:
        machine = estimator(n_directions=n_directions, random_state=seed)
        return make_pipeline(ClippedColumns(), machine)

    return Candidate(name, make, many_rows=False)


def _ridge(n_directions: int | str, seed: int) -> Any:
    return make_pipeline(StandardScaler(), RidgeCV(np.logspace(-3, 3, 13)))


def _logistic(n_directions: int | str, seed: int) -> Any:
    search = LogisticRegressionCV(Cs=np.logspace(-3, 2, 6), cv=3, max_iter=1000)
    return make_pipeline(StandardScaler(), search)


def _mars(n_directions: int | str, seed: int) -> Any:
    return MARSRegressor(n_directions=n_directions)


LINE = "line"
TREES = "trees"
PRODUCT = "product_laplace"

REGRESSORS: tuple[Candidate, ...] = (
    _family("RFM, diagonal map with ranks", RFMRegressor, 0.4, metric="diag", ranks=True),
    Candidate("ridge regression", _ridge, LINE, cost=0.02),
    _family("RFM", RFMRegressor, 1.0),
    Candidate(
        "gradient boosting",
        lambda k, seed: HistGradientBoostingRegressor(random_state=seed),
        TREES,
        cost=0.2,
    ),
    _family("RFM, full map with ranks", RFMRegressor, 0.4, False, metric="full", ranks=True),
    _family("RFM, full map", RFMRegressor, 0.3, False, metric="full", ranks=False),
    _family("RFM, product kernel", RFMRegressor, 0.4, False, kernel=PRODUCT, ranks=False),
    _of_clipped("RFM of clipped columns", RFMRegressor),
    _of_transformed(
        "RFM of log y", LogTarget, lambda y: bool(y.min() > 0.0) and abs(skewness(y)) > SKEWED
    ),
    _of_transformed("RFM of Yeo-Johnson y", PowerTransformer, lambda y: abs(skewness(y)) > SKEWED),
    Candidate("MARS", _mars, cost=0.1, wave=1),
    _family("RKHS weighting", RKHSWeightingRegressor, 0.4, wave=1),
    _family("Brownian kernel ridge", BrownianKernelRidge, 0.1, wave=1),
    _family("kernel Laplacian", KernelLaplacianRegressor, 1.0, False, wave=1),
    _family("HKRR, Laplace kernel", HKRRRegressor, 5.0, wave=1, kernel="laplace"),
    _family("HKRR", HKRRRegressor, 5.0, wave=2),
    _family("BKerNN", BKerNNRegressor, 10.0, wave=2),
)

CLASSIFIERS: tuple[Candidate, ...] = (
    _family("RFM, diagonal map with ranks", RFMClassifier, 0.5, metric="diag", ranks=True),
    Candidate("logistic regression", _logistic, LINE, cost=0.2),
    _family("RFM", RFMClassifier, 1.0),
    Candidate(
        "gradient boosting",
        lambda k, seed: HistGradientBoostingClassifier(random_state=seed),
        TREES,
        cost=0.2,
    ),
    _family("RFM, full map with ranks", RFMClassifier, 0.5, False, metric="full", ranks=True),
    _family("RFM, full map", RFMClassifier, 0.5, False, metric="full", ranks=False),
    _family("RFM, product kernel", RFMClassifier, 0.5, False, kernel=PRODUCT, ranks=False),
    _of_clipped("RFM of clipped columns", RFMClassifier),
    _family("RKHS weighting", RKHSWeightingClassifier, 0.5, wave=1),
    _family("kernel Laplacian", KernelLaplacianClassifier, 0.7, False, wave=1),
    _family("HKRR", HKRRClassifier, 3.0, wave=1),
    _family("BKerNN", BKerNNClassifier, 5.0, wave=2),
)


def portfolio(
    candidates: Sequence[Candidate], y: FloatArray | None, n_rows: int
) -> list[Candidate]:
    """The candidates that suit the targets (None for classes) and the number of rows."""
    return [
        one
        for one in candidates
        if (y is None or one.suits(y)) and (one.many_rows or n_rows <= MANY_ROWS)
    ]

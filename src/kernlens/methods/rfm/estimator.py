"""What the regressor and the classifier share: from parameters to a plan, and fitted attributes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from kernlens._reports import Listener
from kernlens._validation import check_sequence
from kernlens.base.fit_data import FitData, Memory, Stage
from kernlens.base.fitting import FittingMixin
from kernlens.kernels.radial import make_radial_kernel
from kernlens.linalg.kernel_blocks import BLOCK_ENTRIES, HELD_ENTRIES
from kernlens.methods.rfm.forms import Form, ProductForm, RadialForm
from kernlens.methods.rfm.function import FeatureMachineFunction
from kernlens.methods.rfm.kernel import MixedKernel, Term
from kernlens.methods.rfm.learner import MachineLearner
from kernlens.methods.rfm.machine import Machine
from kernlens.methods.rfm.parameters import PRODUCT
from kernlens.methods.rfm.plan import ALPHAS, WIDTHS, LearnedMachine, MachinePlan
from kernlens.methods.rfm.ranks import Ranks

#: Rows up to which a fit is exact, by squares and by the loss of classes.
EXACT_ROWS = 3000
EXACT_ROWS_OF_CLASSES = 1000
#: Beyond, as many centres as keep the cost n * centres^2 near this, within bounds.
CENTER_WORK = 1.0e11
CENTER_BOUNDS = (500, 2000)
CLASS_WORK = 2.0e10
CLASS_BOUNDS = (300, 1000)
#: Matrices of all rows that a fit holds at once.
EXACT_MATRICES = 7


class BaseRFM(FittingMixin):
    """Everything of a recursive feature machine that does not depend on the kind of target."""

    _learns_from_blocks = True

    def __init__(
        self,
        *,
        alpha: Any = "auto",
        width: Any = "auto",
        n_updates: int | str = "auto",
        kernel: Any = "laplace",
        metric: str = "auto",
        ranks: bool | str = "auto",
        centers: int | str = "auto",
        n_directions: int | str = "auto",
        standardize: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int | bool = False,
        callback: Listener | None = None,
    ) -> None:
        self.alpha = alpha
        self.width = width
        self.n_updates = n_updates
        self.kernel = kernel
        self.metric = metric
        self.ranks = ranks
        self.centers = centers
        self.n_directions = n_directions
        self.standardize = standardize
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self._is_product and self.metric == "full":
            raise ValueError(
                f"kernel='{PRODUCT}' is a product along the columns; give metric='diag' or 'auto'."
            )

    # From parameters to a learner

    def _plan(self, data: FitData) -> MachinePlan:
        n_inputs = data.rows.X.shape[1]
        # Nothing is drawn, but a seed that is none is refused all the same.
        check_random_state(self.random_state)
        return MachinePlan(
            machines=self._machines(n_inputs),
            alphas=_choices("alpha", self.alpha, ALPHAS),
            widths=_choices("width", self.width, WIDTHS),
            n_updates=None if self.n_updates == "auto" else int(self.n_updates),
            n_centers=self._n_centers(data),
            bounds=data.targets.inner_bounds,
        )

    @property
    def _is_product(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == PRODUCT

    def _machines(self, n_inputs: int) -> tuple[Machine, ...]:
        """The machines that are compared and mixed."""
        form: Form = (
            ProductForm() if self._is_product else RadialForm(make_radial_kernel(self.kernel))
        )
        if self._is_product or n_inputs == 1 or self.metric == "diag":
            kinds = [(form, False)]
        elif self.metric == "full":
            kinds = [(form, True)]
        else:
            kinds = [(form, True), (form, False)]
        if self.metric == "auto" and isinstance(self.kernel, str) and self.kernel == "laplace":
            kinds.append((ProductForm(), False))
        automatic = isinstance(self.ranks, str)
        if automatic and len(kinds) > 1:
            # Diagonal maps of radial kernels gain most by ranks, and more machines gain nothing.
            several = [(one, full, isinstance(one, RadialForm) and not full) for one, full in kinds]
        elif automatic:
            several = [(*kinds[0], False), (*kinds[0], True)]
        else:
            several = [(one, full, bool(self.ranks)) for one, full in kinds]
        return tuple(Machine(_name(*one), *one) for one in several)

    def _n_centers(self, data: FitData) -> int | None:
        """Number of centres; None if all rows are, or all of a sample."""
        n_rows, quadratic = data.n_rows, data.loss.quadratic
        most = EXACT_ROWS if quadratic else EXACT_ROWS_OF_CLASSES
        if self.centers == "all" or (self.centers == "auto" and n_rows <= most):
            n_centers = n_rows
        elif self.centers == "auto":
            work, bounds = (CENTER_WORK, CENTER_BOUNDS) if quadratic else (CLASS_WORK, CLASS_BOUNDS)
            n_centers = int(np.clip(np.sqrt(work / n_rows), *bounds))
        else:
            n_centers = int(self.centers)
        return None if n_centers >= len(data.rows.X) else n_centers

    def _memory(self, data: FitData, plan: MachinePlan) -> Memory:
        n_rows, n_inputs = data.rows.X.shape
        n_bytes = fit_bytes(n_rows, n_inputs, plan.n_centers, held=not data.loss.quadratic)
        return Memory(n_bytes, "lower centers, or fit on fewer rows")

    def _learner(self, data: FitData, plan: MachinePlan, stage: Stage | None) -> MachineLearner:
        return MachineLearner(plan, data.rows, data.loss, data.strata, self.n_jobs, stage)

    # The fitted model

    def _store(self, data: FitData, plan: MachinePlan, learned: LearnedMachine) -> None:
        ingredients = learned.recipe.ingredients[: len(self.maps_)]
        self.machines_ = [one.machine.name for one in ingredients]
        self.widths_ = np.array([one.width for one in ingredients])
        self.n_updates_ = np.array([len(one.updates) for one in ingredients])
        self.kernel_ = self.kernel
        self.bounds_ = data.targets.bounds

    @property
    def _function(self) -> FeatureMachineFunction:
        ranks = None if self._rank_knots is None else Ranks(self._rank_knots, self._rank_values)
        terms = []
        for name, matrix, weight in zip(
            self.machines_, self.maps_, self.machine_weights_, strict=True
        ):
            words = name.split()
            radial = words[0] != PRODUCT
            form: Form = RadialForm(make_radial_kernel(self.kernel_)) if radial else ProductForm()
            terms.append(Term(form, matrix, "ranks" in words, float(weight)))
        kernel = MixedKernel(tuple(terms), ranks)
        return FeatureMachineFunction(
            kernel, self.centers_, self.dual_coef_, self.intercept_, self.n_jobs
        )


def fit_bytes(n_rows: int, n_inputs: int, n_centers: int | None, *, held: bool) -> float:
    """Memory of a fit, the formula of the docstrings; `held` if the features are kept whole."""
    if n_centers is None:
        entries = 6.0 * n_rows * n_inputs + EXACT_MATRICES * float(n_rows) ** 2
    else:
        entries = 6.0 * n_rows * n_inputs + 14.0 * n_centers**2
        entries += min(2.0 * n_rows * n_centers, 2.0 * HELD_ENTRIES)
    if held:
        entries += 3.0 * n_rows * (n_centers or n_rows)
    return 8.0 * (entries + 20.0 * BLOCK_ENTRIES)


def _name(form: Form, full: bool, ranked: bool) -> str:
    """What users read, and what the function is made of again."""
    metric = PRODUCT if isinstance(form, ProductForm) else "full" if full else "diag"
    return f"{metric} ranks" if ranked else metric


def _choices(name: str, value: Any, automatic: tuple[float, ...]) -> tuple[float, ...]:
    """The values to choose from, each once."""
    values = check_sequence(name, value)
    if any(isinstance(one, str) for one in values):
        return automatic
    return tuple(dict.fromkeys(float(one) for one in values))

"""The fitted function between the units of a fit and those of the user, which attributes have.

The function itself, sum_j a_j k(B x, B z_j) + c, is that of every fit on projected rows.
"""

from __future__ import annotations

from typing import Any

from kernlens.base.columns import Columns
from kernlens.base.targets import Targets
from kernlens.fits.projected_function import ProjectedKernelFunction
from kernlens.kernels.radial import make_radial_kernel
from kernlens.methods.hkrr.plan import LearnedKernel


def attributes_of(learned: LearnedKernel, columns: Columns, targets: Targets) -> dict[str, Any]:
    """Map, length scale, centres, coefficients and constants in the units of the user."""
    function = learned.function
    return {
        "projection_": learned.unit * columns.embed(learned.W) / columns.scale,
        "length_scale_": learned.unit / learned.scale,
        "centers_": columns.embed(function.Z) * columns.scale + columns.mean,
        "dual_coef_": function.coefficients * targets.scale[:, None],
        "intercept_": function.intercept * targets.scale + targets.mean,
    }


def function_of(model: Any, columns: Columns, targets: Targets) -> ProjectedKernelFunction:
    """The function that a fitted model's attributes describe, in the units of the fit."""
    return ProjectedKernelFunction(
        columns.select(model.projection_ * columns.scale / model.length_scale_),
        columns.apply(model.centers_),
        model.dual_coef_ / targets.scale[:, None],
        (model.intercept_ - targets.mean) / targets.scale,
        make_radial_kernel(model.kernel_),
        model.n_jobs,
    )

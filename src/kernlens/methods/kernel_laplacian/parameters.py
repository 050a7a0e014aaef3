"""The arguments of the kernel Laplacian estimators."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kernlens._parameters import (
    CALLBACK,
    CLASS_WEIGHT,
    LINEAR_PART,
    N_DIRECTIONS,
    N_JOBS,
    RANDOM_STATE,
    STANDARDIZE,
    VERBOSE,
    Automatic,
    Choice,
    Count,
    Kind,
    Listed,
    NonNegative,
    Or,
    Parameter,
    Parameters,
    Positive,
    Regularization,
)
from kernlens._validation import MOST_STARTS
from kernlens.kernels.derivatives import DIFFERENTIABLE_KERNELS, check_differentiable_kernel
from kernlens.kernels.dot_product import DotProductKernel
from kernlens.kernels.radial import LaplaceKernel, RadialKernel
from kernlens.methods.kernel_laplacian.labels import check_unlabeled
from kernlens.methods.kernel_laplacian.plan import LARGEST_ALPHA, SMALLEST_ALPHA

METRICS = ("local", "euclidean")
SUPERVISED_SOLVERS = ("auto", "exact", "cg", "nystrom", "random_features")
SPECTRAL_SOLVERS = ("nystrom", "random_features")


@dataclass(frozen=True)
class DifferentiableKernel(Kind):
    """The name of a kernel with two derivatives, or such a kernel."""

    def check(self, name: str, value: Any) -> None:
        if isinstance(value, str) and value == "laplace":
            raise ValueError(
                f"{name}='laplace' is not differentiable enough: its functions have no gradient at "
                "their centres; use 'matern32' or a smoother kernel."
            )
        other = "a RadialKernel or DotProductKernel with second_derivative"
        named = Choice(DIFFERENTIABLE_KERNELS, other=other)
        Or((RadialKernel, DotProductKernel), named, check_differentiable_kernel).check(name, value)

    def bad_values(self) -> tuple[Any, ...]:
        return (None, "rbf", "laplace", 3, np.eye(2), RadialKernel, LaplaceKernel())


@dataclass(frozen=True)
class MissingLabel(Kind):
    """What may stand for the label of rows that have none."""

    def check(self, name: str, value: Any) -> None:
        check_unlabeled(value)

    def bad_values(self) -> tuple[Any, ...]:
        return ([0, 1], np.nan, ())


# What all four estimators have.
SPACE: Parameters = {
    "kernel": Parameter(
        DifferentiableKernel(),
        "matern52",
        "str or kernel object",
        """``"gaussian"``, ``"matern32"``, ``"matern52"``, ``"rational_quadratic"``, ``"linear"``,
        ``"polynomial"`` (degree 3), ``"exponential_dot"``; or an instance of a subclass of
        ``kernlens.kernels.RadialKernel`` or
        ``kernlens.kernels.DotProductKernel`` with its profile and two derivatives. Kernels of the
        inner product grow without end: rows so far out that they would exceed 1e60 have the value
        of the last point before, in their direction.""",
        search=("gaussian", "matern32"),
    ),
    "length_scale": Parameter(
        Automatic(Positive(other="'auto'")),
        "auto",
        '"auto" or float',
        """Length that standardised columns are divided by before the kernel. ``"auto"`` takes twice
        the median distance of points; for kernels of the inner product it takes the root mean
        square length of points, or more where the kernel of the longest would exceed 1e60.""",
    ),
    "metric": Parameter(
        Choice(METRICS),
        "local",
        '{"local", "euclidean"}',
        """How the length of a gradient is measured. ``"euclidean"`` treats all directions alike, as
        in the paper. ``"local"`` measures gradients along the differences to the nearest other
        points, so that for data near a curve or a surface it does not matter how the function
        varies across it.""",
        search=("euclidean",),
    ),
    "n_neighbors": Parameter(
        Count(),
        7,
        "int",
        """Number of neighbours that span the directions of the local metric.""",
        search=(4, 15),
    ),
    "standardize": replace(
        STANDARDIZE,
        text="""Use ``(x - mean) / std`` of every column; False only centres them. Constant columns
        are ignored.""",
    ),
    "n_jobs": N_JOBS,
    "random_state": replace(RANDOM_STATE, text="Seed of the centres and of the random features."),
}

PARAMETERS: Parameters = {
    **SPACE,
    "length_scale": replace(
        SPACE["length_scale"],
        text=SPACE["length_scale"].text
        + """ If `mu` and `alpha` are automatic, too, and the kernel is of distances, columns get
        lengths of their own where plain kernel ridge regression predicts labelled rows left out
        clearly better: by their ranges, from 15 labels on, and by what the target says of them, if
        half of the points have one.""",
    ),
    "mu": Parameter(
        Listed(Automatic(NonNegative())),
        "auto",
        '"auto", float or list of float',
        """Strength of the penalty on gradients; 0 is kernel ridge regression. ``"auto"`` and lists
        are chosen from together with `alpha`, see the Notes. More than 1e20 times the squared
        length scale counts as that.""",
    ),
    "alpha": Parameter(
        Listed(Regularization(smallest=SMALLEST_ALPHA, largest=LARGEST_ALPHA)),
        "auto",
        '"auto", float or list of float',
        """Strength of the penalty on the norm of the function space, the paper's lambda; from 1e-20
        to 1e20.""",
    ),
    "solver": Parameter(
        Choice(SUPERVISED_SOLVERS),
        "auto",
        '{"auto", "exact", "cg", "nystrom", "random_features"}',
        """``"exact"`` has an atom for every value and every derivative, by dense matrices. ``"cg"``
        finds the same function by conjugate gradients, without a matrix; `mu` and `alpha` are then
        chosen with centres. ``"nystrom"`` has `n_centers` points as centres.
        ``"random_features"`` draws random Fourier features of the four named radial kernels.
        ``"auto"`` is exact up to 1000 derivatives (points times directions), else Nystrom.""",
    ),
    "n_centers": Parameter(
        Count(words=("auto",)),
        "auto",
        '"auto" or int',
        """Number of centres, all points if there are fewer; or of random features. ``"auto"`` takes
        2000, or 1000 for more than 1000 labelled rows.""",
    ),
    "max_iter": Parameter(
        Count(),
        500,
        "int",
        """Number of iterations after which conjugate gradients stop.""",
    ),
    "tol": Parameter(
        Positive(),
        1e-08,
        "float",
        """Conjugate gradients stop when the residual is below `tol` times the targets.""",
    ),
    "n_directions": N_DIRECTIONS,
    "random_state": replace(
        RANDOM_STATE,
        text="""Seed of the centres, of the random features, and of the normal sample that points
        are compared with.""",
    ),
    "verbose": VERBOSE,
    "linear_part": LINEAR_PART,
    "callback": CALLBACK,
}

CLASSIFIER_PARAMETERS: Parameters = {
    **{name: parameter for name, parameter in PARAMETERS.items() if name != "linear_part"},
    "unlabeled": Parameter(
        MissingLabel(),
        "auto",
        "object",
        """Label of rows that have none; None says that every row has one. ``"auto"`` is -1, as in
        scikit-learn, but if all labels are -1 or 1, both are taken as classes, with a warning.""",
    ),
    "class_weight": CLASS_WEIGHT,
}

SPECTRAL_PARAMETERS: Parameters = {
    **SPACE,
    "n_components": Parameter(
        Count(),
        2,
        "int",
        """Number of eigenfunctions; the constant is not counted.""",
    ),
    "alpha": Parameter(
        Regularization(),
        "auto",
        '"auto" or float',
        """Strength of the penalty on the norm of the function space. ``"auto"`` takes the smallest
        of 1e-8, 1e-6, 1e-4 and 1e-2 (times d over the squared length scale) for which every
        eigenfunction is spread over at least 5 percent of the points, by
        ``mean(f^2)^2 / mean(f^4)``; with a smaller alpha some may single out a few points. Given
        values are from 1e-20 to 1e20 over the squared length scale.""",
    ),
    "solver": Parameter(
        Choice(SPECTRAL_SOLVERS),
        "nystrom",
        '{"nystrom", "random_features"}',
        """``"nystrom"`` has `n_centers` points as centres, ``"random_features"`` draws random
        Fourier features of the four named radial kernels.""",
    ),
    "n_centers": Parameter(
        Count(words=("auto",)),
        "auto",
        '"auto" or int',
        """Number of centres, all points if there are fewer; or of random features. ``"auto"`` takes
        2000.""",
    ),
}

CLUSTERING_PARAMETERS: Parameters = {
    **SPECTRAL_PARAMETERS,
    "n_clusters": Parameter(Count(), 8, "int", """Number of clusters."""),
    "n_components": Parameter(
        Count(words=("auto",)),
        "auto",
        '"auto" or int',
        """Number of eigenfunctions in use. ``"auto"`` takes one less than clusters.""",
    ),
    "n_init": Parameter(
        Count(most=MOST_STARTS),
        10,
        "int",
        """Number of starts of k-means, of which the best is kept; at most 10,000.""",
    ),
    "random_state": replace(
        RANDOM_STATE,
        text="Seed of the centres, of the random features, and of k-means.",
    ),
}

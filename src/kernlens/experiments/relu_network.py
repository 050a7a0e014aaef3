"""A network with one hidden layer of rectifiers, in place of the authors' ReLUNN.

It is scikit-learn's `MLPRegressor` with plain stochastic gradient descent. It differs from the
authors' network in three ways: starting weights are uniform by Glorot's rule; an epoch goes once
through a new permutation of the rows, so that a number of steps is rounded to whole epochs; and the
loss is half the mean squared error, so that a step is half that of the squared error. Twice the
step is farther from the published scores of Experiment 5.
"""

from __future__ import annotations

import math

import numpy as np
from sklearn.neural_network import MLPRegressor

from kernlens._array import FloatArray

#: What every experiment with this network says of it.
NOTE = (
    "ReLU network stands in for the authors' ReLUNN: scikit-learn's MLPRegressor, one hidden "
    "layer, plain stochastic gradient descent with the printed batch size, step and number of "
    "steps. It differs in three ways: starting weights are Glorot's, an epoch goes once through "
    "all rows, and the loss is half the mean squared error."
)


def relu_network(
    n_samples: int, width: int, *, step: float, n_steps: int, seed: int, batch: int = 16
) -> MLPRegressor:
    """A network that takes about `n_steps` steps on `n_samples` rows."""
    batch = min(batch, n_samples)
    return MLPRegressor(
        hidden_layer_sizes=(width,),
        solver="sgd",
        alpha=0.0,
        batch_size=batch,
        learning_rate_init=step,
        momentum=0.0,
        nesterovs_momentum=False,
        max_iter=max(1, round(n_steps / math.ceil(n_samples / batch))),
        tol=0.0,
        n_iter_no_change=10**9,
        random_state=seed,
    )


def leading_inputs(network: MLPRegressor, k: int) -> FloatArray:
    """First k right singular vectors of the first layer, (k, n_features): its features."""
    first = np.asarray(network.coefs_[0], dtype=float)
    return np.linalg.svd(first.T, full_matrices=False)[2][:k]

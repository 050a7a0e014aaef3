"""Multi-indices in the order of their weights, from a heap, compiled."""

from __future__ import annotations

import numpy as np

from kernlens._compiled import compiled

# mypy: disable-error-code="no-untyped-def"


@compiled()
def best_first(steps, lam, log_c, n_indices):
    """Exponents (n_found, n_directions) in increasing order of ``log(lam + cost) - log_c``.

    The cost of alpha is ``sum_j alpha_j steps_j``, with `steps` (n_directions,) increasing; alpha
    has a degree of at most ``len(log_c) - 1``. The children of alpha, whose last variable is j, are
    alpha + e_j and alpha - e_j + e_{j+1}: every alpha but e_1 has exactly one parent, which comes
    before it, so that a heap finds them in order.
    """
    d, limit = len(steps), len(log_c) - 1
    most = 2 * n_indices + 1
    size = 64
    exponents = np.zeros((size, d), dtype=np.int32)
    last, degree = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    cost, key = np.zeros(size), np.zeros(size)
    heap = np.zeros(size, dtype=np.int64)
    found = np.zeros(n_indices, dtype=np.int64)
    exponents[0, 0], degree[0], cost[0] = 1, 1, steps[0]
    key[0] = np.log(lam + cost[0]) - log_c[1]
    n_nodes, n_heap, n_found = 1, 1, 0
    while n_heap > 0 and n_found < n_indices:
        top = heap[0]
        found[n_found] = top
        n_found += 1
        n_heap -= 1
        heap[0] = heap[n_heap]
        _sink(heap, n_heap, key, degree, exponents)
        if n_nodes + 2 > size:
            grown = min(2 * size, most + 2)
            exponents = _longer_rows(exponents, grown)
            last, degree = _longer(last, grown), _longer(degree, grown)
            cost, key = _longer(cost, grown), _longer(key, grown)
            heap = _longer(heap, grown)
            size = grown
        j = last[top]
        for moved in range(2):
            if (moved == 0 and degree[top] >= limit) or (moved == 1 and j + 1 >= d):
                continue
            exponents[n_nodes] = exponents[top]
            if moved == 0:
                exponents[n_nodes, j] += 1
                cost[n_nodes] = cost[top] + steps[j]
            else:
                exponents[n_nodes, j] -= 1
                exponents[n_nodes, j + 1] = 1
                cost[n_nodes] = cost[top] + (steps[j + 1] - steps[j])
            last[n_nodes] = j + moved
            degree[n_nodes] = degree[top] + 1 - moved
            key[n_nodes] = np.log(lam + cost[n_nodes]) - log_c[degree[n_nodes]]
            heap[n_heap] = n_nodes
            n_heap += 1
            _rise(heap, n_heap - 1, key, degree, exponents)
            n_nodes += 1
    return exponents[found[:n_found]]


@compiled()
def _before(a, b, key, degree, exponents):
    """Whether node `a` comes before node `b`."""
    if key[a] != key[b]:
        return key[a] < key[b]
    if degree[a] != degree[b]:
        return degree[a] < degree[b]
    for j in range(exponents.shape[1]):
        if exponents[a, j] != exponents[b, j]:
            return exponents[a, j] > exponents[b, j]
    return False


@compiled()
def _rise(heap, at, key, degree, exponents):
    """Restore the order of a heap whose entry `at` is new."""
    while at > 0:
        parent = (at - 1) // 2
        if not _before(heap[at], heap[parent], key, degree, exponents):
            return
        heap[at], heap[parent] = heap[parent], heap[at]
        at = parent


@compiled()
def _sink(heap, n_heap, key, degree, exponents):
    """Restore the order of a heap of `n_heap` entries whose first is new."""
    at = 0
    while True:
        child = 2 * at + 1
        if child >= n_heap:
            return
        if child + 1 < n_heap and _before(heap[child + 1], heap[child], key, degree, exponents):
            child += 1
        if not _before(heap[child], heap[at], key, degree, exponents):
            return
        heap[at], heap[child] = heap[child], heap[at]
        at = child


@compiled()
def _longer(array, size):
    grown = np.zeros(size, dtype=array.dtype)
    grown[: len(array)] = array
    return grown


@compiled()
def _longer_rows(array, size):
    grown = np.zeros((size, array.shape[1]), dtype=array.dtype)
    grown[: len(array)] = array
    return grown

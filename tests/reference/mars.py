"""Multivariate adaptive regression splines as in the textbook: least squares afresh per knot.

J. H. Friedman, "Multivariate Adaptive Regression Splines", Annals of Statistics 19, 1991:
Algorithm 2 (forward), Algorithm 3 (backward), equations 30 (the criterion), 43 and 45
(spans of knots).
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

#: A new term of a smaller squared length outside the span of the others counts as inside.
COLLINEAR = 1e-10


def factor(x, knot, sign):
    """``(x - t)_+``, ``(t - x)_+``, or ``x - t`` for the sign 0."""
    return x - knot if sign == 0 else np.maximum(sign * (x - knot), 0.0)


def term_values(X, term):
    """Product of factors (column, knot, sign)."""
    values = np.ones(len(X))
    for column, knot, sign in term:
        values = values * factor(X[:, column], knot, sign)
    return values


def basis(X, terms):
    """Values of all terms, (n, n_terms)."""
    return np.column_stack([term_values(X, term) for term in terms])


def least_squares(B, y, weights):
    """Coefficients (n_terms, n_targets) and the weighted sum of squared errors."""
    roots = np.sqrt(weights)[:, None]
    lengths = np.sqrt(np.sum((roots * B) ** 2, axis=0))
    coef, *_ = np.linalg.lstsq(roots * B / lengths, roots * y.T, rcond=1e-9)
    error = np.sum((roots * (y.T - B / lengths @ coef)) ** 2)
    return coef / lengths[:, None], error


def is_new(B, values, weights):
    """Whether values (n,) are outside the span of B."""
    roots = np.sqrt(weights)
    coef, *_ = np.linalg.lstsq(roots[:, None] * B, roots * values, rcond=1e-12)
    rest = np.sum((roots * (values - B @ coef)) ** 2)
    return rest > COLLINEAR * np.sum((roots * values) ** 2)


def knots(x, active, n_inputs, n_factors, minspan, endspan):
    """Places of knots among the rows where the parent is positive, highest first."""
    m = int(active.sum())
    if minspan is None:
        minspan = max(1, int(-np.log2(-np.log(0.95) / (n_inputs * m)) / 2.5))
    if endspan is None:
        endspan = int(3 - np.log2(0.05 / n_inputs)) * (1 if n_factors == 1 else 2)
    ordered = np.sort(x[active])[::-1]
    places = m - 2 * endspan
    if places <= 0:
        return []
    first = endspan + ((places - 1) % minspan) // 2
    return list(dict.fromkeys(ordered[first : m - endspan : minspan]))


def effective(n_terms, penalty):
    """Terms, and half a knot for each but the constant."""
    return n_terms + penalty * (n_terms - 1) / 2


def gcv(error, n_terms, weights, penalty):
    """Generalised cross-validation, equation 30."""
    n = weights.sum()
    return error / n / (1 - effective(n_terms, penalty) / n) ** 2


def forward(X, y, weights, *, degree=1, max_terms=21, penalty=2.0, threshold=0.001,
            minspan=None, endspan=None, lines=(), groups=None, new_column_penalty=0.0):  # fmt: skip
    """Terms in the order in which they come, each a tuple of factors.

    Columns in `lines` have no knots, those of a product are in one of `groups`, and what a column
    explains that no term has yet counts less.
    """
    terms = [()]
    _, error = least_squares(basis(X, terms), y, weights)
    total = error
    while len(terms) + 2 <= max_terms and effective(len(terms) + 2, penalty) < weights.sum():
        B = basis(X, terms)
        known = {f[0] for term in terms for f in term}
        best = (0.0, 0.0, None)
        for term in terms:
            if len(term) == degree:
                continue
            b = term_values(X, term)
            for column in range(X.shape[1]):
                factors = {f[0] for f in term}
                if column in factors or not allowed({*factors, column}, groups):
                    continue
                spans = None if column in lines else (minspan, endspan)
                drop, found = _candidate(X, y, weights, B, term, b, column, error, spans)
                worth = drop if column in known else drop / (1 + new_column_penalty)
                best = max(best, (worth, drop, found), key=lambda c: c[0])
        worth, drop, found = best
        if found is None or worth < threshold * total:
            break
        term, column, line, knot = found
        if knot is not None and (line is None or drop - line >= threshold * total):
            factors = [(column, knot, 1), (column, knot, -1)]
        else:
            factors = [(column, X[term_values(X, term) > 0, column].min(), 0)]
        for one in factors:
            new = (*term, one)
            if is_new(basis(X, terms), term_values(X, new), weights):
                terms.append(new)
        _, error = least_squares(basis(X, terms), y, weights)
        if error <= 1e-14 * total:
            break
    return terms


def allowed(columns, groups):
    """Whether a term may have these columns."""
    return len(columns) == 1 or groups is None or any(columns <= set(group) for group in groups)


def _candidate(X, y, weights, B, term, b, column, error, spans):
    """Drop of the best pair below a term, and (term, column, drop of the line or None, knot)."""
    x = X[:, column]
    line, base, wide = None, error, B
    # A line counts from the middle of its rows: below a term the constant is in the span.
    center = np.average(x, weights=weights * b**2)
    if is_new(B, b * (x - center), weights):
        wide = np.column_stack([B, b * (x - center)])
        _, base = least_squares(wide, y, weights)
        line = error - base
    drop, knot = error - base, None
    places = [] if spans is None else knots(x, b > 0, X.shape[1], len(term) + 1, *spans)
    for t in places:
        u = b * np.maximum(x - t, 0.0)
        if not u.any() or not is_new(wide, u, weights):
            continue
        _, after = least_squares(np.column_stack([wide, u]), y, weights)
        if error - after > drop:
            drop, knot = error - after, t
    if line is None and knot is None:
        return 0.0, None
    return drop, (term, column, line, knot)


def pruned_subsets(X, y, weights, terms):
    """Subsets of 1, 2, ... terms: each is the next one without the term that costs least."""
    subsets = [list(terms)]
    while len(subsets[0]) > 1:
        kept = subsets[0]
        smaller = [kept[:j] + kept[j + 1 :] for j in range(1, len(kept))]
        errors = [least_squares(basis(X, s), y, weights)[1] for s in smaller]
        subsets.insert(0, smaller[int(np.argmin(errors))])
    return subsets


def backward(X, y, weights, terms, penalty):
    """The subset of least error along the pruning, and the errors by size."""
    subsets = pruned_subsets(X, y, weights, terms)
    rss = [least_squares(basis(X, subset), y, weights)[1] for subset in subsets]
    errors = [gcv(error, m, weights, penalty) for m, error in enumerate(rss, start=1)]
    return subsets[int(np.argmin(errors))], np.array(errors)


def held_out_errors(X, y, weights, folds, n_sizes, **options):
    """Mean squared errors of rows left out, by subsets of 1 to n_sizes terms of the others."""
    errors = np.zeros(n_sizes)
    for train, test in folds:
        seen = X[train], y[:, train], weights[train]
        subsets = pruned_subsets(*seen, forward(*seen, **options))
        for size in range(n_sizes):
            subset = subsets[min(size, len(subsets) - 1)]
            coef, _ = least_squares(basis(X[train], subset), *seen[1:])
            rest = y[:, test].T - basis(X[test], subset) @ coef
            errors[size] += weights[test] @ np.sum(rest**2, axis=1)
    return errors / (weights.sum() * len(y))


def best_of_all(X, y, weights, terms, penalty):
    """The least criterion over all subsets of the terms."""
    least = np.inf
    for size in range(len(terms)):
        for some in combinations(terms[1:], size):
            _, error = least_squares(basis(X, [(), *some]), y, weights)
            least = min(least, gcv(error, size + 1, weights, penalty))
    return least


def fit(X, y, weights, penalty=2.0, **options):
    """Terms, coefficients (n_terms, n_targets), and the errors by size."""
    terms = forward(X, y, weights, penalty=penalty, **options)
    kept, errors = backward(X, y, weights, terms, penalty)
    return kept, least_squares(basis(X, kept), y, weights)[0], errors

"""Would the tests notice? Put single-line faults into the numerics, one at a time, and run them.

    python tests/mutations.py [NUMBER ...]

Every fault replaces one piece of one line of a copy of the package, and must make the tests named
beside it fail. Nothing in the working tree is changed. A fault whose line is gone is an error: the
list follows the code. The whole list takes about half an hour on one core.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Fault:
    """One wrong line.

    Attributes
    ----------
    file : str
        Below ``src/kernlens``.
    right, wrong : str
        What stands there, once, and what is put in its place.
    tests : str
        Files or folders below ``tests``, and options of pytest.
    """

    file: str
    right: str
    wrong: str
    tests: str


FAULTS = (
    # One-dimensional kernels
    Fault(
        "kernels/_sorted_sums.py",
        "        half = 0.5 * vt.sum()",
        "        half = 0.4 * vt.sum()",
        "kernels/test_one_dimensional.py linalg/test_projected_kernel_operator.py",
    ),
    Fault(
        "kernels/_sorted_sums.py",
        "                slope = -0.5 * (before + upto - total)",
        "                slope = -0.5 * (2.0 * before - total)",
        "kernels/test_one_dimensional.py linalg/test_projected_kernel_operator.py",
    ),
    Fault(
        "kernels/_sorted_sums.py",
        "    if a < 0 or a >= knots.size - 1:",
        "    if a <= 0 or a >= knots.size - 1:",
        "base/test_gradients.py -k BKerNN",
    ),
    Fault(
        "kernels/_sorted_sums.py",
        "            share = (query - knots[a]) / (knots[a + 1] - knots[a])",
        "            share = (query - knots[a]) / (knots[a + 1] - knots[a - 1])",
        "methods/bkernn/test_function.py",
    ),
    # Radial kernels
    Fault(
        "kernels/radial.py",
        "        return linear + (5.0 / 3.0) * s * decay, (-5.0 / 6.0) * linear",
        "        return linear + (5.0 / 3.0) * s * decay, (-5.0 / 3.0) * linear",
        "kernels/test_radial.py",
    ),
    Fault(
        "kernels/radial.py",
        "        return 0.25 * self.profile(s)",
        "        return 0.5 * self.profile(s)",
        "kernels/test_radial.py kernels/test_derivatives.py",
    ),
    # Losses
    Fault(
        "losses.py",
        "        return np.sum(near * (size - 0.5 * near), axis=0)",
        "        return np.sum(near * (size - near), axis=0)",
        "package/test_losses.py",
    ),
    Fault(
        "losses.py",
        "        curvature = np.maximum(expit(f) * expit(-f), _curvature_floor(slope))",
        "        curvature = np.maximum(expit(f), _curvature_floor(slope))",
        "package/test_losses.py fits/test_kernel_fit.py",
    ),
    Fault(
        "losses.py",
        "        return root, root.adjoint(f) - np.sqrt(weights) * (slope / np.sqrt(p))",
        "        return root, root.adjoint(f) - weights * (slope / np.sqrt(p))",
        "package/test_losses.py fits/test_kernel_fit.py",
    ),
    # Penalties
    Fault(
        "penalties/scalar.py",
        "        return np.maximum(magnitude - threshold, 0.0)",
        "        return np.maximum(magnitude - 0.5 * threshold, 0.0)",
        "penalties",
    ),
    Fault(
        "penalties/particles.py",
        "Composition(0.5 / math.sqrt(n_particles), SINGULAR_VALUES, AbsoluteValue())",
        "Composition(0.5 / n_particles, SINGULAR_VALUES, AbsoluteValue())",
        "penalties",
    ),
    Fault(
        "penalties/log_threshold.py",
        "    better = rho - root / 2.0 > tau * _mean_slope(c * root)",
        "    better = rho - root / 2.0 > tau * _mean_slope(c * rho)",
        "penalties",
    ),
    Fault(
        "penalties/operator_ball.py",
        "    pulled: FloatArray = radius * ((Q * factor) @ (Q.T @ gradient) + 2.0 * Y @ M)",
        "    pulled: FloatArray = radius * ((Q * factor) @ (Q.T @ gradient) + Y @ M)",
        "penalties/test_operator_ball.py",
    ),
    # Linear algebra
    Fault(
        "linalg/ridge_system.py",
        "        gram = gram - np.outer(sums, sums / total)",
        "        gram = gram - np.outer(sums, sums) / len(weights)",
        "linalg/test_ridge_system.py",
    ),
    Fault(
        "linalg/ridge_system.py",
        "        leverage = np.square(scaled).sum(axis=1) + self.intercept / self.total",
        "        leverage = np.square(scaled).sum(axis=1)",
        "linalg/test_ridge_system.py",
    ),
    Fault(
        "linalg/ridge_system.py",
        "        share = other.total / total",
        "        share = self.total / total",
        "linalg/test_ridge_system.py",
    ),
    Fault(
        "linalg/ridge_spectrum.py",
        "        block = reflected.both_sides(centered * root[:, None] * root)[1:, 1:]",
        "        block = reflected.both_sides(centered)[1:, 1:]",
        "linalg/test_ridge_spectrum.py",
    ),
    Fault(
        "linalg/ridge_spectrum.py",
        "        left = shift * total / (values + shift * total)",
        "        left = shift / (values + shift)",
        "linalg/test_ridge_spectrum.py",
    ),
    Fault(
        "linalg/kernel_blocks.py",
        "2.0 * (over_centers + 2.0 * among_centers).T @ blocks.Z",
        "2.0 * (over_centers + among_centers).T @ blocks.Z",
        "linalg/test_kernel_blocks.py methods/hkrr/test_objective.py",
    ),
    # Features
    Fault(
        "features/fourier.py",
        "        return float(np.sqrt(2.0 / self.n_features))",
        "        return float(np.sqrt(1.0 / self.n_features))",
        "features/test_fourier.py",
    ),
    Fault(
        "features/profiles.py",
        "                second = d * third - 0.5 * p",
        "                second = d * third - p",
        "features/test_profiles.py",
    ),
    Fault(
        "features/_best_first.py",
        "                cost[n_nodes] = cost[top] + (steps[j + 1] - steps[j])",
        "                cost[n_nodes] = cost[top] + steps[j + 1]",
        "features/test_hermite_indices.py",
    ),
    Fault(
        "features/nystrom_centers.py",
        "        scores[rows] = np.minimum(seen + unseen, 1.0)",
        "        scores[rows] = np.minimum(seen, 1.0)",
        "features/test_nystrom_centers.py",
    ),
    # Rows, columns, targets
    Fault(
        "_rows.py",
        "        masks = [(fold != k, fold == k) for k in range(n_folds)]",
        "        masks = [(fold == k, fold == k) for k in range(n_folds)]",
        "package/test_rows.py",
    ),
    Fault(
        "_rows.py",
        "        return [fold for fold in masks if len(np.unique(strata[fold[0]])) == n_strata]",
        "        return [fold for fold in masks if len(np.unique(strata[fold[1]])) == n_strata]",
        "package/test_rows.py methods/bkernn/test_classifier.py",
    ),
    Fault(
        "_rows.py",
        "np.add.reduceat(weights, starts)",
        "weights[starts]",
        "package/test_rows.py",
    ),
    Fault(
        "base/columns.py",
        "np.average(np.square(centered, out=centered), axis=0, weights=weights)",
        "np.average(np.square(centered, out=centered), axis=0)",
        "base/test_columns.py",
    ),
    Fault(
        "base/columns.py",
        "            full[..., self.used] = moved / self.scale[self.used]",
        "            full[..., self.used] = moved * self.scale[self.used]",
        "base/test_columns.py",
    ),
    Fault(
        "base/targets.py",
        "        return decision * self.scale[:, None] + self.mean[:, None]",
        "        return decision * self.scale[:, None]",
        "base/test_targets.py",
    ),
    Fault(
        "base/targets.py",
        "        scaled = slopes * self.scale[:, None, None]",
        "        scaled = slopes",
        "base/test_targets.py",
    ),
    Fault(
        "base/search.py",
        "                same &= values == values[self.chosen]",
        "                same &= values == values[0]",
        "base/test_search.py",
    ),
    Fault(
        "base/calibration.py",
        "            values = values - self._log_probability(-scores)",
        "            values = values + self._log_probability(-scores)",
        "base/test_calibration.py",
    ),
    Fault(
        "base/calibration.py",
        "    doubts = 1.0 / (counts[numbers] + 2.0)",
        "    doubts = 1.0 / (counts[numbers] + 1.0)",
        "base/test_calibration.py methods/kernel_laplacian/test_labels.py",
    ),
    Fault(
        "subspace.py",
        "    scaled = gradients * np.sqrt(weights / weights.sum())[:, None]",
        "    scaled = gradients * (weights / weights.sum())[:, None]",
        "package/test_subspace.py",
    ),
    # Fits
    Fault(
        "fits/feature_newton.py",
        "        gradient = slopes @ self.A + self.ridge * point.stacked",
        "        gradient = slopes @ self.A + 0.5 * self.ridge * point.stacked",
        "fits/test_feature_newton.py",
    ),
    Fault(
        "fits/projected_function.py",
        "                np.matmul(2.0 * g, self.B, out=out[target])",
        "                np.matmul(g, self.B, out=out[target])",
        "fits/test_projected_function.py",
    ),
    Fault(
        "fits/held_out.py",
        "    return np.clip(decision, low[:, None], high[:, None])",
        "    return np.clip(decision, low.min(), high.max())",
        "base/test_targets.py",
    ),
    Fault(
        "linalg/whitened_features.py",
        "        shift = self.root.mean(axis=1) if intercept else np.zeros(len(self.root))",
        "        shift = np.zeros(len(self.root))",
        "linalg/test_whitened_features.py",
    ),
    # BKerNN
    Fault(
        "methods/bkernn/objective.py",
        "        return -self.fitter.alpha * point.operator.weighted_slopes(point.fit.dual)",
        "        return -0.5 * self.fitter.alpha * point.operator.weighted_slopes(point.fit.dual)",
        "methods/bkernn/test_objective.py",
    ),
    Fault(
        "methods/bkernn/path.py",
        "        offset = 0.5 * (left - right) / bend if bend > 0.0 else 0.0",
        "        offset = 0.5 * (right - left) / bend if bend > 0.0 else 0.0",
        "methods/bkernn/test_alpha_choice.py",
    ),
    Fault(
        "methods/bkernn/learner.py",
        "            part, alpha = self._on(self.rows.take(train), learned)",
        "            part, alpha = self._on(self.rows, learned)",
        "base/test_left_out.py -k BKerNN",
    ),
    # HKRR
    Fault(
        "methods/hkrr/objective.py",
        "        among_centers = (0.5 * self.fitter.alpha) * (a.T @ a)",
        "        among_centers = self.fitter.alpha * (a.T @ a)",
        "methods/hkrr/test_objective.py",
    ),
    Fault(
        "methods/hkrr/starts.py",
        "            g = 2.0 * (C.sum(axis=1)[:, None] * block.images - C @ V)",
        "            g = C.sum(axis=1)[:, None] * block.images - C @ V",
        "methods/hkrr/test_starts.py",
    ),
    Fault(
        "methods/hkrr/function.py",
        "        (model.intercept_ - targets.mean) / targets.scale,",
        "        model.intercept_ / targets.scale,",
        "methods/hkrr/test_regressor.py",
    ),
    # RegFeaL
    Fault(
        "methods/regfeal/objective.py",
        "        return 0.5 * self.mu * self.smoothing * float(np.sum(1.0 / directions.eta))",
        "        return self.mu * self.smoothing * float(np.sum(1.0 / directions.eta))",
        "methods/regfeal/test_objective.py methods/regfeal/test_descent.py",
    ),
    Fault(
        "methods/regfeal/learner.py",
        "            if best.loss > (1.0 - PLAIN_GAIN) * kept.loss:",
        "            if False:",
        "methods/regfeal/test_choices.py",
    ),
    Fault(
        "methods/regfeal/descent.py",
        "        tangent = gradient - R @ (0.5 * (inner + inner.T))",
        "        tangent = gradient - R @ (inner + inner.T)",
        "methods/regfeal/test_descent.py",
    ),
    # RKHS weightings
    Fault(
        "methods/rkhs_weightings/instantiations.py",
        "            constant = 0.5 * float(np.log1p(-r) - np.log1p(r))",
        "            constant = float(np.log1p(-r) - np.log1p(r))",
        "methods/rkhs_weightings",
    ),
    Fault(
        "methods/rkhs_weightings/solvers/exact.py",
        "        constant = mixture.mean([fit.intercept for fit in fits])",
        "        constant = fits[0].intercept",
        "methods/rkhs_weightings/test_alpha_mixture.py",
    ),
    Fault(
        "methods/rkhs_weightings/solvers/least_squares.py",
        "        enough = min(alphas) >= SINGLE_ALPHA and space.condition <= SINGLE_CONDITION",
        "        enough = True",
        "methods/rkhs_weightings/test_estimators.py",
    ),
    Fault(
        "methods/rkhs_weightings/solvers/lasso_path.py",
        "        bounds = 0.5 * np.array(penalties)[:, None] / units",
        "        bounds = np.array(penalties)[:, None] / units",
        "methods/rkhs_weightings/test_lasso_path.py methods/rkhs_weightings/test_estimators.py",
    ),
    Fault(
        "methods/rkhs_weightings/bounds.py",
        "    return float(bound + (0.5 * descent if half_steps else descent))",
        "    return float(bound + descent)",
        "methods/rkhs_weightings/test_bounds.py",
    ),
    # Kernel Laplacian
    Fault(
        "methods/kernel_laplacian/structure.py",
        "    return seen * (1.0 - expected) > ABOVE_NORMAL * expected * (1.0 - seen)",
        "    return seen > expected",
        "methods/kernel_laplacian/test_structure.py",
    ),
    Fault(
        "methods/kernel_laplacian/solvers/features.py",
        "        objective += penalties.alpha * float(np.vdot(b, b))",
        "        objective += 0.5 * penalties.alpha * float(np.vdot(b, b))",
        "methods/kernel_laplacian/test_solvers.py",
    ),
    Fault(
        "methods/kernel_laplacian/solvers/conjugate.py",
        "penalties.alpha * norms + penalties.mu * np.sum(slopes**2, axis=(1, 2))",
        "penalties.alpha * norms + np.sum(slopes**2, axis=(1, 2))",
        "methods/kernel_laplacian/test_conjugate.py methods/kernel_laplacian/test_solvers.py",
    ),
    # Weights and rows
    Fault(
        "_rows.py",
        "        unit = float(relative @ relative / relative.sum())",
        "        unit = float(relative.sum() / len(relative))",
        "base/test_weights.py methods/bkernn/test_alpha_choice.py",
    ),
    Fault(
        "_rows.py",
        "        rounded = np.round(digits * 2.0**WEIGHT_BITS) / 2.0**WEIGHT_BITS",
        "        rounded = digits",
        "base/test_weights.py",
    ),
    Fault(
        "_rows.py",
        "    order = np.lexsort((weights, code_y, code_x))",
        "    order = np.lexsort((code_y, code_x))",
        "package/test_rows.py base/test_weights.py",
    ),
    Fault(
        "_validation.py",
        "    return np.where(weights > np.finfo(np.float64).eps * weights.max(), weights, 0.0)",
        "    return weights",
        "base/test_weights.py",
    ),
    Fault(
        "methods/rkhs_weightings/stream.py",
        "        batch = replace(batch, weights=batch.weights / unit)",
        "        batch = replace(batch, weights=batch.weights)",
        "base/test_weights.py",
    ),
    # Threads, interruptions and values that are no numbers
    Fault(
        "_execution.py",
        "            if not self._uses:\n                remains",
        "            if True:\n                remains",
        "package/test_execution.py",
    ),
    Fault(
        "_execution.py",
        "        ended, self._pools = self._pools, {}",
        "        ended = {}",
        "package/test_execution.py",
    ),
    Fault(
        "base/contract.py",
        "            _check_finite(self)",
        "            pass",
        "base/test_all_or_nothing.py",
    ),
    Fault(
        "base/contract.py",
        "        limit = float(np.finfo(rows.dtype).max) / (2 * rows.shape[1])",
        "        limit = float(np.finfo(rows.dtype).max)",
        "base/test_feature_learner_contract.py",
    ),
    # Invariance, and the number of directions
    Fault(
        "_invariance.py",
        "    return rounded - np.where(np.abs(before) <= CENTRED, after, 0.0)",
        "    return rounded - after",
        "package/test_invariance.py",
    ),
    Fault(
        "base/units.py",
        "        X=leading_digits(columns.apply(rows.X)),",
        "        X=columns.apply(rows.X),",
        "base/test_relations.py -k units",
    ),
    Fault(
        "fits/direction_count.py",
        "        return bool(worse @ shares <= CLEARLY_WORSE * spread)",
        "        return bool(worse @ shares <= 0.0)",
        "fits/test_direction_count.py",
    ),
    Fault(
        "fits/direction_count.py",
        "(AS_GOOD_BUT_LARGE if large else AS_GOOD) * spread",
        "AS_GOOD_BUT_LARGE * spread",
        "fits/test_direction_count.py -k clearly",
    ),
    Fault(
        "fits/feature_newton.py",
        "            return x - x.mean(axis=0) + of_means(shared)",
        "            return x + of_means(shared)",
        "fits/test_feature_newton.py",
    ),
    Fault(
        "kernels/_sorted_sums.py",
        "    if not query >= points[0]:",
        "    if query < points[0]:",
        "package/test_compiled.py",
    ),
    Fault(
        "linalg/raised_cholesky.py",
        "        jitter *= 10.0",
        "        jitter *= 1.0",
        "linalg/test_raised_cholesky.py",
    ),
    Fault(
        "linalg/raised_cholesky.py",
        "        raised.flat[:: len(matrix) + 1] += jitter",
        "        raised.flat[:: len(matrix)] += jitter",
        "linalg/test_raised_cholesky.py",
    ),
    Fault(
        "_quantiles.py",
        "    enough = cumulated >= level * (1.0 - SLACK) * cumulated[-1]",
        "    enough = cumulated >= level * cumulated[-1]",
        "package/test_quantiles.py",
    ),
    # Newer rooms
    Fault(
        "methods/brownian_ridge/kernel.py",
        "    values *= 0.5",
        "    values *= 1.0",
        "methods/brownian_ridge",
    ),
    Fault(
        "onnx_export/graph.py",
        "        if self._operators.get(name) != operator:",
        "        if self._operators.get(name) is not None:",
        "onnx_export",
    ),
    Fault(
        "model_selection/subspace_variation.py",
        "    return np.stack([estimate - high, estimate - low])",
        "    return np.stack([estimate + low, estimate + high])",
        "model_selection/test_subspace_variation.py",
    ),
    Fault(
        "methods/rfm/forms.py",
        "        gradients *= 2.0",
        "        gradients *= 1.0",
        "methods/rfm",
    ),
    Fault(
        "methods/sdr/criteria.py",
        "    terms = np.log1p(eigenvalues) - eigenvalues",
        "    terms = np.log1p(eigenvalues) - 0.9 * eigenvalues",
        "methods/sdr/test_criteria.py",
    ),
    Fault(
        "methods/sdr/hessian.py",
        "        return float(len(self.responses))",
        "        return 1.0",
        "methods/sdr/test_criteria.py",
    ),
    Fault(
        "methods/sdr/minimum_variance.py",
        "min(ridge, max(along / size, SMALLEST_RIDGE)) * size",
        "ridge * size",
        "methods/sdr/test_local_lines.py",
    ),
    Fault(
        "methods/sdr/slices.py",
        "        return (member @ inputs) / member.sum(axis=1, keepdims=True)",
        "        return (member @ inputs) / len(inputs)",
        "methods/sdr/test_inverse_regression.py",
    ),
    Fault(
        "methods/rfm/kernel.py",
        "            matrix *= term.weight",
        "            pass",
        "methods/rfm",
    ),
    Fault(
        "methods/rfm/forms.py",
        "                elif step < -gaps[i, k]:",
        "                elif step < gaps[i, k]:",
        "methods/rfm",
    ),
    Fault(
        "methods/mars/_sweep.py",
        "            squares += delta * (2.0 * moment + delta * mass_above)",
        "            squares += delta * (moment + delta * mass_above)",
        "methods/mars",
    ),
    Fault(
        "methods/mars/_sweep.py",
        "                    gain += (rest_sum[t] - slopes[t] * line_sum) ** 2",
        "                    gain += rest_sum[t] ** 2",
        "methods/mars",
    ),
    Fault(
        "methods/mars/pruning.py",
        "    return n_terms + penalty * (n_terms - 1) / 2.0",
        "    return n_terms + penalty * n_terms / 2.0",
        "methods/mars",
    ),
    Fault(
        "methods/mars/terms.py",
        "                    if other != place:",
        "                    if other < place:",
        "methods/mars",
    ),
    Fault(
        "methods/rfm/machine.py",
        "    roots = np.sqrt(values[kept] / values[-1])",
        "    roots = values[kept] / values[-1]",
        "methods/rfm",
    ),
    Fault(
        "methods/rfm/machine.py",
        "gradients / largest * np.sqrt(weights / weights.sum())[:, None]",
        "gradients / largest * (weights / weights.sum())[:, None]",
        "methods/rfm",
    ),
    Fault(
        "methods/rfm/ranks.py",
        "    ranks = (np.cumsum(totals) - 0.5 * totals) / totals.sum()",
        "    ranks = np.cumsum(totals) / totals.sum()",
        "methods/rfm",
    ),
    Fault(
        "methods/rfm/ranks.py",
        "            slopes[:, j] = 0.5 * (pieces[before] + pieces[after])",
        "            slopes[:, j] = pieces[after]",
        "methods/rfm",
    ),
    Fault(
        "methods/rfm/search.py",
        "            a, c = spectrum.solution(alpha / float(train.weights.sum()), K)",
        "            a, c = spectrum.solution(alpha, K)",
        "methods/rfm",
    ),
    Fault(
        "methods/sdr/whitening.py",
        "        regularized = (1.0 - share) * variances + share",
        "        regularized = variances + share",
        "methods/sdr",
    ),
    Fault(
        "methods/sdr/inverse_regression.py",
        "        return 2.0 * (spread + between @ between + np.trace(between) * between)",
        "        return 2.0 * (spread + between @ between + between)",
        "methods/sdr/test_inverse_regression.py",
    ),
    Fault(
        "methods/sdr/inverse_regression.py",
        "(len(moments[0].shares) - k - 1)",
        "(len(moments[0].shares) - k)",
        "methods/sdr/test_dimension_tests.py",
    ),
    Fault(
        "methods/sdr/hessian.py",
        "trailing(spectrum, k) / (2.0 * variance)",
        "trailing(spectrum, k) / variance",
        "methods/sdr/test_dimension_tests.py",
    ),
    Fault(
        "methods/sdr/dimension_tests.py",
        "        rest = rest - first @ slopes",
        "        rest = rest - 0.5 * first @ slopes",
        "methods/sdr/test_dimension_tests.py",
    ),
    Fault(
        "methods/sdr/dimension_tests.py",
        "        n_as_large = 1",
        "        n_as_large = 0",
        "methods/sdr/test_dimension_tests.py",
    ),
    Fault(
        "methods/sdr/local_linear.py",
        '        levels = self.levels - np.einsum("jtk,jk->jt", slopes, means)',
        "        levels = self.levels",
        "methods/sdr/test_local_lines.py",
    ),
    Fault(
        "methods/sdr/local_linear.py",
        "np.minimum(1.0, n_nearby / wanted)",
        "np.minimum(1.0, n_nearby)",
        "methods/sdr",
    ),
    Fault(
        "methods/sdr/gradients.py",
        "    lengths = np.sqrt(before.squares / before.squares[0])",
        "    lengths = before.squares / before.squares[0]",
        "methods/sdr",
    ),
    Fault(
        "methods/sdr/swaps.py",
        "    kernel[anchors, anchors] = 0.0",
        "    pass",
        "methods/sdr",
    ),
    Fault(
        "methods/mars/_sweep.py",
        "    first = end + ((places - 1) % span) // 2",
        "    first = end",
        "methods/mars",
    ),
    Fault(
        "methods/mars/forward.py",
        "    return int(3.0 - np.log2(RUN / n_inputs)) * (1 if n_factors == 1 else 2)",
        "    return int(3.0 - np.log2(RUN / n_inputs))",
        "methods/mars",
    ),
    Fault(
        "methods/mars/forward.py",
        '        first = np.argsort(ranks - AGING * ages, kind="stable")[: self.plan.fast_k]',
        '        first = np.argsort(ranks, kind="stable")[: self.plan.fast_k]',
        "methods/mars",
    ),
    Fault(
        "methods/mars/exhaustive.py",
        "                coefs[depth, row, target] = a[row, target] - share * a[j, target]",
        "                coefs[depth, row, target] = a[row, target]",
        "methods/mars",
    ),
    Fault(
        "methods/brownian_ridge/kernel.py",
        "    values += np.sqrt(lengths)",
        "    values += lengths",
        "methods/brownian_ridge",
    ),
    # Tables, the automatic mode, files
    Fault(
        "tables/target_means.py",
        "    return min(within * rows / (between - within), float(len(target)))",
        "    return min(within / (between - within), float(len(target)))",
        "tables",
    ),
    Fault(
        "tables/target_means.py",
        "encode(fit_encoders(codes[rest], T[rest]), codes[~rest])",
        "encode(fit_encoders(codes, T), codes[~rest])",
        "tables",
    ),
    Fault(
        "tables/dates.py",
        "(days.astype(np.int64) + 3) % 7 + 1",
        "(days.astype(np.int64) + 4) % 7 + 1",
        "tables",
    ),
    Fault(
        "model_selection/auto/intervals.py",
        "np.ceil(np.round((n + 1) * (1.0 + coverage) / 2.0, 9))",
        "np.floor(np.round((n + 1) * (1.0 + coverage) / 2.0, 9))",
        "model_selection/auto",
    ),
    Fault(
        "model_selection/auto/stacking.py",
        "            prediction[out] = mixed(chosen[:, out], self._shares(members, ~out))",
        "            prediction[out] = mixed(chosen[:, out], self._shares(members))",
        "model_selection/auto",
    ),
    Fault(
        "model_selection/auto/scores.py",
        "        spread = np.var(np.array(others)) * (n_parts - 1)",
        "        spread = np.var(np.array(others))",
        "model_selection/auto",
    ),
    Fault(
        "model_selection/auto/agreement.py",
        "        total += share * (rows.T * one.importances) @ rows",
        "        total += (rows.T * one.importances) @ rows",
        "model_selection/auto",
    ),
    Fault(
        "persistence/archive.py",
        "        total.update(content)",
        "        pass",
        "persistence",
    ),
    Fault(
        "persistence/arrays.py",
        "    if announced < present:",
        "    if False:",
        "persistence",
    ),
    Fault(
        "persistence/arrays.py",
        "any(length > len(content) for length in shape)",
        "False",
        "persistence",
    ),
    Fault(
        "persistence/archive.py",
        "    if sum(entry.compress_size for entry in entries) > n_bytes:",
        "    if False:",
        "persistence",
    ),
    Fault(
        "base/saved.py",
        "{zlib.crc32(entries.data):08x}",
        "{zlib.crc32(entries[:8].data):08x}",
        "load/test_files.py -k array",
    ),
)


def caught(fault: Fault) -> bool:
    """Whether the tests fail on a copy of the package with the fault in it."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "src"
        text = (ROOT / "src" / "kernlens" / fault.file).read_text(encoding="utf-8")
        # What was compiled once need not be again, unless it may hold the faulty line.
        stale = ("*.nbi", "*.nbc") if "compiled" in text else ()
        shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns(*stale))
        file = source / "kernlens" / fault.file
        if text.count(fault.right) != 1:
            raise SystemExit(f"{fault.file} has {text.count(fault.right)} times: {fault.right}")
        file.write_text(text.replace(fault.right, fault.wrong), encoding="utf-8")
        command = f"{sys.executable} -m pytest -x -q -n 0 -p no:cacheprovider {fault.tests}"
        finished = subprocess.run(
            command,
            shell=True,
            cwd=ROOT / "tests",
            env={**os.environ, "PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
    if finished.returncode not in (0, 1):
        raise SystemExit(f"pytest could not run {fault.tests}:\n{finished.stdout[-2000:]}")
    return finished.returncode == 1


def main(numbers: list[int]) -> int:
    """Try the faults with these numbers, or all of them, and say how many were caught."""
    chosen = numbers or list(range(len(FAULTS)))
    missed = []
    for number in chosen:
        fault = FAULTS[number]
        found = caught(fault)
        missed += [] if found else [number]
        print(number, "caught" if found else "MISSED", fault.file, fault.wrong.strip(), flush=True)
    print(f"{len(chosen) - len(missed)} of {len(chosen)} faults caught; missed: {missed}")
    return len(missed)


if __name__ == "__main__":
    raise SystemExit(main([int(number) for number in sys.argv[1:]]))

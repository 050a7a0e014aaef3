"""Runs one case in this process and says what it ended with."""

from __future__ import annotations

import pickle
import time
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from fuzz.arrays import Array
from fuzz.cases import Case
from fuzz.estimators import FLAT, estimator_of, family_of, own_files, task_of
from fuzz.looks import Look, looks_at
from fuzz.outcomes import FITTED, REFUSED, Finding, Outcome
from fuzz.refusals import is_refusal, is_sentence, our_line
from fuzz.warned import Leak, recorded
from kernlens import FunctionalGradient, GroupSampling

FIT = "model.fit(X, y, sample_weight=weights)"
BAD_FIT = "model.fit(np.full((len(X), 1), 1e150), y)"
#: Where rows are cut into two batches, the same text for any number of them.
CUT = "-(-2 * len(X) // 3)"
#: Two batches: most of the rows, and the rest, of which there may be one.
BATCHES = (
    "model.partial_fit(X[:{cut}], y[:{cut}]{classes}, sample_weight=weights[:{cut}])",
    "model.partial_fit(X[{cut}:], y[{cut}:], sample_weight=weights[{cut}:])",
)
#: Sizes that rows are told apart by in a report.
ORDINARY, FAR = 1e4, 1e100


def run(case: Case) -> Outcome:
    """Fit and look at everything."""
    start = time.perf_counter()
    outcome = _Trial(case).outcome()
    return replace(outcome, seconds=time.perf_counter() - start)


class _Trial:
    """A case while it runs."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.cls = estimator_of(case.estimator)
        self.own = own_files(case.estimator)
        X, y, weights = case.formed()
        self.names: dict[str, Any] = {
            "np": np, "X": X, "y": y, "weights": weights, "rows": case.formed_rows(),
        }  # fmt: skip
        self.findings: list[Finding] = []
        #: The model, in a report after the batches that it has learned from.
        self.chained = "model"

    def outcome(self) -> Outcome:
        """Fit, then look."""
        model = self.cls(**self.case.parameters)
        self.names["model"] = model
        before = self._prints()
        outcome = self._fit(before, dict(vars(model)))
        if hasattr(model, "partial_fit"):
            self._stream(before)
        return replace(outcome, findings=self._distinct())

    def _fit(self, before: dict[str, bytes], started: dict[str, Any]) -> Outcome:
        error = self._evaluate(FIT)[1]
        self._compare(before, FIT)
        if error is None:
            self._look_at_everything()
            self._compare(before, "the calls after the fit")
            self._fail_on_purpose()
            return Outcome(FITTED)
        self._compare_models(started, FIT)
        if self._is_refusal(error):
            return Outcome(REFUSED, message=str(error))
        finding = self._of_exception("foreign exception", FIT, error)
        self.findings.insert(0, finding)
        return Outcome(finding.kind)

    def _stream(self, before: dict[str, bytes]) -> None:
        """Learn from two batches instead, and look at everything again."""
        model = self.names["model"] = self.cls(**self.case.parameters)
        self.chained = "model"
        for batch in self._batches():
            started = dict(vars(model))
            error = self._evaluate(batch)[1]
            self._compare(before, batch)
            if error is not None:
                self._compare_models(started, batch)
                if not self._is_refusal(error):
                    self.findings.append(self._of_exception("foreign exception", batch, error))
                break
            self.chained += batch.removeprefix("model")
        # Rows of the batch that was refused may be refused in predictions, too.
        if self.chained != "model" and np.isfinite(self.case.X).all():
            self._look_at_everything()
            self._compare(before, "the calls after the batches")

    def _batches(self) -> Iterator[str]:
        """What the batches are learned by, of as many rows as there are."""
        classes = ", np.unique(y)" if task_of(self.case.estimator) == "classes" else ""
        for batch in BATCHES[: 1 + (len(self.case.X) > 2)]:
            text = batch.format(cut=CUT, classes=classes)
            yield text.partition(", sample_weight")[0] + ")" if self.case.weights is None else text

    def _evaluate(self, text: str) -> tuple[Any, Exception | None]:
        """What a line of Python gives, or what it raises; warnings become findings."""
        with recorded(self.own) as leaks:
            try:
                found, error = eval(text, dict(self.names)), None
            except Exception as raised:
                found, error = None, raised
        for leak in leaks:
            self._add_leak(text, leak)
        return found, error

    def _add_leak(self, where: str, leak: Leak) -> None:
        exception, detail, line = leak
        self.findings.append(Finding("RuntimeWarning", where, detail, exception, line))

    def _look_at_everything(self) -> None:
        y = self.case.y
        columns = y is not None and y.ndim == 2 and family_of(self.case.estimator) not in FLAT
        sizes = {
            "X": len(self.case.X),
            "rows": len(self.case.rows),
            "targets": y.shape[1] if columns else 0,
        }
        monotone = falls(self.case.parameters)
        model, task = self.names["model"], task_of(self.case.estimator)
        for look in looks_at(model, task, sizes, monotone):
            self._look(look)
        if (
            hasattr(model, "score")
            and _has_score(self.case)
            and not any(f.kind == "not finite" for f in self.findings)
        ):
            self._look(Look("model.score(X, y)", _finite))

    def _look(self, look: Look) -> None:
        found, error = self._evaluate(look.text)
        if isinstance(error, NotImplementedError) and self._is_sentence(error):
            # Predictions of another library's estimator have no gradient, which is documented.
            return
        if error is not None:
            kind = "refused a new row" if self._is_refusal(error) else "foreign exception"
            self.findings.append(self._of_exception(kind, look.text, error))
            return
        verdict = look.judge(found)
        if verdict is not None:
            kind, detail = verdict
            far = self._size_of_rows(look.text, found) if kind == "not finite" else ""
            where = self.chained + look.text.removeprefix("model")
            self.findings.append(Finding(kind, where + far, detail))

    def _size_of_rows(self, text: str, found: Any) -> str:
        """How far the nearest row is off that something is not finite at."""
        if "(rows)" not in text or "sensitivity" in text:
            return ""
        values = np.asarray(found).reshape(len(self.case.rows), -1)
        bad = ~np.isfinite(values).all(axis=1)
        size = np.abs(self.case.rows[bad]).max(axis=1).min()
        if size <= max(ORDINARY, 10.0 * np.nanmax(np.abs(self.case.X))):
            return "  # at rows of ordinary size"
        return "  # at far rows" if size <= FAR else "  # at rows beyond 1e100"

    def _fail_on_purpose(self) -> None:
        """A second fit that is refused must leave the model as it is."""
        before = dict(vars(self.names["model"]))
        error = self._evaluate(BAD_FIT)[1]
        if error is None:
            return
        self._compare_models(before, BAD_FIT)

    def _is_refusal(self, error: Exception) -> bool:
        return is_refusal(error, _argument_names(self.cls, self.case.parameters), self.own)

    def _is_sentence(self, error: Exception) -> bool:
        return is_sentence(str(error), _argument_names(self.cls, self.case.parameters))

    def _of_exception(self, kind: str, where: str, error: Exception) -> Finding:
        line = our_line(error, self.own)
        return Finding(kind, where, str(error)[:500], type(error).__name__, line)

    def _prints(self) -> dict[str, bytes]:
        """What must stay as it is."""
        given = {name: self.names[name] for name in ("X", "y", "weights", "rows")}
        return {name: pickle.dumps(value) for name, value in _flat(given, self.case.parameters)}

    def _compare(self, before: dict[str, bytes], where: str) -> None:
        model = self.names["model"]
        for name, print_ in self._prints().items():
            if print_ != before[name]:
                kind = "parameter" if name.startswith("parameter ") else "input"
                self.findings.append(Finding(f"{kind} changed", where, name))
        for name, value in self.case.parameters.items():
            if getattr(model, name, value) is not value:
                self.findings.append(Finding("parameter changed", where, f"parameter {name}"))

    def _compare_models(self, before: dict[str, Any], where: str) -> None:
        now = vars(self.names["model"])
        changed = [name for name in before.keys() | now.keys() if _differs(before, now, name)]
        if changed:
            detail = ", ".join(sorted(changed))
            self.findings.append(Finding("failed fit changed the model", where, detail))

    def _distinct(self) -> tuple[Finding, ...]:
        """Findings, each once; what is not finite makes other things so, and is one finding."""
        once: dict[tuple[str, ...], Finding] = {}
        for finding in self.findings:
            once.setdefault((*finding.signature, finding.place), finding)
        broken = [one for one in once.values() if one.kind == "not finite"]
        others = [one for one in once.values() if one.kind != "not finite"]
        if len(broken) > 1:
            also = ", ".join(one.where.split("  #")[0] for one in broken[1:])
            broken = [replace(broken[0], detail=f"{broken[0].detail}; also {also}")]
        return (*broken, *others)


def falls(parameters: dict[str, Any]) -> bool:
    """Whether the documentation says that the history never rises."""
    solver, basis = parameters.get("solver"), parameters.get("basis")
    residuals = isinstance(solver, FunctionalGradient) or solver in ("sfgd", "cg")
    return not residuals and not isinstance(basis, GroupSampling)


def _flat(given: dict[str, Any], parameters: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    yield from given.items()
    for name, value in parameters.items():
        yield f"parameter {name}", value


def _differs(before: dict[str, Any], now: dict[str, Any], name: str) -> bool:
    return name not in before or name not in now or before[name] is not now[name]


def _argument_names(cls: Any, parameters: dict[str, Any]) -> set[str]:
    """Arguments of the estimator, and of the objects among them."""
    names = set(cls().get_params(deep=False))
    for value in parameters.values():
        if is_dataclass(value):
            names.update(one.name for one in fields(value))
    return names


def _has_score(case: Case) -> bool:
    """Whether scikit-learn's score of the training rows is a number for any predictions."""
    if case.y is None or len(case.X) < 2:
        return False
    if case.y.dtype.kind != "f":
        return True
    size = np.abs(case.y).max()
    return bool(1e-50 < size < 1e50) and _varies(case.y)


def _varies(y: Array) -> bool:
    return bool(np.all(np.ptp(y, axis=0) > 1e-6 * np.abs(y).max()))


def _finite(found: Any) -> tuple[str, str] | None:
    return None if np.isfinite(found) else ("not finite", f"a score of {found}")

"""scikit-learn's callbacks (`set_callbacks`), where its version has them.

A fit is the task at the root, and every iteration that a learner reports is a task beneath it, with
the name of its stage.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

from kernlens._reports import FitProgress

if TYPE_CHECKING:

    class CallbackSupportMixin:
        """What scikit-learn gives an estimator that calls callbacks."""

        def _init_callback_context(self, **options: Any) -> Any: ...

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """Tear callbacks down at the end of a method."""

else:
    try:
        from sklearn.callback import CallbackSupportMixin, with_callbacks
    except ImportError:  # scikit-learn before 1.9

        class CallbackSupportMixin:
            """There are no callbacks to support."""

        def with_callbacks(method):
            """Leave a method as it is."""
            return method


Method = TypeVar("Method", bound=Callable[..., Any])


class FitTasks:
    """The tasks of one fit, as scikit-learn's callbacks are told of them.

    Parameters
    ----------
    estimator : estimator
        With callbacks.
    arrays : dict
        X, y and, in ``metadata``, weights, as the user gave them.
    """

    def __init__(self, estimator: Any, arrays: dict[str, Any]) -> None:
        self._estimator = estimator
        self._arrays = arrays
        self._root = estimator._init_callback_context(max_subtasks=None)
        self._root.call_on_fit_task_begin(estimator=estimator, **arrays)

    def __call__(self, progress: FitProgress) -> bool:
        """Tell of an iteration; return whether a callback asks to stop."""
        task = self._root.subcontext(task_name=progress.stage)
        # Of an iteration we hear when it is over.
        task.call_on_fit_task_begin(estimator=self._estimator, **self._arrays)
        asked: bool = task.call_on_fit_task_end(
            estimator=self._estimator,
            **self._arrays,
            reconstruction_attributes=lambda: _attributes(progress.model()),
        )
        return asked

    def end(self) -> None:
        """Tell of the end of the fit."""
        self._root.call_on_fit_task_end(
            estimator=self._estimator,
            **self._arrays,
            reconstruction_attributes=lambda: _attributes(self._estimator),
        )


def _attributes(model: Any) -> dict[str, Any] | None:
    """What a copy of the estimator needs to be this model."""
    return None if model is None else dict(vars(model))


def observed(fit: Method) -> Method:
    """Let scikit-learn's callbacks, if there are any, follow a fit."""
    signature = inspect.signature(fit)

    @with_callbacks
    def followed(self: Any, *args: Any, **options: Any) -> Any:
        given = signature.bind(self, *args, **options).arguments
        weights = given.get("sample_weight")
        metadata = None if weights is None else {"sample_weight": weights}
        self._fit_tasks = FitTasks(
            self, {"X": given["X"], "y": given.get("y"), "metadata": metadata}
        )
        try:
            outcome = fit(self, *args, **options)
            self._fit_tasks.end()
        finally:
            del self._fit_tasks
        return outcome

    @wraps(fit)
    def fit_observed(self: Any, *args: Any, **options: Any) -> Any:
        if not hasattr(self, "_skl_callbacks"):
            return fit(self, *args, **options)
        return followed(self, *args, **options)

    return cast(Method, fit_observed)

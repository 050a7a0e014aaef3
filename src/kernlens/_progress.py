"""Progress bars, one per stage of a long fit."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType

from tqdm.auto import tqdm


class StageBars:
    """A bar that counts iterations, relabelled when the stage changes.

    Use as a context manager; calling it with the name of a stage returns the callback that the
    iterations of that stage report to.
    """

    def __init__(self, title: str) -> None:
        self._bar = tqdm(desc=title, unit=" steps", leave=True)
        self._title = title

    def __call__(self, stage: str) -> Callable[[int, float], None]:
        def report(iteration: int, objective: float) -> None:
            self._bar.set_description_str(f"{self._title}: {stage}", refresh=False)
            self._bar.set_postfix_str(f"objective {objective:.6g}", refresh=False)
            self._bar.update()

        return report

    def __enter__(self) -> StageBars:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.close()

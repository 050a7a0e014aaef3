"""What a case may end with."""

from __future__ import annotations

from dataclasses import dataclass

FITTED, REFUSED = "fitted", "refused"
#: Kinds of findings, the gravest first.
KINDS = (
    "crash",
    "hang",
    "foreign exception",
    "refused a new row",
    "not finite",
    "wrong shape",
    "wrong value",
    "input changed",
    "parameter changed",
    "failed fit changed the model",
    "history rises",
    "RuntimeWarning",
)
#: Kinds that have no line of code to be known by, but what they were seen at.
BY_PLACE = ("not finite", "wrong shape", "wrong value")


@dataclass(frozen=True)
class Finding:
    """Something that should not be.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    where : str
        Python that showed it, such as ``model.predict(rows)``.
    detail : str
        A message, or what was seen instead of what was expected.
    exception : str
        Name of the type of an exception or warning, if there was one.
    line : str
        File and line of kernlens that it came from, if that is known.
    """

    kind: str
    where: str
    detail: str = ""
    exception: str = ""
    line: str = ""

    @property
    def signature(self) -> tuple[str, str, str]:
        """What stays the same while a case is made smaller."""
        return self.kind, self.exception, self.where if self.kind in BY_PLACE else self.line

    @property
    def place(self) -> str:
        """Where it came from, as well as that is known."""
        return self.line or self.where


@dataclass(frozen=True)
class Outcome:
    """The end of a case.

    Attributes
    ----------
    state : str
        "fitted" or "refused", or the kind of the finding that kept the fit from ending.
    findings : tuple of Finding
    seconds : float
        How long it took, by the clock.
    message : str
        The sentence of a refusal.
    """

    state: str
    findings: tuple[Finding, ...] = ()
    seconds: float = 0.0
    message: str = ""

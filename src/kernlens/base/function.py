"""What every fit ends with: a function of the inputs that has values and gradients."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol, runtime_checkable

from kernlens._array import FloatArray


@runtime_checkable
class FittedFunction(Protocol):
    """Functions of inputs (n_samples, n_inputs), one per target, in the units of the fit.

    Attributes
    ----------
    kind : str
        Name that a saved model knows the class by.
    """

    kind: ClassVar[str]

    def decision(self, X: FloatArray) -> FloatArray:
        """Values, (n_targets, n_samples)."""

    def gradient(self, X: FloatArray) -> FloatArray:
        """Gradients, (n_targets, n_samples, n_inputs); almost everywhere if there are kinks."""

    def arrays(self) -> dict[str, Any]:
        """What it is made of, by the names of fitted attributes."""

"""Models kept in files, and read again without running anything that a file says."""

from kernlens.persistence.errors import ModelFileError
from kernlens.persistence.loading import load
from kernlens.persistence.saving import save

__all__ = ["ModelFileError", "load", "save"]

"""Why a model file is refused, in one sentence."""

from __future__ import annotations


class ModelFileError(ValueError):
    """A file that :func:`kernlens.load` refuses; the sentence says why, and what to do.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import kernlens
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "note.txt"
    ...     _ = path.write_text("no model")
    ...     try:
    ...         kernlens.load(path)
    ...     except kernlens.ModelFileError as error:
    ...         print(str(error).replace(folder, "folder"))
    folder/note.txt is not a model file of kernlens (it is no zip archive): give the path of a \
file that kernlens.save wrote.
    """


class Refusal(Exception):
    """A reason for a refusal, by the functions that do not know the name of the file."""

    def sentence(self, path: str) -> str:
        """The whole sentence about a file."""
        raise NotImplementedError


class Foreign(Refusal):
    """The file is something else."""

    def sentence(self, path: str) -> str:
        return (
            f"{path} is not a model file of kernlens ({self}): give the path of a file that "
            "kernlens.save wrote."
        )


class Damaged(Refusal):
    """The file is not what was written."""

    def sentence(self, path: str) -> str:
        return f"{path} is damaged ({self}): take another copy of it, or save the model again."


class Newer(Refusal):
    """The file was written by a later version."""

    def sentence(self, path: str) -> str:
        return f"{path} was written by a newer version ({self}): update kernlens and skops."


class Forbidden(Refusal):
    """The file asks for something that is no part of a model."""

    def sentence(self, path: str) -> str:
        return (
            f"{path} asks for {self}, which kernlens does not make from a file: do not use it "
            "unless you know who wrote it, and then with skops.io.load."
        )


class Oversized(Refusal):
    """The file asks for more memory than it has data for."""

    def sentence(self, path: str) -> str:
        return (
            f"{path} asks for more memory than its size justifies ({self}): do not use it, or "
            "take another copy."
        )

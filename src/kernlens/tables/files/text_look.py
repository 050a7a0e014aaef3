"""One pass over a text file before anything is made of it: encoding, NUL bytes, endless lines."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import BinaryIO

from kernlens.tables.files.errors import TableFileError

CHUNK = 2**20
#: Bytes of a line that no table of rows has.
LONGEST_LINE = 2**25
#: Characters of the beginning that say how the file is written.
SAMPLE = 2**18

_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_NOT_UTF_8 = re.compile("[\udc80-\udcff]")
_BEYOND_ASCII = re.compile("[^\x00-\x7f\udc80-\udcff]")


@dataclass(frozen=True)
class TextLook:
    """How a text file is written.

    Attributes
    ----------
    encoding : str
        As Python names it.
    sample : str
        The beginning, at most `SAMPLE` characters.
    foreign_line : int
        The first line that is not UTF-8; 0 if all are.
    """

    encoding: str
    sample: str
    foreign_line: int


def look_at_text(stream: BinaryIO, name: str) -> TextLook:
    """Read a stream to its end, in bounded memory, and refuse what is no text table."""
    first = stream.read(CHUNK)
    wide = first.startswith(_UTF_16)
    decode = codecs.getincrementaldecoder("utf-16")("replace").decode
    pass_ = _Pass(name)
    chunk = first
    while chunk:
        pass_.see(decode(chunk).encode("utf-8", errors="replace") if wide else chunk)
        chunk = stream.read(CHUNK)
    if wide:
        return TextLook("utf-16", first.decode("utf-16", errors="replace")[:SAMPLE], 0)
    encoding = pass_.encoding()
    if encoding == "utf-8" and first.startswith(codecs.BOM_UTF8):
        encoding = "utf-8-sig"
    sample = first.decode(encoding, errors="replace")[:SAMPLE]
    return TextLook(encoding, sample, pass_.foreign_line)


class _Pass:
    """What was seen of the bytes so far."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._n_lines = 0
        self._without_end = 0
        self.foreign_line = 0
        self._utf_8_line = 0

    def see(self, chunk: bytes) -> None:
        """Look at the next bytes."""
        place = chunk.find(b"\0")
        if place >= 0:
            line = self._n_lines + chunk.count(b"\n", 0, place) + 1
            raise TableFileError(
                f"Line {line} of {self._name} has a NUL byte: it is no text table, or damaged. "
                "Save it again as CSV in UTF-8."
            )
        self._check_length(chunk)
        if not chunk.isascii() or self._decoder.getstate()[0]:
            self._see_letters(self._decoder.decode(chunk))
        self._n_lines += chunk.count(b"\n")

    def _check_length(self, chunk: bytes) -> None:
        end = max(chunk.rfind(b"\n"), chunk.rfind(b"\r"))
        self._without_end = self._without_end + len(chunk) if end < 0 else len(chunk) - end - 1
        if self._without_end > LONGEST_LINE:
            line = self._n_lines + chunk.count(b"\n") + 1
            raise TableFileError(
                f"Line {line} of {self._name} is longer than "
                f"{LONGEST_LINE // 2**20} MB: it is no table with a row on each line."
            )

    def _see_letters(self, letters: str) -> None:
        foreign = None if self.foreign_line else _NOT_UTF_8.search(letters)
        if foreign:
            self.foreign_line = self._n_lines + letters.count("\n", 0, foreign.start()) + 1
        proper = None if self._utf_8_line else _BEYOND_ASCII.search(letters)
        if proper:
            self._utf_8_line = self._n_lines + letters.count("\n", 0, proper.start()) + 1

    def encoding(self) -> str:
        """UTF-8, or that of old Windows programs; never a mixture."""
        if not self.foreign_line:
            return "utf-8"
        if self._utf_8_line:
            raise TableFileError(
                f"{self._name} mixes encodings: line {self._utf_8_line} is in UTF-8 and line "
                f"{self.foreign_line} is not. Save it again in UTF-8."
            )
        return "cp1252"

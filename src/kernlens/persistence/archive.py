"""The envelope: a zip archive that says what it is, and whether it is still what was written.

Members are ``kernlens.json`` with the version of the format and a digest of all others,
``schema.json``, the text of skops, and the arrays ``0.npy``, ``1.npy`` and so on, in the order that
the text names them in. skops can read it too. The same model gives the same bytes.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import struct
import zipfile
import zlib
from typing import Any

from kernlens._version import __version__
from kernlens.persistence.errors import Damaged, Foreign, Newer, Oversized

#: Version of the format. A reader refuses later ones.
FORMAT = 1
MANIFEST = "kernlens.json"
SCHEMA = "schema.json"
#: A longer text is not compressed, so that no text can become much longer than its file.
LONGEST_COMPRESSED = 2**20
LONGEST_MANIFEST = 1000
#: Zip archives have no earlier time; the real one would make files of one model differ.
_TIME = (1980, 1, 1, 0, 0, 0)
_ARRAY = re.compile(r"(0|[1-9][0-9]{0,7})\.npy")

#: What zipfile raises for flipped bytes: encrypted members, unknown methods, wrong places.
UNREADABLE = (
    *(zipfile.BadZipFile, zlib.error, RuntimeError, OSError, EOFError),
    *(ValueError, OverflowError, LookupError, struct.error),
)

Members = dict[str, bytes]


def array_name(place: int) -> str:
    """Name of an array by its place in the text."""
    return f"{place}.npy"


def pack(members: Members) -> bytes:
    """The bytes of a model file of these members, text and arrays."""
    about = {"format": FORMAT, "kernlens": __version__, "sha256": digest(members)}
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        for name, content in {MANIFEST: json.dumps(about).encode(), **members}.items():
            entry = zipfile.ZipInfo(name, _TIME)
            if name == SCHEMA and len(content) <= LONGEST_COMPRESSED:
                # Arrays of learned numbers hardly become smaller; the text does, fifteen times.
                entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return whole.getvalue()


def unpack(content: bytes) -> Members:
    """Text and arrays of a model file, or a refusal."""
    if not content.startswith(b"PK"):
        raise Foreign("it is no zip archive")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            _check_entries(archive.infolist(), len(content))
            about = _manifest(archive)
            members = {
                entry.filename: _read(archive, entry)
                for entry in archive.infolist()
                if entry.filename != MANIFEST
            }
    except UNREADABLE as error:
        raise Damaged("the zip archive cannot be read") from error
    if about["sha256"] != digest(members):
        raise Damaged("its content is not what was written")
    return members


def digest(members: Members) -> str:
    """SHA-256 of names, lengths and contents, in the order of the members."""
    total = hashlib.sha256()
    for name, content in members.items():
        total.update(f"{name}\n{len(content)}\n".encode())
        total.update(content)
    return total.hexdigest()


def as_skops(members: Members) -> bytes:
    """The members alone, uncompressed: what is read by skops is what was looked at."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return whole.getvalue()


def _check_entries(entries: list[zipfile.ZipInfo], n_bytes: int) -> None:
    """Refuse names, kinds and sizes that no model file has, before anything is unpacked."""
    names = [entry.filename for entry in entries]
    if MANIFEST not in names:
        raise Foreign(f"it has no {MANIFEST}")
    if len(set(names)) < len(names) or SCHEMA not in names:
        raise Damaged("members of the zip archive are missing or twice")
    for entry in entries:
        known = entry.filename in (MANIFEST, SCHEMA) or _ARRAY.fullmatch(entry.filename)
        if not known or entry.is_dir():
            raise Damaged("the zip archive has members that kernlens does not write")
        if entry.compress_type == zipfile.ZIP_DEFLATED and entry.filename == SCHEMA:
            if entry.file_size > LONGEST_COMPRESSED:
                raise Oversized("its text is announced as too long")
        elif entry.compress_type != zipfile.ZIP_STORED or entry.file_size != entry.compress_size:
            raise Damaged("members of the zip archive are compressed in a way not of kernlens")
    # Members that overlap would be read more often than they are there.
    if sum(entry.compress_size for entry in entries) > n_bytes:
        raise Oversized("members of the zip archive overlap")


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """A member, unpacked as far as it says that it reaches; its check sum is compared."""
    with archive.open(entry) as member:
        # Without a number zipfile would unpack all there is, and cut it off afterwards.
        content = member.read(entry.file_size + 1)
    if len(content) != entry.file_size:
        raise Damaged("a member of the zip archive is not as long as it says")
    return content


def _manifest(archive: zipfile.ZipFile) -> dict[str, Any]:
    entry = archive.getinfo(MANIFEST)
    if entry.file_size > LONGEST_MANIFEST:
        raise Foreign(f"its {MANIFEST} is too long")
    try:
        about = json.loads(_read(archive, entry))
    except (ValueError, RecursionError):
        raise Foreign(f"its {MANIFEST} is not JSON") from None
    if not isinstance(about, dict) or type(about.get("format")) is not int:
        raise Foreign(f"its {MANIFEST} has no format")
    if about["format"] > FORMAT:
        raise Newer(f"format {str(about['format'])[:20]}; this one reads up to {FORMAT}")
    if about["format"] < 1 or not isinstance(about.get("sha256"), str):
        raise Damaged(f"its {MANIFEST} is not what was written")
    return about

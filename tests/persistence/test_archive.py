"""The envelope of a model file: what is not what was written is refused."""

from __future__ import annotations

import copy
import io
import zipfile

import numpy as np
import pytest

from kernlens.persistence.archive import MANIFEST, SCHEMA, pack, unpack
from kernlens.persistence.arrays import check_array
from kernlens.persistence.errors import Damaged, Oversized

MEMBERS = {SCHEMA: b"{}", "0.npy": b"first", "1.npy": b"other"}


def test_members_come_back():
    assert unpack(pack(MEMBERS)) == MEMBERS


@pytest.mark.parametrize(
    "changed",
    [
        {**MEMBERS, "0.npy": b"First"},
        {SCHEMA: b"{}", "0.npy": b"other", "1.npy": b"first"},
        {SCHEMA: b"{}", "1.npy": b"first", "0.npy": b"other"},
        {SCHEMA: b"{}", "0.npy": b"first"},
    ],
)
def test_a_whole_archive_with_other_members_is_refused(changed):
    # The check sums of the zip archive are right, so that only the digest can tell.
    with zipfile.ZipFile(io.BytesIO(pack(MEMBERS))) as archive:
        manifest = archive.read(MANIFEST)
    forged = io.BytesIO()
    with zipfile.ZipFile(forged, "w") as archive:
        for name, content in {MANIFEST: manifest, **changed}.items():
            archive.writestr(name, content)
    with pytest.raises(Damaged, match="not what was written"):
        unpack(forged.getvalue())


def test_members_that_are_announced_in_the_same_place_are_refused():
    forged = io.BytesIO()
    with zipfile.ZipFile(forged, "w") as archive:
        for name, content in {MANIFEST: b"{}", SCHEMA: b"{}", "0.npy": bytes(10_000)}.items():
            archive.writestr(name, content)
        for k in range(1, 5):
            again = copy.copy(archive.getinfo("0.npy"))
            again.filename = f"{k}.npy"
            archive.filelist.append(again)
    with pytest.raises(Oversized, match="overlap"):
        unpack(forged.getvalue())


def test_an_array_has_exactly_the_data_that_it_announces():
    packed = io.BytesIO()
    np.save(packed, np.arange(6.0).reshape(2, 3))
    content = packed.getvalue()
    check_array(content)
    with pytest.raises(Damaged, match="more data"):
        check_array(content + b"x")
    with pytest.raises(Oversized):
        check_array(content[:-1])


@pytest.mark.parametrize("shape", [(0, 10**12), (10**400, 0)])
def test_an_array_without_entries_has_no_long_axis(shape):
    packed = io.BytesIO()
    described = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(packed, described)
    with pytest.raises(Oversized):
        check_array(packed.getvalue())

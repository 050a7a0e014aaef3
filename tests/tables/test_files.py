"""Tables from files: what strangers have on their disks, and what nobody should have."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from kernlens.tables.files import TableFileError, delimited, opened_table, text_look
from kernlens.tables.files.spelling import DECIMAL_COMMAS, THOUSANDS, numbers_of_texts, style_of


def read(path: Path, data: bytes | str, **options):
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    with opened_table(str(path), **options) as table:
        return table.read(), table.notes


def refusal(path: Path, data: bytes | str) -> str:
    with pytest.raises(TableFileError) as caught:
        read(path, data)
    said = str(caught.value)
    assert said.endswith(".") and "\n" not in said
    return said


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_the_same_table_however_it_is_written(tmp_path, delimiter, end, encoding):
    lines = [["a", "b"], ["1.5", "Köln"], ["-2", '"two words"'], ["", "x"]]
    text = end.join(delimiter.join(line) for line in lines) + end
    frame, _ = read(tmp_path / "t.txt", text.encode(encoding))
    assert list(frame.columns) == ["a", "b"]
    np.testing.assert_array_equal(frame["a"], [1.5, -2.0, np.nan])
    assert frame["b"].tolist() == ["Köln", "two words", "x"]


def test_quoted_cells_may_have_delimiters_quotes_and_lines(tmp_path):
    frame, _ = read(tmp_path / "t.csv", 'a,b\n1,"x, ""y""\r\nz"\n2,u\n')
    assert frame["b"].tolist() == ['x, "y"\r\nz', "u"]


def test_old_windows_files_are_read_and_said(tmp_path):
    frame, notes = read(tmp_path / "t.csv", "a,b\n1,x\n2,Köln €\n".encode("cp1252"))
    assert frame["b"].tolist() == ["x", "Köln €"]
    assert notes == ["Line 3 is not UTF-8: the file was read as Windows-1252."]


def test_names_are_never_empty_and_never_twice(tmp_path):
    frame, notes = read(tmp_path / "t.csv", "y, y,,y (2),y\n1,2,3,4,5\n6,7,8,9,0\n")
    assert list(frame.columns) == ["y", "y (3)", "column 3", "y (2)", "y (4)"]
    assert len(notes) == 3


def test_a_file_without_names_is_noticed(tmp_path):
    frame, notes = read(tmp_path / "t.csv", "1,2.5\n3,4\n")
    assert frame.to_numpy().tolist() == [[1, 2.5], [3, 4]]
    assert list(frame.columns) == ["column 1", "column 2"] and len(notes) == 1
    frame, notes = read(tmp_path / "t.csv", "2019,2020\n3,4\n", header=True)
    assert list(frame.columns) == ["2019", "2020"] and notes == []
    frame, _ = read(tmp_path / "t.csv", "a,b\n3,4\n", header=False)
    assert frame["column 1"].tolist() == ["a", "3"]


def test_decimal_commas_and_thousands_by_what_all_cells_allow(tmp_path):
    frame, notes = read(tmp_path / "t.csv", "a;b;c\n1,5;1.234,5;1,234\n2;12;2,500\n")
    assert frame.to_numpy().tolist() == [[1.5, 1234.5, 1.234], [2.0, 12.0, 2.5]]
    assert notes == ["Numbers with decimal commas: 'a', 'b', 'c'."]
    frame, _ = read(tmp_path / "t.csv", 'a,b\n"1,234","1,234,567.5"\n12,3\n')
    assert frame.to_numpy().tolist() == [[1234.0, 1234567.5], [12.0, 3.0]]
    frame, _ = read(tmp_path / "t.csv", 'a,b\n"1,2 or 3",x\n"1,5",y\n')
    assert frame["a"].tolist() == ["1,2 or 3", "1,5"]


@pytest.mark.parametrize(
    ("cells", "delimiter", "style"),
    [
        (["1,234", "5"], ",", THOUSANDS),
        (["1,234", "5"], ";", DECIMAL_COMMAS),
        (["1,2345"], ",", DECIMAL_COMMAS),
        (["1 234,5", "NA"], ",", DECIMAL_COMMAS),
        (["1,234.5"], ";", THOUSANDS),
        (["12.5", "7,5"], ";", None),
        (["a,b"], ",", None),
        (["5"], ",", None),
    ],
)
def test_the_style_of_a_column(cells, delimiter, style):
    assert style_of(np.array(cells, dtype=object), delimiter) == style


def test_codes_stay_text_and_gaps_are_gaps():
    def numbers(*cells):
        return numbers_of_texts(np.array(cells, dtype=object), None)

    assert numbers("007", "12") is None
    assert numbers("1", "x") is None
    np.testing.assert_array_equal(
        numbers("0.5", "0", "NA", " ", "1e3"), [0.5, 0, *[np.nan] * 2, 1e3]
    )


def test_blocks_are_the_table_in_pieces(tmp_path):
    text = "a,b\n" + "".join(f"{k},t{k}\n" for k in range(25))
    whole, _ = read(tmp_path / "t.csv", text)
    for name, data in (("t.csv", text.encode()), ("t.csv.gz", gzip.compress(text.encode()))):
        (tmp_path / name).write_bytes(data)
        with opened_table(str(tmp_path / name)) as table:
            blocks = list(table.blocks(10))
        assert [len(block) for block in blocks] in ([9, 10, 6], [10, 10, 5])
        pd.testing.assert_frame_equal(pd.concat(blocks, ignore_index=True), whole)


def test_a_column_can_be_kept_as_text_in_every_block(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,1.0\n2,2\n")
    with opened_table(str(tmp_path / "t.csv")) as table:
        (block,) = table.blocks(5, text=["b"])
    assert block["b"].tolist() == ["1.0", "2"] and block["a"].tolist() == [1.0, 2.0]


@pytest.mark.parametrize("kind", ["parquet", "feather"])
@pytest.mark.parametrize("packed", [False, True])
def test_parquet_and_feather(tmp_path, kind, packed):
    frame = pd.DataFrame({"a": [1.5, None], "b": ["x", "y"], "t": pd.date_range("2024", periods=2)})
    path = tmp_path / f"t.{kind}"
    getattr(frame, f"to_{kind}")(path)
    data = path.read_bytes()
    found, _ = read(tmp_path / "any-name", gzip.compress(data) if packed else data)
    assert found["a"].isna().tolist() == [False, True] and found["t"].dt.day.tolist() == [1, 2]
    assert "damaged" in refusal(tmp_path / "any-name", data[:-20])


def test_json_lines(tmp_path):
    frame, _ = read(tmp_path / "t.jsonl", '{"a": 1, "b": "x"}\n\n{"a": 2.5, "c": true}\n')
    assert list(frame.columns) == ["a", "b", "c"] and frame["a"].tolist() == [1.0, 2.5]
    assert "Line 2 of" in refusal(tmp_path / "t.jsonl", '{"a": 1}\n{"a": \n')
    assert "no JSON object" in refusal(tmp_path / "t.jsonl", '{"a": 1}\n[2]\n')
    assert "one JSON array" in refusal(tmp_path / "t.json", '[{"a": 1}]')
    assert "nested" in refusal(tmp_path / "t.jsonl", '{"a": ' + "[" * 100_000 + "\n")
    frame, _ = read(tmp_path / "t.jsonl", '{"a": ' + "9" * 5000 + '}\n{"a": 1}\n')
    assert frame["a"].tolist() == [np.inf, 1.0]


def test_the_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"a,b\n1,2\n")))
    with opened_table("-") as table:
        assert table.read().to_numpy().tolist() == [[1.0, 2.0]]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "is empty"),
        (b"\n\n \n", "is empty"),
        (b"a,b\n1,2\n3,4,5\n", "Line 3 of"),
        (b'a,b\n"1\n2",3\n3,4,5\n', "Line 4 of"),
        (b'a,b\n1,"2\n3,4\n', "never closed"),
        (b"a,b\n1,\x002\n", "Line 2 of"),
        ("a,b\né,1\n".encode() + b"\xe9,2\n", "line 2 is in UTF-8 and line 3 is not"),
        (b"PK\x03\x04" + b"x" * 99, "workbook"),
        (gzip.compress(b"a,b\n" * 5000)[:-9], "damaged gzip"),
        (b"\x1f\x8b\x08" + b"x" * 40, "damaged gzip"),
    ],
)
def test_what_is_no_table_is_one_sentence(tmp_path, data, says):
    assert says in refusal(tmp_path / "t.csv", data)


@pytest.mark.parametrize("name", ["t.parquet", "t.feather", "T.PARQUET.GZ"])
def test_a_table_of_another_format_than_its_name_says(tmp_path, name):
    assert "whatever its name says" in refusal(tmp_path / name, b"a,b\n1,2\n")


def test_without_pyarrow_the_sentence_is_a_command(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for start in (b"PAR1\0", b"ARROW1"):
        says = refusal(tmp_path / "t.parquet", start + bytes(40))
        assert says.endswith("needs pyarrow to be read: python -m pip install pyarrow.")


@pytest.mark.parametrize(("encoding", "letter"), [("utf-8", b"x"), ("utf-16-le", b"x\0")])
def test_a_line_without_end_is_refused_in_little_memory(encoding, letter, monkeypatch):
    monkeypatch.setattr(text_look, "LONGEST_LINE", 10_000)
    monkeypatch.setattr(text_look, "CHUNK", 1000)
    seen = []

    class Endless(io.RawIOBase):
        def read(self, size=-1):
            seen.append(size)
            if len(seen) > 1:
                return letter * (size // len(letter))
            return ("a,b\n1,2\n" if len(letter) == 1 else "\ufeffa,b\n1,2\n").encode(encoding)

    with pytest.raises(TableFileError, match="Line 3 of it is longer"):
        text_look.look_at_text(Endless(), "it")
    assert sum(seen) < 30_000


def test_files_that_are_not_there(tmp_path):
    (tmp_path / "houses.csv").write_text("a\n1\n")
    with (
        pytest.raises(TableFileError, match=r"names like it are 'houses\.csv'\.$"),
        opened_table(str(tmp_path / "house.csv")),
    ):
        pass
    with pytest.raises(TableFileError, match="is a folder"), opened_table(str(tmp_path)):
        pass


def test_formulas_scripts_and_ten_thousand_columns_are_only_text(tmp_path):
    frame, _ = read(tmp_path / "t.csv", "=1+1,<script>\n@a,</script>\n+b,x\n")
    assert list(frame.columns) == ["=1+1", "<script>"] and frame["=1+1"].tolist() == ["@a", "+b"]
    header = ",".join(f"c{k}" for k in range(10_000))
    row = ",".join("1" for _ in range(10_000))
    frame, _ = read(tmp_path / "t.csv", f"{header}\n{row}\n{row}\n")
    assert frame.shape == (2, 10_000) and set(frame.dtypes.astype(str)) == {"float64"}


def test_the_delimiter_is_what_gives_rows_of_one_length():
    assert delimited.best_delimiter("a;b\n1,5;2,5\n3,5;4\n") == ";"
    assert delimited.best_delimiter("a,b\nx;y,1\nz,2\n") == ","
    assert delimited.best_delimiter("name\nx\ny\n") == ","

"""Hostile tables (CSV, JSON, Parquet, fastText): many columns or keys, long cells, bombs, deep nesting."""

import csv
import gzip
import json
import threading
import zipfile

import pytest

from hostile import read_all
from manylabel.data import read
from manylabel.exceptions import DataError


def test_many_columns_or_keys(tmp_path):
    header = ["text", *(f"c{number}" for number in range(150_000))]
    rows = [",".join(header), ",".join(["x"] + ["1"] * 150_000), ",".join(["y"] + ["0"] * 150_000)]
    (tmp_path / "wide.csv").write_text("\n".join(rows))
    (tmp_path / "wider.csv").write_text("text" + ",a" * 300_000 + "\n")
    keys = [json.dumps({"text": "x", f"k{number}": 1}) for number in range(30_000)]
    (tmp_path / "keys.jsonl").write_text("\n".join(keys))
    found = read_all([tmp_path / name for name in ("wide.csv", "wider.csv", "keys.jsonl")], tmp_path)
    assert found["wide.csv"] is None
    assert "line 1: There are 300,001 columns" in found["wider.csv"]
    assert "limits={'columns': " in found["wider.csv"]
    assert "empty cells" in found["keys.jsonl"]
    assert "limits={'empty_cells': " in found["keys.jsonl"]


def test_label_cells_of_a_megabyte(tmp_path):
    cells = {
        "list": "['a'," + "'a', " * 200_000 + "]",
        "escaped": "['\\'', " * 125_000,
        "open": "[" * 1_000_000,
        "separated": "a;" * 500_000,
        "addresses": "<a> " * 250_000,
        "blanks": "<a>" + " " * 1_000_000 + "x",
        "signs": " <" * 500_000,
    }
    for name, cell in cells.items():
        with (tmp_path / f"{name}.csv").open("w", newline="") as stream:
            csv.writer(stream).writerows([["text", "labels"], ["x", cell], ["y", "a"]])
    read_all(sorted(tmp_path.glob("*.csv")), tmp_path)


def test_gzip_bombs_are_refused(tmp_path):
    bombs = {}
    for kind, piece in (("line", b"\0"), ("lines", b"a" * 61 + b",b\n")):
        block = gzip.compress(piece * ((4 << 20) // len(piece)))
        for name in ("a.csv", "a.jsonl", "a.ft", "a.svm", "a.tar", "a.arff"):
            bombs[f"{kind}-{name}.gz"] = gzip.compress(b"text,labels\n") + block * 16  # 64 MB in 64 kB
    for name, data in bombs.items():
        (tmp_path / name).write_bytes(data)
    found = read_all(sorted(tmp_path.glob("*.gz")), tmp_path)
    assert None not in found.values()
    assert "limits={'expansion': " in found["lines-a.csv.gz"]


def test_a_bomb_can_be_allowed(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"text,labels\n" + (b"a" * 999 + b",b\n") * 6000))
    with pytest.raises(DataError, match=r"100 times as much.*limits={'expansion': "):
        read(path)
    assert len(read(path, limits={"expansion": 1100}).corpus) == 6000


def test_200_000_labels_in_a_line_of_fasttext(tmp_path):
    path = tmp_path / "a.ft"
    path.write_text(" ".join(f"__label__{number}" for number in range(200_000)) + " text\n")
    assert len(read(path).corpus.label_names) == 200_000


@pytest.mark.parametrize("text", ["[" * 100_000, '{"text":' * 50_000, '{"text": ' + "[" * 990 + "]" * 990 + "}"])
@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_deep_json_is_refused(name, text, tmp_path):
    path = tmp_path / name
    path.write_text(text + "\n")
    with pytest.raises(DataError, match=r"(line 1|a.json): .*(nested more than 100 deep|not JSON|array of objects)"):
        read(path, format="jsonl" if name == "a.jsonl" else "json")


@pytest.mark.parametrize("value", ["9" * 5000, "-" + "1" * 5000, '"\\ud800"'])
def test_odd_numbers_and_halves_of_characters_in_json(value, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(f'{{"text": "x", "labels": ["a"], "n": {value}}}\n')
    with pytest.raises(DataError, match=r"a.jsonl, line 1: The line (is not JSON|holds half)"):
        read(path)


def test_the_limit_of_cells_is_never_changed_while_reading(tmp_path):
    """The csv module's limit belongs to the whole process: readers in several threads must not change it."""
    path = tmp_path / "a.csv"
    path.write_text("text,labels\n" + f'"{"x " * 200_000}",a\n' * 3)
    before = csv.field_size_limit()
    seen, failures = set(), []

    def work():
        try:
            for _ in range(5):
                read(path)
                seen.add(csv.field_size_limit())
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert seen == {before}


def test_a_row_of_excel_with_an_impossible_number(tmp_path):
    """Without a bound all rows up to that number would be made up, one by one."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["text", "labels"], ["late bus", "a"], ["full bin", "b"]):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    with zipfile.ZipFile(tmp_path / "a.xlsx") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(tmp_path / "b.xlsx", "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, part.replace(b'<row r="3"', b'<row r="2147483648"'))
    with pytest.raises(DataError, match="row with a number above 1,048,576"):
        read(tmp_path / "b.xlsx")

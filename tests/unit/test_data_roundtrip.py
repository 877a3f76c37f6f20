"""What is written is read back, in every format that can be written, packed or not."""

import gzip
from dataclasses import replace

import numpy as np
import pytest

from manylabel.data import Corpus, read, write
from manylabel.data.formats import FORMATS
from manylabel.estimator import Csr
from manylabel.exceptions import DataError, ParameterError, UnknownFormatError, UnknownNameError

TEXTS = Corpus(
    ids=["a-1", "b-2", "c-3", "d-4"],
    fields={"text": ['He said "no", twice', "naïve café – 日本", "plain; text | here", "x"]},
    labels=[["art", "sport/ball"], ["sport/ball"], [], ["zoo"]],
)
COUNTS = Corpus(
    ids=["1", "2", "3"],
    labels=[["b", "c"], [], ["a"]],
    label_names=["a", "b", "c"],
    counts=Csr(np.array([[0, 2, 0, 0.1], [0, 0, 0, 0], [1, 0, 1e-7, 0]])),
    terms=["it's", "two words", "b", "per%cent"],
)
FILES = {
    "csv": "d.csv", "tsv": "d.tsv", "jsonl": "d.jsonl", "parquet": "d.parquet", "directory": "folder",
    "fasttext": "d.ft", "libmultilabel": "d.lml", "libsvm": "d.svm", "xmc": "d.xmc", "arff": "d.arff",
    "npz": "d_X.npz", "excel": "d.xlsx",
}  # fmt: skip
ROWS = {row.name: row for row in FORMATS}


def test_every_writable_format_is_tested():
    """Annif's TSV takes no other labels than URIs, so it has tests of its own below."""
    assert {*FILES, "annif"} == {row.name for row in FORMATS if row.writes}


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
@pytest.mark.parametrize("format", FILES)
def test_round_trip(format, packed, tmp_path):
    if packed and format in ("directory", "npz"):
        pytest.skip("written as a folder or a packed pair anyway")
    for name in {"parquet": ["pyarrow"], "excel": ["openpyxl"]}.get(format, []):
        pytest.importorskip(name)
    corpus = TEXTS if ROWS[format].kind == "text" else COUNTS
    path = tmp_path / (FILES[format] + (".gz" if packed else ""))
    write(corpus, path)
    if packed:
        assert gzip.decompress(path.read_bytes())
    reading = read(path)
    assert reading.format == format
    assert [list(names) for names in reading.corpus.labels] == corpus.labels
    if corpus.counts is None:
        assert reading.corpus.texts == corpus.texts
        if format != "fasttext":
            assert list(reading.corpus.ids) == corpus.ids
    else:
        assert reading.corpus.label_names == corpus.label_names
        np.testing.assert_array_equal(reading.corpus.counts.toarray(), corpus.counts.toarray())
        expected = [term + "_" if format == "arff" and term == "b" else term for term in corpus.terms]
        assert reading.corpus.terms == expected  # in ARFF a term may not bear the name of a label
    assert not [entry for entry in tmp_path.iterdir() if entry.name.endswith(".part")]


def test_a_workbook_keeps_dates_and_texts_that_look_like_formulas(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    (tmp_path / "mail.csv").write_text("text,received,topic\n=1+1,2024-05-01,a\nlate bus,,b\n")
    corpus = read(tmp_path / "mail.csv", label_column="topic").corpus
    write(corpus, tmp_path / "mail.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "mail.xlsx")["documents"]
    rows = [dict(zip([cell.value for cell in sheet[1]], row, strict=True)) for row in sheet.iter_rows(min_row=2)]
    assert rows[0]["received"].is_date
    assert (rows[0]["text"].value, rows[0]["text"].data_type) == ("=1+1", "s")
    again = read(tmp_path / "mail.xlsx").corpus
    assert (again.texts, again.label_sets) == (corpus.texts, corpus.label_sets)
    assert [str(value or "") for value in again.metadata["received"]] == ["2024-05-01", ""]
    long = replace(corpus, fields={"text": ["x" * 40_000, "y"]})
    with pytest.raises(DataError, match=r"32,767 characters; 'text' of document '2' has 40,000\. Write \.csv"):
        write(long, tmp_path / "long.xlsx")


@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl", "parquet"])
def test_tables_keep_fields_split_and_metadata(format, tmp_path):
    if format == "parquet":
        pytest.importorskip("pyarrow")
    corpus = replace(
        TEXTS,
        fields={"title": ["T1", "", 'quo"te', "T4"], "text": ["line one\nline two", "tab\there", "c,d", ""]},
        split_names=["train", "test", "dev", "unused"],
        metadata={"year": ["1987", "1988", "1989", "1990"]},
    )
    path = tmp_path / FILES[format]
    write(corpus, path)
    again = read(path).corpus
    assert dict(again.fields) == dict(corpus.fields)
    assert again.split_names == corpus.split_names
    assert list(again.metadata["year"]) == corpus.metadata["year"]


@pytest.mark.parametrize("format", ["csv", "tsv"])
@pytest.mark.parametrize(
    "labels",
    [
        [["a;b", "c,d"], ["e|f"]],
        [["real estate"], ["car loan"]],
        [["a, b"], ["c"]],
        [["[x]"], ["<y>"]],
        [["real estate", "x, y"], ["car loan"]],
    ],
)
def test_awkward_labels_survive_tables(format, labels, tmp_path):
    corpus = Corpus(ids=["1", "2"], fields={"text": ["p", "q"]}, labels=[sorted(names) for names in labels])
    write(corpus, tmp_path / FILES[format])
    assert read(tmp_path / FILES[format]).corpus.labels == corpus.labels


def test_unlabelled_documents_stay_unlabelled(tmp_path):
    corpus = replace(TEXTS, labels=None, label_names=())
    for format in ("csv", "tsv", "jsonl", "directory", "fasttext"):
        write(corpus, tmp_path / FILES[format], format=format)
        assert read(tmp_path / FILES[format], format=format).corpus.labels is None


def test_line_formats_put_texts_on_one_line(tmp_path):
    corpus = Corpus(ids=["1"], fields={"title": ["T"], "text": ["a\nb\tc"]}, labels=[["x"]])
    write(corpus, tmp_path / "d.ft")
    assert (tmp_path / "d.ft").read_text() == "__label__x T a b c\n"


@pytest.mark.parametrize("format", ["fasttext", "libmultilabel"])
def test_a_label_the_format_would_tear_apart_is_refused(format, tmp_path):
    corpus = Corpus(ids=["1"], fields={"text": ["a"]}, labels=[["real estate"]])
    with pytest.raises(DataError, match=r"'real estate' has a blank.*jsonl or csv"):
        write(corpus, tmp_path / FILES[format])
    assert list(tmp_path.iterdir()) == []


def test_kinds_do_not_mix(tmp_path):
    with pytest.raises(DataError, match=r"holds counts, but the csv format needs texts. Write one of: libsvm, xmc"):
        write(COUNTS, tmp_path / "d.csv")
    with pytest.raises(DataError, match="holds texts, but the xmc format needs counts"):
        write(TEXTS, tmp_path / "d.xmc")


def test_names_that_tell_no_format(tmp_path):
    with pytest.raises(UnknownFormatError, match=r"No format has the suffix '.txt'. Give the format, one of: csv"):
        write(TEXTS, tmp_path / "d.txt")
    with pytest.raises(UnknownFormatError, match="can only be read"):
        write(TEXTS, tmp_path / "d.sgm")
    with pytest.raises(UnknownNameError, match="Did you mean 'jsonl'"):
        write(TEXTS, tmp_path / "d.txt", format="jsnl")
    with pytest.raises(ParameterError, match=r"must be named X.npz"):
        write(COUNTS, tmp_path / "matrix.npz")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "old.txt").write_text("old")
    with pytest.raises(DataError, match="exists already"):
        write(TEXTS, tmp_path / "full")


def test_ids_that_are_no_file_names_become_numbers(tmp_path):
    corpus = Corpus(ids=["../up", "b/c"], fields={"text": ["one", "two"]}, labels=[["x"], []])
    write(corpus, tmp_path / "out")
    again = read(tmp_path / "out").corpus
    assert (again.ids, again.texts, again.labels) == (["1", "2"], ["one", "two"], [["x"], []])
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["out"]


ONE, TWO = "http://example.org/v/1", "urn:isbn:2"
ANNIF = f"late bus\t<{ONE}> <{TWO}>\na hole\t<{ONE}>\nthanks\t\n"


def test_annif_tsv_is_written_from_uris(tmp_path):
    """As the wiki of Annif has it: no header, a text, a tab, URIs in angle brackets."""
    (tmp_path / "small.tsv").write_text(ANNIF)
    corpus = read(tmp_path / "small.tsv").corpus
    write(corpus, tmp_path / "out.tsv", format="annif")
    assert (tmp_path / "out.tsv").read_text() == ANNIF
    assert read(tmp_path / "out.tsv", format="annif").corpus.label_sets == corpus.label_sets
    with pytest.raises(DataError, match=r"3 labels have no URI, first 'art', and Annif's TSV holds URIs alone\."):
        write(TEXTS, tmp_path / "names.tsv", format="annif")
    assert not (tmp_path / "names.tsv").exists()


def test_annif_folders_hold_uris_with_names(tmp_path):
    """`.tsv` with URI, tab, label; `.key` holds labels alone, so it is written where there are no URIs."""
    folder = tmp_path / "full"
    folder.mkdir()
    for name, labels in (("a", f"<{ONE}>\tMercury\n<{TWO}>\tMercury\n"), ("b", f"<{ONE}>\tMercury\n")):
        (folder / f"{name}.txt").write_text(f"text {name}")
        (folder / f"{name}.tsv").write_text(labels)
    corpus = read(folder).corpus
    write(corpus, tmp_path / "copy")
    assert {file.name: file.read_text() for file in (tmp_path / "copy").iterdir()} == {
        file.name: file.read_text() for file in folder.iterdir()
    }
    write(corpus, tmp_path / "short.tsv", format="annif")
    assert (tmp_path / "short.tsv").read_text() == f"text a\t<{ONE}> <{TWO}>\ntext b\t<{ONE}>\n"
    write(read(tmp_path / "short.tsv").corpus, tmp_path / "uris")
    assert (tmp_path / "uris" / "1.tsv").read_text() == f"<{ONE}>\n<{TWO}>\n"
    write(TEXTS, tmp_path / "names")
    assert (tmp_path / "names" / "a-1.key").read_text() == "art\nsport/ball\n"
    assert not list((tmp_path / "names").glob("*.tsv"))

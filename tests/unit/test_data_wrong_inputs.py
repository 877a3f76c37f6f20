"""Wrong inputs give one sentence with file, line and what to do; `skip` lists what it left out."""

import gzip

import numpy as np
import pytest
from scipy import sparse

from manylabel.data import read
from manylabel.data.formats import COLUMNS
from manylabel.exceptions import (
    DataError,
    MissingDataError,
    ParameterError,
    UnknownFormatError,
    UnknownNameError,
)
from manylabel.progress import remarks_to

ARFF = """@relation mail
@attribute one numeric
@attribute two numeric
@attribute class {red,green}

@data
1,0,red
0,2,green
3,1,red
1,1,red
1,2,green
"""


# name, content, line, words of the problem, words of the remedy
CASES = {
    "column": ("a.csv", "name,amount\nx,1\n", None,
        "no column of texts. Found: 'name', 'amount'", "text_column='NAME'"),
    "cells": ("a.csv", "text,labels\nx,a\ny\n", 3, "has 1 cell instead of 2", "delimiter=';'"),
    "tab": ("a.tsv", "the late bus\t<http://x.org/1>\na hole <http://x.org/2>\n", 2, "1 cell instead of 2", "one tab"),
    "one column": ("a.tsv", "the late bus\na hole\n", None, "one column; an Annif corpus has", "Write a tab"),
    "semicolons": ("a.tsv", "the late bus;<http://x.org/1>\na hole;<http://x.org/2>\n", None, "one column",
        "The first line has ';': if it separates columns, use delimiter=';'. Write a tab"),
    "address": ("a.tsv", "the late bus\t<http://x.org/1>\na hole\t<http://x.org/2\n", 2,
        "no '>': '<http://x.org/2'", "<address>"),
    "addresses": ("a.tsv", "the late bus\t<http://x.org/1 <http://x.org/3>\na hole\t<http://x.org/2>\n", 1,
        "no '>': '<http://x.org/1'", "<address>"),
    "quote": ("a.csv", 'text,labels\n"never closed,a\nb,c\n', 2, "never closed", '""'),
    "twice": ("a.csv", "text,text\nx,a\n", 1, "names column 'text' twice", "Rename"),
    "header": ("a.csv", "text,labels\n", None, "a header line but no documents", "at least one document"),
    "marks": ("a.csv", "0,1,2\n1,x,0\n", 2, "'x' is not a number", "Correct"),
    "width": ("a.csv", "0,1,2\n1,1\n", 2, "has 2 cells where the first row has 3", "Complete"),
    "json": ("a.jsonl", '{"text": "x"}\n{"text": }\n', 2, "not JSON", "one JSON object"),
    "object": ("a.jsonl", '{"text": "x"}\n["x"]\n', 2, "JSON list, not an object", '{"text"'),
    "by columns": ("a.json", '{"text": {"0": "x", "1": "y"}, "labels": {"0": ["a"], "1": ["b"]}}', 1,
        "a table by columns, as pandas writes it: text, labels", "orient='records'"),
    "textless": ("a.jsonl", '{"text": "x"}\n{"labels": ["a"]}\n', 2, "no text", "Give it a text"),
    "number": ("a.jsonl", '{"text": "x"}\n{"text": 3}\n', 2, "holds int '3'", "Give it a text"),
    "surrogate": ("a.jsonl", '{"text": "x"}\n{"text": "\\ud800"}\n', 2, "surrogate pair", "both halves"),
    "labels": ("a.jsonl", '{"text": "x", "labels": {"a": 1}}\n', 1, "labels are dict", "list of strings"),
    "label": ("a.jsonl", '{"text": "x", "labels": [null]}\n', 1,
        "label 'None' is not a string", "list of strings"),
    "arff": ("a.arff", ARFF + "1,x,red\n", 12, "'x' is not a number (attribute 'two')", "Correct or remove"),
    "missing": ("a.arff", ARFF + "?,1,red\n", 12, "'one' is missing (?)", "Correct or remove"),
    "nominal": ("a.arff", ARFF + "1,1,blue\n", 12,
        "'blue' is not a value of attribute 'class', which has red, green", "Correct"),
    "short": ("a.arff", ARFF + "1,1\n", 12, "has 2 values instead of 3", "Correct"),
    "brace": ("a.arff", ARFF + "{0 1\n", 12, "does not end with }", "Correct"),
    "index": ("a.arff", ARFF + "{7 1}\n", 12, "no attribute 7: they are numbered 0 to 2", "Correct"),
    "date": ("a.arff", "@relation r\n@attribute a date\n@data\n", 2, "not a declaration of an attribute", "numeric"),
    "nodata": ("a.arff", "@relation r\n@attribute a numeric\n", None, "no @data line", "again"),
    "whichlabels": ("a.arff", "@relation r\n@attribute a numeric\n@data\n1\n", None,
        "does not name its label attributes", "label_count=5"),
    "weka filter": ("a.arff",
        "@relation 'r: -C 1-weka.filters.unsupervised.attribute.Remove-R1'\n@attribute a {0,1}\n@attribute b {0,1}\n"
        "@data\n1,0\n", None,
        "@relation has -C 1, but also a filter of Weka that may have moved the label attributes", "label_count=5"),
    "manylabels": ("a.arff", "@relation 'r: -C 9'\n@attribute a numeric\n@data\n1\n", None,
        "@relation has -C 9, but the file has 1 attribute", "label_count=5"),
    "pair": ("a.svm", "1 1:1\n2 1:x\n", 2, "'1:x' is not a pair", "Correct"),
    "zero": ("a.svm", "1 0:1\n", 1, "Column 0 lies before the first column", "zero_based=True"),
    "names": ("a.svm", "x,y 1:1\n", 1, "'x,y' is not a list of label numbers", "Correct"),
    "repeat": ("a.svm", "1 2:1 2:3\n", 1, "given twice", "Correct"),
    "xmchead": ("a.xmc", "1 2 3:4\n", 1, "not a header of three numbers", "format='libsvm'"),
    "xmclabel": ("a.xmc", "1 2 3\n3 0:1\n", 2, "Label 3 is not one of the 3 labels", "Correct"),
    "xmccolumn": ("a.xmc", "1 2 3\n0 2:1\n", 2, "Column 2 lies beyond the 2 features", "Correct"),
    "xmccount": ("a.xmc", "2 2 3\n0 1:1\n", 1, "announces 2 documents, but the file has 1", "header"),
    "fasttext": ("a.ft", "__label__a x\n__label__ y\n", 2, "followed by no label", "after the prefix"),
    "lml": ("a.lml", "a\tx\nno tab here\n", 2, "has 1 column, not 2", "format='tsv'"),
    "empty": ("a.csv", "", None, "The file is empty", "at least one document"),
    "blank": ("a.jsonl", "\n \n", None, "The file is empty", "at least one document"),
    "sgml": ("a.sgm", '<!DOCTYPE lewis SYSTEM "lewis.dtd">\n', None, "no <REUTERS> record", "archive"),
}  # fmt: skip


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
@pytest.mark.parametrize("case", CASES)
def test_one_sentence_with_file_line_and_remedy(case, packed, tmp_path):
    name, content, line, problem, remedy = CASES[case]
    path = tmp_path / (name + (".gz" if packed else ""))
    path.write_bytes(gzip.compress(content.encode()) if packed else content.encode())
    with pytest.raises(DataError) as caught:
        read(path)
    sentence = str(caught.value)
    assert sentence.startswith(f"{path}, line {line}: " if line else f"{path}: ")
    assert problem in sentence
    assert remedy in sentence
    assert "\n" not in sentence


@pytest.mark.parametrize("case", ["cells", "json", "object", "textless", "arff", "pair", "fasttext", "lml", "width"])
def test_skipping_lists_the_bad_lines_and_keeps_the_others(case, tmp_path):
    name, content, line, problem, _ = CASES[case]
    path = tmp_path / name
    path.write_text(content)
    reading = read(path, on_error="skip")
    assert [(found.path, found.line) for found in reading.skipped] == [(str(path), line)]
    assert problem in str(reading.skipped[0])
    assert len(reading.corpus) >= 1


def test_nothing_left_after_skipping_is_an_error(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("{]\n{]\n")
    with pytest.raises(DataError, match=r"None of the documents could be read; 2 were skipped.*line 1"):
        read(path, on_error="skip", format="jsonl")


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.tsv", "a.lml", "a.ft"])
def test_broken_utf8_names_line_byte_and_remedy(name, tmp_path):
    rows = {
        "a.csv": "text,labels\n{},a\n",
        "a.tsv": "text\tlabels\n{}\ta\n",
        "a.lml": "a\tfine words here\na\t{}\n",
    }
    content = rows.get(name, '{{"text": "{}"}}\n' if name == "a.jsonl" else "__label__a {}\n").format("caf\xe9")
    path = tmp_path / name
    path.write_bytes(content.encode("latin-1"))
    line = content[: content.index("caf")].count("\n") + 1
    with pytest.raises(DataError, match=rf"line {line}: Byte 0xe9 at position \d+ .*encoding='cp1252'"):
        read(path)
    assert "café" in str(read(path, encoding="latin-1").corpus.texts)


def test_a_file_of_utf16_names_its_encoding(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text;labels\nx;a\n", encoding="utf-16")
    with pytest.raises(DataError, match=r"line 1: Byte 0xf[ef] .*Use encoding='utf-16'"):
        read(path)
    assert read(path, encoding="utf-16").corpus.label_sets == [["a"]]


def test_a_note_for_excel_is_no_header(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("sep=;\ntext;labels\nx;a\n")
    with pytest.raises(DataError, match=r"The first line, 'sep=;', is a note for Excel .*Delete this line"):
        read(path)


def test_labels_with_two_separators_are_reported(tmp_path):
    path = tmp_path / "a.csv"
    remarks: list[str] = []
    path.write_text("text;labels\nx;vpn|mail\ny;vpn, Mail\nz;vpn\nz;mail / vpn\n")
    with remarks_to(remarks.append):
        read(path)
    found = "2 labels look like several in one: 'vpn, Mail' (line 3), 'mail / vpn' (line 5). Correct these cells, or"
    assert remarks == [f"{path}: {found} use label_separator='any' to split at ; | , and / between blanks."]
    with remarks_to(remarks.append):
        corpus = read(path, label_separator="any").corpus
    assert len(remarks) == 1
    assert corpus.label_sets == [["mail", "vpn"], ["Mail", "vpn"], ["vpn"], ["mail", "vpn"]]
    assert corpus.layout is not None
    assert corpus.layout.summary().endswith("labels from 'labels', separated by ; | , and / between blanks")


def test_a_separator_that_no_cell_holds_is_reported(tmp_path):
    path = tmp_path / "a.csv"
    remarks: list[str] = []
    path.write_text("text,labels\nx,vpn;mail\ny,vpn|print\n")
    with remarks_to(remarks.append):
        read(path, label_separator=";|")
        read(path, label_separator=";")
        read(path, label_separator="none")
    assert remarks == [f"{path}: No label cell holds the separator ';|', so every cell is one label."]


def test_marks_in_the_language_of_a_spreadsheet(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,vpn,mail\nx,WAHR,FALSCH\ny,FALSCH,WAHR\n")
    assert read(path).corpus.label_sets == [["vpn"], ["mail"]]
    path.write_text("text,vpn,mail\nx,ja,nein\ny,nein,ja\n")
    assert read(path, label_column=["vpn", "mail"]).corpus.label_sets == [["vpn"], ["mail"]]


def test_skipping_a_broken_line_keeps_the_numbers_of_later_lines(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"text,labels\nfine,a\nbad\xff,b\nshort\nalso fine,c\n")
    reading = read(path, on_error="skip")
    assert [problem.line for problem in reading.skipped] == [3, 4]
    assert reading.corpus.ids == ["2", "5"]


def test_unknown_encoding_option_format_and_mode(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,labels\nx,a\n")
    with pytest.raises(ParameterError, match="no encoding 'utf-9'"):
        read(path, encoding="utf-9")
    with pytest.raises(UnknownNameError, match=r"option of the csv format: 'txt_column'. Did you mean 'text_column'"):
        read(path, txt_column="text")
    with pytest.raises(UnknownNameError, match="Did you mean 'arff'"):
        read(path, format="arf")
    with pytest.raises(ParameterError, match="on_error must be one of 'raise', 'skip'"):
        read(path, on_error="ignore")


def test_named_columns_that_are_not_there(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,labels\nx,a\n")
    for option in COLUMNS:
        if option.name.endswith("_column"):
            with pytest.raises(DataError) as caught:
                read(path, **{option.name: "nowhere"})
            assert "There is no column 'nowhere'. Found: 'text', 'labels'." in str(caught.value)
            assert f"Use {option.name}='NAME'." in str(caught.value)


def test_a_column_that_is_nearly_right_is_offered(tmp_path):
    path = tmp_path / "a.csv"
    columns = [f"note {number}" for number in range(8)]
    path.write_text(",".join(["text", *columns, "Assignment group"]) + "\n" + "x," * 9 + "a\n")
    for given in ("assignment", "Asignment group", "ASSIGNMENT GROUP"):
        with pytest.raises(DataError, match=r"group'\. Did you mean 'Assignment group'\? Use label_column="):
            read(path, label_column=given)


def test_without_labels_the_columns_whose_values_repeat_are_offered(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,number,queue,state\n" + "".join(f"word {n},{n},q{n % 2},open\n" for n in range(8)))
    with pytest.raises(
        DataError, match=r"Values repeat, as labels do, in 'queue'\. Columns not used: 'number', 'queue'"
    ):
        _ = read(path).corpus.label_sets


def test_label_columns_must_hold_0_and_1(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,toxic,mild\nx,1,0\ny,2,1\n")
    with pytest.raises(DataError, match=r"line 3: Column 'toxic' holds '2' instead of 0 or 1"):
        read(path, label_column=["toxic", "mild"])


def test_missing_files_and_folders(tmp_path):
    (tmp_path / "tickets.csv").touch()
    with pytest.raises(
        MissingDataError, match=r"There is no file or folder .*holds tickets.csv. Did you mean .*ts.csv"
    ):
        read(tmp_path / "ticket.csv")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UnknownFormatError, match="it holds nothing"):
        read(tmp_path / "empty")


def test_a_cut_gzip_file(tmp_path):
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"text": "x"}\n' * 5000)[:60])
    with pytest.raises(DataError, match=r"gzip file is damaged.*again"):
        read(path)


def test_a_cut_archive(tmp_path):
    path = tmp_path / "reuters.tar.gz"
    path.write_bytes(gzip.compress(b"not an archive"))
    with pytest.raises(DataError, match="archive cannot be read"):
        read(path)


def test_an_unrecognised_file_lists_the_formats(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("just some words\nand more\n")
    with pytest.raises(UnknownFormatError, match=r"not recognised.*(format).*jsonl.*arff"):
        read(path)


class TestNpz:
    def save(self, folder, X, Y):
        sparse.save_npz(folder / "X.npz", sparse.csr_array(X))
        sparse.save_npz(folder / "Y.npz", sparse.csr_array(Y))

    def test_rows_must_agree(self, tmp_path):
        self.save(tmp_path, np.eye(3), np.eye(2))
        with pytest.raises(DataError, match=r"labels are of 2 documents, but X.npz holds 3"):
            read(tmp_path)

    def test_labels_are_0_and_1(self, tmp_path):
        self.save(tmp_path, np.eye(2), 2 * np.eye(2))
        with pytest.raises(DataError, match=r"holds 2.0 where only 0 and 1"):
            read(tmp_path)

    def test_values_are_finite(self, tmp_path):
        self.save(tmp_path, np.full((2, 2), np.nan), np.eye(2))
        with pytest.raises(DataError, match="not finite"):
            read(tmp_path)

    def test_pickles_are_refused(self, tmp_path):
        np.savez(tmp_path / "X.npz", data=np.array([{"a": 1}], dtype=object))
        with pytest.raises(DataError, match="not a sparse matrix"):
            read(tmp_path / "X.npz")

    def test_counts_missing_beside_labels(self, tmp_path):
        self.save(tmp_path, np.eye(2), np.eye(2))
        (tmp_path / "X.npz").unlink()
        with pytest.raises(DataError, match="file of counts is missing"):
            read(tmp_path / "Y.npz")


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("a.csv", {"delimiter": ""}, "delimiter must be one character"),
        ("a.csv", {"delimiter": 5}, "delimiter must be one character"),
        ("a.csv", {"header": "yes"}, "header must be True or False"),
        ("a.csv", {"text_column": 1}, "text_column must be a text or a list of texts"),
        ("a.csv", {"label_column": []}, "label_column must be a text or a list of texts"),
        ("a.csv", {"label_separator": {"a": 1}}, "label_separator must be a separator such as ';'"),
        ("a.csv", {"label_separator": ""}, "'any', 'none' \\(every cell is one label\\) or one of None, not ''"),
        ("a.csv", {"encoding": 8}, "encoding must be a text"),
        ("a.csv", {"label_names_file": 3}, "label_names_file must be the path of a file"),
        ("a.svm", {"features": "many"}, "features must be a whole number of at least 0"),
        ("a.svm", {"features": -1}, "features must be a whole number of at least 0"),
        ("a.ft", {"label_prefix": 7}, "label_prefix must be a text"),
    ],
)
def test_options_of_readers_have_a_type(tmp_path, name, options, sentence):
    (tmp_path / name).write_text("text,labels\na,b\n")
    with pytest.raises(ParameterError, match=sentence):
        read(tmp_path / name, **options)


def test_an_option_that_is_none_has_its_default(tmp_path):
    (tmp_path / "a.csv").write_text("text,labels\na,b;c\n")
    assert read(tmp_path / "a.csv", encoding=None, delimiter=None).corpus.label_sets == [["b", "c"]]

"""CSV, TSV, JSON lines, Parquet: which column is what, separators, line ends, Annif's and other shapes."""

import json

import pytest

from manylabel.data import read
from manylabel.data.label_cells import label_separator, split_cell
from manylabel.data.recognition import guess_format
from manylabel.exceptions import MissingExtraError


def put(path, content, encoding="utf-8"):
    path.write_bytes(content.encode(encoding))
    return path


class TestCsv:
    def test_crlf_bom_quotes_and_newlines(self, tmp_path):
        path = put(tmp_path / "a.csv", '\ufefftext,labels\r\n"say ""hi"", you\r\nthere",a;b\r\nplain,b\r\n')
        corpus = read(path).corpus
        assert corpus.texts == ['say "hi", you\nthere', "plain"]
        assert corpus.labels == [["a", "b"], ["b"]]
        assert corpus.ids == ["2", "4"]

    @pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
    def test_the_delimiter_is_found(self, delimiter, tmp_path):
        path = put(tmp_path / "a.csv", f"id{delimiter}text{delimiter}labels\n7{delimiter}words{delimiter}x\n")
        corpus = read(path).corpus
        assert (corpus.ids, corpus.texts, corpus.labels) == (["7"], ["words"], [["x"]])

    def test_options_name_columns(self, tmp_path):
        path = put(tmp_path / "a.csv", "key,head,content2,topic2,when\nk,H,words,a/b,test\n")
        corpus = read(
            path,
            text_column="content2",
            title_column="head",
            label_column="topic2",
            label_separator="/",
            id_column="key",
            split_column="when",
        ).corpus
        assert dict(corpus.fields) == {"head": ["H"], "text": ["words"]}
        assert (corpus.ids, corpus.labels, corpus.split_names) == (["k"], [["a", "b"]], ["test"])

    def test_given_columns_of_texts_are_the_only_ones(self, tmp_path):
        path = put(tmp_path / "a.csv", "title,subject,body,labels\nT,S,words,x\n")
        for given, expected in (
            ({"text_column": "body"}, {"body": "words"}),
            ({"text_column": ["subject", "body"]}, {"subject": "S", "body": "words"}),
            ({"text_column": "body", "title_column": "subject"}, {"subject": "S", "body": "words"}),
            (
                {"text_column": ["title", "body"], "title_column": "subject"},
                {"subject": "S", "title": "T", "body": "words"},
            ),
            ({"text_column": "body", "title_column": "body"}, {"body": "words"}),
            ({}, {"title": "T", "body": "words"}),
        ):
            fields = read(path, **given).corpus.fields
            assert {name: texts[0] for name, texts in fields.items()} == expected, given

    def test_one_column_per_label_is_guessed(self, tmp_path):
        path = put(tmp_path / "a.csv", "id,comment_text,toxic,insult,score\n1,x,1,0,0.5\n2,y,1,1,0.1\n3,z,0,0,1\n")
        corpus = read(path).corpus
        assert corpus.labels == [["toxic"], ["insult", "toxic"], []]
        assert list(corpus.metadata) == ["score"]

    def test_one_column_of_marks_is_not_a_label_set(self, tmp_path):
        corpus = read(put(tmp_path / "a.csv", "text,seen\nx,1\ny,0\n")).corpus
        assert corpus.labels is None
        assert corpus.metadata["seen"] == ["1", "0"]

    def test_label_columns_given(self, tmp_path):
        path = put(tmp_path / "a.csv", "text,labels,p,q\nx,zzz,1,0\ny,zzz,0,1\n")
        assert read(path, label_column=["p", "q"]).corpus.labels == [["p"], ["q"]]

    def test_annif_columns(self, tmp_path):
        path = put(tmp_path / "a.csv", "document_id,text,subject_uris\nd,words,<http://x/1> <http://x/2>\n")
        corpus = read(path).corpus
        assert (corpus.ids, corpus.labels) == (["d"], [["http://x/1", "http://x/2"]])

    def test_lists_in_cells(self, tmp_path):
        path = put(tmp_path / "a.csv", """text,labels\nx,"['a, b', 'c']"\ny,"[""d""]"\n""")
        assert read(path).corpus.labels == [["a, b", "c"], ["d"]]

    def test_a_book_in_one_cell(self, tmp_path):
        book = "word " * 60000
        assert read(put(tmp_path / "a.csv", f"text,labels\n{book},a\n")).corpus.texts == [book]

    def test_headerless_columns_have_numbers(self, tmp_path):
        path = put(tmp_path / "a.csv", "first words,a\nmore words,b\n")
        corpus = read(path, header=False, text_column="1", label_column="2").corpus
        assert (corpus.texts, corpus.labels) == (["first words", "more words"], [["a"], ["b"]])

    def test_utf16(self, tmp_path):
        path = put(tmp_path / "a.csv", "text,labels\ncafé,a\n", "utf-16")
        assert read(path, encoding="utf-16").corpus.texts == ["café"]

    @pytest.mark.parametrize("separator", [" ", ","])
    def test_table_of_counts_has_the_class_last(self, separator, tmp_path):
        rows = ["0.0 2.0 0.0 10", "1.0 0.0 0.5 9", "0 0 0 10"]
        path = put(tmp_path / "a.csv", "".join(row.replace(" ", separator) + "\n" for row in rows))
        corpus = read(path).corpus
        assert corpus.counts.toarray().tolist() == [[0, 2, 0], [1, 0, 0.5], [0, 0, 0]]
        assert corpus.labels == [["10"], ["9"], ["10"]]
        assert corpus.label_names == ["9", "10"]


class TestLabelSeparator:
    def test_precedence(self):
        assert label_separator(["a,b;c"]) == ";"
        assert label_separator(["a,b|c"]) == "|"
        assert label_separator(["a b,c"]) == ","
        assert label_separator(["", "a"]) is None

    def test_blank_only_when_names_recur(self):
        assert label_separator(["a b", "a", "b", "b c", "c"]) == " "
        assert label_separator(["new york", "los angeles"]) is None

    def test_blank_splits_at_any_run(self):
        assert split_cell("a  b\ta", " ") == ["a", "b"]


class TestHeaderlessTsv:
    def test_goemotions_shape_has_no_quoting(self, tmp_path):
        path = put(tmp_path / "train.tsv", '"unbalanced words in here\t0,2\tid1\nother words\t1\tid2\n')
        put(tmp_path / "names.txt", "joy\nfear\nanger")
        put(tmp_path / "groups.json", '{"bad": ["fear", "anger"], "joy": ["joy"]}')
        corpus = read(path).corpus
        assert corpus.texts == ['"unbalanced words in here', "other words"]
        assert corpus.labels == [["anger", "joy"], ["fear"]]
        assert corpus.label_names == ["joy", "fear", "anger"]
        assert corpus.ids == ["id1", "id2"]
        assert dict(corpus.hierarchy.parents) == {"fear": "bad", "anger": "bad"}

    def test_ids_stay_without_a_file_of_names(self, tmp_path):
        corpus = read(put(tmp_path / "train.tsv", "some words here\t0,2\tid1\n")).corpus
        assert corpus.labels == [["0", "2"]]
        assert corpus.hierarchy is None

    def test_a_file_of_names_can_be_given(self, tmp_path):
        path = put(tmp_path / "train.tsv", "some words here\t0,2\tid1\n")
        (tmp_path / "names").mkdir()
        names = put(tmp_path / "names" / "n.lst", "a\nb\nc\n")
        assert read(path, label_names_file=names).corpus.labels == [["a", "c"]]

    def test_annif_tsv(self, tmp_path):
        path = put(tmp_path / "a.tsv", "A long text about cats\t<http://example.org/a> <http://example.org/b>\n")
        assert read(path, format="tsv").corpus.labels == [["http://example.org/a", "http://example.org/b"]]

    def test_the_longest_column_tells_libmultilabel(self, tmp_path):
        path = put(
            tmp_path / "a.tsv",
            "d1\tacq earn\tShares rose after the merger\nd2\t\tNothing new today, they say\n",
        )
        reading = read(path)
        assert reading.format == "libmultilabel"
        assert (reading.corpus.ids, reading.corpus.labels) == (["d1", "d2"], [["acq", "earn"], []])


class TestJsonLines:
    def test_annif(self, tmp_path):
        record = {
            "document_id": "d1",
            "text": "words",
            "metadata": {"year": 1987},
            "subjects": [{"uri": "http://x/1", "label": "cats"}, {"uri": "http://x/2"}],
        }
        corpus = read(put(tmp_path / "a.jsonl", json.dumps(record) + "\n")).corpus
        assert (corpus.ids, corpus.labels) == (["d1"], [["cats", "http://x/2"]])
        assert corpus.metadata == {"year": [1987]}

    def test_fields_split_and_extra_keys(self, tmp_path):
        lines = [
            {
                "id": 5,
                "title": "T",
                "body": "b one",
                "labels": ["x", "x"],
                "split": "validation",
                "date": "1987",
            },
            {"id": 6, "body": "b two", "labels": None},
        ]
        corpus = read(put(tmp_path / "a.jsonl", "\n".join(map(json.dumps, lines)))).corpus
        assert dict(corpus.fields) == {"title": ["T", ""], "body": ["b one", "b two"]}
        assert (corpus.ids, corpus.labels, corpus.split_names) == (["5", "6"], [["x"], []], ["dev", "unused"])
        assert corpus.metadata == {"date": ["1987", None]}

    def test_a_title_the_text_begins_with_is_metadata(self, tmp_path):
        corpus = read(put(tmp_path / "a.jsonl", '{"title": "T", "text": "T\\nwords"}\n')).corpus
        assert list(corpus.fields) == ["text"]
        assert corpus.metadata == {"title": ["T"]}

    def test_labels_in_one_string(self, tmp_path):
        corpus = read(put(tmp_path / "a.jsonl", '{"text": "x", "label": "a|b"}\n{"text": "y", "label": "b"}\n')).corpus
        assert corpus.labels == [["a", "b"], ["b"]]

    def test_separators_inside_strings_do_not_end_a_line(self, tmp_path):
        corpus = read(put(tmp_path / "a.jsonl", '{"text": "a\u2028b\x0cc"}\n'.replace("\x0c", "\\f"))).corpus
        assert corpus.texts == ["a\u2028b\fc"]

    def test_hierarchy_separator(self, tmp_path):
        path = put(tmp_path / "a.jsonl", '{"text": "x", "labels": ["a/b"]}\n')
        assert read(path, hierarchy_separator="/").corpus.hierarchy.ancestors("a/b") == ["a"]


def test_parquet_without_pyarrow_names_the_extra(tmp_path, monkeypatch):
    import sys

    path = tmp_path / "a.parquet"
    path.write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"manylabel\[parquet\]"):
        read(path)


@pytest.mark.parametrize(
    ("name", "content", "format"),
    [
        ("a.txt", "__label__x words\n", "fasttext"),
        ("a.txt", '{"text": "x"}\n', "jsonl"),
        ("a.csv", '{"text": "x"}\n', "jsonl"),
        ("a.txt", "3 4 5\n0 1:2\n", "xmc"),
        ("a.svm", "3 4 5\n0 1:2\n", "xmc"),
        ("a.txt", "1,3 1:2 4:0.5\n 2:1\n2\n", None),
        ("a.txt", "1,3 1:2 4:0.5\n2 2:1\n", "libsvm"),
        ("a.data", "% comment\n@RELATION x\n", "arff"),
        ("a", "text,labels\nx,a\n", "csv"),
        ("a.tsv", "text\tlabels\nx\ta\n", "tsv"),
        ("a.txt", "label\tlong text in the last column\n", "tsv"),
        ("a.txt", "acq\tlong text in the last column\n", "libmultilabel"),
    ],
)
def test_formats_are_told_by_content_and_extension(name, content, format, tmp_path):
    from manylabel.exceptions import UnknownFormatError

    path = put(tmp_path / name, content)
    if format is None:
        with pytest.raises(UnknownFormatError):
            guess_format(path)
    else:
        assert guess_format(path) == format

"""Folders, prefixes, pairs, Annif's folders, and ARFF in all its shapes."""

import json

import numpy as np
import pytest
from scipy import sparse

from manylabel.data import Corpus, read
from manylabel.data.arff import meka_label_columns
from manylabel.data.corpus import combine_splits
from manylabel.estimator import Csr
from manylabel.exceptions import DataError


def line(text, *labels):
    return json.dumps({"text": text, "labels": labels}) + "\n"


class TestFolders:
    def test_parts_combine_in_order(self, tmp_path):
        (tmp_path / "test.jsonl").write_text(line("c", "x"))
        (tmp_path / "train.jsonl").write_text(line("a", "y") + line("b"))
        (tmp_path / "valid.jsonl").write_text(line("d", "z"))
        (tmp_path / "README.md").write_text("about")
        corpus = read(tmp_path).corpus
        assert corpus.split_names == ["train", "train", "dev", "test"]
        assert corpus.texts == ["a", "b", "d", "c"]
        assert corpus.label_names == ["x", "y", "z"]
        assert corpus.ids == ["train/1", "train/2", "dev/1", "test/1"]

    def test_prefix(self, tmp_path):
        (tmp_path / "mail-train.jsonl").write_text(line("a", "y"))
        (tmp_path / "mail_test.jsonl").write_text(line("b", "y"))
        (tmp_path / "mailbox-train.jsonl").write_text(line("other", "y"))
        reading = read(tmp_path / "mail")
        assert reading.corpus.texts == ["a", "b"]
        assert reading.corpus.name == "mail"

    def test_mixed_formats_are_refused(self, tmp_path):
        (tmp_path / "train.jsonl").write_text(line("a"))
        (tmp_path / "test.csv").write_text("text,labels\nb,x\n")
        with pytest.raises(DataError, match=r"train.jsonl \(jsonl\), test.csv \(csv\)"):
            read(tmp_path)

    def test_one_data_file_among_side_files(self, tmp_path):
        (tmp_path / "all.jsonl").write_text(line("a", "x"))
        (tmp_path / "labels.tsv").write_text("x\t1\n")
        (tmp_path / "labels.txt").write_text("x\n")
        assert read(tmp_path).corpus.texts == ["a"]

    def test_several_tables_are_one_corpus(self, tmp_path):
        (tmp_path / "one.csv").write_text("text,tags,note\na,x,1\n")
        (tmp_path / "two.csv").write_text("text,tags\nb,y;x\nc,\n")
        corpus = read(tmp_path).corpus
        assert corpus.texts == ["a", "b", "c"]
        assert corpus.label_sets == [["x"], ["x", "y"], []]
        assert corpus.split_names is None
        assert corpus.metadata["note"] == ["1", None, None]

    def test_several_tables_keep_their_splits(self, tmp_path):
        (tmp_path / "one.csv").write_text("text,tags,split\na,x,test\nb,y,train\n")
        (tmp_path / "two.csv").write_text("text,tags,split\nc,y,train\n")
        assert read(tmp_path).corpus.split_names == ["test", "train", "train"]

    def test_a_file_of_other_columns_is_no_part_of_a_corpus(self, tmp_path):
        (tmp_path / "one.csv").write_text("text,tags\na,x\n")
        (tmp_path / "two.csv").write_text("name,colour\nb,red\n")
        with pytest.raises(DataError, match=r"two\.csv.*text"):
            read(tmp_path)

    def test_data_files_of_several_formats_are_named(self, tmp_path):
        (tmp_path / "one.jsonl").write_text(line("a"))
        (tmp_path / "two.csv").write_text("text,tags\na,x\n")
        with pytest.raises(DataError, match=r"several data files: one.jsonl, two.csv. Name the one"):
            read(tmp_path)

    @pytest.mark.parametrize("names", [("X", "Y"), ("train_X", "train_Y")])
    def test_npz_pairs(self, names, tmp_path):
        sparse.save_npz(tmp_path / f"{names[0]}.npz", sparse.csr_matrix(np.array([[1, 0], [0, 2]])))
        sparse.save_npz(tmp_path / f"{names[1]}.npz", sparse.coo_array(np.array([[0, 1, 1], [0, 0, 0]])))
        corpus = read(tmp_path).corpus
        assert corpus.labels == [["l1", "l2"], []]
        assert corpus.label_names == ["l0", "l1", "l2"]
        assert corpus.terms == ["t0", "t1"]
        assert corpus.counts.toarray().tolist() == [[1, 0], [0, 2]]

    def test_npz_without_labels_and_with_names(self, tmp_path):
        sparse.save_npz(tmp_path / "X.npz", sparse.csr_array(np.eye(2)))
        (tmp_path / "terms.txt").write_text("cat\ndog\n")
        corpus = read(tmp_path / "X.npz").corpus
        assert corpus.labels is None
        assert corpus.terms == ["cat", "dog"]

    def test_first_and_second(self, tmp_path):
        for split in ("first", "second"):
            sparse.save_npz(tmp_path / f"{split}_X.npz", sparse.csr_array(np.eye(2)))
            sparse.save_npz(tmp_path / f"{split}_Y.npz", sparse.csr_array(np.eye(2)))
        assert read(tmp_path).corpus.split_names == ["train", "train", "test", "test"]

    def test_annif_folder(self, tmp_path):
        (tmp_path / "a.txt").write_text("first\r\ntext")
        (tmp_path / "a.key").write_text("cats\ndogs\n")
        (tmp_path / "b.txt").write_text("second text")
        (tmp_path / "b.tsv").write_text("<http://x/1>\tbirds\n<http://x/2>\n")
        (tmp_path / "c.txt").write_text("")
        (tmp_path / "README.txt").write_text("about")
        reading = read(tmp_path)
        assert reading.format == "directory"
        assert reading.corpus.ids == ["a", "b", "c"]
        assert reading.corpus.texts == ["first\ntext", "second text", ""]
        assert reading.corpus.labels == [["cats", "dogs"], ["birds", "http://x/2"], []]

    def test_reuters_folder_of_sgml(self, tmp_path):
        story = (
            '<REUTERS TOPICS="{}" LEWISSPLIT="{}" NEWID="{}">\n<DATE>26-FEB-1987</DATE>\n'
            "<TOPICS>{}</TOPICS>\n"
            "<TEXT{}>{}</TEXT>\n</REUTERS>\n"
        )
        (tmp_path / "reut2-000.sgm").write_bytes(
            story.format(
                "YES",
                "TRAIN",
                1,
                "<D>a</D><D>b</D>",
                "",
                "&#2;<TITLE>T &lt;X></TITLE><BODY>caf\xe9&#3;</BODY>",
            ).encode("latin-1")
            + story.format("YES", "TEST", 2, "<D>b</D>", ' TYPE="BRIEF"', "<TITLE>only</TITLE>").encode()
            + story.format("YES", "TEST", 3, "", ' TYPE="UNPROC"', "&#2;raw words&#3;").encode()
            + story.format("NO", "TRAIN", 4, "<D>a</D>", "", "<BODY>no</BODY>").encode()
        )
        corpus = read(tmp_path).corpus
        assert corpus.ids == ["1", "2", "3"]
        assert dict(corpus.fields) == {"title": ["T <X>", "only", ""], "body": ["café", "", "raw words"]}
        assert corpus.labels == [["a", "b"], ["b"], []]
        assert corpus.split_names == ["train", "test", "test"]
        assert corpus.metadata == {"newid": [1, 2, 3], "date": ["26-FEB-1987"] * 3}


class TestCombining:
    def test_counts_of_different_width_are_padded(self):
        wide = Corpus(ids=["1"], counts=Csr(np.array([[1, 0, 2]])), terms=["t0", "t1", "t2"])
        narrow = Corpus(ids=["2"], counts=Csr(np.array([[5]])), terms=["t0"])
        both = combine_splits({"train": narrow, "test": wide})
        assert both.counts.toarray().tolist() == [[5, 0, 0], [1, 0, 2]]

    def test_terms_that_do_not_match(self):
        one = Corpus(ids=["1"], counts=Csr(np.eye(1)), terms=["cat"])
        two = Corpus(ids=["2"], counts=Csr(np.eye(1)), terms=["dog"])
        with pytest.raises(DataError, match="same terms in the same order"):
            combine_splits({"train": one, "test": two})

    def test_absent_fields_are_empty(self):
        one = Corpus(ids=["1"], fields={"text": ["a"]}, labels=[["x"]])
        two = Corpus(ids=["2"], fields={"title": ["t"], "text": ["b"]})
        both = combine_splits({"train": one, "test": two})
        assert dict(both.fields) == {"text": ["a", "b"], "title": ["", "t"]}
        assert both.labels == [["x"], []]


class TestArff:
    def read(self, tmp_path, content, **options):
        path = tmp_path / "mail-train.arff"
        path.write_text(content)
        return read(path, **options).corpus

    def test_meka_first_labels_and_awkward_names(self, tmp_path):
        corpus = self.read(
            tmp_path,
            "% made by hand\n@RELATION 'mail: -C 2'\n\n@ATTRIBUTE 'L one' {0,1}\n@attribute l2 {0, 1}\n"
            "@attribute \"it's\" NUMERIC\n@attribute 'don\\'t' real\n@attribute w{0,1}\n@DATA\n% note\n"
            "{0 1, 2 3}\n{}\n0,1,0,2.5,1\n",
        )
        assert corpus.label_names == ["L one", "l2"]
        assert corpus.terms == ["it's", "don't", "w"]
        assert corpus.labels == [["L one"], [], ["l2"]]
        assert corpus.counts.toarray().tolist() == [[3, 0, 0], [0, 0, 0], [0, 2.5, 1]]

    @pytest.mark.parametrize(
        ("relation", "columns"),
        [
            ("m: -C 2", [0, 1]),
            ("m:-C -2", [3, 4]),
            ("m: -split-percentage 66 -C 2 -I 0", [0, 1]),
            ("m: -C 2-weka.filters.unsupervised.instance.RemovePercentage-P66", [0, 1]),
            ("m: -C 2 -I 0-weka.filters.unsupervised.attribute.Remove-R1-2", None),
            ("m-weka.filters.unsupervised.attribute.Discretize-B2-C 2", None),
            ("m -C 2", None),
            ("m: -C 5", None),
        ],
    )
    def test_meka_counts_labels_in_the_options_of_the_relation(self, relation, columns):
        """The options follow the name and a colon; a filter of attributes may have moved the labels."""
        assert meka_label_columns(relation, 5) == columns

    def test_meka_last_labels(self, tmp_path):
        corpus = self.read(
            tmp_path, "@relation 'm: -C -1'\n@attribute w numeric\n@attribute y {0,1}\n@data\n2,1\n0,0\n"
        )
        assert (corpus.label_names, corpus.labels) == (["y"], [["y"], []])

    def test_xml_beside_wins_and_gives_the_hierarchy(self, tmp_path):
        (tmp_path / "mail.xml").write_text(
            '<labels xmlns="http://mulan.sourceforge.net/labels"><label name="top"><label name="b"/></label></labels>'
        )
        corpus = self.read(
            tmp_path,
            "@relation 'm: -C 1'\n@attribute w numeric\n@attribute b {0,1}\n@attribute top {0,1}\n"
            "@data\n{0 2,1 1,2 1}\n",
        )
        assert corpus.label_names == ["top", "b"]
        assert corpus.labels == [["top", "b"]]
        assert corpus.terms == ["w"]
        assert corpus.hierarchy.ancestors("b") == ["top"]

    def test_the_only_xml_beside_files_named_by_splits_names_their_labels(self, tmp_path):
        (tmp_path / "medical.xml").write_text('<labels><label name="b"/></labels>')
        for split in ("train", "test"):
            (tmp_path / f"{split}.arff").write_text(
                "@relation 'm: -C 1'\n@attribute a {0,1}\n@attribute b {0,1}\n@data\n0,1\n"
            )
        assert read(tmp_path).corpus.label_names == ["b"]
        (tmp_path / "other.xml").write_text("<project/>")
        assert read(tmp_path).corpus.label_names == ["a"]

    def test_label_of_the_xml_that_is_no_attribute(self, tmp_path):
        (tmp_path / "mail.xml").write_text('<labels><label name="gone"/></labels>')
        with pytest.raises(DataError, match=r"label 'gone' of mail.xml is not an attribute"):
            self.read(tmp_path, "@relation m\n@attribute w numeric\n@data\n1\n")

    def test_label_count(self, tmp_path):
        content = "@relation m\n@attribute a {0,1}\n@attribute b {0,1}\n@data\n1,1\n"
        assert self.read(tmp_path, content, label_count=1).labels == [["a"]]
        assert self.read(tmp_path, content, label_count=-1).labels == [["b"]]
        assert self.read(tmp_path, content, label_count=0).labels is None

    def test_sparse_rows_leave_out_the_first_value(self, tmp_path):
        """As in Weka: the first class, and 1 for an attribute {1,0}."""
        corpus = self.read(
            tmp_path,
            "@relation m\n@attribute w numeric\n@attribute v {1,0}\n@attribute class {red,green}\n"
            "@data\n{0 2}\n{1 0,2 green}\n",
        )
        assert corpus.labels == [["red"], ["green"]]
        assert corpus.counts.toarray().tolist() == [[2, 1], [0, 0]]

    def test_yes_and_no(self, tmp_path):
        corpus = self.read(
            tmp_path,
            "@relation 'm: -C 1'\n@attribute y {NO,YES}\n@attribute w {false,true}\n@data\nYES,false\nNO,true\n",
        )
        assert corpus.labels == [["y"], []]
        assert corpus.counts.toarray().tolist() == [[0], [1]]

    def test_string_attributes_are_texts(self, tmp_path):
        corpus = self.read(
            tmp_path,
            "@relation 'm: -C 1'\n@attribute y {0,1}\n@attribute body string\n@data\n"
            "1,'it\\'s here, now'\n{1 \"a } b\"}\n",
        )
        assert corpus.texts == ["it's here, now", "a } b"]
        assert corpus.labels == [["y"], []]
        assert not corpus.is_bag_of_words

    def test_values_of_mere_names_are_refused(self, tmp_path):
        with pytest.raises(DataError, match="'colour' are neither numbers nor yes and no"):
            self.read(tmp_path, "@relation 'm: -C 1'\n@attribute y {0,1}\n@attribute colour {r,g,b}\n@data\n1,r\n")

    @pytest.mark.parametrize(
        "bad", ["{0 1,1 x}", "{0 1,1}", "{0 2}", "{0 1,0 1}", "{0 1,9 1}", "{0 1,1 nan}", "2,1", "1,inf"]
    )
    def test_the_quick_way_checks_as_the_careful_one(self, bad, tmp_path):
        head = "@relation 'm: -C 1'\n@attribute y {0,1}\n@attribute w numeric\n@data\n{0 1}\n"
        with pytest.raises(DataError, match="line 6: "):
            self.read(tmp_path, head + bad + "\n")
        assert len(self.read(tmp_path, head + bad + "\n", on_error="skip")) == 1

    def test_labels_must_be_marks(self, tmp_path):
        with pytest.raises(DataError, match="line 5: A label has the value 3"):
            self.read(tmp_path, "@relation 'm: -C 1'\n@attribute y numeric\n@attribute w numeric\n@data\n3,1\n")

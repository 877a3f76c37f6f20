"""Every data set known by name has the shape its description gives; files, folders and prefixes agree."""

import os
from functools import cache
from pathlib import Path

import pytest

from manylabel.data import describe, load, read
from manylabel.data.known import KNOWN
from manylabel.exceptions import DataError, MissingDataError, UnknownNameError

HOME = os.environ.get("MANYLABEL_DATA", "")
needs_data = pytest.mark.skipif(not HOME, reason="MANYLABEL_DATA is not set")

# name: documents, labels, terms, sizes of the parts
SHAPES = {
    "yahoo-arts": (7484, 26, 23146, None),
    "yahoo-business": (11214, 30, 21924, None),
    "yahoo-education": (12030, 33, 27534, None),
    "yahoo-health": (9205, 32, 30605, None),
    "yahoo-reference": (8027, 33, 39679, None),
    "yahoo-science": (6428, 40, 37187, None),
    "yahoo-reduced-arts": (5000, 26, 462, {"train": 2000, "test": 3000}),
    "yahoo-reduced-business": (5000, 30, 438, {"train": 2000, "test": 3000}),
    "yahoo-reduced-education": (5000, 33, 550, {"train": 2000, "test": 3000}),
    "yahoo-reduced-health": (5000, 32, 612, {"train": 2000, "test": 3000}),
    "yahoo-reduced-reference": (5000, 33, 793, {"train": 2000, "test": 3000}),
    "yahoo-reduced-science": (5000, 40, 743, {"train": 2000, "test": 3000}),
    "medical": (978, 45, 1449, {"train": 333, "test": 645}),
    "enron": (1702, 53, 1001, {"train": 1123, "test": 579}),
    "bibtex": (7395, 159, 1836, {"train": 4880, "test": 2515}),
    "rcv1-1": (6000, 101, 47236, {"train": 3000, "test": 3000}),
    "rcv1-2": (6000, 101, 47236, {"train": 3000, "test": 3000}),
    "goemotions": (54263, 28, None, {"train": 43410, "dev": 5426, "test": 5427}),
    "debtags": (30303, 598, None, None),
    "20newsgroups": (18846, 20, None, {"train": 11314, "test": 7532}),
    "hallmarks": (1852, 36, None, None),
    "cnae9": (1080, 9, 856, None),
    "oh0": (1003, 10, 3182, None),
    "oh5": (918, 10, 3012, None),
    "oh10": (1050, 10, 3238, None),
    "oh15": (913, 10, 3100, None),
}


TWICE = ("debtags", "goemotions", "hallmarks", "oh0")
"""What two tests look at."""


@pytest.fixture(scope="module")
def loaded():
    """Loads a data set by name; one that two tests look at is read once."""
    kept = cache(load)
    return lambda name: kept(name) if name in TWICE else load(name)


@needs_data
@pytest.mark.parametrize("name", SHAPES)
def test_shape(name, loaded):
    row = next(row for row in KNOWN if row.name == name)
    if not Path(HOME, row.path).parent.exists():
        pytest.skip(f"MANYLABEL_DATA has no {row.path}")
    reading = loaded(name)
    documents, labels, terms, parts = SHAPES[name]
    sizes = describe(reading.corpus)
    assert (sizes.documents, sizes.labels.names, sizes.terms) == (documents, labels, terms)
    assert (reading.corpus.splits or None) == parts
    assert reading.corpus.name == name
    assert reading.corpus.licence
    assert not reading.skipped
    # Some labels of the reduced Yahoo problems have no document among the 5000 drawn.
    assert sizes.labels.used == labels or name.startswith("yahoo-reduced")


def test_every_known_data_set_is_tested():
    assert {row.name for row in KNOWN} == {*SHAPES, "reuters21578", "townhall"}


@needs_data
def test_debtags_keeps_the_source_and_does_not_repeat_the_title(loaded):
    corpus = loaded("debtags").corpus
    assert list(corpus.fields) == ["text"]
    assert corpus.metadata["source"][0] == "0ad"
    assert corpus.metadata["title"][0] == "Real-time strategy game of ancient warfare"
    assert corpus.hierarchy.ancestors("game::strategy") == ["game"]
    assert len({name.split("::")[0] for name in corpus.label_names}) == 31


@needs_data
def test_hallmarks_has_unlabelled_documents_and_paths(loaded):
    corpus = loaded("hallmarks").corpus
    assert sum(not names for names in corpus.labels) == 272
    deep = "Genomic instability and mutation--DNA damage--Adducts"
    assert corpus.hierarchy.ancestors(deep)[-1] == "Genomic instability and mutation"


@needs_data
def test_goemotions_ids_become_names_in_the_order_of_their_file(loaded):
    corpus = loaded("goemotions").corpus
    assert corpus.label_names[:2] == ["admiration", "amusement"]
    assert corpus.label_names[27] == "neutral"
    row = corpus.ids.index("ee84bjg")
    assert corpus.labels[row] == ["approval", "neutral"]
    assert corpus.hierarchy.ancestors("annoyance") == ["anger"]


@needs_data
def test_single_class_arff_gives_the_first_class_to_rows_that_leave_it_out(loaded):
    """Weka's sparse rows leave out the first value of a nominal attribute."""
    corpus = loaded("oh0").corpus
    assert sum(names == ["6-Ketoprostaglandin-F1-alpha"] for names in corpus.labels) > 0


@needs_data
@pytest.mark.parametrize(
    ("path", "format", "documents"),
    [
        ("goemotions/dev.tsv", "tsv", 5426),
        ("yahoo/full/arts/X.npz", "npz", 7484),
        ("yahoo/full/arts/Y.npz", "npz", 7484),
        ("rcv1/sub1/second_X.npz", "npz", 3000),
        ("mulan/medical-train.arff", "arff", 333),
        ("mulan/medical", "arff", 978),
        ("20newsgroups/test.jsonl.gz", "jsonl", 7532),
        ("cnae9/cnae-9.csv.gz", "csv", 1080),
        ("cnae9", "csv", 1080),
        ("hallmarks/all.jsonl.gz", "jsonl", 1852),
    ],
)
def test_files_are_read_in_their_own_format(path, format, documents):
    if not Path(HOME, path).parent.exists():
        pytest.skip(f"MANYLABEL_DATA has no {path}")
    reading = read(Path(HOME, path))
    assert (reading.format, len(reading.corpus)) == (format, documents)


@needs_data
def test_a_folder_of_several_data_sets_names_them():
    with pytest.raises(DataError, match=r"bibtex, enron, medical.*Name one"):
        read(Path(HOME, "mulan"))


def test_missing_data_says_where_it_looked_and_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setenv("MANYLABEL_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("MANYLABEL_HOME", str(tmp_path / "cache"))
    with pytest.raises(MissingDataError) as error:
        load("reuters21578")
    for words in (
        str(tmp_path / "data"),
        str(tmp_path / "cache"),
        "manylabel fetch reuters21578",
        "MANYLABEL_DATA",
    ):
        assert words in str(error.value)
    with pytest.raises(MissingDataError) as error:
        load("enron")
    assert "manylabel fetch" not in str(error.value)
    assert "Set MANYLABEL_DATA" in str(error.value)


def test_unknown_name_offers_the_nearest(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MissingDataError, match="Did you mean the data set 'reuters21578'"):
        load("reuters21587")


def test_an_existing_path_wins_over_a_known_name(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    Path("enron").write_text('{"text": "mine", "labels": ["a"]}\n')
    assert load("enron").corpus.texts == ["mine"]


def test_found_in_the_cache(monkeypatch, tmp_path):
    monkeypatch.delenv("MANYLABEL_DATA", raising=False)
    monkeypatch.setenv("MANYLABEL_HOME", str(tmp_path))
    (tmp_path / "hallmarks").mkdir()
    (tmp_path / "hallmarks" / "all.jsonl").write_text('{"text": "cell", "labels": ["A--B"]}\n')
    corpus = load("hallmarks").corpus
    assert corpus.licence == "GPL-3"
    assert corpus.hierarchy.ancestors("A--B") == ["A"]


def test_the_built_in_corpus_takes_no_options():
    pytest.importorskip("manylabel.data.known")
    assert load("townhall").format == "builtin"
    with pytest.raises(UnknownNameError, match="colour"):
        load("townhall", colour="red")

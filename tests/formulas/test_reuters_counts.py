"""D-1: the counts of Reuters-21578 under ModApte, each of them verified independently of this code."""

import os
import re
from collections import Counter
from dataclasses import astuple
from functools import cache
from pathlib import Path

import pytest

from manylabel.data import Corpus, describe, load, reuters_sgml
from manylabel.data.problems import Problems
from manylabel.exceptions import ParameterError, UnknownNameError

load_records = reuters_sgml._load
HOME = os.environ.get("MANYLABEL_DATA", "")
pytestmark = pytest.mark.skipif(
    not Path(HOME, "reuters21578").is_dir() or not HOME, reason="MANYLABEL_DATA has no reuters21578"
)


@pytest.fixture(scope="module", autouse=True)
def parsed_once():
    """The archive is parsed once for all the options below."""
    parsed = cache(lambda path: load_records(path, Problems()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reuters_sgml, "_load", lambda path, problems: parsed(path))
        yield


@cache
def reuters(**options: object) -> Corpus:
    return load("reuters21578", **options).corpus


def table(corpus: Corpus, split: str) -> tuple[int, ...]:
    return astuple(describe(corpus).splits[split])


def test_modapte_table():
    """D-1, the table: total, no label, one label, several; distinct labels."""
    assert table(reuters(), "train") == (9603, 1828, 6552, 1223)
    assert table(reuters(), "test") == (3299, 280, 2582, 437)


def test_raw_tags_give_the_printed_table():
    """D-1: Vilar, Castro & Sanchis's Table 1 counts tags; 19918 has trade twice, 5467 corn."""
    corpus = reuters(dedupe_labels=False)
    assert table(corpus, "train") == (9603, 1828, 6552, 1223)
    assert table(corpus, "test") == (3299, 280, 2581, 438)
    repeated = {
        i: Counter(names) for i, names in zip(corpus.ids, corpus.labels, strict=True) if len(set(names)) < len(names)
    }
    assert {i: max(c, key=lambda name: c[name]) for i, c in repeated.items()} == {
        "19918": "trade",
        "5467": "corn",
    }


def test_all_and_unused_records():
    """D-1: 21578 records, 8676 of them unused; 120 labels used anywhere, 135 listed."""
    everything = reuters(split="all")
    assert len(everything) == 21578
    assert everything.split_names is None
    assert describe(everything).labels.used == 120
    assert len(everything.label_names) == 135
    assert reuters(unused="keep").splits == {"train": 9603, "test": 3299, "unused": 8676}


def test_labels_by_part():
    """D-1: 118 used in train or test, 115 in train, 93 in test, 90 in both; three only in test."""
    corpus = reuters()
    train, test = ({n for names in corpus.split(part).labels for n in names} for part in ("train", "test"))
    assert (len(train | test), len(train), len(test), len(train & test)) == (118, 115, 93, 90)
    assert test - train == {"cottonseed", "f-cattle", "sfr"}
    only = {i for i, names in zip(corpus.ids, corpus.labels, strict=True) if set(names) & (test - train)}
    assert only == {"16147", "16236", "18136"}


@pytest.mark.parametrize(
    ("label_set", "labels", "train", "test"),
    [("R90", 90, 7770, 3019), ("train115", 115, 7775, 3019), ("R10", 10, 6490, 2545)],
)
def test_label_sets(label_set, labels, train, test):
    """D-1: documents that keep a label when labels are restricted."""
    corpus = reuters(label_set=label_set, unlabelled_train="drop", unlabelled_test="drop")
    assert len(corpus.label_names) == labels
    assert corpus.splits == {"train": train, "test": test}


def test_unlabelled_documents_are_dropped_by_part():
    assert reuters(unlabelled_train="drop").splits == {"train": 9603 - 1828, "test": 3299}
    assert reuters(unlabelled_test="drop").splits == {"train": 9603, "test": 3299 - 280}


def test_ten_largest():
    """D-1: the ten largest topics with their train and test counts."""
    corpus = reuters(label_set="R10")
    counts = {part: Counter(n for names in corpus.split(part).labels for n in names) for part in ("train", "test")}
    assert {n: (counts["train"][n], counts["test"][n]) for n in corpus.label_names} == {
        "earn": (2877, 1087), "acq": (1650, 719), "money-fx": (538, 179), "grain": (433, 149),
        "crude": (389, 189),
        "trade": (369, 117), "interest": (347, 131), "wheat": (212, 71), "ship": (197, 89), "corn": (181, 56),
    }  # fmt: skip


def test_assignments_and_label_sets():
    """D-1: 9648 / 3747 assignments, 1.241 per labelled document, 388 sets, 122 test documents unseen.

    9648 + 3747 = 13395 assignments need the three test-only labels, so all 135 are kept here.
    """
    corpus = reuters()
    train, test = corpus.split("train"), corpus.split("test")
    assert describe(train).labels.assignments == 9648
    assert describe(test).labels.assignments == 3747
    assert describe(train).labels.per_labelled_document == pytest.approx(1.241, abs=5e-4)
    seen = {tuple(names) for names in train.labels if names}
    assert len(seen) == 388
    assert sum(bool(names) and tuple(names) not in seen for names in test.labels) == 122


def test_unilabel_part():
    """D-1: 59 classes in the unilabel training split; 13 unilabel test documents have a class without one."""
    corpus = reuters(cardinality="unilabel")
    assert corpus.splits == {"train": 6552, "test": 2582}
    classes = {names[0] for names in corpus.split("train").labels}
    assert len(classes) == 59
    assert sum(names[0] not in classes for names in corpus.split("test").labels) == 13


def test_no_document_is_empty_and_entities_are_decoded():
    """D-1: with tokens [a-z]+ no ModApte document is empty, briefs and unprocessed stories included."""
    corpus = reuters()
    assert list(corpus.fields) == ["title", "body"]
    joined = [f"{t} {b}".lower() for t, b in zip(*corpus.fields.values(), strict=True)]
    assert all(re.search("[a-z]+", text) for text in joined)
    assert not any("&lt;" in text or "&#3;" in text or "\x03" in text for text in joined)
    assert any("<" in text for text in joined)


def test_briefs_and_unprocessed_stories():
    """D-1: no body in 787 + 276 briefs, no title in 54 + 14 unprocessed stories."""
    corpus = reuters()
    for part, briefs, unprocessed in (("train", 787, 54), ("test", 276, 14)):
        fields = corpus.split(part).fields
        assert sum(not title for title in fields["title"]) == unprocessed
        assert sum(not body for body in fields["body"]) == briefs


def test_random_split_is_seeded_and_of_the_asked_size():
    """D-1: random 70-30 over the 12902 documents."""
    first, again, other = (reuters(split="random", seed=seed).split_names for seed in (1, 1, 2))
    assert Counter(first) == {"train": 12902 - 3871, "test": 3871}
    assert first == again
    assert first != other


def test_explicit_label_list_and_unknown_names():
    corpus = reuters(label_set=("corn", "wheat"))
    assert corpus.label_names == ["corn", "wheat"]
    with pytest.raises(UnknownNameError, match="Did you mean 'wheat'"):
        load("reuters21578", label_set=["wheet"])
    with pytest.raises(UnknownNameError, match="R90"):
        load("reuters21578", label_set="R9")
    with pytest.raises(ParameterError, match="modapte"):
        load("reuters21578", split="modaptee")


def test_fields_can_be_chosen():
    titles = reuters(fields=("title",))
    assert list(titles.fields) == ["title"]
    assert isinstance(titles.texts[0], str)
    assert titles.fields["title"][titles.ids.index("1")] == "BAHIA COCOA REVIEW"

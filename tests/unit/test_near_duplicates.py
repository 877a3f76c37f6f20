"""Near-duplicates: planted copies are found, unlike texts are not, and splits keep them together."""

from pathlib import Path

import numpy as np
import pytest

from manylabel.data import Corpus
from manylabel.data.duplicates import near_duplicates, straddling
from manylabel.estimator import Csr
from manylabel.tasks.corpora import Source, load_source
from manylabel.tasks.dividing import drop_straddling, find_straddling, folds_of, train_and_test


def random_texts(n: int, words: int = 60, seed: int = 0) -> list[str]:
    random = np.random.default_rng(seed)
    return [" ".join(f"word{number}" for number in random.zipf(1.3, words) % 5000) for _ in range(n)]


def with_a_changed_word(text: str, place: int) -> str:
    words = text.split()
    words[place] = "changed"
    return " ".join(words)


def test_planted_copies_are_found_and_no_others() -> None:
    originals = random_texts(300)
    copies = [with_a_changed_word(text, 30) for text in originals[:20]]  # 5 of 56 runs differ: 51 / 61 = 0.836
    found = near_duplicates([*originals, *copies])
    assert list(zip(found.first.tolist(), found.second.tolist(), strict=True)) == [(i, 300 + i) for i in range(20)]
    assert found.similarity == pytest.approx([51 / 61] * 20, abs=0.01)
    assert near_duplicates(originals).n_pairs == 0


def test_many_copies_of_one_text_cost_nothing() -> None:
    found = near_duplicates(["thank you very much indeed"] * 2000 + random_texts(5))
    assert found.first.size == 0  # one text, 2,000 times
    assert (found.n_documents, found.n_pairs) == (2000, 2000 * 1999 // 2)


def test_documents_without_words_are_no_duplicates() -> None:
    assert near_duplicates(["", "...", ""]).n_pairs == 0
    assert near_duplicates(Csr((3, 4))).n_pairs == 0
    assert near_duplicates([]).n_documents == 0
    assert straddling([""], [""]).test.size == 0


def test_measurements_are_compared_by_value() -> None:
    rows = np.random.default_rng(0).normal(size=(30, 12))
    copy = np.where(np.arange(12) == 3, 7.5, rows[5])  # another value in one of twelve columns
    found = near_duplicates(Csr(np.vstack([rows, rows[5], copy])), least=0.8)
    assert found.n_documents == 3
    assert len(set(found.groups()[[5, 30, 31]].tolist())) == 1


def test_fields_are_read_as_one_text() -> None:
    fields = {"title": "late bus", "body": "the bus was late again this morning"}
    assert near_duplicates([fields, "Late bus: the bus was late again this morning."]).n_pairs == 1


def corpus_with_copies(n: int = 120) -> Corpus:
    originals = random_texts(n)
    copies = [with_a_changed_word(text, 3) for text in originals[: n // 3]]
    texts = [*originals, *copies]
    labels = [[f"label{place % 4}"] for place in range(len(texts))]
    return Corpus(ids=[str(place) for place in range(len(texts))], fields={"text": texts}, labels=labels)


def test_splits_that_keep_near_duplicates_together(tmp_path: Path) -> None:
    corpus = corpus_with_copies()
    assert find_straddling(*train_and_test(corpus, 0.25, 0)[:2]).documents > 5
    path = tmp_path / "mail.csv"
    rows = [f"{text},{names[0]}" for text, names in zip(corpus.texts, corpus.label_sets, strict=True)]
    path.write_text("text,labels\n" + "\n".join(rows) + "\n")
    together = load_source(Source(str(path), split_by="duplicates")).corpus
    train, test, how = train_and_test(together, 0.25, 0)
    assert find_straddling(train, test).documents == 0
    assert "keeps near-duplicates together" in how
    assert len(test) == pytest.approx(40, abs=4)
    folds, how = folds_of(together, 4, 0)
    assert "keep near-duplicates together" in how
    for rows_train, rows_test in folds:
        assert find_straddling(together.subset(rows_train), together.subset(rows_test)).documents == 0


def test_dropping_leaves_the_test_as_it_is() -> None:
    train, test, _ = train_and_test(corpus_with_copies(), 0.25, 0)
    before = find_straddling(train, test)
    assert before.first is not None
    assert before.first[0] in test.ids
    assert before.first[1] in train.ids
    kept, after = drop_straddling(train, test)
    assert len(train) - len(kept) == after.dropped >= before.documents // 2
    assert find_straddling(kept, test).documents == 0
    alike, none = drop_straddling(kept, test)
    assert (len(alike), none.dropped) == (len(kept), 0)


@pytest.mark.parametrize(
    ("name", "pairs", "straddle"),
    [("reuters21578", 335, 8), ("hallmarks", 0, 0), ("goemotions", 4425, 118), ("medical", 24, 7)],
)
def test_research_data(name: str, pairs: int, straddle: int, data_folder: Path) -> None:
    """The figures of docs/splits.md."""
    corpus = load_source(Source(name)).corpus
    documents = corpus.counts if corpus.counts is not None else corpus.texts
    assert near_duplicates(documents).n_pairs == pairs
    train, test, _ = train_and_test(corpus, 0.25, 0)
    assert find_straddling(train, test).documents == straddle

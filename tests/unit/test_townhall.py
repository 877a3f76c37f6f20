"""The corpus that comes with manylabel is what its card says."""

import re
from collections import Counter, defaultdict

import pytest

from manylabel.data.corpus import Corpus
from manylabel.data.known import read_townhall


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return read_townhall()


def bodies(corpus: Corpus) -> list[str]:
    return list(corpus.fields["body"])


def test_letters_have_30_to_120_words_and_a_title(corpus: Corpus) -> None:
    assert len(corpus) >= 500
    assert all(30 <= len(body.split()) <= 120 for body in bodies(corpus))
    assert all(2 <= len(title.split()) <= 10 for title in corpus.fields["title"])
    assert len(set(corpus.fields["title"])) == len(corpus)


def test_no_two_letters_share_a_sentence(corpus: Corpus) -> None:
    where = defaultdict(set)
    for row, body in enumerate(bodies(corpus)):
        for sentence in re.split(r"(?<=[.!?])\s+", body):
            where[re.sub(r"\W+", " ", sentence.lower()).strip()].add(row)
    assert [sentence for sentence, rows in where.items() if len(rows) > 1] == []


def test_no_two_letters_share_seven_words_in_a_row(corpus: Corpus) -> None:
    where = defaultdict(set)
    for row, body in enumerate(bodies(corpus)):
        words = re.findall(r"\w+", body.lower())
        for start in range(len(words) - 6):
            where[tuple(words[start : start + 7])].add(row)
    assert [run for run, rows in where.items() if len(rows) > 1] == []


def test_labels_have_two_levels_a_long_tail_and_dependencies(corpus: Corpus) -> None:
    counts = Counter(name for names in corpus.label_sets for name in names)
    areas = {name.split("/")[0] for name in counts}
    assert 24 <= len(counts) <= 30
    assert 6 <= len(areas) <= 8
    assert all(name.count("/") == 1 for name in counts)
    assert sum(8 <= count <= 15 for count in counts.values()) >= 5
    sizes = [len(names) for names in corpus.label_sets]
    labelled = [size for size in sizes if size]
    assert max(sizes) == 4
    assert sum(labelled) / len(labelled) == pytest.approx(1.8, abs=0.05)
    assert sizes.count(0) / len(sizes) == pytest.approx(0.04, abs=0.01)
    together = sum({"environment/trees", "planning/applications"} <= set(names) for names in corpus.label_sets)
    by_chance = counts["environment/trees"] * counts["planning/applications"] / len(corpus)
    assert together > 1.5 * by_chance


def test_the_split_is_by_date_and_every_topic_can_be_learned(corpus: Corpus) -> None:
    train, test = corpus.split("train"), corpus.split("test")
    assert max(train.metadata["date"]) < min(test.metadata["date"])
    assert set(corpus.label_names) == {name for names in train.label_sets for name in names}

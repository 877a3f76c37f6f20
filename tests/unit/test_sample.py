"""A random sample drawn from shards: of the size allowed, the same for the same seed, and fair to every document."""

import json
from pathlib import Path

import numpy as np
import pytest

from manylabel.exceptions import DataError
from manylabel.scale import shards
from manylabel.scale.sample import draw_sample
from manylabel.scale.shards import ShardedCorpus


def write(path: Path, sizes: list[int]) -> ShardedCorpus:
    """Documents of these sizes, labels included, in several shards: every third has two labels, every fifth none."""
    rows = []
    for number, size in enumerate(sizes):
        labels = [] if number % 5 == 0 else ["a", "b"] if number % 3 == 0 else ["a"]
        rows.append({"id": f"d{number}", "text": "x" * (size - len(labels)), "labels": labels, "more": "y" * 50})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shards, "SHARD_BYTES", 2000)
        return ShardedCorpus.of(path)


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "SHARD_BYTES", 500)


def test_the_sample_has_the_size_allowed_and_counts_all_documents(tmp_path: Path) -> None:
    corpus = write(tmp_path / "a.jsonl", [20] * 90)
    assert len(corpus.shards) > 3
    sample = draw_sample(corpus, 20 * 31 + 7, seed=1)
    assert len(sample.corpus) == 31
    assert not sample.is_all
    # Of 90 documents every fifth has no label (18); of the others every third has two (30 less the 6 at 15, 30 …).
    assert (sample.counts.documents, sample.counts.unlabelled, sample.counts.several_labels) == (90, 18, 24)
    numbers = [int(identifier[1:]) for identifier in sample.corpus.ids]
    assert numbers == sorted(numbers)
    assert [len(names) for names in sample.corpus.label_sets] == [
        0 if number % 5 == 0 else 2 if number % 3 == 0 else 1 for number in numbers
    ]
    assert not sample.corpus.metadata
    again = draw_sample(corpus, 20 * 31 + 7, seed=1)
    assert list(again.corpus.ids) == list(sample.corpus.ids)
    assert list(draw_sample(corpus, 20 * 31 + 7, seed=2).corpus.ids) != list(sample.corpus.ids)


def test_all_documents_are_drawn_where_they_fit(tmp_path: Path) -> None:
    corpus = write(tmp_path / "a.jsonl", [20] * 40)
    sample = draw_sample(corpus, 800)
    assert sample.is_all
    assert list(sample.corpus.ids) == [f"d{number}" for number in range(40)]
    assert not draw_sample(corpus, 799).is_all


def test_long_and_short_early_and_late_documents_are_drawn_alike(tmp_path: Path) -> None:
    """A document is in about half of the samples of half of the text, wherever it is and however long."""
    sizes = [10, 70] * 30
    corpus = write(tmp_path / "a.jsonl", sizes)
    times = np.zeros(60)
    for seed in range(60):
        drawn = draw_sample(corpus, sum(sizes) // 2, seed).corpus
        times[[int(identifier[1:]) for identifier in drawn.ids]] += 1
    share = times / 60
    for rows in (share[::2], share[1::2], share[:30], share[30:]):  # 30 documents × 60 samples: 3 standard errors
        assert abs(rows.mean() - 0.5) < 0.04


def test_a_corpus_without_documents_is_refused(tmp_path: Path) -> None:
    corpus = write(tmp_path / "a.jsonl", [20] * 3)
    (tmp_path / "a.jsonl").write_text("\n")
    with pytest.raises(DataError, match="no documents"):
        draw_sample(corpus, 100)

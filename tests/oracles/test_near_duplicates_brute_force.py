"""Near-duplicates against a comparison of every document with every other."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manylabel.data.duplicates import near_duplicates, straddling
from manylabel.estimator import Csr

WORDS = ["bus", "late", "road", "hole", "park", "tree"]
texts = st.lists(st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join), min_size=1, max_size=12)
least_similar = st.sampled_from([0.3, 0.5, 0.75, 0.8, 1.0])


def runs(text: str, words: int) -> set[tuple[str, ...]]:
    split = text.split()
    if 0 < len(split) < words:
        return {tuple(split)}
    return {tuple(split[place : place + words]) for place in range(len(split) - words + 1)}


def jaccard(a: set, b: set) -> float:
    return len(a & b) / len(a | b) if a | b else 0.0


def all_pairs(sets: list[set], least: float) -> dict[tuple[int, int], float]:
    pairs = {(i, j): jaccard(sets[i], sets[j]) for i, j in combinations(range(len(sets)), 2)}
    return {pair: value for pair, value in pairs.items() if value >= least - 1e-9}


@settings(max_examples=150)
@given(texts, st.integers(1, 3), least_similar)
def test_texts(documents: list[str], words: int, least: float) -> None:
    check(near_duplicates(documents, words=words, least=least), all_pairs([runs(t, words) for t in documents], least))


@given(st.lists(st.lists(st.integers(0, 2), min_size=6, max_size=6), min_size=1, max_size=10), least_similar)
def test_counts(rows: list[list[int]], least: float) -> None:
    expected = all_pairs([set(np.flatnonzero(row).tolist()) for row in rows], least)
    check(near_duplicates(Csr(np.array(rows)), least=least), expected)


def check(found, expected: dict[tuple[int, int], float]) -> None:
    kinds = {}
    for first, second, value in zip(found.first.tolist(), found.second.tolist(), found.similarity, strict=True):
        kinds[first, second] = value
    got = {}
    for i, j in combinations(range(len(found.kind_of)), 2):
        a, b = sorted((int(found.kind_of[i]), int(found.kind_of[j])))
        if a == b:
            got[i, j] = 1.0
        elif (a, b) in kinds:
            got[i, j] = kinds[a, b]
    assert got.keys() == expected.keys()
    assert [got[pair] for pair in expected] == pytest.approx(list(expected.values()))
    assert found.n_pairs == len(expected)
    assert found.n_documents == len({document for pair in expected for document in pair})
    groups = found.groups()
    assert all(groups[i] == groups[j] for i, j in expected)


@settings(max_examples=100)
@given(texts, texts, least_similar)
def test_straddling(train: list[str], test: list[str], least: float) -> None:
    found = straddling(train, test, words=2, least=least)
    expected = {}
    for row, text in enumerate(test):
        likeness = [jaccard(runs(text, 2), runs(other, 2)) for other in train]
        if max(likeness) >= least - 1e-9:
            expected[row] = (int(np.argmax(np.round(likeness, 12))), max(likeness))
    assert found.test.tolist() == list(expected)
    assert found.train.tolist() == [row for row, _ in expected.values()]
    assert found.similarity == pytest.approx([value for _, value in expected.values()])

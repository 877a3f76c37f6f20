"""Near-duplicates that stand on both sides of a split: find them, or leave them out of training."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from manylabel.data import Corpus
from manylabel.data.description import DuplicateFacts
from manylabel.data.near_duplicates import near_duplicates, straddling
from manylabel.progress import stage
from manylabel.tasks.corpora import documents_of


@dataclass(frozen=True, slots=True)
class Straddle:
    """How many test documents have a near-duplicate in training, and the first of them with its nearest one."""

    documents: int
    tested: int
    identical: int
    first: tuple[str, str] | None
    dropped: int = 0
    """How many training documents were left out for being near-duplicates of test documents."""

    def as_dict(self) -> dict[str, Any]:
        """The facts as plain data."""
        return asdict(self)


def find_straddling(train: Corpus, test: Corpus) -> Straddle:
    """The test documents that training has seen, or nearly: see `manylabel.data.near_duplicates`."""
    with stage("Looking for near-duplicates"):
        found = straddling(documents_of(train), documents_of(test))
    first = (test.ids[found.test[0]], train.ids[found.train[0]]) if found.test.size else None
    return Straddle(int(found.test.size), len(test), int((found.similarity == 1).sum()), first)


def drop_straddling(train: Corpus, test: Corpus) -> tuple[Corpus, Straddle]:
    """The training documents without those that are near-duplicates of test documents; the test stays as it is, so
    that figures with and without them are of the same documents.
    """
    before = find_straddling(train, test)
    if not before.documents:
        return train, before
    seen = straddling(documents_of(test), documents_of(train)).test
    kept = np.setdiff1d(np.arange(len(train)), seen)
    return train.subset(kept), Straddle(0, len(test), 0, None, dropped=int(seen.size))


def duplicate_facts(corpus: Corpus) -> DuplicateFacts:
    """How many pairs of documents are near-duplicates, and how many documents have one."""
    with stage("Looking for near-duplicates"):
        found = near_duplicates(documents_of(corpus))
    return DuplicateFacts(pairs=found.n_pairs, documents=found.n_documents)

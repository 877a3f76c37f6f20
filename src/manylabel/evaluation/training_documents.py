"""Short hashes of the documents a model was trained on, to warn when it is evaluated on them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr

Hashes = npt.NDArray[np.uint64]

MOST = 1 << 16
"""Hashes that are kept, 8 bytes each. Of more documents those with the smallest hashes are kept: a random sample."""


@dataclass(frozen=True, slots=True)
class SeenDocuments:
    """How many of some documents a model was trained on."""

    seen: int
    """Among the compared documents."""
    compared: int
    """The documents whose hash would have been kept, had they been trained on; all, unless training was very large."""
    documents: int


def kept_hashes(documents: Sequence[str | Mapping[str, str]] | Csr) -> Hashes:
    """The hashes of documents for a model file, smallest first, at most `MOST`; empty documents are left out.

    >>> len(kept_hashes(["late bus", "bad road", "late  bus", ""]))
    2
    """
    hashes, has_content = _hashes(documents)
    return np.unique(hashes[has_content])[:MOST]


def count_seen(documents: Sequence[str | Mapping[str, str]] | Csr, kept: Hashes) -> SeenDocuments:
    """How many documents are among those of `kept_hashes`.

    >>> count_seen(["bad road", "no bus"], kept_hashes(["late bus", "bad road"]))
    SeenDocuments(seen=1, compared=2, documents=2)
    """
    found, has_content = _hashes(documents)
    whole = np.ones(len(found), dtype=np.bool_) if len(kept) < MOST else found <= kept[-1]
    return SeenDocuments(int((np.isin(found, kept) & has_content).sum()), int(whole.sum()), len(found))


def _hashes(documents: Sequence[str | Mapping[str, str]] | Csr) -> tuple[Hashes, npt.NDArray[np.bool_]]:
    """The hash of each document, and whether it has any content."""
    digests = bytearray()
    has_content: list[bool] = []
    for content in _contents(documents):
        digests += hashlib.blake2b(content, digest_size=8).digest()
        has_content.append(bool(content))
    return np.frombuffer(bytes(digests), dtype="<u8").astype(np.uint64), np.array(has_content, dtype=np.bool_)


def _contents(documents: Sequence[str | Mapping[str, str]] | Csr) -> Iterator[bytes]:
    """Each document as bytes: its text with single spaces, or its counts; nothing else, neither ids nor labels."""
    if isinstance(documents, Csr):
        counts = documents.copy()
        counts.sum_duplicates()
        for start, end in zip(counts.indptr[:-1], counts.indptr[1:], strict=True):
            columns, values = counts.indices[start:end], counts.data[start:end]
            yield columns.astype("<i8").tobytes() + values.astype("<f8").tobytes()
        return
    for document in documents:
        text = document if isinstance(document, str) else " ".join(document.values())
        yield " ".join(text.split()).encode("utf-8", "surrogatepass")

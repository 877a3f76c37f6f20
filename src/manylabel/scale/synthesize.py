"""Made-up corpora of any size for trials of speed and memory: power laws of words and labels, labels that depend.

Word r of a background of all terms has probability ∝ 1 / (r + 2.7) (Zipf, Mandelbrot); the first label of a document is
label k with probability ∝ 1 / (k + 2). A document has 1 + Poisson(0.25) labels; half of the further ones are from the
same group of eight labels as the first. Its length is drawn from a log-normal, and 30 % of its words are from the 40
words of its labels.

Documents are drawn in blocks, each from the seed and its number: time and disk grow linearly, memory does not grow, and
a longer corpus begins with the documents of a shorter one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from manylabel.data.atomic import atomic_text
from manylabel.data.labelled_table import table_stream
from manylabel.data.recognition import suffix_of
from manylabel.data.strict_json import dumps
from manylabel.estimator import Ints
from manylabel.exceptions import ParameterError
from manylabel.progress import stage

WORDS_OF_A_LABEL = 40
SHARE_OF_LABEL_WORDS = 0.3
GROUP = 8
"""Labels of a group, which occur together more often than by chance."""
BLOCK = 5_000
"""Documents that are drawn at a time."""
SYLLABLES = [c + v for c in "bcdfghklmnprstvwz" for v in ("a", "e", "i", "o", "u", "an", "er", "is")]


@dataclass(frozen=True, slots=True)
class Size:
    """How large a corpus is to be."""

    documents: int
    labels: int
    terms: int = 50_000
    mean_length: int = 110


def synthesize(path: Path, size: Size, seed: int = 0) -> None:
    """Write a made-up corpus in the format of the file's name: JSON lines, CSV, TSV or Parquet."""
    format = {".csv": "csv", ".tsv": "tsv", ".parquet": "parquet", ".jsonl": "jsonl"}.get(suffix_of(path))
    if format is None or min(size.documents, size.labels, size.terms, size.mean_length) < 1:
        raise ParameterError(
            f"A made-up corpus has at least one document, label and term, and a name that ends in .jsonl, .csv, .tsv "
            f"or .parquet; not {path.name} with {size}."
        )
    with ExitStack() as opened, stage("Writing documents", size.documents) as advance:
        if format == "jsonl":
            lines = opened.enter_context(atomic_text(path))
        else:
            append = opened.enter_context(table_stream(path, format))
        for ids, texts, labels in blocks(size, seed):
            if format == "jsonl":
                rows = zip(ids, texts, labels, strict=True)
                lines.writelines(dumps({"id": one, "text": text, "labels": own}) + "\n" for one, text, own in rows)
            else:
                append({"id": ids, "text": texts, "labels": labels})
            advance(len(ids))


def blocks(size: Size, seed: int = 0) -> Iterator[tuple[list[str], list[str], list[list[str]]]]:
    """Ids, texts and label sets of some documents at a time.

    >>> ids, texts, labels = next(blocks(Size(documents=2, labels=30, terms=100, mean_length=4)))
    >>> ids, len(texts), all(labels)
    (['1', '2'], 2, True)
    """
    vocabulary = np.random.default_rng([seed, 0]).integers(0, size.terms, (size.labels, WORDS_OF_A_LABEL))
    words = np.array([spelling(term) for term in range(size.terms)], dtype=object)
    for number, start in enumerate(range(0, size.documents, BLOCK)):
        n = min(BLOCK, size.documents - start)
        drawn, starts, sets = _drawn(size, vocabulary, np.random.default_rng([seed, 1 + number]))
        said = words[drawn[: starts[n]]].tolist()
        texts = [" ".join(said[a:b]) + "." for a, b in pairwise(starts[: n + 1].tolist())]
        ids = [str(identity) for identity in range(start + 1, start + n + 1)]
        yield ids, texts, [[f"label{label:05d}" for label in sorted(own)] for own in sets[:n]]


def _drawn(size: Size, vocabulary: Ints, random: np.random.Generator) -> tuple[Ints, Ints, Sequence[set[int]]]:
    """The words of a block of documents, where each document begins, and its labels."""
    lengths = np.maximum(random.lognormal(np.log(size.mean_length) - 0.245, 0.7, BLOCK).astype(np.int64), 5)
    counts = 1 + random.poisson(0.25, BLOCK)
    starts, label_starts = (np.concatenate([[0], np.cumsum(sizes)]) for sizes in (lengths, counts))
    labels = power_law(random, size.labels, int(label_starts[-1]), 2.0)
    first = np.repeat(labels[label_starts[:-1]], counts)
    near = np.minimum(first // GROUP * GROUP + random.integers(0, GROUP, len(labels)), size.labels - 1)
    is_near = random.random(len(labels)) < 0.5
    is_near[label_starts[:-1]] = False
    labels[is_near] = near[is_near]
    words = power_law(random, size.terms, int(starts[-1]), 2.7)
    of_label = np.flatnonzero(random.random(len(words)) < SHARE_OF_LABEL_WORDS)
    document = np.repeat(np.arange(BLOCK), lengths)[of_label]
    label = labels[label_starts[document] + random.integers(0, counts[document])]
    words[of_label] = vocabulary[label, power_law(random, WORDS_OF_A_LABEL, len(of_label), 2.0)]
    return words, starts, [set(labels[a:b].tolist()) for a, b in pairwise(label_starts.tolist())]


def power_law(random: np.random.Generator, n: int, size: int, shift: float) -> Ints:
    """Numbers below n, number k with probability ∝ 1 / (k + shift)."""
    cumulated = np.cumsum(1.0 / (np.arange(n) + shift))
    return np.asarray(np.searchsorted(cumulated, random.random(size) * cumulated[-1]), dtype=np.int64)


def spelling(term: int) -> str:
    """A made-up word of its own for every term; frequent words are short.

    >>> spelling(0), spelling(700)
    ('baba', 'duban')
    """
    parts = [SYLLABLES[term % len(SYLLABLES)]]
    term //= len(SYLLABLES)
    while True:
        parts.append(SYLLABLES[term % len(SYLLABLES)])
        term //= len(SYLLABLES)
        if term == 0:
            return "".join(parts)

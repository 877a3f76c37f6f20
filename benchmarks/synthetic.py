"""Made-up corpora whose words and labels follow power laws, of any size, the same for the same seed.

Word r of a background of all terms has probability ∝ 1 / (r + 2.7) (Zipf, Mandelbrot); label k ∝ 1 / (k + 2). A
document has 1 + Poisson(0.25) labels (or another mean), a length drawn from a log-normal, and takes 30 % of its words
from words of its labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.inputs import write_features, write_texts
from manylabel.scale.synthesize import SHARE_OF_LABEL_WORDS, WORDS_OF_A_LABEL, power_law, spelling


@dataclass(frozen=True, slots=True)
class Size:
    """How large a corpus is to be; a quarter as many documents again are test documents."""

    documents: int
    labels: int
    terms: int
    mean_length: int = 120
    further_labels: float = 0.25
    """The mean number of labels of a document beyond the first, a few of which are drawn twice."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A corpus as numbers: the term of every word, where each document starts, and the labels."""

    words: Any
    starts: Any
    Y: Any


def draw(size: Size, seed: int = 0) -> Drawn:
    """Draw training and test documents together."""
    random = np.random.default_rng(seed)
    n = size.documents + size.documents // 4
    lengths = np.maximum(random.lognormal(np.log(size.mean_length) - 0.245, 0.7, n).astype(np.int64), 5)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    words = power_law(random, size.terms, int(starts[-1]), 2.7)
    counts = 1 + random.poisson(size.further_labels, n)
    label_starts = np.concatenate([[0], np.cumsum(counts)])
    labels = power_law(random, size.labels, int(label_starts[-1]), 2.0)
    vocabulary = random.integers(0, size.terms, (size.labels, WORDS_OF_A_LABEL))
    # Each word of a document comes from one of the document's labels with a fixed chance.
    of_label = np.flatnonzero(random.random(len(words)) < SHARE_OF_LABEL_WORDS)
    document = np.repeat(np.arange(n), lengths)[of_label]
    label = labels[label_starts[document] + random.integers(0, counts[document])]
    words[of_label] = vocabulary[label, power_law(random, WORDS_OF_A_LABEL, len(of_label), 2.0)]
    Y = sparse.csr_matrix((np.ones(len(labels), dtype=np.int8), labels, label_starts), shape=(n, size.labels))
    Y.sum_duplicates()
    Y.data[:] = 1
    return Drawn(words, starts, Y)


def write_synthetic(folder: Path, size: Size, *, texts: bool = True, seed: int = 0) -> None:
    """Keep a corpus: its texts if wanted, counts, labels and tf-idf."""
    drawn = draw(size, seed)
    n = len(drawn.starts) - 1
    counts = sparse.csr_matrix(
        (np.ones(len(drawn.words), dtype=np.int32), drawn.words, drawn.starts), shape=(n, size.terms)
    )
    counts.sum_duplicates()
    cut = size.documents
    if texts:
        spelled = [spelling(term) for term in range(size.terms)]
        said = [spelled[term] for term in drawn.words.tolist()]
        bounds = drawn.starts.tolist()
        documents = [" ".join(said[a:b]) + "." for a, b in pairwise(bounds)]
        write_texts(folder, "train", documents[:cut])
        write_texts(folder, "test", documents[cut:])
    facts = {
        "name": f"synthetic, power law, {size.documents} documents, {size.labels} labels, {size.terms} terms",
        "label_names": [f"label{k:05d}" for k in range(size.labels)],
    }
    write_features(
        folder,
        {"train": counts[:cut], "test": counts[cut:]},
        {"train": drawn.Y[:cut], "test": drawn.Y[cut:]},
        facts,
    )

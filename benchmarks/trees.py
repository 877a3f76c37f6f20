"""Label trees against the trees of others and one-vs-rest: ``make bench ONLY=trees``.

Two corpora: tibkat (6,980 library records, 9,021 subjects, where `MANYLABEL_DATA` has it), split 80/20 at random; and a
made-up corpus of 100,000 training documents and 50,000 labels. Every candidate reads the same tf-idf matrices and works
on one thread, in a process of its own; times are CPU times.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.peers import BY_NAME, ROOT, find
from benchmarks.tree_worker import CANDIDATES, K, read

FLAT = ("flat", "PECOS-flat")
QUICK = ("label-tree", "PECOS-tree", "omikuji")
SPLIT = 1
"""The seed of the split of tibkat. The settings of `LabelTree` were chosen on that of seed 0."""
HOURS = 2
"""A candidate that takes longer is ended."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A made-up corpus: labels of one topic share words, topics and labels follow power laws."""

    documents: int = 100_000
    tests: int = 10_000
    labels: int = 50_000
    terms: int = 100_000
    labels_a_topic: int = 50
    mean_length: int = 100


SMALL = Shape(documents=4_000, tests=1_000, labels=2_000, terms=20_000)


def report(folder: Path, quick: bool = False) -> str:
    """Measure all candidates on both corpora, those of one-vs-rest on the first; return the tables."""
    said = []
    for name, prepare in (("tibkat", write_tibkat), ("synthetic", write_made_up)):
        inputs = folder / f"trees-{name}"
        inputs.mkdir()
        title = prepare(inputs, SMALL if quick else Shape())
        if title is None:
            said.append(f"{name} is absent: set MANYLABEL_DATA to the folder that has tibkat/en.tsv.gz.")
            continue
        wanted = QUICK if quick else tuple(one for one in CANDIDATES if name == "tibkat" or one not in FLAT)
        said.append(f"{title}\n\n{table(measured(inputs, wanted), inputs)}")
    return "\n\n".join(said)


def measured(inputs: Path, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The report of each candidate, or why it has none."""
    reports = {}
    for name in names:
        peer = BY_NAME[CANDIDATES[name][0]]
        if find(peer).version is None:
            reports[name] = {"absent": find(peer).reason}
            continue
        command = [str(peer.python), "-m", "benchmarks.tree_worker", name, str(inputs)]
        threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
        try:
            asked = subprocess.run(
                command,
                capture_output=True,
                text=True,
                timeout=HOURS * 3600,
                env={**os.environ, **threads},
                check=False,
            )
        except subprocess.TimeoutExpired:
            reports[name] = {"absent": f"ended after {HOURS} hours"}
            continue
        last = (asked.stderr.strip().splitlines() or [f"ended with {asked.returncode}"])[-1]
        reports[name] = json.loads(asked.stdout) if asked.returncode == 0 else {"absent": last}
    return reports


def table(reports: Mapping[str, dict[str, Any]], inputs: Path) -> str:
    """One line for each candidate: quality in percent, CPU seconds, memory."""
    truth = read(inputs, "Y_test")
    lines = [f"{'':20}{'P@1':>7}{'P@5':>7}{'nDCG@5':>8}{'train s':>10}{'ms/doc':>9}{'peak MB':>9}"]
    for name, found in reports.items():
        if "absent" in found:
            lines.append(f"{name:20}  {found['absent']}")
            continue
        first, five, gain = quality(np.load(inputs / f"top-{name}.npy"), truth)
        lines.append(
            f"{name:20}{first:7.2f}{five:7.2f}{gain:8.2f}{found['train']:10.1f}{found['predict_ms']:9.3f}"
            f"{found['peak'] / 2**20:9.0f}"
        )
    return "\n".join(lines)


def quality(top: Any, truth: Any) -> tuple[float, float, float]:
    """P@1, P@5 and nDCG@5 in percent, over the documents that have a label."""
    n, width = truth.shape
    keys = np.repeat(np.arange(n), np.diff(truth.indptr)) * width + truth.indices
    hits = np.isin(np.arange(n)[:, np.newaxis] * width + top, keys) & (top >= 0)
    sizes = np.diff(truth.indptr)
    discounts = 1 / np.log2(np.arange(2, K + 2))
    ideal = np.cumsum(discounts)[np.minimum(sizes, K) - 1]
    kept = sizes > 0
    gain = (hits @ discounts)[kept] / ideal[kept]
    return float(100 * hits[kept, 0].mean()), float(100 * hits[kept].mean()), float(100 * gain.mean())


def write_tibkat(folder: Path, shape: Shape) -> str | None:
    """Write tf-idf matrices of tibkat; None where it is not there. The shape is that of the other corpus."""
    from manylabel.features import Vectorizer, Weighting

    path = Path(os.environ.get("MANYLABEL_DATA", "")) / "tibkat" / "en.tsv.gz"
    if not path.is_file():
        return None
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").partition("\t")[::2] for line in file]
    sets = [sorted(set(labels.split())) for _, labels in rows]
    numbers = {label: number for number, label in enumerate(sorted({label for one in sets for label in one}))}
    columns = [numbers[label] for one in sets for label in one]
    starts = np.concatenate([[0], np.cumsum([len(one) for one in sets])])
    Y = sparse.csr_matrix((np.ones(len(columns)), columns, starts), shape=(len(rows), len(numbers)))
    order, cut = np.random.default_rng(SPLIT).permutation(len(rows)), int(0.8 * len(rows))
    vectorizer = Vectorizer()
    train = vectorizer.fit_transform([rows[row][0] for row in order[:cut]])
    test = vectorizer.transform([rows[row][0] for row in order[cut:]])
    weighting = Weighting(tf="log", idf="smooth", norm="l2").fit(train)
    _write(folder, weighting.transform(train), weighting.transform(test), Y[order[:cut]], Y[order[cut:]])
    return f"tibkat: {cut:,} training documents, {len(rows) - cut:,} test documents, {len(numbers):,} labels"


def write_made_up(folder: Path, shape: Shape) -> str:
    """Write tf-idf matrices of made-up documents.

    Label k has probability ∝ 1/(k + 100). A document has 1 + Poisson(2) labels, all but the first from the topic of
    the first with even chance. Of its words 40 % are of all terms by Zipf's law, 30 % are words of its labels'
    topics and 30 % words of its labels, 40 and 10 different ones.
    """
    from manylabel.features import Weighting

    random = np.random.default_rng(0)
    n = shape.documents + shape.tests
    counts = 1 + random.poisson(2.0, n)
    starts = np.concatenate([[0], np.cumsum(counts)])
    topic_of = random.permutation(shape.labels) // shape.labels_a_topic
    labels = _power_law(random, shape.labels, int(starts[-1]), 100.0)
    by_topic = np.argsort(topic_of, kind="stable")
    first = np.repeat(labels[starts[:-1]], counts)
    beside = by_topic[topic_of[first] * shape.labels_a_topic + random.integers(0, shape.labels_a_topic, len(first))]
    labels = np.where((random.random(len(labels)) < 0.5) & (np.arange(len(labels)) != np.repeat(starts[:-1], counts)),
                      beside, labels)  # fmt: skip
    lengths = np.maximum(random.lognormal(np.log(shape.mean_length) - 0.125, 0.5, n).astype(np.int64), 5)
    document = np.repeat(np.arange(n), lengths)
    words = _power_law(random, shape.terms, len(document), 2.7)
    source = labels[starts[document] + random.integers(0, counts[document])]
    of_topics = random.integers(0, shape.terms, (shape.labels // shape.labels_a_topic, 40))
    of_labels = random.integers(0, shape.terms, (shape.labels, 10))
    kind = random.random(len(words))
    words = np.where(kind < 0.3, of_topics[topic_of[source], random.integers(0, 40, len(words))], words)
    words = np.where(kind > 0.7, of_labels[source, random.integers(0, 10, len(words))], words)
    X = sparse.csr_matrix((np.ones(len(words)), words, np.concatenate([[0], np.cumsum(lengths)])), (n, shape.terms))
    Y = sparse.csr_matrix((np.ones(len(labels)), labels, starts), shape=(n, shape.labels))
    for matrix in (X, Y):
        matrix.sum_duplicates()
    Y.data[:] = 1
    cut = shape.documents
    weighting = Weighting(tf="log", idf="smooth", norm="l2").fit(X[:cut])
    _write(folder, weighting.transform(X[:cut]), weighting.transform(X[cut:]), Y[:cut], Y[cut:])
    return f"made up: {cut:,} training documents, {shape.tests:,} test documents, {shape.labels:,} labels"


def _power_law(random: np.random.Generator, n: int, size: int, shift: float) -> Any:
    cumulated = np.cumsum(1.0 / (np.arange(n) + shift))
    return np.searchsorted(cumulated, random.random(size) * cumulated[-1]).astype(np.int64)


def _write(folder: Path, X_train: Any, X_test: Any, Y_train: Any, Y_test: Any) -> None:
    """Keep the matrices in a form that every SciPy reads."""
    parts = {"X_train": X_train, "X_test": X_test, "Y_train": Y_train, "Y_test": Y_test}
    for name, matrix in parts.items():
        kept = sparse.csr_matrix(matrix)
        kept.sort_indices()
        kept.indices, kept.indptr = kept.indices.astype(np.int32), kept.indptr.astype(np.int32)
        sparse.save_npz(folder / f"{name}.npz", kept)

"""Few or no labelled documents: descriptions of labels, documents, and both, ``python -m benchmarks.cold_start``.

Training documents are drawn at random, stratified, until every label has at least 0, 5, 10, 20 or 50 of them (fewer
where it has no more). Labels are described by their names alone. Without labelled documents, the same documents,
unlabelled, tell how frequent words are. Micro F1 on the test documents, mean over the draws:

descriptions  names of labels and unlabelled documents
documents     the default method on labelled documents
both          the default method on labelled documents with ``descriptions``
majority      the most frequent label for every document
random        as many labels per document as there are on average, drawn at random

townhall: the test split of the data. debtags: the 51 labels of at least 300 packages; 7,000 packages, 2,000 of them for
testing, drawn at random for each seed.
"""

from __future__ import annotations

import argparse

import numpy as np

from manylabel import TextClassifier
from manylabel.data import load
from manylabel.data.corpus import Corpus, Text
from manylabel.data.labels import label_matrix
from manylabel.estimator import Csr, Floats, Ints
from manylabel.metrics import compute_metrics

SIZES = (0, 5, 10, 20, 50)
LEAST, PACKAGES, TESTED = 300, 7_000, 2_000


def splits(name: str, seed: int) -> tuple[Corpus, Corpus, list[str]]:
    """Pool, test documents and labels of a data set for one draw."""
    corpus = load(name).corpus
    if {"train", "test"} <= corpus.splits.keys():
        return corpus.split("train"), corpus.split("test"), list(corpus.label_names)
    rows = np.random.default_rng(seed).permutation(len(corpus))[:PACKAGES]
    counts = np.asarray(corpus.label_matrix().sum(axis=0)).ravel()
    labels = [label for label, n in zip(corpus.label_names, counts.tolist(), strict=True) if n >= LEAST]
    return corpus.subset(rows[TESTED:]), corpus.subset(rows[:TESTED]), labels


def drawn(Y: Csr, at_least: int, seed: int) -> Ints:
    """Documents in random order, each taken if it has a label that too few of those taken before have."""
    order = np.random.default_rng(seed).permutation(Y.shape[0])
    have, taken = np.zeros(Y.shape[1]), []
    for row in order.tolist():
        own = Y.indices[Y.indptr[row] : Y.indptr[row + 1]]
        if (have[own] < at_least).any():
            have[own] += 1
            taken.append(row)
    return np.array(taken, dtype=np.int64)


def micro_f1(model: TextClassifier, texts: list[Text], sets: list[list[str]], labels: list[str]) -> float:
    """Micro F1 of a model on test documents, over all labels."""
    predicted = label_matrix(model.predict(texts), labels)
    return 100 * compute_metrics(label_matrix(sets, labels), predicted, ["micro-f1"])["micro-f1"]


def one_draw(name: str, seed: int) -> tuple[Floats, Floats]:
    """Descriptions, documents and both for each size; and the two baselines."""
    pool, test, labels = splits(name, seed)
    kept = set(labels)
    sets, truth = ([[label for label in one if label in kept] for one in part.label_sets] for part in (pool, test))
    texts, tested, Y, Y_test = (
        list(pool.texts),
        list(test.texts),
        label_matrix(sets, labels),
        label_matrix(truth, labels),
    )
    names = dict.fromkeys(labels, "")
    alone = TextClassifier().fit(texts, [[] for _ in texts], descriptions=names)
    figures = np.zeros((len(SIZES), 3))
    figures[:, 0] = micro_f1(alone, tested, truth, labels)
    figures[0, 2] = figures[0, 0]
    for place, size in enumerate(SIZES[1:], start=1):
        rows = drawn(Y, size, seed)
        few, few_sets = [texts[row] for row in rows], [sets[row] for row in rows]
        for column, known in ((1, None), (2, names)):
            model = TextClassifier(seed=seed).fit(few, few_sets, descriptions=known)
            figures[place, column] = micro_f1(model, tested, truth, labels)
    random = np.random.default_rng(seed).random(Y_test.shape).argsort(axis=1) < round(Y.nnz / Y.shape[0])
    majority = np.tile(np.arange(len(labels)) == np.asarray(Y.sum(axis=0)).argmax(), (len(tested), 1))
    value = [compute_metrics(Y_test, Csr(one.astype(np.int8)), ["micro-f1"])["micro-f1"] for one in (majority, random)]
    return figures, 100 * np.array(value)


def main() -> None:
    """Print a table per data set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="*", default=["townhall", "debtags"])
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    for name in options.data:
        found = [one_draw(name, seed) for seed in range(options.seeds)]
        figures, baselines = (np.mean([pair[at] for pair in found], axis=0) for at in (0, 1))
        print(f"{name}: majority {baselines[0]:.1f}, random {baselines[1]:.1f}")
        print("documents per label  descriptions  documents  both  both less the better part")
        for size, (described, documents, both) in zip(SIZES, figures, strict=True):
            gap = both - max(described, documents)
            print(f"{size:19}  {described:12.1f}  {documents:9.1f}  {both:4.1f}  {gap:+.1f}", flush=True)


if __name__ == "__main__":
    main()

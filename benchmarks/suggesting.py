"""Chosen documents against random ones: ``python -m benchmarks.suggesting reuters21578 --seeds 5``.

Training starts from 100 random documents of the training split. In every round 100 more are labelled: those that
`manylabel suggest` chooses, or random ones. Micro F1 on the test split is printed after each round, the mean over
seeds.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np

from manylabel.classifier import TextClassifier
from manylabel.data import load
from manylabel.insight.suggest import choose_documents, document_values

START, STEP, END = 100, 100, 1000


def curve(train: Any, test: Any, seed: int, chooses: bool) -> list[float]:
    """Micro F1 after each round."""
    random = np.random.default_rng(seed)
    texts, sets = list(train.texts), list(train.label_sets)
    known = random.permutation(len(texts))[:START].tolist()
    figures = []
    while True:
        model = TextClassifier("svm", seed=seed).fit([texts[row] for row in known], [sets[row] for row in known])
        figures.append(model.score(test.texts, test.label_sets))
        rest = np.setdiff1d(np.arange(len(texts)), known)
        if len(known) >= END or not len(rest):
            return figures
        if not chooses:
            known += random.permutation(rest)[:STEP].tolist()
            continue
        others = [texts[row] for row in rest]
        values = document_values(model.predict_scores(others), model.label_counts_)
        known += rest[choose_documents(values, model.transform(others), STEP)].tolist()


def measure(name: str, seeds: int) -> None:
    """Print both curves of a data set."""
    corpus = load(name, **({"label_set": "R90"} if name == "reuters21578" else {})).corpus
    train, test = corpus.split("train"), corpus.split("test")
    chosen, drawn = (
        np.mean([curve(train, test, seed, chooses) for seed in range(seeds)], axis=0) for chooses in (True, False)
    )
    print(f"{name}: {len(train):,} training documents, mean of {seeds} seeds, micro F1")
    for number, (one, other) in enumerate(zip(chosen, drawn, strict=True)):
        print(f"  {min(START + number * STEP, len(train)):5d}  chosen {one:.3f}  random {other:.3f}")
    reached = [START + number * STEP for number, value in enumerate(chosen) if value >= drawn[-1]]
    print(f"  random at the end: {drawn[-1]:.3f}; chosen reaches it with {reached[0] if reached else 'more'} documents")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    words = sys.argv[1:]
    n_seeds = int(words[words.index("--seeds") + 1]) if "--seeds" in words else 5
    for data in [word for word in words if not word.startswith("--") and not word.isdigit()] or ["townhall"]:
        measure(data, n_seeds)

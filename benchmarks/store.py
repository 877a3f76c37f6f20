"""Times of a corpus under review with 100,000 documents × 1,000 labels: ``python -m benchmarks.store``.

Every document has 3 true labels and 20 scores. Each query runs three times; the table shows the best and the worst,
with the CPU time of the best one. The goal is 300 milliseconds; keyword rules read all texts and may take a second,
once per query.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from manylabel.server.store import bulk, decisions, documents, figures, labels, rules, thresholds
from manylabel.server.store.files import CorpusFile
from manylabel.server.store.filling import fill, keep_scores, keep_suggestions
from manylabel.server.store.filters import Filter
from manylabel.tasks.reviewing import PlainCorpus, ReviewScores

TRUE, SCORES, LIMIT = 3, 20, 0.3


def made_up(n: int, n_labels: int) -> tuple[PlainCorpus, ReviewScores]:
    """Documents whose labels follow a power law, and scores that agree with them most of the time."""
    random = np.random.default_rng(0)
    weights = 1 / (np.arange(n_labels) + 2.0)
    weights /= weights.sum()
    drawn = random.choice(n_labels, size=(n, SCORES + 4), p=weights)
    words = np.array([f"word{number}" for number in range(5_000)])
    frequent = np.minimum(random.zipf(1.3, size=(n, 40)) - 1, len(words) - 1)
    names = [f"label {number}" for number in range(n_labels)]
    labels = [sorted({names[column] for column in row[:TRUE].tolist()}) for row in drawn]
    rows, columns, values = [], [], []
    for row, chosen in enumerate(drawn):
        kept = np.unique(chosen)[:SCORES]
        score = random.beta(1, 6, len(kept))
        score[np.isin(kept, chosen[:TRUE])] = random.beta(4, 2, int(np.isin(kept, chosen[:TRUE]).sum()))
        rows.append(np.full(len(kept), row))
        columns.append(kept)
        values.append(score)
    texts = [" ".join(one) for one in words[frequent].tolist()]
    splits = ["test" if row % 4 == 0 else "train" for row in range(n)]
    plain = PlainCorpus("made-up", [f"d{row}" for row in range(n)], {"text": texts}, labels, names, splits, "csv", [])
    scores = ReviewScores(
        names,
        [0.4] * n_labels,
        [0.0] * n_labels,
        np.arange(n),
        np.concatenate(rows),
        np.concatenate(columns),
        np.concatenate(values),
        "made up",
    )
    return plain, scores


def label(relation: str | None = None, number: int = 0, **range_: float) -> Filter:
    return Filter.model_validate({"labels": [{"label": f"label {number}", "relation": relation, **range_}]})


def queries() -> dict[str, Callable[[Any], object]]:
    """By name, what is measured: a page of 50 documents with the number of all, or a study of thresholds."""

    def listed(wanted: Filter, order: Any = "id", by: str | None = None) -> Callable[[Any], object]:
        return lambda one: (
            documents.page(one, wanted, order, by, descending=order == "score"),
            documents.count(one, wanted),
        )

    def studied(by: str | None, kind: Any, value: float) -> Callable[[Any], object]:
        return lambda one: thresholds.study(one, by, thresholds.Trial(thresholds.Wanted(kind, value)), 50)

    both = Filter.model_validate(
        {"text": "word3", "split": "test", "labels": [{"label": "label 0", "relation": "false positive"}]}
    )
    confused = Filter.model_validate(
        {
            "labels": [
                {"label": "label 0", "relation": "false negative"},
                {"label": "label 1", "relation": "false positive"},
            ]
        }
    )
    taken = {"do": "take suggestions", "label": None, "state": None, "most": 100}
    action = {"do": "accept", "label": "label 0", "state": None, "most": None}
    return {
        "all documents": listed(Filter()),
        "split": listed(Filter(split="test")),
        "not reviewed, by uncertainty": listed(Filter(state="not reviewed"), "uncertainty"),
        "any disagreement, most first": listed(Filter(any_label="disagreement"), "disagreement"),
        "frequent label, true": listed(label("true")),
        "frequent label, predicted, by score": listed(label("predicted"), "score", "label 0"),
        "frequent label, false positives": listed(label("false positive"), "score", "label 0"),
        "frequent label, false negatives": listed(label("false negative")),
        "frequent label, disagreement": listed(label("disagreement"), "uncertainty", "label 0"),
        "frequent label, suggested": listed(label("suggested")),
        "frequent label, score 0.3 to 0.5": listed(label(least=0.3, most=0.5), "score", "label 0"),
        "rare label, false positives": listed(label("false positive", 900), "score", "label 900"),
        "search, frequent word": listed(Filter(text="word0")),
        "search, rare words": listed(Filter(text="word700 word3")),
        "search, beginning of a word": listed(Filter(text="word1*")),
        "search, split and false positives": listed(both),
        "bulk preview, frequent label": lambda one: bulk.preview(one, label("suggested"), action),
        "suggestions of all, most probable first": listed(Filter(any_label="suggested"), "suggestion"),
        "bulk preview, 100 suggestions": lambda one: bulk.preview(one, Filter(), taken),
        "confusions": lambda one: figures.confusions(one, "", None, 50),
        "confusions of a label": lambda one: figures.confusions(one, "", "label 3", 50),
        "documents of a confusion": listed(confused),
        "table of labels by F1": lambda one: figures.label_table(one, "", "f1", True, 0, 50),
        "events since another": lambda one: labels.events(one, None, None, 1, 20),
        "keyword rule as a filter": listed(Filter(rule="word3 AND NOT word4")),
        "labels as they are typed": lambda one: documents.labels(one, "label 9", 0, 50),
        "threshold of a frequent label": studied("label 0", "threshold", 0.55),
        "precision 0.9 of a frequent label": studied("label 0", "precision", 0.9),
        "one threshold for all labels": studied(None, "threshold", 0.5),
        "precision 0.9 for all labels": studied(None, "precision", 0.9),
    }


def best_and_worst(corpus: CorpusFile, work: Callable[[Any], object], repeats: int = 3) -> tuple[float, float, float]:
    times = []
    for _ in range(repeats):
        began, used = time.perf_counter(), time.process_time()
        with corpus.reading() as database:
            work(database)
        times.append((time.perf_counter() - began, time.process_time() - used))
    return min(times)[0], max(times)[0], min(times)[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--labels", type=int, default=1_000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        corpus = CorpusFile(Path(folder))
        plain, scores = made_up(asked.documents, asked.labels)
        corpus.create({"name": "made-up", "format": "csv"})
        for name, work in (("import", lambda one: fill(one, plain)), ("scores", lambda one: keep_scores(one, scores))):
            began, used = time.perf_counter(), time.process_time()
            with corpus.writing() as database:
                work(database)
            seconds = time.perf_counter() - began
            print(f"{name:40s} {seconds:8.1f} s   CPU {time.process_time() - used:6.1f} s")
        suggested = [
            {"document": f"d{row}", "label": f"label {row % 50}", "action": "add", "probability": row % 97 / 97}
            for row in range(0, asked.documents, 20)
        ]
        with corpus.writing() as database:
            keep_suggestions(database, suggested)
        print(f"{asked.documents:,} documents × {asked.labels:,} labels, {corpus.path.stat().st_size / 1e6:,.0f} MB")
        print(f"{'milliseconds':40s} {'best':>8s} {'worst':>8s} {'CPU':>8s}")
        for name, query in queries().items():
            best, worst, used = best_and_worst(corpus, query)
            late = "" if best <= LIMIT else "  over 300 ms"
            print(f"{name:40s} {1e3 * best:8.0f} {1e3 * worst:8.0f} {1e3 * used:8.0f}{late}", flush=True)
        text = "".join(f"label {n}: word{3 * n} OR word{3 * n + 1} NOT word{5 * n}\n" for n in range(100))
        best, worst, used = best_and_worst(corpus, lambda one: rules.study(one, text), 1)
        print(f"{'study of 100 keyword rules':40s} {1e3 * best:8.0f} {1e3 * worst:8.0f} {1e3 * used:8.0f}", flush=True)
        decision = {"document": 1, "revision": 1, "accept": ["label 5"], "reject": [], "clear": [], "state": "reviewed"}
        began = time.perf_counter()
        with corpus.writing() as database:
            decisions.decide(database, "Ana", [decision])
        print(f"{'a decision, until it is on the disk':40s} {1e3 * (time.perf_counter() - began):8.0f}")


if __name__ == "__main__":
    main()

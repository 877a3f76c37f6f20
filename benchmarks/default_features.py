"""What the default should count: words, stems, word pairs, titles again, or words and stems side by side.

python -m benchmarks.default_features [--sets townhall …] [--documents 4000]

`auto`, trained for the metric, on held-out quarters of the training documents (test documents are not used), one
division per seed; the mean over the divisions, in percent. Results are kept in a file, and a run continues where
the last one ended. The data: MANYLABEL_DATA.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.defaults import OUTPUT, TARGET_METRICS, drawn, markdown, quartered, read
from manylabel.catalog import DEFAULT_METHOD
from manylabel.classifier import TextClassifier
from manylabel.data import Corpus
from manylabel.data.labels import label_matrix
from manylabel.estimator import Csr
from manylabel.features import Vectorizer
from manylabel.metrics.targets import find_target_metric
from manylabel.tasks.corpora import Source, load_source
from manylabel.tasks.dividing import train_and_test

DIVISIONS = {"townhall": 6, "hallmarks": 3, "goemotions": 1, "reuters21578": 1, "debtags": 1}
"""Sets that come as texts, and on how many divisions each is measured: small ones are noisy."""
STEMS: dict[str, Any] = {"stemmer": "english"}
PAIRS: dict[str, Any] = {"ngram_range": (1, 2), "min_df": 2}
FEATURES: dict[str, tuple[dict[str, Any], ...]] = {
    "words": ({},),
    "stems": (STEMS,),
    "words and stems": ({}, STEMS),
    "word pairs": (PAIRS,),
    "stems, pairs": ({**STEMS, **PAIRS},),
    "title again": ({"fields": ("title", "*")},),
}


def main() -> None:
    """Measure what is missing, then print a table for each metric."""
    parser = argparse.ArgumentParser(description="Features of the default.")
    parser.add_argument("--sets", nargs="+", default=list(DIVISIONS))
    parser.add_argument("--features", nargs="+", default=list(FEATURES))
    parser.add_argument("--metrics", nargs="+", default=TARGET_METRICS)
    parser.add_argument("--method", default=DEFAULT_METHOD)
    parser.add_argument("--documents", type=int, default=4000)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    asked = parser.parse_args()
    kept = asked.output / f"default_features_{asked.method}.jsonl"
    known = {(row["set"], row["features"], row["metric"], row["seed"]): row for row in read(kept)}
    for name in asked.sets:
        corpus = load_source(Source(name)).corpus
        for seed in range(DIVISIONS[name]):
            wanted = [(f, g) for f in asked.features for g in asked.metrics if (name, f, g, seed) not in known]
            wanted = [(f, g) for f, g in wanted if f != "title again" or "title" in corpus.fields]
            if not wanted:
                continue
            train, held_out = quartered(drawn(train_and_test(corpus, 0.25, 0)[0], asked.documents, seed), seed)
            for features, metric in wanted:
                row = {"set": name, "features": features, "metric": metric, "seed": seed}
                row |= cell(train, held_out, features, metric, asked.method)
                known[name, features, metric, seed] = row
                with kept.open("a") as stream:
                    stream.write(json.dumps(row) + "\n")
                print(json.dumps(row), file=sys.stderr, flush=True)
    for metric in asked.metrics:
        print(table(known, asked.sets, asked.features, metric))


def cell(train: Corpus, held_out: Corpus, features: str, metric: str, method: str) -> dict[str, Any]:
    """The metric on the held-out documents, and the seconds that training took."""
    began = time.perf_counter()
    counters = [Vectorizer(**settings) for settings in FEATURES[features]]
    X = side_by_side([counter.fit_transform(train.texts) for counter in counters])
    model = TextClassifier(method, metric=metric, seed=0, n_jobs=1).fit(X, train.label_sets)
    seconds = time.perf_counter() - began
    given = model.predict(side_by_side([counter.transform(held_out.texts) for counter in counters]))
    names = list(train.label_names)
    value = find_target_metric(metric).value(label_matrix(held_out.label_sets, names), label_matrix(given, names))
    return {"value": value, "seconds": round(seconds, 1), "terms": X.shape[1], "nonzeros": int(X.nnz)}


def side_by_side(parts: Sequence[Csr]) -> Csr:
    """Several counts of the same documents as one."""
    return parts[0] if len(parts) == 1 else Csr(sparse.hstack(parts, format="csr"))


def table(
    known: dict[tuple[str, str, str, int], dict[str, Any]], sets: Sequence[str], features: Sequence[str], metric: str
) -> str:
    """Features × data sets, the mean over the divisions."""
    found: dict[tuple[str, str], list[float]] = {}
    for (name, one, of, _), row in known.items():
        if of == metric:
            found.setdefault((one, name), []).append(row["value"])
    means = {key: float(np.mean(values)) for key, values in found.items()}
    return markdown(find_target_metric(metric).title, {one: one for one in features}, sets, means)


if __name__ == "__main__":
    main()

"""The default method beside published figures: ``python -m benchmarks.published``.

Reuters-21578 with its 90 labels (the ModApte split; the 3,019 test documents with a label, and all 3,299), GoEmotions
(its training and test split) and six Yahoo problems (2,000 training and 3,000 test documents, drawn five times; the
draws of ueda2002). The default is trained once for micro F1 and once for macro F1. Everything it chooses (costs,
views, rule), it chooses on out-of-fold scores of the training documents. Figures are in percent, over all labels of
the data, with 95 % intervals of 1,000 resamples of the test documents; those of Yahoo are means over the draws, the
bounds too. With ``--encoder NAME`` the vectors of an encoder stand beside the words, where the data are texts.

What was measured is kept in a file, and a run goes on where the last one ended. The data: MANYLABEL_DATA.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.defaults import OUTPUT, SEED, TARGET_METRICS, read
from manylabel.catalog import DEFAULT_METHOD
from manylabel.data import Corpus
from manylabel.data.labels import label_matrix
from manylabel.data.splits import repeated_random
from manylabel.evaluation.bootstrap import interval
from manylabel.evaluation.statistics import document_statistics
from manylabel.features.encoders import Encoder, load_encoder
from manylabel.recipe import Recipe, with_metric
from manylabel.tasks.corpora import Source, documents_of, load_source
from manylabel.tasks.models import fit_corpus

YAHOO = tuple(f"yahoo-{name}" for name in ("arts", "business", "education", "health", "reference", "science"))
SETS: Mapping[str, Mapping[str, Any]] = {
    "reuters21578": {"label_set": "R90"},
    "goemotions": {},
    **{name: {} for name in YAHOO},
}
"""The data sets, and the options they are read with."""
DRAWS, TRAINED, TESTED = 5, 2_000, 3_000
ALL, LABELLED = "all", "with a label"
PUBLISHED: Mapping[tuple[str, str, str], str] = {
    ("reuters21578", LABELLED, "micro-f1"): "BERT-base 89.0, BERT-large 90.7",
    ("goemotions", ALL, "macro-f1"): "BERT 46 (one threshold, 0.3)",
}
"""What others reached, by data set, test documents and metric."""


def main() -> None:
    """Measure what is missing, then print the table."""
    parser = argparse.ArgumentParser(description="The default beside published figures.")
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=list(SETS))
    parser.add_argument("--metrics", nargs="+", default=TARGET_METRICS, choices=TARGET_METRICS)
    parser.add_argument("--encoder", help="the name or folder of an encoder")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    asked = parser.parse_args()
    encoder = None if asked.encoder is None else load_encoder(asked.encoder)
    kept = asked.output / "published.jsonl"
    kept.parent.mkdir(parents=True, exist_ok=True)
    known = {(row["set"], row["draw"], row["metric"], row["encoder"]): row for row in read(kept)}
    shown = "" if encoder is None else encoder.name
    for name in asked.sets:
        if encoder is not None and name in YAHOO:
            continue  # counts of words, which no encoder reads
        wanted = [(draw, metric) for draw in range(draws(name)) for metric in asked.metrics]
        missing = [(draw, metric) for draw, metric in wanted if (name, draw, metric, shown) not in known]
        if not missing:
            continue
        corpus = load_source(Source(name, options=SETS[name])).corpus
        for draw, metric in missing:
            row: dict[str, Any] = {"set": name, "draw": draw, "metric": metric, "encoder": shown}
            row |= measured(corpus, *divided(corpus, draw), metric, encoder)
            known[name, draw, metric, shown] = row
            with kept.open("a") as stream:
                stream.write(json.dumps(row) + "\n")
            print(json.dumps(row), file=sys.stderr, flush=True)
    print(table([row for row in known.values() if row["set"] in asked.sets and row["encoder"] == shown]))


def draws(name: str) -> int:
    """How often training and test documents are drawn; once where the data have splits."""
    return DRAWS if name in YAHOO else 1


def divided(corpus: Corpus, draw: int) -> tuple[Corpus, Corpus]:
    """The training and test documents: those of the data's splits, or of a random draw where there are none."""
    if "test" in corpus.splits:
        return corpus.split("train"), corpus.split("test")
    train, test = repeated_random(len(corpus), TRAINED, TESTED, draw + 1, SEED)[draw]
    return corpus.subset(train.tolist()), corpus.subset(test.tolist())


def measured(corpus: Corpus, train: Corpus, test: Corpus, metric: str, encoder: Encoder | None) -> dict[str, Any]:
    """Figures with intervals by test documents and metric, CPU seconds of training, and what was chosen."""
    began = time.process_time()
    recipe = Recipe.of(DEFAULT_METHOD, with_metric({}, metric))
    model = fit_corpus(train, recipe, seed=SEED, n_jobs=1, encoder=encoder)
    seconds = time.process_time() - began
    names = list(corpus.label_names)
    Y_true, Y_pred = (label_matrix(sets, names) for sets in (test.label_sets, model.predict(documents_of(test))))
    rows = {ALL: np.arange(len(test)), LABELLED: np.flatnonzero(np.diff(Y_true.indptr))}
    figures = {}
    for which, some in rows.items():
        found = document_statistics(Y_true[some], Y_pred[some])
        bounds = {one: interval(found, one, SEED) for one in TARGET_METRICS}
        figures[which] = {one: [bound.value, bound.low, bound.high] for one, bound in bounds.items()}
    choice = model.decided_.choice_
    return {
        "documents": {which: len(some) for which, some in rows.items()},
        "trained": len(train),
        "figures": figures,
        "seconds": round(seconds, 1),
        "chosen": None if choice is None else choice["settings"],
    }


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Data sets and test documents × the metric trained for: both metrics, the one trained for with its interval."""
    lines = [
        "| data | test documents | trained for | micro F1 | macro F1 | published | CPU seconds |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, which, metric in cells(rows):
        own = [row for row in rows if (row["set"], row["metric"]) == (name, metric)]
        figures = []
        for one in TARGET_METRICS:
            value, low, high = 100 * np.mean([row["figures"][which][one] for row in own], axis=0)
            figures.append(f"{value:.1f} [{low:.1f}, {high:.1f}]")
        documents = f"{own[0]['documents'][which]:,}" + (f" × {len(own)} draws" if name in YAHOO else "")
        seconds = np.mean([row["seconds"] for row in own])
        published = PUBLISHED.get((name, which, metric), "")
        lines.append(f"| {name} | {documents} | {metric} | {' | '.join(figures)} | {published} | {seconds:.0f} |")
    return "\n".join(lines) + "\n"


def cells(rows: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str, str]]:
    """The lines of the table: documents with a label are shown apart only where that is how others measure."""
    found = {(row["set"], row["metric"]) for row in rows}
    apart = {name for name, which, _ in PUBLISHED if which == LABELLED}
    for name in SETS:
        for which in (LABELLED, ALL) if name in apart else (ALL,):
            yield from ((name, which, metric) for metric in TARGET_METRICS if (name, metric) in found)


if __name__ == "__main__":
    main()

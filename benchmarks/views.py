"""What views and stacks gain: the default with words alone, each view in their place, and with what it chooses.

python -m benchmarks.views --held-out     on a quarter of the training documents: what choices are made by
python -m benchmarks.views                on the test splits, after all was chosen

Each cell trains the default for one metric on some training documents, drawn at random, and computes the metric on all
documents of the measured split. `words` is the default without further views and stacks, `auto` the default with those
that it chooses; behind it, its difference to words with a 95 % interval over resampled documents, and the CPU seconds
of both. ``--encoder NAME`` adds the default with this encoder. What was measured is kept in a file,
and a run goes on where the last one ended. The data: MANYLABEL_DATA.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.defaults import OUTPUT, SEED, TARGET_METRICS, drawn, quartered, read
from manylabel.catalog import DEFAULT_METHOD
from manylabel.data import Corpus
from manylabel.data.labels import label_matrix
from manylabel.evaluation.bootstrap import paired_difference
from manylabel.evaluation.statistics import DocumentStatistics, document_statistics
from manylabel.features.encoders import load_encoder
from manylabel.features.views import VIEWS
from manylabel.recipe import Recipe, with_metric
from manylabel.tasks.corpora import Source, documents_of, load_source, train_and_test
from manylabel.tasks.models import fit_corpus

SETS = ("townhall", "hallmarks", "goemotions", "reuters21578", "debtags")
"""The sets that come as texts."""
SIZES = (100, 300, 1_000, 3_000, 0)
"""Numbers of training documents; 0 stands for all."""
WORDS, AUTO = "words", "auto"
PLAIN = {"views": (), "stacked": False}
KINDS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    WORDS: {"model": PLAIN},
    **{view: {"model": PLAIN, "features": dict(settings)} for view, settings in VIEWS.items()},
    AUTO: {},
}
"""What is trained, by name: settings that change the default."""


def main() -> None:
    """Measure what is missing, then print a table for each metric."""
    parser = argparse.ArgumentParser(description="Views of texts.")
    parser.add_argument("--held-out", action="store_true", help="measure on a quarter of the training documents")
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    parser.add_argument("--kinds", nargs="+", default=list(KINDS))
    parser.add_argument("--encoder", help="a folder, or a name that `manylabel encoder list` prints")
    parser.add_argument("--metrics", nargs="+", default=TARGET_METRICS)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    asked = parser.parse_args()
    kinds = [*asked.kinds, *([] if asked.encoder is None else [asked.encoder])]
    asked.output.mkdir(parents=True, exist_ok=True)
    kept = asked.output / ("views_held_out.jsonl" if asked.held_out else "views.jsonl")
    known = {(row["set"], row["size"], row["metric"]): row for row in read(kept)}
    for name in asked.sets:
        whole, test, _ = train_and_test(load_source(Source(name)).corpus, 0.25, SEED)
        whole, test = quartered(whole, SEED) if asked.held_out else (whole, test)
        for size in [size or len(whole) for size in asked.sizes if size < len(whole)]:
            for metric in asked.metrics:
                if (name, size, metric) in known:
                    continue
                row = {"set": name, "size": size, "metric": metric}
                row["kinds"] = measured(drawn(whole, size, SEED), test, metric, kinds)
                known[name, size, metric] = row
                with kept.open("a") as stream:
                    stream.write(json.dumps(row) + "\n")
                print(json.dumps(row), file=sys.stderr, flush=True)
    for metric in asked.metrics:
        rows = [row for row in known.values() if row["metric"] == metric and row["set"] in asked.sets]
        print(table(rows, kinds))


def measured(train: Corpus, test: Corpus, metric: str, kinds: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Figures, CPU seconds and chosen settings of each kind; of `auto` and encoders, the difference to words.

    A kind that is not in `KINDS` is the default with this encoder.
    """
    names = sorted({name for corpus in (train, test) for names in corpus.label_sets for name in names})
    Y_true = label_matrix(test.label_sets, names)
    rows: dict[str, dict[str, Any]] = {}
    base: DocumentStatistics | None = None
    for kind in kinds:
        began = time.process_time()
        recipe = Recipe.of(DEFAULT_METHOD, with_metric(KINDS.get(kind, {}), metric))
        model = fit_corpus(train, recipe, seed=SEED, n_jobs=1, encoder=None if kind in KINDS else load_encoder(kind))
        seconds = time.process_time() - began
        found = document_statistics(Y_true, label_matrix(model.predict(documents_of(test)), names))
        base = found if kind == WORDS else base
        choice = model.decided_.choice_
        rows[kind] = {
            "figures": {one: float(found.value(one)) for one in TARGET_METRICS},
            "seconds": round(seconds, 1),
            "chosen": None if choice is None else choice["settings"],
        }
        if base is not None and (kind == AUTO or kind not in KINDS):
            gap = paired_difference(found, base, metric, seed=SEED)
            rows[kind]["gain"] = [gap.value, gap.low, gap.high]
    return rows


def table(rows: Sequence[Mapping[str, Any]], kinds: Sequence[str]) -> str:
    """Sets and sizes × kinds, in percent; micro / macro F1 of each."""
    if not rows:
        return ""
    compared = [kind for kind in kinds if kind == AUTO or kind not in KINDS]
    columns = [*kinds, *(f"difference of {kind}" for kind in compared), "CPU seconds: " + ", ".join([WORDS, *compared])]
    lines = [
        f"| {rows[0]['metric']} (micro / macro F1) | documents | {' | '.join(columns)} |",
        "|---" * (len(columns) + 2) + "|",
    ]
    for row in rows:
        found = row["kinds"]
        cells = [
            " / ".join(f"{100 * value:.1f}" for value in found[kind]["figures"].values()) if kind in found else "–"
            for kind in kinds
        ]
        gains = [found[kind].get("gain") if kind in found else None for kind in compared]
        cells += [
            "–" if gain is None else "{:+.1f} [{:+.1f}, {:+.1f}]".format(*(100 * one for one in gain)) for gain in gains
        ]
        cells.append(", ".join(f"{found[kind]['seconds']:g}" for kind in (WORDS, *compared) if kind in found))
        lines.append(f"| {row['set']} | {row['size']:,} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()

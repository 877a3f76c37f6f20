"""What views and stacks gain: the default with words alone, each view in their place, and with what it chooses.

python -m benchmarks.views --held-out     on a quarter of the training documents: what choices are made by
python -m benchmarks.views                on the test splits, after all was chosen

Each cell trains the default for one metric on some training documents, drawn at random, and computes the metric on all
documents of the measured split. `words` is the default without further views and stacks, `auto` the default with those
that it chooses; behind it, its difference to words with a 95 % interval over resampled documents, and the CPU seconds
of both. ``--encoder NAME`` adds the default with this encoder. With ``--draws N`` the training documents are drawn N
times; figures are means over the draws, and the interval of a difference is that of its mean over the draws (Student's
t): training documents vary, test documents do not. What was measured is kept in a file, and a run goes on where the
last one ended. The data: MANYLABEL_DATA.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from benchmarks.defaults import OUTPUT, SEED, TARGET_METRICS, drawn, quartered, read
from manylabel.catalog import DEFAULT_METHOD
from manylabel.data import Corpus
from manylabel.data.labels import label_matrix
from manylabel.estimator import Floats
from manylabel.evaluation.bootstrap import paired_difference
from manylabel.evaluation.statistics import DocumentStatistics, document_statistics
from manylabel.features.encoders import load_encoder
from manylabel.features.views import VIEWS
from manylabel.recipe import Recipe, with_metric
from manylabel.tasks.corpora import Source, documents_of, load_source
from manylabel.tasks.dividing import train_and_test
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
    parser.add_argument("--draws", type=int, default=1, help="how many times training documents are drawn")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    asked = parser.parse_args()
    kinds = [*asked.kinds, *([] if asked.encoder is None else [asked.encoder])]
    asked.output.mkdir(parents=True, exist_ok=True)
    kept = asked.output / ("views_held_out.jsonl" if asked.held_out else "views.jsonl")
    known = {(row["set"], row["size"], row["metric"], row["draw"]): row for row in read(kept)}
    for name in asked.sets:
        whole, test, _ = train_and_test(load_source(Source(name)).corpus, 0.25, SEED)
        whole, test = quartered(whole, SEED) if asked.held_out else (whole, test)
        for size in [size or len(whole) for size in asked.sizes if size < len(whole)]:
            for metric, draw in product(asked.metrics, range(asked.draws if size < len(whole) else 1)):
                if (name, size, metric, draw) in known:
                    continue
                row = {"set": name, "size": size, "metric": metric, "draw": draw}
                row["kinds"] = measured(drawn(whole, size, SEED + draw), test, metric, kinds)
                known[name, size, metric, draw] = row
                with kept.open("a") as stream:
                    stream.write(json.dumps(row) + "\n")
                print(json.dumps(row), file=sys.stderr, flush=True)
    for metric in asked.metrics:
        rows = [row for row in known.values() if row["metric"] == metric and row["set"] in asked.sets]
        print(table(rows, kinds))
        print(mean_differences(rows, kinds))


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
    for (name, size), draws in _by_sample(rows).items():
        found = {kind: [draw[kind] for draw in draws] for kind in kinds if all(kind in draw for draw in draws)}
        cells = [_figures(found[kind]) if kind in found else "–" for kind in kinds]
        cells += [_difference(found.get(kind, [])) for kind in compared]
        seconds = {kind: np.mean([one["seconds"] for one in ones]) for kind, ones in found.items()}
        cells.append(", ".join(f"{seconds[kind]:.1f}" for kind in (WORDS, *compared) if kind in seconds))
        lines.append(f"| {name} | {size:,} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def mean_differences(rows: Sequence[Mapping[str, Any]], kinds: Sequence[str]) -> str:
    """A line for each size and kind that is compared with words: the mean difference over the sets, and the least.

    Where all sets have the same number of draws, the mean has an interval over the draws: each of them has a mean over
    the sets.
    """
    found = defaultdict[tuple[int, str], list[Floats]](list)
    for (_, size), draws in _by_sample(rows).items():
        for kind in kinds:
            if all("gain" in draw.get(kind, {}) for draw in draws):
                found[size, kind].append(100 * np.array([draw[kind]["gain"][0] for draw in draws]))
    lines = []
    for (size, kind), gains in sorted(found.items()):
        means = [float(one.mean()) for one in gains]
        alike = len({len(one) for one in gains}) == 1
        shown = _mean_with_interval(np.mean(gains, axis=0) if alike else np.array([np.mean(means)]), 2)
        which = f"{size:,} documents, {kind}"
        lines.append(f"{which}: {shown} on the mean of {len(gains)} sets, {min(means):+.2f} at the least\n")
    return "".join(lines)


def _by_sample(rows: Sequence[Mapping[str, Any]]) -> dict[tuple[str, int], list[Mapping[str, Any]]]:
    """What was measured with each draw, by set and number of training documents."""
    found: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
    for row in rows:
        found.setdefault((row["set"], row["size"]), []).append(row["kinds"])
    return found


def _figures(draws: Sequence[Mapping[str, Any]]) -> str:
    """The means of both metrics, in percent."""
    return " / ".join(f"{100 * np.mean([one['figures'][name] for one in draws]):.1f}" for name in TARGET_METRICS)


def _difference(draws: Sequence[Mapping[str, Any]]) -> str:
    """The difference to words with its interval; of several draws, their mean and its interval."""
    gains = 100 * np.array([one["gain"] for one in draws if "gain" in one])
    if not len(gains):
        return "–"
    if len(gains) == 1:
        return "{:+.1f} [{:+.1f}, {:+.1f}]".format(*gains[0])
    return _mean_with_interval(gains[:, 0], 1)


def _mean_with_interval(values: Floats, digits: int) -> str:
    """The mean of independent values with its 95 % interval by Student's t; of a single value, this value."""
    mean = float(values.mean())
    if len(values) == 1:
        return f"{mean:+.{digits}f}"
    half = stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return f"{mean:+.{digits}f} [{mean - half:+.{digits}f}, {mean + half:+.{digits}f}]"


if __name__ == "__main__":
    main()

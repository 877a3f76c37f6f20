"""Is the default close to the best? Every method told the metric, on every data set, beside the default.

python -m benchmarks.defaults --held-out     on a quarter of the training documents: what choices are made by
python -m benchmarks.defaults                on the test splits, after all was chosen: the tables of docs/defaults.md

The last row is what `manylabel compare --budget …` finds on the same training documents, its winner trained on all of
them: the best of methods × features × rules.

Each cell trains with ``--metric micro-f1`` (or macro-f1) and computes that metric on all documents of the measured
split; macro F1 is the mean over all labels of training and test. What was measured is kept in a file, and a run
goes on where the last one ended; a cell that takes longer than ``--limit`` seconds is left empty. The data:
MANYLABEL_DATA.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from manylabel.catalog import DEFAULT_METHOD
from manylabel.data import Corpus
from manylabel.data.labels import label_matrix
from manylabel.data.splits import group_split, iterative_split
from manylabel.deadline import seconds_of
from manylabel.exceptions import ManylabelError
from manylabel.metrics.targets import find_target_metric
from manylabel.recipe import Recipe, with_metric
from manylabel.tasks.compare import compare_documents
from manylabel.tasks.corpora import Source, documents_of, load_source
from manylabel.tasks.dividing import train_and_test
from manylabel.tasks.models import fit_corpus
from manylabel.tasks.winner import DocumentsInMemory

SETS = ("townhall", "medical", "enron", "hallmarks", "rcv1-1", "goemotions", "bibtex", "reuters21578", "debtags")
METHODS = (
    "svm",
    "logistic",
    "svm-balanced",
    "nb",
    "mnb-vw",
    "mnb-vw-ecc",
    "rocchio-zoned",
    "knn",
    "ml-knn",
    "pmm",
    "ensemble",
)
TARGET_METRICS = ("micro-f1", "macro-f1")
MOST_DOCUMENTS = 10_000
SEED = 0
OUTPUT = Path(__file__).parent / "results"


class TimeIsUpError(Exception):
    """A cell did not end in time."""


def arguments() -> argparse.Namespace:
    """What to run and where to keep it."""
    parser = argparse.ArgumentParser(description="The default beside the other methods.")
    parser.add_argument("--held-out", action="store_true", help="measure on a quarter of the training documents")
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--metrics", nargs="+", default=TARGET_METRICS)
    parser.add_argument(
        "--documents", type=int, default=MOST_DOCUMENTS, help="train on at most so many, drawn at random"
    )
    parser.add_argument("--budget", default="2m", help="time of a comparison; 0 for none")
    parser.add_argument("--limit", type=int, default=600, help="seconds a cell may take")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    return parser.parse_args()


def main() -> None:
    """Measure what is missing, then print the tables."""
    asked = arguments()
    asked.output.mkdir(parents=True, exist_ok=True)
    kept = asked.output / ("defaults_held_out.jsonl" if asked.held_out else "defaults.jsonl")
    known = {(row["set"], row["method"], row["metric"]): row for row in read(kept)}
    methods = list(dict.fromkeys([DEFAULT_METHOD, *asked.methods]))
    methods += [f"compare --budget {asked.budget}"] if asked.budget != "0" else []
    for name in asked.sets:
        wanted = [(m, g) for m in methods for g in asked.metrics if (name, m, g) not in known]
        if not wanted:
            continue
        train, test = parts(name, asked.held_out, asked.documents)
        for method, metric in wanted:
            fill = comparison if method.startswith("compare") else cell
            row = {"set": name, "method": method, "metric": metric, **fill(train, test, method, metric, asked)}
            known[name, method, metric] = row
            with kept.open("a") as stream:
                stream.write(json.dumps(row) + "\n")
            print(json.dumps(row), file=sys.stderr, flush=True)
    for metric in asked.metrics:
        print(table(known, asked.sets, methods, metric))


def parts(name: str, held_out: bool, most: int) -> tuple[Corpus, Corpus]:
    """What is learned from and what is measured on."""
    train, test, _ = train_and_test(load_source(Source(name)).corpus, 0.25, SEED)
    train = drawn(train, most, SEED)
    return quartered(train, SEED) if held_out else (train, test)


def drawn(corpus: Corpus, most: int, seed: int) -> Corpus:
    """At most so many documents, drawn at random."""
    if len(corpus) <= most:
        return corpus
    return corpus.subset(np.sort(np.random.default_rng(seed).choice(len(corpus), most, replace=False)))


def quartered(corpus: Corpus, seed: int) -> tuple[Corpus, Corpus]:
    """Three quarters of the documents and the fourth; groups stay together."""
    if corpus.split_by:
        groups = np.array([str(value) for value in corpus.metadata[corpus.split_by]])
        kept, rest = group_split(groups, (0.75, 0.25), seed=seed + 1)
    else:
        kept, rest = iterative_split(corpus.label_matrix(), (0.75, 0.25), seed=seed + 1)
    return corpus.subset(np.sort(kept)), corpus.subset(np.sort(rest))


def cell(train: Corpus, test: Corpus, method: str, metric: str, asked: argparse.Namespace) -> dict[str, Any]:
    """One method trained for one metric, and what it reached; None where it took too long or cannot read the data."""
    began = time.perf_counter()
    try:
        with within(asked.limit):
            model = fit_corpus(train, Recipe.of(method, with_metric({}, metric)), seed=SEED, n_jobs=asked.jobs)
            seconds = time.perf_counter() - began
            figures = measured(model, test)
    except TimeIsUpError:
        return {"value": None, "limit": asked.limit}
    except ManylabelError as error:  # counts are not to be had of ready-made tf-idf, say
        return {"value": None, "error": str(error)}
    sizes = {"train": len(train), "test": len(test), "labels": len(model.labels_)}
    value = figures[metric]
    return {"value": value, "figures": figures, "seconds": round(seconds, 1), "chosen": model.decided_.choice_, **sizes}


def comparison(train: Corpus, test: Corpus, method: str, metric: str, asked: argparse.Namespace) -> dict[str, Any]:
    """What the winner of a comparison reached, and which pipeline that was."""
    documents = DocumentsInMemory(train, test, seed=SEED, n_jobs=asked.jobs)
    found = compare_documents(documents, metric=metric, budget=seconds_of(asked.budget))
    winner = found.board.winner.option.name
    assert found.test is not None
    return {"value": found.test.value, "seconds": round(found.seconds["all"], 1), "winner": winner}


def measured(model: Any, test: Corpus) -> dict[str, float]:
    """Both metrics on all test documents; labels that training never saw are misses."""
    names = [*model.labels_, *sorted({name for names in test.label_sets for name in names} - set(model.labels_))]
    given = model.predict(documents_of(test))
    Y_true, Y_pred = label_matrix(test.label_sets, names), label_matrix(given, names)
    return {metric: find_target_metric(metric).value(Y_true, Y_pred) for metric in TARGET_METRICS}


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """Stop the enclosed work when it takes too long."""

    def stop(*_: object) -> None:
        raise TimeIsUpError

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


def read(path: Path) -> list[dict[str, Any]]:
    """The rows of a former run."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def table(
    known: dict[tuple[str, str, str], dict[str, Any]], sets: Sequence[str], methods: Sequence[str], metric: str
) -> str:
    """Methods × data sets, and how far the default stays behind the best."""
    values = {(m, s): row["value"] for (s, m, g), row in known.items() if g == metric and row["value"] is not None}
    names = {method: f"`{method}`" + (" (default)" if method == DEFAULT_METHOD else "") for method in methods}
    best = {name: max((v for (_, s), v in values.items() if s == name), default=float("nan")) for name in sets}
    behind = [100 * (best[name] - values.get((DEFAULT_METHOD, name), float("nan"))) for name in sets]
    gaps = " | ".join(f"{gap:.1f}" for gap in behind)
    lines = markdown(find_target_metric(metric).title, names, sets, values)
    lines += f"| the default behind the best | {gaps} |\n"
    for other in TARGET_METRICS:
        figures = [known.get((name, DEFAULT_METHOD, metric), {}).get("figures", {}).get(other) for name in sets]
        if other != metric and any(figure is not None for figure in figures):
            shown = " | ".join("–" if figure is None else f"{100 * figure:.1f}" for figure in figures)
            lines += f"| {find_target_metric(other).title} of this default | {shown} |\n"
    return lines


def markdown(
    title: str, rows: Mapping[str, str], columns: Sequence[str], values: Mapping[tuple[str, str], float]
) -> str:
    """A table in percent of rows (by the name to show) × columns, the best of each column in bold."""
    best = {column: max((v for (_, c), v in values.items() if c == column), default=None) for column in columns}
    lines = [f"| {title} | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    for row, name in rows.items():
        shown = []
        for column in columns:
            value = values.get((row, column))
            text = "–" if value is None else f"{100 * value:.1f}"
            shown.append(f"**{text}**" if value is not None and value == best[column] else text)
        lines.append(f"| {name} | {' | '.join(shown)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()

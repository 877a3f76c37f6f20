"""What an encoder gains: ``python -m benchmarks.encoders wordllama``.

The default method learns from samples of the training split, without and with each of the named encoders, and is
measured on the test split (of a large one on 1,500 documents, the same for all; where the data have none, a quarter of
the documents). Figures are micro and macro F1 in
percent over all test documents, means over the seeds of sampling; the gains are paired by sample, with the standard
error of their mean. ``--seeds`` sets the number of samples, ``--sets`` the data sets and sizes. Nothing is tuned on
test documents. The last lines are the latency of one document of the first data set: of the first ones a model meets,
and of new ones after these, since tokens and stems of words are remembered.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from manylabel import Corpus, TextClassifier, load_corpus
from manylabel.data.label_forms import read_labels
from manylabel.metrics import compute_metrics
from manylabel.tasks.dividing import train_and_test

SETS = "townhall:100,300,415 goemotions:500,2000 hallmarks:300,1366"
METRICS = ("micro-f1", "macro-f1")
MOST_TEST = 1_500


@dataclass(frozen=True, slots=True)
class Measured:
    """The figures of one model, in percent, and how it was made."""

    figures: tuple[float, ...]
    seconds: float
    """Of CPU, for training and prediction."""
    used: bool
    """Whether the model reads vectors."""


def sample(corpus: Corpus, size: int, seed: int) -> Corpus:
    """A random sample of a corpus; all of it where it is no larger."""
    return corpus.subset(np.sort(np.random.default_rng(seed).permutation(len(corpus))[:size]).tolist())


def measured(train: Corpus, test: Corpus, names: Sequence[str], encoder: str | None) -> Measured:
    """The default method, trained and measured."""
    began = time.process_time()
    model = TextClassifier(encoder=encoder, n_jobs=1).fit(train.texts, train.label_sets)
    predicted = read_labels(model.predict(test.texts), names).Y
    seconds = time.process_time() - began
    found = compute_metrics(read_labels(test.label_sets, names).Y, predicted, list(METRICS))
    view = model.features_.vectors_
    return Measured(tuple(100 * found[name] for name in METRICS), seconds, view is not None and view.is_used_)


def latency(train: Corpus, test: Corpus, encoder: str | None) -> tuple[float, float]:
    """Milliseconds of CPU per document, one at a time: of the training documents, then of the test documents."""
    model = TextClassifier(encoder=encoder, n_jobs=1).fit(train.texts, train.label_sets)
    model.predict(train.texts[:1])
    found = []
    for corpus in (train, test):
        began = time.process_time()
        for text in corpus.texts:
            model.predict([text])
        found.append(1000 * (time.process_time() - began) / len(corpus))
    return found[0], found[1]


def row(title: str, runs: Sequence[Measured], before: Sequence[Measured] | None) -> str:
    """A line of the table: figures, and the gains over the runs before with their standard errors."""
    figures = np.array([run.figures for run in runs])
    cells = [f"{value:.1f}" for value in figures.mean(axis=0)]
    if before is not None:
        gains = figures - np.array([run.figures for run in before])
        errors = gains.std(axis=0, ddof=1) / np.sqrt(len(runs)) if len(runs) > 1 else np.full(len(METRICS), np.nan)
        cells += [f"{gain:+.1f} ± {error:.1f}" for gain, error in zip(gains.mean(axis=0), errors, strict=True)]
    else:
        cells += ["", ""]
    seconds = np.mean([run.seconds for run in runs])
    used = "" if before is None else f"{sum(run.used for run in runs)} of {len(runs)}"
    return f"| {title} | {' | '.join(cells)} | {used} | {seconds:.1f} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("encoders", nargs="+")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--sets", default=SETS)
    parser.add_argument("--no-latency", action="store_true")
    asked = parser.parse_args()
    print("| data, documents, encoder | micro F1 | macro F1 | gain, micro | gain, macro | vectors used | CPU s |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for one in asked.sets.split():
        name, _, sizes = one.partition(":")
        corpus = load_corpus(name).corpus
        train, test, _ = train_and_test(corpus, 0.25, 0)
        test = sample(test, MOST_TEST, 0)
        for size in map(int, sizes.split(",")):
            samples = [sample(train, size, seed) for seed in range(asked.seeds if size < len(train) else 1)]
            before = [measured(few, test, corpus.label_names, None) for few in samples]
            print(row(f"{name}, {size:,}, none", before, None), flush=True)
            for encoder in asked.encoders:
                runs = [measured(few, test, corpus.label_names, encoder) for few in samples]
                print(row(f"{name}, {size:,}, {encoder.rpartition('/')[2]}", runs, before), flush=True)
    if not asked.no_latency:
        train, test, _ = train_and_test(load_corpus(asked.sets.split()[0].partition(":")[0]).corpus, 0.25, 0)
        for encoder in [None, *asked.encoders]:
            first, later = latency(train, test, encoder)
            what = f"one document, {encoder or 'no encoder'}"
            print(f"{what}: {first:.3f} ms of CPU among the first, then {later:.3f}", flush=True)


if __name__ == "__main__":
    main()

"""Whether a difference on one test split is chance: the default for macro F1 on new divisions of the documents.

    python -m benchmarks.divisions --sets medical --divisions 20

Each set is first divided as it comes, then anew, at random by iterative stratification (by group where the data name
one), into as many training and test documents. On each division `before` and `auto` of `benchmarks.views` are trained
for macro F1, and `auto` for micro F1. Printed are micro / macro F1 on the test documents, the difference of macro F1 of
`auto` to `before`, what `auto` for macro F1 loses of the micro F1 of `auto` for micro F1, and the means of both over
the new divisions with 95 % intervals (Student's t; divisions share documents, so the intervals are somewhat too
narrow). The data: MANYLABEL_DATA.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace

import numpy as np

from benchmarks.defaults import MOST_DOCUMENTS, SEED, drawn, measured
from benchmarks.views import AUTO, BEFORE, KINDS, mean_with_interval, rules_before
from manylabel.catalog import DEFAULT_METHOD
from manylabel.data import Corpus
from manylabel.data.corpus import combine_splits
from manylabel.recipe import Recipe, with_metric
from manylabel.tasks.corpora import Source, load_source
from manylabel.tasks.dividing import train_and_test
from manylabel.tasks.models import fit_corpus


def divisions(name: str, n: int) -> Iterator[tuple[Corpus, Corpus]]:
    """Training and test documents of a set: as it comes, then n times anew."""
    whole = load_source(Source(name)).corpus
    train, test, _ = train_and_test(whole, 0.25, SEED)
    yield train, test
    both = replace(combine_splits({"train": train, "test": test}), split_names=None, split_by=whole.split_by)
    for seed in range(1, n + 1):
        anew, rest, _ = train_and_test(both, len(test) / len(both), SEED + seed, quiet=True)
        yield anew, rest


def figures(train: Corpus, test: Corpus, kind: str, metric: str) -> tuple[float, float]:
    """Micro and macro F1, in percent."""
    with rules_before() if kind == BEFORE else nullcontext():
        model = fit_corpus(train, Recipe.of(DEFAULT_METHOD, with_metric(KINDS[kind], metric)), seed=SEED, n_jobs=1)
    found = measured(model, test)
    return 100 * found["micro-f1"], 100 * found["macro-f1"]


def main() -> None:
    """Print a line for each division, and the means."""
    parser = argparse.ArgumentParser(description="The default for macro F1 on other divisions.")
    parser.add_argument("--sets", nargs="+", default=["medical"])
    parser.add_argument("--divisions", type=int, default=20)
    asked = parser.parse_args()
    for name in asked.sets:
        print(f"{name}: macro-f1 before, macro-f1 auto, micro-f1 auto; gain of macro F1, loss of micro F1")
        gains, losses = [], []
        for number, (train, test) in enumerate(divisions(name, asked.divisions)):
            documents = drawn(train, MOST_DOCUMENTS, SEED)
            before = figures(documents, test, BEFORE, "macro-f1")
            macro, micro = (figures(documents, test, AUTO, metric) for metric in ("macro-f1", "micro-f1"))
            gains.append(macro[1] - before[1])
            losses.append(micro[0] - macro[0])
            shown = ", ".join(f"{one[0]:.1f} / {one[1]:.1f}" for one in (before, macro, micro))
            print(f"{number or 'own':>4}  {shown}; {gains[-1]:+.1f}, {losses[-1]:+.1f}", flush=True)
        for what, values in (("gain of macro F1", gains), ("loss of micro F1", losses)):
            print(f"{what}, mean of {asked.divisions} divisions: {mean_with_interval(np.array(values[1:]), 1)}")


if __name__ == "__main__":
    main()

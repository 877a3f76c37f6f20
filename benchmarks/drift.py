"""The quality that training expects of later documents, in random and in time-ordered folds.

``python -m benchmarks.drift`` trains on the documents before a date, once in random, stratified folds and once in
time-ordered ones (``dates``), and measures on later documents: micro F1 in percent for several borders. Expected less
reached is the error of the expectation.
"""

from __future__ import annotations

import argparse

import numpy as np

from manylabel import TextClassifier
from manylabel.data import by_date, load
from manylabel.data.dates import read_dates

BORDERS = (0.5, 0.6, 0.7, 0.8)
LATER = 0.2
"""The share of the documents, after the border, that are measured."""


def main() -> None:
    """Print a row per data set and border."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="*", default=["townhall", "reuters21578"])
    parser.add_argument("--method", default="svm")
    parser.add_argument("--most", type=int, default=6_000, help="documents at most, evenly spaced in time")
    options = parser.parse_args()
    print("data          trained on  expected: random  time-ordered   reached: random  time-ordered")
    for name in options.data:
        corpus = load(name).corpus
        dates = read_dates(corpus.metadata["date"], "date")
        order = np.argsort(dates, kind="stable")
        kept = np.sort(order[:: -(-len(order) // options.most)])
        corpus, dates = corpus.subset(kept), dates[kept]
        errors = []
        for border in BORDERS:
            train, test, *_ = by_date(dates, [border, LATER, *([] if border + LATER >= 1 else [1 - border - LATER])])
            before, after = corpus.subset(train), corpus.subset(test)
            figures = []
            for known in (None, dates[train]):
                model = TextClassifier(options.method).fit(before.texts, before.label_sets, dates=known)
                assert model.expected_ is not None
                figures.append(
                    (100 * model.expected_["figures"][0]["value"], 100 * model.score(after.texts, after.label_sets))
                )
            (random, reached), (ordered, reached_too) = figures
            errors.append((random - reached, ordered - reached_too))
            print(
                f"{name:12} {len(train):11,} {random:17.1f} {ordered:13.1f} {reached:17.1f} {reached_too:13.1f}",
                flush=True,
            )
        random, ordered = np.mean(errors, axis=0)
        print(f"{name}: expected less reached {random:+.1f} in random folds, {ordered:+.1f} in time-ordered folds")


if __name__ == "__main__":
    main()

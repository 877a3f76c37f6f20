"""How often the figure of a later time-ordered fold lies in the interval that `compare` would have printed for it.

    python -m benchmarks.later_folds townhall svm,nb,rocchio,knn,svm+stems,nb+stems,nb-app,ml-knn,logistic
    python -m benchmarks.later_folds reuters21578 svm,nb,rocchio,knn,nb-app

Training documents only: the first 70, 80 and 90 % are cross-validated in five time-ordered folds, the interval for the
next fold (20, 20 and 10 %) is computed from that, and then the next fold is measured.
"""

import sys
import warnings
from dataclasses import replace

import numpy as np

from manylabel.choosing.expectation import expectation
from manylabel.choosing.fold_work import FoldWork
from manylabel.choosing.trial import run_trial
from manylabel.data import Corpus, load
from manylabel.data.dates import read_dates
from manylabel.data.splits import by_date
from manylabel.estimator import Ints
from manylabel.evaluation.statistics import DocumentStatistics
from manylabel.metrics.targets import find_target_metric
from manylabel.recipe import Recipe
from manylabel.tasks.dividing import folds_of

METRIC = find_target_metric("micro-f1")
SHARES = ((0.7, 0.2, 0.1), (0.8, 0.2), (0.9, 0.1))


def predictions(work: FoldWork, recipe: Recipe, number: int) -> DocumentStatistics:
    Y_pred = run_trial(work, recipe, {"own": recipe.decision}, number)["own"].Y_pred
    return DocumentStatistics(work.Y[work.splits[number][1]], Y_pred)


def later_fold(corpus: Corpus, before: Ints, after: Ints, recipe: Recipe) -> tuple[float, float, float, float]:
    """The expected figure, its interval, and the figure of the later fold."""
    known = replace(corpus.subset(before), split_names=None, split_by="time:date")
    work = FoldWork.of(known, folds_of(known, 5, 0)[0], n_jobs=1)
    folds = [predictions(work, recipe, number) for number in range(5)]
    rows = np.arange(len(before) + len(after))
    split = (rows[: len(before)], rows[len(before) :])
    later = FoldWork.of(corpus.subset(np.concatenate([before, after])), [split], n_jobs=1)
    found = expectation(folds, [DocumentStatistics.concatenate(folds)], METRIC, len(after), folds_differ=True)
    return found.value, found.low, found.high, predictions(later, recipe, 0).value(METRIC)


def main(data: str, pipelines: str) -> None:
    warnings.simplefilter("ignore")
    corpus = load(data).corpus.split("train")
    dates = read_dates(corpus.metadata["date"], "date")
    inside, shifts = [], []
    for shares in SHARES:
        before, after, *_ = by_date(dates, shares)
        for pipeline in pipelines.split(","):
            method, _, stems = pipeline.partition("+")
            recipe = Recipe.of(method, {"features": {"stemmer": "english"}} if stems else None)
            value, low, high, later = later_fold(corpus, before, after, recipe)
            inside.append(low <= later <= high)
            shifts.append(later - value)
            print(f"{shares[0]:.0%} {pipeline:12} expected {value:.3f} [{low:.3f}, {high:.3f}], later {later:.3f}")
    print(f"inside: {sum(inside)} of {len(inside)}; later less expected: {np.mean(shifts):+.3f} on average")


if __name__ == "__main__":
    main(*sys.argv[1:])

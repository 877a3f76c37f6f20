"""Train on growing shares of the documents: would more of them help, and on which labels?"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from manylabel.catalog import DEFAULT_METHOD
from manylabel.choosing.fold_work import FoldWork
from manylabel.choosing.trial import run_trial
from manylabel.data import Corpus
from manylabel.data.splits import iterative_split
from manylabel.estimator import Csr, Floats, Ints
from manylabel.evaluation.bootstrap import resampled_values
from manylabel.evaluation.learning_trends import LabelTrend, fit_power_laws, label_trends
from manylabel.evaluation.statistics import DocumentStatistics
from manylabel.exceptions import DataError
from manylabel.metrics.targets import DEFAULT_METRIC, TargetMetric, find_target_metric
from manylabel.parameters import Number, check_parameter
from manylabel.progress import stage
from manylabel.recipe import Recipe
from manylabel.reports.records import CurveStep, LabelCurve, LearningCurve, Outlook
from manylabel.tasks.corpora import Source, documents_of, load_source
from manylabel.tasks.dividing import train_and_test
from manylabel.tasks.models import Overrides

FEWEST = 50
"""The smallest number of training documents a curve begins with, unless half of them are fewer."""
RESAMPLES = 500
FOLDS = 5
"""As in `TextClassifier`, so that the last step equals what `evaluate` measures."""


def learning_curve(
    source: Source,
    *,
    method: str = DEFAULT_METHOD,
    overrides: Overrides | None = None,
    metric: str = DEFAULT_METRIC,
    steps: int = 6,
    repeats: int = 3,
    test_share: float | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
) -> LearningCurve:
    """Train on nested stratified subsets of the training split and measure each on the same test split.

    Each repeat draws its own subsets, every smaller one from the next larger; all end with the whole training split.
    The documents are counted once, and each step learns everything from its own documents only: words, selection,
    weights, decision rule.
    """
    check_parameter("learning-curve", "steps", steps, Number(low=3, whole=True))
    check_parameter("learning-curve", "repeats", repeats, Number(low=1, whole=True))
    began = time.perf_counter()
    recipe, target = Recipe.of(method, overrides), find_target_metric(metric)
    loaded = load_source(source)
    train, test, how = train_and_test(loaded.corpus, test_share, seed)
    sizes = step_sizes(len(train), steps)
    names, Y = _labels(train, test)
    subsets = [nested_subsets(Csr(Y[: len(train)]), sizes, seed, repeat) for repeat in range(repeats)]
    runs = _run(train, test, names, Y, recipe, subsets, target, seed, n_jobs)
    values = np.array([[run.value(target) for run in step] for step in runs])
    trained = np.asarray(Y[: len(train)].sum(axis=0)).ravel().astype(int)
    trends = label_trends(sizes, runs, seed=seed)
    return LearningCurve(
        data=loaded.corpus.name or source.data,
        split=how,
        method=method,
        metric=target.name,
        title=target.title,
        greater_is_better=target.greater_is_better,
        tested=len(test),
        repeats=repeats,
        seed=seed,
        steps=[
            CurveStep(size, float(row.mean()), float(row.min()), float(row.max()), row.tolist())
            for size, row in zip(sizes, values, strict=True)
        ],
        outlook=_outlook(sizes, runs, values, target, seed),
        labels=[_label_curve(names, trained, trend) for trend in trends],
        recipe=recipe.as_dict(),
        seconds=time.perf_counter() - began,
        skipped=[str(problem) for problem in loaded.skipped],
    )


def label_outlook(train: Corpus, test: Corpus, method: str, seed: int = 0) -> tuple[list[LabelCurve], list[int]]:
    """The curve of each label over a quarter, a half and all of the training documents, once, and these sizes."""
    recipe, target = Recipe.of(method), find_target_metric(DEFAULT_METRIC)
    sizes = step_sizes(len(train), 3)
    names, Y = _labels(train, test)
    subsets = [nested_subsets(Csr(Y[: len(train)]), sizes, seed, 0)]
    runs = _run(train, test, names, Y, recipe, subsets, target, seed, None)
    trained = np.asarray(Y[: len(train)].sum(axis=0)).ravel().astype(int)
    return [_label_curve(names, trained, trend) for trend in label_trends(sizes, runs, seed=seed)], sizes


def step_sizes(documents: int, steps: int) -> list[int]:
    """The sizes of the steps up to all documents, each the same multiple of the one before, at most twice.

    >>> step_sizes(9603, 6), step_sizes(415, 4)
    ([300, 600, 1200, 2401, 4802, 9603], [52, 104, 208, 415])
    """
    if documents < 4 * steps:
        raise DataError(
            f"A learning curve of {steps} steps needs at least {4 * steps} training documents; the data have "
            f"{documents}.",
            remedy="Ask for fewer steps, or bring more documents.",
        )
    first = max(documents / 2 ** (steps - 1), min(FEWEST, documents / 2))
    # halves go up, and do so wherever the last bit of a power falls
    return [int(size + 0.5 + 1e-6) for size in np.geomspace(first, documents, steps).tolist()]


def nested_subsets(Y: Csr, sizes: Sequence[int], seed: int, repeat: int) -> list[Ints]:
    """Rows of Y for each size, every subset contained in the next larger one, with about its share of every label.

    >>> Y = Csr(np.eye(4, dtype=np.int8)[[0, 1, 2, 3] * 10])
    >>> [rows.size for rows in nested_subsets(Y, [10, 20, 40], 0, 0)]
    [10, 20, 40]
    """
    subsets = [np.arange(Y.shape[0])]
    for place, size in enumerate(reversed(sizes[:-1])):
        larger = subsets[-1]
        share = size / larger.size
        random = np.random.default_rng([seed, repeat, place])
        drawn, rest = iterative_split(Y[larger], (share, 1 - share), seed=int(random.integers(2**31)))
        # stratified subsets may be off by a few documents, sizes must not be
        chosen = np.concatenate([random.permutation(drawn), random.permutation(rest)])[:size]
        subsets.append(np.sort(larger[chosen]))
    return subsets[::-1]


def _labels(train: Corpus, test: Corpus) -> tuple[list[str], Csr]:
    """The labels in use in training or test, and Y of all documents, training first."""
    sets = [*train.label_sets, *test.label_sets]
    used = {name for one in sets for name in one}
    names = [name for name in train.label_names if name in used]
    Y = sparse.vstack([train.label_matrix(names), test.label_matrix(names)], format="csr")
    return names, Csr(Y)


def _run(
    train: Corpus,
    test: Corpus,
    names: list[str],
    Y: Csr,
    recipe: Recipe,
    subsets: Sequence[Sequence[Ints]],
    metric: TargetMetric,
    seed: int,
    n_jobs: int | None,
) -> list[list[DocumentStatistics]]:
    """The predictions for each size and repeat; the whole training split is learned from once for all repeats."""
    tested = np.arange(len(train), len(train) + len(test))
    last = len(subsets[0]) - 1
    plan = [(step, repeat) for step in range(last) for repeat in range(len(subsets))] + [(last, 0)]
    documents: Any = [*documents_of(train), *documents_of(test)]
    if train.counts is not None and test.counts is not None:
        documents = sparse.vstack([train.counts, test.counts], format="csr")
    splits = [(subsets[repeat][step], tested) for step, repeat in plan]
    work = FoldWork(documents, Y, names, splits, hierarchy=train.hierarchy, seed=seed, n_jobs=n_jobs)
    runs: list[list[DocumentStatistics]] = [[] for _ in range(last + 1)]
    with stage("Learning curve (documents learned from)", sum(rows.size for rows, _ in splits)) as advance:
        for number, (step, _) in enumerate(plan):
            rules = {"own": recipe.decision}
            predictions = run_trial(work, recipe, rules, number, inner_folds=FOLDS, with_ranks=metric.k is not None)[
                "own"
            ]
            runs[step].append(DocumentStatistics(Csr(Y[tested]), predictions.Y_pred, predictions.ranks))
            advance(splits[number][0].size)
    runs[last] = runs[last] * len(subsets)
    return runs


def _outlook(
    sizes: Sequence[int], runs: Sequence[Sequence[DocumentStatistics]], values: Floats, metric: TargetMetric, seed: int
) -> Outlook:
    """The fitted curve at twice the documents; intervals over resamples of test documents and of repeats."""
    sign, best = (1.0, 1.0) if metric.greater_is_better else (-1.0, 0.0)
    law = fit_power_laws(sizes, sign * values.mean(axis=1), best)
    now, twice = sizes[-1], 2 * sizes[-1]
    repeats = len(runs[0])
    drawn = resampled_values([run for step in runs for run in step], metric, seed, RESAMPLES)
    drawn = sign * drawn.reshape(len(sizes), repeats, RESAMPLES)
    shares = np.random.default_rng([seed, 1]).multinomial(repeats, np.full(repeats, 1 / repeats), size=RESAMPLES)
    curves = np.einsum("srb,br->bs", drawn, shares / repeats)
    usable = curves[~np.isnan(curves).any(axis=1)]
    laws = fit_power_laws(sizes, usable, best)
    low, high = np.quantile(sign * (usable[:, -1] + laws.at(twice) - laws.at(now)), [0.025, 0.975])
    closed = _closed(laws.at(now), laws.at(twice), best)
    return Outlook(
        a=float(sign * law.a[0]),
        b=float(sign * law.b[0]),
        c=float(law.c[0]),
        documents=twice,
        value=float(values[-1].mean() + sign * (law.at(twice)[0] - law.at(now)[0])),
        low=float(low),
        high=float(high),
        gain=float(law.at(twice)[0] - law.at(now)[0]),
        closed=float(_closed(law.at(now), law.at(twice), best)[0]),
        closed_low=float(np.quantile(closed, 0.025)),
        closed_high=float(np.quantile(closed, 0.975)),
        foretold=_foretold(sizes, sign * values.mean(axis=1), best, sign),
    )


def _foretold(sizes: Sequence[int], gains: Floats, best: float, sign: float) -> float | None:
    """The value of the last step as extrapolated from the steps before it."""
    if len(sizes) < 4:
        return None
    law = fit_power_laws(sizes[:-1], gains[:-1], best)
    return float(sign * (gains[-2] + law.at(sizes[-1])[0] - law.at(sizes[-2])[0]))


def _closed(now: Floats, later: Floats, best: float) -> Floats:
    missing = best - now
    return np.divide(later - now, missing, out=np.zeros(missing.shape), where=missing > 1e-12)


def _label_curve(names: Sequence[str], trained: Ints, trend: LabelTrend) -> LabelCurve:
    return LabelCurve(
        label=names[trend.column],
        trained=int(trained[trend.column]),
        tested=trend.tested,
        f1=trend.f1,
        slope=trend.slope,
        low=trend.low,
        high=trend.high,
        verdict=trend.verdict,
    )

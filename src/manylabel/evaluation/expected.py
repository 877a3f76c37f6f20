"""The quality to expect on new documents, measured on predictions for training documents that were held out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NotRequired, TypedDict

import numpy as np

from manylabel.estimator import Csr
from manylabel.evaluation.bootstrap import interval
from manylabel.evaluation.statistics import DocumentStatistics
from manylabel.metrics import label_ranks
from manylabel.metrics.targets import DEFAULT_METRIC, find_target_metric

MOST_DRAWS = 2 * 10**7
RESAMPLES, FEWEST = 1000, 100
"""Resamples of the interval, and how many there are at least where documents are many."""


class ExpectedFigure(TypedDict):
    """A metric and its 95 % percentile interval over documents."""

    metric: str
    title: str
    value: float
    low: float
    high: float


class ExpectedQuality(TypedDict):
    """The figures to expect on new documents, and the number of training documents they were measured on."""

    documents: int
    figures: list[ExpectedFigure]
    labelled: NotRequired[int]
    """How many of them have a label: recall at k is measured on these alone."""
    order: NotRequired[str]
    """"time" where they were measured in time-ordered folds."""


def expected_quality(Y_true: Csr, Y_pred: Csr, metrics: Sequence[str] = (), seed: int = 0) -> ExpectedQuality:
    """Micro F1 and further metrics of decisions about documents, with 95 % bootstrap intervals over documents.

    The decisions are those of `manylabel.decisions.cross_fitting.unseen_decisions`.

    >>> Y_true, Y_pred = Csr([[1, 0], [0, 1], [1, 1], [0, 1]] * 25), Csr([[1, 0], [0, 1], [1, 0], [1, 0]] * 25)
    >>> found = expected_quality(Y_true, Y_pred, ["exact-match"])
    >>> found["documents"], [(one["metric"], round(one["value"], 3)) for one in found["figures"]]
    (100, [('micro-f1', 0.667), ('exact-match', 0.5)])
    >>> perfect = expected_quality(Y_true, Y_true)["figures"][0]
    >>> perfect["value"], round(perfect["low"], 3), perfect["high"]
    (1.0, 0.964, 1.0)
    """
    n = int(Y_true.shape[0])
    resamples = max(FEWEST, min(RESAMPLES, MOST_DRAWS // max(n, 1)))
    figures = []
    for name in dict.fromkeys((DEFAULT_METRIC, *metrics)):
        metric = find_target_metric(name)
        # For recall@k the k best labels were decided: those rank before all others.
        ranks = None if metric.k is None else label_ranks(Y_true, Y_pred.toarray().astype(np.float64))
        found = interval(DocumentStatistics(Y_true, Y_pred, ranks), metric, seed, resamples)
        figures.append(
            ExpectedFigure(metric=name, title=metric.title, value=found.value, low=found.low, high=found.high)
        )
    labelled = int(np.count_nonzero(np.diff(Y_true.indptr)))
    return ExpectedQuality(documents=n, figures=figures, labelled=labelled)

"""The metrics that methods and decision rules can be optimised for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy.typing as npt

from manylabel.exceptions import UnknownNameError
from manylabel.metrics.counts import LabelMatrix
from manylabel.metrics.ranking import recall_at
from manylabel.metrics.ranks import label_ranks
from manylabel.metrics.table import compute_metrics, find_metric, metric_hint


@dataclass(frozen=True, slots=True)
class TargetMetric:
    """A metric to optimise for. `k` is set for metrics of the k labels with the best scores, which need scores."""

    name: str
    title: str
    greater_is_better: bool
    k: int | None = None

    def value(self, Y_true: LabelMatrix, Y_pred: LabelMatrix, scores: npt.ArrayLike | None = None) -> float:
        """The value of the metric."""
        if self.k is None:
            return compute_metrics(Y_true, Y_pred, [self.name])[self.name]
        if scores is None:
            raise ValueError(f"{self.name} depends on the order of labels and needs their scores.")
        return recall_at(label_ranks(Y_true, scores), self.k)

    def gain(self, value: float) -> float:
        """The value, negated if less is better, so that greater is always better."""
        return value if self.greater_is_better else -value


TARGET_METRICS: Mapping[str, TargetMetric] = {
    name: TargetMetric(name, find_metric(name).title, bool(find_metric(name).greater_is_better))
    for name in ("micro-f1", "macro-f1", "sample-f1", "exact-match", "hamming-loss")
}
DEFAULT_METRIC = "micro-f1"


def measured_documents(metric: str) -> str:
    """The documents that a metric to optimise for is measured on, in words.

    >>> measured_documents("micro-f1"), measured_documents("recall@5")
    ('documents', 'documents with a label')
    """
    return "documents with a label" if metric.startswith("recall@") else "documents"


def find_target_metric(name: str, what: str = "metric to optimise for") -> TargetMetric:
    """The metric with this name; ``recall@5`` (any number) is the recall of the five labels with the best scores.

    `what` is what the error for an unknown name calls it.

    >>> find_target_metric("hamming-loss").greater_is_better, find_target_metric("recall@3").k
    (False, 3)
    """
    if name in TARGET_METRICS:
        return TARGET_METRICS[name]
    if found := re.fullmatch(r"recall@([1-9]\d*)", name):
        k = int(found[1])
        return TargetMetric(f"recall@{k}", f"Recall at {k}", True, k)
    hint = "recall@ takes any number from 1 on." if name.startswith("recall") else metric_hint(name)
    raise UnknownNameError(what, name, [*TARGET_METRICS, "recall@5"], hint)

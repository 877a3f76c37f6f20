"""Hierarchical precision, recall and F: label sets are compared together with their ancestors."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from manylabel.estimator import Csr, Ints
from manylabel.metrics import document_metrics as by_document
from manylabel.metrics import label_metrics as by_label
from manylabel.metrics.ancestors import closed
from manylabel.metrics.counts import LabelMatrix, indicator
from manylabel.metrics.table import Counts, Metric, count_all

_SETS = "Both sets with all their ancestors, groups that are no labels included; counts pooled over documents; "
_SOURCE = "Kiritchenko, Matwin & Famili 2005; Silla & Freitas 2011"

_TABLE = (
    Metric(
        "hierarchical-precision",
        "Hierarchical precision",
        lambda counts: by_label.micro_precision(counts.labels),
        True,
        _SETS + "0 where nothing is predicted.",
        _SOURCE,
    ),
    Metric(
        "hierarchical-recall",
        "Hierarchical recall",
        lambda counts: by_label.micro_recall(counts.labels),
        True,
        _SETS + "0 where no document has a label.",
        _SOURCE,
    ),
    Metric(
        "hierarchical-f1",
        "Hierarchical F1",
        lambda counts: by_label.micro_f1(counts.labels),
        True,
        _SETS + "0 where no predicted label is right.",
        _SOURCE,
    ),
    Metric(
        "hierarchical-sample-f1",
        "Hierarchical F1 per document",
        lambda counts: by_document.sample_f1(counts.documents),
        True,
        "Mean over documents of the F1 of both sets with all their ancestors; 1 where both are empty, 0 where one is.",
        _SOURCE + ", averaged over documents",
    ),
)

HIERARCHICAL_METRICS: Mapping[str, Metric] = {metric.name: metric for metric in _TABLE}
"""The metrics that need a label hierarchy; they are not in `METRICS`."""


def hierarchical_counts(Y_true: LabelMatrix, Y_pred: LabelMatrix, parents: Ints) -> Counts:
    """The counts of label sets that are both closed under ancestors."""
    return count_all(closed(_labels(Y_true), parents), closed(_labels(Y_pred), parents))


def compute_hierarchical_metrics(Y_true: LabelMatrix, Y_pred: LabelMatrix, parents: Ints) -> dict[str, float]:
    """Hierarchical precision, recall and F1 of predicted label sets.

    hP = Σ_d |S̃_d ∩ T̃_d| / Σ_d |S̃_d|,   hR = Σ_d |S̃_d ∩ T̃_d| / Σ_d |T̃_d|,   hF = 2 hP hR / (hP + hR)

    S̃ and T̃ are the predicted and the true label set with all ancestors; `parents` is the forest as in
    `manylabel.metrics.ancestors`. A sibling of the true label is so half right. Source: Kiritchenko, Matwin & Famili
    2005; Silla & Freitas 2011. Their common root of all labels is left out: it would be right for every document.

    >>> parents = np.array([2, 2, -1])  # two labels in one group
    >>> found = compute_hierarchical_metrics([[1, 0]], [[0, 1]], parents)
    >>> found["hierarchical-precision"], found["hierarchical-recall"], found["hierarchical-f1"]
    (0.5, 0.5, 0.5)
    """
    counts = hierarchical_counts(Y_true, Y_pred, parents)
    return {name: metric.compute(counts) for name, metric in HIERARCHICAL_METRICS.items()}


def hierarchical_conventions() -> dict[str, str]:
    """How each hierarchical metric treats ancestors, empty sets and zero denominators, in words."""
    return {name: metric.convention for name, metric in HIERARCHICAL_METRICS.items()}


def _labels(matrix: LabelMatrix) -> Csr:
    return Csr(indicator(matrix)).astype(np.int8)

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
        _SETS + "0 where nothing is right.",
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
"""Metrics whose counts are those of closed sets; they need a label hierarchy and so stand beside `METRICS`."""


def hierarchical_counts(T: LabelMatrix, S: LabelMatrix, parents: Ints) -> Counts:
    """The counts of truth T and prediction S (documents × labels), both closed under ancestors."""
    return count_all(closed(_labels(T), parents), closed(_labels(S), parents))


def compute_hierarchical_metrics(T: LabelMatrix, S: LabelMatrix, parents: Ints) -> dict[str, float]:
    """Hierarchical precision, recall and F1 of the predictions S against the truth T.

    hP = Σ_d |S̃_d ∩ T̃_d| / Σ_d |S̃_d|,   hR = Σ_d |S̃_d ∩ T̃_d| / Σ_d |T̃_d|,   hF = 2 hP hR / (hP + hR)

    S̃ and T̃ are the label sets with all ancestors; `parents` is the forest as in `manylabel.metrics.ancestors`. A label
    beside the right one, under the same parent, is so half right. Source: Kiritchenko, Matwin & Famili 2005; Silla &
    Freitas 2011. Their root of all labels, in every set, is left out: it would be right for everything.

    >>> parents = np.array([2, 2, -1])  # two labels in one group
    >>> found = compute_hierarchical_metrics([[1, 0]], [[0, 1]], parents)
    >>> found["hierarchical-precision"], found["hierarchical-recall"], found["hierarchical-f1"]
    (0.5, 0.5, 0.5)
    """
    counts = hierarchical_counts(T, S, parents)
    return {name: metric.compute(counts) for name, metric in HIERARCHICAL_METRICS.items()}


def hierarchical_conventions() -> dict[str, str]:
    """What each hierarchical metric does with ancestors, empty sets and zero denominators, in words."""
    return {name: metric.convention for name, metric in HIERARCHICAL_METRICS.items()}


def _labels(matrix: LabelMatrix) -> Csr:
    return Csr(indicator(matrix)).astype(np.int8)

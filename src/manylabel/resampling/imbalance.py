"""How unequal the labels of a corpus are: plain numbers from Y."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from manylabel.estimator import Csr, Floats, Ints, rows_of_cells


@dataclass(frozen=True, slots=True)
class LabelImbalance:
    """What `label_imbalance` counts. Labels that no document has are in no mean; NaN where nothing is defined."""

    label_documents: Ints
    """How many documents have each label."""
    imbalance_ratios: Floats
    """IRLbl: how many times as frequent the most frequent label is; NaN for a label no document has."""
    mean_ratio: float
    """MeanIR: the mean of IRLbl."""
    ratio_variation: float
    """CVIR: the standard deviation of IRLbl (n − 1) over its mean."""
    scumble: float
    """How much frequent and rare labels occur in the same documents: 0 never, towards 1 always."""
    gini: float
    """Of the label counts: 0 where all labels are equally frequent, near 1 where a few have everything."""
    cardinality: float
    """Labels per document."""
    density: float
    """Cardinality over the number of labels."""
    unlabelled_share: float
    """The share of documents without a label."""
    label_sets: int
    """How many different label sets there are, the empty one not counted."""
    label_sets_once: int
    """How many of them only one document has."""


def label_imbalance(Y: Csr) -> LabelImbalance:
    """The statistics of a documents × labels matrix of 0 and 1.

    IRLbl_l = max_m n_m / n_l,   CVIR = sd(IRLbl) / MeanIR,
    SCUMBLE = mean over documents of 1 − (Π_l IRLbl_l)^(1/k) / mean_l IRLbl_l, over the k labels of a document (none: 0)

    Source: Charte, Rivera, del Jesus & Herrera 2015 (IRLbl, MeanIR, CVIR) and 2014 (SCUMBLE).

    >>> found = label_imbalance(Csr(np.array([[1, 0], [1, 0], [1, 1], [0, 0]])))
    >>> found.imbalance_ratios.tolist(), found.mean_ratio, found.cardinality, found.unlabelled_share
    ([1.0, 3.0], 2.0, 1.0, 0.25)
    """
    n, n_labels = Y.shape
    documents = np.bincount(Y.indices, minlength=n_labels).astype(np.int64)
    ratios = np.full(n_labels, math.nan)
    used = documents > 0
    if used.any():
        ratios[used] = documents.max() / documents[used]
    mean = float(ratios[used].mean()) if used.any() else math.nan
    sizes = np.diff(Y.indptr)
    sets, once = _label_sets(Y)
    return LabelImbalance(
        label_documents=documents,
        imbalance_ratios=ratios,
        mean_ratio=mean,
        ratio_variation=float(ratios[used].std(ddof=1)) / mean if used.sum() > 1 else math.nan,
        scumble=_scumble(Y, ratios),
        gini=gini(documents),
        cardinality=float(sizes.mean()) if n else math.nan,
        density=float(sizes.mean()) / n_labels if n and n_labels else math.nan,
        unlabelled_share=float(np.mean(sizes == 0)) if n else math.nan,
        label_sets=sets,
        label_sets_once=once,
    )


def gini(counts: Ints) -> float:
    """The Gini coefficient Σ_i (2i − n − 1) x_i / (n Σ x) of counts in ascending order; NaN without any.

    >>> gini(np.array([3, 3, 3])), gini(np.array([0, 0, 0, 8]))
    (0.0, 0.75)
    """
    total, n = int(counts.sum()), len(counts)
    if total == 0:
        return math.nan
    return float(np.sum((2 * np.arange(1, n + 1) - n - 1) * np.sort(counts)) / (n * total))


def _scumble(Y: Csr, ratios: Floats) -> float:
    """Geometric over arithmetic mean of each document's IRLbl, from sums over its stored labels."""
    if Y.shape[0] == 0:
        return math.nan
    sizes = np.diff(Y.indptr)
    rows, own = rows_of_cells(Y), ratios[Y.indices]
    labelled = sizes > 0
    sums, logs = (np.bincount(rows, weights=values, minlength=len(sizes))[labelled] for values in (own, np.log(own)))
    per_document = 1.0 - np.exp(logs / sizes[labelled]) / (sums / sizes[labelled])
    return float(np.maximum(per_document, 0.0).sum() / Y.shape[0])


def _label_sets(Y: Csr) -> tuple[int, int]:
    """How many different non-empty label sets there are, and how many of them occur once."""
    ordered = Y if Y.has_sorted_indices else Y.sorted_indices()
    seen: dict[bytes, int] = {}
    for begin, end in zip(ordered.indptr[:-1].tolist(), ordered.indptr[1:].tolist(), strict=True):
        if end > begin:
            key = ordered.indices[begin:end].tobytes()
            seen[key] = seen.get(key, 0) + 1
    return len(seen), sum(count == 1 for count in seen.values())

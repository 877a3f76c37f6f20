"""Quality by frequency: the F1 of labels with few, some and many training documents."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from manylabel.estimator import Ints
from manylabel.metrics.counts import LabelCounts
from manylabel.metrics.label_metrics import macro_f1, micro_f1

BANDS: tuple[tuple[int, int | None], ...] = ((0, 0), (1, 2), (3, 9), (10, 99), (100, None))
"""The least and the greatest number of training documents of the labels in each band; None: any number."""
CONVENTION = (
    "Labels are divided by their number of training documents. Micro F1 pools the counts of the labels of a row; macro "
    "F1 is the mean F1 of those of them that some test document has. A cell is empty where nothing can be measured."
)


@dataclass(frozen=True, slots=True)
class FrequencyBand:
    """The labels with a number of training documents in some range, and how well they are predicted."""

    least: int
    most: int | None
    """The greatest number of training documents; None for any number from `least` on."""
    labels: int
    tested: int
    """How many of these labels some test document has."""
    true: int
    """How often test documents have these labels."""
    predicted: int
    micro_f1: float | None
    macro_f1: float | None
    """Over the labels that some test document has."""


def frequency_bands(counts: LabelCounts, trained: Ints) -> list[FrequencyBand]:
    """The bands with at least one label, the rarest labels first; `trained` is each label's training documents.

    Micro F1 is 2 Σ tp / (2 Σ tp + Σ fp + Σ fn) over the labels of the band, macro F1 the mean of their F1 over those
    with a test document. Source: both as of Manning, Raghavan & Schütze 2008, section 13.6.

    >>> counts = LabelCounts(tp=[0, 3, 8], fp=[0, 1, 2], fn=[1, 1, 2], tn=[19, 15, 8])
    >>> [(one.least, one.micro_f1) for one in frequency_bands(counts, np.array([2, 40, 60]))]
    [(1, 0.0), (10, 0.7857142857142857)]
    """
    found = []
    for least, most in BANDS:
        of = np.flatnonzero((trained >= least) & (trained <= (np.inf if most is None else most)))
        if not len(of):
            continue
        band = LabelCounts(counts.tp[of], counts.fp[of], counts.fn[of], counts.tn[of])
        mean = macro_f1(band, over="present")
        found.append(
            FrequencyBand(
                least,
                most,
                len(of),
                mean.labels,
                int(band.true.sum()),
                int(band.predicted.sum()),
                _defined(micro_f1(band, zero_division=math.nan)),
                _defined(mean.value),
            )
        )
    return found


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else value

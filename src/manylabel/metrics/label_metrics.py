"""Metrics computed from label counts: per label, pooled over labels (micro), averaged over labels (macro).

A ratio whose denominator is zero has the value `zero_division`: 0 by default; nan leaves the label out of macro
averages. Precision is undefined for a label that is never predicted, recall for a label that no document has, F1 for a
label of which both are true.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Floats, Ints
from manylabel.exceptions import UnknownNameError
from manylabel.metrics.counts import LabelCounts

Over = Literal["all", "present", "present_or_predicted"]
OVER: tuple[Over, ...] = ("all", "present", "present_or_predicted")


@dataclass(frozen=True, slots=True)
class MacroMean:
    """A mean over labels, and the number of these labels; the mean of none is nan."""

    value: float
    labels: int


def precision(counts: LabelCounts, zero_division: float = 0.0) -> Floats:
    """The share tp / (tp + fp) of the predictions of each label that are right.

    Source: Sebastiani 2002, section 7.1.

    >>> precision(LabelCounts(tp=[10, 90], fp=[40, 110], fn=[10, 10], tn=[940, 790]))
    array([0.2 , 0.45])
    """
    return ratio(counts.tp, counts.predicted, zero_division)


def recall(counts: LabelCounts, zero_division: float = 0.0) -> Floats:
    """The share tp / (tp + fn) of the documents of each label that are found.

    Source: Sebastiani 2002, section 7.1.

    >>> recall(LabelCounts(tp=[10, 90], fp=[40, 110], fn=[10, 10], tn=[940, 790]))
    array([0.5, 0.9])
    """
    return ratio(counts.tp, counts.true, zero_division)


def f1(counts: LabelCounts, zero_division: float = 0.0) -> Floats:
    """2 tp / (2 tp + fp + fn) per label, the harmonic mean of precision and recall.

    Source: Manning, Raghavan & Schütze 2008, section 8.3.

    >>> f1(LabelCounts(tp=[10, 90], fp=[40, 110], fn=[10, 10], tn=[940, 790])).round(6)
    array([0.285714, 0.6     ])
    """
    return ratio(2 * counts.tp, counts.true + counts.predicted, zero_division)


def accuracy(counts: LabelCounts) -> Floats:
    """(tp + tn) / documents per label; neither the Jaccard index of label sets nor the exact match.

    Source: Sebastiani 2002, section 7.1. Without documents: nan.

    >>> accuracy(LabelCounts(tp=[10, 90], fp=[40, 110], fn=[10, 10], tn=[940, 790]))
    array([0.95, 0.88])
    """
    return ratio(counts.tp + counts.tn, counts.tp + counts.fp + counts.fn + counts.tn, np.nan)


def error_rate(counts: LabelCounts) -> Floats:
    """(fp + fn) / documents per label: 1 − accuracy.

    >>> error_rate(LabelCounts(tp=[10], fp=[40], fn=[10], tn=[940]))
    array([0.05])
    """
    return ratio(counts.fp + counts.fn, counts.tp + counts.fp + counts.fn + counts.tn, np.nan)


def micro_precision(counts: LabelCounts, zero_division: float = 0.0) -> float:
    """Σ tp / Σ (tp + fp): the share of predicted labels that are right; 0 when nothing is predicted.

    Source: Vilar, Castro & Sanchis 2004, eq. 26.

    >>> micro_precision(LabelCounts(tp=[10, 90], fp=[40, 110], fn=[10, 10], tn=[940, 790]))
    0.4
    """
    return float(precision(counts.pooled, zero_division)[0])


def micro_recall(counts: LabelCounts, zero_division: float = 0.0) -> float:
    """Σ tp / Σ (tp + fn): the share of true labels that are found.

    Source: Vilar, Castro & Sanchis 2004, eq. 27.

    >>> round(micro_recall(LabelCounts(tp=[10, 90], fp=[40, 110], fn=[10, 10], tn=[940, 790])), 6)
    0.833333
    """
    return float(recall(counts.pooled, zero_division)[0])


def micro_f1(counts: LabelCounts, zero_division: float = 0.0) -> float:
    """2 Σ tp / (2 Σ tp + Σ fp + Σ fn): F1 of the pooled counts.

    Source: Manning, Raghavan & Schütze 2008, section 13.6.

    >>> round(micro_f1(LabelCounts(tp=[10, 90], fp=[40, 110], fn=[10, 10], tn=[940, 790])), 6)
    0.540541
    """
    return float(f1(counts.pooled, zero_division)[0])


def pooled_accuracy(counts: LabelCounts) -> float:
    """Σ (tp + tn) / cells: the share of yes/no decisions that are right, which is 1 − Hamming loss.

    >>> pooled_accuracy(LabelCounts(tp=[10, 90], fp=[40, 110], fn=[10, 10], tn=[940, 790]))
    0.915
    """
    return float(accuracy(counts.pooled)[0])


def macro_precision(counts: LabelCounts, over: Over = "all", zero_division: float = 0.0) -> MacroMean:
    """The mean precision over labels; `over` as in `chosen_labels`.

    >>> macro_precision(LabelCounts(tp=[10, 90], fp=[40, 110], fn=[10, 10], tn=[940, 790]))
    MacroMean(value=0.325, labels=2)
    """
    return mean_defined(precision(counts, zero_division)[chosen_labels(counts, over)])


def macro_recall(counts: LabelCounts, over: Over = "all", zero_division: float = 0.0) -> MacroMean:
    """The mean recall over labels; `over` as in `chosen_labels`.

    >>> macro_recall(LabelCounts(tp=[10, 90], fp=[40, 110], fn=[10, 10], tn=[940, 790]))
    MacroMean(value=0.7, labels=2)
    """
    return mean_defined(recall(counts, zero_division)[chosen_labels(counts, over)])


def macro_f1(counts: LabelCounts, over: Over = "all", zero_division: float = 0.0) -> MacroMean:
    """The mean F1 over labels; `over` as in `chosen_labels`.

    Source: Manning, Raghavan & Schütze 2008, section 13.6. A label that is neither true nor predicted for any
    document counts as `zero_division` over "all", and is left out over "present_or_predicted".

    >>> rare = LabelCounts(tp=[3, 0, 0], fp=[1, 1, 0], fn=[1, 0, 0], tn=[5, 9, 10])
    >>> macro_f1(rare)
    MacroMean(value=0.25, labels=3)
    >>> macro_f1(rare, over="present")
    MacroMean(value=0.75, labels=1)
    >>> macro_f1(rare, over="present_or_predicted")
    MacroMean(value=0.375, labels=2)
    """
    return mean_defined(f1(counts, zero_division)[chosen_labels(counts, over)])


def macro_f1_of_means(counts: LabelCounts, over: Over = "all", zero_division: float = 0.0) -> MacroMean:
    """2 P R / (P + R) of the macro precision P and the macro recall R; the other definition of "macro F1".

    The number of labels returned is the number chosen by `over`; with `zero_division` nan, P and R each leave out their
    own undefined labels. The two definitions may differ much: Opitz & Burst 2019.

    >>> value = macro_f1_of_means(LabelCounts(tp=[10, 90], fp=[40, 110], fn=[10, 10], tn=[940, 790])).value
    >>> round(value, 6)
    0.443902
    """
    p = macro_precision(counts, over, zero_division).value
    r = macro_recall(counts, over, zero_division).value
    return MacroMean(harmonic_mean(p, r), int(chosen_labels(counts, over).sum()))


def chosen_labels(counts: LabelCounts, over: Over = "all") -> npt.NDArray[np.bool_]:
    """Whether each label is part of a macro average.

    "all": every label; "present": the true labels of any document; "present_or_predicted": the true and the predicted
    labels of any document.

    >>> chosen_labels(LabelCounts(tp=[3, 0], fp=[1, 1], fn=[1, 0], tn=[5, 9]), "present")
    array([ True, False])
    """
    if over == "all":
        return np.ones(len(counts), dtype=np.bool_)
    if over == "present":
        return counts.true > 0
    if over == "present_or_predicted":
        return counts.true + counts.predicted > 0
    raise UnknownNameError("choice of labels to average over", str(over), OVER)


def mean_defined(values: npt.ArrayLike) -> MacroMean:
    """The mean of the values that are not nan, and their number.

    >>> mean_defined([0.5, float("nan"), 1.0])
    MacroMean(value=0.75, labels=2)
    """
    numbers = np.asarray(values, dtype=np.float64)
    defined = numbers[~np.isnan(numbers)]
    return MacroMean(float(defined.mean()) if defined.size else float("nan"), int(defined.size))


def ratio(above: Ints, below: Ints, zero_division: float) -> Floats:
    """The quotients above / below, and `zero_division` where below is 0.

    >>> ratio(np.array([1, 0]), np.array([2, 0]), zero_division=0.0)
    array([0.5, 0. ])
    """
    result = np.full(np.shape(below), zero_division, dtype=np.float64)
    np.divide(above, below, out=result, where=below > 0)
    return result


def harmonic_mean(p: float, r: float) -> float:
    """2 p r / (p + r), 0 where both are 0.

    >>> harmonic_mean(0.5, 1.0)
    0.6666666666666666
    """
    return 0.0 if p + r == 0 else 2 * p * r / (p + r)

"""The record of an evaluation report: one method on some documents, from the answer to the single mistakes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betaincinv

from manylabel.evaluation.analyses import Analysis
from manylabel.evaluation.label_intervals import label_intervals
from manylabel.evaluation.mistakes import Confusion
from manylabel.evaluation.reliability import EDGES, Reliability
from manylabel.evaluation.result import Result
from manylabel.evaluation.threshold_curves import ThresholdCurve
from manylabel.metrics.by_frequency import FrequencyBand
from manylabel.reports.evaluation_answer import Advice, Known, advice, answer
from manylabel.reports.label_records import Together
from manylabel.reports.records import Record
from manylabel.reports.tables import size_names


@dataclass(frozen=True, slots=True)
class MeasuredLabel(Record):
    """The figures of one label; None where they are undefined."""

    label: str
    trained: int
    true: int
    predicted: int
    right: int
    precision: float
    recall: float
    f1: float
    f1_low: float
    f1_high: float
    """The 95 % interval of F1."""
    threshold: float | None
    average_precision: float | None
    roc_auc: float | None


@dataclass(frozen=True, slots=True)
class ReliabilityBin(Record):
    """Pairs of a document and a label whose probability lies in a range, and the share of them that are true."""

    low: float
    high: float
    pairs: int
    mean: float
    share: float
    share_low: float
    share_high: float
    """The 95 % interval of the share, with Jeffreys' prior."""


@dataclass(frozen=True, slots=True)
class ShownMistake(Record):
    """A mistake with its evidence."""

    document: str
    label: str
    missed: bool
    score: float
    threshold: float | None
    true: tuple[str, ...]
    predicted: tuple[str, ...]
    stretches: tuple[tuple[str, float], ...]
    """The text around its evidence, in stretches with what they add to the score; empty where there is no text."""
    terms: tuple[tuple[str, float], ...]
    """The terms with the largest contributions."""


@dataclass(frozen=True, slots=True)
class SetSizes(Record):
    """Documents by true (rows) and predicted (columns) number of labels."""

    names: tuple[str, ...]
    documents: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class EvaluationReport(Record):
    """How good a method is on some documents, how sure that is, and what to do next; then everything behind it."""

    method: str
    data: str
    split: str
    answer: tuple[str, ...]
    advice: tuple[Advice, ...]
    metrics: Mapping[str, Mapping[str, float]]
    intervals: Sequence[Mapping[str, Any]]
    """Micro F1, macro F1 and exact match with 95 % intervals over documents."""
    labels: tuple[MeasuredLabel, ...]
    """Those with most test documents first."""
    by_frequency: tuple[FrequencyBand, ...]
    """The quality of labels with few, some and many training documents."""
    probabilities: bool
    """Whether scores and thresholds are probabilities."""
    common: ThresholdCurve | None
    thresholds: tuple[ThresholdCurve, ...]
    calibration: tuple[ReliabilityBin, ...]
    calibration_error: float | None
    confusions: tuple[Confusion, ...]
    together: tuple[Together, ...]
    """Pairs of labels that occur together in these documents more often than by chance."""
    set_sizes: SetSizes
    mistakes: tuple[ShownMistake, ...]
    conventions: Mapping[str, str]
    toml: str
    """The recipe, with which the method can be trained again."""


def evaluation_report(
    result: Result,
    analysis: Analysis,
    *,
    known: Known | None = None,
    mistakes: Sequence[ShownMistake] = (),
    together: Sequence[Together] = (),
    toml: str = "",
) -> EvaluationReport:
    """The report of a result and its analysis; `known` is what else is known of the model."""
    facts = Known() if known is None else known
    sizes = size_names(analysis)
    reliability = analysis.reliability
    return EvaluationReport(
        method=result.method,
        data=result.data,
        split=result.split,
        answer=tuple(answer(result, analysis, facts)),
        advice=tuple(advice(result, analysis, facts)),
        metrics=result.metrics,
        intervals=analysis.quality["figures"],
        labels=tuple(_labels(result, analysis)),
        by_frequency=tuple(result.by_frequency),
        probabilities=analysis.shows_probabilities,
        common=analysis.common,
        thresholds=tuple(analysis.threshold_curves),
        calibration=() if reliability is None else tuple(_bins(reliability)),
        calibration_error=None if reliability is None else reliability.error,
        confusions=analysis.confusions,
        together=tuple(together),
        set_sizes=SetSizes(
            tuple(sizes), tuple(tuple(row[: len(sizes)]) for row in analysis.set_sizes[: len(sizes)].tolist())
        ),
        mistakes=tuple(mistakes),
        conventions=result.conventions,
        toml=toml,
    )


def _labels(result: Result, analysis: Analysis) -> list[MeasuredLabel]:
    ends, areas = label_intervals(analysis.counts).f1.tolist(), analysis.areas
    found = []
    for row, (low, high) in zip(result.labels, ends, strict=True):
        area = areas.get(row.label)
        found.append(
            MeasuredLabel(
                row.label,
                row.trained,
                row.true,
                row.predicted,
                row.hits,
                row.precision,
                row.recall,
                row.f1,
                low,
                high,
                row.threshold,
                None if area is None else area.average_precision,
                None if area is None else area.roc_auc,
            )
        )
    return sorted(found, key=lambda one: (-one.true, -one.predicted, one.label))


def _bins(found: Reliability) -> list[ReliabilityBin]:
    ends = [betaincinv(found.true + 0.5, found.pairs - found.true + 0.5, end) for end in (0.025, 0.975)]
    return [
        ReliabilityBin(
            float(EDGES[place]),
            float(EDGES[place + 1]),
            int(found.pairs[place]),
            float(found.total[place] / found.pairs[place]),
            float(found.true[place] / found.pairs[place]),
            float(ends[0][place]),
            float(ends[1][place]),
        )
        for place in np.flatnonzero(found.pairs).tolist()
    ]

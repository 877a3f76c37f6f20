"""The card of a model: what it was made from, how good it is, where it fails, and how to use it."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path

import numpy as np

from manylabel.classifier import TextClassifier
from manylabel.evaluation.label_intervals import label_intervals
from manylabel.metrics.counts import LabelCounts
from manylabel.reports.card_page import FEW, CardRecord, LabelFigures
from manylabel.tasks.models import inspect


@dataclass(frozen=True, slots=True)
class Statements:
    """What only the makers of a model can tell; None where they did not."""

    about: str | None = None
    """What the model is for, and what it is not for."""
    licence: str | None = None
    contact: str | None = None


def card(path: Path, statements: Statements | None = None) -> CardRecord:
    """The card of a model file, from what training stored in it and what its makers state."""
    told, found = statements or Statements(), inspect(path)
    classifier = TextClassifier.load(path)
    figures = _label_figures(classifier)
    with path.open("rb") as stream:
        digest = file_digest(stream, "sha256").hexdigest()
    return CardRecord(
        model=found,
        sha256=digest,
        about=told.about,
        licence=told.licence,
        contact=told.contact,
        recipe=classifier.recipe.to_toml(),
        probabilities=classifier.scores_are_probabilities,
        labels_empty_documents=bool(classifier.decided_.labels_empty_documents),
        figures=figures,
        few=[name for name, n in zip(found.labels, found.label_counts, strict=True) if n < FEW],
        never=[one.label for one in figures if one.f1 is None],
        weak=[one.label for one in figures if one.f1_interval is not None and one.f1_interval[1] < 0.5],
    )


def _label_figures(classifier: TextClassifier) -> list[LabelFigures]:
    """The figures of each label at its threshold, as training measured them out of fold; empty where it did not."""
    decided = classifier.decided_
    rule, quality = decided.rule_, decided.figures_
    own = None if rule is None else rule.score_thresholds(len(classifier.labels_), decided.score_kind)
    if quality is None or own is None:
        return []
    true, predicted = quality.counts(own)
    tp, fp = true.round().astype(np.int64), (predicted - true).round().astype(np.int64)
    counts = LabelCounts(tp, fp, quality.positives_ - tp, np.zeros_like(tp))
    ends = label_intervals(counts).f1.tolist()
    rows = zip(classifier.labels_, counts.tp.tolist(), counts.fp.tolist(), counts.fn.tolist(), ends, strict=True)
    return [_figures(name, tp, fp, fn, (ends[0], ends[1])) for name, tp, fp, fn, ends in rows]


def _figures(label: str, tp: int, fp: int, fn: int, ends: tuple[float, float]) -> LabelFigures:
    """The figures of one label; F1 and its interval are None where the label was never predicted."""
    if not tp + fp:
        return LabelFigures(label, tp + fn, None, 0.0 if fn else None, None, None)
    f1 = 2 * tp / (2 * tp + fp + fn)
    return LabelFigures(label, tp + fn, tp / (tp + fp), tp / (tp + fn) if tp + fn else None, f1, ends)

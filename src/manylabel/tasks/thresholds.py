"""Show the thresholds of a model file, with the precision and recall they lead to, and write a corrected model."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from manylabel.classifier import TextClassifier
from manylabel.data.label_forms import read_labels
from manylabel.decisions.corrected import figures_of
from manylabel.decisions.shown import thresholds_for_target
from manylabel.decisions.threshold_figures import MOST_CELLS, ThresholdFigures
from manylabel.estimator import Floats
from manylabel.evaluation.result import fingerprint
from manylabel.evaluation.training_documents import count_seen
from manylabel.exceptions import DataError, DecisionError, ParameterError, UnknownNameError
from manylabel.modelfile import open_model
from manylabel.reports.records import ThresholdEffect, ThresholdRow, ThresholdsRecord
from manylabel.tasks.corpora import Source, documents_of, load_source
from manylabel.tasks.model_facts import stored_facts
from manylabel.wording import setting_name

ROUNDING = 8
"""Units in the last place by which a threshold is lowered."""
OUT_OF_FOLD = "out-of-fold scores of the training documents"
HARDLY = 0.1
"""A label whose recall is below this is hardly ever predicted."""


@dataclass(frozen=True, slots=True)
class Target:
    """A precision or a recall that labels should reach."""

    figure: Literal["precision", "recall"]
    least: float

    def check(self) -> None:
        """Raise an error unless the target is a share."""
        if not 0 < self.least <= 1:
            raise ParameterError(f"{setting_name(self.figure)} takes a number above 0 and up to 1, not {self.least:g}.")


def thresholds(
    path: Path,
    *,
    values: Mapping[str, float] | float | None = None,
    target: Target | None = None,
    only: Sequence[str] = (),
    source: Source | None = None,
    output: Path | None = None,
) -> ThresholdsRecord:
    """The thresholds of a model file, and the changed ones that `values` or `target` ask for.

    `values` are new thresholds: a number for all labels, or a mapping. `target` sets those of `only` (by default of all
    labels) so that they reach a precision or recall on the data of `source`, or on the stored figures of out-of-fold
    scores. With changes and an `output`, the corrected model is written there.
    """
    classifier = TextClassifier.load(path)
    before, guaranteed = classifier.decided_.thresholds(), classifier.guarantee is not None
    own_before = _own_thresholds(classifier)
    if isinstance(values, Mapping):
        values = {classifier.own_label(label): value for label, value in values.items()}
    quality, where = _quality(classifier, path, source)
    unreached: list[str] = []
    if target is not None:
        target.check()
        if quality is None:
            quality = _learned_figures(classifier, path)
        values, unreached = _for_target(classifier, quality, target, [classifier.own_label(label) for label in only])
        values = values or None
    if values is not None:
        reason = "set" if target is None else f"for {target.figure} {target.least:g} on {where}"
        classifier.correct_thresholds(values, reason)
    after = classifier.decided_.thresholds()
    record = ThresholdsRecord(
        model=str(path),
        written=None if output is None or values is None else str(output),
        probabilities=classifier.scores_are_probabilities,
        figures=where,
        changed=values is not None,
        target=None if target is None else f"{target.figure} {target.least:g}",
        unreached=unreached,
        guarantee_lost=values is not None and guaranteed,
        effect=None if values is None or quality is None else _effect(classifier, quality, own_before),
        labels=_rows(classifier, quality, before, after, all_changed=isinstance(values, (int, float)), values=values),
    )
    if output is not None and values is not None:
        classifier.save(
            output, {key: value for key, value in stored_facts(open_model(path)).items() if key != "recipe"}
        )
    return record


def write_reviewed(path: Path, reviewed: Mapping[str, float], output: Path, reason: str) -> dict[str, Any]:
    """Write a model with thresholds that were chosen in a review, by label; return what changed, as plain data.

    Thresholds are in the units of shown scores. The written model predicts each label where its score reaches the
    threshold, as the review showed it: a fallback of the former rule is dropped. Labels without a threshold in the
    review keep theirs, and are never predicted where the former rule had none.
    """
    classifier = TextClassifier.load(path)
    facts = {key: value for key, value in stored_facts(open_model(path)).items() if key != "recipe"}
    labels, was, guaranteed = classifier.labels_, classifier.decided_.thresholds(), classifier.guarantee is not None
    if not set(labels) & reviewed.keys():
        raise DataError(
            f"The model knows none of the labels that have a threshold. It has, for example, {labels[0]!r}.",
            path=path,
            remedy="Give a model of these labels.",
        )
    before = dict.fromkeys(labels) if was is None else dict(zip(labels, was.tolist(), strict=True))
    least = 0.0 if classifier.scores_are_probabilities else -math.inf
    changed = {
        label: max(least, _just_below(reviewed[label]))
        for label, former in before.items()
        if label in reviewed and not (former is not None and _is_same(former, reviewed[label]))
    }
    rule, values = classifier.decided_.rule_, dict(changed)
    if was is None or (rule is not None and rule.fallback != "none"):
        never = 1.0 if classifier.scores_are_probabilities else sys.float_info.max
        values = {label: never if former is None else former for label, former in before.items()} | changed
    if values:
        classifier.correct_thresholds(values, reason)
    classifier.save(output, facts)
    return {
        "labels": [{"label": label, "before": before[label], "after": reviewed[label]} for label in changed],
        "unknown": [label for label in reviewed if label not in before],
        "without_threshold": [label for label in labels if label not in reviewed],
        "guarantee_lost": guaranteed and bool(values),
    }


def _just_below(threshold: float) -> float:
    """A threshold that rounding does not raise above itself where it is converted to the units of the model."""
    return threshold - ROUNDING * float(np.spacing(abs(threshold)))


def _is_same(one: float, other: float) -> bool:
    return abs(one - other) <= 2 * ROUNDING * float(np.spacing(abs(other)))


def _quality(
    classifier: TextClassifier, path: Path, source: Source | None
) -> tuple[ThresholdFigures | None, str | None]:
    """Precision and recall of each label by its threshold, and the documents they were measured on."""
    decided = classifier.decided_
    if source is None:
        return decided.figures_, None if decided.figures_ is None else OUT_OF_FOLD
    corpus = load_source(source, classifier).corpus
    if corpus.labels is None:
        raise DataError("These documents have no labels, so nothing can be measured on them.", path=source.data)
    facts = stored_facts(open_model(path))
    hashes = facts.get("training_hashes")
    seen = None if hashes is None else count_seen(documents_of(corpus), hashes)
    same = facts.get("train_sha256") == fingerprint(corpus.ids, corpus.label_sets)
    if same or (seen is not None and 2 * seen.seen > seen.compared):
        raise DataError(
            "The model was trained on these documents, or most of them, so its scores for them are better than for new "
            "ones.",
            path=source.data,
            remedy=f"Give other documents, or leave {setting_name('source')} out: figures of out-of-fold scores are "
            "stored in the model.",
        )
    step = -(-len(corpus.ids) * len(classifier.labels_) // MOST_CELLS) or 1
    corpus = corpus.subset(range(0, len(corpus.ids), step))
    batches = [scores() for _, scores in classifier.iter_decisions(documents_of(corpus))]
    scores = np.vstack([np.zeros((0, len(classifier.labels_))), *batches])
    Y = read_labels(corpus.label_sets, classifier.labels_, others="omit").Y
    figures = ThresholdFigures().fit(scores, Y, decided.score_kind, _own_thresholds(classifier))
    return figures, corpus.name or source.data


def _learned_figures(classifier: TextClassifier, path: Path) -> ThresholdFigures:
    try:
        return figures_of(classifier.decided_)
    except DecisionError as error:
        documents = f"labelled documents that the model was not trained on ({setting_name('source')})"
        raise DecisionError(f"{path}: {error} Or give {documents}.") from None


def _own_thresholds(classifier: TextClassifier) -> Floats | None:
    """The threshold of each label in the units of the model's scores; None where the rule has none."""
    decided = classifier.decided_
    if decided.rule_ is None:
        return None
    return decided.rule_.score_thresholds(len(classifier.labels_), decided.score_kind)


def _for_target(
    classifier: TextClassifier, quality: ThresholdFigures, target: Target, only: Sequence[str]
) -> tuple[dict[str, float], list[str]]:
    """The shown thresholds by which labels reach a target, and the labels that do not reach it."""
    for label in only:
        if label not in classifier.labels_:
            raise UnknownNameError("label", label, classifier.labels_)
    decided = classifier.decided_
    found = thresholds_for_target(quality, target.figure, target.least, decided.score_kind, decided.calibration_)
    values, unreached = {}, []
    for column, label in enumerate(classifier.labels_):
        if only and label not in only:
            continue
        if np.isnan(found[column]):
            unreached.append(label)
        else:
            values[label] = float(found[column])
    return values, unreached


def _effect(classifier: TextClassifier, quality: ThresholdFigures, before: Floats | None) -> ThresholdEffect:
    """Precision and recall over all labels at the changed thresholds and at those `before`."""
    after = _own_thresholds(classifier)
    assert after is not None
    precision, recall = _pooled(quality, after)
    precision_before, recall_before = (None, None) if before is None else _pooled(quality, before)
    found = quality.at(after)[1]
    found_before = np.ones(len(after)) if before is None else quality.at(before)[1]
    hardly = (found < HARDLY) & (found < found_before)
    halved = (found < found_before / 2) & ~hardly & (before is not None)
    unmoved = np.zeros(len(after), dtype=bool) if before is None else _unmoved(quality, before, after)
    order = np.argsort(-classifier.label_counts_, kind="stable").tolist()
    return ThresholdEffect(
        precision=precision,
        precision_before=precision_before,
        recall=recall,
        recall_before=recall_before,
        hardly_predicted=[classifier.labels_[column] for column in order if hardly[column]],
        recall_halved=[classifier.labels_[column] for column in order if halved[column]],
        unmoved=[classifier.labels_[column] for column in order if unmoved[column]],
    )


def _unmoved(quality: ThresholdFigures, before: Floats, after: Floats) -> npt.NDArray[np.bool_]:
    """Whether each label has another threshold, but the same predictions: interpolated counts are below one apart."""
    (true_before, predicted_before), (true, predicted) = quality.counts(before), quality.counts(after)
    moved = (true != true_before) | (np.abs(predicted - predicted_before) >= 0.5)
    unmoved: npt.NDArray[np.bool_] = ~np.isclose(before, after, rtol=1e-9, atol=0) & ~moved
    return unmoved


def _pooled(quality: ThresholdFigures, thresholds: Floats) -> tuple[float | None, float | None]:
    """Precision and recall over all labels together; None where nothing is predicted, or no document has a label."""
    true, predicted = quality.counts(thresholds)
    positives = int(quality.positives_.sum())
    precision = float(true.sum() / predicted.sum()) if predicted.sum() > 0 else None
    return precision, float(true.sum() / positives) if positives else None


def _rows(
    classifier: TextClassifier,
    quality: ThresholdFigures | None,
    before: Floats | None,
    after: Floats | None,
    *,
    all_changed: bool,
    values: Mapping[str, float] | float | None,
) -> list[ThresholdRow]:
    """One row per label, those with most documents first; none where the rule has no thresholds."""
    if after is None:
        return []
    own = _own_thresholds(classifier)
    assert own is not None
    nothing = np.full(len(after), math.nan)
    precision, recall = (nothing, nothing) if quality is None else quality.at(own)
    rows = []
    for column in np.argsort(-classifier.label_counts_, kind="stable").tolist():
        label = classifier.labels_[column]
        changed = all_changed or (isinstance(values, Mapping) and label in values)
        was = None if before is None else float(before[column])
        rows.append(
            ThresholdRow(
                label=label,
                documents=int(classifier.label_counts_[column]),
                threshold=float(after[column]),
                was=was if changed else None,
                changed=changed,
                precision=None if math.isnan(precision[column]) else float(precision[column]),
                recall=None if math.isnan(recall[column]) else float(recall[column]),
            )
        )
    return rows

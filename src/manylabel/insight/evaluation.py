"""The evaluation report of a classifier on labelled documents, with its worst mistakes explained."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from manylabel.classifier import TextClassifier
from manylabel.data.documents import rows_of
from manylabel.data.labels import LabelSets, label_matrix
from manylabel.estimator import Csr
from manylabel.evaluation.analyses import Analysis, AnalysisBuilder
from manylabel.evaluation.experiment import evaluate
from manylabel.evaluation.mistakes import Mistake
from manylabel.evaluation.result import Result
from manylabel.explanation import LabelExplanation, marked_text
from manylabel.insight.dependencies import label_pairs
from manylabel.insight.label_report import pairs_together
from manylabel.progress import track
from manylabel.reports.evaluation_answer import Known
from manylabel.reports.evaluation_records import EvaluationReport, ShownMistake, evaluation_report
from manylabel.reports.explanation_page import excerpt
from manylabel.reports.label_records import Together

MOST_TERMS = 6
"""The terms that are highlighted in the text of a mistake."""


def report_evaluation(
    classifier: TextClassifier,
    documents: Any,
    label_sets: LabelSets,
    *,
    ids: Sequence[str] | None = None,
    data: str = "documents",
    known: Known | None = None,
) -> EvaluationReport:
    """The report of a fitted classifier on labelled documents.

    `ids` names the documents, by default by their numbers from 1; `known` is what else is known of the model.

    >>> from manylabel import TextClassifier
    >>> texts = ["the bus was late again", "a hole in the road", "no bus, and holes in the road", "late bus"]
    >>> labels = [["buses"], ["roads"], ["buses", "roads"], ["buses"]]
    >>> found = report_evaluation(TextClassifier("nb-binary").fit(texts, labels), texts, labels)
    >>> found.answer[0][:49]
    'nb-binary reaches a micro F1 of 100.0 % on 4 docu'
    """
    names = [str(number + 1) for number in range(len(label_sets))] if ids is None else ids
    builder = AnalysisBuilder(classifier.decided_)
    result = evaluate(
        classifier,
        documents,
        label_sets,
        ids=names,
        data=data,
        split="all",
        hierarchy=classifier.hierarchy,
        analyst=builder,
    )
    found = builder.finish(classifier.method, names)
    return report_analysis(classifier, documents, label_sets, names, result, found, known)


def report_analysis(
    classifier: TextClassifier,
    documents: Any,
    label_sets: LabelSets,
    ids: Sequence[str],
    result: Result,
    analysis: Analysis,
    known: Known | None,
) -> EvaluationReport:
    """The report of a result and its analysis: the worst mistakes are explained, pairs of labels counted."""
    return evaluation_report(
        result,
        analysis,
        known=known,
        mistakes=[
            _explained(classifier, documents, label_sets, ids, one)
            for one in track("Explaining mistakes", analysis.mistakes, len(analysis.mistakes))
        ],
        together=_together(label_sets, analysis.label_names),
        toml=classifier.recipe.to_toml(),
    )


def _together(label_sets: LabelSets, names: Sequence[str]) -> tuple[Together, ...]:
    pairs = label_pairs(Csr(label_matrix(label_sets, list(names))))
    return pairs_together(pairs.chosen(pairs.both > pairs.expected), names)


def _explained(
    classifier: TextClassifier, documents: Any, label_sets: LabelSets, ids: Sequence[str], one: Mistake
) -> ShownMistake:
    document = rows_of(documents, np.array([one.row]))
    found = classifier.explain(document, labels=[one.label], what_if=False)
    reasons = found[one.label]
    decided, _ = next(classifier.iter_decisions(document))
    return ShownMistake(
        document=str(ids[one.row]),
        label=one.label,
        missed=one.missed,
        score=reasons.score,
        threshold=reasons.threshold,
        true=tuple(label_sets[one.row]),
        predicted=tuple(classifier.labels_[column] for column in decided.indices.tolist()),
        stretches=tuple(_excerpts(found.fields, reasons)),
        terms=tuple((term.term, term.contribution) for term in reasons.terms[:MOST_TERMS]),
    )


def _excerpts(fields: Sequence[tuple[str | None, str]], reasons: LabelExplanation) -> list[tuple[str, float]]:
    """The text of all fields around the strongest evidence."""
    stretches: list[tuple[str, float]] = []
    for number, (name, text) in enumerate(fields):
        marked = excerpt(marked_text(text, number, reasons.terms[:MOST_TERMS]))
        stretches += [(f"{name}: ", 0.0), *marked, ("\n", 0.0)] if name is not None and text else marked
    return stretches

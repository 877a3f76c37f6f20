"""The label report of some data, with a model or without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from manylabel.classifier import TextClassifier
from manylabel.data import Corpus
from manylabel.data.documents import rows_of
from manylabel.data.label_forms import read_labels
from manylabel.data.labels import label_matrix, label_names
from manylabel.estimator import Csr
from manylabel.evaluation.analyses import AnalysisBuilder
from manylabel.evaluation.learning_trends import LEVEL_BELOW
from manylabel.evaluation.training_documents import count_seen
from manylabel.insight.label_report import label_qualities, report_labels, terms_of_labels
from manylabel.modelfile import open_model
from manylabel.progress import stage, track
from manylabel.reports.label_records import LabelReport, LabelTerms, ModelOfLabels
from manylabel.tasks.corpora import Source, documents_of, load_source, split_of
from manylabel.tasks.dividing import train_and_test
from manylabel.tasks.large_evaluation import of_split, read_splits
from manylabel.tasks.learning_curve import label_outlook
from manylabel.tasks.model_facts import stored_facts
from manylabel.tasks.planning import check_all_in_memory, is_large
from manylabel.wording import counted, setting_name

MOST_EXPLAINED = 10
"""Wrong predictions of a label that are explained to find its misleading terms."""
QUICK_METHOD = "svm"
"""The method that judges whether more documents would help."""
LEAST_JUDGED, MOST_JUDGED = 200, 1 << 22
"""Fewer training documents, or more training documents × labels, are not judged."""


@dataclass(frozen=True, slots=True)
class ReportedLabels:
    """The label report, what a model adds to it, and the lines that were skipped."""

    report: LabelReport
    model: ModelOfLabels | None
    skipped: list[str]

    def as_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        model = None if self.model is None else self.model.as_dict()
        return {**self.report.as_dict(), "model": model, "skipped": self.skipped}


def report(
    source: Source,
    model: Path | None,
    *,
    split: str | None = None,
    terms_for: int = 10,
    memory: str | int | None = None,
) -> ReportedLabels:
    """The label report of the documents of a split (all by default).

    With a model, its quality is measured on the test split where the data have one, and the best and the misleading
    terms of the `terms_for` most frequent labels are listed. Without one, of a large corpus only labels are kept in
    memory.
    """
    if model is None and is_large(source, memory):
        return _report_from_disk(source, split or "all")
    check_all_in_memory(source, memory, f"labels {setting_name('model')}")
    classifier = None if model is None else TextClassifier.load(model)
    loaded = load_source(source, classifier)
    corpus = loaded.corpus if split is None else split_of(loaded.corpus, split, "train")
    with stage("Comparing labels"):
        found = report_labels(
            corpus.label_matrix(), list(corpus.label_names), corpus.hierarchy, loaded.corpus.name or source.data
        )
    measured = None
    if classifier is not None and model is not None:
        measured = _measured(loaded.corpus, classifier, model, split, terms_for)
    return ReportedLabels(found, measured, [str(problem) for problem in loaded.skipped])


def _report_from_disk(source: Source, split: str) -> ReportedLabels:
    documents = of_split(read_splits(source), split, source)
    names = label_names(documents.label_sets)
    with stage("Comparing labels"):
        found = report_labels(Csr(label_matrix(documents.label_sets, names)), names, None, source.data)
    return ReportedLabels(found, None, [str(problem) for problem in documents.corpus.skipped])


def _measured(
    whole: Corpus, classifier: TextClassifier, model: Path, split: str | None, terms_for: int
) -> ModelOfLabels:
    corpus = split_of(whole, split, "test")
    documents, names = documents_of(corpus), classifier.labels_
    Y_true = read_labels(corpus.label_sets, names, others="omit").Y
    builder = AnalysisBuilder(classifier.decided_)
    builder.begin(names, Y_true)
    for predicted, scores in classifier.iter_decisions(documents):
        builder.add(predicted, scores())
    analysis = builder.finish(classifier.method, corpus.ids)
    Y_pred = Csr(sparse.vstack(builder.predicted, format="csr"))
    verdicts, how = _verdicts(whole)
    quality = [
        replace(one, more_documents=verdicts.get(one.label))
        for one in label_qualities(Y_true, Y_pred, names, classifier.decided_.thresholds())
    ]
    column = {name: number for number, name in enumerate(names)}
    wanted = [column[one.label] for one in quality[:terms_for]]
    hashes = stored_facts(open_model(model)).get("training_hashes")
    seen = None if hashes is None else count_seen(documents, hashes)
    return ModelOfLabels(
        str(model),
        "all documents" if len(corpus) == len(whole) else f"the {split or 'test'} split",
        len(corpus),
        0 if seen is None else seen.seen,
        tuple(quality),
        how,
        analysis.shows_probabilities,
        analysis.common,
        tuple(analysis.threshold_curves),
        analysis.confusions,
        tuple(_terms(classifier, documents, Y_true, Y_pred, wanted)),
    )


def _verdicts(whole: Corpus) -> tuple[dict[str, str], str | None]:
    """Whether more documents would help each label, and how that was found; nothing where it would take long."""
    train, test, _ = train_and_test(whole, None, 0, quiet=True)
    if len(train) < LEAST_JUDGED or len(train) * len(train.label_names) > MOST_JUDGED:
        return {}, None
    found, sizes = label_outlook(train, test, QUICK_METHOD)
    steps = f"{', '.join(f'{size:,}' for size in sizes[:-1])} and {counted(sizes[-1], 'document')}"
    small = {one.label for one in found if one.verdict == "rising" and one.high < LEVEL_BELOW}
    verdicts = {one.label: "level" if one.label in small else one.verdict for one in found}
    return verdicts, f"{steps} and measured on {len(test):,} others"


def _terms(
    classifier: TextClassifier, documents: Any, Y_true: Csr, Y_pred: Csr, wanted: Sequence[int]
) -> list[LabelTerms]:
    """The best terms of some labels on these documents, and the terms of their wrong predictions."""
    if not wanted:
        return []
    X, terms = classifier.features_.transform(documents), classifier.get_feature_names_out()
    found = terms_of_labels(X, Y_true, wanted, classifier.labels_, terms.tolist())
    wrong = (Y_pred - Y_pred.multiply(Y_true)).tocsc()
    explained = []
    for label, one in track("Explaining wrong predictions", list(zip(wanted, found, strict=True)), len(wanted)):
        rows = wrong.indices[wrong.indptr[label] : wrong.indptr[label + 1]]
        rows = rows[wrong.data[wrong.indptr[label] : wrong.indptr[label + 1]] != 0][:MOST_EXPLAINED]
        total: dict[str, float] = {}
        for row in rows.tolist():
            document = rows_of(documents, np.array([row]))
            reasons = classifier.explain(document, labels=[one.label], what_if=False)[one.label]
            for term in reasons.terms:
                if term.contribution > 0:
                    total[term.term] = total.get(term.term, 0.0) + term.contribution / len(rows)
        strongest = sorted(total.items(), key=lambda pair: -pair[1])[:8]
        explained.append(replace(one, misleading=tuple(strongest)))
    return explained

"""How the winner of a comparison, or of a search over settings, is trained on all documents and measured."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from manylabel.choosing.candidates import Traits
from manylabel.choosing.race import Taken, documents_in_time
from manylabel.classifier import TextClassifier
from manylabel.data import Corpus
from manylabel.data.documents import DocumentStream
from manylabel.data.labels import label_matrix
from manylabel.deadline import Deadline, OutOfTime
from manylabel.estimator import Csr
from manylabel.evaluation.result import SplitCounts
from manylabel.evaluation.statistics import DocumentStatistics, document_statistics
from manylabel.features.pipeline import Documents
from manylabel.metrics.targets import TargetMetric
from manylabel.progress import stage
from manylabel.recipe import Recipe
from manylabel.reports.choosing_records import Expected, TestFigure
from manylabel.tasks.corpora import documents_of
from manylabel.tasks.dividing import stratified_sample
from manylabel.tasks.model_facts import training_facts
from manylabel.tasks.models import fit_corpus

OUT_OF_BUDGET = "because of the budget"
LEAST_LEARNED = 50
"""A winner that there is no time to train on so many documents, or on all of fewer, is not trained."""


@dataclass(frozen=True, slots=True)
class TimeLeft:
    """The seconds that training the winner may take, and how long it took on some documents."""

    seconds: float
    taken: Taken
    whole: Traits
    """The traits of all documents that are in memory."""


@dataclass(frozen=True, slots=True)
class Winner:
    """The trained winner."""

    classifier: TextClassifier | None
    """None where there was no time to train it."""
    documents: int
    """How many documents it was trained on."""
    why_not_all: str = ""
    """Why these are not all documents: a phrase that begins with "because"; empty where they are."""


@dataclass(frozen=True, slots=True, eq=False)
class DocumentsInMemory:
    """The training and the test documents of a comparison, and how to train and measure its winner on them."""

    train: Corpus
    """The documents that methods are compared on."""
    held_out: Corpus | None = None
    """Documents that the winner is measured on at the end."""
    name: str = ""
    seed: int = 0
    n_jobs: int | None = None
    memory: str | int | None = None

    @property
    def counts(self) -> SplitCounts:
        """How many training documents there are."""
        return SplitCounts.of(self.train.label_sets)

    @property
    def n_tested(self) -> int | None:
        """How many test documents there are; None for none."""
        return None if self.held_out is None else len(self.held_out)

    def all_of(self, traits: Traits) -> Traits:
        """The traits of all training documents, by those of the documents in memory."""
        return traits

    def fit(self, recipe: Recipe, model: Path | None, command: str, left: TimeLeft | None = None) -> Winner:
        """Train a method on all training documents, or on as many as the time that is left allows; save it as `model`.

        How long a training on some documents took tells whether there is time for another on at least twice as many.
        """
        train, began = self.train, time.perf_counter()
        deadline = Deadline(None if left is None else left.seconds)
        found, learned, asked = None, train, 0
        taken = None if left is None else left.taken
        while asked < len(train):
            begun = time.perf_counter()
            size = len(train)
            if left is not None and taken is not None:
                size = documents_in_time(recipe.method, taken, left.whole, left.seconds - (begun - began))
            if size < max(2 * asked, min(LEAST_LEARNED, len(train))):
                break
            asked, sample = size, stratified_sample(train, size, self.seed)
            if not any(sample.label_sets):
                break
            try:
                with stage("Training the winner"):
                    found, learned = self._fit(sample, recipe, deadline), sample
            except OutOfTime:
                break
            taken = Taken(len(sample), len(found.labels_), time.perf_counter() - begun)
        if found is None:
            return Winner(None, 0, OUT_OF_BUDGET)
        if model is not None:
            found.save(model, training_facts(learned, self.name, command))
        return Winner(found, len(learned), "" if len(learned) == len(train) else OUT_OF_BUDGET)

    def _fit(self, corpus: Corpus, recipe: Recipe, deadline: Deadline) -> TextClassifier:
        return fit_corpus(corpus, recipe, seed=self.seed, n_jobs=self.n_jobs, memory=self.memory, deadline=deadline)

    def measure(self, classifier: TextClassifier, metric: TargetMetric, expected: Expected) -> TestFigure | None:
        """The metric on the test documents; None where there are none."""
        if self.held_out is None:
            return None
        return measured_figure(classifier, documents_of(self.held_out), self.held_out.label_sets, metric, expected)


def measured_figure(
    classifier: TextClassifier,
    documents: Documents | DocumentStream,
    label_sets: Sequence[Sequence[str]],
    metric: TargetMetric,
    expected: Expected,
) -> TestFigure:
    """The metric on test documents: over the labels of training and, as misses, those that only the test has."""
    known = list(classifier.labels_)
    unseen = sorted({label for labels in label_sets for label in labels} - set(known))
    T = label_matrix(label_sets, [*known, *unseen])
    measured, start = [], 0
    for Y_pred, scores in classifier.iter_decisions(documents):
        Y_true = Csr(T[start : start + Y_pred.shape[0]])
        wide = Csr((Y_pred.data, Y_pred.indices, Y_pred.indptr), shape=Y_true.shape)
        ranked = None
        if metric.k is not None:
            ranked = np.pad(scores(), ((0, 0), (0, len(unseen))), constant_values=-np.inf)
        measured.append(document_statistics(Y_true, wide, ranked))
        start += Y_pred.shape[0]
    value = DocumentStatistics.concatenate(measured).value(metric)
    inside = bool(expected.low <= value <= expected.high)
    return TestFigure(len(label_sets), value, inside, len(unseen))

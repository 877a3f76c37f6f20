"""Distil: a model from labels that a language model or another system made, measured on human labels alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from manylabel.catalog import DEFAULT_METHOD
from manylabel.classifier import TextClassifier
from manylabel.data.columns import TEXTS
from manylabel.data.corpus import Corpus
from manylabel.data.jsonl import corpus_of_records, read_lines
from manylabel.data.labels import label_matrix
from manylabel.data.splits import iterative_stratification
from manylabel.estimator import Csr, Floats, Ints
from manylabel.evaluation.expected import ExpectedQuality, expected_quality
from manylabel.evaluation.label_intervals import label_intervals
from manylabel.exceptions import DataError, UnsupportedError
from manylabel.metrics.counts import LabelCounts, label_counts
from manylabel.recipe import Recipe
from manylabel.reports.distil_page import DistilRecord, LabelAgreement
from manylabel.tasks.corpora import Source, load_source
from manylabel.tasks.model_facts import training_facts
from manylabel.tasks.models import Overrides
from manylabel.wording import setting_name

PRIOR = 5.0
"""How many documents the precision of all labels together counts for in that of one label."""
FOLDS = 3


def distil(
    program: Path,
    human: Source | None,
    model: Path,
    *,
    prompts: Path | None = None,
    least_score: float = 0.0,
    method: str = DEFAULT_METHOD,
    overrides: Overrides | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
) -> DistilRecord:
    """Train on labels that a program made and on those of people, and save the model.

    `program` are JSON lines with text, labels and perhaps scores; where they name documents of `prompts` by their id,
    these give the texts. A document that is in both counts as labelled by people. Program labels with a score below
    `least_score` are left out. Agreement is measured on the documents in both, the quality on documents of people
    alone, each by a model that did not see it (3 folds).
    """
    made = read_program(program, prompts, least_score)
    people = _none_of(made) if human is None else load_source(human).corpus
    if made.counts is not None or people.counts is not None:
        raise UnsupportedError("Documents are matched by their texts, so counts of terms cannot be distilled.")
    labels = sorted({*made.label_names, *people.label_names})
    both = _in_both(made, people)
    agreement = _counts(made, people, both, labels)
    alone = np.setdiff1d(np.arange(len(made)), both[:, 0])
    kept = made.subset(alone)
    training = _Training(kept, people, label_weights(agreement), labels, Recipe.of(method, overrides), seed, n_jobs)
    expected, without = training.measured()
    classifier = training.fit(np.arange(len(people)))
    classifier.expected_ = expected
    facts = training_facts(_joined(kept, people), human.data if human is not None else program.name, "distil")
    classifier.save(model, {**facts, "program": program.name, "program_documents": len(kept)})
    return DistilRecord(
        model=str(model),
        program=str(program),
        program_documents=len(kept),
        human=None if human is None else human.data,
        human_documents=len(people),
        documents_in_both=len(both),
        labels=_agreement_rows(agreement, labels),
        expected=expected,
        human_alone=without,
        method=method,
    )


def read_program(path: Path, prompts: Path | None, least_score: float) -> Corpus:
    """The documents that a program labelled; labels with a score below `least_score` are left out."""
    from manylabel.data.problems import Problems

    problems, records = Problems(), []
    texts = {} if prompts is None else {str(one.get("id")): one.get("text") for _, one in read_lines(prompts, problems)}
    for line, record in read_lines(path, problems):
        found = dict(record)
        if not any(key.strip().lower() in TEXTS for key in record):
            found["text"] = texts.get(str(record.get("id")))
            if not isinstance(found["text"], str):
                raise DataError(
                    "The line has no text, and no prompt has its id.",
                    path=path,
                    line=line,
                    remedy="Write the text, or give the file that `manylabel suggest --for-llm` wrote "
                    f"({setting_name('prompts')}).",
                )
        records.append((line, {"id": str(line), **found, "labels": _labels(record, path, line, least_score)}))
    if not records:
        raise DataError("The file has no labelled documents.", path=path, remedy="Give JSON lines: text, labels.")
    corpus = corpus_of_records(records, path, problems, {"label_column": ["labels"]})
    return replace(corpus, split_names=None)


def _labels(record: Mapping[str, Any], path: Path, line: int, least_score: float) -> list[str]:
    """The labels of a program that reach the least score; labels without a score count as certain."""
    labels, scores = record.get("labels"), record.get("scores") or {}
    if isinstance(scores, list) and isinstance(labels, list) and len(scores) == len(labels):
        scores = dict(zip(map(str, labels), scores, strict=True))
    if (
        not isinstance(labels, list)
        or not all(isinstance(one, str) for one in labels)
        or not isinstance(scores, Mapping)
    ):
        raise DataError(
            "The labels are no list of names, or the scores neither a list of as many numbers nor an object.",
            path=path,
            line=line,
            remedy='Write {"text": "…", "labels": ["roads"], "scores": {"roads": 0.9}}.',
        )
    return [one for one in labels if float(scores.get(one, 1.0)) >= least_score]


def label_weights(agreement: LabelCounts) -> Floats:
    """The estimated precision of each program label: (TP + 5 P)/(TP + FP + 5), P that of all labels together.

    A document counts for as much as its labels are right on average. Without documents in both, all weights are 1.
    """
    tp, wrong = agreement.tp.astype(np.float64), agreement.fp.astype(np.float64)
    if not (tp.sum() + wrong.sum()):
        return np.ones(len(tp))
    overall = tp.sum() / (tp.sum() + wrong.sum())
    return np.asarray((tp + PRIOR * overall) / (tp + wrong + PRIOR))


class _Training:
    """Program documents with weights and human documents, to be learned together."""

    def __init__(
        self,
        made: Corpus,
        people: Corpus,
        precision: Floats,
        labels: Sequence[str],
        recipe: Recipe,
        seed: int,
        n_jobs: int | None,
    ) -> None:
        self.made, self.people, self.labels, self.recipe, self.seed, self.n_jobs = (
            made,
            people,
            labels,
            recipe,
            seed,
            n_jobs,
        )
        Y = label_matrix(made.label_sets, labels)
        given = np.diff(Y.indptr)
        # A document without a label is as trustworthy as a label is on average.
        self.weights = np.where(given > 0, (Y @ precision) / np.maximum(given, 1), precision.mean())

    def fit(self, rows: Ints, with_program: bool = True) -> TextClassifier:
        """A classifier fitted to some of the human documents, and to those of the program."""
        people = self.people.subset(rows)
        classifier = TextClassifier.from_recipe(self.recipe, seed=self.seed, n_jobs=self.n_jobs)
        if not with_program:
            return classifier.fit(people.joined_texts, people.label_sets)
        texts = [*people.joined_texts, *self.made.joined_texts]
        sets = [*people.label_sets, *self.made.label_sets]
        return classifier.fit(texts, sets, sample_weight=np.concatenate([np.ones(len(people)), self.weights]))

    def measured(self) -> tuple[ExpectedQuality | None, ExpectedQuality | None]:
        """The quality on human documents that the model did not see, with program labels and without them."""
        Y = label_matrix(self.people.label_sets, self.labels)
        if len(self.people) < 2 * FOLDS or not Y.nnz:
            return None, None
        tests: list[Ints] = []
        predicted: dict[bool, list[Csr]] = {True: [], False: []}
        for train, test in iterative_stratification(Y, FOLDS, self.seed):
            tests.append(test)
            texts = self.people.subset(test).joined_texts
            for helped, found in predicted.items():
                found.append(label_matrix(self.fit(train, helped).predict(texts), self.labels))
        true = Csr(Y[np.concatenate(tests)])
        with_program, without = (
            expected_quality(true, Csr(sparse.vstack(predicted[key], format="csr")), seed=self.seed)
            for key in (True, False)
        )
        return with_program, without


def _none_of(made: Corpus) -> Corpus:
    return made.subset(np.zeros(0, dtype=np.int64))


def _joined(made: Corpus, people: Corpus) -> Corpus:
    """All documents that were learned from, for the facts that the model file keeps."""
    return Corpus(
        ids=[*(f"human {one}" for one in people.ids), *(f"program {one}" for one in made.ids)],
        fields={"text": [*people.joined_texts, *made.joined_texts]},
        labels=[*people.label_sets, *made.label_sets],
    )


def _in_both(made: Corpus, people: Corpus) -> Ints:
    """Pairs of rows: documents of the program whose text people have labelled too."""
    known = {" ".join(text.split()): row for row, text in enumerate(people.joined_texts)}
    keys = [" ".join(text.split()) for text in made.joined_texts]
    pairs = [(row, known[key]) for row, key in enumerate(keys) if key in known]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _counts(made: Corpus, people: Corpus, both: Ints, labels: Sequence[str]) -> LabelCounts:
    """How program and human labels agree on the documents in both, the human ones being the true labels."""
    true = label_matrix([people.label_sets[row] for row in both[:, 1].tolist()], labels)
    return label_counts(true, label_matrix([made.label_sets[row] for row in both[:, 0].tolist()], labels))


def _agreement_rows(counts: LabelCounts, labels: Sequence[str]) -> list[LabelAgreement]:
    """Precision and recall of the program's labels with 95 % intervals; labels with most human documents first."""
    ends = label_intervals(counts)
    rows = [
        LabelAgreement(
            label,
            tp + fn,
            tp + fp,
            None if not tp + fp else tp / (tp + fp),
            (float(ends.precision[at, 0]), float(ends.precision[at, 1])) if tp + fp else None,
            None if not tp + fn else tp / (tp + fn),
            (float(ends.recall[at, 0]), float(ends.recall[at, 1])) if tp + fn else None,
        )
        for at, (label, tp, fp, fn) in enumerate(
            zip(labels, counts.tp.tolist(), counts.fp.tolist(), counts.fn.tolist(), strict=True)
        )
        if tp + fp + fn
    ]
    return sorted(rows, key=lambda one: -one.human)

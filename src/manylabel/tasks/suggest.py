"""Choose the documents to label next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from manylabel.classifier import TextClassifier
from manylabel.data.corpus import Corpus
from manylabel.data.documents import rows_of
from manylabel.data.duplicates import near_duplicates
from manylabel.estimator import Ints
from manylabel.exceptions import DataError, UnsupportedError
from manylabel.insight.suggest import best_candidates, choose_documents, document_values
from manylabel.reports.audit_records import SuggestedDocument, SuggestionRecord
from manylabel.tasks.corpora import Source, beginnings, describe_labels, documents_of, load_source
from manylabel.wording import is_worded_for

METHOD = "svm"
MOST_LABELS = 5
QUESTION = (
    "Which of these labels apply to the document? Several may, or none. Answer with one JSON object: "
    '{"id": the id of the document, "labels": [the labels that apply], "scores": {label: probability from 0 to 1}}.'
)
"""What a language model is asked; `distil` reads its answers."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A document to label next: its row, what labelling it is worth, and its most probable labels."""

    row: int
    value: float
    labels: tuple[tuple[str, float], ...]


def suggest(source: Source, unlabelled: Source | None, *, count: int = 20, seed: int = 0) -> SuggestionRecord:
    """Up to `count` documents without a label, of the same data or of another file, with their probable labels."""
    corpus, labelled, pool, chosen = _to_label(source, unlabelled, count, seed)
    texts = beginnings(pool, [one.row for one in chosen])
    found = [
        SuggestedDocument(pool.ids[one.row], one.value, one.labels, text)
        for one, text in zip(chosen, texts, strict=True)
    ]
    return SuggestionRecord(corpus.name or source.data, len(labelled), len(pool), tuple(found))


def prompts(
    source: Source, unlabelled: Source | None, descriptions: Path | None, *, count: int = 20, seed: int = 0
) -> list[dict[str, Any]]:
    """What to ask a language model about the documents that `suggest` chooses, one object per document.

    Each holds the id and the text, the most probable labels with what describes them, and a prompt made of these.
    """
    corpus, _, pool, chosen = _to_label(source, unlabelled, count, seed)
    if pool.counts is not None:
        raise UnsupportedError("A language model reads texts, and these documents are counts of terms.")
    known = {} if descriptions is None else describe_labels(corpus, source, descriptions, source.problems())[1]
    made = []
    texts = pool.subset([one.row for one in chosen]).joined_texts
    for one, text in zip(chosen, texts, strict=True):
        candidates = [{"label": name, "description": known.get(name, "")} for name, _ in one.labels]
        listed = "\n".join(
            f"- {c['label']}" + (f": {c['description']}" if c["description"] else "") for c in candidates
        )
        asked = f"{QUESTION}\n\nId: {pool.ids[one.row]}\n\nLabels:\n{listed}\n\nDocument:\n{text}"
        made.append({"id": pool.ids[one.row], "text": text, "candidates": candidates, "prompt": asked})
    return made


def _to_label(
    source: Source, unlabelled: Source | None, count: int, seed: int
) -> tuple[Corpus, Ints, Corpus, list[Chosen]]:
    """The data, the rows that have labels, the documents to choose from, and those chosen."""
    corpus = load_source(source).corpus
    labelled = np.flatnonzero([bool(names) for names in corpus.label_sets])
    pool = corpus.subset(np.flatnonzero([not names for names in corpus.label_sets]))
    if unlabelled is not None:
        pool = load_source(replace(unlabelled, labels=False), names_labels=False, like=corpus).corpus
    if not len(pool):
        option = ": --unlabelled FILE" if is_worded_for("command line") else ""
        raise DataError(
            "Every document has a label.", path=corpus.source, remedy=f"Give others without labels{option}."
        )
    return corpus, labelled, pool, _chosen(_learned(corpus, labelled, seed), pool, count)


def suggest_for_review(
    source: Source, *, without_label: Sequence[int] = (), count: int = 100, seed: int = 0
) -> list[Chosen]:
    """Up to `count` documents of a source that have no label, the first to label first.

    `without_label` are the rows of documents that were reviewed and have no label: they are learned from.
    """
    corpus = load_source(source).corpus
    is_labelled = np.array([bool(names) for names in corpus.label_sets])
    is_labelled[list(without_label)] = True
    pool = np.flatnonzero(~is_labelled)
    if not len(pool):
        raise DataError("Every document has a label or was reviewed, so that none is left to label.")
    model = _learned(corpus, np.flatnonzero(is_labelled), seed)
    return [replace(one, row=int(pool[one.row])) for one in _chosen(model, corpus.subset(pool), count)]


def _learned(corpus: Corpus, labelled: Ints, seed: int) -> TextClassifier:
    sets = [corpus.label_sets[row] for row in labelled.tolist()]
    if not any(sets):
        raise DataError("No document has a label, so nothing can be learned.", path=corpus.source)
    return TextClassifier(METHOD, seed=seed).fit(rows_of(documents_of(corpus), labelled), sets)


def _chosen(model: TextClassifier, pool: Corpus, count: int) -> list[Chosen]:
    """The documents of a pool to label next, in their order."""
    documents = documents_of(pool)
    values = np.concatenate(
        [
            document_values(model.decided_.shown(scores()), model.label_counts_)
            for _, scores in model.iter_decisions(documents)
        ]
    )
    candidates = best_candidates(values, count, len(model.labels_))
    documents = rows_of(documents, candidates)
    shown = np.asarray(model.predict_scores(documents))
    groups = near_duplicates(documents).groups()
    chosen = choose_documents(shown, model.label_counts_, model.features_.transform(documents), count, groups)
    return [
        Chosen(
            row,
            float(values[row]),
            tuple((model.labels_[column], float(p[column])) for column in np.argsort(-p)[:MOST_LABELS].tolist()),
        )
        for row, p in zip(candidates[chosen].tolist(), shown[chosen], strict=True)
    ]

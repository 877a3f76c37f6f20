"""Choose the documents to label next."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from manylabel.classifier import TextClassifier
from manylabel.data.corpus import Text
from manylabel.data.documents import rows_of
from manylabel.data.duplicates import near_duplicates
from manylabel.exceptions import DataError
from manylabel.insight.suggest import choose_documents, document_values
from manylabel.notebook import shortened
from manylabel.reports.audit_records import SuggestedDocument, SuggestionRecord
from manylabel.tasks.corpora import Source, documents_of, load_source

METHOD = "svm"
MOST_LABELS = 5


def suggest(source: Source, unlabelled: Source | None, *, count: int = 20, seed: int = 0) -> SuggestionRecord:
    """Up to `count` documents without a label, of the same data or of another file, with their probable labels."""
    corpus = load_source(source).corpus
    if corpus.labels is None:
        raise DataError("These documents have no labels.", path=corpus.source, remedy="Use --label-column.")
    labelled = np.flatnonzero([bool(names) for names in corpus.label_sets])
    if not len(labelled):
        raise DataError("No document has a label, so nothing can be learned.", path=corpus.source)
    documents = documents_of(corpus)
    model = TextClassifier(METHOD, seed=seed).fit(
        rows_of(documents, labelled), [corpus.label_sets[row] for row in labelled.tolist()]
    )
    pool = corpus.subset(np.flatnonzero([not names for names in corpus.label_sets]))
    if unlabelled is not None:
        pool = load_source(replace(unlabelled, labels=False), names_labels=False, like=corpus.reading).corpus
    if not len(pool):
        raise DataError("Every document has a label.", path=corpus.source, remedy="Name others with --unlabelled FILE.")
    others = documents_of(pool)
    values = np.concatenate(
        [
            document_values(model.decided_.shown(scores()), model.label_counts_)
            for _, scores in model.iter_decisions(others)
        ]
    )
    chosen = choose_documents(values, model.features_.transform(others), count, near_duplicates(others).groups())
    shown = model.predict_scores(rows_of(others, chosen))
    found = [
        SuggestedDocument(
            pool.ids[row],
            float(values[row]),
            tuple((model.labels_[column], float(p[column])) for column in np.argsort(-p)[:MOST_LABELS].tolist()),
            "" if pool.counts is not None else _text(pool.texts[row]),
        )
        for row, p in zip(chosen.tolist(), np.asarray(shown), strict=True)
    ]
    return SuggestionRecord(corpus.name or source.data, len(labelled), len(pool), tuple(found))


def _text(text: Text) -> str:
    return shortened(text if isinstance(text, str) else " ".join(text.values()))

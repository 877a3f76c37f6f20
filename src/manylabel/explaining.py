"""Explains the prediction for one document: evidence per label, placed in the text (`explain_document`).

It stands below `TextClassifier`, which offers it as `explain`. The models compute the parts of scores
(`manylabel.models.evidence.ScoreParts`), `manylabel.features.positions` finds the terms in the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel.data.corpus import Text
from manylabel.data.documents import length_of, read_documents
from manylabel.decisions.model_with_rule import ModelWithRule
from manylabel.estimator import Csr, Floats, Ints
from manylabel.exceptions import DataError, UnknownNameError
from manylabel.explanation import Explanation, LabelExplanation, Neighbour, Share, TermEvidence, WhatIf
from manylabel.features.pipeline import FeaturePipeline
from manylabel.features.positions import Piece, Places, fields_of, term_places
from manylabel.features.vector_view import scaled
from manylabel.models.evidence import ScoreParts
from manylabel.models.score_kinds import Bools
from manylabel.wording import counted

MOST_REMOVED = 8
"""Up to this many terms are taken out of a document to find those that a prediction hangs on."""
MOST_NEIGHBOURS, MOST_SHARED_TERMS = 5, 5
MOST_VECTOR_WORDS = 5
"""Words that are listed behind the contribution of a vector."""
WORD = re.compile(r"\w+")

Decide = Callable[[Csr], tuple[Floats, Bools]]
"""X → the scores as they are shown and the predicted labels, documents × labels each."""


def explain_document(
    reader: DocumentReader, decided: ModelWithRule, decide: Decide, names: Sequence[str], asked: Asked, method: str
) -> Explanation:
    """The explanation of the prediction for one document."""
    X = decided.features(reader.X)
    shown, predicted = (one[0] for one in decide(X))
    thresholds = decided.thresholds()
    columns = asked.columns(shown, predicted)
    parts = decided.score_parts(X, columns)
    rules = reader.rules_that_match()
    spoken = _vector_words(reader, decided, X, columns)
    explained = []
    for row, column in enumerate(columns.tolist()):
        one = LabelExplanation(
            names[column],
            bool(predicted[column]),
            float(shown[column]),
            decided.shows_probabilities,
            None if thresholds is None else float(thresholds[column]),
            parts.quantity,
            float(parts.total[row]),
            None if np.isnan(parts.intercept[row]) else float(parts.intercept[row]),
            reader.term_evidence(parts.terms, row),
            _label_shares(parts, row, names),
            tuple(Share(name, float(share[row])) for name, share in parts.members),
            tuple(query for label, query in rules if label == names[column]),
            vector_words=spoken[row],
        )
        looks = asked.what_if and reader.can_be_shortened
        explained.append(replace(one, what_if=_what_if(one, column, reader, decide) if looks else None))
    return Explanation(
        method,
        tuple(reader.fields),
        tuple(explained),
        _neighbours(decided, X, names, reader),
        tuple(names[column] for column in best_first(shown, predicted).tolist()),
        asked.labels is not None,
    )


def best_first(shown: Floats, predicted: Bools) -> Ints:
    """The columns of the predicted labels, the best first."""
    chosen = np.flatnonzero(predicted)
    return np.asarray(chosen[np.argsort(-shown[chosen], kind="stable")])


@dataclass(frozen=True, slots=True)
class Asked:
    """Which labels to explain: some columns, or the predicted ones and the others with the highest scores."""

    labels: Sequence[int] | None
    runners_up: int
    what_if: bool

    def columns(self, shown: Floats, predicted: Bools) -> Ints:
        """The columns of the labels in the order in which they are explained: that of `predict --scores`."""
        if self.labels is not None:
            return np.array(self.labels, dtype=np.int64)
        others = np.flatnonzero(~predicted & np.isfinite(shown))
        best = others[np.argsort(-shown[others], kind="stable")[: self.runners_up]]
        return np.concatenate([best_first(shown, predicted), best])


class DocumentReader:
    """One document: its X, its fields, the places of its terms, and copies of it without some terms."""

    def __init__(self, pipeline: FeaturePipeline, document: Text | Csr) -> None:
        self.pipeline, self.document = pipeline, document
        self.places: Places = {}
        self.fields: list[tuple[str | None, str]] = []
        if isinstance(document, Csr):
            self.X = pipeline.transform(document)
        else:
            self.X = pipeline.transform([document])
            self.places, self.fields = term_places(pipeline, document), fields_of(document)

    @property
    def can_be_shortened(self) -> bool:
        """Whether copies without some words can be read: not where ready vectors are looked up by the text."""
        view = self.pipeline.vectors_
        return view is None or not view.is_used_ or view.loaded.encodes_any_text

    @property
    def vector_columns(self) -> range:
        """The columns of X that hold the document's vector, whose evidence is told as a whole."""
        view, end = self.pipeline.vectors_, self.X.shape[1] - self.n_rules
        return range(end - (0 if view is None else view.dimensions), end)

    @property
    def n_rules(self) -> int:
        """The number of keyword rules, whose hits are the last columns of X."""
        return 0 if self.pipeline.keywords_ is None else len(self.pipeline.keywords_.labels_)

    def term_evidence(self, table: Csr, row: int) -> tuple[TermEvidence, ...]:
        """The evidence of the terms in a row of a labels × terms table, the strongest first."""
        cells = slice(table.indptr[row], table.indptr[row + 1])
        columns, values = table.indices[cells], table.data[cells]
        if len(dense := self.vector_columns):
            of_vector = (columns >= dense.start) & (columns < dense.stop)
            whole = values[of_vector].sum()
            columns, values = np.append(columns[~of_vector], dense.start), np.append(values[~of_vector], whole)
        order = np.argsort(-np.abs(values), kind="stable")
        return tuple(
            TermEvidence(self.name(column), float(value), tuple(self.places.get(column, ())))
            for column, value in zip(columns[order].tolist(), values[order].tolist(), strict=True)
            if value
        )

    def name(self, column: int) -> str:
        """The name of a column of X: its term; for a hashed term the words that it was read from."""
        vectorizer, dense = self.pipeline.vectorizer_, self.vector_columns
        if column in dense and self.pipeline.vectors_ is not None:
            return f"meaning ({self.pipeline.vectors_.name_})"
        if vectorizer is not None and vectorizer.n_hashes is None and column < len(vectorizer.terms_):
            return vectorizer.terms_[column]
        if vectorizer is not None and vectorizer.n_hashes is not None and column in self.places:
            return " / ".join(self.words([column]))
        return str(self._names[column])

    @cached_property
    def _names(self) -> npt.NDArray[np.object_]:
        """The names of all columns of X."""
        return self.pipeline.get_feature_names_out()

    def words(self, columns: Sequence[int]) -> list[str]:
        """The words of the text, in lower case and each once, at the places of some columns."""
        found = [
            " ".join(self.fields[field][1][start:end] for field, start, end in pieces).lower()
            for column in columns
            for pieces in self.places.get(column, ())
        ]
        return list(dict.fromkeys(found))

    def vectors_without_words(self) -> tuple[list[str], Csr | None]:
        """The words of the text, each once, and the vectors of copies without one of them; None without vectors."""
        view = self.pipeline.vectors_
        if view is None or isinstance(self.document, Csr) or not view.is_used_ or not view.loaded.encodes_any_text:
            return [], None
        text = "\n".join(text for _, text in self.fields)
        words = list(dict.fromkeys(WORD.findall(text.lower())))
        if not 0 < len(words) <= view.loaded.most_left_out:
            return [], None
        copies = [re.sub(rf"\b{re.escape(word)}\b", " ", text, flags=re.IGNORECASE) for word in words]
        return words, Csr(scaled(view.loaded.encode(copies)))

    def rules_that_match(self) -> list[tuple[str, str]]:
        """The label and the query of each keyword rule that matches."""
        if self.pipeline.keywords_ is None:
            return []
        queries = list(self.pipeline.keywords_.queries().items())
        first = self.X.shape[1] - self.n_rules
        return [(label, str(query)) for place, (label, query) in enumerate(queries) if self.X[0, first + place]]

    def shortened(self, removed: Sequence[Sequence[int]]) -> Csr:
        """X of copies of the document, each without the words of some columns; of counts, without these columns."""
        if isinstance(self.document, Csr):
            copies = np.repeat(self.document.toarray(), len(removed), axis=0)
            for copy, columns in zip(copies, removed, strict=True):
                copy[list(columns)] = 0
            return self.pipeline.transform(Csr(copies))
        return self.pipeline.transform([self._without(columns) for columns in removed])

    def _without(self, columns: Sequence[int]) -> Text:
        texts = [list(text) for _, text in self.fields]
        pieces: list[Piece] = [piece for column in columns for one in self.places.get(column, ()) for piece in one]
        for field, start, end in pieces:
            texts[field][start:end] = " " * (end - start)
        joined = ["".join(characters) for characters in texts]
        if isinstance(self.document, str):
            return joined[0]
        return {str(name): text for (name, _), text in zip(self.fields, joined, strict=True)}

    def columns_of(self, terms: Sequence[TermEvidence]) -> list[int]:
        """The columns of terms that can be taken out of the document."""
        dense = self.vector_columns
        names = {self.name(column): column for column in self.X.indices.tolist() if column not in dense}
        return [names[one.term] for one in terms if one.term in names]


def one_document(document: Any) -> Text | Csr:
    """One document as it was passed: a text, a mapping from field to text, or a matrix of one row."""
    if isinstance(document, (str, Mapping)):
        return document
    given = read_documents(document)
    if length_of(given) != 1:
        raise DataError(
            f"One document is explained at a time, but {counted(length_of(given), 'document was', 'documents were')} "
            "given.",
            remedy="Call explain for each of them. One row of a DataFrame is one document as dict(row).",
        )
    return given if isinstance(given, Csr) else given[0]


def label_columns(labels: Sequence[str] | None, names: Sequence[str]) -> list[int] | None:
    """The columns of labels by name; None for None."""
    if labels is None:
        return None
    known = {name: column for column, name in enumerate(names)}
    if unknown := [name for name in labels if name not in known]:
        raise UnknownNameError("label", unknown[0], names)
    return [known[name] for name in labels]


def _label_shares(parts: ScoreParts, row: int, names: Sequence[str]) -> tuple[Share, ...]:
    """The evidence of other labels, the strongest first."""
    if parts.labels is None:
        return ()
    cells = slice(parts.labels.indptr[row], parts.labels.indptr[row + 1])
    shares = [
        Share(names[column], float(value))
        for column, value in zip(parts.labels.indices[cells], parts.labels.data[cells], strict=True)
        if value
    ]
    return tuple(sorted(shares, key=lambda share: -abs(share.contribution)))


def _what_if(one: LabelExplanation, column: int, reader: DocumentReader, decide: Decide) -> WhatIf | None:
    """The fewest of the strongest terms without which the model predicts otherwise; None if up to 8 do not suffice.

    Terms for a predicted label are taken out, terms against one that is not predicted.
    """
    sign = 1 if one.predicted else -1
    strongest = [term for term in one.terms if sign * term.contribution > 0][:MOST_REMOVED]
    columns = reader.columns_of(strongest)
    if not columns:
        return None
    X = reader.shortened([columns[: count + 1] for count in range(len(columns))])
    shown, predicted = decide(X)
    changed = np.flatnonzero(predicted[:, column] != one.predicted)
    if not len(changed):
        return None
    removed = columns[: int(changed[0]) + 1]
    words = reader.words(removed) if reader.fields else [reader.name(column) for column in removed]
    return WhatIf(tuple(words), float(shown[changed[0], column]))


def _vector_words(reader: DocumentReader, decided: ModelWithRule, X: Csr, columns: Ints) -> list[tuple[Share, ...]]:
    """For each label what its score loses through the vector when a word is taken out of the text, strongest first.

    Empty where there is no vector, or the text has more words than can be left out one by one in a short time.
    """
    words, vectors = reader.vectors_without_words()
    if vectors is None:
        return [()] * len(columns)
    dense, n_words = reader.vector_columns, len(words)
    before, behind = (Csr(sparse.vstack([part] * n_words)) for part in (X[:, : dense.start], X[:, dense.stop :]))
    mixed = Csr(sparse.hstack([before, vectors, behind], format="csr"))
    with np.errstate(invalid="ignore"):  # ±∞ less itself, where a label is certain
        lost = np.nan_to_num(decided.score_batch(X)[:, columns] - decided.score_batch(mixed)[:, columns])
    found = []
    for values in lost.T:
        order = np.argsort(-np.abs(values), kind="stable")[:MOST_VECTOR_WORDS]
        found.append(tuple(Share(words[word], float(values[word])) for word in order.tolist() if values[word]))
    return found


def _neighbours(decided: ModelWithRule, X: Csr, names: Sequence[str], reader: DocumentReader) -> tuple[Neighbour, ...]:
    found = decided.neighbour_votes(X)
    if found is None:
        return ()
    neighbours = []
    for row, document in enumerate(found.documents[:MOST_NEIGHBOURS].tolist()):
        terms = reader.term_evidence(found.terms, row)[:MOST_SHARED_TERMS]
        sets = found.label_sets
        labels = sets.indices[sets.indptr[row] : sets.indptr[row + 1]].tolist()
        neighbours.append(
            Neighbour(
                document + 1,
                float(found.similarities[row]),
                float(found.votes[row]),
                tuple(names[label] for label in labels),
                tuple(term.term for term in terms),
            )
        )
    return tuple(neighbours)

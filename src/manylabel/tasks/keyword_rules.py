"""Suggest keyword rules for the labels of some documents, as a file to start from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from manylabel.estimator import Csr
from manylabel.exceptions import DataError
from manylabel.features import Vectorizer
from manylabel.features.keyword_queries import Atom, Or, Phrase, Query, Word
from manylabel.features.keyword_rules import suggest_keywords, write_rules, written_label
from manylabel.features.reading import CHOSEN_BY_TEXTS
from manylabel.tasks.corpora import Source, load_source, split_of
from manylabel.wording import counted

HEAD = """\
# Keyword rules suggested for {data}: one "label: query" per line; lines of one label are alternatives.
# A query: words, "phrases in quotes", begin* for a beginning, AND, OR, NOT, parentheses; case does not matter.
# Use them with: manylabel evaluate {data} --method rules --rules FILE   (or another method: the rules come first)
# Behind each label: its documents, and precision and recall of the rule on the same documents it was found in.
"""


@dataclass(frozen=True, slots=True)
class Suggested:
    """A suggested rule for one label, with its quality on the documents it was found in."""

    label: str
    query: str | None
    documents: int
    precision: float
    recall: float

    def as_dict(self) -> dict[str, Any]:
        """The suggestion as plain data."""
        return asdict(self)


def suggest_rules(
    source: Source, *, split: str | None = None, words: int = 6, min_documents: int = 2
) -> list[Suggested]:
    """A rule for every label: the words that find its documents best, or else the words of its name.

    The name stands in where no word helps, and for labels that no document of the split has.
    """
    corpus = split_of(load_source(source).corpus, split, "train")
    if corpus.counts is None:
        vectorizer = Vectorizer(**CHOSEN_BY_TEXTS)
        X = vectorizer.fit_transform(corpus.texts)
        terms: Sequence[str] = vectorizer.terms_
    elif corpus.terms is None:
        raise DataError(
            "Keyword rules are made of words, and these documents are ready-made counts whose terms have no names.",
            path=corpus.source or corpus.name,
        )
    else:
        X, terms = Csr(corpus.counts), corpus.terms
    Y = corpus.label_matrix()
    table = suggest_keywords(X, Y, words, min_documents)
    held = Csr(Csr(X > 0).astype(np.int64) @ Csr(table > 0).astype(np.int64).T) > 0
    predicted, hits = held.sum(axis=0), (Csr(held).astype(np.int64).multiply(Y)).sum(axis=0)
    carried = Y.sum(axis=0)
    found = []
    for column, label in enumerate(corpus.label_names):
        start, stop = table.indptr[column], table.indptr[column + 1]
        order = np.argsort(table.data[start:stop])
        chosen = [_atom(terms[term]) for term in table.indices[start:stop][order].tolist()]
        precision = float(hits[column] / predicted[column]) if predicted[column] else 0.0
        recall = float(hits[column] / carried[column]) if carried[column] else 0.0
        query = _alternatives(chosen) if chosen else _name_query(label)
        shown = None if query is None else str(query)
        found.append(Suggested(label, shown, int(carried[column]), precision, recall))
    return found


def rules_file(suggestions: Sequence[Suggested], data: str) -> str:
    """The suggestions as the text of a rules file; labels without documents become comments."""
    lines = [HEAD.format(data=data)]
    for one in suggestions:
        measured = f"{counted(one.documents, 'document')}, precision {one.precision:.2f}, recall {one.recall:.2f}"
        lines.append(f"\n# {measured}\n")
        rule = write_rules({one.label: one.query}) if one.query else f"{written_label(one.label)}:\n"
        lines.append(rule if one.query and one.documents else f"# {rule}")
    return "".join(lines)


def _atom(term: str) -> Atom:
    words = term.split()
    return Word(term) if len(words) == 1 else Phrase(tuple(Word(word) for word in words))


def _alternatives(chosen: list[Atom]) -> Query:
    return chosen[0] if len(chosen) == 1 else Or(tuple(chosen))


def _name_query(label: str) -> Query | None:
    """The words of the label's name, one after the other."""
    words = re.findall(r"\w\w+", label.replace("_", " "))
    return _atom(" ".join(words)) if words else None

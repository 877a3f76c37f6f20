"""Filters on the documents of a corpus: what a request asks for, as one condition of SQL with parameters."""

from __future__ import annotations

import re
import sqlite3
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from manylabel.exceptions import UnknownNameError
from manylabel.server.store.matches import matched

LabelName = Annotated[str, Field(min_length=1, max_length=2_000)]
Number = Annotated[float, Field(allow_inf_nan=False)]
DocumentState = Literal["not reviewed", "reviewed", "no label applies"]
LabelRelation = Literal[
    "true", "not true", "predicted", "not predicted", "true positive", "false positive", "false negative",
    "disagreement", "suggested", "suggested for removal", "imported", "accepted", "rejected",
]  # fmt: skip
AnyRelation = Literal["no true label", "disagreement", "false positive", "false negative", "suggested"]


class LabelCondition(BaseModel):
    """A condition on one label: how it relates to a document, and the range of its score.

    `threshold` stands for the saved threshold of the label where the relation depends on what is predicted.
    """

    model_config = ConfigDict(extra="forbid")
    label: LabelName
    relation: LabelRelation | None = None
    threshold: Number | None = None
    least: Number | None = None
    most: Number | None = None


class Filter(BaseModel):
    """Documents that meet all conditions; without any, all documents."""

    model_config = ConfigDict(extra="forbid")
    text: Annotated[str, Field(max_length=1_000)] | None = None
    """Words, "whole phrases", beginnings of words (``road*``), words to exclude (``-bus``), without regard to case and
    accents."""
    rule: Annotated[str, Field(min_length=1, max_length=10_000)] | None = None
    """The query of a keyword rule that must be true of the texts: words, "phrases", begin*, AND, OR, NOT, ( )."""
    split: Annotated[str, Field(max_length=200)] | None = None
    state: DocumentState | None = None
    reviewed_by: Annotated[str, Field(max_length=100)] | None = None
    queue: Literal["suggest"] | None = None
    """``suggest``: the documents that a job of this kind chose to be labelled next."""
    any_label: AnyRelation | None = None
    """A condition that some label of the document meets."""
    labels: Annotated[list[LabelCondition], Field(max_length=20)] = []


class Condition:
    """A condition on the table `documents AS d`, and its parameters."""

    def __init__(self) -> None:
        self.terms: list[str] = []
        self.parameters: list[Any] = []

    def add(self, term: str, *parameters: Any) -> None:
        """Require one thing more."""
        self.terms.append(term)
        self.parameters += parameters

    @property
    def sql(self) -> str:
        """What follows WHERE."""
        return " AND ".join(self.terms) or "1"


STATES: dict[str, str] = {
    "not reviewed": "d.reviewed = 0",
    "reviewed": "d.reviewed = 1 AND d.true_labels > 0",
    "no label applies": "d.reviewed = 1 AND d.true_labels = 0",
}
"""A document without a label that was reviewed is one to which no label applies."""
OPEN_SUGGESTIONS = """SELECT g.* FROM suggestions AS g JOIN labels AS l ON l.number = g.label AND l.state = 'active'
    LEFT JOIN assignments AS a ON a.label = g.label AND a.document = g.document
    WHERE g.source = 'audit' AND a.state IS IIF(g.action = 'add', NULL, 'imported')"""
"""What an audit suggests and nobody has decided; where a decision is taken back, its suggestion is open again."""
_ANY: dict[str, str] = {
    "no true label": "d.true_labels = 0",
    "disagreement": "d.false_positives + d.false_negatives > 0",
    "false positive": "d.false_positives > 0",
    "false negative": "d.false_negatives > 0",
    "suggested": f"d.number IN (SELECT document FROM ({OPEN_SUGGESTIONS}))",
}
_TRUE = "d.number {} (SELECT document FROM assignments WHERE label = ? AND state <> 'rejected')"
_PREDICTED = (
    "d.number {} (SELECT document FROM scores WHERE label = ? AND "
    "score >= COALESCE(?, (SELECT threshold FROM labels WHERE number = ?)))"
)
_STATE = "d.number IN (SELECT document FROM assignments WHERE label = ? AND state = ?)"


_BY_ADDRESS = """SELECT l.number FROM about AS a, json_each(a.value) AS j JOIN labels AS l ON l.imported_name = j.value
    WHERE a.key = 'addresses' AND j.key = ? AND l.state = 'active'"""


def label_number(database: sqlite3.Connection, name: str) -> int:
    """The number of an active label, by its name or its address (URI); an error that offers the nearest name."""
    row = database.execute("SELECT number FROM labels WHERE name = ? AND state = 'active'", (name,)).fetchone()
    row = row or database.execute(_BY_ADDRESS, (name.removeprefix("<").removesuffix(">"),)).fetchone()
    if row is None:
        known = database.execute("SELECT name FROM labels WHERE state = 'active'")
        raise UnknownNameError("label", name, [one["name"] for one in known])
    return int(row["number"])


def own_name(database: sqlite3.Connection, name: str) -> str:
    """The name of the active label that a name or an address (URI) stands for."""
    number = label_number(database, name)
    return str(database.execute("SELECT name FROM labels WHERE number = ?", (number,)).fetchone()["name"])


def condition_of(database: sqlite3.Connection, wanted: Filter) -> Condition:
    """What documents that a filter finds must meet, in SQL."""
    made = Condition()
    if wanted.split is not None:
        made.add("d.split = ?", wanted.split)
    if wanted.state is not None:
        made.add(STATES[wanted.state])
    if wanted.reviewed_by is not None:
        made.add("d.reviewed = 1 AND (SELECT by FROM events WHERE number = d.event) = ?", wanted.reviewed_by)
    if wanted.queue is not None:
        made.add("d.queue_place IS NOT NULL")
    if wanted.any_label is not None:
        made.add(_ANY[wanted.any_label])
    for one in wanted.labels:
        number = label_number(database, one.label)
        if one.relation is not None:
            _add_relation(made, number, one.relation, one.threshold)
        if one.least is not None or one.most is not None:
            range_ = (-1e308 if one.least is None else one.least, 1e308 if one.most is None else one.most)
            made.add(
                "d.number IN (SELECT document FROM scores WHERE label = ? AND score BETWEEN ? AND ?)", number, *range_
            )
    if wanted.text is not None and wanted.text.strip():
        _add_search(made, wanted.text)
    if wanted.rule is not None:
        made.add("d.number IN (SELECT value FROM json_each(?))", matched(database, wanted.rule))
    return made


def _add_relation(made: Condition, label: int, relation: str, threshold: float | None) -> None:
    is_true, is_predicted, not_true = _TRUE.format("IN"), _PREDICTED.format("IN"), _TRUE.format("NOT IN")
    at = (label, threshold, label)
    if relation in ("imported", "accepted", "rejected"):
        made.add(_STATE, label, relation)
    elif relation in ("true", "not true"):
        made.add(is_true if relation == "true" else not_true, label)
    elif relation in ("predicted", "not predicted"):
        made.add(_PREDICTED.format("IN" if relation == "predicted" else "NOT IN"), *at)
    elif relation == "disagreement":
        made.add(f"d.measured = 1 AND ({is_true}) <> ({is_predicted})", label, *at)
    elif relation == "true positive":
        made.add(f"d.measured = 1 AND {is_true} AND {is_predicted}", label, *at)
    elif relation == "false positive":
        made.add(f"d.measured = 1 AND {is_predicted} AND {not_true}", *at, label)
    elif relation == "false negative":
        made.add(f"d.measured = 1 AND {is_true} AND {_PREDICTED.format('NOT IN')}", label, *at)
    elif relation == "suggested for removal":
        made.add(
            f"d.number IN (SELECT document FROM ({OPEN_SUGGESTIONS}) WHERE label = ? AND action = 'remove')", label
        )
    else:  # suggested: predicted or proposed by an audit, and not decided
        proposed = "d.number IN (SELECT document FROM suggestions WHERE label = ? AND action = 'add')"
        undecided = "d.number NOT IN (SELECT document FROM assignments WHERE label = ?)"
        made.add(f"({is_predicted} OR {proposed}) AND {undecided}", *at, label, label)


def _add_search(made: Condition, text: str) -> None:
    wanted, excluded = search_terms(text)
    if wanted:
        made.add("d.number IN (SELECT rowid FROM search WHERE search MATCH ?)", wanted)
    if excluded:
        made.add("d.number NOT IN (SELECT rowid FROM search WHERE search MATCH ?)", excluded)
    if not wanted and not excluded:
        made.add("0")  # signs alone: nothing that the index knows


def search_terms(text: str) -> tuple[str, str]:
    """What a user typed as two queries of FTS5: documents must match the first and not the second.

    Everything is quoted, so that nothing a user types is syntax.

    >>> search_terms('late "the bus" road* -tram AND (x')
    ('"late" "the bus" "road" * "AND" "(x"', '"tram"')
    >>> search_terms("!?")
    ('', '')
    """
    wanted: list[str] = []
    excluded: list[str] = []
    for minus, phrase, word in re.findall(r'(-?)(?:"([^"]*)"?|([^\s"]+))', text.replace("\0", " ")):
        found = phrase or word
        if any(letter.isalnum() for letter in found):
            quoted = f'"{found.rstrip("*")}"' + (" *" if word.endswith("*") else "")
            (excluded if minus else wanted).append(quoted)
    return " ".join(wanted), " OR ".join(excluded)

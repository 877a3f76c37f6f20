"""Jobs that learn from the corrected labels of a corpus: scores with their gain, and the documents to label next."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel.exceptions import ParameterError
from manylabel.server.store.documents import thresholds_of_users
from manylabel.server.store.files import CorpusFile, about
from manylabel.server.store.filling import SERVER, corrected_source, keep_queue, keep_scores
from manylabel.server.store.rules import saved
from manylabel.server.store.thresholds import columns, put_thresholds, saved_thresholds
from manylabel.tasks.jobs import asked_method
from manylabel.tasks.reviewing import ReviewScores, measure_gain, score_by_model, score_out_of_fold
from manylabel.tasks.suggest import suggest_for_review
from manylabel.tasks.thresholds import write_reviewed

SUGGESTED = 100
"""Documents in the queue to label next, where a job does not say how many."""


def score_corpus(
    corpus: CorpusFile, model: Path | None, request: Mapping[str, Any], output: Path | None = None
) -> dict[str, Any]:
    """Score all documents with their corrected labels, keep the scores, and measure what they gain on the former ones.

    Without a model, a method is trained on folds of the labelled documents; trained on all of them, it is written to
    `output` if that is given.
    """
    with corpus.reading() as database:
        seen = database.execute("SELECT MAX(number) FROM events").fetchone()[0]
        empty = _reviewed_without_label(database)
        documents = database.execute("SELECT COUNT(*) FROM documents").fetchone()[0]
        rules = saved(database)["rules"] if request.get("rules") else ""
    if request.get("rules") and not rules.strip():
        raise ParameterError("The corpus has no saved keyword rules. Save some first, or leave 'rules' out.")
    seed = int(request.get("seed") or 0)
    method, overrides = asked_method(request)
    source = corrected_source(corpus)
    if model is not None:
        found = score_by_model(source, model)
    else:
        found = score_out_of_fold(
            source,
            output,
            without_label=empty,
            method=method,
            overrides=overrides,
            rules=rules,
            seed=seed,
            n_jobs=request.get("threads"),
        )
    gain, kept = _kept(corpus, found, seen, request.get("keep_thresholds", False))
    if output is not None and kept:
        with corpus.reading() as database:
            thresholds = saved_thresholds(database)
        write_reviewed(output, thresholds, output, f"saved in the review of {corpus.folder.name}")
    return {
        "corpus": corpus.folder.name,
        "model": None if output is None else output.stem,
        "scores": len(found.values),
        "trained_on": found.trained,
        "left_out": 0 if found.trained is None else documents - found.trained,
        "how": found.how,
        "kept_thresholds": kept,
        "gain": None if gain is None else gain.measured(seed),
    }


def suggest_documents(corpus: CorpusFile, request: Mapping[str, Any]) -> dict[str, Any]:
    """Choose the documents to label next and keep them as a queue; return them in their order."""
    with corpus.reading() as database:
        empty = _reviewed_without_label(database)
    count, seed = int(request.get("count", SUGGESTED)), int(request.get("seed") or 0)
    chosen = suggest_for_review(corrected_source(corpus), without_label=empty, count=count, seed=seed)
    with corpus.writing() as database:
        keep_queue(database, chosen)
        numbers = json.dumps([one.row + 1 for one in chosen])
        rows = database.execute(
            "SELECT number, id FROM documents WHERE number IN (SELECT value FROM json_each(?))", (numbers,)
        )
        ids = {row["number"]: row["id"] for row in rows}
    return {
        "corpus": corpus.folder.name,
        "documents": [
            {
                "number": one.row + 1,
                "id": ids[one.row + 1],
                "value": one.value,
                "labels": [{"label": label, "probability": probability} for label, probability in one.labels],
            }
            for one in chosen
        ],
    }


def _reviewed_without_label(database: sqlite3.Connection) -> list[int]:
    """The rows of the documents to which no label applies."""
    rows = database.execute("SELECT number - 1 FROM documents WHERE reviewed = 1 AND true_labels = 0")
    return [row[0] for row in rows]


def _kept(corpus: CorpusFile, found: ReviewScores, seen: int, keeps_thresholds: bool) -> tuple[Gain | None, int]:
    """Keep new scores; return what is needed to compare them with the former ones, None where there were none.

    Also, how many thresholds that users saved before were kept.
    """
    with corpus.writing() as database:
        total = database.execute("SELECT COUNT(*) FROM documents").fetchone()[0]
        if len(found.rows) and int(found.rows.max()) >= total:
            raise ParameterError("The scores are of other documents than those of the corpus.")
        known = about(database)
        before = None if "scores" not in known else Standing.of(database, total)
        saved = thresholds_of_users(database, known) if keeps_thresholds else {}
        keep_scores(database, found, seen)
        kept = {label: threshold for label, threshold in saved.items() if label in found.labels}
        if kept:
            put_thresholds(database, SERVER, kept)
        gain = None if before is None else Gain.of(database, before, Standing.of(database, total), known)
        return gain, len(kept)


@dataclass(frozen=True, slots=True)
class Standing:
    """What is predicted for each document at the saved thresholds, and which documents are measured."""

    predicted: Any
    """Documents × labels; columns are the numbers of labels."""
    measured: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, database: sqlite3.Connection, documents: int) -> Standing:
        """The standing of a corpus as it is now."""
        numbers = dict(database.execute("SELECT name, number FROM labels WHERE state = 'active'").fetchall())
        found = [(numbers[one.label], one.documents[: one.place(one.saved)]) for one in columns(database)]
        measured = np.zeros(documents, dtype=bool)
        measured[[row[0] - 1 for row in database.execute("SELECT number FROM documents WHERE measured = 1")]] = True
        rows = np.concatenate([np.zeros(0, dtype=np.int64), *(places for _, places in found)]) - 1
        labels = np.repeat([number for number, _ in found], [len(places) for _, places in found]).astype(np.int64)
        return cls(_matrix(rows, labels, documents, max(numbers.values(), default=0)), measured)


def _matrix(rows: npt.NDArray[np.int64], labels: npt.NDArray[np.int64], documents: int, most: int) -> Any:
    return sparse.csr_matrix((np.ones(len(rows), dtype=np.int8), (rows, labels)), shape=(documents, most + 1))


@dataclass(frozen=True, slots=True)
class Gain:
    """True labels, and what was predicted before and after, on the documents that were measured both times."""

    Y_true: Any
    before: Any
    after: Any
    facts: dict[str, Any]

    @classmethod
    def of(cls, database: sqlite3.Connection, before: Standing, after: Standing, known: Mapping[str, Any]) -> Gain:
        """The gain of the scores that a corpus has now; `known` is what was known of it before."""
        pairs = database.execute(
            """SELECT a.document, a.label FROM assignments AS a JOIN labels AS l ON l.number = a.label
            WHERE a.state <> 'rejected' AND l.state = 'active'"""
        ).fetchall()
        rows, labels = (np.array([pair[side] for pair in pairs], dtype=np.int64) for side in (0, 1))
        documents, width = after.predicted.shape
        both = np.flatnonzero(before.measured & after.measured)
        facts = {
            "documents": len(both),
            **_changed_since(database, known.get("trained_seen")),
            "before": known["scores"],
        }
        true = _matrix(rows - 1, labels, documents, width - 1)
        return cls(true[both], before.predicted[both], after.predicted[both], facts)

    def measured(self, seed: int) -> dict[str, Any]:
        """The facts with the metrics before and after; these are None where no document was measured both times."""
        if not self.facts["documents"]:
            return {**self.facts, "micro_f1": None, "macro_f1": None}
        return {**self.facts, **measure_gain(self.Y_true, self.before, self.after, seed)}


def _changed_since(database: sqlite3.Connection, trained: int | None) -> dict[str, Any]:
    """How many documents are reviewed, and labels of documents changed, that were not at the last training (an event).

    Without a training: that were not when the corpus was made. What was confirmed or taken back is no change.
    """
    seen = database.execute("SELECT COALESCE(?, MIN(number)) FROM events", (trained,)).fetchone()[0]
    first = """c.event > ?1 AND c.event = (SELECT MIN(event) FROM changes AS f
        WHERE f.document = c.document AND f.label = c.label AND f.event > ?1)"""
    reviewed = f"""SELECT COUNT(*) FROM changes AS c JOIN documents AS d ON d.number = c.document
        WHERE c.label = 0 AND c.was <> 'reviewed' AND d.reviewed AND {first}"""
    labels = f"""SELECT COUNT(*) FROM changes AS c JOIN labels AS l ON l.number = c.label AND l.state = 'active'
        LEFT JOIN assignments AS a ON a.label = c.label AND a.document = c.document
        WHERE (COALESCE(c.was, 'rejected') = 'rejected') <> (COALESCE(a.state, 'rejected') = 'rejected') AND {first}"""
    return {
        "reviewed": database.execute(reviewed, (seen,)).fetchone()[0],
        "changed_labels": database.execute(labels, (seen,)).fetchone()[0],
        "since_training": trained is not None,
    }

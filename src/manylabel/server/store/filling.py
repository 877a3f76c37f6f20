"""What goes into a corpus under review and comes out: import, scores, suggestions, corrected copies, decisions."""

from __future__ import annotations

import json
import math
import shutil
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from manylabel.exceptions import DataError, ParameterError, UnknownNameError
from manylabel.progress import stage
from manylabel.server.jobs.store import BUILT_IN, JobStore
from manylabel.server.store.bodies import Decision, checked
from manylabel.server.store.concepts import keep_concepts
from manylabel.server.store.decisions import measure_margins, new_event, recount
from manylabel.server.store.files import CorpusFile, CorpusFiles, about, original_source
from manylabel.server.store.filters import label_number
from manylabel.server.store.thresholds import DOCUMENTS, SCORES
from manylabel.tasks.corpora import Corrected, Source
from manylabel.tasks.reviewing import (
    PlainCorpus,
    ReviewScores,
    is_counts,
    read_plain,
    write_corrected,
    written_formats,
)
from manylabel.tasks.serving import train_demo
from manylabel.tasks.suggest import Chosen

BEGINNING = 300
"""Characters of a document that lists show."""
BATCH = 1_000
LEAST_SUGGESTED = 0.5
"""Labels of documents to label next are suggested from this probability on."""
SERVER = "manylabel"
"""The user that imports and scores."""
DEMO_JOBS: tuple[dict[str, Any], ...] = (
    {"kind": "score", "corpus": BUILT_IN},
    {"kind": "audit", "corpus": BUILT_IN},
    {"kind": "suggest", "corpus": BUILT_IN},
    {"kind": "labels", "corpus": BUILT_IN, "model": BUILT_IN},
    {"kind": "compare", "corpus": BUILT_IN, "methods": ["nb-binary", "rocchio", "svm"], "model": "townhall-compared"},
)
"""Jobs that fill every view of the workbench, in half a minute in all, in the order in which they need each other."""


def import_corpus(
    files: CorpusFiles,
    name: str,
    data: str,
    options: Mapping[str, Any],
    vocabulary: str | None = None,
    label_language: str | None = None,
    no_label_applies: bool = False,
) -> dict[str, Any]:
    """Make a corpus of some data, which are copied beside it; return how much it holds.

    Labels are named by the vocabulary that is given or lies beside the data, as in training; it is copied, too. If
    `no_label_applies`, documents without a label have that state; otherwise they are not reviewed.
    """
    with files.new(name) as folder:
        is_built_in = data == BUILT_IN
        kept = data if is_built_in else "original" + "".join(Path(data).suffixes)
        if not is_built_in:
            shutil.copyfile(data, folder / kept)
        source = Source(data, options=dict(options), vocabulary=vocabulary, label_language=label_language)
        plain = read_plain(source)
        names = "vocabulary" + "".join(Path(plain.vocabulary).suffixes) if plain.vocabulary else None
        if names is not None:
            shutil.copyfile(plain.vocabulary, folder / names)
        made = CorpusFile(folder)
        made.create(
            {
                "name": name,
                "data": kept,
                "is_built_in": is_built_in,
                "options": dict(options),
                "vocabulary": names,
                "label_language": None if names is None else plain.label_language,
                "addresses": plain.addresses,
                "format": plain.format,
                "is_counts": is_counts(plain.format),
            }
        )
        keep_concepts(folder, plain.concepts)
        with made.writing() as database:
            fill(database, plain, no_label_applies)
    return {
        "corpus": name,
        "documents": len(plain.ids),
        "labels": len(plain.label_names),
        "fields": list(plain.fields),
        "format": plain.format,
        "html_removed": plain.html_removed,
        "vocabulary": Path(plain.vocabulary).name or None,
        "skipped": plain.skipped[:100],
    }


def fill(database: sqlite3.Connection, plain: PlainCorpus, no_label_applies: bool = False) -> None:
    """Put documents and their labels into an empty corpus; to those without a label none applies, or none is known."""
    event = new_event(database, SERVER, "import", {"documents": len(plain.ids)})
    database.executemany(
        "INSERT INTO labels (number, name, state, imported_name) VALUES (?1, ?2, 'active', ?2)",
        enumerate(plain.label_names, start=1),
    )
    number_of = {label: number for number, label in enumerate(plain.label_names, start=1)}
    names = list(plain.fields)
    with stage("Indexing documents", len(plain.ids)) as advance:
        for start in range(0, len(plain.ids), BATCH):
            rows = range(start, min(start + BATCH, len(plain.ids)))
            database.executemany(
                "INSERT INTO documents (number, id, split, event, true_labels) VALUES (?, ?, ?, ?, ?)",
                [(row + 1, plain.ids[row], plain.splits[row], event, len(plain.labels[row])) for row in rows],
            )
            texts = [[_storable(plain.fields[name][row]) for name in names] for row in rows]
            database.executemany(
                "INSERT INTO texts VALUES (?, ?, ?)",
                [
                    (row + 1, " · ".join(filter(None, one))[:BEGINNING], json.dumps(dict(zip(names, one, strict=True))))
                    for row, one in zip(rows, texts, strict=True)
                ],
            )
            database.executemany(
                "INSERT INTO search (rowid, text) VALUES (?, ?)",
                [(row + 1, "\n".join(one)) for row, one in zip(rows, texts, strict=True)],
            )
            database.executemany(
                "INSERT INTO assignments VALUES (?, ?, 'imported', ?)",
                [(number_of[label], row + 1, event) for row in rows for label in plain.labels[row]],
            )
            advance(len(rows))
    if no_label_applies:
        database.execute("UPDATE documents SET reviewed = 1 WHERE true_labels = 0")
    database.execute("ANALYZE")


def _storable(text: str) -> str:
    """A text without lone surrogates, which have no UTF-8."""
    return text.encode("utf-8", "replace").decode()


# ---- scores and suggestions ------------------------------------------------------------------------------------------


def keep_scores(database: sqlite3.Connection, found: ReviewScores, seen: int | None = None) -> int:
    """Replace the scores and thresholds of a corpus; return the event. Labels that it does not have are left out.

    `seen` is the latest event whose labels the scores were made with.
    """
    known = {row["name"]: row["number"] for row in database.execute("SELECT * FROM labels WHERE state = 'active'")}
    numbers = np.array([known.get(label, 0) for label in found.labels], dtype=np.int64)
    event = new_event(database, SERVER, "scores", {"how": found.how})
    for table in ("scores", "columns"):
        database.execute(f"DELETE FROM {table}")
    database.execute("UPDATE labels SET threshold = NULL, exact_from = NULL")
    database.executemany(
        "UPDATE labels SET threshold = ?, exact_from = ? WHERE number = ?",
        [
            (_finite(threshold), _finite(exact), number)
            for threshold, exact, number in zip(found.thresholds, found.exact_from, numbers.tolist(), strict=True)
        ],
    )
    labels = numbers[found.columns]
    order = np.lexsort((labels, found.rows))
    order = order[labels[order] > 0]
    database.executemany(
        "INSERT INTO scores VALUES (?, ?, ?)",
        zip((found.rows[order] + 1).tolist(), labels[order].tolist(), found.values[order].tolist(), strict=True),
    )
    database.executemany("INSERT INTO columns VALUES (?, ?, ?)", _columns(found, labels))
    database.execute("UPDATE documents SET measured = 0")
    measured = json.dumps((found.measured + 1).tolist())
    database.execute("UPDATE documents SET measured = 1 WHERE number IN (SELECT value FROM json_each(?))", (measured,))
    recount(database, "SELECT number FROM documents")
    measure_margins(database)
    latest = event if seen is None else seen
    facts = [("scores", json.dumps(found.how)), ("scores_event", str(event))]
    facts.append(("scores_are_probabilities", json.dumps(found.are_probabilities)))
    facts += [] if found.trained is None else [("trained_seen", str(latest))]
    database.executemany("INSERT OR REPLACE INTO about VALUES (?, ?)", facts)
    database.execute("ANALYZE")
    return event


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def _columns(found: ReviewScores, labels: Any) -> Iterator[tuple[int, bytes, bytes]]:
    """By label, its documents and scores as arrays, the highest score first."""
    order = np.lexsort((found.rows, -found.values, labels))
    order = order[labels[order] > 0]
    bounds = np.flatnonzero(np.diff(labels[order], prepend=-1))
    for start, stop in zip(bounds, [*bounds[1:], len(order)], strict=False):  # no label is known: no bound either
        places = order[start:stop]
        documents = (found.rows[places] + 1).astype(DOCUMENTS)
        yield int(labels[places[0]]), documents.tobytes(), found.values[places].astype(SCORES).tobytes()


def keep_suggestions(database: sqlite3.Connection, doubted: Sequence[Mapping[str, Any]]) -> int:
    """Replace the suggestions of an audit; decided labels get none. Return their number."""
    database.execute("DELETE FROM suggestions WHERE source = 'audit'")
    database.executemany(
        """INSERT OR REPLACE INTO suggestions SELECT d.number, l.number, ?3, ?4, 'audit' FROM documents AS d
        JOIN labels AS l ON l.name = ?2 AND l.state = 'active' WHERE d.id = ?1 AND NOT EXISTS (SELECT 1 FROM
        assignments AS a WHERE a.label = l.number AND a.document = d.number AND a.state <> 'imported')""",
        [(one["document"], one["label"], one["action"], one["probability"]) for one in doubted],
    )
    return int(database.execute("SELECT COUNT(*) FROM suggestions WHERE source = 'audit'").fetchone()[0])


def keep_queue(database: sqlite3.Connection, chosen: Sequence[Chosen]) -> None:
    """Replace the queue of documents to label next, and the labels suggested for them."""
    database.execute("UPDATE documents SET queue_place = NULL WHERE queue_place IS NOT NULL")
    database.execute("DELETE FROM suggestions WHERE source = 'suggest'")
    database.executemany(
        "UPDATE documents SET queue_place = ? WHERE number = ?",
        [(place, one.row + 1) for place, one in enumerate(chosen, start=1)],
    )
    database.executemany(
        """INSERT OR IGNORE INTO suggestions SELECT ?1, number, 'add', ?3, 'suggest' FROM labels
        WHERE name = ?2 AND state = 'active'""",
        [(one.row + 1, label, p) for one in chosen for label, p in one.labels if p >= LEAST_SUGGESTED],
    )


def read_decisions(database: sqlite3.Connection, path: Path) -> list[dict[str, Any]]:
    """The decisions of a file of JSON lines, as `decide` takes them; errors name the line.

    A line has the form of the API, with the id or the number of a document, or that of ``manylabel audit --apply``. One
    without a revision is about the document as it is now.
    """
    found = []
    for number, line in enumerate(path.read_bytes().split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            found.append(_decision(database, json.loads(line.decode("utf-8-sig"))))
        except (ValueError, RecursionError, OverflowError) as error:
            problem = f"This is not JSON: {error}." if isinstance(error, json.JSONDecodeError) else str(error)
            raise DataError(problem, path=path, line=number) from None
    if not found:
        raise DataError("There is no decision.", path=path, remedy="Write one JSON object per line.")
    return found


def _decision(database: sqlite3.Connection, given: Any) -> dict[str, Any]:
    if not isinstance(given, dict) or not isinstance(given.get("document"), (int, str)):
        raise ParameterError("A decision is a JSON object with a document, which is a number or an id.")
    column = "id" if isinstance(given["document"], str) else "number"
    rows = database.execute(
        f"SELECT number, revision FROM documents WHERE {column} = ?", (given["document"],)
    ).fetchall()
    if len(rows) != 1:
        several = f"{len(rows)} documents have the id" if rows else "There is no document"
        raise ParameterError(f"{several} {given['document']!r:.200}. Name a document by its number or its own id.")
    made = {"revision": rows[0]["revision"], **given, "document": rows[0]["number"]}
    if "action" in given:
        way = {"add": "accept", "remove": "reject"}.get(given["action"], str(given["action"]))
        made = {"document": made["document"], "revision": made["revision"], way: [given.get("label")]}
    decision = checked(Decision, made)
    for label in [*decision.accept, *decision.reject, *decision.clear]:
        label_number(database, label)  # an error that names the line
    return decision.model_dump()


# ---- what comes out --------------------------------------------------------------------------------------------------


def true_labels(database: sqlite3.Connection) -> tuple[list[list[str]], list[str]]:
    """The true labels of every document, in the order of the data, and the names of all labels."""
    names = {row["number"]: row["name"] for row in database.execute("SELECT * FROM labels WHERE state = 'active'")}
    sets: list[list[str]] = [[] for _ in range(database.execute("SELECT COUNT(*) FROM documents").fetchone()[0])]
    for row in database.execute("SELECT label, document FROM assignments WHERE state <> 'rejected'"):
        if row["label"] in names:
            sets[row["document"] - 1].append(names[row["label"]])
    return [sorted(one) for one in sets], list(names.values())


def write_copy(corpus: CorpusFile, folder: Path, format: str | None) -> Path:
    """Write the corrected corpus into an empty folder, documents in the same order; return the path to read it from.

    Without a format, JSON lines, which hold every text and label unchanged; counts stay in their own format.
    """
    with corpus.reading() as database:
        known = about(database)
        sets, names = true_labels(database)
        renamed = _first_names(database)
    formats = written_formats(known["format"])
    chosen = format or (known["format"] if known["is_counts"] else "jsonl")
    if chosen not in formats:
        raise UnknownNameError("format to write", chosen, formats)
    target = folder / f"{known['name']}{formats[chosen]}"
    write_corrected(original_source(corpus, known), sets, names, target, chosen, renamed)
    return target


def _first_names(database: sqlite3.Connection) -> dict[str, str]:
    """By the name of each active label that was renamed, the one it was imported or added with."""
    rows = database.execute(
        """SELECT name, COALESCE(imported_name, (SELECT c.was_name FROM label_changes AS c WHERE c.label = labels.number
        AND c.was_name IS NOT NULL ORDER BY c.event LIMIT 1)) AS first FROM labels WHERE state = 'active'"""
    )
    return {row["name"]: row["first"] for row in rows if row["first"] not in (None, row["name"])}


def corrected_source(corpus: CorpusFile) -> Source:
    """The data that a corpus was made from, read in the same way, with its corrected labels: what jobs learn from."""
    with corpus.reading() as database:
        known = about(database)
        sets, _ = true_labels(database)
    return replace(original_source(corpus, known), corrected=Corrected(known["name"], sets))


def export(corpus: CorpusFile, folder: Path, format: str | None) -> Path:
    """The corrected corpus as one file in an empty folder: a zip archive where a format needs several."""
    files = folder / "files"
    files.mkdir()
    target = write_copy(corpus, files, format)
    if target.is_file() and len(list(files.iterdir())) == 1:
        return target
    return Path(shutil.make_archive(str(folder / target.stem), "zip", files))


def decision_records(database: sqlite3.Connection) -> Iterator[dict[str, Any]]:
    """How the labels differ from the imported ones, as the decisions that ``manylabel audit --apply`` reads.

    Labels that no document had are marked as new.
    """
    before, after = _imported(database), _current(database)
    imported = {label for _, label in before}
    ids = {row["number"]: row["id"] for row in database.execute("SELECT number, id FROM documents")}
    for pair in sorted(before.keys() ^ after.keys()):
        by, at = _last_event(database, *(after.get(pair) or before[pair]))
        when = datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")
        action = "add" if pair in after else "remove"
        record = {"document": ids[pair[0]], "label": pair[1], "action": action}
        record |= {} if pair[1] in imported else {"new": True}
        yield record | {"by": by, "when": when, "model": "review"}


def _imported(database: sqlite3.Connection) -> dict[tuple[int, str], tuple[int, int]]:
    """The documents and names of labels as they were imported, with document and number of the label."""
    rows = database.execute(
        """SELECT a.document, a.label, l.imported_name AS name FROM assignments AS a JOIN labels AS l ON
            l.number = a.label WHERE a.state = 'imported' AND l.imported_name IS NOT NULL AND NOT EXISTS
            (SELECT 1 FROM changes AS c WHERE c.document = a.document AND c.label = a.label)
        UNION SELECT c.document, c.label, l.imported_name FROM changes AS c JOIN labels AS l ON l.number = c.label
        WHERE c.was = 'imported' AND c.event = (SELECT MIN(event) FROM changes AS f WHERE f.document = c.document
            AND f.label = c.label)"""
    )
    return {(row["document"], row["name"]): (row["document"], row["label"]) for row in rows}


def _current(database: sqlite3.Connection) -> dict[tuple[int, str], tuple[int, int]]:
    rows = database.execute(
        """SELECT a.document, a.label, l.name FROM assignments AS a JOIN labels AS l ON l.number = a.label
        WHERE a.state <> 'rejected' AND l.state = 'active'"""
    )
    return {(row["document"], row["name"]): (row["document"], row["label"]) for row in rows}


def _last_event(database: sqlite3.Connection, document: int, label: int) -> tuple[str, float]:
    """Who changed a label of a document last, and when; or who changed the label itself."""
    row = database.execute(
        """SELECT by, at FROM events WHERE number = COALESCE(
            (SELECT MAX(event) FROM changes WHERE document = ?1 AND label = ?2),
            (SELECT MAX(event) FROM label_changes WHERE label = ?2))""",
        (document, label),
    ).fetchone()
    return row["by"], row["at"]


def prepare_demo(data: Path) -> Path:
    """Put the model, corpus and jobs of the demonstration into a data directory, once; return the model file."""
    store = JobStore(data)
    store.prepare()
    model, corpora = store.model_path(BUILT_IN), CorpusFiles(data)
    if not model.exists():
        train_demo(model)
    if not store.list(None, 1, kind="score", corpus=BUILT_IN) and BUILT_IN not in corpora.names():
        import_corpus(corpora, BUILT_IN, BUILT_IN, {})
        for job in DEMO_JOBS:
            store.add(job["kind"], job, len(DEMO_JOBS))
    return model

"""A small corpus under review for tests: six documents, three labels, scores by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from manylabel.server.store import decisions, documents, filling
from manylabel.server.store.files import CorpusFile, CorpusFiles
from manylabel.server.store.filters import Filter
from manylabel.tasks.reviewing import ReviewScores

ROWS = [
    ("a", "The bus was late at the café", "buses", "train"),
    ("b", "A hole in the road", "roads", "train"),
    ("c", "The bus fell into a hole", "buses;roads", "test"),
    ("d", "The lamp is dark", "lamps", "test"),
    ("e", "Nothing to see here", "", "test"),
    ("f", "Road and bus and lamp", "roads", "test"),
]
BUSES, ROADS, LAMPS = range(3)
SCORES = [  # row, column, score
    (0, BUSES, 0.9), (1, ROADS, 0.8), (2, BUSES, 0.7), (2, ROADS, 0.4), (3, LAMPS, 0.2), (4, BUSES, 0.6),
    (5, ROADS, 0.5), (5, BUSES, 0.55), (5, LAMPS, 0.1),
]  # fmt: skip


def write_data(path: Path) -> Path:
    path.write_text("id,text,labels,split\n" + "".join(f"{','.join(row)}\n" for row in ROWS), encoding="utf-8")
    return path


def scores_of(rows: list[tuple[int, int, float]], **changed: Any) -> ReviewScores:
    row, column, value = (np.array(values) for values in zip(*rows, strict=True))
    made: dict[str, Any] = {
        "labels": ["buses", "roads", "lamps"],
        "thresholds": [0.5, 0.5, 0.5],
        "exact_from": [0.05] * 3,
    }
    made |= {"measured": np.arange(6), "rows": row, "columns": column, "values": value, "how": "by hand"}
    return ReviewScores(**{**made, **changed})


def make_corpus(folder: Path) -> CorpusFile:
    """The corpus in a folder, with scores."""
    files = CorpusFiles(folder)
    filling.import_corpus(files, "letters", str(write_data(folder / "letters.csv")), {})
    corpus = files.get("letters")
    with corpus.writing() as database:
        filling.keep_scores(database, scores_of(SCORES))
    return corpus


def ids(corpus: CorpusFile, order: Any = "id", label: str | None = None, descending: bool = False, **asked: Any) -> str:
    with corpus.reading() as database:
        wanted = Filter(**asked)
        found, _ = documents.page(database, wanted, order, label, descending=descending)
        assert documents.count(database, wanted) == len(found)
        return "".join(one["id"] for one in found)


def decision(document: int, revision: int = 1, **given: object) -> dict[str, object]:
    return {"document": document, "revision": revision, "accept": [], "reject": [], "clear": [], "state": None, **given}


def decide(corpus: CorpusFile, by: str, *given: dict[str, object]) -> tuple[int, list[int]]:
    with corpus.writing() as database:
        return decisions.decide(database, by, given)


def undo(corpus: CorpusFile, by: str, event: int | None = None) -> tuple[int, int]:
    with corpus.writing() as database:
        return decisions.undo(database, by, event)


def shown(corpus: CorpusFile, number: int) -> dict[str, Any]:
    with corpus.reading() as database:
        return documents.documents(database, [number], whole=True)[0]


def states(corpus: CorpusFile, number: int) -> dict[str, object]:
    return {one["label"]: one["state"] for one in shown(corpus, number)["labels"]}


def relation(label: str, relation: str | None = None, **range_: float) -> dict[str, object]:
    return {"labels": [{"label": label, "relation": relation, **range_}]}

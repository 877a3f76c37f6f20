"""Figures of a corpus under review: confusions, and labels with their metrics."""

from pathlib import Path

import pytest

from manylabel.exceptions import UnknownNameError
from manylabel.server.store import figures, filling
from manylabel.server.store.files import CorpusFile
from reviewed import SCORES, decide, decision, ids, make_corpus, scores_of

MISSED_ROADS = [
    {"missed": "roads", "wrong": "lamps", "documents": 2},
    {"missed": "roads", "wrong": "buses", "documents": 1},
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> CorpusFile:
    """A corpus in which two documents miss roads and get lamps, one of them buses too."""
    corpus = make_corpus(tmp_path_factory.mktemp("data"))
    changed = [*[one for one in SCORES if one[:2] not in ((5, 1), (5, 2))], (1, 2, 0.9), (5, 1, 0.3), (5, 2, 0.6)]
    changed = [(row, column, 0.1 if (row, column) == (1, 1) else score) for row, column, score in changed]
    with corpus.writing() as database:
        filling.keep_scores(database, scores_of(changed))
    return corpus


def test_confusions_are_pairs_of_a_missed_and_a_wrong_label(made: CorpusFile) -> None:
    with made.reading() as database:
        found = figures.confusions(database, "", None, 10)
        assert (found["documents"], found["total"], found["pairs"]) == (2, 2, MISSED_ROADS)
        assert figures.confusions(database, "", None, 1)["pairs"] == MISSED_ROADS[:1]
        assert figures.confusions(database, "BUS", None, 10)["pairs"] == MISSED_ROADS[1:]
        assert figures.confusions(database, "", "lamps", 10)["pairs"] == MISSED_ROADS[:1]
        assert figures.confusions(database, "bus", "lamps", 10)["total"] == 0
        with pytest.raises(UnknownNameError):
            figures.confusions(database, "", "lamp", 10)
    opened = [{"label": "roads", "relation": "false negative"}, {"label": "lamps", "relation": "false positive"}]
    assert ids(made, labels=opened) == "bf"


def test_a_decision_ends_a_confusion(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path)
    with corpus.writing() as database:
        assert figures.confusions(database, "", None, 10) == {"documents": 0, "total": 0, "pairs": []}
    decide(corpus, "Ana", decision(6, accept=["lamps"]))  # lamps is missed there, and buses is wrong
    with corpus.reading() as database:
        assert figures.confusions(database, "", None, 10)["pairs"] == [
            {"missed": "lamps", "wrong": "buses", "documents": 1}
        ]
    decide(corpus, "Ana", decision(6, revision=2, accept=["buses"]))
    with corpus.reading() as database:
        assert figures.confusions(database, "", None, 10)["total"] == 0


def test_scores_of_other_labels_are_left_out(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path)
    with corpus.writing() as database:
        filling.keep_scores(database, scores_of(SCORES, labels=["x", "y", "z"]))
        assert figures.confusions(database, "", None, 10) == {"documents": 0, "total": 0, "pairs": []}

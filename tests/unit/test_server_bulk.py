"""Suggestions of an audit: their order, how all of a filter are taken at once, and what undo leaves of them."""

import shutil
from pathlib import Path

import pytest

from manylabel.server.problems import RequestError
from manylabel.server.store import bulk, filling
from manylabel.server.store.files import CorpusFile
from manylabel.server.store.filters import Filter
from reviewed import decide, decision, ids, make_corpus, relation, states, undo

SUGGESTED = [
    {"document": "a", "label": "roads", "action": "add", "probability": 0.7},
    {"document": "b", "label": "roads", "action": "remove", "probability": 0.9},
    {"document": "e", "label": "lamps", "action": "add", "probability": 0.8},
    {"document": "e", "label": "buses", "action": "add", "probability": 0.6},
]
TAKE = {"do": "take suggestions", "label": None, "state": None, "most": None}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> CorpusFile:
    corpus = make_corpus(tmp_path_factory.mktemp("data"))
    with corpus.writing() as database:
        assert filling.keep_suggestions(database, SUGGESTED) == 4
    return corpus


@pytest.fixture
def corpus(made: CorpusFile, tmp_path: Path) -> CorpusFile:
    return CorpusFile(shutil.copytree(made.folder, tmp_path / "letters"))


def preview(corpus: CorpusFile, wanted: Filter, **changed: object) -> tuple[list[tuple[str, str, str]], str]:
    """The suggestions of a preview, and its revision."""
    with corpus.reading() as database:
        found = bulk.preview(database, wanted, {**TAKE, **changed})
    assert found["changes"] == len(found["suggestions"])
    assert {one["id"] for one in found["sample"]} == {one["id"] for one in found["suggestions"]}
    return [(one["id"], one["label"], one["action"]) for one in found["suggestions"]], found["revision"]


def test_documents_are_ordered_by_their_most_probable_suggestion(made: CorpusFile) -> None:
    assert ids(made, "suggestion", descending=True) == "beacdf"
    assert ids(made, "suggestion", "buses", descending=True, any_label="suggested") == "eab"
    assert ids(made, any_label="suggested") == "abe"


def test_the_most_probable_suggestions_are_taken(corpus: CorpusFile) -> None:
    before = [states(corpus, number) for number in range(1, 7)]
    shown, revision = preview(corpus, Filter(), most=3)
    assert shown == [("b", "roads", "remove"), ("e", "lamps", "add"), ("a", "roads", "add")]
    with corpus.writing() as database:
        assert bulk.apply_to_all(database, "Ana", Filter(), {**TAKE, "most": 3}, revision)[1] == 3
    assert (ids(corpus, **relation("roads", "true")), ids(corpus, **relation("lamps", "true"))) == ("acf", "de")
    assert states(corpus, 2)["roads"] == "rejected"
    assert ids(corpus, any_label="suggested") == "e"  # that for buses is open
    with corpus.writing() as database, pytest.raises(RequestError, match="Ask for the preview again"):
        bulk.apply_to_all(database, "Ana", Filter(), {**TAKE, "most": 3}, revision)
    undo(corpus, "Ana")
    assert [states(corpus, number) for number in range(1, 7)] == before
    assert ids(corpus, any_label="suggested") == "abe"  # what was taken back waits again


def test_filter_and_label_choose_the_suggestions(corpus: CorpusFile) -> None:
    assert preview(corpus, Filter(split="train"))[0] == [("b", "roads", "remove"), ("a", "roads", "add")]
    assert preview(corpus, Filter(), label="buses")[0] == [("e", "buses", "add")]
    decide(corpus, "Ben", decision(5, reject=["buses"]))
    assert preview(corpus, Filter(), label="buses")[0] == []


def test_another_audit_since_the_preview_is_a_conflict(corpus: CorpusFile) -> None:
    _, revision = preview(corpus, Filter())
    with corpus.writing() as database:
        filling.keep_suggestions(database, SUGGESTED[:2])
        with pytest.raises(RequestError, match="Ask for the preview again"):
            bulk.apply_to_all(database, "Ana", Filter(), TAKE, revision)

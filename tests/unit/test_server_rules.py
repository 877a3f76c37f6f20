"""Keyword rules of a corpus under review: what they match, and who saved them."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from manylabel.exceptions import DataError, ParameterError
from manylabel.features.keywords import KeywordMatcher
from manylabel.server.problems import RequestError
from manylabel.server.store import documents, filling, matches, rules
from manylabel.server.store.files import CorpusFile, CorpusFiles
from manylabel.server.store.filters import Filter
from manylabel.tasks.rule_study import OneQuery
from reviewed import ROWS, decide, decision, ids, make_corpus, relation, undo


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> CorpusFile:
    return make_corpus(tmp_path_factory.mktemp("data"))


@pytest.fixture
def corpus(made: CorpusFile, tmp_path: Path) -> CorpusFile:
    return CorpusFile(shutil.copytree(made.folder, tmp_path / "letters"))


def study(corpus: CorpusFile, text: str, **given: Any) -> dict[str, Any]:
    with corpus.reading() as database:
        return rules.study(database, text, **given)


def test_each_line_has_its_figures_and_the_lines_of_a_label_are_alternatives(made: CorpusFile) -> None:
    found = study(made, "# first\nroads: road\nroads: hole NOT bus\nbuses: bus*")
    assert (found["documents"], found["read"], found["problems"]) == (6, 6, [])
    keys = ("line", "label", "query", "documents", "true", "precision", "recall")
    assert [tuple(one[key] for key in keys) for one in found["rules"]] == [
        (2, "roads", "road", 2, 2, 1.0, 2 / 3),
        (3, "roads", "hole AND NOT bus", 1, 1, 1.0, 1 / 3),
        (4, "buses", "bus*", 3, 2, 2 / 3, 1.0),
    ]
    assert [(one["label"], one["lines"], one["documents"], one["label_documents"]) for one in found["labels"]] == [
        ("roads", 2, 2, 3),
        ("buses", 1, 3, 2),
    ]
    low, high = found["rules"][2]["interval"]
    assert 0 < low < 2 / 3 < high < 1


def test_the_numbers_open_their_documents(made: CorpusFile) -> None:
    [rule] = study(made, "roads: road OR nothing")["rules"]
    assert (rule["documents"], rule["true"], rule["unlabelled"], rule["precision"]) == (3, 2, 1, 1.0)
    assert ids(made, rule=rule["query"]) == "bef"
    assert ids(made, rule=rule["query"], **relation("roads", "true")) == "bf"
    assert ids(made, rule=rule["query"], any_label="no true label", state="not reviewed") == "e"
    assert ids(made, rule=f"NOT ({rule['query']})", **relation("roads", "true")) == "c"  # what the rule misses


def test_a_document_to_which_no_label_applies_counts_against_a_rule(corpus: CorpusFile) -> None:
    decide(corpus, "Ana", decision(5, state="no label applies"))
    [rule] = study(corpus, "roads: nothing")["rules"]
    assert (rule["unlabelled"], rule["precision"]) == (0, 0.0)


def test_mistakes_are_told_by_line_and_the_other_lines_studied(made: CorpusFile) -> None:
    found = study(made, "buses: bus\nroads\nroads: road OR\nlamps: a\nlamp: lamp")
    assert [one["line"] for one in found["rules"]] == [1, 5]
    problems = {one["line"]: one["problem"] for one in found["problems"]}
    assert list(problems) == [2, 3, 4, 5]
    assert "A colon was expected" in problems[2]
    assert "ends at column 15" in problems[3]
    assert "would never be found" in problems[4]
    assert problems[5] == "There is no label 'lamp'. Did you mean 'lamps'?"
    assert study(made, "")["rules"] == []


@pytest.mark.parametrize("query", ["bus", "bus AND NOT late", '"a hole"', "ro* lamp", "NOT the", "café", "cafe"])
def test_a_filter_finds_what_the_keyword_rule_of_a_model_matches(made: CorpusFile, query: str) -> None:
    found = KeywordMatcher(f"x: {query}").fit(["x"]).transform([row[1] for row in ROWS]).toarray()[:, 0]
    assert ids(made, rule=query) == "".join(row[0] for row, holds in zip(ROWS, found, strict=True) if holds)


def test_texts_are_split_as_the_method_rules_splits_them() -> None:
    page = ["<p class='road'>late bus</p>", "<p>a road</p>", "<div>road</div>"]
    assert OneQuery("road", page).places(page).tolist() == [1, 2]  # HTML is removed
    chinese = ["公交车又晚点了", "路灯坏了"]
    assert OneQuery("晚点", chinese).places(chinese).tolist() == [0]


def test_counts_have_no_texts_to_match(corpus: CorpusFile) -> None:
    with corpus.writing() as database:
        database.execute("UPDATE about SET value = 'true' WHERE key = 'is_counts'")
    with pytest.raises(ParameterError, match="came as counts"):
        study(corpus, "buses: bus")


def test_wrong_queries_are_refused(made: CorpusFile) -> None:
    for query in ("bus OR", "(bus", "a", "!"):
        with pytest.raises(DataError):
            ids(made, rule=query)


def test_what_was_found_is_kept_until_a_corpus_is_imported_anew(
    corpus: CorpusFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matches, "MOST_KEPT", 2)
    for query in ("bus", "road", "lamp"):
        ids(corpus, rule=query)
    assert [key[2] for key in matches._KEPT] == ["road", "lamp"]
    shutil.rmtree(corpus.folder)
    (tmp_path / "new.csv").write_text("id,text,labels\nx,road,roads\ny,lamp,lamps\n")
    made = filling.import_corpus(CorpusFiles(tmp_path), "letters", str(tmp_path / "new.csv"), {})
    assert made["documents"] == 2
    (tmp_path / "corpora" / "letters").rename(corpus.folder)
    assert ids(corpus, rule="lamp") == "y"


def test_time_is_bounded(made: CorpusFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matches, "BLOCK", 2)
    monkeypatch.setattr(matches, "CHARACTERS", 1)
    found = study(made, "buses: bus", seconds=-1)
    assert (found["documents"], found["read"]) == (6, 2)
    assert study(made, "buses: bus")["rules"][0]["documents"] == 3
    monkeypatch.setattr(matches, "SECONDS", -1)
    with made.reading() as database, pytest.raises(RequestError, match="too large"):
        documents.count(database, Filter(rule="the bus"))


def test_rules_are_saved_with_a_revision_and_undone(corpus: CorpusFile) -> None:
    with corpus.writing() as database:
        assert rules.saved(database) == {"rules": "", "revision": 0, "by": None, "at": None}
        first = rules.save(database, "Ana", "buses: bus", 0)
        with pytest.raises(RequestError, match="changed by 'Ana'"):
            rules.save(database, "Ben", "buses: tram", 0)
        second = rules.save(database, "Ben", "buses: tram", first)
    with pytest.raises(RequestError, match="saved again by 'Ben'"):
        undo(corpus, "Ana", first)
    assert undo(corpus, "Ben")[1] == second
    with corpus.reading() as database:
        assert (rules.saved(database)["rules"], rules.saved(database)["revision"]) == ("buses: bus", first)
    undo(corpus, "Ana", first)
    with corpus.reading() as database:
        assert rules.saved(database)["revision"] == 0

"""Corpora under review: filters, decisions, undo, labels, thresholds, export, and what others may do meanwhile."""

import json
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from manylabel.data import read
from manylabel.decisions.threshold_figures import ThresholdFigures
from manylabel.estimator import Csr
from manylabel.exceptions import ManylabelError, ParameterError, UnknownNameError
from manylabel.models.score_kinds import ScoreKind
from manylabel.server.problems import RequestError
from manylabel.server.store import bulk, documents, filling, labels, thresholds
from manylabel.server.store.files import VERSION, CorpusFile, CorpusFiles
from manylabel.server.store.filters import Filter, search_terms
from manylabel.tasks.corpora import Source
from manylabel.tasks.corrections import apply_decisions
from reviewed import (
    ROWS,
    SCORES,
    decide,
    decision,
    ids,
    make_corpus,
    relation,
    scores_of,
    shown,
    states,
    undo,
    write_data,
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> CorpusFile:
    """A corpus with scores; tests that change it take a copy (`corpus`)."""
    return make_corpus(tmp_path_factory.mktemp("data"))


@pytest.fixture
def files(tmp_path: Path) -> CorpusFiles:
    return CorpusFiles(tmp_path)


@pytest.fixture
def corpus(made: CorpusFile, files: CorpusFiles, tmp_path: Path) -> CorpusFile:
    shutil.copytree(made.folder, files.folder / "letters")
    write_data(tmp_path / "letters.csv")
    return files.get("letters")


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({}, "abcdef"),
        ({"split": "train"}, "ab"),
        ({"text": "bus"}, "acf"),
        ({"text": "CAFE"}, "a"),
        ({"text": '"a hole"'}, "bc"),
        ({"text": "hol*"}, "bc"),
        ({"text": "bus -late"}, "cf"),
        ({"text": "-bus"}, "bde"),
        ({"text": "bus", "split": "test"}, "cf"),
        ({"any_label": "no true label"}, "e"),
        ({"any_label": "disagreement"}, "cdef"),
        ({"any_label": "false positive"}, "ef"),
        ({"any_label": "false negative"}, "cd"),
        ({"state": "not reviewed"}, "abcdef"),
        ({"state": "reviewed"}, ""),
        (relation("buses", "true"), "ac"),
        (relation("buses", "not true"), "bdef"),
        (relation("buses", "predicted"), "acef"),
        (relation("buses", "not predicted"), "bd"),
        (relation("buses", "true positive"), "ac"),
        (relation("buses", "false positive"), "ef"),
        ({"labels": [{"label": "buses", "relation": "false positive", "threshold": 0.58}]}, "e"),
        ({"labels": [{"label": "buses", "relation": "false negative", "threshold": 0.8}]}, "c"),
        (relation("roads", "false negative"), "c"),
        (relation("roads", "disagreement"), "c"),
        (relation("buses", "suggested"), "ef"),
        (relation("buses", "imported"), "ac"),
        (relation("buses", "rejected"), ""),
        (relation("buses", least=0.58, most=0.8), "ce"),
        ({**relation("buses", "predicted"), "text": "bus", "split": "test"}, "cf"),
    ],
)
def test_filters(made: CorpusFile, asked: dict[str, object], found: str) -> None:
    assert ids(made, **asked) == found


@pytest.mark.parametrize(
    ("order", "label", "descending", "found"),
    [
        ("id", None, True, "fedcba"),
        ("score", "buses", True, "acefbd"),  # documents without a score come last, as the lowest ones
        ("uncertainty", "roads", False, "fcbade"),
        ("uncertainty", None, False, "fcedba"),
        ("disagreement", None, True, "cdefab"),
    ],
)
def test_orders_and_pages(made: CorpusFile, order: str, label: str | None, descending: bool, found: str) -> None:
    assert ids(made, order, label, descending) == found
    pages, cursor = "", None
    with made.reading() as database:
        while True:
            page, cursor = documents.page(
                database, Filter(), order, label, descending=descending, cursor=cursor, limit=2
            )
            pages += "".join(one["id"] for one in page)
            if cursor is None:
                break
    assert pages == found


def test_labels_of_a_document_have_score_and_threshold(made: CorpusFile) -> None:
    found = {one["label"]: (one["score"], one["threshold"], one["is_predicted"]) for one in shown(made, 6)["labels"]}
    assert found == {"roads": (0.5, 0.5, True), "buses": (0.55, 0.5, True), "lamps": (0.1, 0.5, False)}


@pytest.mark.parametrize(
    "text",
    [
        '"',
        "AND",
        "NEAR(a b)",
        "text:bus",
        "a^2 OR *",
        "(",
        "'; DROP TABLE texts; --",
        "*",
        "-",
        "--",
        '-"',
        "{x}",
        "a\0b",
        "🚌",
        "‮",
        "a" * 900,
    ],
)
def test_nothing_that_is_typed_is_syntax(made: CorpusFile, text: str) -> None:
    ids(made, text=text)
    assert ids(made) == "abcdef"


def test_signs_alone_find_nothing(made: CorpusFile) -> None:
    assert ids(made, text="?!") == ""
    assert search_terms('say "') == ('"say"', "")


def test_wrong_filters_are_explained(made: CorpusFile) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'buses'"):
        ids(made, **relation("busses", "true"))
    with made.reading() as database:
        with pytest.raises(ParameterError, match="needs 'label'"):
            documents.page(database, Filter(), "score")
        for cursor in ("x", "W10=", "ΩΩ", "WyJhIiwgMV0=", "bnVsbA=="):
            with pytest.raises(ParameterError, match="cursor"):
                documents.page(database, Filter(), cursor=cursor)


def test_a_decision_is_kept_with_who_and_when(corpus: CorpusFile) -> None:
    event, revisions = decide(corpus, "Ana", decision(6, accept=["buses"], reject=["lamps"], state="reviewed"))
    assert revisions == [2]
    document = shown(corpus, 6)
    assert (document["state"], document["reviewed_by"], document["revision"]) == ("reviewed", "Ana", 2)
    assert states(corpus, 6) == {"roads": "imported", "buses": "accepted", "lamps": "rejected"}
    assert {one["by"] for one in document["labels"] if one["state"] == "accepted"} == {"Ana"}
    assert ids(corpus, any_label="false positive") == "e"
    assert ids(corpus, reviewed_by="Ana") == "f"
    with corpus.reading() as database:
        latest = labels.events(database, "Ana", None, None, 5)[0][0]
    assert (latest["number"], latest["kind"], latest["changes"]) == (event, "decision", 3)


def test_no_label_applies_differs_from_not_reviewed(corpus: CorpusFile) -> None:
    decide(corpus, "Ana", decision(5, state="no label applies", reject=["buses"]))
    assert (ids(corpus, state="no label applies"), ids(corpus, any_label="no true label")) == ("e", "e")
    assert shown(corpus, 4)["state"] == "not reviewed"
    with pytest.raises(ParameterError, match="Reject its labels"):
        decide(corpus, "Ana", decision(4, state="no label applies"))
    decide(corpus, "Ana", decision(4, state="no label applies", reject=["lamps"]))
    assert ids(corpus, state="no label applies") == "de"
    with pytest.raises(ParameterError, match="'no label applies'"):
        decide(corpus, "Ana", decision(5, revision=2, state="reviewed"))


def test_two_users_never_overwrite_each_other(corpus: CorpusFile) -> None:
    decide(corpus, "Ana", decision(6, accept=["buses"]), decision(1, state="reviewed"))
    with pytest.raises(RequestError) as refused:
        decide(corpus, "Ben", decision(2, accept=["lamps"]), decision(6, reject=["buses"]))
    assert refused.value.status == 409
    assert "changed by Ana" in refused.value.detail
    [conflict] = refused.value.members["conflicts"]
    assert conflict["document"]["revision"] == 2
    assert [(one["by"], one["label"], one["was"], one["now"]) for one in conflict["changes"]] == [
        ("Ana", "buses", None, "accepted")
    ]
    assert "lamps" not in states(corpus, 2)  # all decisions or none
    assert decide(corpus, "Ben", decision(6, revision=2, reject=["buses"]))[1] == [3]


def test_writers_in_threads_get_one_winner_each(corpus: CorpusFile) -> None:
    outcomes: list[str] = []

    def review(by: str) -> None:
        for number in range(1, 7):
            try:
                decide(
                    corpus,
                    by,
                    decision(number, accept=["lamps"] if by == "Ana" else [], reject=["lamps"] if by == "Ben" else []),
                )
                outcomes.append(f"{number} {by}")
            except RequestError:
                outcomes.append("conflict")

    threads = [threading.Thread(target=review, args=(by,)) for by in ("Ana", "Ben")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes.count("conflict") == 6
    for won in set(outcomes) - {"conflict"}:
        number, by = won.split()
        assert states(corpus, int(number))["lamps"] == ("accepted" if by == "Ana" else "rejected")


def test_undo_restores_who_decided_before(corpus: CorpusFile) -> None:
    decide(corpus, "Ana", decision(6, accept=["buses"], state="reviewed"))
    decide(corpus, "Ben", decision(6, revision=2, reject=["buses"], clear=["roads"], state="not reviewed"))
    undo(corpus, "Ben")
    document = shown(corpus, 6)
    assert (document["state"], document["reviewed_by"]) == ("reviewed", "Ana")
    assert {one["label"]: one["by"] for one in document["labels"] if one["is_true"]} == {
        "buses": "Ana",
        "roads": "manylabel",
    }
    with pytest.raises(RequestError, match="nothing that could be undone"):
        undo(corpus, "Ben")


def test_what_was_undone_is_done_again_and_can_be_undone_again(corpus: CorpusFile) -> None:
    before = states(corpus, 1)
    decide(corpus, "Ana", decision(1, accept=["lamps"]))
    after = states(corpus, 1)
    for _ in range(2):
        taken, decided = undo(corpus, "Ana")
        assert states(corpus, 1) == before
        again, _ = undo(corpus, "Ana", taken)  # the redo
        assert states(corpus, 1) == after
    undo(corpus, "Ana", again)  # the redo is taken back, and with it the decision
    assert states(corpus, 1) == before
    with pytest.raises(RequestError, match=f"undone already, by event {taken}"):
        undo(corpus, "Ana", decided)


def test_undo_retires_a_label_that_was_added_for_the_decision_alone(corpus: CorpusFile) -> None:
    """The redo brings it back; a label that another document has, or that was added for itself, stays."""

    def names() -> set[str]:
        with corpus.reading() as database:
            return {row["name"] for row in database.execute("SELECT name FROM labels WHERE state = 'active'")}

    def give(label: str, number: int) -> None:
        with corpus.writing() as database:
            labels.add(database, "Ana", label)
        decide(corpus, "Ana", decision(number, accept=[label]))

    give("Druk", 1)
    for _ in range(2):
        taken, _ = undo(corpus, "Ana")
        assert "Druk" not in names()
        undo(corpus, "Ana", taken)  # the redo
        assert ("Druk" in names(), "Druk" in states(corpus, 1)) == (True, True)
    decide(corpus, "Ana", decision(2, accept=["Druk"]))
    undo(corpus, "Ana")
    assert "Druk" in names()
    undo(corpus, "Ana")
    assert "Druk" not in names()


def test_more_than_ten_decisions_are_undone_one_by_one(corpus: CorpusFile) -> None:
    before = [states(corpus, number) for number in range(1, 7)]
    for turn in range(12):
        number = turn % 6 + 1
        decide(
            corpus,
            "Ana",
            decision(number, shown(corpus, number)["revision"], **{("accept", "reject")[turn // 6]: ["lamps"]}),
        )
    for _ in range(12):
        undo(corpus, "Ana")
    assert [states(corpus, number) for number in range(1, 7)] == before


def test_undo_of_what_others_changed_is_a_conflict(corpus: CorpusFile) -> None:
    event, _ = decide(corpus, "Ana", decision(6, accept=["buses"]))
    with pytest.raises(RequestError, match="Users undo their own") as refused:
        undo(corpus, "Ben", event)
    assert refused.value.status == 403
    decide(corpus, "Ben", decision(6, revision=2, reject=["buses"]))
    with pytest.raises(RequestError, match="Nothing was undone") as refused:
        undo(corpus, "Ana")
    assert refused.value.status == 409
    undo(corpus, "Ben")
    undo(corpus, "Ana", event)
    with pytest.raises(RequestError, match="undone already"):
        undo(corpus, "Ana", event)


def test_bulk_applies_what_the_preview_showed(corpus: CorpusFile) -> None:
    wanted = Filter(**relation("buses", "suggested"))
    action = {"do": "accept", "label": "buses", "state": None, "most": None}
    with corpus.reading() as database:
        preview = bulk.preview(database, wanted, action)
    assert (preview["documents"], preview["changes"], [one["id"] for one in preview["sample"]]) == (2, 2, ["e", "f"])
    decide(corpus, "Ben", decision(1, state="reviewed"))  # not in the filter, so no conflict
    with corpus.writing() as database:
        _, changes = bulk.apply_to_all(database, "Ana", wanted, action, preview["revision"])
    assert (changes, ids(corpus, **relation("buses", "true"))) == (2, "acef")
    with corpus.writing() as database, pytest.raises(RequestError, match="0 documents now"):
        bulk.apply_to_all(database, "Ana", wanted, action, preview["revision"])
    undo(corpus, "Ana")
    assert ids(corpus, **relation("buses", "true")) == "ac"


def test_bulk_states_never_make_no_label_apply(corpus: CorpusFile) -> None:
    with corpus.writing() as database:
        for state in ("reviewed", "no label applies"):
            action = {"do": None, "label": None, "state": state, "most": None}
            revision = bulk.preview(database, Filter(), action)["revision"]
            bulk.apply_to_all(database, "Ana", Filter(), action, revision)
            found = documents.page(database, Filter(state=state))[0]
            assert "".join(one["id"] for one in found) == ("abcdf" if state == "reviewed" else "e")


def test_labels_are_added_renamed_merged_and_retired_and_all_undone(corpus: CorpusFile) -> None:
    before = [states(corpus, number) for number in range(1, 7)]
    with corpus.writing() as database:
        labels.add(database, "Ana", "trams")
        labels.rename(database, "Ana", "buses", "buses & trams")
        labels.merge(database, "Ana", "trams", "buses & trams")
        labels.merge(database, "Ana", "roads", "buses & trams")
        labels.retire(database, "Ana", "lamps")
    assert ids(corpus, **relation("buses & trams", "true")) == "abcf"
    assert ids(corpus, any_label="no true label") == "de"
    with corpus.writing() as database:
        with pytest.raises(RequestError, match="renamed to 'buses & trams' by 'Ana'"):
            labels.rename(database, "Ben", "buses", "x")
        with pytest.raises(RequestError, match="merged into 'buses & trams'"):
            labels.retire(database, "Ben", "roads")
        with pytest.raises(UnknownNameError):
            labels.retire(database, "Ben", "nothing like it")
    for _ in range(5):
        undo(corpus, "Ana")
    assert [states(corpus, number) for number in range(1, 7)] == before
    with corpus.reading() as database:
        assert documents.labels(database, "", 0, 10)[0] == 3


def test_a_name_is_taken_once(corpus: CorpusFile) -> None:
    for name in ("", " x", "a\nb"):
        with corpus.writing() as database, pytest.raises(ParameterError, match="cannot be a label"):
            labels.add(database, "Ana", name)
    for work in (lambda one: labels.add(one, "Ana", "roads"), lambda one: labels.rename(one, "Ana", "buses", "roads")):
        with pytest.raises(RequestError, match="already"), corpus.writing() as database:
            work(database)


def test_labels_are_found_as_they_are_typed(corpus: CorpusFile) -> None:
    with corpus.writing() as database:
        for name in ("École", "école b", "préécole"):
            labels.add(database, "Ana", name)
    with corpus.reading() as database:
        total, found = documents.labels(database, "ecole", 0, 10)
    assert (total, [one["label"] for one in found]) == (3, ["École", "école b", "préécole"])


def trying(kind: thresholds.Target, value: float, **more: Any) -> thresholds.Trial:
    return thresholds.Trial(thresholds.Wanted(kind, value), **more)


def test_thresholds_are_tried_by_label_and_locked_labels_keep_theirs(made: CorpusFile) -> None:
    with made.reading() as database:
        trial = trying("threshold", 0.15, tried={"buses": 0.58}, locked=frozenset(["roads"]))
        found = thresholds.study(database, None, trial, 10)
        saved = {one["label"]: one["saved"]["threshold"] for one in found["labels"]}
        now = {one["label"]: one["now"]["threshold"] for one in found["labels"]}
        assert now == {"buses": 0.58, "roads": saved["roads"], "lamps": 0.15}
        alone = thresholds.study(database, "buses", trial, 10)
        assert [one["id"] for one in alone["leave"]] == ["f"]
        with pytest.raises(UnknownNameError, match="buses"):
            thresholds.study(database, None, thresholds.Trial(tried={"busses": 0.5}), 10)


def test_thresholds_move_documents(made: CorpusFile) -> None:
    with made.reading() as database:
        found = thresholds.study(database, "buses", trying("threshold", 0.58), 10)
        [one] = found["labels"]
        # scores 0.9 true, 0.7 true, 0.6 false, 0.55 false
        assert (one["saved"]["precision"], one["now"]["precision"], one["now"]["recall"]) == (0.5, 2 / 3, 1.0)
        assert (one["leave"], one["enter"], [moved["id"] for moved in found["leave"]]) == (1, 0, ["f"])
        reached = thresholds.study(database, "buses", trying("precision", 0.9), 10)["labels"][0]
        assert (reached["now"]["recall"], reached["leave"]) == (1.0, 2)
        assert 0.6 < reached["now"]["threshold"] < 0.7  # between two scores: the last bit of neither decides
        recall = thresholds.study(database, "roads", trying("recall", 1.0), 10)
        assert [moved["id"] for moved in recall["enter"]] == ["c"]
        assert recall["labels"][0]["now"]["threshold"] < 0.4
        whole = thresholds.study(database, None, trying("threshold", 0.15), 10)
        assert (whole["all"]["enter"], whole["all"]["now"]["true_positives"], whole["all"]["now"]["recall"]) == (
            2,
            6,
            1.0,
        )
        assert len(thresholds.curve(database, "buses", 10)) == 4


def test_a_target_is_reached_as_the_command_reaches_it() -> None:
    """A lower threshold that adds no true label is not taken, and the command `thresholds` chooses the same one."""
    random = np.random.default_rng(1)
    for _ in range(40):
        scores = np.sort(random.choice(np.linspace(0.1, 0.9, 12), 30))[::-1]
        is_true = random.random(30) < scores
        every = np.ones(30, dtype=bool)
        column = thresholds.Column("a", None, None, np.arange(30), scores, is_true, every, np.flatnonzero(is_true))
        command = ThresholdFigures().fit(scores[:, None], Csr(is_true[:, None].astype(float)), ScoreKind.SIMILARITY)
        targets: list[tuple[Literal["precision", "recall"], float]] = [("precision", 0.5), ("precision", 0.8)]
        for figure, least in [*targets, ("recall", 0.7)]:
            [expected] = command.thresholds_for(figure, least).tolist()
            found = column.threshold_for(thresholds.Wanted(figure, least))
            assert column.place(found) == column.place(None if np.isnan(expected) else expected)


def test_documents_that_nobody_labelled_are_neither_true_nor_false(corpus: CorpusFile) -> None:
    def leaving() -> dict[str, bool | None]:
        with corpus.reading() as database:
            found = thresholds.study(database, "buses", trying("threshold", 0.95), 10)
        return {one["id"]: one["is_true"] for one in found["leave"]}

    before = leaving()
    wrong = next(one for one, is_true in before.items() if is_true is False)
    with corpus.writing() as database:
        database.execute("UPDATE documents SET reviewed = 0, true_labels = 0 WHERE id = ?", (wrong,))
    assert leaving() == {**before, wrong: None}


def test_saved_thresholds_change_predictions_and_can_be_undone(corpus: CorpusFile) -> None:
    with corpus.writing() as database:
        revision = thresholds.study(database, None, thresholds.Trial(), 0)["revision"]
        thresholds.save(database, "Ana", {"buses": 0.65, "lamps": 0.15}, revision)
    assert (ids(corpus, any_label="disagreement"), ids(corpus, **relation("buses", "predicted"))) == ("c", "ac")
    assert ids(corpus, "uncertainty")[0] == "c" or ids(corpus, "uncertainty")[0] == "f"
    with corpus.writing() as database, pytest.raises(RequestError, match="'Ana' changed labels or thresholds"):
        thresholds.save(database, "Ben", {"buses": 0.1}, revision)
    undo(corpus, "Ana")
    assert ids(corpus, any_label="disagreement") == "cdef"
    with corpus.writing() as database:
        revision = thresholds.study(database, None, thresholds.Trial(), 0)["revision"]
        filling.keep_scores(database, scores_of(SCORES))
        with pytest.raises(RequestError, match="'manylabel' changed labels or thresholds"):
            thresholds.save(database, "Ben", {"buses": 0.1}, revision)


def test_only_exact_thresholds_are_offered_for_a_target(corpus: CorpusFile) -> None:
    with corpus.writing() as database:
        filling.keep_scores(database, scores_of(SCORES, exact_from=[0.75, 0.0, 0.0], measured=np.arange(5)))
        found = thresholds.study(database, "buses", trying("recall", 1.0), 0)["labels"][0]
        assert (found["reached"], found["now"]["threshold"]) == (False, 0.5)
        assert found["saved"]["false_positives"] == 1  # the sixth document is not measured


def test_suggestions_of_an_audit_wait_for_a_decision(corpus: CorpusFile) -> None:
    doubted = [
        {"document": "d", "label": "lamps", "action": "remove", "probability": 0.9},
        {"document": "b", "label": "buses", "action": "add", "probability": 0.8},
        {"document": "b", "label": "unknown", "action": "add", "probability": 0.8},
    ]
    with corpus.writing() as database:
        assert filling.keep_suggestions(database, doubted) == 2
    assert (ids(corpus, any_label="suggested"), states(corpus, 2)["buses"]) == ("bd", "suggested")
    assert ids(corpus, **relation("lamps", "suggested for removal")) == "d"
    decide(corpus, "Ana", decision(2, reject=["buses"]))
    assert ids(corpus, any_label="suggested") == "d"
    with corpus.writing() as database:
        assert filling.keep_suggestions(database, doubted) == 1


def test_the_corrected_corpus_and_the_decisions_agree(corpus: CorpusFile, tmp_path: Path) -> None:
    decide(corpus, "Ana", decision(6, accept=["buses"]), decision(3, reject=["roads"]), decision(4, clear=["lamps"]))
    decide(corpus, "Ana", decision(1, accept=["lamps"]))
    decide(corpus, "Ana", decision(1, revision=2, clear=["lamps"]))
    with corpus.writing() as database:
        labels.rename(database, "Ben", "roads", "streets")
    with corpus.reading() as database:
        records = list(filling.decision_records(database))
    assert {(one["document"], one["label"], one["action"], one["by"]) for one in records} == {
        ("f", "buses", "add", "Ana"), ("c", "roads", "remove", "Ana"), ("d", "lamps", "remove", "Ana"),
        ("b", "roads", "remove", "Ben"), ("b", "streets", "add", "Ben"), ("f", "roads", "remove", "Ben"),
        ("f", "streets", "add", "Ben"),
    }  # fmt: skip
    (tmp_path / "decisions.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))
    original, corrected = tmp_path / "letters.csv", tmp_path / "corrected.csv"
    applied = apply_decisions(Source(str(original)), tmp_path / "decisions.jsonl", corrected, tmp_path / "record.jsonl")
    assert (applied.added, applied.removed) == (3, 4)
    (tmp_path / "out").mkdir()
    exported = read(filling.export(corpus, tmp_path / "out", "csv")).corpus
    assert list(exported.label_sets) == [["buses"], ["streets"], ["buses"], [], [], ["buses", "streets"]]
    assert [sorted(one) for one in read(corrected).corpus.label_sets] == list(exported.label_sets)
    assert (list(exported.ids), list(exported.split_names)) == ([row[0] for row in ROWS], [row[3] for row in ROWS])


@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl", "directory", "fasttext", "libmultilabel"])
def test_every_format_of_texts_is_exported(made: CorpusFile, tmp_path: Path, format: str) -> None:
    (tmp_path / "out").mkdir()
    written = filling.export(made, tmp_path / "out", format)
    assert written.suffix == ".zip" if format == "directory" else len(read(written, format=format).corpus) >= 5


def test_counts_are_imported_and_exported(files: CorpusFiles, tmp_path: Path) -> None:
    data = tmp_path / "counts.svm"
    data.write_text("0,1 1:2 3:1\n1 2:1\n0 3:4\n")
    filling.import_corpus(files, "counts", str(data), {})
    made = files.get("counts")
    assert shown(made, 1)["fields"]["text"].split() == ["t0", "t2"]
    (tmp_path / "out").mkdir()
    decide(made, "Ana", decision(2, accept=["0"]))
    written = filling.export(made, tmp_path / "out", "libsvm")
    assert written.name == "counts.zip"  # labels and terms have files of their own
    again = read(tmp_path / "out" / "files" / "counts.svm").corpus
    assert list(again.label_sets) == [["0", "1"], ["0", "1"], ["0"]]
    assert again.counts is not None
    assert again.counts.toarray().tolist() == read(data).corpus.counts.toarray().tolist()
    with pytest.raises(UnknownNameError, match="format to write"):
        filling.write_copy(made, tmp_path / "out", "csv")


def test_confirmed_decisions_survive_kill_9(corpus: CorpusFile) -> None:
    code = """
import sys
from pathlib import Path
from manylabel.server.store import decisions
from manylabel.server.store.files import CorpusFile
corpus = CorpusFile(Path(sys.argv[1]))
revision = 1
while True:
    one = {"document": 1, "revision": revision, "clear": [], "state": None}
    kind = {"accept": ["lamps"], "reject": []} if revision % 2 else {"accept": [], "reject": ["lamps"]}
    with corpus.writing() as database:
        _, [revision] = decisions.decide(database, "Ana", [one | kind])
    print(revision, flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", code, str(corpus.folder)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if int(line) >= 20:
            break
    process.send_signal(signal.SIGKILL)
    confirmed = int(([line, *process.stdout.read().split()])[-1])
    process.wait()
    process.stdout.close()
    assert shown(corpus, 1)["revision"] in (confirmed, confirmed + 1)  # one may have been written but not confirmed
    assert states(corpus, 1)["lamps"] == ("rejected" if shown(corpus, 1)["revision"] % 2 else "accepted")


def test_hostile_content_is_content(files: CorpusFiles, tmp_path: Path) -> None:
    names = ['"; DROP TABLE labels; --', "a/b\\c", "<script>alert(1)</script>", "‮عربي", "🚌", "%_*", "x" * 1_000]
    rows = [{"id": f"../{name}", "text": f"{name} text", "labels": [name]} for name in names]
    rows.append({"id": "long", "text": "word " * 400_000, "labels": [f"label {number}" for number in range(5_000)]})
    data = tmp_path / "hostile.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert filling.import_corpus(files, "hostile", str(data), {})["labels"] == 5_007
    made = files.get("hostile")
    for number, name in enumerate(names, start=1):
        assert list(states(made, number)) == [name]
        assert shown(made, number)["id"] == f"../{name}"
        decide(made, name[:100], decision(number, reject=[name], state="no label applies"))
        with made.reading() as database:
            assert documents.count(database, Filter(**relation(name, "rejected"))) == 1
            assert name in [one["label"] for one in documents.labels(database, name, 0, 10)[1]]
    long = shown(made, len(rows))
    assert (len(long["fields"]["text"]), len(long["labels"]), len(long["beginning"])) == (2_000_000, 5_000, 300)
    (tmp_path / "out").mkdir()
    assert read(filling.export(made, tmp_path / "out", "jsonl")).corpus.ids[0] == f"../{names[0]}"


def test_a_failed_import_leaves_nothing(files: CorpusFiles, tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("")
    with pytest.raises(ManylabelError):
        filling.import_corpus(files, "bad", str(tmp_path / "bad.csv"), {})
    assert (files.names(), list(files.folder.iterdir())) == ([], [])


def test_names_never_lead_out_of_the_directory(corpus: CorpusFile, files: CorpusFiles) -> None:
    for name in ("..", "../letters", "/etc", "a/b", "", ".letters", "x" * 65):
        with pytest.raises(ManylabelError):
            files.get(name)
        with pytest.raises(ManylabelError):
            files.check_free(name)
    with pytest.raises(ParameterError, match="already"):
        files.check_free("letters")


def test_a_corpus_of_the_first_format_is_converted(corpus: CorpusFile) -> None:
    before = shown(corpus, 1)
    with sqlite3.connect(corpus.path) as database:
        database.execute("DROP INDEX documents_by_place")
        database.execute("ALTER TABLE documents DROP COLUMN queue_place")
        database.execute("PRAGMA user_version = 1")
    database.close()
    assert shown(corpus, 1) == before
    with corpus.writing() as database:
        assert database.execute("PRAGMA user_version").fetchone()[0] == VERSION
        assert database.execute("SELECT COUNT(*) FROM documents WHERE queue_place IS NULL").fetchone()[0] > 0
    assert shown(corpus, 1) == before


def test_a_conversion_that_fails_leaves_the_corpus_as_it_was(corpus: CorpusFile) -> None:
    with sqlite3.connect(corpus.path) as database:  # the index is still there, so that its statement fails
        database.execute("DROP INDEX documents_by_place")
        database.execute("ALTER TABLE documents DROP COLUMN queue_place")
        database.execute("CREATE INDEX documents_by_place ON documents (id)")
        database.execute("PRAGMA user_version = 1")
    database.close()
    with pytest.raises(sqlite3.OperationalError):
        shown(corpus, 1)
    with sqlite3.connect(corpus.path) as database:
        assert database.execute("PRAGMA user_version").fetchone()[0] == 1
        assert "queue_place" not in [row[1] for row in database.execute("PRAGMA table_info(documents)")]
    database.close()


def test_a_corpus_of_a_later_format_is_refused(corpus: CorpusFile) -> None:
    with sqlite3.connect(corpus.path) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(
        ParameterError,
        match=r"later version of manylabel: its format is 99, and .* up to 2\. Install",
    ):
        shown(corpus, 1)

"""The jobs of the workbench: previews, thresholds written into models, retraining and its gain, queues, reports."""

import json
from pathlib import Path
from typing import Any

import pytest

from manylabel import TextClassifier, load_corpus
from manylabel.recipe import Recipe
from manylabel.server.jobs.bodies import JobRequest, check_request
from manylabel.server.jobs.store import JobStore
from manylabel.server.store import filling
from served import InProcess, ended_job, in_process, run_job, small_model

LETTERS = "key;body;topics;split\n" + "".join(
    f"{number};{text};{label};{'test' if number % 3 == 0 else 'train'}\n"
    for number, (text, label) in enumerate(
        [("late bus", "buses"), ("bad road", "roads"), ("dark lamp", "lamps"), ("bus on road", "buses,roads")] * 6
        + [("late road", ""), ("dark bus", "")]
    )
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> InProcess:
    store = JobStore(tmp_path_factory.mktemp("server"))
    store.prepare()
    (store.uploads / "letters.csv").write_text(LETTERS)
    other = small_model(tmp_path_factory.mktemp("other") / "given.manylabel")
    made = in_process({"given": other}, data=str(store.folder))
    run_job(made, {"kind": "import", "data": "townhall", "corpus": "townhall"})
    run_job(made, {"kind": "import", "data": "letters", "corpus": "letters"})
    return made


def test_methods_and_metrics_are_listed(server: InProcess) -> None:
    found = server.ask("GET", "/v1/methods").json()
    assert {"svm", found["default_method"]} <= {one["name"] for one in found["methods"]}
    assert found["default_metric"] in [one["name"] for one in found["metrics"]]


def test_a_preview_shows_what_was_guessed(server: InProcess) -> None:
    found = run_job(server, {"kind": "preview", "data": "letters"})
    assert found["columns"] == {
        "text": ["body"], "title": None, "label": ["topics"], "id": None, "split": "split", "unused": ["key"],
    }  # fmt: skip
    assert (found["format"], found["delimiter"], found["header"], found["encoding"]) == ("csv", ";", True, "utf-8")
    assert found["available_columns"] == ["key", "body", "topics", "split"]
    assert (found["label_separator"], found["sheets"], found["language"]) == (",", None, None)
    assert (found["documents"], found["labels"], found["documents_without_labels"]) == (26, 3, 2)
    assert found["cardinality"] == pytest.approx(30 / 26)
    assert found["top_labels"][0] == {"label": "buses", "documents": 12}
    assert found["splits"] == {"test": 9, "train": 17}
    assert found["sample"][1] == {"id": "3", "fields": {"body": "bad road"}, "labels": ["roads"], "split": "train"}
    assert len(found["sample"]) == 20
    assert any("'body' is a usual name for texts" in one for one in found["choices"])
    assert any("10 documents or fewer" in one for one in found["warnings"])
    assert not any(str(server.settings.data) in one for one in found["choices"] + found["warnings"])


def test_a_preview_follows_the_options_and_changes_nothing(server: InProcess) -> None:
    folder = Path(str(server.settings.data))
    before = sorted(folder.glob("[mu]*/*")), list(folder.glob("corpora/*"))
    options = {"id_column": "key", "label_separator": "none"}
    found = run_job(server, {"kind": "preview", "data": "letters", "options": options})
    assert (found["columns"]["id"], found["sample"][1]["id"]) == ("key", "1")
    assert {"label": "buses,roads", "documents": 6} in found["top_labels"]
    unlabelled = run_job(server, {"kind": "preview", "data": "letters", "options": {"labels": False}})
    assert (unlabelled["labels"], unlabelled["documents_without_labels"]) == (0, 26)
    failed = ended_job(server, {"kind": "preview", "data": "letters", "options": {"text_column": "bodi"}})
    assert failed["state"] == "failed"
    assert "There is no column 'bodi'. Found: 'key', 'body'" in failed["error"]
    assert failed["error"].endswith('Use "options": {"text_column": "NAME"}.')
    assert (sorted(folder.glob("[mu]*/*")), list(folder.glob("corpora/*"))) == before


def test_every_job_on_data_takes_the_options_that_its_errors_name(server: InProcess) -> None:
    rows = "".join(f"late bus {n},buses,bus\nbad road {n},roads,road\n" for n in range(12))
    Path(str(server.settings.data), "uploads", "columns.csv").write_text("text,Kategorie,Thema\n" + rows)
    asked = {"kind": "labels", "data": "columns"}
    failed = ended_job(server, asked)["error"]
    assert (
        'options.label_column, or several to join them: "options": {"label_column": ["Kategorie", "Thema"]}' in failed
    )
    assert "--" not in failed
    assert run_job(server, {**asked, "options": {"label_column": "Thema"}})["documents"] == 24


def test_sheets_of_a_workbook_and_terms_of_counts_are_shown(server: InProcess) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.title = "notes"
    sheet = book.create_sheet("letters")
    for row in (["text", "labels"], ["late bus", "buses"], ["bad road", "roads"]):
        sheet.append(row)
    folder = Path(str(server.settings.data), "uploads")
    book.save(folder / "book.xlsx")
    found = run_job(server, {"kind": "preview", "data": "book", "options": {"sheet": "letters"}})
    assert (found["sheet"], found["sheets"], found["documents"]) == ("letters", ["notes", "letters"], 2)
    (folder / "counts.svm").write_text("0,1 3:2 5:1\n1 4:1\n")
    found = run_job(server, {"kind": "preview", "data": "counts"})
    assert (found["columns"], found["encoding"], found["documents"]) == (None, "utf-8", 2)
    assert len(found["sample"][0]["fields"]["text"].split()) == 2


def test_a_preview_needs_data(server: InProcess) -> None:
    answer = server.ask("POST", "/v1/jobs", {"kind": "preview", "corpus": "letters"})
    assert (answer.status, answer.json()["detail"]) == (
        422,
        "A job of the kind 'preview' needs 'data', the name of uploaded data.",
    )


# ---- thresholds ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["svm", "svm-zero-tfidf", "nb-app"])
def test_a_model_with_the_saved_thresholds_predicts_what_the_study_counts(server: InProcess, method: str) -> None:
    """A rule with thresholds, one with a fallback, and one that decides label sets as a whole."""
    run_job(server, {"kind": "train", "data": "townhall", "model": method, "method": method})
    run_job(server, {"kind": "score", "corpus": "townhall", "model": method})
    address = "/v1/corpora/townhall/thresholds"
    study = server.ask("POST", f"{address}/study", {"precision": 0.9}).json()
    chosen = {one["label"]: one["now"]["threshold"] for one in study["labels"] if one["reached"]}
    assert len(chosen) > 10
    saved = {"by": "Ana", "revision": study["revision"], "thresholds": chosen}
    assert server.ask("PUT", address, saved).status == 200
    result = run_job(server, {"kind": "thresholds", "corpus": "townhall", "model": method, "name": f"{method}-2"})
    assert (result["model"], result["unknown"], result["guarantee_lost"]) == (f"{method}-2", [], False)
    assert all(chosen.get(one["label"], one["after"]) == one["after"] != one["before"] for one in result["labels"])
    corpus = load_corpus("townhall").corpus.split("test")
    model = TextClassifier.load(Path(str(server.settings.data), "models", f"{method}-2.manylabel"))
    predicted = model.predict(corpus.texts)
    for one in server.ask("POST", f"{address}/study", {}).json()["labels"]:
        pairs = [
            (one["label"] in labels, one["label"] in true)
            for labels, true in zip(predicted, corpus.label_sets, strict=True)
        ]
        figures = [pairs.count((True, True)), pairs.count((True, False)), pairs.count((False, True))]
        assert figures == [one["now"][key] for key in ("true_positives", "false_positives", "false_negatives")]
    again = run_job(server, {"kind": "thresholds", "corpus": "townhall", "model": f"{method}-2"})
    assert again["labels"] == []


def test_thresholds_name_the_labels_that_one_side_does_not_know(server: InProcess) -> None:
    run_job(server, {"kind": "train", "data": "letters", "model": "letters", "method": "nb-binary"})
    added = {"by": "Ana", "do": "add", "label": "trams"}
    assert server.ask("POST", "/v1/corpora/letters/labels", added).status == 200
    removed = {"by": "Ana", "do": "rename", "label": "lamps", "to": "lights"}
    assert server.ask("POST", "/v1/corpora/letters/labels", removed).status == 200
    study = server.ask("POST", "/v1/corpora/letters/thresholds/study", {}).json()
    thresholds = {"by": "Ana", "revision": study["revision"], "thresholds": {"roads": 0.25, "trams": 0.5}}
    assert server.ask("PUT", "/v1/corpora/letters/thresholds", thresholds).status == 200
    result = run_job(server, {"kind": "thresholds", "corpus": "letters", "model": "letters"})
    assert result["labels"] == [{"label": "roads", "before": 0.5, "after": 0.25}]
    assert (result["unknown"], result["without_threshold"]) == (["trams"], ["buses", "lamps"])
    model = TextClassifier.load(Path(str(server.settings.data), "models", "letters.manylabel"))
    assert model.thresholds == pytest.approx({"buses": 0.5, "lamps": 0.5, "roads": 0.25})
    failed = ended_job(server, {"kind": "thresholds", "corpus": "townhall", "model": "letters", "name": "x"})
    assert "knows none of the labels that have a threshold" in failed["error"]
    check_models_from_elsewhere(server)


def check_models_from_elsewhere(server: InProcess) -> None:
    result = run_job(server, {"kind": "thresholds", "corpus": "letters", "model": "given", "name": "own"})
    assert result["labels"] == [{"label": "roads", "before": 0.5, "after": 0.25}]
    asked = {"kind": "thresholds", "corpus": "letters", "model": "given"}
    for request in (asked, {**asked, "model": "letters", "name": "given"}):
        refused = server.ask("POST", "/v1/jobs", request)
        assert (refused.status, "Choose another name" in refused.json()["detail"]) == (422, True)
    inside = Path(str(server.settings.data), "models", "own.manylabel").resolve()
    same = in_process({"own": inside}, data=str(server.settings.data))
    before = same.ask("GET", "/v1/models/own").json()["sha256"]
    study = same.ask("POST", "/v1/corpora/letters/thresholds/study", {}).json()
    thresholds = {"by": "Ana", "revision": study["revision"], "thresholds": {"roads": 0.75}}
    assert same.ask("PUT", "/v1/corpora/letters/thresholds", thresholds).status == 200
    run_job(same, {"kind": "thresholds", "corpus": "letters", "model": "own"})
    assert same.refresh().count(True) == 1
    assert same.ask("GET", "/v1/models/own").json()["sha256"] != before
    for request, words in (
        ({"kind": "thresholds", "corpus": "letters", "model": "none"}, "There is no model 'none'. Known: given, "),
        ({"kind": "thresholds", "corpus": "letters"}, "needs 'model', the model that gets them"),
        ({"kind": "audit", "corpus": "letters", "name": "x"}, "Only a job of the kind 'thresholds' takes 'name'"),
    ):
        assert words in server.ask("POST", "/v1/jobs", request).json()["detail"]


# ---- retraining ------------------------------------------------------------------------------------------------------


def test_retraining_writes_the_model_and_measures_the_gain(server: InProcess) -> None:
    run_job(server, {"kind": "import", "data": "letters", "corpus": "review", "options": {"id_column": "key"}})
    asked = {"kind": "retrain", "corpus": "review", "model": "review", "method": "svm"}
    first = run_job(server, asked)
    assert (first["gain"], first["trained_on"], first["left_out"], first["model"]) == (None, 24, 2, "review")
    assert "out-of-fold" in first["how"]
    decisions = [
        {"document": 25, "revision": 1, "accept": ["roads"], "state": "reviewed"},
        {"document": 26, "revision": 1, "state": "no label applies"},
        {"document": 1, "revision": 1, "reject": ["buses"], "accept": ["lamps"]},
    ]
    decided = server.ask("POST", "/v1/corpora/review/decisions", {"by": "Ana", "decisions": decisions})
    assert decided.status == 200, decided.json()
    second = run_job(server, asked)
    gain = second["gain"]
    assert (second["trained_on"], gain["documents"], gain["reviewed"], gain["changed_labels"]) == (26, 24, 2, 3)
    assert gain["since_training"]
    for name in ("micro_f1", "macro_f1"):
        one = gain[name]
        assert one["difference"] == pytest.approx(one["after"] - one["before"])
        assert one["low"] <= one["difference"] <= one["high"]
    assert "out-of-fold" in gain["before"]
    model = TextClassifier.load(Path(str(server.settings.data), "models", "review.manylabel"))
    assert sorted(model.labels_) == ["buses", "lamps", "roads"]
    check_the_gain_by_the_counts(server)
    check_retraining_behind_keyword_rules(server)


def test_what_was_confirmed_or_taken_back_is_no_change(server: InProcess) -> None:
    """Counted since the corpus was made where its scores are those of a model, then since the training."""
    run_job(server, {"kind": "import", "data": "letters", "corpus": "confirmed"})
    run_job(server, {"kind": "score", "corpus": "confirmed", "model": "given"})
    address = "/v1/corpora/confirmed"

    def decide(**decision: Any) -> None:
        document = server.ask("GET", f"{address}/documents/{decision['document']}").json()
        given = {"by": "Ana", "decisions": [{**decision, "revision": document["revision"]}]}
        answer = server.ask("POST", f"{address}/decisions", given)
        assert answer.status == 200, answer.json()

    def gain(**asked: str) -> tuple[int, int, bool]:
        found = run_job(server, {"corpus": "confirmed", **asked})["gain"]
        return found["reviewed"], found["changed_labels"], found["since_training"]

    own = [one["label"] for one in server.ask("GET", f"{address}/documents/1").json()["labels"] if one["state"]]
    decide(document=1, accept=own, reject=["lamps"], state="reviewed")
    decide(document=2, accept=["lamps"], state="reviewed")
    assert server.ask("POST", f"{address}/undo", {"by": "Ana"}).status == 200
    assert gain(kind="score", model="given") == (1, 0, False)
    decide(document=3, accept=["buses"])
    assert gain(kind="retrain", model="confirmed", method="svm") == (1, 1, False)
    decide(document=4, accept=["lamps"], state="reviewed")
    decide(document=4, accept=["lamps"], state="not reviewed")
    decide(document=4, reject=["lamps"], state="reviewed")
    decide(document=3, reject=["buses"])
    assert gain(kind="retrain", model="confirmed", method="svm") == (1, 1, True)


def test_documents_without_a_label_are_learned_from_where_no_label_applies(server: InProcess) -> None:
    asked = {"kind": "import", "data": "letters", "corpus": "decided", "no_label_applies": True}
    run_job(server, asked)
    states = server.ask("GET", "/v1/corpora/decided").json()["states"]
    assert states == {"not reviewed": 24, "reviewed": 0, "no label applies": 2}
    trained = run_job(server, {"kind": "retrain", "corpus": "decided", "model": "decided", "method": "svm"})
    assert (trained["trained_on"], trained["left_out"]) == (26, 0)
    answer = server.ask("POST", "/v1/jobs", {"kind": "audit", "corpus": "decided", "no_label_applies": True})
    assert (answer.status, "'import'" in answer.json()["detail"]) == (422, True)


def test_saved_thresholds_are_kept_where_the_job_says_so(server: InProcess) -> None:
    """In the corpus and in the model; otherwise new scores replace them."""
    run_job(server, {"kind": "import", "data": "letters", "corpus": "kept"})
    asked = {"kind": "retrain", "corpus": "kept", "model": "kept", "method": "svm"}
    assert run_job(server, asked)["kept_thresholds"] == 0
    address = "/v1/corpora/kept"
    saved = {"by": "Ana", "revision": server.ask("POST", f"{address}/thresholds/study", {}).json()["revision"]}
    assert server.ask("PUT", f"{address}/thresholds", {**saved, "thresholds": {"lamps": 0.875}}).status == 200
    for _ in range(2):
        assert server.ask("GET", address).json()["saved_thresholds"] == 1
        assert run_job(server, {**asked, "keep_thresholds": True})["kept_thresholds"] == 1
    written = TextClassifier.load(Path(str(server.settings.data), "models", "kept.manylabel"))
    thresholds = written.decided_.thresholds()
    assert thresholds is not None
    assert dict(zip(written.labels_, thresholds, strict=True))["lamps"] == pytest.approx(0.875)
    assert run_job(server, asked)["kept_thresholds"] == 0
    assert server.ask("GET", address).json()["saved_thresholds"] == 0


def check_the_gain_by_the_counts(server: InProcess) -> None:
    """Before, thresholds that nothing reaches: an F1 of 0. The figures afterwards are those of the study."""
    study = server.ask("POST", "/v1/corpora/review/thresholds/study", {}).json()
    assert study["all"]["now"]["f1"] > 0
    none = dict.fromkeys(("buses", "lamps", "roads"), 1.0)
    saved = {"by": "Ana", "revision": study["revision"], "thresholds": none}
    refused = server.ask("PUT", "/v1/corpora/review/thresholds", {**saved, "thresholds": {"roads": 3}})
    assert (refused.status, "from 0 to 1, because scores are shown as probabilities" in refused.json()["detail"]) == (
        422,
        True,
    )
    assert server.ask("PUT", "/v1/corpora/review/thresholds", saved).status == 200
    gain = run_job(server, {"kind": "score", "corpus": "review", "method": "svm"})["gain"]
    after = server.ask("POST", "/v1/corpora/review/thresholds/study", {}).json()
    assert (gain["micro_f1"]["before"], gain["reviewed"], gain["documents"]) == (0, 0, 26)
    assert gain["micro_f1"]["after"] == pytest.approx(after["all"]["now"]["f1"])
    assert gain["macro_f1"]["after"] == pytest.approx(sum(one["now"]["f1"] for one in after["labels"]) / 3)
    assert gain["micro_f1"]["low"] > 0


def check_retraining_behind_keyword_rules(server: InProcess) -> None:
    asked = {"kind": "retrain", "corpus": "review", "model": "behind", "method": "nb-binary", "rules": True}
    assert "no saved keyword rules" in ended_job(server, asked)["error"]
    rules = {"by": "Ana", "revision": 0, "rules": "lamps: zebra*"}
    assert server.ask("PUT", "/v1/corpora/review/rules", rules).status == 200
    assert "behind keyword rules of 1 label" in run_job(server, asked)["how"]
    written = TextClassifier.load(Path(str(server.settings.data), "models", "behind.manylabel"))
    assert "lamps" in written.predict(["zebras on the road"])[0]


def test_retraining_needs_the_name_of_a_model(server: InProcess) -> None:
    answer = server.ask("POST", "/v1/jobs", {"kind": "retrain", "corpus": "review"})
    assert (answer.status, "needs 'model', the name of the model to write" in answer.json()["detail"]) == (422, True)


# ---- suggested documents and the label report ------------------------------------------------------------------------


def test_documents_to_label_next_are_a_queue(server: InProcess) -> None:
    run_job(server, {"kind": "import", "data": "townhall", "corpus": "queue"})
    first = {"document": 1, "revision": 1, "reject": ["environment/trees"]}
    without = server.ask("POST", "/v1/corpora/queue/search", {"filter": {"any_label": "no true label"}}).json()
    assert without["total"] == 25
    empty = without["documents"][0]["number"]
    decided = {"document": empty, "revision": 1, "state": "no label applies"}
    body = {"by": "Ana", "decisions": [first, decided]}
    assert server.ask("POST", "/v1/corpora/queue/decisions", body).status == 200
    found = run_job(server, {"kind": "suggest", "corpus": "queue", "count": 10})["documents"]
    assert len({one["number"] for one in found}) == 10
    assert {one["number"] for one in found} < {one["number"] for one in without["documents"]} - {empty}
    assert [len(one["labels"]) for one in found] == [5] * 10
    asked = {"filter": {"queue": "suggest", "state": "not reviewed"}, "order": "queue", "limit": 6}
    page = server.ask("POST", "/v1/corpora/queue/search", asked).json()
    rest = server.ask("POST", "/v1/corpora/queue/search", {**asked, "cursor": page["next"]}).json()
    shown = page["documents"] + rest["documents"]
    assert [one["number"] for one in shown] == [one["number"] for one in found]
    for one, document in zip(found, shown, strict=True):
        likely = {label["label"]: label["probability"] for label in one["labels"] if label["probability"] >= 0.5}
        kept = {label["label"]: label["suggestion"] for label in document["labels"]}
        assert kept == {label: {"action": "add", "probability": p, "source": "suggest"} for label, p in likely.items()}
    other = server.ask("POST", "/v1/corpora/queue/search", {"filter": {"any_label": "suggested"}}).json()
    assert other["total"] == 0  # these are the suggestions of an audit
    again = run_job(server, {"kind": "suggest", "corpus": "queue", "count": 3})["documents"]
    assert [one["number"] for one in again] == [one["number"] for one in found[:3]]
    assert server.ask("POST", "/v1/corpora/queue/search", asked).json()["total"] == 3


def test_nothing_is_suggested_where_every_document_has_a_label(server: InProcess) -> None:
    (Path(str(server.settings.data)) / "uploads" / "done.csv").write_text("text,labels\n" + "late bus,buses\n" * 8)
    run_job(server, {"kind": "import", "data": "done", "corpus": "done"})
    failed = ended_job(server, {"kind": "suggest", "corpus": "done"})
    assert "none is left to label" in failed["error"]
    for request, words in (
        ({"kind": "suggest", "data": "townhall"}, "needs 'corpus'"),
        ({"kind": "audit", "corpus": "queue", "count": 3}, "Only a job of the kind 'suggest' takes 'count'."),
    ):
        assert words in server.ask("POST", "/v1/jobs", request).json()["detail"]


def test_labels_are_reported_with_the_quality_of_a_model(server: InProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    run_job(server, {"kind": "train", "data": "townhall", "model": "svm", "method": "svm"})
    found = run_job(server, {"kind": "labels", "corpus": "townhall"})
    assert (found["documents"], len(found["labels"]), found["model"], found["shortened"]) == (605, 29, None, {})
    trees = next(one for one in found["labels"] if one["label"] == "environment/trees")
    monkeypatch.setattr("manylabel.tasks.jobs.MOST_LISTED", 10)
    found = run_job(server, {"kind": "labels", "data": "townhall", "model": "svm"})
    assert trees["documents"] in [one["documents"] for one in found["labels"] if one["label"] == trees["label"]]
    assert (found["model"]["model"], found["model"]["measured_on"]) == ("svm", "the test split")
    assert len(found["labels"]) == len(found["model"]["quality"]) == 10
    assert (found["shortened"]["labels"], found["shortened"]["model.quality"]) == (29, 28)
    listed = server.ask("GET", "/v1/jobs?kind=labels&corpus=townhall&limit=1").json()["jobs"]
    assert [(one["kind"], one["request"]["corpus"], one["state"]) for one in listed] == [("labels", "townhall", "done")]
    assert server.ask("GET", "/v1/jobs?kind=labels&corpus=review").json() == {"jobs": []}


# ---- the demonstration -----------------------------------------------------------------------------------------------


def test_the_demonstration_is_prepared_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filling, "train_demo", small_model)
    assert filling.prepare_demo(tmp_path / "data") == tmp_path / "data" / "models" / "townhall.manylabel"
    store = JobStore(tmp_path / "data")
    listed = [one["request"] for one in store.list(None, 100)]
    assert listed[::-1] == list(filling.DEMO_JOBS)
    for request in filling.DEMO_JOBS:  # the corpus is there before the first job runs
        check_request(store, JobRequest(**request))
    monkeypatch.setattr(filling, "train_demo", None)  # the model is there, and is not trained again
    filling.prepare_demo(tmp_path / "data")
    assert len(store.list(None, 100)) == len(filling.DEMO_JOBS)


def test_attributes_of_arff_are_labels_by_number(server: InProcess) -> None:
    uploads = Path(str(server.settings.data), "uploads")
    lines = ["@relation r", "@attribute bus numeric", "@attribute late {0,1}", "@data", "1,1", "0,1", "2,0"]
    (uploads / "counts.arff").write_text("\n".join(lines))
    asked = {"kind": "preview", "data": "counts"}
    failed = ended_job(server, asked)
    assert failed["error"].startswith("uploads/counts.arff: ")  # not the place of the data directory
    assert "label_count" in failed["error"]
    found = run_job(server, {**asked, "options": {"label_count": -1}})
    assert (found["format"], found["top_labels"]) == ("arff", [{"label": "late", "documents": 2}])


def test_a_row_of_a_leaderboard_is_trained(server: InProcess) -> None:
    store = JobStore(Path(str(server.settings.data)))
    recipes = [Recipe.of("rocchio").as_dict(), Recipe.of("rocchio", {"features": {"ngram_range": (1, 2)}}).as_dict()]
    rows = [
        {"method": "rocchio", "features": name, "rule": "per-label", "recipe": recipe}
        for name, recipe in zip(("words", "word pairs"), recipes, strict=True)
    ]
    job = store.add("compare", {"data": "letters"}, 10)
    store.take()
    assert job is not None
    store.end(job["id"], "done", result=json.dumps({"leaderboard": rows}))
    asked = {"kind": "train", "data": "letters", "model": "row", "comparison": job["id"]}
    assert run_job(server, asked)["recipe"] == json.loads(json.dumps(recipes[0]))
    named = run_job(server, {**asked, "pipeline": "rocchio · word pairs · per-label"})
    assert named["recipe"] == json.loads(json.dumps(recipes[1]))
    wrong = {
        "pipeline of the comparison": {**asked, "pipeline": "nb · words"},
        "no comparison": {**asked, "comparison": "0" * 16},
        "Only a job of the kind 'train' and 'retrain' takes 'comparison'.": {
            **asked,
            "kind": "score",
            "data": None,
            "corpus": "townhall",
        },
    }
    for part, request in wrong.items():
        answer = server.ask("POST", "/v1/jobs", {key: value for key, value in request.items() if value is not None})
        assert answer.status in (404, 422)
        assert part in answer.json()["detail"]

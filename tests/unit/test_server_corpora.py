"""The addresses of corpora under review, and the jobs that fill them."""

import io
import json
from pathlib import Path

import pytest

from manylabel.data import read
from manylabel.server.jobs.store import JobStore
from served import Answered, InProcess, in_process, run_job

LETTERS = "key;body;topics;split\n" + "".join(
    f"{number};{text};{label};{'test' if number % 3 == 0 else 'train'}\n"
    for number, (text, label) in enumerate(
        [("late bus", "buses"), ("bad road", "roads"), ("dark lamp", "lamps"), ("bus on road", "buses,roads")] * 6
    )
)
IMPORT = {
    "kind": "import",
    "data": "letters",
    "corpus": "letters",
    "options": {"text_column": "body", "label_column": "topics", "label_separator": ",", "id_column": "key"},
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> InProcess:
    """A server with a corpus that has scores; tests change documents of their own."""
    store = JobStore(tmp_path_factory.mktemp("server"))
    store.prepare()
    (store.uploads / "letters.csv").write_text(LETTERS)
    made = in_process({}, {"body": 100_000}, data=str(store.folder))
    imported = run_job(made, IMPORT)
    assert (imported["documents"], imported["labels"], imported["fields"]) == (24, 3, ["body"])
    scored = run_job(made, {"kind": "score", "corpus": "letters", "method": "nb-binary"})
    assert "out-of-fold" in str(scored["how"])
    return made


def ask(server: InProcess, path: str, body: object = None, method: str = "POST") -> Answered:
    return server.ask("GET" if body is None else method, f"/v1/corpora/letters{path}", body)


def decide(server: InProcess, by: str, document: int, revision: int, **given: object) -> Answered:
    one = {"document": document, "revision": revision, **given}
    return ask(server, "/decisions", {"by": by, "decisions": [one]})


def test_corpora_are_listed_and_described(server: InProcess) -> None:
    assert server.ask("GET", "/v1/corpora").json() == {"corpora": ["letters"]}
    found = ask(server, "").json()
    assert (found["documents"], found["labels"], found["splits"]) == (24, 3, {"test": 8, "train": 16})
    assert found["format"] == "csv"


def test_documents_are_searched_page_by_page(server: InProcess) -> None:
    asked = {"filter": {"text": "road", "split": "train"}, "order": "score", "label": "roads", "descending": True}
    first = ask(server, "/search", {**asked, "limit": 5}).json()
    rest = ask(server, "/search", {**asked, "cursor": first["next"], "count": False}).json()
    assert (first["total"], len(first["documents"]), len(rest["documents"]), rest["total"]) == (8, 5, 3, None)
    assert rest["next"] is None
    scores = [one["labels"] for one in first["documents"]]
    assert all(label["score"] is not None for labels in scores for label in labels if label["label"] == "roads")
    shown = ask(server, f"/documents/{first['documents'][0]['number']}").json()
    assert "road" in shown["fields"]["body"]
    assert ask(server, "/documents/999").status == 404


def test_a_conflict_tells_what_the_other_user_decided(server: InProcess) -> None:
    assert decide(server, "Ana", 1, 1, accept=["lamps"], state="reviewed").json()["revisions"] == [2]
    refused = decide(server, "Ben", 1, 1, reject=["lamps"])
    assert (refused.status, refused.headers["content-type"]) == (409, "application/problem+json")
    [conflict] = refused.json()["conflicts"]
    assert [change["now"] for change in conflict["changes"]] == ["reviewed", "accepted"]
    assert (conflict["changes"][0]["by"], conflict["document"]["revision"]) == ("Ana", 2)
    events = ask(server, "/events?by=Ana").json()["events"]
    assert (events[0]["kind"], events[0]["changes"], events[0]["documents"]) == ("decision", 2, [1])
    since = ask(server, f"/events?after={events[0]['number']}").json()
    assert (since["events"], since["latest"]) == ([], events[0]["number"])
    assert ask(server, "/undo", {"by": "Ana"}).json()["undone"] == events[0]["number"]
    assert ask(server, "/documents/1").json()["state"] == "not reviewed"


def test_a_filter_is_previewed_and_then_changed(server: InProcess) -> None:
    asked = {
        "filter": {"text": "lamp", "labels": [{"label": "lamps", "relation": "true"}]},
        "action": {"do": "accept", "label": "lamps"},
    }
    preview = ask(server, "/bulk/preview", asked).json()
    assert (preview["documents"], preview["changes"], len(preview["sample"])) == (6, 6, 6)
    done = ask(server, "/bulk", {**asked, "by": "Cem", "revision": preview["revision"]})
    assert done.json()["changes"] == 6
    assert ask(server, "/bulk", {**asked, "by": "Cem", "revision": preview["revision"]}).status == 409
    assert ask(server, "/undo", {"by": "Cem"}).status == 200


def test_labels_are_changed_by_name(server: InProcess) -> None:
    assert ask(server, "/labels", {"by": "Dea", "do": "add", "label": "a/b 'c'"}).status == 200
    [found] = ask(server, "/labels?typed=A/B").json()["labels"]
    assert (found["label"], found["documents"], found["threshold"], found["f1"]) == ("a/b 'c'", 0, None, None)
    assert ask(server, "/labels", {"by": "Dea", "do": "add", "label": "a/b 'c'"}).status == 409
    assert ask(server, "/labels", {"by": "Dea", "do": "rename", "label": "a/b 'c'", "to": "c"}).status == 200
    assert ask(server, "/labels", {"by": "Eli", "do": "retire", "label": "a/b 'c'"}).status == 409
    assert ask(server, "/labels", {"by": "Dea", "do": "merge", "label": "c", "to": "roads"}).status == 200
    assert ask(server, "/labels", {"by": "Dea", "do": "merge", "label": "roads"}).status == 422
    assert ask(server, "/labels").json()["total"] == 3


def test_a_table_of_labels_is_read_by_pages(server: InProcess) -> None:
    found = ask(server, "/labels?order=documents&descending=true&limit=2").json()
    assert (found["total"], [one["label"] for one in found["labels"]]) == (3, ["buses", "roads"])
    assert found["labels"][0]["true_positives"] + found["labels"][0]["false_negatives"] == 12
    rest = ask(server, "/labels?order=documents&descending=true&limit=2&offset=2").json()
    assert [one["label"] for one in rest["labels"]] == ["lamps"]
    assert ask(server, "/labels?order=sql").status == 422


def test_a_corpus_is_deleted_unless_a_job_works_on_it(server: InProcess) -> None:
    run_job(server, {**IMPORT, "corpus": "other"})
    waiting = server.ask("POST", "/v1/jobs", {"kind": "score", "corpus": "other"}).json()["id"]
    refused = server.ask("DELETE", "/v1/corpora/other")
    assert (refused.status, refused.json()["conflicts"]) == (409, [])
    assert "is queued" in refused.json()["detail"]
    assert server.ask("POST", f"/v1/jobs/{waiting}/cancel", {}).status == 200
    assert server.ask("DELETE", "/v1/corpora/other").json() == {"corpora": ["letters"]}
    assert server.ask("DELETE", "/v1/corpora/other").status == 404
    folder = Path(str(server.settings.data), "corpora")
    assert [path.name for path in folder.iterdir()] == ["letters"]


def test_conflicts_are_described(server: InProcess) -> None:
    document = server.ask("GET", "/v1/openapi.json").json()
    described = document["paths"]["/v1/corpora/{corpus}/decisions"]["post"]["responses"]["409"]
    name = described["content"]["application/problem+json"]["schema"]["$ref"].rpartition("/")[2]
    assert set(document["components"]["schemas"][name]["properties"]) >= {"detail", "conflicts"}
    assert {"document", "changes"} == set(document["components"]["schemas"]["Conflict"]["properties"])


def test_confusions_open_their_documents(server: InProcess) -> None:
    found = ask(server, "/confusions?limit=1&typed=s").json()
    assert set(found) == {"documents", "total", "pairs"}
    for pair in found["pairs"]:
        conditions = [
            {"label": pair["missed"], "relation": "false negative"},
            {"label": pair["wrong"], "relation": "false positive"},
        ]
        assert ask(server, "/search", {"filter": {"labels": conditions}}).json()["total"] == pair["documents"]
    assert ask(server, "/confusions?label=bus").status == 422


def test_keyword_rules_are_studied_and_saved(server: InProcess) -> None:
    study = ask(server, "/rules/study", {"rules": "buses: bus\nroads: (\nlamps: lamp"}).json()
    assert [(one["line"], one["documents"], one["true"]) for one in study["rules"]] == [(1, 12, 12), (3, 6, 6)]
    assert (study["read"], [one["line"] for one in study["problems"]]) == (24, [2])
    asked = {"by": "Hal", "revision": ask(server, "/rules").json()["revision"], "rules": "buses: bus"}
    event = ask(server, "/rules", asked, "PUT").json()["event"]
    assert ask(server, "/rules", asked, "PUT").status == 409
    assert (ask(server, "/rules").json()["rules"], ask(server, "/rules").json()["revision"]) == ("buses: bus", event)
    assert ask(server, "/events?by=Hal").json()["events"][0]["detail"] == {"lines": 1}
    assert ask(server, "/undo", {"by": "Hal"}).json()["undone"] == event
    assert ask(server, "/rules").json()["rules"] == ""
    assert ask(server, "/search", {"filter": {"rule": "bus AND road"}}).json()["total"] == 6


def test_thresholds_are_studied_and_saved(server: InProcess) -> None:
    study = ask(server, "/thresholds/study", {"precision": 0.9}).json()
    assert {one["label"] for one in study["labels"]} == {"buses", "roads", "lamps"}
    one = ask(server, "/thresholds/study", {"label": "roads", "threshold": 1.0}).json()
    assert one["labels"][0]["now"]["true_positives"] + one["labels"][0]["now"]["false_negatives"] == 12
    assert len(one["leave"]) == one["labels"][0]["leave"]
    assert ask(server, "/thresholds/curve?label=roads").json()["points"]
    saved = {"by": "Fay", "revision": one["revision"], "thresholds": {"roads": 0.9}}
    assert ask(server, "/thresholds", saved, "PUT").status == 200
    assert ask(server, "/thresholds", saved, "PUT").status == 409
    assert ask(server, "/undo", {"by": "Fay"}).status == 200


def test_the_format_of_the_data_comes_first(tmp_path: Path) -> None:
    """The browser preselects it."""
    openpyxl = pytest.importorskip("openpyxl")
    store = JobStore(tmp_path)
    store.prepare()
    (store.uploads / "letters.tsv").write_text("a late bus\t<http://x.org/1>\na hole\t<http://x.org/2>\n")
    book = openpyxl.Workbook()
    for row in (["text", "labels"], ["a late bus", "buses"], ["a hole", "roads"]):
        book.active.append(row)
    book.save(store.uploads / "sheet.xlsx")
    made = in_process({}, {"body": 100_000}, data=str(store.folder))
    for data, format in (("letters", "tsv"), ("sheet", "excel")):
        run_job(made, {"kind": "import", "data": data, "corpus": data})
        assert made.ask("GET", f"/v1/corpora/{data}/formats").json()["formats"][0] == format


def test_the_corpus_is_exported_and_trained_on(server: InProcess, tmp_path: Path) -> None:
    number = 24
    decide(server, "Gil", number, 1, reject=["roads"], accept=["lamps"])
    assert "jsonl" in ask(server, "/formats").json()["formats"]
    exported = ask(server, "/export?format=jsonl")
    assert 'filename="letters.jsonl"' in exported.headers["content-disposition"]
    (tmp_path / "letters.jsonl").write_bytes(exported.body)
    corpus = read(tmp_path / "letters.jsonl").corpus
    assert list(corpus.label_sets)[number - 1] == ["buses", "lamps"]
    lines = [json.loads(line) for line in ask(server, "/decisions").body.splitlines()]
    assert {(one["document"], one["label"], one["action"]) for one in lines} == {
        ("23", "lamps", "add"),
        ("23", "roads", "remove"),
    }
    assert ask(server, "/export?format=arff").status == 422
    openpyxl = pytest.importorskip("openpyxl")
    workbook = ask(server, "/export?format=excel")
    assert 'filename="letters.xlsx"' in workbook.headers["content-disposition"]
    sheet = openpyxl.load_workbook(io.BytesIO(workbook.body)).active
    assert sheet.max_row == len(exported.body.splitlines()) + 1
    trained = run_job(server, {"kind": "train", "corpus": "letters", "model": "mine", "method": "nb-binary"})
    assert trained["documents"] == 16  # the training split
    scored = run_job(server, {"kind": "score", "corpus": "letters", "model": "mine"})
    assert "measured on 8 documents" in str(scored["how"])
    audited = run_job(server, {"kind": "audit", "corpus": "letters"})
    waiting = ask(server, "/search", {"filter": {"any_label": "suggested"}}).json()["total"]
    assert waiting <= audited["suggestions"] <= len(audited["doubted"])  # decided labels get none
    taken = ask(server, "/bulk/preview", {"filter": {}, "action": {"do": "take suggestions", "most": 2}}).json()
    assert len(taken["suggestions"]) == taken["changes"] == min(2, audited["suggestions"])
    folder = Path(str(server.settings.data), "corpora", "letters")
    assert {path.name for path in folder.iterdir()} <= {
        "original.csv", "corpus.sqlite", "corpus.sqlite-wal", "corpus.sqlite-shm",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        ("/search", {"filter": {"labels": [{"label": "bus"}]}}, 422, "Did you mean 'buses'"),
        ("/search", {"filter": {"sql": "1"}}, 422, "sql"),
        ("/search", {"order": "score"}, 422, "needs 'label'"),
        ("/search", {"limit": 100_000}, 422, "limit"),
        ("/search", {"filter": {"labels": [{"label": "roads", "least": 1e999}]}}, 422, "least"),
        ("/search", b'{"filter": {"text": "\\ud800"}}', 422, ""),
        ("/decisions", {"by": "", "decisions": [{"document": 1, "revision": 1}]}, 422, "by"),
        ("/decisions", {"by": "x", "decisions": [{"document": 1 << 60, "revision": 1}]}, 422, "document"),
        ("/decisions", {"by": "x", "decisions": [{"document": 77, "revision": 1}]}, 404, "77"),
        ("/decisions", {"by": "x", "decisions": [{"document": 2, "revision": 1, "accept": ["nope"]}]}, 422, "Known"),
        ("/bulk/preview", {"filter": {}, "action": {"do": "accept"}}, 422, "'do' with 'label'"),
        ("/bulk/preview", {"filter": {}, "action": {"do": "accept", "label": "roads", "most": 3}}, 422, "'most' is"),
        ("/thresholds/study", {"threshold": 0.1, "recall": 0.5}, 422, "one of"),
        ("/search", {"filter": {"rule": "bus OR"}}, 422, "ends at column 7"),
        ("/undo", {"by": "nobody"}, 404, "nothing that could be undone"),
    ],
)
def test_wrong_requests_are_explained(server: InProcess, path: str, body: object, status: int, words: str) -> None:
    answer = ask(server, path, body)
    assert (answer.status, answer.headers["content-type"]) == (status, "application/problem+json")
    assert words in answer.json()["detail"]


@pytest.mark.parametrize(
    ("request_body", "words"),
    [
        (IMPORT, "already"),
        ({"kind": "import", "data": "letters"}, "needs 'corpus', the name of the new"),
        ({**IMPORT, "corpus": "../x"}, "corpus: letters, digits, - and _ only"),
        ({**IMPORT, "corpus": "new", "options": {"label_names_file": "/etc/passwd"}}, "label_names_file"),
        ({"kind": "score", "data": "letters"}, "needs 'corpus'"),
        ({"kind": "audit", "data": "letters", "corpus": "letters"}, "either"),
        ({"kind": "audit"}, "either"),
        ({"kind": "score", "corpus": "other"}, "no corpus 'other'"),
        ({"kind": "audit", "corpus": "letters", "options": {}}, "'options' are for 'data'"),
    ],
)
def test_wrong_jobs_are_refused(server: InProcess, request_body: object, words: str) -> None:
    answer = server.ask("POST", "/v1/jobs", request_body)
    assert answer.status == 422
    assert words in answer.json()["detail"]


def test_a_body_over_the_limit_is_refused(server: InProcess) -> None:
    answer = ask(server, "/search", {"filter": {"text": "a" * 100_000}})
    assert (answer.status, answer.headers["connection"]) == (413, "close")
    assert "100,000 bytes" in answer.json()["detail"]


def test_names_in_addresses_never_lead_out_of_the_directory(server: InProcess) -> None:
    for name in ("..", "...", "%2e%2e", "other", ".letters", "letters%00", "x" * 100):
        assert server.ask("GET", f"/v1/corpora/{name}").status in (404, 422)


def test_every_address_is_described(server: InProcess) -> None:
    paths = server.ask("GET", "/v1/openapi.json").json()["paths"]
    assert len([path for path in paths if path.startswith("/v1/corpora")]) == 19

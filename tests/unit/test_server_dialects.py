"""The dialects other than our own: requests and answers have the published shapes."""

import json
from pathlib import Path
from urllib.parse import urlencode

import pytest

from connected import Transport, talk
from manylabel import TextClassifier
from manylabel.cli.run import run
from manylabel.data import Corpus
from manylabel.data.label_vocabulary import LabelVocabulary
from manylabel.server.connections import Connection
from manylabel.tasks.model_facts import training_facts
from served import InProcess, in_process, loading, small_model

FORM = {"content-type": "application/x-www-form-urlencoded"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> InProcess:
    return in_process({"letters": small_model(tmp_path_factory.mktemp("models") / "letters.manylabel")})


def form(**fields: object) -> bytes:
    return urlencode(fields).encode()


# ---- Annif -----------------------------------------------------------------------------------------------------------


def test_annif_projects_have_annifs_fields(server: InProcess) -> None:
    [project] = server.ask("GET", "/v1/projects").json()["projects"]
    assert project == server.ask("GET", "/v1/projects/letters").json()
    assert {"project_id", "name", "language", "backend", "vocab", "is_trained", "modification_time"} <= set(project)
    assert project["backend"] == {"backend_id": "nb-binary"}
    assert server.ask("GET", "/v1/vocabs").json()["vocabs"][0]["size"] == 3
    missing = server.ask("GET", "/v1/projects/other")
    assert (missing.status, missing.headers["content-type"]) == (404, "application/problem+json")


def test_annif_suggestions_are_ranked_and_limited(server: InProcess) -> None:
    answer = server.ask("POST", "/v1/projects/letters/suggest", form(text="bus"), FORM)
    results = answer.json()["results"]
    assert {frozenset(one) for one in results} == {frozenset({"uri", "label", "notation", "score"})}
    assert results[0]["label"] == "buses"
    assert [one["score"] for one in results] == sorted((one["score"] for one in results), reverse=True)
    assert len(results) == 3  # every label has a score above 0
    limited = server.ask("POST", "/v1/projects/letters/suggest", form(text="bus", limit=1, metadata_title="late"), FORM)
    assert len(limited.json()["results"]) == 1
    assert server.ask("POST", "/v1/projects/letters/suggest", form(text="bus", limit=0), FORM).json() == {"results": []}


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"text": "a", "limit": "-1"},
        {"text": "a", "limit": "1e9"},
        {"text": "a", "threshold": "nan"},
        {"text": "a", "threshold": 2},
    ],
)
def test_annif_refuses_what_annif_refuses(server: InProcess, fields: dict[str, object]) -> None:
    assert server.ask("POST", "/v1/projects/letters/suggest", form(**fields), FORM).status == 400


def test_annif_batches_keep_their_ids_and_their_limit(server: InProcess) -> None:
    documents = [{"document_id": "one", "text": "bus"}, {"text": "road", "metadata": {"title": "bad"}}]
    found = server.ask("POST", "/v1/projects/letters/suggest-batch?limit=1", {"documents": documents}).json()
    assert [(one["document_id"], one["results"][0]["label"]) for one in found] == [("one", "buses"), (None, "roads")]
    too_many = server.ask("POST", "/v1/projects/letters/suggest-batch", {"documents": [{"text": "a"}] * 33})
    assert too_many.status == 400
    assert server.ask("POST", "/v1/projects/letters/suggest-batch?limit=x", {"documents": []}).status == 400
    assert server.ask("POST", "/v1/projects/letters/suggest-batch?limits=1", {"documents": []}).status == 400


def test_annif_accepts_the_language_that_it_reports(tmp_path: Path) -> None:
    texts = ["der Bus kam wieder nicht", "der Weg ist schlecht und hat tiefe Gruben"]
    names = {"": {"http://x/b": "Busse", "http://x/r": "Wege"}}
    for name, vocabulary in (("plain", None), ("named", LabelVocabulary(names, ""))):
        classifier = TextClassifier("nb-binary", features={"stemmer": "german"})
        classifier.fit(texts, [["Busse"], ["Wege"]], vocabulary=vocabulary).save(tmp_path / name)
    server = in_process({name: tmp_path / name for name in ("plain", "named")})
    for project in server.ask("GET", "/v1/projects").json()["projects"]:
        assert (project["vocab_language"], project["vocab"]["languages"]) == ("de", ["de"])
        path = f"/v1/projects/{project['project_id']}/suggest"
        found = server.ask("POST", path, form(text="Bus", language="de"), FORM)
        assert found.json()["results"][0]["label"] == "Busse"
        batch = server.ask("POST", f"{path}-batch?language=de", {"documents": [{"text": "Bus"}]})
        assert batch.json()[0]["results"][0]["label"] == "Busse"
        assert server.ask("POST", path, form(text="Bus", language="fr"), FORM).status == 422


def test_annif_reports_the_language_of_the_labels(tmp_path: Path) -> None:
    """The one that the vocabulary was used in, as Annif reports that of a project; not the first one of all."""
    names = {"en": {"http://x/b": "buses", "http://x/r": "roads"}, "fi": {"http://x/b": "bussit", "http://x/r": "tiet"}}
    names[""] = {"http://x/b": "B1", "http://x/r": "R1"}
    texts = ["bussi on taas tulossa", "tie on huono"]
    for language in ("fi", "en", ""):
        classifier = TextClassifier("nb-binary", features={"stemmer": "finnish"})
        own = [[names[language]["http://x/b"]], [names[language]["http://x/r"]]]
        classifier.fit(texts, own, vocabulary=LabelVocabulary(names, language)).save(tmp_path / (language or "none"))
    server = in_process({name: tmp_path / name for name in ("fi", "en", "none")})
    for name, label in (("fi", "bussit"), ("en", "buses"), ("none", "B1")):
        project = server.ask("GET", f"/v1/projects/{name}").json()
        expected = "und" if name == "none" else name
        assert (project["vocab_language"], project["language"]) == (expected, "fi")
        assert project["vocab"]["languages"] == sorted({"en", "fi", expected})
        for language in ({}, {"language": expected}):
            found = server.ask("POST", f"/v1/projects/{name}/suggest", form(text="bussi", **language), FORM)
            assert found.json()["results"][0]["label"] == label


def test_annif_reports_the_language_of_the_texts_of_a_method_that_does_not_stem(tmp_path: Path) -> None:
    texts = [
        "Bussi oli taas myöhässä, eikä kukaan sanonut, että se on rikki.",
        "Tie on huono ja se on ollut sitä kauan.",
    ]
    corpus = Corpus(ids=["1", "2"], fields={"text": texts}, labels=[["bussit"], ["tiet"]])
    facts = training_facts(corpus, "mail", "train")
    TextClassifier("nb-binary", features={"tokens": "words"}).fit(texts, corpus.label_sets).save(tmp_path / "m", facts)
    project = in_process({"m": tmp_path / "m"}).ask("GET", "/v1/projects/m").json()
    assert (project["language"], project["vocab_language"]) == ("fi", "fi")


def test_annif_detects_languages(server: InProcess) -> None:
    asked = {"text": "Der Bus kam wieder zu spät, und niemand sagte uns, warum.", "languages": ["en", "de"]}
    results = server.ask("POST", "/v1/detect-language", asked).json()["results"]
    assert results[0] == {"language": "de", "score": 1.0}
    assert {one["language"] for one in results} == {"de", "en", None}
    unknown = server.ask("POST", "/v1/detect-language", {"text": "xyzzy", "languages": ["en"]}).json()["results"]
    assert unknown[0] == {"language": None, "score": 1.0}
    assert server.ask("POST", "/v1/detect-language", {"text": "a", "languages": ["xx"]}).status == 422


# ---- errors before a dialect is asked --------------------------------------------------------------------------------

MEMBERS = {
    "/predict": {"error", "error_type"},
    "/v2/models/letters/infer": {"error"},
    "/v2/unknown": {"error"},
    "/invocations": {"error_code", "message"},
    "/v1/projects/letters/suggest": {"type", "title", "status", "detail"},
}
"""What an error holds in the dialect of an address."""


@pytest.mark.parametrize("path", MEMBERS)
def test_what_the_gate_refuses_has_the_form_of_its_dialect(server: InProcess, path: str) -> None:
    kind = "application/problem+json" if path.startswith("/v1") else "application/json"
    closed = in_process({}, token="a-token-of-some-length")
    for refused, status in (
        (closed.ask("POST", path, {}), 401),
        (server.ask("POST", path, {}, {"host": "evil.example"}), 421),
    ):
        assert (refused.status, refused.headers["content-type"], set(refused.json())) == (status, kind, MEMBERS[path])


@pytest.mark.parametrize("path", MEMBERS)
def test_headers_that_are_too_long_are_refused_in_the_form_of_their_dialect(server: InProcess, path: str) -> None:
    async def refused(connection: Connection, transport: Transport) -> None:
        connection.data_received(f"POST {path} HTTP/1.1\r\nHost: localhost\r\n".encode() + b"X: " + b"a" * (40 << 10))

    sent = b"".join(talk(server, refused).sent)
    assert sent.startswith(b"HTTP/1.1 431 ")
    assert set(json.loads(sent.partition(b"\r\n\r\n")[2])) == MEMBERS[path]


def test_answers_while_models_are_loaded_have_the_form_of_their_dialect() -> None:
    with loading() as (waiting, *_):
        for path, members in MEMBERS.items():
            answer = waiting.ask("POST", path, {})
            assert (answer.status, set(answer.json())) == (503, members)
            assert ("Unhealthy" in answer.body.decode()) == (path == "/predict")


# ---- Hugging Face TEI ------------------------------------------------------------------------------------------------


def test_tei_scores_every_label_of_a_text_a_pair_and_a_batch(server: InProcess) -> None:
    one = server.ask("POST", "/predict", {"inputs": "bus"}).json()
    assert [set(each) for each in one] == [{"label", "score"}] * 3
    assert one[0]["label"] == "buses"
    batch = server.ask("POST", "/predict", {"inputs": [["bus"], ["road", "bad"]], "truncate": True}).json()
    assert batch[0] == one
    assert batch[1] == server.ask("POST", "/predict", {"inputs": ["road", "bad"]}).json()
    raw = server.ask("POST", "/predict", {"inputs": "bus", "raw_scores": True}).json()
    assert [each["label"] for each in raw] == [each["label"] for each in one]


@pytest.mark.parametrize("inputs", [["one"], ["a", "b", "c"], [[]], [["a", "b", "c"]], [["a"], "b"], 7])
def test_tei_refuses_with_its_own_error(server: InProcess, inputs: object) -> None:
    answer = server.ask("POST", "/predict", {"inputs": inputs})
    assert answer.status == 422
    assert answer.json()["error_type"] == "Validation"
    assert set(answer.json()) == {"error", "error_type"}


def test_tei_info_describes_a_classifier(server: InProcess) -> None:
    info = server.ask("GET", "/info").json()
    assert info["model_type"]["classifier"]["id2label"] == {"0": "buses", "1": "lamps", "2": "roads"}
    assert info["model_sha"] == server.models.first.sha256
    assert {"max_concurrent_requests", "max_input_length", "max_client_batch_size", "version"} <= set(info)


# ---- Open Inference Protocol -----------------------------------------------------------------------------------------


def tensor(data: list[object], shape: list[int] | None = None, datatype: str = "BYTES") -> dict[str, object]:
    return {"name": "texts", "shape": shape or [len(data)], "datatype": datatype, "data": data}


def test_open_inference_labels_texts(server: InProcess) -> None:
    asked = {"id": "7", "inputs": [tensor(["bus", "road"])], "outputs": [{"name": "labels"}, {"name": "scores"}]}
    answer = server.ask("POST", "/v2/models/letters/infer", asked).json()
    labels, scores = answer["outputs"]
    assert (answer["id"], answer["model_name"]) == ("7", "letters")
    assert [json.loads(one) for one in labels["data"]] == [["buses"], ["roads"]]
    assert (scores["datatype"], scores["shape"], len(scores["data"])) == ("FP64", [2, 3], 6)
    nested = server.ask("POST", "/v2/models/letters/infer", {"inputs": [tensor([["bus"], ["road"]], [2, 1])]}).json()
    assert nested["outputs"] == [labels]
    version = f"/v2/models/letters/versions/{answer['model_version']}"
    assert server.ask("POST", f"{version}/infer", {"inputs": [tensor(["bus"])]}).status == 200
    assert server.ask("GET", version).json()["versions"] == [answer["model_version"]]
    assert server.ask("GET", "/v2/models/letters/versions/0/ready").status == 404


@pytest.mark.parametrize(
    "inputs",
    [[], [tensor(["a"], [2])], [tensor([1])], [tensor(["a"], datatype="FP32")], [tensor(["a"]), tensor(["b"])]],
)
def test_open_inference_refuses_with_its_own_error(server: InProcess, inputs: object) -> None:
    answer = server.ask("POST", "/v2/models/letters/infer", {"inputs": inputs})
    assert answer.status == 400
    assert set(answer.json()) == {"error"}


def test_open_inference_describes_server_and_model(server: InProcess) -> None:
    assert set(server.ask("GET", "/v2").json()) == {"name", "version", "extensions"}
    assert server.ask("GET", "/v2/health/ready").json() == {"ready": True}
    metadata = server.ask("GET", "/v2/models/letters").json()
    assert {"name", "versions", "platform", "inputs", "outputs"} == set(metadata)


# ---- MLflow ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "request_body",
    [
        {"inputs": ["bus", "road"]},
        {"instances": ["bus", "road"]},
        {"inputs": {"text": ["bus", "road"]}},
        {"inputs": [{"text": "bus"}, {"text": "road"}]},
        {"dataframe_split": {"columns": ["text"], "data": [["bus"], ["road"]]}},
        {"dataframe_split": {"columns": ["title", "body"], "index": [0, 1], "data": [["bus", ""], ["", "road"]]}},
        {"dataframe_records": [{"text": "bus"}, {"text": "road"}]},
        {"dataframe_records": [{"id": 7, "text": "bus", "by": "road"}, {"text": "road", "seen": None, "of": [1]}]},
        {"dataframe_split": {"columns": ["id", "when", "text"], "data": [[7, None, "bus"], [8.5, 20_260_101, "road"]]}},
        {"dataframe_split": {"columns": ["title", "body"], "data": [[None, "bus"], [2, "road"]]}},
        {"dataframe_split": {"columns": ["nr", "letter"], "data": [[1, "bus"], [2, "road"]]}},
        {"inputs": {"nr": [1, 2], "letter": ["bus", "road"]}},
    ],
)
def test_mlflow_takes_every_form(server: InProcess, request_body: object) -> None:
    assert server.ask("POST", "/invocations", request_body).json() == {"predictions": [["buses"], ["roads"]]}


def test_mlflow_parameters_replace_the_rule(server: InProcess) -> None:
    answer = server.ask("POST", "/invocations", {"inputs": ["bus"], "params": {"top": 2}}).json()
    assert len(answer["predictions"][0]) == 2


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        (None, "Row 2 has no text: 'text' holds null. Leave the row out, or send a text."),
        (["a"], "Row 2: the column 'text' holds a list, and needs a text."),
        (True, "Row 2: the column 'text' holds true or false, and needs a text."),
    ],
)
def test_mlflow_explains_a_row_without_a_text(server: InProcess, cell: object, words: str) -> None:
    rows = [{"id": 1, "text": "bus"}, {"id": 2, "text": cell}]
    for table in ({"dataframe_records": rows}, {"dataframe_split": {"columns": ["text"], "data": [["bus"], [cell]]}}):
        answer = server.ask("POST", "/invocations", table)
        assert (answer.status, answer.json()["message"]) == (400, words)
    numbers = {"dataframe_split": {"columns": ["text"], "data": [[12], [1.5]]}}
    assert server.ask("POST", "/invocations", numbers).json() == {"predictions": [[], []]}
    none = server.ask("POST", "/invocations", {"dataframe_records": [{"a": 1, "b": 2}]}).json()["message"]
    assert none == "No column of the table holds texts. Found: 'a', 'b'. Name the one that does 'text'."


def test_mlflow_reads_the_columns_of_the_training(tmp_path: Path) -> None:
    model = tmp_path / "letters.manylabel"
    table = tmp_path / "letters.csv"
    table.write_text("Brief,labels\n" + "the late bus,buses\nthe bad road,roads\n" * 4, encoding="utf-8")
    assert run(["train", str(table), "--text-column", "Brief", "--method", "nb-binary", "--model", str(model)]) == 0
    rows = [{"Brief": "bus", "comment": "road road"}, {"Brief": "road", "comment": "bus bus"}]
    answer = in_process({"letters": model}).ask("POST", "/invocations", {"dataframe_records": rows})
    assert answer.json() == {"predictions": [["buses"], ["roads"]]}


@pytest.mark.parametrize(
    "request_body",
    [
        {},
        {"inputs": ["a"], "instances": ["b"]},
        {"inputs": {"a": ["x"], "b": []}},
        {"inputs": [1]},
        {"dataframe_split": {"columns": ["a"], "data": [["x", "y"]]}},
        {"dataframe_split": {"columns": ["a", "a"], "data": [["x", "y"]]}},
    ],
)
def test_mlflow_refuses_with_its_own_error(server: InProcess, request_body: object) -> None:
    answer = server.ask("POST", "/invocations", request_body)
    assert answer.status == 400
    assert answer.json()["error_code"] == "BAD_REQUEST"


def test_mlflow_reads_no_csv(server: InProcess) -> None:
    answer = server.ask("POST", "/invocations", b"text\nbus\n", {"content-type": "text/csv"})
    assert (answer.status, "Content-Type: application/json" in answer.json()["message"]) == (415, True)


def test_mlflow_ping(server: InProcess) -> None:
    assert server.ask("GET", "/ping").status == 200

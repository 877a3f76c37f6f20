"""The server's application: limits, refusals, and what each answer names."""

import asyncio
import hashlib
import json
import os
import re
import socket
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from manylabel import TextClassifier
from manylabel.data.label_vocabulary import LabelVocabulary
from manylabel.exceptions import ParameterError
from manylabel.server.channel import FoundModel
from manylabel.server.jobs.store import JobStore
from manylabel.server.models import Models
from manylabel.server.settings import Limits, check_exposure, parse_origins, read_token, worker_count
from manylabel.tasks.serving import ModelVersion, ServedModel, Wanted, served_names
from served import InProcess, in_process, loading, small_model

PREDICT = "/v1/models/letters/predict"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_model(tmp_path_factory.mktemp("models") / "letters.manylabel")


@pytest.fixture(scope="module")
def server(model: Path) -> InProcess:
    return in_process({"letters": model})


def test_one_document_and_a_batch_get_the_labels_of_the_classifier(server: InProcess, model: Path) -> None:
    texts = ["the bus is late", "a bad road and a bus", "", "nothing known here"]
    expected = TextClassifier.load(model).predict(texts)
    batch = server.ask("POST", PREDICT, {"documents": texts}).json()
    assert [sorted(one["label"] for one in each["labels"]) for each in batch["predictions"]] == expected
    for text, labels in zip(texts, expected, strict=True):
        [one] = server.ask("POST", PREDICT, {"text": text}).json()["predictions"]
        assert sorted(each["label"] for each in one["labels"]) == labels


def test_an_answer_names_the_model_its_version_and_the_hash_of_its_file(server: InProcess, model: Path) -> None:
    answer = server.ask("POST", PREDICT, {"text": "bus"})
    found = answer.json()
    assert found["model"] == answer.headers["manylabel-model"] == "letters"
    assert found["sha256"] == answer.headers["manylabel-sha256"] == hashlib.sha256(model.read_bytes()).hexdigest()
    assert found["version"] == answer.headers["manylabel-version"]


def test_ids_fields_thresholds_and_runners_up(server: InProcess) -> None:
    request = {
        "documents": [{"id": "a", "text": {"title": "bus", "body": "late"}}, "road"],
        "runners_up": 2,
        "thresholds": True,
    }
    first, second = server.ask("POST", PREDICT, request).json()["predictions"]
    assert first["id"] == "a"
    assert "id" not in second
    assert len(first["labels"]) + len(first["runners_up"]) == 3
    assert first["labels"][0]["threshold"] == pytest.approx(0.5)


@pytest.mark.parametrize(("top", "threshold"), [(1, None), (2, None), (None, 0.1), (1, 0.99)])
def test_a_number_and_a_threshold_replace_the_rule(
    server: InProcess, model: Path, top: int | None, threshold: float | None
) -> None:
    asked = {"text": "bus on the road", "top": top, "threshold": threshold}
    [one] = server.ask("POST", PREDICT, asked).json()["predictions"]
    [expected] = TextClassifier.load(model).iter_predictions(["bus on the road"], threshold=threshold, top=top)
    assert sorted(label["label"] for label in one["labels"]) == sorted(expected.labels)
    assert [label["score"] for label in one["labels"]] == sorted(
        (label["score"] for label in one["labels"]), reverse=True
    )


@pytest.mark.parametrize("method", ["nb-binary", "knn", "svm"])
def test_served_predictions_equal_those_of_the_batch_way(tmp_path: Path, method: str) -> None:
    texts = ["bus", "road bus lamp", "the dark road", "", "xyz"]
    path = tmp_path / "m.manylabel"
    TextClassifier(method).fit(["the late bus", "bad road", "dark lamp", "bus and road"] * 5, LABELS_OF_20).save(path)
    served = ServedModel.load("m", ModelVersion.of(path))
    for wanted in (Wanted(), Wanted(top=2), Wanted(threshold=0.3), Wanted(0.2, 1)):
        expected = list(served.classifier.iter_predictions(texts, threshold=wanted.threshold, top=wanted.top))
        found = [served.predict(text, wanted) for text in texts]
        assert [{served.labels[c] for c, _ in one.labels} for one in found] == [set(one.labels) for one in expected]
        for one, batch in zip(found, expected, strict=True):
            assert [score for _, score in one.labels] == pytest.approx([batch.scores[c] for c, _ in one.labels])


LABELS_OF_20 = [["buses"], ["roads"], ["lamps"], ["buses", "roads"]] * 5


def test_labels_are_named_in_the_language_that_is_asked_for(tmp_path: Path) -> None:
    names = {
        "en": {"http://x/1": "buses", "http://x/2": "roads"},
        "de": {"http://x/1": "Busse", "http://x/2": "Straßen"},
    }
    path = tmp_path / "m.manylabel"
    TextClassifier("nb-binary").fit(
        ["late bus", "bad road"], [["buses"], ["roads"]], vocabulary=LabelVocabulary(names, "en")
    ).save(path)
    server = in_process({"m": path})
    answer = server.ask("POST", "/v1/models/m/predict", {"text": "bus", "language": "de"}).json()
    [label] = answer["predictions"][0]["labels"]
    assert (label["label"], label["uri"]) == ("Busse", "http://x/1")
    assert server.ask("GET", "/v1/models/m/labels?language=de").json()["labels"][1]["label"] == "Straßen"
    refused = server.ask("POST", "/v1/models/m/predict", {"text": "bus", "language": "fr"})
    assert refused.status == 422
    assert "de, en" in refused.json()["detail"]


def test_predictions_are_explained(server: InProcess, model: Path) -> None:
    asked = {"documents": [{"id": "a", "text": "late bus"}], "runners_up": 1}
    [one] = server.ask("POST", "/v1/models/letters/explain", asked).json()["explanations"]
    expected = TextClassifier.load(model).explain("late bus", runners_up=1).as_dict()
    assert one == {"id": "a", "explanation": json.loads(json.dumps(expected))}
    assert {term["term"] for term in one["explanation"]["labels"][0]["terms"]} >= {"bus"}
    unknown = server.ask("POST", "/v1/models/letters/explain", {"text": "a", "labels": ["none"]})
    assert unknown.status == 422
    assert "none" in unknown.json()["detail"]


def test_a_body_with_an_encoding_is_refused(server: InProcess) -> None:
    asked = {"text": "late bus"}
    for address in ("/v1/models/letters/predict", "/v1/models/letters/reload", "/predict"):
        for encoding in ("gzip", "br", "identity, gzip"):
            refused = server.ask("POST", address, asked, {"content-encoding": encoding})
            assert (refused.status, refused.headers["accept-encoding"]) == (415, "identity")
            assert f"no body with Content-Encoding: {encoding}. Send it as it is" in refused.body.decode()
    for encoding in ("identity", "Identity "):
        answer = server.ask("POST", "/v1/models/letters/predict", asked, {"content-encoding": encoding})
        assert answer.status == 200


# ---- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b"{", 400, "not valid JSON"),
        (b'{"text": "\xff"}', 400, "not valid UTF-8: byte 10 is 0xff"),
        (b'{"text": "a\\ud800b"}', 400, "not valid JSON: \\ud800 at byte 11 is half of a surrogate pair"),
        (b'{"text": "\\\\ud800 \\ud83d\\ude00 \\udE00"}', 400, "\\udE00 at byte 31 is half"),
        (b'{"text": "\\\\ud800', 400, "Input data was truncated"),
        (b"[]", 422, "Expected `object`"),
        ({}, 422, "neither 'text'"),
        ({"text": "a", "documents": []}, 422, "both"),
        ({"text": 1}, 422, "Expected `str | object`"),
        ({"text": "a", "top": 0}, 422, "top"),
        ({"text": "a", "treshold": 1}, 422, "treshold`. Known: text, documents, "),
        ({"documents": [{"text": "a", "treshold": 1}]}, 422, "treshold` - at `$.documents"),
        ({"text": "a", "threshold": 7}, 422, "0 to 1"),
        ({"text": "a", "language": "de"}, 422, "no vocabulary"),
        ({"documents": ["a"] * 6}, 413, "6 documents; up to 5"),
        ({"text": "a" * 101}, 413, "101 characters"),
        (b" " * 2001, 413, "2,000 bytes"),
    ],
)
def test_a_request_that_cannot_be_answered_is_a_problem(model: Path, body: object, status: int, words: str) -> None:
    server = in_process(
        {"letters": model}, {"body": 200_000 if len(str(body)) > 9_999 else 2_000, "documents": 5, "characters": 100}
    )
    answer = server.ask("POST", PREDICT, body)
    assert answer.status == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["status"] == status
    assert words in answer.json()["detail"]


@pytest.mark.parametrize("documents", [["a"] * 6, ["a", "a" * 101]], ids=["too many", "too long"])
def test_explanations_have_the_limits_of_predictions(model: Path, documents: list[str]) -> None:
    server = in_process({"letters": model}, {"documents": 5, "characters": 100})
    assert server.ask("POST", "/v1/models/letters/explain", {"documents": documents}).status == 413


def test_unknown_models_addresses_methods_and_content_types(server: InProcess) -> None:
    assert "Served: letters" in server.ask("POST", "/v1/models/other/predict", {"text": "a"}).json()["detail"]
    assert server.ask("GET", "/nowhere").status == 404
    assert server.ask("GET", "/v1/models/letters/nowhere").headers["content-type"] == "application/problem+json"
    refused = server.ask("GET", PREDICT)
    assert (refused.status, refused.headers["allow"]) == (405, "POST")
    assert server.ask("DELETE", "/v1/models").status == 405
    assert server.ask("POST", PREDICT, b"{}", {"content-type": "text/plain"}).status == 415


def test_a_body_that_claims_to_be_too_large_is_refused_before_it_is_read(model: Path) -> None:
    server = in_process({"letters": model}, {"body": 10})
    answer = server.ask("POST", PREDICT, b"", {"content-length": "11"})
    assert (answer.status, answer.headers["connection"]) == (413, "close")


def test_a_request_that_takes_too_long_is_told_to_send_fewer_documents(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter(range(0, 1000, 20))
    monkeypatch.setattr("manylabel.server.operations.time.monotonic", lambda: float(next(clock)))
    answer = in_process({"letters": model}).ask("POST", PREDICT, {"documents": ["a"] * 5})
    assert (answer.status, answer.headers["retry-after"]) == (429, "5")
    assert "of 5 documents" in answer.json()["detail"]


def test_more_requests_at_once_than_allowed_are_told_to_try_again(model: Path) -> None:
    server = in_process({"letters": model}, {"requests": 1})

    async def two() -> list[int]:
        server.app.in_flight = 1  # type: ignore[attr-defined]
        busy = await server.request("POST", PREDICT, b'{"text": "a"}')
        assert busy.headers["retry-after"] == "1"
        healthy = await server.request("GET", "/health")
        server.app.in_flight = 0  # type: ignore[attr-defined]
        again = await server.request("POST", PREDICT, b'{"text": "a"}')
        return [busy.status, healthy.status, again.status]

    assert asyncio.run(two()) == [429, 200, 200]


# ---- safety ----------------------------------------------------------------------------------------------------------


def test_a_server_without_data_tells_how_to_get_jobs(server: InProcess) -> None:
    assert "--data DIR" in server.ask("GET", "/v1/jobs").json()["detail"]
    assert "openapi.json" in server.ask("GET", "/v1/job").json()["detail"]


def test_an_address_with_a_slash_at_its_end_is_explained_not_redirected(server: InProcess) -> None:
    answer = server.ask("GET", "/v1/models/letters/")
    assert (answer.status, "Leave out the slash at its end." in answer.json()["detail"]) == (404, True)


def test_with_a_token_only_health_is_open(model: Path) -> None:
    server = in_process({"letters": model}, token="a-token-of-some-length")
    assert server.ask("POST", PREDICT, {"text": "a"}).status == 401
    assert server.ask("GET", "/metrics").status == 401
    wrong = server.ask("GET", "/v1/models", None, {"authorization": "Bearer wrong"})
    assert (wrong.status, "does not hold the token" in wrong.json()["detail"]) == (401, True)
    for scheme in ("Bearer", "bearer", "BEARER "):
        right = {"authorization": f"{scheme} a-token-of-some-length", "host": "api.example.org"}
        assert server.ask("GET", "/v1/models", None, right).status == 200
    for wrong_one in (
        "a-token-of-some-length",
        "Basic a-token-of-some-length",
        "Bearer",
        "Bearer A-token-of-some-length",
    ):
        assert server.ask("GET", "/v1/models", None, {"authorization": wrong_one}).status == 401
    assert server.ask("GET", "/health").status == server.ask("GET", "/v2/health/live").status == 200


def test_without_a_token_other_hosts_and_other_sites_are_refused(server: InProcess) -> None:
    assert server.ask("GET", "/v1/models", None, {"host": "evil.example"}).status == 421
    assert server.ask("GET", "/v1/models", None, {"host": ""}).status == 421
    assert server.ask("GET", "/v1/models", None, {"host": "[::1]:8000"}).status == 200
    refused = server.ask("POST", PREDICT, {"text": "a"}, {"origin": "https://evil.example"})
    assert (refused.status, "--origin https://" in refused.json()["detail"]) == (403, True)
    assert "'https://evil.example'" in refused.json()["detail"]
    asked = {"origin": "https://evil.example", "access-control-request-method": "POST"}
    assert server.ask("OPTIONS", PREDICT, None, asked).status == 403
    assert server.ask("POST", PREDICT, {"text": "a"}, {"origin": "http://localhost:8000"}).status == 200


def test_answers_carry_security_headers_and_no_cors(server: InProcess) -> None:
    for answer in (
        server.ask("POST", PREDICT, {"text": "a"}),
        server.ask("GET", "/v1/models"),
        server.ask("GET", "/x"),
    ):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert not any(name.startswith("access-control") for name in answer.headers)


SITE = "https://catalogue.example.org"
SUGGEST = "/v1/projects/letters/suggest"
FORM = {"content-type": "application/x-www-form-urlencoded"}


def test_pages_of_an_allowed_site_send_requests_and_read_answers(model: Path) -> None:
    server = in_process({"letters": model}, origins=(SITE, "http://localhost:3000"))
    for origin in (SITE, "http://localhost:3000"):
        for answer in (
            server.ask("POST", SUGGEST, b"text=bus", {"origin": origin, **FORM}),
            server.ask("GET", "/v1/projects", None, {"origin": origin}),
            server.ask("POST", PREDICT, b"{", {"origin": origin}),
            server.ask("GET", "/health", None, {"origin": origin}),
        ):
            assert answer.headers["access-control-allow-origin"] == origin
            assert "Manylabel-Sha256" in answer.headers["access-control-expose-headers"]
            assert "access-control-allow-credentials" not in answer.headers
            assert answer.headers["vary"] == "Origin"
    assert server.ask("POST", SUGGEST, b"text=bus", {"origin": SITE, **FORM}).json()["results"][0]["label"] == "buses"


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "http://catalogue.example.org", f"{SITE}:8443", "null", "*"]
)
def test_pages_of_other_sites_stay_refused_where_some_are_allowed(model: Path, origin: str) -> None:
    server = in_process({"letters": model}, origins=(SITE,))
    asked = {"origin": origin, "access-control-request-method": "POST"}
    for answer in (
        server.ask("POST", SUGGEST, b"text=bus", {"origin": origin, **FORM}),
        server.ask("OPTIONS", SUGGEST, None, asked),
    ):
        assert answer.status == 403
        assert "access-control-allow-origin" not in answer.headers
        assert answer.headers["vary"] == "Origin"
    assert "access-control-allow-origin" not in server.ask("GET", "/v1/projects", None, {"origin": origin}).headers


def test_a_browser_asks_first_and_needs_no_token_for_that(model: Path) -> None:
    server = in_process({"letters": model}, token="a-token-of-some-length", origins=(SITE,))
    asked = {"origin": SITE, "access-control-request-method": "POST", "access-control-request-headers": "authorization"}
    allowed = server.ask("OPTIONS", PREDICT, None, asked)
    assert (allowed.status, allowed.body, "content-length" in allowed.headers) == (204, b"", False)
    assert allowed.headers["access-control-allow-origin"] == SITE
    assert "POST" in allowed.headers["access-control-allow-methods"]
    assert "Authorization" in allowed.headers["access-control-allow-headers"]
    refused = server.ask("POST", PREDICT, {"text": "bus"}, {"origin": SITE})
    assert (refused.status, refused.headers["access-control-allow-origin"]) == (401, SITE)
    sent = {"origin": SITE, "authorization": "Bearer a-token-of-some-length", "host": "api.example.org"}
    assert server.ask("POST", PREDICT, {"text": "bus"}, sent).status == 200


def test_an_allowed_site_does_not_open_the_server_under_other_names(model: Path) -> None:
    server = in_process({"letters": model}, origins=(SITE,))
    sent = {"origin": SITE, "host": "evil.example", "access-control-request-method": "POST"}
    assert server.ask("OPTIONS", PREDICT, None, sent).status == 421
    assert server.ask("POST", PREDICT, {"text": "bus"}, sent).status == 421


def test_origins_are_written_as_browsers_send_them() -> None:
    given = ["https://Catalogue.example.org/", "http://localhost:3000", "https://a.example:443", "http://[::1]:80"]
    assert parse_origins(given) == (SITE, "http://localhost:3000", "https://a.example", "http://[::1]")
    for wrong in ("*", "null", "catalogue.example.org", "https://a.example/search", "ftp://a.example", ""):
        with pytest.raises(ParameterError, match=r"--origin .*: an origin is the scheme, host and port of a site"):
            parse_origins([wrong])


def test_only_this_computer_is_served_without_a_token() -> None:
    check_exposure("127.0.0.1", None)
    check_exposure("::1", None)
    check_exposure("0.0.0.0", "secret")
    with pytest.raises(ParameterError, match=r"0\.0\.0\.0 can be reached from other computers.*--token token"):
        check_exposure("0.0.0.0", None)


def test_a_token_is_long_enough(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("short\n")
    with pytest.raises(ParameterError, match="at least 16"):
        read_token(path)
    path.write_text("0123456789abcdef\n")
    assert read_token(path) == "0123456789abcdef"


def test_limits_and_workers_are_parsed() -> None:
    limits = Limits.parse(["body=2m", "documents=7"])
    assert (limits.body, limits.documents, limits.seconds) == (2 << 20, 7, Limits().seconds)
    for wrong in ("body", "body=", "body=-1", "body=0", "body=2x", "seconds=1.5"):
        with pytest.raises(ParameterError, match="whole number"):
            Limits.parse([wrong])
    with pytest.raises(ParameterError, match="Did you mean 'documents'"):
        Limits.parse(["document=1"])
    assert worker_count("3") == 3
    assert worker_count("auto") >= 1
    with pytest.raises(ParameterError, match="--workers"):
        worker_count("none")


def test_models_are_named_after_their_files(tmp_path: Path) -> None:
    assert served_names(["a/letters.manylabel", "new=b/letters.manylabel"]) == {
        "letters": Path("a/letters.manylabel"),
        "new": Path("b/letters.manylabel"),
    }
    with pytest.raises(ParameterError, match="'letters' is taken by a/letters"):
        served_names(["a/letters.manylabel", "b/letters.manylabel"])
    with pytest.raises(ParameterError, match="cannot be a name"):
        served_names(["a/b=c.manylabel"])


# ---- new versions ----------------------------------------------------------------------------------------------------


def test_a_replaced_file_is_served_and_a_damaged_one_is_not(tmp_path: Path) -> None:
    path = small_model(tmp_path / "letters.manylabel")
    server = in_process({"letters": path})
    first = server.models.first
    small_model(path, [["trams"], ["roads"], ["trams", "roads"], ["lamps"]])
    assert server.refresh() == [True]
    assert server.models.first.sha256 != first.sha256
    assert "trams" in server.models.first.labels
    path.write_bytes(b"not a model at all")
    assert server.refresh() == [False]
    assert server.refresh() == []
    assert "trams" in server.models.first.labels
    ready = server.ask("GET", "/ready").json()
    why = "it is not a manylabel model, or it was cut short. Train it again or restore a copy."
    assert ready["failures"]["letters"] == f"letters.manylabel: cannot load this file as a model: {why}"
    small_model(path)
    assert server.refresh() == [True]
    assert server.models.failures == {}


def test_a_worker_that_starts_later_serves_the_version_before_a_damaged_one(tmp_path: Path) -> None:
    path = small_model(tmp_path / "letters.manylabel")
    server = in_process({"letters": path})
    path.write_bytes(b"not a model at all")
    server.refresh()
    later = Models(["letters"], can_train=False)
    taken = [
        later.take(found, None if file is None else os.dup(file))
        for found, file in server.files.all
        if isinstance(found, FoundModel)
    ]
    assert taken == [True, False]
    assert later.get("letters").sha256 == server.models.get("letters").sha256
    assert later.failures == server.models.failures


def test_a_model_is_withdrawn_with_its_file_and_comes_back_with_it(tmp_path: Path) -> None:
    first, second = (small_model(tmp_path / f"{name}.manylabel") for name in ("letters", "news"))
    server = in_process({"letters": first, "news": second})
    in_flight = server.models.get("letters")
    hidden = first.rename(tmp_path / "letters.withdrawn")
    assert server.refresh() == [False]
    assert server.refresh() == []
    assert in_flight.predict("bus").labels
    assert [one["name"] for one in server.ask("GET", "/v1/models").json()["models"]] == ["news"]
    assert [one["project_id"] for one in server.ask("GET", "/v1/projects").json()["projects"]] == ["news"]
    refused = server.ask("POST", PREDICT, {"text": "bus"})
    assert refused.status == server.ask("POST", "/v1/models/letters/reload").status == 404
    assert refused.json()["detail"] == (
        "The model 'letters' is no longer served, because its file was removed. Served: news."
    )
    assert server.ask("GET", "/ready").json() == {"ready": True, "workers": 1, "failures": {}}
    hidden.rename(first)
    assert server.refresh() == [True]
    assert server.ask("POST", PREDICT, {"text": "bus"}).status == 200
    assert [model.name for model in server.models.all] == ["letters", "news"]


def test_models_of_the_data_directory_are_withdrawn_and_renamed(tmp_path: Path) -> None:
    JobStore(tmp_path).prepare()
    path = small_model(tmp_path / "models" / "letters.manylabel")
    server = in_process({}, data=str(tmp_path))
    path.rename(tmp_path / "models" / "post.manylabel")
    assert sorted(server.refresh()) == [False, True]
    assert [model.name for model in server.models.all] == ["post"]
    assert server.ask("POST", PREDICT, {"text": "bus"}).status == 404


def test_a_file_that_cannot_be_read_for_now_leaves_its_model_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = small_model(tmp_path / "letters.manylabel")
    server = in_process({"letters": path})

    def refuse(path: Path) -> ModelVersion:
        raise PermissionError(13, "Permission denied", str(path))

    path.touch()
    with monkeypatch.context() as patched:
        patched.setattr(ModelVersion, "of", refuse)
        assert server.refresh() == [False]
        assert server.refresh() == []
    assert server.models.failures == {
        "letters": "letters.manylabel: this model file cannot be read: Permission denied."
    }
    assert server.ask("POST", PREDICT, {"text": "bus"}).status == 200
    assert server.refresh() == [True]


# ---- readiness -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("address", ["/ready", "/v2/health/ready"])
def test_a_server_is_ready_when_predictions_can_be_asked_for(tmp_path: Path, address: str) -> None:
    path = small_model(tmp_path / "letters.manylabel")
    server = in_process({"letters": path})
    assert server.ask("GET", address).json()["ready"] is True
    path.unlink()
    server.refresh()
    for sent in ({}, {"host": "10.0.0.7:8000"}):  # Kubernetes sends the address of the container
        answer = server.ask("GET", address, None, sent)
        assert (answer.status, answer.headers["retry-after"]) == (503, "1")
        assert b"No model is served: every model file was removed (letters). Put one back." in answer.body
    assert server.ask("GET", "/health").json() == {"status": "ok"}
    path.write_bytes(b"damaged")
    server.refresh()
    answer = server.ask("GET", address)
    assert answer.status == 503
    assert b"No model can be loaded. letters.manylabel: " in answer.body
    assert str(tmp_path).encode() not in answer.body
    assert "cannot be loaded" in server.ask("POST", PREDICT, {"text": "bus"}).json()["detail"]
    small_model(path)
    server.refresh()
    assert server.ask("GET", address).status == 200


def test_a_server_that_trains_is_ready_before_its_first_model_but_not_with_damaged_ones_alone(tmp_path: Path) -> None:
    JobStore(tmp_path).prepare()
    server = in_process({}, data=str(tmp_path))
    assert server.ask("GET", "/ready").json() == {"ready": True, "workers": 1, "failures": {}}
    (tmp_path / "models" / "letters.manylabel").write_bytes(b"damaged")
    server.refresh()
    answer = server.ask("GET", "/ready")
    assert (answer.status, answer.json()["ready"], list(answer.json()["failures"])) == (503, False, ["letters"])
    small_model(tmp_path / "models" / "news.manylabel")
    server.refresh()
    assert server.ask("GET", "/ready").json()["failures"].keys() == {"letters"}


def test_while_models_are_loaded_the_server_lives_and_is_not_ready() -> None:
    with loading() as (server, _, waiting):
        assert server.ask("GET", "/health").json() == {"status": "ok"}
        assert server.ask("GET", "/v2/health/live").json() == {"live": True}
        answer = server.ask("GET", "/ready?now")
        assert (answer.status, answer.headers["retry-after"], answer.json()["ready"]) == (503, "1", False)
        assert answer.json()["detail"] == "The models are being loaded. Try again in a second."
        page = server.ask("GET", "/", None, {"Accept": "text/html,application/xhtml+xml"})
        assert (page.status, page.headers["content-type"]) == (503, "text/html; charset=utf-8")
        assert b'<meta http-equiv="refresh" content="1">' in page.body
        assert server.ask("GET", "/ready", None, {"Accept": "application/json"}).json()["ready"] is False
        assert server.ask("POST", PREDICT, {"text": "a" * 100_000}).status == 503
        with socket.create_connection(("127.0.0.1", server.port)) as silent:
            assert server.ask("GET", "/health").status == 200
            silent.sendall(b"\r\n\r\n")
        with socket.create_connection(("127.0.0.1", server.port)) as probe:
            probe.sendall(b"HEAD /ready HTTP/1.1\r\n\r\n")
            probe.shutdown(socket.SHUT_WR)
            assert re.match(rb"HTTP/1.1 503 .*\r\n\r\n$", probe.makefile("rb").read(), re.DOTALL)
    assert not waiting.is_alive()


# ---- operations ------------------------------------------------------------------------------------------------------


def test_metrics_are_valid_and_count_requests_and_documents(model: Path) -> None:
    server = in_process({"letters": model})
    server.ask("POST", PREDICT, {"documents": ["a", "b"]})
    server.ask("POST", PREDICT, b"{")
    families = {one.name: one for one in text_string_to_metric_families(server.ask("GET", "/metrics").body.decode())}
    counted = {
        (sample.labels["route"], sample.labels["status"]): sample.value
        for sample in families["manylabel_requests"].samples
    }
    assert counted == {("predict", "200"): 1, ("predict", "400"): 1}
    assert families["manylabel_documents"].samples[0].value == 2
    buckets = [one for one in families["manylabel_request_duration_seconds"].samples if one.name.endswith("_count")]
    assert [one.value for one in buckets] == [2]
    assert families["manylabel_model_info"].samples[0].labels["model"] == "letters"


def test_errors_inside_are_logged_and_answered(
    server: InProcess, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(self: ServedModel, text: str, wanted: Wanted) -> None:
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr(ServedModel, "predict", broken)
    answer = server.ask("POST", PREDICT, {"text": "secret words"})
    assert answer.status == 500
    assert "a fault" not in answer.body.decode()
    line = json.loads(capsys.readouterr().err)
    assert (line["level"], line["message"], line["worker"]) == ("error", "a fault", 0)
    assert "secret words" not in json.dumps(line)


def test_requests_are_logged_on_demand(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    in_process({"letters": model}, log_requests=True).ask("GET", "/health\nforged")
    line = json.loads(capsys.readouterr().err)
    assert (line["event"], line["method"], line["path"], line["status"]) == ("request", "GET", "/health\nforged", 404)


def test_the_openapi_document_lists_every_address(server: InProcess) -> None:
    document = server.ask("GET", "/v1/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    paths = {(method, path) for path, each in document["paths"].items() for method in each}
    assert {
        ("post", "/v1/models/{model}/predict"),
        ("post", "/v1/projects/{model}/suggest"),
        ("post", "/invocations"),
    } <= paths
    references = set(re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(document)))
    assert references <= set(document["components"]["schemas"])

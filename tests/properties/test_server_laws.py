"""Whatever is sent to the server, it answers 2xx or 4xx and goes on; memory does not grow."""

import asyncio
import json
import random
import resource
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest

from manylabel.server.shortcut import Shortcut
from manylabel.server.worker import OPERATIONS
from served import InProcess, in_process, small_model

FIELDS = {"id": "a", "text": {"title": "road", "body": "bus"}}
TENSOR = {"name": "t", "shape": [1], "datatype": "BYTES", "data": ["bus"]}
VALID: dict[str, object] = {
    "predict": {"documents": ["bus", FIELDS], "top": 2, "threshold": 0.1},
    "explain": {"documents": ["bus", FIELDS], "labels": ["buses"], "runners_up": 1},
    "annif-suggest": {"text": "bus", "limit": 3, "threshold": 0.2},
    "annif-suggest-batch": {"documents": [{"document_id": "a", "text": "bus", "metadata": {"title": "x"}}]},
    "annif-detect-language": {"text": "the bus and the road", "languages": ["en", "de"]},
    "tei-predict": {"inputs": [["bus"], ["road", "bus"]], "raw_scores": True},
    "v2-infer": {"inputs": [TENSOR], "outputs": [{"name": "scores"}]},
    "v2-version-infer": {"id": "1", "inputs": [TENSOR]},
    "mlflow-invocations": {"dataframe_split": {"columns": ["text"], "data": [["bus"]]}, "params": {"top": 1}},
}
NUMBERS = [-1, 0, 1e308, 2**63, 10**400]
STRINGS = ["", "\x00", "\u202e", "ß" * 1000, "nan"]
STRANGE: list[object] = [None, True, *NUMBERS, *STRINGS, [], {}, [[]], [[[]]], {"": {}}, [None]]
PIECES = [b"[", b'{"a":', b'"\\ud800', b"\xff", b"1e99999", b"-"]
HEADERS = [{"content-type": ""}, {"content-length": "-1"}, {"content-length": "9" * 30}, {"host": "x"}]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> InProcess:
    return in_process({"letters": small_model(tmp_path_factory.mktemp("models") / "letters.manylabel")})


def mutated(value: object, draw: random.Random) -> object:
    """A valid request in which one value is another."""
    if isinstance(value, dict) and value and draw.random() < 0.8:
        key = draw.choice(list(value))
        if draw.random() < 0.2:
            return {name: inner for name, inner in value.items() if name != key}
        return {**value, key: mutated(value[key], draw)}
    if isinstance(value, list) and value and draw.random() < 0.8:
        place = draw.randrange(len(value))
        return [*value[:place], mutated(value[place], draw), *value[place + 1 :] * draw.choice([1, 1, 50])]
    return draw.choice(STRANGE)


def damaged(body: bytes, draw: random.Random) -> bytes:
    """The bytes of a request, cut, doubled, overwritten or nested deeply."""
    kind = draw.randrange(5)
    place = draw.randrange(len(body) + 1)
    if kind == 0:
        return body[:place]
    if kind == 1:
        return body[:place] + draw.randbytes(draw.randrange(9)) + body[place:]
    if kind == 2:
        return draw.randbytes(draw.randrange(200))
    if kind == 3:
        return body[:place] + draw.choice(PIECES) * draw.choice([1, 5000]) + body[place:]
    return body + body


def requests(count: int, seed: int) -> Iterator[tuple[str, bytes, dict[str, str]]]:
    """Addresses with bodies and headers, none of them quite right."""
    draw = random.Random(seed)
    posts = [one for one in OPERATIONS if one.method == "POST"]
    for _ in range(count):
        one = draw.choice(posts)
        path = one.path.replace("{model}", draw.choice(["letters"] * 9 + ["öther"])).replace("{version}", "0")
        value = mutated(VALID[one.name], draw)
        as_form = one.name == "annif-suggest" and isinstance(value, dict)
        body = urlencode(value).encode() if as_form and isinstance(value, dict) else json.dumps(value).encode()
        if draw.random() < 0.5:
            body = damaged(body, draw)
        headers = {"content-type": "application/x-www-form-urlencoded"} if as_form else {}
        if draw.random() < 0.05:
            headers = draw.choice(
                [{"content-type": ""}, {"content-length": "-1"}, {"content-length": "9" * 30}, {"host": "x"}]
            )
        if draw.random() < 0.1:
            path += draw.choice(["?limit=-1", "?limit=1&limit=2", "?a=%ff", "?threshold=inf", "/", "?language=\x00"])
        yield path, body, headers


def test_the_shortcut_gives_the_answer_of_the_long_way_or_none(server: InProcess) -> None:
    shortcut = Shortcut(OPERATIONS, server.models, server.settings.limits, server.app)

    async def compare() -> int:
        answered = 0
        for path, body, given in requests(1_000, 3):
            headers = server.headers(body, given)
            route = shortcut.route(b"POST", path.encode("ascii", "replace"), headers)
            found = None if route is None else shortcut.answer(route, headers, body, None)
            if found is None:
                continue
            expected = await server.request("POST", path, body, given)
            assert (found.status, found.body) == (expected.status, expected.body)
            assert {name.decode(): value.decode() for name, value in found.headers}.items() <= expected.headers.items()
            answered += found.status == 200
        return answered

    assert asyncio.run(compare()) > 30


def test_every_operation_with_a_body_is_tried() -> None:
    assert set(VALID) == {one.name for one in OPERATIONS if one.method == "POST"}


def test_ten_thousand_malformed_requests_are_answered_and_leave_nothing_behind(server: InProcess) -> None:
    seen: dict[int, int] = {}

    async def send_all(count: int, seed: int) -> None:
        for path, body, headers in requests(count, seed):
            status = (await server.request("POST", path, body, headers)).status
            assert status < 500, (path, body, headers)
            seen[status] = seen.get(status, 0) + 1

    asyncio.run(send_all(2_000, 1))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    asyncio.run(send_all(8_000, 2))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 16 << 10, f"{grown} KiB"
    assert {200, 400, 404, 413, 415, 421, 422} <= set(seen)
    assert sum(seen.values()) == 10_000
    assert seen[200] < 3_000  # most requests are refused

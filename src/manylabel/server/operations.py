"""The hot paths: plain ASGI endpoints that read a body within limits, label its documents and send JSON.

A dialect is a list of `Operation`: an address, the types of its request and response for the OpenAPI document, and a
function from a `Call` to a `Reply`. FastAPI has no part in them; its layer costs more than labelling a document.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar
from urllib.parse import parse_qsl

import msgspec
from starlette.types import Message, Receive, Scope, Send

from manylabel.exceptions import ManylabelError
from manylabel.server import problems
from manylabel.server.models import Models
from manylabel.server.problems import JSON, RequestError, form_of
from manylabel.server.settings import Limits
from manylabel.tasks.serving import ServedModel, Text, TextPrediction, Wanted

Headers: TypeAlias = list[tuple[bytes, bytes]]
Given = TypeVar("Given")
Body = TypeVar("Body", bound=msgspec.Struct)

ROUTE = "manylabel.route"
"""The key of the scope under which the name of the route is kept for the metrics."""
HEADERS = "manylabel.headers"
"""The key of the scope under which the gate keeps the headers of the request as a dictionary."""
DOCUMENTS = "manylabel.documents"
"""The key of the scope under which the number of documents is kept for the metrics."""
REFUSED = "manylabel.refused"
"""The key of the scope under which a connection keeps the status with which it refused the request."""
SLICE = 0.005
"""Seconds of work after which a batch lets other requests go on."""
ESCAPES = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
)
"""The escapes of JSON; the group holds one that is half of a surrogate pair."""
URL_ENCODED = b"application/x-www-form-urlencoded"
encode = msgspec.json.Encoder(decimal_format="number").encode


@dataclass(frozen=True, slots=True)
class Reply:
    """The body of a response and the model that gave it."""

    body: bytes
    model: ServedModel | None = None
    content_type: bytes = JSON


class Call:
    """One whole request: what its address names, its headers and body, and the models that can answer it."""

    __slots__ = ("began", "body", "documents", "headers", "limits", "models", "parameters", "query_string")

    def __init__(
        self,
        models: Models,
        limits: Limits,
        parameters: Mapping[str, str],
        headers: Mapping[bytes, bytes],
        body: bytes,
        query_string: bytes = b"",
    ) -> None:
        self.models, self.limits, self.parameters, self.headers = models, limits, parameters, headers
        """Headers have names in lower case."""
        self.body, self.query_string = body, query_string
        self.documents = 0
        """How many documents were labelled, for the metrics."""
        self.began = time.monotonic()

    @property
    def model(self) -> ServedModel:
        """The model that the address names; the first one where it names none."""
        name = self.parameters.get("model")
        return self.models.first if name is None else self.models.get(name)

    def query(self, known: Sequence[str]) -> dict[str, str]:
        """The parameters of the address; an error for one that is not known, or given twice."""
        return self._fields(self.query_string, known, "parameter")

    def _fields(self, raw: bytes, known: Sequence[str] | None, what: str) -> dict[str, str]:
        try:
            pairs = parse_qsl(raw.decode(), keep_blank_values=True, max_num_fields=200, errors="strict")
        except (ValueError, UnicodeError):
            raise RequestError(400, f"The {what}s of the request are not valid URL-encoded UTF-8.") from None
        found = dict(pairs)
        if len(found) < len(pairs):
            raise RequestError(400, f"A {what} of the request is given twice.")
        if known is not None and (other := next((name for name in found if name not in known), None)) is not None:
            raise RequestError(400, f"There is no {what} {other!r}. Known: {', '.join(known)}.")
        return found

    def json(self, decoder: msgspec.json.Decoder[Body], *, wrong: int = 422) -> Body:
        """The body, decoded; status `wrong` where it is JSON of another form."""
        self._check_content_type(JSON)
        try:
            return decoder.decode(self.body)
        except msgspec.ValidationError as error:
            known = ""
            if "unknown field" in str(error) and " - at " not in str(error):  # not within another object
                known = f" Known: {', '.join(one.encode_name for one in msgspec.structs.fields(decoder.type))}."
            raise RequestError(
                wrong, f"The body has another form than expected: {error}.{known} See /v1/openapi.json."
            ) from None
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise RequestError(400, why_not_json(self.body, error)) from None

    def form(self) -> dict[str, str]:
        """The fields of a URL-encoded form."""
        self._check_content_type(URL_ENCODED)
        return self._fields(self.body, None, "field")

    def _check_content_type(self, expected: bytes) -> None:
        given = self.headers.get(b"content-type", b"")
        if given == expected:
            return
        kind = given.partition(b";")[0].strip().lower()
        if kind != expected:
            found = kind.decode("latin-1") or "none"
            raise RequestError(415, f"The request needs the header Content-Type: {expected.decode()}; found: {found}.")

    async def predict(self, model: ServedModel, texts: Sequence[Text], wanted: Wanted) -> list[TextPrediction]:
        """The answer for each text; other requests go on between them."""
        model.check(wanted)
        return await self.each(texts, lambda text: model.predict(text, wanted))

    async def each(self, texts: Sequence[Text], work: Callable[[Text], Given]) -> list[Given]:
        """What `work` returns for each text, within the limits of the server."""
        self._check_sizes(texts)
        self.documents = len(texts)
        if len(texts) == 1:
            return [work(texts[0])]
        found = []
        turn = time.monotonic()
        for text in texts:
            found.append(work(text))
            now = time.monotonic()
            if now - self.began > self.limits.seconds:
                raise problems.out_of_time(self.limits.seconds, len(found), len(texts))
            if now - turn > SLICE:
                await asyncio.sleep(0)
                turn = time.monotonic()
        return found

    async def each_aside(self, texts: Sequence[Text], work: Callable[[Text], Given]) -> list[Given]:
        """What `work`, which takes milliseconds, returns for each text; in a thread, while other requests go on."""
        self._check_sizes(texts)
        found = []
        for number, text in enumerate(texts):
            if number and time.monotonic() - self.began > self.limits.seconds:
                raise problems.out_of_time(self.limits.seconds, number, len(texts))
            found.append(await asyncio.to_thread(work, text))
        self.documents = len(texts)
        return found

    def _check_sizes(self, texts: Sequence[Text]) -> None:
        if len(texts) > self.limits.documents:
            raise problems.too_many_documents(len(texts), self.limits.documents)
        for text in texts:
            size = len(text) if isinstance(text, str) else sum(map(len, text.values()))
            if size > self.limits.characters:
                raise problems.text_too_long(size, self.limits.characters)


def why_not_json(body: bytes, error: Exception) -> str:
    """Why a body is not JSON, in other words than the decoder's where these mislead; bytes are counted from 0.

    >>> why_not_json(b'{"text": "caf\\xe9"}', ValueError())
    'The body is not valid UTF-8: byte 13 is 0xe9 (invalid continuation byte).'
    """
    try:
        body.decode()
    except UnicodeDecodeError as wrong:
        return f"The body is not valid UTF-8: byte {wrong.start:,} is 0x{body[wrong.start]:02x} ({wrong.reason})."
    half = next((found for found in ESCAPES.finditer(body) if found[1]), None)
    if half is None:
        return f"The body is not valid JSON: {error}."
    where = f"{half[1].decode()} at byte {half.start():,}"
    return f"The body is not valid JSON: {where} is half of a surrogate pair, and the other half is missing."


Respond: TypeAlias = Callable[[Call], Awaitable[Reply]]


@dataclass(frozen=True, slots=True)
class Operation:
    """One address of a dialect and what answers it."""

    path: str
    name: str
    """Its name in metrics and in the OpenAPI document."""
    summary: str
    respond: Respond
    dialect: str
    method: str = "POST"
    request: Any = None
    """The type of the JSON body, or the JSON schema of a form."""
    response: Any = None
    """The type of the answer, or a tuple of types that it may have."""
    query: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The parameters after the question mark, by name: their JSON schemas."""
    problem: Any = problems.ProblemBody
    """The type of the body of an error."""
    is_quick: bool = True
    """Whether it answers a short request in about a millisecond; not where it works in a thread."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A response: its status, headers and body."""

    status: int
    headers: Headers
    body: bytes


async def answer(operation: Operation, call: Call) -> Answer:
    """What an operation responds to a call, errors included."""
    try:
        reply = await operation.respond(call)
        named = () if reply.model is None else call.models.headers(reply.model)
        return _answer(200, reply.content_type, reply.body, named)
    except RequestError as problem:
        return problem_answer(problem, operation.path)
    except ManylabelError as error:
        return problem_answer(RequestError(422, str(error)), operation.path)


def problem_answer(problem: RequestError, path: str | None) -> Answer:
    """The response that a problem is sent as, in the form of the dialect that has the address."""
    return _answer(problem.status, *form_of(path)(problem), header_list(problem.headers))


def _answer(status: int, kind: bytes, body: bytes, headers: Iterable[tuple[bytes, bytes]] = ()) -> Answer:
    return Answer(status, [(b"content-type", kind), (b"content-length", b"%d" % len(body)), *headers], body)


class Endpoint:
    """An ASGI application that answers one operation."""

    def __init__(self, operation: Operation, models: Models, limits: Limits) -> None:
        self.operation, self.models, self.limits = operation, models, limits
        self.__name__ = operation.name

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; HEAD as GET, whose body uvicorn leaves out."""
        operation = self.operation
        scope[ROUTE] = operation.name
        try:
            if scope["method"] != operation.method and (scope["method"], operation.method) != ("HEAD", "GET"):
                raise problems.method_not_allowed(scope["method"], operation.method)
            headers: dict[bytes, bytes] = scope[HEADERS]
            body = b"" if operation.request is None else await whole_body(receive, headers, self.limits.body)
            call = Call(self.models, self.limits, scope["path_params"], headers, body, scope["query_string"])
            made = await answer(operation, call)
            scope[DOCUMENTS] = call.documents
        except RequestError as problem:
            made = problem_answer(problem, operation.path)
        await send({"type": "http.response.start", "status": made.status, "headers": made.headers})
        await send({"type": "http.response.body", "body": made.body})


async def whole_body(receive: Receive, headers: Mapping[bytes, bytes], limit: int) -> bytes:
    """The body of a request; an error where it is too large. A connection on which it comes too slowly is closed."""
    length = headers.get(b"content-length", b"0")
    if not length.isdigit() or len(length) > 18 or int(length) > limit:
        raise problems.body_too_large(limit)
    message: Message = {"more_body": True}
    pieces, size = [], 0
    while message.get("more_body", False) and size <= limit:
        message = await receive()
        pieces.append(message.get("body", b""))
        size += len(pieces[-1])
    if message["type"] == "http.disconnect":
        raise RequestError(400, "The connection was closed before the request was complete.")
    if size > limit:
        raise problems.body_too_large(limit)
    return b"".join(pieces)


def header_list(headers: Mapping[str, str]) -> Headers:
    """Headers as ASGI has them."""
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]

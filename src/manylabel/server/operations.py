"""The hot paths: plain ASGI endpoints that read a body within limits, label its documents and send JSON.

A dialect is a list of `Operation`: an address, the types of its request and response for the OpenAPI document, and a
function from a `Call` to a `Reply`. FastAPI has no part in them; its layer costs more than labelling a document.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar
from urllib.parse import parse_qsl

import msgspec
from starlette.types import Receive, Scope, Send

from manylabel.exceptions import ManylabelError
from manylabel.server import problems
from manylabel.server.models import Models
from manylabel.server.problems import JSON, Form, RequestError, problem_json
from manylabel.server.settings import Limits
from manylabel.tasks.serving import ServedModel, Text, TextPrediction, Wanted

Headers: TypeAlias = list[tuple[bytes, bytes]]
Given = TypeVar("Given")

ROUTE = "manylabel.route"
"""The key of the scope under which the name of the route is kept for the metrics."""
HEADERS = "manylabel.headers"
"""The key of the scope under which the gate keeps the headers of the request as a dictionary."""
DOCUMENTS = "manylabel.documents"
"""The key of the scope under which the number of documents is kept for the metrics."""
SLICE = 0.005
"""Seconds of work after which a batch lets other requests go on."""
encode = msgspec.json.Encoder(decimal_format="number").encode


@dataclass(frozen=True, slots=True)
class Reply:
    """The body of a response and the model that gave it."""

    body: bytes
    model: ServedModel | None = None
    content_type: bytes = JSON


class Call:
    """One request: where it goes, what it may ask, and the models that can answer it."""

    __slots__ = ("began", "limits", "models", "receive", "scope")

    def __init__(self, scope: Scope, receive: Receive, models: Models, limits: Limits) -> None:
        self.scope, self.receive, self.models, self.limits = scope, receive, models, limits
        self.began = time.monotonic()

    @property
    def model(self) -> ServedModel:
        """The model that the address names; the first one where it names none."""
        name = self.scope["path_params"].get("model")
        return self.models.first if name is None else self.models.get(name)

    @property
    def headers(self) -> dict[bytes, bytes]:
        """The headers of the request, names in lower case."""
        found: dict[bytes, bytes] = self.scope[HEADERS]
        return found

    def query(self, known: Sequence[str]) -> dict[str, str]:
        """The parameters of the address; an error for one that is not known, or given twice."""
        return self._fields(self.scope["query_string"], known, "parameter")

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

    async def body(self) -> bytes:
        """The whole body; an error where it is too large. A connection on which it comes too slowly is closed."""
        limit = self.limits.body
        length = self.headers.get(b"content-length", b"0")
        if not length.isdigit() or len(length) > 18 or int(length) > limit:
            raise problems.body_too_large(limit)
        message = await self.receive()
        body: bytes = message.get("body", b"")
        if message.get("more_body", False):
            pieces, size = [body], len(body)
            while message.get("more_body", False) and size <= limit:
                message = await self.receive()
                pieces.append(message.get("body", b""))
                size += len(pieces[-1])
            body = b"".join(pieces)
        if message["type"] == "http.disconnect":
            raise RequestError(400, "The connection was closed before the request was complete.")
        if len(body) > limit:
            raise problems.body_too_large(limit)
        return body

    async def json(self, decoder: msgspec.json.Decoder[Given], *, wrong: int = 422) -> Given:
        """The body, decoded; status `wrong` where it is JSON of another form."""
        kind = self.headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        if kind != JSON:
            found = kind.decode("latin-1") or "none"
            raise RequestError(415, f"The request needs the header Content-Type: application/json; found: {found}.")
        body = await self.body()
        try:
            return decoder.decode(body)
        except msgspec.ValidationError as error:
            raise RequestError(wrong, f"The body has another form than expected: {error}.") from None
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise RequestError(400, f"The body is not valid JSON: {error}.") from None

    async def form(self) -> dict[str, str]:
        """The fields of a URL-encoded form."""
        kind = self.headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        if kind != b"application/x-www-form-urlencoded":
            found = kind.decode("latin-1") or "none"
            raise RequestError(
                415, f"The request needs the header Content-Type: application/x-www-form-urlencoded; found: {found}."
            )
        return self._fields(await self.body(), None, "field")

    async def predict(self, model: ServedModel, texts: Sequence[Text], wanted: Wanted) -> list[TextPrediction]:
        """The answer for each text; other requests go on between them."""
        model.check(wanted)
        return await self.each(texts, lambda text: model.predict(text, wanted))

    async def each(self, texts: Sequence[Text], work: Callable[[Text], Given]) -> list[Given]:
        """What `work` returns for each text, within the limits of the server."""
        limits = self.limits
        if len(texts) > limits.documents:
            raise problems.too_many_documents(len(texts), limits.documents)
        self._check_sizes(texts)
        self.scope[DOCUMENTS] = len(texts)
        if len(texts) == 1:
            return [work(texts[0])]
        found = []
        turn = time.monotonic()
        for text in texts:
            found.append(work(text))
            now = time.monotonic()
            if now - self.began > limits.seconds:
                raise problems.out_of_time(limits.seconds, len(found), len(texts))
            if now - turn > SLICE:
                await asyncio.sleep(0)
                turn = time.monotonic()
        return found

    async def each_aside(self, texts: Sequence[Text], work: Callable[[Text], Given]) -> list[Given]:
        """The same for work that takes milliseconds per text: in a thread, while other requests go on."""
        found = []
        for number, text in enumerate(texts):
            if number and time.monotonic() - self.began > self.limits.seconds:
                raise problems.out_of_time(self.limits.seconds, number, len(texts))
            self._check_sizes([text])
            found.append(await asyncio.to_thread(work, text))
        self.scope[DOCUMENTS] = len(texts)
        return found

    def _check_sizes(self, texts: Sequence[Text]) -> None:
        for text in texts:
            size = len(text) if isinstance(text, str) else sum(map(len, text.values()))
            if size > self.limits.characters:
                raise problems.text_too_long(size, self.limits.characters)


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
    form: Form = problem_json
    """How an error looks."""
    problem: Any = problems.ProblemBody
    """The type of the body of an error."""


class Endpoint:
    """An ASGI application that answers one operation."""

    def __init__(self, operation: Operation, models: Models, limits: Limits) -> None:
        self.operation, self.models, self.limits = operation, models, limits
        self.__name__ = operation.name

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        operation = self.operation
        scope[ROUTE] = operation.name
        status, headers = 200, []
        try:
            if scope["method"] != operation.method:
                raise problems.method_not_allowed(scope["method"], operation.method)
            reply = await operation.respond(Call(scope, receive, self.models, self.limits))
            kind, body = reply.content_type, reply.body
            if reply.model is not None:
                headers = self.models.headers(reply.model)
        except RequestError as problem:
            status, (kind, body), headers = problem.status, operation.form(problem), header_list(problem.headers)
        except ManylabelError as error:
            status, (kind, body) = 422, operation.form(RequestError(422, str(error)))
        headers = [(b"content-type", kind), (b"content-length", b"%d" % len(body)), *headers]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def header_list(headers: Mapping[str, str]) -> Headers:
    """Headers as ASGI has them."""
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]

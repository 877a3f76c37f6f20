"""Short requests to the dialects, answered as soon as they have arrived, without a task and without ASGI's messages.

These cost more than labelling a document. Whatever is not short, not whole or not allowed takes the long way, through
the gate: a shortcut gives the same answer or none.
"""

from __future__ import annotations

import time
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, TypeAlias
from urllib.parse import unquote

from starlette.routing import compile_path

from manylabel.server.gate import Gate
from manylabel.server.models import Models
from manylabel.server.operations import Answer, Call, Headers, Operation, answer
from manylabel.server.problems import RequestError
from manylabel.server.settings import Limits

SHORT = 16 << 10
"""Bytes of a body whose documents are labelled in about a millisecond; longer ones must let others go on meanwhile."""
MOST_KNOWN = 1_000
Route: TypeAlias = tuple[Operation, str, dict[str, str]]
"""What answers an address, the address, and the parameters that it names."""


class Shortcut:
    """Answers short requests to operations."""

    def __init__(self, operations: Sequence[Operation], models: Models, limits: Limits, gate: Gate) -> None:
        self.models, self.limits, self.gate = models, limits, gate
        self._patterns = [
            (compile_path(one.path)[0], one) for one in operations if one.method == "POST" and one.is_quick
        ]
        self._known: dict[bytes, Route | None] = {}
        self._usual = _lines(gate.headers)

    def route(self, method: bytes, url: bytes, headers: Mapping[bytes, bytes]) -> Route | None:
        """The operation that can answer a request of these headers; None where it takes the long way."""
        if b"origin" in headers:  # of a page in a browser: the gate knows what to add to the answer
            return None
        length = headers.get(b"content-length", b"")
        if method != b"POST" or not length.isdigit() or len(length) > 5 or int(length) > min(SHORT, self.limits.body):
            return None
        if url not in self._known:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known[url] = self._find(url)
        return self._known[url]

    def _find(self, url: bytes) -> Route | None:
        if b"?" in url or b"#" in url or not url.isascii() or not url.startswith(b"/"):
            return None
        path = unquote(url.decode("ascii"))
        for pattern, operation in self._patterns:
            if found := pattern.match(path):
                return operation, path, found.groupdict()
        return None

    def answer(self, route: Route, headers: Mapping[bytes, bytes], body: bytes, client: Any) -> Answer | None:
        """The answer to a request; None where it takes the long way."""
        operation, path, parameters = route
        began = time.perf_counter()
        call = Call(self.models, self.limits, parameters, headers, body)
        try:
            self.gate.check("POST", headers)
            found = _at_once(answer(operation, call))
        except RequestError:
            return None
        except Exception:  # the long way meets it again, and logs it
            return None
        if found is not None:
            self.gate.count(operation.name, found.status, began, call.documents, ("POST", path, client))
        return found

    def message(self, status_line: bytes, default: Headers, made: Answer, *, keep_alive: bool) -> bytes:
        """An answer as HTTP/1.1 writes it."""
        last = b"\r\n" if keep_alive else b"connection: close\r\n\r\n"
        return b"".join((status_line, _lines(default), _lines(made.headers), self._usual, last, made.body))


def _at_once(work: Coroutine[Any, Any, Answer]) -> Answer | None:
    """What a coroutine returns that waits for nothing; None, and its end, where it would wait."""
    try:
        work.send(None)
    except StopIteration as ended:
        found: Answer = ended.value
        return found
    work.close()
    return None


def _lines(headers: Headers) -> bytes:
    return b"".join([b"%b: %b\r\n" % header for header in headers])
